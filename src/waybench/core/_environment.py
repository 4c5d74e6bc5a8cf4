"""An environment: everything that one family of problems consists of, as one value."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from math import log2
from typing import Any, Generic, TypeVar, cast

from waybench.core._context import CONTEXT_OPTIONS, CONTEXT_TOKENS, Others, in_context, take_context, without_context
from waybench.core._datasets import FILE, GENERATED, PUBLISHED, DataFiles, Dataset, read_items
from waybench.core._errors import UsageError
from waybench.core._game import A, Json, S
from waybench.core._images import IMAGE_OPTIONS, has_images, without_images
from waybench.core._items import Instance, Item, Source
from waybench.core._metrics import Axis
from waybench.core._options import IMAGE_WORDINGS, WORDING, Option, resolve
from waybench.core._parts import Difficulty, Items, Players, Playing, Scoring, Typing
from waybench.core._play import Play
from waybench.core._prefix import PREFIX, PREFIX_OPTION, PREFIX_REPLIES, take_prefix, without_prefix
from waybench.core._presentation import Presentation
from waybench.core._questions import Belief
from waybench.core._record import EpisodeRecord
from waybench.core._replies import THINK_TAGS, THINK_TAGS_OPTION, take_think_tags
from waybench.core._template import TEMPLATE, resolve_template, stored_template, without_template
from waybench.core._tool_wording import (
    INTERFACE_OPTION,
    TOOLS_PREFIX,
    is_tool_name,
    take_interface,
    with_tools,
    without_tools,
)
from waybench.core._user_files import user_path

I = TypeVar("I", bound=Instance)  # noqa: E741

_encode = json.JSONEncoder(sort_keys=True).encode  # which `dumps` would make anew each time
_PLAYS = 16  # of an environment that are kept; one with a long context can have megabytes
_NO_PLAYERS: Players[Any, Any] = Players()
_NO_TYPING: Typing[Any, Any] = Typing()


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment(Generic[I, S, A]):
    """A family of problems: its identity, and its parts, of which the first three are needed.

    Attributes:
        id: "family/variant".
        version: Raised whenever a score can move.
        title: Its name for people.
        about: What it measures and how; becomes its page in the documentation.
        items: Where its items come from and what is known of them.
        playing: How an item is played.
        scoring: What an episode is measured by, and why it failed.
        difficulty: What makes items hard, and what counts as success at them.
        players: Scripted players, and what training can take from them.
        probes: What belief probes can ask a player about the state, in the order in which it is asked.
        presentation: Its words and drawings for reports and terminals.
        typing: What a person types in place of whole replies.
    """

    id: str
    version: int
    title: str
    about: str
    items: Items[I]
    playing: Playing[I, S, A]
    scoring: Scoring
    difficulty: Difficulty = field(default_factory=Difficulty)
    players: Players[S, A] = _NO_PLAYERS
    probes: tuple[Belief[S], ...] = ()
    presentation: Presentation = field(default_factory=Presentation)
    typing: Typing[S, A] = _NO_TYPING
    _defaults: dict[str, Json] = field(init=False, repr=False, compare=False, default_factory=dict[str, Any])
    _play_of: Callable[[str], Play[I, S, A]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Remember plays: most episodes have the options of another one; games and wordings keep no state."""
        object.__setattr__(self, "_play_of", lru_cache(maxsize=_PLAYS)(self._make_play))

    def source(
        self, key: str | None = None, level: int | None = None, *, protocol: str = "paper", **options: Json
    ) -> Source[I]:
        """Return the source of items of a key and level.

        Args:
            key: The set's key; the public set if None.
            level: The difficulty; the smallest level if None.
            protocol: The protocol in which the items are to be played (see `Items.sound_options`).
            **options: Source options.

        Raises:
            UsageError: For a level that does not exist, or a wrong option.
        """
        resolved = self.items.options_for(protocol, resolve(self.items.options, options))
        level = self.items.smallest_level if level is None else level
        if key is None:
            return self.items.make_source(self.items.public_key, level, resolved)
        return self.items.marked(self.items.make_source(key, level, resolved), key)

    @property
    def all_datasets(self) -> tuple[Dataset, ...]:
        """The data sets of a task: generated items, published ones if there are any, and a file of the user's."""
        by_name = {GENERATED: self._generated(), FILE: self._file()} | {
            dataset.name: dataset for dataset in self.items.datasets
        }
        return tuple(by_name[name] for name in (GENERATED, PUBLISHED, FILE) if name in by_name)

    def _generated(self) -> Dataset:
        names = tuple(option.name for option in self.items.options)

        def open_(values: Mapping[str, Any], files: DataFiles) -> Source[I]:
            source_values = {name: values[name] for name in names}
            return self.source(values["key"], values["level"], protocol=values["protocol"], **source_values)

        return Dataset(name=GENERATED, doc="items by key", open=open_)

    def _file(self) -> Dataset:
        def open_(values: Mapping[str, Any], files: DataFiles) -> Source[I]:
            return read_items(
                user_path(values["source"]), self.id, self.items.decode, self.items.level_of, self.items.prove
            )

        return Dataset(name=FILE, doc="path of a file of JSON lines from `waybench generate`", open=open_)

    @property
    def play_options(self) -> tuple[Option, ...]:
        """Its options of play, with those that more than one environment has, such as `interface` and `prefix`."""
        context = CONTEXT_OPTIONS if self.playing.takes_context else ()
        return (*self.playing.options, INTERFACE_OPTION, PREFIX_OPTION, THINK_TAGS_OPTION, *context)

    def resolve_options(self, values: Mapping[str, Json]) -> dict[str, Json]:
        """Return all options of play with their values.

        With `interface=tools` the name of the wording begins with "tools:" in the options that are returned. Options of
        pictures are left out unless the wording has pictures.

        If `wording` names a file, the options that are returned have the name of its template in its place, and the
        template's texts as a further option, `template`: they need the file no more.

        There is an option `prefix` only if a prefix is given; the same holds for those of a context and `think_tags`.

        Raises:
            UsageError: For an unknown option or an unfit value, or a template that cannot be read or does not fit.
        """
        if values:
            return self._resolve(values)
        if not self._defaults:  # most episodes are played with them
            self._defaults.update(self._resolve(values))
        return self._defaults.copy()

    def play_with(self, options: Mapping[str, Json]) -> Play[I, S, A]:
        """Return how an episode is played with resolved options, with the words of a template if they have one.

        Raises:
            UsageError: If the template does not fit the wording that it is based on.
        """
        if PREFIX in options:
            return self.play_with(without_prefix(options))
        return self._play_of("" if options == self._defaults else _encode(options))

    def _resolve(self, values: Mapping[str, Json]) -> dict[str, Json]:
        given = dict(values)
        by_tools = take_interface(given)
        prefix, replies = take_prefix(given, self.players.policies, self.id), given.pop(PREFIX_REPLIES, None)
        think_tags = take_think_tags(given)
        context = take_context(given, allowed=self.playing.takes_context)
        stored = given.pop(TEMPLATE, None)
        resolved = resolve(self.playing.options, given)
        template = resolve_template(self.playing.options, resolved, stored)
        if without_template(resolved)[WORDING] not in IMAGE_WORDINGS:
            resolved = {name: value for name, value in resolved.items() if name not in IMAGE_OPTIONS}
        if template is not None:
            self.play_with(resolved)
        if by_tools:
            if has_images(resolved):
                raise UsageError("interface=tools: results of tools are texts; choose a wording without pictures")
            resolved[WORDING] = f"{TOOLS_PREFIX}{resolved[WORDING]}"
        if context and has_images(resolved):
            raise UsageError(
                f"{CONTEXT_TOKENS}={context[CONTEXT_TOKENS]}: texts only; choose a wording without pictures"
            )
        resolved |= context | think_tags
        if prefix is None:
            return resolved
        return {**resolved, PREFIX: prefix, **({} if replies is None else {PREFIX_REPLIES: replies})}

    def _make_play(self, encoded: str) -> Play[I, S, A]:
        options = json.loads(encoded) if encoded else self._defaults
        if THINK_TAGS in options:
            others = {name: value for name, value in options.items() if name != THINK_TAGS}
            return replace(self.play_with(others), think_tags=options[THINK_TAGS])
        if CONTEXT_TOKENS in options:
            played = self.play_with(without_context(options))
            others = Others(self.id, self._item_beside)
            # One turn: later messages would say again what had to be found.
            limits = replace(played.limits, turns=1)
            return replace(played, wording=in_context(options, played.wording, others), limits=limits, turns=None)
        if is_tool_name(options[WORDING]):
            played = self.play_with(without_tools(options))
            return replace(played, wording=with_tools(played.wording))
        if TEMPLATE in options:
            own = next(option for option in self.playing.options if option.name == WORDING)
            template = stored_template(options[TEMPLATE], str(options[WORDING]), own)
            played = self.play_with(without_template(options))
            return replace(played, wording=template.around(played.wording))
        if self.playing.images is not None and has_images(options):
            played = self.playing.play(without_images(options))
            return replace(played, wording=self.playing.images.around(played.wording, options))
        return self.playing.play(options)

    def _item_beside(self, instance: I, key: str) -> I:
        options = resolve(self.items.options, {})
        return self.items.make_source(key, self.items.level_of(instance), options).item(0).instance

    def item(self, data: Json, examples: Sequence[Json] = ()) -> Item[I]:
        """Make an item of an instance that came from outside, with its proof.

        Args:
            data: The instance as JSON.
            examples: The instances of its in-context examples.

        Raises:
            DataError: If the data is no instance.
        """
        instance = self.items.decode(data)
        return Item(
            instance,
            id=instance.hash[:12],
            level=self.items.level_of(instance),
            proof=self.items.prove(instance),
            examples=tuple(self.items.decode(example) for example in examples),
        )


