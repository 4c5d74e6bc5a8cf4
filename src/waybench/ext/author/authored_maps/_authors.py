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
    Option,
    Reply,
    Usage,
    UsageError,
    WaybenchError,
    json_excerpt,
    last_object,
    plural,
    resolve,
    split_reasoning,
)
from waybench.core._json_reply import JsonObject
from waybench.evaluation import read_reply
from waybench.evaluation._engine import open_model
from waybench.evaluation._solver import wrap_model
from waybench.ext.author import AUTHORED

if TYPE_CHECKING:
    from waybench.envs.tilemap._instance import TileMap
    from waybench.ext.author.authored_maps._tilemap import Draft

MOST_PROBLEMS = 10  # problems of one answer

D = TypeVar("D")

Ask = Callable[[Sequence[str]], Awaitable[Reply]]
"""The conversation so far, by the user and the model in turn, the user first and last -> the model's next reply."""

HIGHEST_LEVEL = 9
LONGEST_THEME = 200
OPTIONS = (
    Option(name="objectives", default=8, low=1, high=50, doc="Number of objectives of each world."),
    Option(name="attempts", default=5, low=1, high=100, doc="Maximum requests for each step of a world."),
    Option(name="theme", default="", doc="Theme of the worlds; if empty, the model chooses."),
)


class RefusedAnswer(NamedTuple):
    """Why an answer is not taken.

    Attributes:
        problems: One sentence each, for the model.
        back: The name of the earlier step whose answer is to blame, which is asked for again, and then this one anew;
            empty if the blame is this step's own.
    """

    problems: Sequence[str]
    back: str = ""


@dataclass(frozen=True, slots=True)
class AuthorStep(Generic[D]):
    """One thing that is asked for.

    Attributes:
        name: Its name in messages.
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
    check: Callable[[Any, D], D | RefusedAnswer]


async def take_steps(ask: Ask, steps: Sequence[AuthorStep[D]], draft: D, attempts: int, problems: list[str]) -> D:
    """Go through all steps with a model, from a draft with what is known before the first one.

    A request shows the accepted answers of the steps before, and all refused ones of its own step with their problems.
    Each step has at most `attempts` requests, those after a return from a later step included. `problems` gets what was
    wrong with each refused answer, a line each.

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
        accepted = [text for at in range(number) for text in (steps[at].prompt(drafts[at]), answers[at])]
        reply = await ask([*accepted, step.prompt(drafts[-1]), *refusals[step.name]])
        answer, result = _judge(step, reply, drafts[-1])
        if not isinstance(result, RefusedAnswer):
            answers.append(answer)
            drafts.append(result)
            continue
        reasons = [*result.problems[:MOST_PROBLEMS]]
        if (more := len(result.problems) - MOST_PROBLEMS) > 0:
            reasons.append(f"{plural(more, 'more problem')} of this kind.")
        problems.extend(f"{step.name}: {reason}" for reason in reasons)
        last = f"{step.name}: {reasons[0]}"  # the others may be mere consequences
        to_blame = result.back or step.name
        if result.back:
            refusals[step.name].clear()  # they are about something that is going to change
            number = names.index(result.back)
            answer = answers[number]
            del answers[number:], drafts[number + 1 :]
        lines = "\n".join(f"- {reason}" for reason in reasons)
        again = "Answer this step again, in full and in the form that was asked for."
        refusals[to_blame] += [answer, f"This cannot be used:\n{lines}\n{again}"]
    return drafts[-1]


def _judge(step: AuthorStep[D], reply: Reply, draft: D) -> tuple[str, D | RefusedAnswer]:
    """Return an answer as it stands in the conversation from then on, and the new draft or why there is none."""
    longest = step.longest(draft)
    text = split_reasoning(reply.text).answer.strip()
    quoted = text[:longest] or "(nothing)"  # some providers take no empty message
    if reply.stop == "truncated":
        return quoted, RefusedAnswer(["The reply was cut off at the output limit: give a shorter one."])
    if reply.stop == "overflow":
        return "(nothing)", RefusedAnswer(["The conversation is longer than the model can read."])
    if reply.stop == "refused":
        return quoted, RefusedAnswer(["The reply was a refusal: choose something that you can tell."])
    if len(text) > longest:
        return quoted, RefusedAnswer([f"The reply has {len(text)} characters: give at most {longest}."])
    if not text:
        return quoted, RefusedAnswer(["The reply is empty."])
    if not step.keys:
        return text, step.check(text, draft)
    values = _values(text, step.keys)
    result = values if isinstance(values, RefusedAnswer) else step.check(values, draft)
    return (quoted if isinstance(result, RefusedAnswer) else json.dumps(values, ensure_ascii=False)), result


def _values(text: str, keys: Sequence[str]) -> dict[str, Any] | RefusedAnswer:
    data = last_object(text, keys[0])
    if isinstance(data, Invalid):
        return RefusedAnswer([data.reason])
    if missing := [key for key in keys if key not in data]:
        return RefusedAnswer([f'The key "{key}" is missing.' for key in missing])
    objects = [data, *(data[key] for key in keys if isinstance(data[key], JsonObject))]
    if twice := [part.duplicate for part in objects if part.duplicate is not None]:
        return RefusedAnswer([f"The key {json_excerpt(name)} is there twice." for name in twice])
    return {key: data[key] for key in keys}


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

    async def ask(texts: Sequence[str]) -> Reply:
        reply = await _ask(model, ROLE, texts)
        costs.append(reply.usage or Usage())
        return reply

    written = await take_steps(ask, STEPS, draft, attempts, problems)
    numbers = [part.name for part in fields(Usage) if part.name != "model"]
    summed: dict[str, Any] = {name: sum(getattr(cost, name) for cost in costs) for name in numbers}
    usage = Usage(**summed, model=costs[-1].model if costs else "")
    return Authored(written.case(), len(costs), tuple(problems), usage)


async def _ask(model: Model, role: str, texts: Sequence[str]) -> Reply:
    kinds = (ChatMessageUser, ChatMessageAssistant)
    chat = [kinds[number % 2](content=text) for number, text in enumerate(texts)]
    began = time.monotonic()
    try:
        output = await model.generate([ChatMessageSystem(content=role), *chat])
        return read_reply(output, time.monotonic() - began)
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


OnResult = Callable[[int, Authored | WaybenchError], None]


@dataclass(frozen=True, slots=True)
class OpenAuthor:
    """A model that is ready to write instances, the draft that each begins with, and most requests for each step."""

    model: Model
    draft: "Draft"
    attempts: int

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
                    return number, await write_world(self.model, self.draft, self.attempts)
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

    `options` are those of `OPTIONS`, and `config` has Inspect's generation settings.

    Raises:
        UsageError: If no model writes instances of this environment, for a wrong level or option, or if the model
            cannot be had, in the provider's words.
    """
    if env not in AUTHORED:
        raise UsageError(
            f"models cannot write instances of {env}: remove --model, or choose from {', '.join(AUTHORED)}"
        )
    _refuse_player(model)
    chosen = resolve(OPTIONS, options or {}, "source option")
    draft = new_draft(*world_size(level), chosen["objectives"], chosen["theme"])
    ready = open_model(model, model_base_url, model_args or {})
    ready.config = ready.config.merge(GenerateConfig.model_validate(config or {}))
    return OpenAuthor(ready, draft, chosen["attempts"])
