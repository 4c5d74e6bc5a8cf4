"""Where the checks look, and how a broken contract is reported."""

import json
import re
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import Any

from waybench.core import (
    LANGUAGE,
    DefectError,
    Environment,
    Episode,
    Game,
    Invalid,
    Item,
    Json,
    Outcome,
    Play,
    Policy,
    Stream,
    UsageError,
    WaybenchError,
    evenly_spaced_values,
    play_to_end,
    policy,
)
from waybench.core._errors import exception_text
from waybench.core._languages import languages_of
from waybench.core._texts import ENGLISH_NAME

ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}")  # in the default text of an object
_GOLDEN = (5**0.5 - 1) / 2  # its multiples, without their whole parts, are spread evenly
_PLAIN = (Enum, str, bytes, int, float, tuple, frozenset)  # nothing of these can be set

AnyEnvironment = Environment[Any, Any, Any]

Options = dict[str, Json]
AnyEpisode = Episode[Any, Any, Any]
ITEMS = 3  # items of a level that a check looks at
STEPS = 12  # steps of a random walk
ACTIONS = 12  # legal actions tried in one state
MANY = 2_000  # legal actions tried in one state where all should be; a range of numbers can have too many
SAMPLE_PLAYERS = ("null", "random", "heuristic", "oracle", "noisy-0.5")
ROUNDING_ERROR = 1e-9  # by which a sum or a score may miss a bound
_MOST_LEVELS = 64  # of which an item is drawn beside the levels that checks look at
_DRAWING_SECONDS = 1.0  # of this process, after which no more of them are drawn
_MOST_CACHED = 48  # pairs of an item and options: several checks look at the same episodes
_cached_episodes: dict[tuple[int, str, str, str], tuple[AnyEnvironment, tuple[AnyEpisode, ...]]] = {}


class ContractError(WaybenchError, AssertionError):
    """An environment that does not keep the contract; an `AssertionError`, so that every test runner shows it.

    Args:
        message: What is wrong.
        advice: What to do, in a sentence; "" for the general advice of the check (`ADVICE`).
    """

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice


@dataclass(slots=True)
class Focus:
    """What a check looks at, so that the report of a failure can name it.

    Attributes:
        item: The item's id; "" if the check looks at no item.
        reply: The reply that is read; None if the check looks at no reply.
        subject: The function or object that is checked, or the name of a declaration, such as an option; None for the
            check's usual subject.
    """

    item: str = ""
    reply: str | None = None
    subject: object = None

    def look_at(self, item: str | None = None, reply: str | None = None, subject: object = None) -> None:
        """Set item, reply and subject of the check; the item stays if None, reply and subject are cleared."""
        self.item = self.item if item is None else item
        self.reply, self.subject = reply, subject

    def reset(self) -> None:
        """Clear item, reply and subject before a check begins."""
        self.item, self.reply, self.subject = "", None, None


FOCUS = Focus()


class LazyMessage:
    """A text with {} for parts, formatted only when it is shown: a state may take longer to print than to check."""

    __slots__ = ("_parts", "_template")

    def __init__(self, template: str, *parts: object) -> None:
        self._template, self._parts = template, parts

    def __str__(self) -> str:
        return self._template.format(*self._parts) if self._parts else self._template


