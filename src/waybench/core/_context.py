"""`context_tokens`: one item asked among others in a prompt of a given length."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Generic

from waybench.core._environment import AnyEnvironment, AnyPlay, I, PlayExtension, Resolve
from waybench.core._errors import UsageError
from waybench.core._game import A, Json, S, Stream
from waybench.core._images import has_images
from waybench.core._metrics import Axis
from waybench.core._play import Option, resolve
from waybench.core._record import EpisodeRecord
from waybench.core._tokens import ESTIMATE, tokenizer
from waybench.core._wording import DerivedWording, Message, Wording

CONTEXT_TOKENS = "context_tokens"
CONTEXT_TOKENIZER = "context_tokenizer"
_MOST_TOKENS = 2_000_000
_MOST_TASKS = 100_000
_STEPS = 1 << 30  # places of the item, as shares of the prompt
CONTEXT_OPTIONS = (
    Option(
        name=CONTEXT_TOKENS,
        default=None,
        kind=int,
        low=100,
        high=_MOST_TOKENS,
        separate_tables=True,
        doc="Tokens of the prompt, at most: the item is asked among as many others of its level as have room. An "
        "episode has one turn then. By default the item stands alone.",
    ),
    Option(
        name=CONTEXT_TOKENIZER,
        default=None,
        kind=str,
        doc="What counts these tokens: characters (an estimate, four per token; the default), or tiktoken/ENCODING.",
    ),
)


class NoRoomError(UsageError):
    """An item alone takes more tokens than its context may have."""


def without_context(options: Mapping[str, Json]) -> dict[str, Json]:
    """Return options of play of an item that stands alone."""
    names = {option.name for option in CONTEXT_OPTIONS}
    return {name: value for name, value in options.items() if name not in names}


class ContextWording(DerivedWording[I, S, A], Generic[I, S, A]):
    """A wording that asks an item among others, which are numbered as it is, in a prompt of a given length.

    The others are as many as have room. Where the item stands among them is drawn from its hash, as a share of the
    prompt that is the same at each length. So lengths differ in nothing but the number of the others.

    Args:
        base: The wording of each of them.
        draw: (instance, key) -> another instance of the same level, by key.
        tokens: Tokens of the prompt, at most.
        name: The name of the tokenizer that counts them.

    Raises:
        UsageError: If there is no such tokenizer.
    """

    def __init__(self, base: Wording[I, S, A], draw: Callable[[I, str], I], tokens: int, name: str) -> None:
        super().__init__(base, base.name)
        self._draw, self._tokens, self._tokenizer = draw, tokens, tokenizer(name)
        self._text = lru_cache(maxsize=4)(self._fill)  # a page of replays asks again; a text may have megabytes

    def rules(self, instance: I) -> str:
        """Return the numbered tasks, with the number of the one that is asked before and after them.

        Raises:
            NoRoomError: If there is no room for the item.
        """
        return self._text(instance)

    def prompt(self, rules: str, examples: Sequence[tuple[str, str]], observation: str) -> tuple[Message, ...]:
        """Return the messages as the base wording divides them.

        Raises:
            UsageError: If there are solved examples.
        """
        if examples:
            raise UsageError(
                f"{CONTEXT_TOKENS}={self._tokens}: for items without solved examples; leave one of them out"
            )
        return self._base.prompt(rules, examples, observation)

    def _fill(self, instance: I) -> str:
        text_of_item, instance_hash = self._base.rules(instance), instance.hash
        share = Stream("context", instance_hash).below(_STEPS) / _STEPS
        others: list[str] = []
        counted = self._count(self._number_tasks([text_of_item], 0))
        if counted > self._tokens:
            raise NoRoomError(f"{CONTEXT_TOKENS}={self._tokens}: an item of this level takes {counted}; give more")
        # Counted one by one first: a tokenizer can only take fewer for all of them together, or hardly more.
        for number in range(_MOST_TASKS):
            text = self._base.rules(self._draw(instance, f"context/{instance_hash}/{number}"))
            if text == text_of_item:  # of a level with few instances
                continue
            counted += self._count(self._task(len(others) + 1, text))
            if counted > self._tokens:
                break
            others.append(text)
        while True:
            at = int(share * (len(others) + 1))
            text = self._number_tasks([*others[:at], text_of_item, *others[at:]], at)
            if not others or self._count(text) <= self._tokens:
                return text
            others.pop()

    def _count(self, text: str) -> int:
        return len(self._tokenizer.encode(text))

    def _task(self, number: int, text: str) -> str:
        return f"{self.texts.fill('context.task', number=number)}\n\n{text}\n\n"

    def _number_tasks(self, rules: Sequence[str], at: int) -> str:
        """Return numbered tasks, with a request for the one at an index from 0."""
        opening = self.texts.fill("context.opening", count=len(rules), number=at + 1)
        tasks = "".join(self._task(index, text) for index, text in enumerate(rules, start=1))
        return f"{opening}\n\n{tasks}{self.texts.fill('context.closing', number=at + 1)}"


def _resolve(environment: AnyEnvironment, resolve_others: Resolve, values: dict[str, Json]) -> dict[str, Json]:
    tokens, name = (option.check(values.pop(option.name, None)) for option in CONTEXT_OPTIONS)
    if tokens is None:
        if name is not None:
            raise UsageError(f"{CONTEXT_TOKENIZER}={name[:80]}: give {CONTEXT_TOKENS}, too, or leave it out")
        return resolve_others(values)
    name = name or ESTIMATE
    if name != ESTIMATE and not name.startswith("tiktoken/"):
        # A file would have to be there wherever the record is replayed.
        raise UsageError(f"{CONTEXT_TOKENIZER}={name[:80]!r}: give {ESTIMATE} or tiktoken/ENCODING")
    options = resolve_others(values)
    if has_images(options):
        raise UsageError(f"{CONTEXT_TOKENS}={tokens}: texts only; choose a wording without pictures")
    return options | {CONTEXT_TOKENS: tokens, CONTEXT_TOKENIZER: name}


def _wrap(environment: AnyEnvironment, options: Mapping[str, Json]) -> AnyPlay | None:
    if CONTEXT_TOKENS not in options:
        return None
    items, source_options = environment.items, resolve(environment.items.options, {})

    def draw(instance: Any, key: str) -> Any:
        return items.make_source(key, items.level_of(instance), source_options).item(0).instance

    play = environment.play_with(without_context(options))
    wording = ContextWording(play.wording, draw, options[CONTEXT_TOKENS], str(options[CONTEXT_TOKENIZER]))
    # One turn: later messages would say again what had to be found.
    return replace(play, wording=wording, limits=replace(play.limits, turns=1), turns=None)


def _length(record: EpisodeRecord) -> float | None:
    tokens = record.options.get(CONTEXT_TOKENS)
    return tokens / 1000 if type(tokens) is int and tokens > 0 else None


CONTEXT_LENGTH = Axis(
    name="context_length",
    title="Context length (thousand tokens)",
    of=_length,
    doc="Thousands of tokens, at most, of a prompt in which an item stands among others (context_tokens).",
)

CONTEXT_EXTENSION = PlayExtension(
    name="context",
    options=CONTEXT_OPTIONS,
    resolve=_resolve,
    wrap=_wrap,
    applies=lambda environment: environment.playing.takes_context,
)
