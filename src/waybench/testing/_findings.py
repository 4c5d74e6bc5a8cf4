"""What a check finds wrong: the item, the reply, the line of the environment's code, and what to do."""

import random
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from inspect import unwrap
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Any, NamedTuple

from waybench.core import DefectError, WaybenchError
from waybench.core._errors import (
    CodeLocation,
    KitError,
    exception_text,
    location_in_environment,
    location_of_definition,
)
from waybench.testing._walks import FOCUS, AnyEnvironment, ContractError

_ONLY_OPTIONS = "{'protocol': 'sound', 'wording': 'plain'}"  # of an environment without other choices: they say nothing
_NAMELESS = ("", "<lambda>", "<genexpr>", "<module>")
_LONGEST_PROBLEM = 1_000  # characters
_CHANCE_ADVICE = (
    "Draw with the methods of the Stream, such as `below` and `choice`: in a source that of the item, in `apply` `rng`."
)

ADVICE: Mapping[str, str] = MappingProxyType(
    {
        "names": "Give what is missing in Environment(...).",
        "options": "Declare each option with a name of its own, a default that passes its check, and a sentence (doc).",
        "metrics declared": "Declare each metric with a name, a title, a sentence (doc), and low and high.",
        "languages": "Give every language the names of the English texts, and each text the same fields.",
        "failures declared": 'Give each FailureKind a name, a title that completes "fails by ...", and a sentence.',
        "presentation declared": "Name only metrics and environments that exist, and give plurals.",
        "horizon": "Let luck be no success, by what `success` and `competent` say or by more answers to choose from.",
        "source": "Draw item i from Stream(id, key, level, i) alone, and give it its key, level and index.",
        "keys": "Draw everything from a Stream that has the key in it, and from nothing else.",
        "levels": "Raise UsageError in the source's __init__ for a level that does not exist.",
        "instances": "Use frozen dataclasses with slots; `decode` reads what `to_json` wrote; `canonical` has all that "
        "tells two instances apart, and nothing else.",
        "bad data": "Check type and range of everything in `decode`, and raise DataError with one line.",
        "isomorphs": "An isomorph has the same level and solution length, and another appearance.",
        "start": "The first state follows from the instance, is frozen and hashable, and has legal actions.",
        "apply": "Return a new state that follows from state, action and `rng` alone; an illegal action is a "
        "Transition with the outcome ILLEGAL.",
        "terminal": "`legal` is empty exactly where `terminal` gives SOLVED or FAILED.",
        "action codec": "`decode` returns the action that `encode` wrote, after it has been through JSON.",
        "properties": "Set `properties` to the most turns and the smallest and largest sum of rewards of an episode.",
        "listed actions": "Let `legal` list every action that `apply` carries out, or let `apply` return ILLEGAL.",
        "wordings": "Every message has a text; a wording has the name of its option and a Memory.",
        "round trip": "`parse` reads what `render` writes as the same action.",
        "tools": "Describe every argument with type and description; `parse_call` reads what `render_call` writes.",
        "hostile": "`parse` returns an action or Invalid(reason), a short sentence, for any text whatever.",
        "ambiguous replies": "`parse` reads the whole reply, such as reply.strip(), and refuses two actions.",
        "secrets": "Write into a message only what the player may know, field by field.",
        "players": "The oracle reaches the ceiling, an empty reply the floor, a random player less than the oracle.",
        "same episode": "Take all chance from `rng`, and keep nothing between calls.",
        "processes": "Let nothing follow from the order of a set: sort it, or use a list or a dict.",
        "replay": "The same replies give the same episode: keep no state in the game or the wording.",
        "tampering": "Messages, rewards and events follow from the instance and the replies.",
        "prefix": "`cut` returns the first steps of an action; the oracle goes on from any state.",
        "action turns": "`action_turns` returns turns of the record, each once, and every one that can be wrong.",
        "metrics": "A metric returns None or a float from low to high for every record, whatever was replied.",
        "failures": "`failure` returns a declared kind for each episode that failed.",
        "beliefs": "`expected` returns what `read` reads back, for every state in which the question is asked.",
        "presentation": "Drawings take records of any length, before the first turn too.",
        "pictures": "Draw what the text says, in an <svg> with a viewBox.",
    }
)
"""Name of a check -> what to do where it fails."""

