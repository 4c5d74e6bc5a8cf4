"""An environment: everything that one family of problems consists of, as one value."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from hashlib import sha256
from math import log2
from typing import Any, Generic, TypeVar, cast

from waybench.core._datasets import FILE, GENERATED, PUBLISHED, DataFiles, Dataset, item_list_from_file
from waybench.core._errors import UsageError, reraise_as_defect
from waybench.core._game import A, Json, S
from waybench.core._items import Instance, Item, Source
from waybench.core._metrics import Axis
from waybench.core._parts import Difficulty, Items, Players, Playing, Scoring, Typing
from waybench.core._play import Contrast, Option, Play, resolve
from waybench.core._presentation import Presentation
from waybench.core._questions import Belief
from waybench.core._record import EpisodeRecord
from waybench.core._user_files import user_path

I = TypeVar("I", bound=Instance)  # noqa: E741

DIFFICULTY_INDEX = "difficulty_index"  # the option of a search, the key of its plan, and the setting of its results
_STEPS_OF_DOUBLING = 20  # to which equivalent levels are rounded: finer differences are not known
_MOST_SIZE = 1e6  # of a number of a difficulty index, which may come from outside
_MOST_DOUBLINGS = 60
_encode = json.JSONEncoder(sort_keys=True).encode  # `json.dumps` would make an encoder each time
_CACHED_PLAYS = 16  # of an environment; a play with a long context can have megabytes
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
        """Cache plays by their options: games and wordings keep no state."""
        object.__setattr__(self, "_play_of", lru_cache(maxsize=_CACHED_PLAYS)(self._make_play))

    def __repr__(self) -> str:
        return f"<Environment {self.id}, version {self.version}: {self.title}>"

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
            DefectError: If the environment's code raises an exception, here or when it draws an item.
        """
        resolved = self.items.with_protocol_options(protocol, resolve(self.items.options, options))
        level = self.items.smallest_level if level is None else level
        self.items.check_level(level)
        with reraise_as_defect(self.id):
            source = self.items.make_source(self.items.public_key if key is None else key, level, resolved)
        return _EnvironmentSource(source if key is None else self.items.mark_private(source, key), self.id)

    @property
    def all_datasets(self) -> tuple[Dataset, ...]:
        """The data sets of a task: generated items, published ones if there are any, and a file of the user's."""
        item_file_doc = "path of a file of JSON lines from `waybench generate`"
        by_name = {
            GENERATED: Dataset(name=GENERATED, doc="items by key", open=self._open_generated_set),
            FILE: Dataset(name=FILE, doc=item_file_doc, open=self._open_item_file),
        }
        by_name |= {dataset.name: dataset for dataset in self.items.datasets}  # an environment can declare its own
        return tuple(by_name[name] for name in (GENERATED, PUBLISHED, FILE) if name in by_name)

    def _open_generated_set(self, values: Mapping[str, Any], files: DataFiles) -> Source[I]:
        """Return the source of items of a task's key and level."""
        options = {option.name: values[option.name] for option in self.items.options}
        return self.source(values["key"], values["level"], protocol=values["protocol"], **options)

    def _open_item_file(self, values: Mapping[str, Any], files: DataFiles) -> Source[I]:
        """Return the items of the file that a task's `source` names."""
        items = self.items
        return item_list_from_file(user_path(values["source"]), self.id, items.decode, items.level_of, items.prove)

    @property
    def extension_options(self) -> tuple[Option, ...]:
        """The options of play that extensions add to those of the environment, such as `interface` and `prefix`."""
        return tuple(option for extension in self._applicable_extensions() for option in extension.options)

    @property
    def play_options(self) -> tuple[Option, ...]:
        """All options of play: the environment's own, and those of extensions."""
        return (*self.playing.options, *self.extension_options)

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        """The contrasts of its options of play, with those that extensions add."""
        return (
            *self.scoring.contrasts,
            *(contrast for extension in self._applicable_extensions() for contrast in extension.contrasts),
        )

    def _applicable_extensions(self) -> list["PlayExtension"]:
        """Return the extensions of play that apply to this environment."""
        return [extension for extension in PLAY_EXTENSIONS if extension.applies(self)]

    def resolve_options(self, values: Mapping[str, Json]) -> dict[str, Json]:
        """Return all options of play with their values.

        Options of extensions are among them only where they change something, and an extension can change the values of
        others: with `interface=tools` the name of the wording begins with "tools:". If `wording` names a file, its
        value becomes the name of the file's template, and a further option, `template`, has the texts of the template,
        so that the file is not read again.

        Raises:
            UsageError: For an unknown option or an unfit value, or a template that cannot be read or does not fit.
        """
        if values:
            return self._resolve_with_extensions(values)
        if not self._defaults:  # kept, since most episodes are played with the default options
            self._defaults.update(self._resolve_with_extensions(values))
        return self._defaults.copy()

    def _resolve_with_extensions(self, values: Mapping[str, Json]) -> dict[str, Json]:
        """Resolve options through all extensions, the last one first, and then through those of the environment."""
        resolve_others: Resolve = partial(resolve, self.playing.options)
        for extension in self._applicable_extensions():
            resolve_others = partial(extension.resolve, self, resolve_others)
        return resolve_others(dict(values))

    def play_with(self, options: Mapping[str, Json]) -> Play[I, S, A]:
        """Return how an episode is played with resolved options, with the texts of a template if they have one.

        Raises:
            UsageError: If the template does not fit the wording that it is based on.
        """
        return self._play_of("" if options == self._defaults else _encode(options))

    def _make_play(self, options_json: str) -> Play[I, S, A]:
        """Return the play for resolved options, as JSON; "" for the default options."""
        options = json.loads(options_json) if options_json else self._defaults
        for extension in reversed(self._applicable_extensions()):
            if (play := extension.wrap(self, options)) is not None:
                return play
        return self.playing.play(options)

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

    def measure(self, record: EpisodeRecord) -> dict[str, float | None]:
        """Return every metric of a finished episode, by name, the headline metric first.

        The record must have been simulated again: its values are not checked here.

        Raises:
            DefectError: If a metric raises an exception.
        """
        values: dict[str, float | None] = {}
        for metric in self.scoring.metrics:
            with reraise_as_defect(self.id, f"metric {metric.name}"):
                values[metric.name] = metric.of(record)
        return values