def wording_name(environment: Environment[Any, Any, Any], options: Mapping[str, Json]) -> str:
    """Return the name of a wording with its options, so that pictures of another size are another wording.

    Args:
        environment: The environment.
        options: Resolved options of play.

    Returns:
        Such as "matrix", or "image (image_size=512)" where an option of pictures has not its default.
    """
    defaults = {option.name: option.default for option in environment.playing.options if option.name in IMAGE_OPTIONS}
    changed = [f"{name}={options[name]}" for name in defaults if options.get(name, defaults[name]) != defaults[name]]
    return f"{options[WORDING]} ({', '.join(changed)})" if changed else str(options[WORDING])


DIFFICULTY_INDEX = "difficulty_index"  # the option of a search, the key of its plan, and the setting of its results
_STEPS = 20  # to a doubling, to which indices are rounded: finer differences are not known
_MOST = 1e6  # of a number of the index, which may come from outside
_MOST_DOUBLINGS = 60


@dataclass(frozen=True, slots=True)
class ItemIndex:
    """How hard an item is, in the unit of the level: log2 of the level plus a weighted sum of its other variables.

    Each variable counts as log2(1 + x), less what it is expected to be at the item's level.

    Attributes:
        terms: Of each variable that counts, its expected value at level 1, by how much it is expected to rise with each
            doubling of the level, and how many doublings of the level one unit more than that is worth.
    """

    terms: Mapping[str, tuple[float, float, float]]

    @classmethod
    def read(cls, value: object, names: Iterable[str]) -> "ItemIndex":
        """Read an index from JSON.

        Args:
            value: Variable -> [expected value at level 1, rise, weight].
            names: The variables that the environment declares.

        Raises:
            UsageError: If it is none, or has other variables.
        """
        known = set(names)
        terms: dict[str, tuple[float, float, float]] = {}
        for name, numbers in cast(dict[Any, Any], value).items() if isinstance(value, dict) else ():
            if name not in known or not _are_numbers(numbers):
                raise UsageError(f"a difficulty index has no term {str(name)[:60]!r}: {str(numbers)[:60]}")
            terms[name] = (float(numbers[0]), float(numbers[1]), float(numbers[2]))
        if not terms:
            raise UsageError("a difficulty index is an object: variable -> [expected value, rise, weight]")
        return cls(terms)

    def to_json(self) -> dict[str, Json]:
        """Return it as `read` takes it."""
        return {name: list(numbers) for name, numbers in sorted(self.terms.items())}

    def dumps(self) -> str:
        """Return it as JSON text, the same for the same weights."""
        return json.dumps(self.to_json(), separators=(",", ":"))

    @property
    def digest(self) -> str:
        """A short name of these weights."""
        return sha256(self.dumps().encode()).hexdigest()[:12]

    def equivalent_level(self, level: float, values: Mapping[str, float | None]) -> float:
        """Return the level at which an average item is as hard, rounded to a twentieth of a doubling.

        Args:
            level: The item's level, above 0.
            values: Its variables, 0 or more; one that is unknown counts as expected.
        """
        doublings = log2(level)
        index = doublings
        for name, (start, rise, weight) in self.terms.items():
            value = values.get(name)
            if value is not None and value >= 0:
                index += weight * (log2(1 + value) - start - rise * doublings)
        return 2.0 ** (round(max(-_MOST_DOUBLINGS, min(index, _MOST_DOUBLINGS)) * _STEPS) / _STEPS)

    def axis(self, environment: "Environment[Any, Any, Any]") -> Axis:
        """Return the environment's first axis with equivalent levels in place of levels."""
        levels = environment.difficulty.axes[0]

        def of(record: EpisodeRecord) -> float | None:
            level = levels.of(record)
            if level is None or level <= 0:
                return None
            return self.equivalent_level(
                level, {each.name: each.of(record) for each in environment.difficulty.item_variables}
            )

        doc = f"{levels.doc} Of an average item that is as hard, by a difficulty index."
        return Axis(name=levels.name, title=levels.title, of=of, doc=doc)


def searched_index(environment: "Environment[Any, Any, Any]", plan: Mapping[str, Json]) -> ItemIndex | None:
    """Return the index that a search went by, as its plan says; None if it went by levels, or the plan is unfit.

    Args:
        environment: What was played.
        plan: The plan, which may come from outside.
    """
    if plan.get(DIFFICULTY_INDEX) is None or not environment.difficulty.axes:
        return None
    try:
        return ItemIndex.read(plan[DIFFICULTY_INDEX], (each.name for each in environment.difficulty.item_variables))
    except UsageError:
        return None


def _are_numbers(value: object) -> bool:
    if not isinstance(value, list) or len(cast(list[object], value)) != 3:
        return False
    return all(
        isinstance(each, int | float) and type(each) is not bool and abs(each) < _MOST  # NaN is not
        for each in cast(list[object], value)
    )
