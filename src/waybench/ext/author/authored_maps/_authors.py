"""Instances that a language model writes in checked steps."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, GenerateConfig, Model
from tenacity import RetryError

from waybench.core import (
    Invalid,
    Json,
    JsonObject,
    Option,
    Reply,
    Usage,
    UsageError,
    WaybenchError,
    last_object,
    plural,
    resolve,
    shown,
    split_reasoning,
)
from waybench.evaluation import open_model, reply_of, wrap_model
from waybench.ext.author import AUTHORED

if TYPE_CHECKING:
    from waybench.envs.tilemap import TileMap
    from waybench.ext.author.authored_maps._tilemap import Draft


MOST_PROBLEMS = 10  # problems of one answer

D = TypeVar("D")

Ask = Callable[[Sequence[str]], Awaitable[Reply]]
"""What was said so far, by the user and the model in turn, the user first and last -> what the model says to it."""


class Refused(NamedTuple):
    """Why an answer is not taken.

    Attributes:
        problems: One sentence each, for the model.
        back: The name of the earlier step whose answer is to blame, which is asked for again, and then this one anew;
            empty if the blame is this step's own.
    """

    problems: Sequence[str]
    back: str = ""


@dataclass(frozen=True, slots=True)
class Step(Generic[D]):
    """One thing that is asked for.

    Attributes:
        name: What it is called in messages.
        keys: Keys of the JSON object that is asked for; none where plain text is.
        longest: Draft -> most characters of an answer, reasoning left out.
        prompt: Draft -> the request.
        check: (answer, draft) -> the draft with the answer in it, or why not. The answer is the plain text, or a dict
            of exactly the keys whose values may be anything.
    """

    name: str
    keys: tuple[str, ...]
    longest: Callable[[D], int]
    prompt: Callable[[D], str]
    check: Callable[[Any, D], D | Refused]


async def take_steps(ask: Ask, steps: Sequence[Step[D]], draft: D, attempts: int, problems: list[str]) -> D:
    """Go through all steps with a model.

    A request shows the accepted answers of the steps before, and all refused ones of its own step with their problems.

    Args:
        ask: Asks the model.
        steps: The steps, in order.
        draft: What is known before the first one.
        attempts: Most requests for each step, those after a return from a later step included.
        problems: Gets what was wrong with each refused answer, a line each.

    Returns:
        The draft with all answers in it.

    Raises:
        WaybenchError: If a step has had no usable answer in so many requests; it names the step, and
            what was wrong with the last answer.
    """
    names = [step.name for step in steps]
    drafts, answers = [draft], list[str]()
    refusals = {name: list[str]() for name in names}
    requests = Counter[str]()
    last = ""
    while (number := len(answers)) < len(steps):
        step = steps[number]
        if requests[step.name] >= attempts:
            raise WaybenchError(f"no usable {step.name} in {plural(attempts, 'request')}; the last problem: {last}")
        requests[step.name] += 1
        said = [text for at in range(number) for text in (steps[at].prompt(drafts[at]), answers[at])]
        reply = await ask([*said, step.prompt(drafts[-1]), *refusals[step.name]])
        answer, result = _judged(step, reply, drafts[-1])
        if not isinstance(result, Refused):
            answers.append(answer)
            drafts.append(result)
            continue
        problems_shown = _shown_problems(result.problems)
        problems.extend(f"{step.name}: {problem}" for problem in problems_shown)
        last = f"{step.name}: {problems_shown[0]}"  # the others may be mere consequences
        to_blame = result.back or step.name
        if result.back:
            refusals[step.name].clear()  # they are about something that is going to change
            number = names.index(result.back)
            answer = answers[number]
            del answers[number:], drafts[number + 1 :]
        refusals[to_blame] += [answer, _complaint(problems_shown)]
    return drafts[-1]


def _judged(step: Step[D], reply: Reply, draft: D) -> tuple[str, D | Refused]:
    """Return an answer as it stands in the conversation from then on, and the new draft or why there is none."""
    longest = step.longest(draft)
    text = split_reasoning(reply.text).answer.strip()
    quoted = text[:longest] or "(nothing)"  # some providers take no empty message
    if reply.stop == "truncated":
        return quoted, Refused(["The reply was cut off at the output limit: give a shorter one."])
    if reply.stop == "overflow":
        return "(nothing)", Refused(["The conversation is longer than the model can read."])
    if reply.stop == "refused":
        return quoted, Refused(["The reply was a refusal: choose something that you can tell."])
    if len(text) > longest:
        return quoted, Refused([f"The reply has {len(text)} characters: give at most {longest}."])
    if not text:
        return quoted, Refused(["The reply is empty."])
    if not step.keys:
        return text, step.check(text, draft)
    found = _values(text, step.keys)
    if isinstance(found, Refused):
        return quoted, found
    result = step.check(found, draft)
    return (quoted if isinstance(result, Refused) else json.dumps(found, ensure_ascii=False)), result


def _values(text: str, keys: Sequence[str]) -> dict[str, Any] | Refused:
    found = last_object(text, keys[0])
    if isinstance(found, Invalid):
        return Refused([found.reason])
    if missing := [key for key in keys if key not in found]:
        return Refused([f'The key "{key}" is missing.' for key in missing])
    objects = [found, *(found[key] for key in keys if isinstance(found[key], JsonObject))]
    if twice := [each.duplicate for each in objects if each.duplicate is not None]:
        return Refused([f"The key {shown(name)} is there twice." for name in twice])
    return {key: found[key] for key in keys}


def _shown_problems(problems: Sequence[str]) -> list[str]:
    more = len(problems) - MOST_PROBLEMS
    return [*problems[:MOST_PROBLEMS], *([f"{plural(more, 'more problem')} of this kind."] if more > 0 else [])]


def _complaint(problems: Sequence[str]) -> str:
    listed = "\n".join(f"- {problem}" for problem in problems)
    return f"This cannot be used:\n{listed}\nAnswer this step again, in full and in the form that was asked for."


HIGHEST_LEVEL = 9
LONGEST_THEME = 200

OPTIONS = (
    Option(name="objectives", default=8, low=1, high=50, doc="Number of objectives of each world."),
    Option(name="attempts", default=5, low=1, high=100, doc="Maximum requests for each step of a world."),
    Option(name="theme", default="", doc="Theme of the worlds; if empty, the model chooses."),
)


@dataclass(frozen=True, slots=True)
class Authored:
    """An instance that a model has written.

    Attributes:
        case: The instance; all its objectives can be reached in their order.
        requests: Number of requests.
        problems: What was wrong with each answer that was refused, a line each, after the name of its step.
        usage: What the requests cost, together.
    """

    case: "TileMap"
    requests: int
    problems: tuple[str, ...]
    usage: Usage


def new_draft(rows: int, columns: int, objectives: int, theme: str) -> "Draft":
    """Return the draft of a world of which nothing is written yet.

    Args:
        rows: Rows of the map.
        columns: Columns of the map.
        objectives: Number of objectives.
        theme: What the world is about; the model chooses if it is "".

    Raises:
        UsageError: If the theme is too long, or the map has no room for the objectives.
    """
    from waybench.ext.author.authored_maps._tilemap import Draft  # an environment's code is loaded when it is asked for

    theme = " ".join(theme.split())
    if len(theme) > LONGEST_THEME:
        raise UsageError(f"the theme has {len(theme)} characters: give at most {LONGEST_THEME}")
    if objectives + 2 > rows * columns:
        raise UsageError(f"a map of {rows} x {columns} has no room for {objectives} objectives: lower their number")
    return Draft(rows, columns, objectives, theme)


async def write_world(model: Model, draft: "Draft", attempts: int) -> Authored:
    """Ask a model for a world on a map of tiles: a story, its characters, tiles, the map, the objectives.

    Each answer is checked. One that cannot be used is sent back with what is wrong with it; a map on which an
    objective cannot be reached is asked for again, and the objectives after it. The steps are those of Word2World
    (Nasir, James and Togelius 2024), with which the maps of GameTraversalBenchmark were made.

    Args:
        model: The model.
        draft: The draft of the world (`new_draft`).
        attempts: Most requests for each step.

    Raises:
        UsageError: If the model is an embedded player.
        WaybenchError: If a step has no usable answer, or the provider none at all; the message says which step, and
            the last problem or the provider's words.
    """
    from waybench.ext.author.authored_maps._tilemap import ROLE, STEPS

    _refuse_player(str(model))
    wrap_model(model)
    problems = list[str]()
    costs = list[Usage]()

    async def ask(said: Sequence[str]) -> Reply:
        reply = await _ask(model, ROLE, said)
        costs.append(reply.usage or Usage())
        return reply

    written = await take_steps(ask, STEPS, draft, attempts, problems)
    numbers = [part.name for part in fields(Usage) if part.name != "model"]
    summed: dict[str, Any] = {name: sum(getattr(cost, name) for cost in costs) for name in numbers}
    usage = Usage(**summed, model=costs[-1].model if costs else "")
    return Authored(written.case(), len(costs), tuple(problems), usage)


async def _ask(model: Model, role: str, said: Sequence[str]) -> Reply:
    kinds = (ChatMessageUser, ChatMessageAssistant)
    chat = [kinds[number % 2](content=text) for number, text in enumerate(said)]
    began = time.monotonic()
    try:
        output = await model.generate([ChatMessageSystem(content=role), *chat])
        return reply_of(output, time.monotonic() - began)
    except Exception as error:  # every provider has its own; its message is what the user needs
        cause: object = error.last_attempt.exception() if isinstance(error, RetryError) else error
        words = getattr(cause, "provider_message", None) or str(cause)  # without the request, which the engine adds
        raise WaybenchError(f"{model}: {type(cause).__name__}: {' '.join(words.split())[:300]}") from None


def _refuse_player(name: str) -> None:
    if name.partition("/")[0] == "waybench":
        raise UsageError(f"{name[:120]}: embedded players cannot write worlds; name a language model")


def world_size(level: int) -> tuple[int, int]:
    """Return the rows and columns of a map of a level: near its fewest cells, 1.6 times as wide as high.

    Raises:
        UsageError: For a level that does not exist.
    """
    if not 1 <= level <= HIGHEST_LEVEL:
        raise UsageError(f"level {level}: a model writes worlds of levels 1 to {HIGHEST_LEVEL}")
    cells = 70 * 2 ** (level - 1)
    rows = round(sqrt(cells / 1.6))
    return rows, ceil(cells / rows)


Write = Callable[[Model], Awaitable[Authored]]


class Author(NamedTuple):
    """How a model writes instances of an environment.

    Attributes:
        options: What can be chosen besides the level.
        writer: (level, resolved options) -> what writes one; raises UsageError for what cannot be.
    """

    options: tuple[Option, ...]
    writer: Callable[[int, Mapping[str, Json]], Write]


def _tilemap_writer(level: int, options: Mapping[str, Json]) -> Write:
    draft = new_draft(*world_size(level), options["objectives"], options["theme"])
    return lambda model: write_world(model, draft, options["attempts"])


_TILEMAP = Author(OPTIONS, _tilemap_writer)
AUTHORS: Mapping[str, Author] = {env: _TILEMAP for env in AUTHORED}
"""Environment's id -> how a model writes instances of it."""