class _EnvironmentSource(Source[I]):
    """The items of a source of an environment, whose exceptions are defects of that environment."""

    def __init__(self, source: Source[I], env_id: str) -> None:
        self._source, self._env_id = source, env_id

    @property
    def space(self) -> int | None:
        """The number of different instances of the source, if known."""
        return self._source.space

    def item(self, index: int) -> Item[I]:
        """Return the item of this number, from 0."""
        with reraise_as_defect(self._env_id):
            return self._source.item(index)

    def head(self, count: int) -> list[Item[I]]:
        """Return the first `count` items."""
        with reraise_as_defect(self._env_id):
            return self._source.head(count)


AnyEnvironment = Environment[Any, Any, Any]
AnyPlay = Play[Any, Any, Any]
Resolve = Callable[[dict[str, Json]], dict[str, Json]]
"""Given options of play -> resolved options; the dictionary of given options may be changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayExtension:
    """A way in which the play of any environment can be changed, with its options.

    Whether scores with and without it are comparable is said by its options (`Option.separate_tables`).

    Attributes:
        options: The options of play that it adds to those of an environment. Their default is None, or the value with
            which nothing changes.
        resolve: (environment, resolve_others, given options) -> resolved options. It removes the extension's options
            from the given ones, calls `resolve_others` for the rest, and adds the extension's if they change something.
        wrap: (environment, resolved options) -> how episodes are played with them: usually the play without the
            extension's options (`Environment.play_with`), changed. None if the options have none of the extension.
        applies: Environment -> whether it has these options; by default every environment has.
        content: Names of further options in records whose values follow from other options, such as the texts of a
            file. Results with different values of these are not kept apart.
        contrasts: Contrasts of values of the extension's options.
        for_item: (environment, item, resolved options, attempt) -> the options, with what this item needs of a file;
            None where the options are the same for all items.
        names_file: Options -> the name of the option whose value is the path of a file of this machine, if the options
            do not have the file's content; otherwise "". None if no option takes a path.
        for_log: (environment, parameters of a task) -> the extension's options whose values are changed for logs, such
            as the name and digest of a file in place of its path; None if none are.
    """

    name: str
    options: tuple[Option, ...] = ()
    resolve: Callable[[AnyEnvironment, Resolve, dict[str, Json]], dict[str, Json]]
    wrap: Callable[[AnyEnvironment, Mapping[str, Json]], AnyPlay | None]
    applies: Callable[[AnyEnvironment], bool] = lambda environment: True
    content: tuple[str, ...] = ()
    contrasts: tuple[Contrast, ...] = ()
    for_item: Callable[[AnyEnvironment, Item[Any], dict[str, Json], int], dict[str, Json]] | None = None
    names_file: Callable[[Mapping[str, Json]], str] | None = None
    for_log: Callable[[AnyEnvironment, Mapping[str, Json]], Mapping[str, Json]] | None = None


PLAY_EXTENSIONS: list[PlayExtension] = []
"""All extensions; each wraps those before it. Add your own at the end before you play anything."""


@dataclass(frozen=True, slots=True)
class ItemIndex:
    """A difficulty index: log2 of an item's level plus a weighted sum of its other variables.

    The unit is a doubling of the level. A variable x counts as log2(1 + x), minus the expected value of log2(1 + x) at
    the item's level.

    Attributes:
        terms: Variable -> (expected value of log2(1 + x) at level 1, its rise with each doubling of the level, weight:
            the doublings of the level that one unit above the expected value is worth).
    """

    terms: Mapping[str, tuple[float, float, float]]

    @classmethod
    def read(cls, value: object, names: Iterable[str]) -> "ItemIndex":
        """Return the index of a JSON object: variable -> [expected value at level 1, rise, weight].

        `names` are the variables that the environment declares.

        Raises:
            UsageError: If the value is no difficulty index, or has variables that are not declared.
        """
        variables = set(names)
        terms: dict[str, tuple[float, float, float]] = {}
        for name, numbers in cast(dict[Any, Any], value).items() if isinstance(value, dict) else ():
            if name not in variables or not _are_three_bounded_numbers(numbers):
                raise UsageError(f"a difficulty index has no term {str(name)[:60]!r}: {str(numbers)[:60]}")
            expected, rise, weight = map(float, numbers)
            terms[name] = (expected, rise, weight)
        if not terms:
            raise UsageError("a difficulty index is an object: variable -> [expected value, rise, weight]")
        return cls(terms)

    def to_json(self) -> dict[str, Json]:
        """Return the terms in the form that `read` takes."""
        return {name: list(numbers) for name, numbers in sorted(self.terms.items())}

    def dumps(self) -> str:
        """Return the terms as JSON text; equal weights give equal text."""
        return json.dumps(self.to_json(), separators=(",", ":"))

    @property
    def digest(self) -> str:
        """The first 12 digits of a SHA-256 of the weights, to name them."""
        return sha256(self.dumps().encode()).hexdigest()[:12]

    def equivalent_level(self, level: float, values: Mapping[str, float | None]) -> float:
        """Return the level of average items that are as hard as an item, rounded to 1/20 of a doubling.

        `level` is the item's own level, above 0, and `values` are its variables by name, each 0 or more. A variable
        that is unknown (None) counts as expected.
        """
        doublings = log2(level)
        index = doublings
        for name, (expected_at_level_1, rise, weight) in self.terms.items():
            value = values.get(name)
            if value is not None and value >= 0:
                index += weight * (log2(1 + value) - expected_at_level_1 - rise * doublings)
        bounded_index = max(-_MOST_DOUBLINGS, min(index, _MOST_DOUBLINGS))
        return 2.0 ** (round(bounded_index * _STEPS_OF_DOUBLING) / _STEPS_OF_DOUBLING)

    def equivalent_level_axis(self, environment: AnyEnvironment) -> Axis:
        """Return the environment's first axis with equivalent levels in place of levels."""
        axis = environment.difficulty.axes[0]

        def equivalent_level_of_item(record: EpisodeRecord) -> float | None:
            """Return the equivalent level of a record's item; None where the level is not known."""
            level = axis.of(record)
            if level is None or level <= 0:
                return None
            return self.equivalent_level(
                level, {variable.name: variable.of(record) for variable in environment.difficulty.item_variables}
            )

        doc = f"{axis.doc} Of an average item that is as hard, by a difficulty index."
        return Axis(name=axis.name, title=axis.title, of=equivalent_level_of_item, doc=doc)


def index_of_search(environment: AnyEnvironment, plan: Mapping[str, Json]) -> ItemIndex | None:
    """Return the difficulty index in a search's plan; None if the search went by levels, or the index is unfit."""
    if plan.get(DIFFICULTY_INDEX) is None or not environment.difficulty.axes:
        return None
    try:
        variables = environment.difficulty.item_variables
        return ItemIndex.read(plan[DIFFICULTY_INDEX], (variable.name for variable in variables))
    except UsageError:
        return None


def _are_three_bounded_numbers(value: object) -> bool:
    """Return whether a value is a list of three numbers below a million in size."""
    numbers = cast(list[object], value) if isinstance(value, list) else []
    return len(numbers) == 3 and all(
        isinstance(number, int | float) and type(number) is not bool and abs(number) < _MOST_SIZE  # NaN is not
        for number in numbers
    )