# Name of a check -> the function or class of the environment that it is about, where `FOCUS` has no subject.
_SUBJECTS: Mapping[str, Callable[[AnyEnvironment], object]] = MappingProxyType(
    {
        "horizon": lambda environment: environment.difficulty.competent,
        "source": lambda environment: environment.items.make_source,
        "keys": lambda environment: environment.items.make_source,
        "levels": lambda environment: environment.items.make_source,
        "instances": lambda environment: environment.items.decode,
        "bad data": lambda environment: environment.items.decode,
        "isomorphs": lambda environment: environment.items.isomorph,
        "start": lambda environment: _default_game(environment).start,
        "apply": lambda environment: _default_game(environment).apply,
        "same episode": lambda environment: _default_game(environment).apply,
        "terminal": lambda environment: _default_game(environment).terminal,
        "action codec": lambda environment: _default_game(environment).decode,
        "properties": lambda environment: _default_game(environment).__class__,
        "prefix": lambda environment: _default_game(environment).cut,
        "listed actions": lambda environment: _default_game(environment).legal,
        "players": lambda environment: environment.players.policies["oracle"],
        "metrics": lambda environment: environment.scoring.metrics[0].of,
        "tools": lambda environment: _default_wording(environment).tools,
        "failures": lambda environment: environment.scoring.failure,
        "processes": lambda environment: _default_wording(environment).observe,
        "replay": lambda environment: _default_wording(environment).observe,
        "action turns": lambda environment: environment.playing.action_turns,
        "presentation": lambda environment: environment.presentation.draw,
        "pictures": lambda environment: environment.playing.images and environment.playing.images.draw,
    }
)


# Name of a function of an environment, or of the kit's function that called it -> the check under which an exception
# of that function is shown, since the check is about it.
_CHECK_BY_FUNCTION: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("parse", "understands"), "hostile"),
        **dict.fromkeys(("rules", "observe", "prompt"), "wordings"),
        **dict.fromkeys(("instance", "item", "__init__", "level_of"), "source"),
        **dict.fromkeys(("canonical", "to_json", "hash", "prove"), "instances"),
        **dict.fromkeys(("tools", "parse_call", "render_call"), "tools"),
        **dict.fromkeys(("oracle", "heuristic"), "players"),
        **dict.fromkeys(("encode", "decode"), "action codec"),
        **{"start": "start", "apply": "apply", "legal": "apply", "terminal": "terminal", "render": "round trip"},
        **{"cut": "prefix", "perturb": "action codec"},
    }
)


