"""Instances that a language model writes in checked steps."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import ceil, sqrt
from typing import Any

from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, GenerateConfig, Model
from tenacity import RetryError

from waybench.core import (
    Json,
    Option,
    Reply,
    Usage,
    UsageError,
    WaybenchError,
    resolve,
)
from waybench.envs.tilemap._instance import TileMap
from waybench.evaluation import read_reply
from waybench.evaluation._engine import open_model
from waybench.evaluation._solver import wrap_model
from waybench.ext.author import AUTHORED
from waybench.ext.author.authored_maps._steps import run_author_steps
from waybench.ext.author.authored_maps._tilemap import ROLE, STEPS, Draft

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
        problems: The problems of all refused answers, a line each, after the name of the step.
        usage: The sum of the usage of all requests.
    """

    case: TileMap
    requests: int
    problems: tuple[str, ...]
    usage: Usage


def new_draft(rows: int, columns: int, objectives: int, theme: str) -> Draft:
    """Return an empty draft of a world of this size; without a theme the model chooses one.

    Raises:
        UsageError: If the theme is too long, or the map has no room for the objectives.
    """
    theme = " ".join(theme.split())
    if len(theme) > LONGEST_THEME:
        raise UsageError(f"the theme has {len(theme)} characters: give at most {LONGEST_THEME}")
    if objectives + 2 > rows * columns:
        raise UsageError(f"a map of {rows} x {columns} has no room for {objectives} objectives: lower their number")
    return Draft(rows, columns, objectives, theme)


async def write_world(model: Model, draft: Draft, attempts: int) -> Authored:
    """Ask a model for a world on a map of tiles: a story, its characters, tiles, the map, the objectives.

    Each answer is checked. An answer that cannot be used is sent back with its problems; a map on which an objective
    cannot be reached is asked for again, and the objectives after it. The steps are those of Word2World (Nasir, James
    and Togelius 2024), with which the maps of GameTraversalBenchmark were made.

    Raises:
        UsageError: If the model is an embedded player.
        WaybenchError: If a step has no usable answer, or the provider fails; the message has the step and the last
            problem, or the provider's message.
    """
    _refuse_embedded_player(str(model))
    wrap_model(model)
    problems = list[str]()
    usages = list[Usage]()

    async def send_conversation(texts: Sequence[str]) -> Reply:
        reply = await _model_reply(model, ROLE, texts)
        usages.append(reply.usage or Usage())
        return reply

    final_draft = await run_author_steps(send_conversation, STEPS, draft, attempts, problems)
    count_names = [part.name for part in fields(Usage) if part.name != "model"]
    sums: dict[str, Any] = {name: sum(getattr(cost, name) for cost in usages) for name in count_names}
    usage = Usage(**sums, model=usages[-1].model if usages else "")
    return Authored(final_draft.to_tile_map(), len(usages), tuple(problems), usage)


async def _model_reply(model: Model, system_prompt: str, texts: Sequence[str]) -> Reply:
    """Return the model's reply to a conversation: texts of user and model in turn, the first and last by the user."""
    message_classes = (ChatMessageUser, ChatMessageAssistant)
    chat = [message_classes[number % 2](content=text) for number, text in enumerate(texts)]
    start = time.monotonic()
    try:
        output = await model.generate([ChatMessageSystem(content=system_prompt), *chat])
        return read_reply(output, time.monotonic() - start)
    except Exception as error:  # every provider has its own errors; the user needs their message
        cause: object = error.last_attempt.exception() if isinstance(error, RetryError) else error
        message = getattr(cause, "provider_message", None) or str(cause)  # without the request, which the engine adds
        raise WaybenchError(f"{model}: {type(cause).__name__}: {' '.join(message.split())[:300]}") from None


def _refuse_embedded_player(model_name: str) -> None:
    """Raise a UsageError for a player of waybench's own, which cannot write texts."""
    if model_name.partition("/")[0] == "waybench":
        raise UsageError(f"{model_name[:120]}: embedded players cannot write worlds; name a language model")


def world_size(level: int) -> tuple[int, int]:
    """Return the rows and columns of a map at a level: near the level's fewest cells, 1.6 times as wide as high.

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
    """A model that is ready to write instances, the draft that each begins with, and the most requests of a step."""

    model: Model
    draft: Draft
    attempts: int

    def write_instances(self, count: int, on_result: OnResult) -> None:
        """Have `count` different instances written, as many at a time as the model may have connections.

        `on_result` receives each number, from 0, with the instance or why there is none, as soon as it is known.
        """
        asyncio.run(self._write_instances(count, on_result))

    async def _write_instances(self, count: int, on_result: OnResult) -> None:
        """Write instances; report each that is equal to an earlier one as an error."""
        connections = asyncio.Semaphore(self.model.config.max_connections or 1)

        async def write_numbered(number: int) -> tuple[int, Authored | WaybenchError]:
            async with connections:
                try:
                    return number, await write_world(self.model, self.draft, self.attempts)
                except WaybenchError as error:
                    return number, error

        first_number_by_hash: dict[str, int] = {}
        async with self.model:  # closes its connections at the end
            tasks = [asyncio.create_task(write_numbered(number)) for number in range(count)]  # begin in this order
            for task in asyncio.as_completed(tasks):
                number, result = await task
                if isinstance(result, Authored):
                    first = first_number_by_hash.setdefault(result.case.hash, number)
                    if first != number:
                        result = WaybenchError(f"it is identical to number {first}: try another temperature or theme")
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
    """Return a model that is ready to write instances of an environment; no request is made yet.

    `options` are those of `OPTIONS`, and `config` has Inspect's generation settings.

    Raises:
        UsageError: If no model writes instances of this environment, for a wrong level or option, or if the model
            cannot be opened, with the provider's message.
    """
    if env not in AUTHORED:
        raise UsageError(
            f"models cannot write instances of {env}: remove --model, or choose from {', '.join(AUTHORED)}"
        )
    _refuse_embedded_player(model)
    values = resolve(OPTIONS, options or {}, "source option")
    draft = new_draft(*world_size(level), values["objectives"], values["theme"])
    opened_model = open_model(model, model_base_url, model_args or {})
    opened_model.config = opened_model.config.merge(GenerateConfig.model_validate(config or {}))
    return OpenAuthor(opened_model, draft, values["attempts"])
