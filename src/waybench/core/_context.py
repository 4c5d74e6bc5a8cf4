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
_MOST_DRAWS = 100_000  # of other items for one prompt
_SHARE_STEPS = 1 << 30  # different shares of the prompt before the rules
_SENTENCES_OF_PARAGRAPH = 6
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
    """An item alone has more tokens than the budget of its context."""


def without_context(options: Mapping[str, Json]) -> dict[str, Json]:
    """Return options of play without those of a context (`CONTEXT_OPTIONS`)."""
    names = {option.name for option in CONTEXT_OPTIONS}
    return {name: value for name, value in options.items() if name not in names}


class ContextWording(DerivedWording[I, S, A], Generic[I, S, A]):
    """A wording whose rules stand among filler texts, in a prompt of a given length.

    As many filler texts are added as the budget of tokens allows. The share of them that comes before the rules is
    drawn from the instance's hash and is the same at each length, so that prompts of an item differ only in the number
    of filler texts.

    Args:
        tokens: The budget: tokens of the prompt, at most.
        name: The name of the tokenizer that counts them.

    Raises:
        UsageError: If there is no such tokenizer.
    """

    def __init__(self, base: Wording[I, S, A], tokens: int, name: str) -> None:
        super().__init__(base, base.name)
        self._tokens, self._tokenizer = tokens, load_tokenizer(name)
        # Pages with replays ask for the same text again; a text may have megabytes.
        self._cached_rules = lru_cache(maxsize=4)(self._rules_among_filler)

    def rules(self, instance: I) -> str:
        """Return the rules among filler texts, within the budget of tokens; raise a NoRoomError if it is too small."""
        return self._cached_rules(instance)

    @abstractmethod
    def _filler_texts(self, instance: I, rules: str) -> Iterator[str]:
        """Yield filler texts for an instance, as many as there may be room for."""

    @abstractmethod
    def _text_in_prompt(self, number: int, text: str) -> str:
        """Return a filler text with the additions that the prompt gives to the text of this number, from 1."""

    @abstractmethod
    def _compose_prompt(self, texts: Sequence[str], rules_index: int) -> str:
        """Return the prompt of several texts; the one at `rules_index` is the rules."""

    def _rules_among_filler(self, instance: I) -> str:
        """Return the rules among as many filler texts as the budget of tokens allows."""
        rules, instance_hash = self._base.rules(instance), instance.hash
        share_before = Stream("context", instance_hash).below(_SHARE_STEPS) / _SHARE_STEPS
        fillers: list[str] = []
        n_tokens = self._count_tokens(self._compose_prompt([rules], 0))
        if n_tokens > self._tokens:
            raise NoRoomError(f"{CONTEXT_TOKENS}={self._tokens}: an item of this level takes {n_tokens}; give more")
        # Texts are counted one by one, which is fast and gives at most a few tokens less than the whole prompt has.
        for text in self._filler_texts(instance, rules):
            n_tokens += self._count_tokens(self._text_in_prompt(len(fillers) + 1, text))
            if n_tokens > self._tokens:
                break
            fillers.append(text)
        while True:  # until the whole prompt is within the budget
            n_before = int(share_before * (len(fillers) + 1))
            prompt = self._compose_prompt([*fillers[:n_before], rules, *fillers[n_before:]], n_before)
            if not fillers or self._count_tokens(prompt) <= self._tokens:
                return prompt
            fillers.pop()

    def _count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text."""
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
        """Yield the rules of other items of the level."""
        for number in range(_MOST_DRAWS):
            text = self._base.rules(self._draw(instance, f"context/{instance.hash}/{number}"))
            if text != rules:  # a level with few instances can draw the same one
                yield text

    def _text_in_prompt(self, number: int, text: str) -> str:
        """Return a task below a heading with its number."""
        return f"{self.texts.fill('context.task', number=number)}\n\n{text}\n\n"

    def _compose_prompt(self, texts: Sequence[str], rules_index: int) -> str:
        """Return the numbered tasks between sentences that say which one to do."""
        opening = self.texts.fill("context.opening", count=len(texts), number=rules_index + 1)
        tasks = "".join(self._text_in_prompt(index, text) for index, text in enumerate(texts, start=1))
        return f"{opening}\n\n{tasks}{self.texts.fill('context.closing', number=rules_index + 1)}"


class WithinProseWording(ContextWording[I, S, A], Generic[I, S, A]):
    """A wording whose rules stand between marks in prose that has nothing to do with them.

    The sentences are drawn from the language's `prose.sentences`, by the instance's hash.
    """

    def _filler_texts(self, instance: I, rules: str) -> Iterator[str]:
        """Yield random sentences without end."""
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
        """Return a sentence with a blank after it."""
        return f"{text} "

    def _compose_prompt(self, texts: Sequence[str], rules_index: int) -> str:
        """Return paragraphs of prose with the rules between marks, and sentences that say so."""
        before, after = _join_into_paragraphs(texts[:rules_index]), _join_into_paragraphs(texts[rules_index + 1 :])
        begin, end = self.texts["prose.begin"], self.texts["prose.end"]
        parts = (self.texts.fill("prose.opening", begin=begin, end=end), before, begin, texts[rules_index], end, after)
        return "\n\n".join(part for part in (*parts, self.texts["prose.closing"]) if part)


def _join_into_paragraphs(sentences: Sequence[str]) -> str:
    """Return sentences as paragraphs of six sentences, with blank lines between them."""
    starts = range(0, len(sentences), _SENTENCES_OF_PARAGRAPH)
    return "\n\n".join(" ".join(sentences[start : start + _SENTENCES_OF_PARAGRAPH]) for start in starts)


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
        # A tokenizer in a file is refused: the file would be needed wherever the record is replayed.
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
    # One turn only: the messages of later turns would show the item without its context.
    return replace(play, wording=wording, limits=replace(play.limits, turns=1), turns=None)


def _context_length(record: EpisodeRecord) -> float | None:
    """Return the budget of a record's context in thousands of tokens; None without a context."""
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