class Breach(NamedTuple):
    """One thing in which an environment breaks its contract.

    Attributes:
        check: The name of the check.
        level: The level that was looked at; None for a check of the environment's declarations.
        item: The item's id; "" if the breach is about no item.
        reply: The reply that was read; None if the breach is about no reply.
        problem: What is wrong.
        location: The line of the environment's code; None if it is not known.
        advice: What to do.
        error: The exception.
        also: Further checks that fail at the same line with the same problem.
    """

    check: str
    level: int | None
    item: str
    reply: str | None
    problem: str
    location: CodeLocation | None
    advice: str
    error: Exception
    also: tuple[str, ...] = ()

    @property
    def cause(self) -> tuple[str, str]:
        """The cause of the breach, which is equal for breaches with the same cause.

        It is (line, type of exception) if an exception was raised: the line of the environment's code, or the last line
        if none of its code is in the traceback. Otherwise it is (check, line), or (check, problem) without a line.
        """
        raised = _environment_error(self.error)
        if raised is None:
            return self.check, self.problem if self.location is None else f"{self.location.path}:{self.location.line}"
        location = location_in_environment(raised)
        if location is not None:
            return f"{location.path}:{location.line}", type(raised).__name__
        frame = traceback.extract_tb(raised.__traceback__)[-1]
        return f"{frame.filename}:{frame.line}", type(raised).__name__

    @property
    def is_endless(self) -> bool:
        """Whether the check was stopped because it took too long."""
        return isinstance(_environment_error(self.error), TimeoutError)

    def with_also(self, check: str) -> "Breach":
        """Return the breach with one more check that fails for the same cause.

        The breach is shown under `check` if that is the check about the function that raised the exception.
        """
        raised = _environment_error(self.error)
        if check in (self.check, *self.also):
            return self
        if raised is None:
            return self._replace(also=(*self.also, check))
        location = location_in_environment(raised) or CodeLocation("", 0, "")
        fitting_check = _CHECK_BY_FUNCTION.get(location.function) or _CHECK_BY_FUNCTION.get(location.caller)
        if fitting_check == check:
            return self._replace(check=check, advice=_advice_for(raised, check), also=(self.check, *self.also))
        keeps_advice = fitting_check is not None or isinstance(raised, WaybenchError)
        # Advice of the first check would mislead where several fail in a function that none of them is about.
        return self._replace(advice=self.advice if keeps_advice else _advice_for(raised), also=(*self.also, check))

    @property
    def traceback(self) -> str:
        """The traceback of the exception, as text."""
        return "".join(traceback.format_exception(self.error))


def breach_from_error(environment: AnyEnvironment, check: str, level: int | None, error: Exception) -> Breach:
    """Return the breach that an exception of a check reports, with item, reply and subject from `FOCUS`."""
    raised = _environment_error(error)
    location = None if raised is None else location_in_environment(raised)
    problem, reply = str(error).removeprefix(_ONLY_OPTIONS).lstrip(":, "), FOCUS.reply
    if raised is not None and not isinstance(error, ContractError):
        function = location.function if location is not None else ""
        problem = f"{function if function not in _NAMELESS else 'the environment'} {exception_text(raised)}"
    if isinstance(raised, KitError):
        problem = raised.problem
    if isinstance(error, DefectError):
        reply = error.reply
    if location is None:
        subject = FOCUS.subject if FOCUS.subject is not None else _subject_of_check(environment, check)
        location = _location_for(environment, subject)
    advice = error.advice if raised is None and isinstance(error, ContractError) else ""
    advice = advice or _advice_for(raised, check)
    return Breach(check, level, FOCUS.item, reply, problem[:_LONGEST_PROBLEM], location, advice, error)


def _advice_for(raised: BaseException | None, check: str = "") -> str:
    """Return the advice about an exception of the environment, or about a problem that the check itself found (None).

    `check` is the check's name; without it there is no advice of the check.
    """
    if isinstance(raised, KitError):
        return f"{raised.advice[0].upper()}{raised.advice[1:]}."
    if isinstance(raised, TimeoutError):
        return (
            "Let it end sooner: bound each search and each loop that draws until something fits, and raise UsageError "
            "after so many tries."
        )
    if raised is None or isinstance(raised, WaybenchError):
        return ADVICE.get(check, "")
    return f"No code of an environment may raise {type(raised).__name__} here. {ADVICE.get(check, '')}".strip()


def _environment_error(error: BaseException) -> BaseException | None:
    """Return the exception that the environment's code raised; None if the check itself found the problem."""
    # Errors of checks have the environment's exception as their cause, directly or through others.
    while isinstance(error, ContractError) or (isinstance(error, WaybenchError) and error.__cause__ is not None):
        if error.__cause__ is None:
            return None
        error = error.__cause__
    return error


