"""`context_tokens`: one item asked among others, or within unrelated prose, in a prompt of a given length."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import count
from typing import Any, Generic

from waybench.core._environment import AnyEnvironment, AnyPlay, I, PlayExtension, Resolve
from waybench.core._errors import UsageError
from waybench.core._game import A, Json, S, Stream
from waybench.core._images import has_images
from waybench.core._metrics import Axis
from waybench.core._play import HARDER, Contrast, Option, resolve
from waybench.core._record import EpisodeRecord
from waybench.core._texts import fill_fields
from waybench.core._tokens import ESTIMATE, load_tokenizer
from waybench.core._wording import DerivedWording, Message, Wording

CONTEXT_TOKENS = "context_tokens"
CONTEXT_TOKENIZER = "context_tokenizer"
CONTEXT_TEXT = "context_text"
ITEMS, PROSE = CONTEXT_TEXTS = ("items", "prose")
_MOST_TOKENS = 2_000_000
_MOST_TASKS = 100_000
_STEPS = 1 << 30  # places of the item, as shares of the prompt
_PARAGRAPH = 6  # sentences of prose
_SYLLABLES = ("bar", "den", "fel", "gor", "han", "lim", "mar", "nor", "oster", "pel", "rud", "sten", "tor", "wil")
CONTEXT_OPTIONS = (
    Option(
        name=CONTEXT_TOKENS,
        effect=HARDER,
        default=None,
        kind=int,
        low=100,
        high=_MOST_TOKENS,
        separate_tables=True,
        doc="Tokens, at most, of the rules and what stands around them: as much of context_text as has room. By "
        "default the item stands alone.",
    ),
    Option(
        name=CONTEXT_TEXT,
        default=None,
        kind=str,
        choices=CONTEXT_TEXTS,
        doc="What stands around the item. items: others of its level, of which the prompt asks one, in an episode of "
        "one turn; the default where an environment has it. prose: sentences that have nothing to do with it; the "
        "default elsewhere.",
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
    """Return options of play without those of a context (`CONTEXT_OPTIONS`)."""
    names = {option.name for option in CONTEXT_OPTIONS}
    return {name: value for name, value in options.items() if name not in names}


class ContextWording(DerivedWording[I, S, A], Generic[I, S, A]):
    """A wording whose rules stand among other texts, in a prompt of a given length.

    There are as many others as have room. Where the rules stand among them is drawn from the instance's hash, as a
    share of the prompt that is the same at each length. So lengths differ in nothing but the number of the others.

    Args:
        tokens: Tokens of the prompt, at most.
        name: The name of the tokenizer that counts them.

    Raises:
        UsageError: If there is no such tokenizer.
    """

    def __init__(self, base: Wording[I, S, A], tokens: int, name: str) -> None:
        super().__init__(base, base.name)
        self._tokens, self._tokenizer = tokens, load_tokenizer(name)
        self._text = lru_cache(maxsize=4)(
            self._rules_among_filler
        )  # a page of replays asks again; a text may have megabytes

    def rules(self, instance: I) -> str:
        """Return the rules among filler texts, within the budget of tokens; raise a NoRoomError if it is too small."""
        return self._text(instance)

    @abstractmethod
    def _filler_texts(self, instance: I, rules: str) -> Iterator[str]:
        """Yield the texts that stand before and after the rules of an instance."""

    @abstractmethod
    def _text_in_prompt(self, number: int, text: str) -> str:
        """Return a text as the prompt has it; it is number `number`, from 1."""

    @abstractmethod
    def _compose_prompt(self, texts: Sequence[str], rules_index: int) -> str:
        """Return the prompt of several texts; that at `rules_index` is the rules."""

    def _rules_among_filler(self, instance: I) -> str:
        """Return the rules among as many filler texts as the budget of tokens allows."""
        rules, instance_hash = self._base.rules(instance), instance.hash
        share = Stream("context", instance_hash).below(_STEPS) / _STEPS
        others: list[str] = []
        counted = self._count_tokens(self._compose_prompt([rules], 0))
        if counted > self._tokens:
            raise NoRoomError(f"{CONTEXT_TOKENS}={self._tokens}: an item of this level takes {counted}; give more")
        # Counted one by one first: a tokenizer can only take fewer for all of them together, or hardly more.
        for text in self._filler_texts(instance, rules):
            counted += self._count_tokens(self._text_in_prompt(len(others) + 1, text))
            if counted > self._tokens:
                break
            others.append(text)
        while True:
            at = int(share * (len(others) + 1))
            text = self._compose_prompt([*others[:at], rules, *others[at:]], at)
            if not others or self._count_tokens(text) <= self._tokens:
                return text
            others.pop()

    def _count_tokens(self, text: str) -> int:
        return len(self._tokenizer.encode(text))


class AmongItemsWording(ContextWording[I, S, A], Generic[I, S, A]):
    """A wording that asks an item among others of its level, all of them numbered.

    Args:
        draw: (instance, key) -> another instance of the same level, by key.
    """

    def __init__(self, base: Wording[I, S, A], draw: Callable[[I, str], I], tokens: int, name: str) -> None:
        super().__init__(base, tokens, name)
        self._draw = draw

    def prompt(self, rules: str, examples: Sequence[tuple[str, str]], observation: str) -> tuple[Message, ...]:
        """Return the messages of the base wording; raise a UsageError if there are solved examples."""
        if examples:
            raise UsageError(
                f"{CONTEXT_TOKENS}={self._tokens}: for items without solved examples; leave one of them out"
            )
        return self._base.prompt(rules, examples, observation)

    def _filler_texts(self, instance: I, rules: str) -> Iterator[str]:
        for number in range(_MOST_TASKS):
            text = self._base.rules(self._draw(instance, f"context/{instance.hash}/{number}"))
            if text != rules:  # of a level with few instances
                yield text

    def _text_in_prompt(self, number: int, text: str) -> str:
        return f"{self.texts.fill('context.task', number=number)}\n\n{text}\n\n"

    def _compose_prompt(self, texts: Sequence[str], rules_index: int) -> str:
        opening = self.texts.fill("context.opening", count=len(texts), number=rules_index + 1)
        tasks = "".join(self._text_in_prompt(index, text) for index, text in enumerate(texts, start=1))
        return f"{opening}\n\n{tasks}{self.texts.fill('context.closing', number=rules_index + 1)}"


class WithinProseWording(ContextWording[I, S, A], Generic[I, S, A]):
    """A wording whose rules stand between marks in prose that has nothing to do with them.

    Its sentences are made of the language's `prose.sentences` and drawn from the instance's hash.
    """

    def _filler_texts(self, instance: I, rules: str) -> Iterator[str]:
        rng = Stream("context/prose", instance.hash)
        sentences, wares = (self.texts[f"prose.{name}"].split("\n") for name in ("sentences", "wares"))

        def random_name() -> str:
            return f"{rng.choice(_SYLLABLES)}{rng.choice(_SYLLABLES)}".capitalize()

        for _ in count():
            yield fill_fields(
                rng.choice(sentences),
                person=random_name(),
                town=random_name(),
                ware=rng.choice(wares),
                number=2 + rng.below(900),
                year=1700 + rng.below(250),
            )

    def _text_in_prompt(self, number: int, text: str) -> str:
        return f"{text} "

    def _compose_prompt(self, texts: Sequence[str], rules_index: int) -> str:
        before, after = _join_into_paragraphs(texts[:rules_index]), _join_into_paragraphs(texts[rules_index + 1 :])
        begin, end = self.texts["prose.begin"], self.texts["prose.end"]
        parts = (self.texts.fill("prose.opening", begin=begin, end=end), before, begin, texts[rules_index], end, after)
        return "\n\n".join(part for part in (*parts, self.texts["prose.closing"]) if part)


def _join_into_paragraphs(sentences: Sequence[str]) -> str:
    """Return sentences as paragraphs of `_PARAGRAPH` sentences, with blank lines between them."""
    return "\n\n".join(" ".join(sentences[at : at + _PARAGRAPH]) for at in range(0, len(sentences), _PARAGRAPH))


def _resolve_context_options(
    environment: AnyEnvironment, resolve_others: Resolve, values: dict[str, Json]
) -> dict[str, Json]:
    """Resolve the options of this extension and those of the environment; see `PlayExtension.resolve`."""
    tokens, text, name = (option.check(values.pop(option.name, None)) for option in CONTEXT_OPTIONS)
    if tokens is None:
        for option, value in ((CONTEXT_TEXT, text), (CONTEXT_TOKENIZER, name)):
            if value is not None:
                raise UsageError(f"{option}={value[:80]}: give {CONTEXT_TOKENS}, too, or leave it out")
        return resolve_others(values)
    name = name or ESTIMATE
    if name != ESTIMATE and not name.startswith("tiktoken/"):
        # A file would have to be there wherever the record is replayed.
        raise UsageError(f"{CONTEXT_TOKENIZER}={name[:80]!r}: give {ESTIMATE} or tiktoken/ENCODING")
    text = text or (ITEMS if environment.playing.takes_context else PROSE)
    if text == ITEMS and not environment.playing.takes_context:
        raise UsageError(f"{CONTEXT_TEXT}={ITEMS}: items of {environment.id} cannot stand among others; give {PROSE}")
    options = resolve_others(values)
    if text == ITEMS and has_images(options):
        raise UsageError(f"{CONTEXT_TOKENS}={tokens}: texts only; choose a wording without pictures")
    context = {CONTEXT_TOKENS: tokens, CONTEXT_TOKENIZER: name}
    return options | context | ({CONTEXT_TEXT: PROSE} if text == PROSE else {})


def _play_with_context(environment: AnyEnvironment, options: Mapping[str, Json]) -> AnyPlay | None:
    """Return the play with the wording for a context; None if no context is asked for."""
    if CONTEXT_TOKENS not in options:
        return None
    tokens, name = int(options[CONTEXT_TOKENS]), str(options[CONTEXT_TOKENIZER])
    play = environment.play_with(without_context(options))
    if options.get(CONTEXT_TEXT) == PROSE:
        return replace(play, wording=WithinProseWording(play.wording, tokens, name))
    items, source_options = environment.items, resolve(environment.items.options, {})

    def draw(instance: Any, key: str) -> Any:
        return items.make_source(key, items.level_of(instance), source_options).item(0).instance

    wording = AmongItemsWording(play.wording, draw, tokens, name)
    # One turn: later messages would say again what had to be found.
    return replace(play, wording=wording, limits=replace(play.limits, turns=1), turns=None)


def _context_length(record: EpisodeRecord) -> float | None:
    """Return the budget of the context in thousands of tokens; None if there is none."""
    tokens = record.options.get(CONTEXT_TOKENS)
    return tokens / 1000 if type(tokens) is int and tokens > 0 else None


CONTEXT_LENGTH = Axis(
    name="context_length",
    title="Context length (thousand tokens)",
    of=_context_length,
    doc="Thousands of tokens, at most, of a prompt in which an item stands among other texts (context_tokens).",
)

CONTEXT_EXTENSION = PlayExtension(
    name="context",
    options=CONTEXT_OPTIONS,
    resolve=_resolve_context_options,
    wrap=_play_with_context,
    contrasts=(
        Contrast(CONTEXT_TOKENS, "none", "", "text around the item", goes_with=(CONTEXT_TEXT, CONTEXT_TOKENIZER)),
    ),
)