OnResult = Callable[[int, Authored | WaybenchError], None]


@dataclass(frozen=True, slots=True)
class OpenAuthor:
    """A model that is ready to write instances.

    Attributes:
        model: The model.
        write_one: Has it write one.
    """

    model: Model
    write_one: Write

    def write(self, count: int, on_result: OnResult) -> None:
        """Have instances written, no two of them the same, as many at a time as the model may have connections.

        Args:
            count: How many.
            on_result: Receives each number, from 0, with the instance or why there is none, as soon as it is known.
        """
        asyncio.run(self._write(count, on_result))

    async def _write(self, count: int, on_result: OnResult) -> None:
        gate = asyncio.Semaphore(self.model.config.max_connections or 1)

        async def one(number: int) -> tuple[int, Authored | WaybenchError]:
            async with gate:
                try:
                    return number, await self.write_one(self.model)
                except WaybenchError as error:
                    return number, error

        first: dict[str, int] = {}
        async with self.model:  # which closes its connections
            pending = [asyncio.create_task(one(number)) for number in range(count)]  # which are begun in this order
            for done in asyncio.as_completed(pending):
                number, result = await done
                if isinstance(result, Authored):
                    same = first.setdefault(result.case.hash, number)
                    if same != number:
                        result = WaybenchError(f"it is identical to number {same}: try another temperature or theme")
                on_result(number, result)


def open_author(
    env: str,
    model: str,
    *,
    level: int = 1,
    options: Mapping[str, Json] | None = None,
    model_base_url: str | None = None,
    model_args: Mapping[str, Json] | None = None,
    config: Mapping[str, Json] | None = None,
) -> OpenAuthor:
    """Make a model ready to write instances of an environment; nothing is asked yet.

    Args:
        env: The environment's id.
        model: The model's name.
        level: The level of the instances.
        options: Options of the environment's author.
        model_base_url: Address of the model's server.
        model_args: Arguments of the model's provider.
        config: Inspect's generation settings.

    Raises:
        UsageError: If no model writes instances of this environment, for a wrong level or option, or if the model
            cannot be had, in the provider's words.
    """
    author = AUTHORS.get(env)
    if author is None:
        raise UsageError(f"models cannot write instances of {env}: remove --model, or choose from {', '.join(AUTHORS)}")
    _refuse_player(model)
    write_one = author.writer(level, resolve(author.options, options or {}, "source option"))
    ready = open_model(model, model_base_url, model_args or {})
    ready.config = ready.config.merge(GenerateConfig.model_validate(config or {}))
    return OpenAuthor(ready, write_one)