class Brief:
    """A value as messages show it, in at most 100 characters; its text is made only when a message is shown."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __str__(self) -> str:
        text = repr(self._value)
        return text if len(text) <= 100 else f"{text[:97]}..."


def require(condition: object, message: str, *parts: object) -> None:
    """Raise `ContractError` with a message unless a condition holds.

    Args:
        condition: What has to be true.
        message: The message otherwise, with {} for each part.
        *parts: Values that are formatted only if the condition fails, since that takes time.
    """
    if not condition:
        raise ContractError(str(LazyMessage(message, *parts)))


def require_distinct(names: Sequence[str], label: str) -> None:
    """Require that no name occurs twice; `label` is the plural noun for the named things."""
    require(len(names) == len(set(names)), f"{label} come twice: {names}")


@contextmanager
def report_as_breach(label: object) -> Generator[None]:
    """Convert any exception of the block to a `ContractError`, whose message begins with `label`."""
    try:
        yield
    except ContractError:
        raise
    except Exception as error:
        # A DefectError only reports an exception of the environment, which the message shows itself.
        raised = error.__cause__ if isinstance(error, DefectError) and isinstance(error.__cause__, Exception) else error
        raise ContractError(f"{label} {exception_text(raised)}") from error


@contextmanager
def require_one_line_refusal(
    error_type: type[Exception], label: object, message_if_accepted: str = ""
) -> Generator[None]:
    """Require that an error of this type in the block has a message of one short line.

    Without an error, raise a `ContractError` with `message_if_accepted`, if there is one.
    """
    try:
        yield
    except error_type as error:
        text = str(error)
        require(text.isprintable() and 0 < len(text) <= 1_000, "{}: not one short line: {!r}", label, text[:80])
        return
    if message_if_accepted:
        raise ContractError(message_if_accepted)


def require_frozen(value: Any, label: object) -> None:
    """Require that a value is hashable, has no `__dict__`, and that none of its fields can be set."""
    try:
        hash(value)
    except TypeError as error:
        raise ContractError(f"{label} is not hashable ({error}): use tuples and frozen dataclasses") from None
    if issubclass(type(value), _PLAIN) and not hasattr(value, "_fields"):
        return
    require(not hasattr(value, "__dict__"), "{} has a __dict__: give its class slots (NamedTuple, slots=True)", label)
    if hasattr(value, "__dataclass_fields__"):
        names = value.__dataclass_fields__
    else:
        names = getattr(value, "_fields", getattr(value, "__slots__", ()))
    for name in names:
        try:
            setattr(value, name, getattr(value, name))
        except (AttributeError, TypeError):
            continue
        raise ContractError(f"{label} is not frozen: its field {name!r} could be set")


def option_combinations(environment: AnyEnvironment) -> list[Options]:
    """Return the options for each combination of protocol, wording and language, the default one first.

    Each has the options that the environment declares for checks (`Playing.check_options`), too. Combinations that the
    environment refuses are left out.

    Raises:
        ContractError: If an option is missing, or one of its choices is refused in every combination.
    """
    choices: dict[str, tuple[str, ...]] = {}
    for option in environment.playing.options:
        if option.name in ("protocol", "wording"):
            choices[option.name] = (option.default, *(choice for choice in option.choices if choice != option.default))
    require(len(choices) == 2, 'the environment has no options "protocol" and "wording": declare both')
    combinations: list[Options] = []
    languages: list[Options] = [{} if name == ENGLISH_NAME else {LANGUAGE: name} for name in languages_of(environment)]
    for language, protocol, wording in product(languages, choices["protocol"], choices["wording"]):
        options: Options = {**environment.playing.check_options, "protocol": protocol, "wording": wording, **language}
        try:
            environment.play_with(environment.resolve_options(options))
        except UsageError:
            continue  # an environment may refuse a combination
        combinations.append(options)
    for name, values in choices.items():
        missing = set(values) - {options[name] for options in combinations}
        require(not missing, f"option {name}: {sorted(missing)} cannot be played in any combination")
    return combinations


def play_with_options(environment: AnyEnvironment, options: Options) -> Play[Any, Any, Any]:
    """Return game, wording and limits for some options."""
    return environment.play_with(environment.resolve_options(options))


def first_items(environment: AnyEnvironment, level: int, count: int = ITEMS) -> list[Item[Any]]:
    """Return the first items of a level, in the public set."""
    return environment.source(level=level).head(count)


def first_items_across_levels(environment: AnyEnvironment) -> Iterator[Item[Any]]:
    """Yield the first items of up to 64 levels, for at most one second; none if no highest level is declared.

    Low and high levels alternate, so that both are drawn even if the environment is slow. Levels that the environment
    refuses with a UsageError are left out.
    """
    highest, smallest = environment.items.highest_level, environment.items.smallest_level
    n_levels = 0 if highest is None else highest - smallest  # without the highest, which `check_levels` draws
    levels = {smallest + number * n_levels // _MOST_LEVELS for number in range(_MOST_LEVELS)} if n_levels else ()
    start_time = time.process_time()
    for level in sorted(levels, key=lambda level: level * _GOLDEN % 1):
        if time.process_time() - start_time > _DRAWING_SECONDS:
            return
        with suppress(UsageError), report_as_breach(f"level {level}, which is below the highest_level,"):
            yield environment.source(level=level).item(0)


def episode_of_player(
    environment: AnyEnvironment, item: Item[Any], player: str, options: Options | None = None
) -> AnyEpisode:
    """Return the finished episode of a player, given by name, at an item; by default with the options for checks."""
    return play_to_end(
        environment, item, policy(player), dict(environment.playing.check_options) if options is None else options
    )


def games_and_items(environment: AnyEnvironment, level: int) -> Iterator[tuple[Game[Any, Any, Any], Item[Any]]]:
    """Yield (game, item) for each combination of options and each of the first items of a level."""
    for options in option_combinations(environment):
        game = play_with_options(environment, options).game
        for item in first_items(environment, level):
            FOCUS.look_at(item.id)
            yield game, item


def sample_states(environment: AnyEnvironment, item: Item[Any], game: Game[Any, Any, Any]) -> list[Any]:
    """Return states that a random walk and the oracle visit, without duplicates, the first state first."""
    states: list[Any] = [game.start(item.instance)]
    for player in ("walk", "oracle"):
        state = states[0]
        for step in range(STEPS):
            if game.terminal(state):
                break
            rng = Stream("contract", item.instance.hash, player, step)
            action = (
                rng.choice(game.legal(state)) if player == "walk" else environment.players.policies[player](state, rng)
            )
            state = game.apply(state, action, rng).state
            states.append(state)
    return list(dict.fromkeys(states))


def sample_actions(game: Game[Any, Any, Any], state: Any, max_actions: int = ACTIONS) -> list[Any]:
    """Return at most `max_actions` legal actions of a state, evenly spaced in their list."""
    return evenly_spaced_values(game.legal(state), max_actions)


def count_reachable_states(
    game: Game[Any, Any, Any], instance: Any, *, max_states: int = 20_000, draws: int = 8
) -> int:
    """Return the number of states that legal actions can reach from the start.

    Args:
        game: The rules.
        instance: The instance from whose first state the search starts.
        max_states: The number of states above which the search stops.
        draws: For a game of chance, the number of random streams tried for each action. More streams can reach more
            states; the result is the same on every machine.

    Returns:
        The number of states; `max_states` + 1 if there are more than `max_states`.
    """
    n_streams = 1 if game.properties.deterministic else draws
    start = game.start(instance)
    reached, unexplored = {start}, [start]
    while unexplored and len(reached) <= max_states:
        state = unexplored.pop()
        for action in game.legal(state):
            for draw in range(n_streams):
                next_state = game.apply(state, action, Stream("contract", "reachable", draw)).state
                if next_state not in reached:
                    reached.add(next_state)
                    unexplored.append(next_state)
            if len(reached) > max_states:  # one state can have more actions than that
                break
    return min(len(reached), max_states + 1)


class StumblingPolicy(Policy):
    """A player for tests that replies with nonsense, an illegal action and a legal action, by turns."""

    name = "stumbling"
    _NONSENSE = ("no idea", "", '{"broken": [', "\ud800\0", "{}")

    def __init__(self) -> None:
        self._episode: object = None
        self._actions_of_item: list[Any] = []  # of `_episode`

    def reply(self, episode: AnyEpisode) -> str:
        """Return nonsense, an illegal action (a legal one, if none is found) or a random legal action."""
        cycle, step = divmod(len(episode.turns), 3)
        if step == 0:
            return self._NONSENSE[cycle % len(self._NONSENSE)]
        game, state, rng = episode.play.game, episode.state, episode.stream("player stumbling")
        chosen_action = rng.choice(game.legal(state))
        if step == 1:
            for action in self._legal_actions_of_item(episode):
                if game.apply(state, action, rng).outcome is Outcome.ILLEGAL:
                    chosen_action = action
                    break
        return episode.play.wording.render(chosen_action, state)

    def _legal_actions_of_item(self, episode: AnyEpisode) -> list[Any]:
        """Return the legal actions of sampled states of the episode's item, each once; cached for the last episode."""
        if self._episode is not episode:
            game = episode.play.game
            states = sample_states(episode.environment, episode.item, game)
            legal_actions = dict.fromkeys(action for state in states for action in sample_actions(game, state, MANY))
            self._episode, self._actions_of_item = episode, list(legal_actions)
        return self._actions_of_item