def _default_game(environment: AnyEnvironment) -> Any:
    """Return the game with default options."""
    return environment.play_with(environment.resolve_options({})).game


def _default_wording(environment: AnyEnvironment) -> Any:
    """Return the wording with default options."""
    return environment.play_with(environment.resolve_options({})).wording


def _subject_of_check(environment: AnyEnvironment, check: str) -> object:
    """Return the function or class of an environment that a check is about; None if it is not known."""
    with suppress(Exception):  # looking it up runs the environment's code, which may be broken
        return _SUBJECTS[check](environment)
    return None


def _location_for(environment: AnyEnvironment, subject: object) -> CodeLocation | None:
    """Return the line that defines a function or class, or that declares a name, such as an option's.

    If there is none outside waybench, it is the line of the environment's Environment(...); None if that is unknown.
    """
    if isinstance(subject, str):
        return _declaration_location(environment, subject)
    return next(_author_definitions(subject), None) or _declaration_location(environment, "")


def _author_definitions(subject: Any) -> Iterator[CodeLocation]:
    """Yield the lines where the environment's author defined a function or class, also inside the kit's wrappers.

    The first line is the most precise: that of the function, then of its class, then of functions that it calls.
    """
    while isinstance(subject, partial):
        subject = subject.func
    owner: Any = getattr(subject, "__self__", None)  # of a method
    while (base := getattr(owner, "_base", None)) is not None:  # a `DerivedWording` passes calls to the author's
        owner = base
        subject = getattr(owner, getattr(subject, "__name__", ""), subject)
    function: Any = unwrap(getattr(subject, "__func__", subject)) if callable(subject) else None
    candidates: list[Any] = [function, owner.__class__, subject.__class__, getattr(owner, "_question", None)]
    if location_of_definition(function) is None:  # a function of the kit has the author's functions in its closure
        candidates += [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    for candidate in candidates:
        answer = getattr(candidate, "answer", None)  # the function of a question that its author writes
        if (location := location_of_definition(answer) or location_of_definition(candidate)) is not None:
            yield location


def _declaration_location(environment: AnyEnvironment, name: str) -> CodeLocation | None:
    """Return the line in an environment's modules that declares a name, or Environment(...) for ""; None without."""
    items = environment.items
    searched_texts = (f'name="{name}"', f'"{name}"') if name else ("Environment(", "_environment(")
    for function in (environment.playing.play, items.decode, items.level_of, items.make_source):
        for location in _author_definitions(function):
            with suppress(OSError):
                lines = Path(location.path).read_text("utf-8").splitlines()
                for text in searched_texts:
                    for number, line in enumerate(lines, start=1):
                        if text in line:
                            return CodeLocation(location.path, number, "")
    return None


@contextmanager
def forbid_global_random_numbers() -> Generator[None]:
    """Raise a `ContractError` if a block uses the global random numbers of Python or NumPy."""
    states_before = _global_random_states()
    yield
    for name, state in _global_random_states().items():
        if name in states_before and state != states_before[name]:
            FOCUS.look_at()  # the last reply and subject need not have drawn the numbers
            raise ContractError(
                f"the environment uses {name}: take all random numbers from the Stream that it is given", _CHANCE_ADVICE
            )


def _global_random_states() -> dict[str, str]:
    """Return the states of the global random generators, by name."""
    states = {"the module random": str(hash(random.getstate()))}
    if (numpy := sys.modules.get("numpy.random")) is not None:
        _, key, position, *_ = numpy.get_state()
        states["numpy.random"] = str(key.tobytes()[:64]) + str(position)
    return states


@contextmanager
def stop_after(seconds: float | None) -> Generator[None]:
    """Raise `TimeoutError` in a block that takes longer than `seconds`; None for no limit.

    There is no limit, either, on Windows and outside the main thread, where no signal can interrupt the block.
    """
    if seconds is None or not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"it takes longer than {seconds:g} s")

    previous_handler = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous_handler)