def sample_episodes(environment: AnyEnvironment, item: Item[Any], options: Options) -> tuple[AnyEpisode, ...]:
    """Return finished episodes of an item by every kind of player; they are cached, so do not change them."""
    key = id(environment), item.id, item.instance.hash, json.dumps(options, sort_keys=True)
    if key not in _cached_episodes:
        episodes = [episode_of_player(environment, item, name, options) for name in SAMPLE_PLAYERS]
        while len(_cached_episodes) >= _MOST_CACHED:
            del _cached_episodes[next(iter(_cached_episodes))]
        # The environment is kept, too, so that no other object gets its `id` as long as the key is there.
        _cached_episodes[key] = environment, (*episodes, play_to_end(environment, item, StumblingPolicy(), options))
    return _cached_episodes[key][1]


def sample_records(environment: AnyEnvironment, level: int) -> Iterator[str]:
    """Yield records of every kind of player as JSON lines, to compare two processes or machines.

    The first items of a level are played under every protocol and wording.
    """
    for options in option_combinations(environment):
        for item in first_items(environment, level):
            for episode in sample_episodes(environment, item, options):
                yield episode.record().dumps()


def parse_and_check_reply(play: Play[Any, Any, Any], reply: str, state: Any, label: object) -> Any:
    """Return the action or `Invalid` that a reply is parsed as.

    Raises:
        ContractError: If `parse` raises an exception, returns None, or an `Invalid` without a short reason.
    """
    FOCUS.look_at(reply=reply, subject=play.wording.parse)
    with report_as_breach(LazyMessage("{}: parse", label)):
        action = play.wording.parse(play.reply_parts(reply).answer, state)
    require(action is not None, "{}: parse returned None: return an action or Invalid(reason)", label)
    if isinstance(action, Invalid):
        reason = action.reason
        require(reason.strip(), "{}: it was refused without a reason", label)
        require(len(reason) <= 500, "{}: the reason has {} characters; 500 are enough", label, len(reason))
        require(reason.isprintable(), "{}: the reason is no plain line: {!r}", label, reason[:80])
        require(action.outcome == "unparsed", "{}: it was refused as {}, not as unparsed", label, action.outcome)
    return action
