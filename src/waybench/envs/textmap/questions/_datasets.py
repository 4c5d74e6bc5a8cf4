"""Data sets of the tasks about maps: generated worlds, published games and the user's own maps."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os.path import isdir, isfile  # which take names that are too long for a path
from pathlib import Path
from typing import Any

from waybench._package_data import read_toml
from waybench.core import (
    DataError,
    DataFiles,
    Dataset,
    Download,
    Environment,
    Item,
    ItemList,
    Json,
    Option,
    Source,
    Stream,
    UsageError,
    read_items,
    resolve,
    tokenizer,
    unknown,
    user_path,
)
from waybench.envs.textmap.map import (
    PUBLISHED_STEPS,
    PlaceMap,
    fitting_cut,
    load_map,
    named_by_ids,
    published_cut,
    published_map,
)
from waybench.envs.textmap.worlds import Ask, CutoffFunction

PUBLIC_KEY = "textmap-v1"
_DATA_SET = "mango"
_LEVEL = 3  # 16 to 31 places, like most published maps
_WORLDS = 30  # default number of generated worlds
_EDGES = ".edges.json"
_MAP_OPTIONS = (
    "difficulty",
    "longest",
    "names",
    "labels",
    "moves",
    "choices",
)  # source options that apply to all maps, not only to generated worlds

_PREFIX_STEPS = Option(
    name="prefix_steps",
    default=None,
    kind=int,
    low=1,
    high=5_000,
    doc="Steps of the walkthrough to show; by default 70 for a published game, otherwise all.",
)
_ATTEMPTS = Option(name="attempts", default=1, low=1, high=1000, doc="Attempts per item.")
_TOKENS = (
    Option(
        name="prefix_tokens",
        default=None,
        kind=int,
        low=50,
        high=100_000_000,
        doc="Maximum tokens of the walkthrough to show; published: 3600.",
    ),
    Option(
        name="tokenizer",
        default="characters",
        local=True,
        doc="Tokenizer: characters (an estimate, four per token), tiktoken/ENCODING, or the path of a tokenizer.json.",
    ),
)
_GAMES = Option(
    name="games",
    default=None,
    kind=str,
    doc="Names of published games, or of maps in a folder, separated by commas; by default all.",
)
_DATA_DIR = Option(
    name="data_dir",
    default=None,
    kind=str,
    doc="Folder with mango/zork1 and so on, or mango itself, for published maps.",
)
_WORLD_OPTIONS = (
    Option(name="key", default=None, kind=str, doc="Key of generated worlds; by default the public set."),
    Option(
        name="level",
        default=None,
        kind=int,
        low=1,
        high=7,
        doc="Size class of generated worlds; by default 3 (16 to 31 places).",
    ),
    Option(
        name="worlds",
        default=None,
        kind=int,
        low=1,
        high=100_000,
        doc=f"Number of generated worlds; by default {_WORLDS}.",
    ),
)


@dataclass(frozen=True, slots=True)
class MapItems:
    """The data sets of one environment.

    Attributes:
        environment: The environment.
        draw: (key, level, source options, cutoff function or None) -> source of generated items.
        ask: Makes the instances about a map.
        limit: Default and documentation of the parameter `limit`, the number of questions about each map.
        is_one_item: Whether a map is one item with all questions.
        takes_tokens: Whether a number of tokens can limit the prefix.
    """

    environment: Environment[Any, Any, Any]
    draw: Callable[[str, int, Mapping[str, Json], CutoffFunction | None], Source[Any]]
    ask: Ask[Any]
    limit: tuple[int, str]
    is_one_item: bool
    takes_tokens: bool

    @property
    def datasets(self) -> tuple[Dataset, ...]:
        """The three data sets."""
        limit = Option(name="limit", default=self.limit[0], low=1, high=10_000_000, doc=self.limit[1])
        common_options = (limit, _PREFIX_STEPS, *(_TOKENS if self.takes_tokens else ()), _ATTEMPTS)
        shared = tuple(option.name for option in self.environment.items.options if option.name in _MAP_OPTIONS)

        def dataset(name: str, items: str, doc: str, open_: Any, *options: Option) -> Dataset:
            return Dataset(
                name=name,
                items=items,
                doc=doc,
                open=open_,
                options=(*options, *common_options),
                shared=shared,
                hidden=("questions",),
                download=Download.from_table(read_toml(__file__, "published.toml")) if name == "published" else None,
            )

        return (
            dataset("generated", "worlds", "text games by key", self._generated, *_WORLD_OPTIONS),
            dataset(
                "published",
                "maps",
                "the benchmark's own, see `waybench data fetch mango`",
                self._from_maps,
                _DATA_DIR,
                _GAMES,
            ),
            dataset("file", "maps", "a folder with maps from `waybench textmap build`", self._from_file, _GAMES),
        )

    def _generated(self, parameters: Mapping[str, Any], files: DataFiles) -> Source[Any]:
        key = PUBLIC_KEY if parameters["key"] is None else parameters["key"]
        level = _LEVEL if parameters["level"] is None else parameters["level"]
        options = self.environment.items.options
        style = {option.name: parameters.get(option.name) for option in options} | {"questions": parameters["limit"]}
        cutoff = _cutoff_function(parameters) if self.takes_tokens and parameters["prefix_tokens"] else None
        source = self.draw(key, level, resolve(options, style), cutoff)
        worlds = _WORLDS if parameters["worlds"] is None else parameters["worlds"]
        return _item_list(source.head(worlds * (1 if self.is_one_item else parameters["limit"])))

    def _from_file(self, parameters: Mapping[str, Any], files: DataFiles) -> Source[Any]:
        path = user_path(parameters["source"])
        if path.suffix == ".jsonl" or isfile(path):
            environment = self.environment
            return read_items(
                path, environment.id, environment.items.decode, environment.items.level_of, environment.items.prove
            )
        return self._from_maps(parameters, files)

    def _from_maps(self, parameters: Mapping[str, Any], files: DataFiles) -> Source[Any]:
        return _item_list(list(self._map_items(parameters, files)))

    def _map_items(self, parameters: Mapping[str, Any], files: DataFiles) -> Iterator[Item[Any]]:
        cutoff, kind = _cutoff_function(parameters), self.environment.id.partition("/")[2]
        key = _DATA_SET if parameters["source"] == "published" else user_path(parameters["source"]).resolve().name
        index = 0
        for place_map in selected_maps(parameters, files):
            stream = Stream("textmap/asked", kind, key, place_map.name)
            for instance in self.ask(place_map, cutoff(place_map), parameters["limit"], stream, parameters, None):
                proof = self.environment.items.prove(instance)
                yield Item(instance, f"{place_map.name}-{index}", instance.level, key, index, proof)
                index += 1


def _item_list(items: Sequence[Item[Any]]) -> ItemList[Any]:
    if not items:
        raise UsageError(
            "these prefixes have no answerable question of this kind: show more steps, or choose other questions"
        )
    return ItemList(items)


def selected_maps(parameters: Mapping[str, Any], files: DataFiles) -> Iterator[PlaceMap]:
    """Yield published maps, or maps in a folder.

    Args:
        parameters: "source" ("published" or the folder), "games", and perhaps "names".
        files: Finds the published files.

    Raises:
        UsageError: If a map is not here.
    """
    plain = parameters.get("names", "plain") == "plain"
    if parameters["source"] == "published":
        for game in _games(parameters, sorted({file.partition("/")[0] for file in files.names(_DATA_SET)})):
            place_map = published_map(game, files)
            # MANGO's files of ids are not among those of the data set, but they can lie beside them.
            home = files(_DATA_SET, f"{game}/{game}{_EDGES}").parent
            yield place_map if plain else named_by_ids(place_map, home)
        return
    places: dict[str, Path] = {}
    for path in _edge_files(user_path(parameters["source"])):
        game = path.name.removesuffix(_EDGES)
        if places.setdefault(game, path.parent) != path.parent:
            raise DataError(f"{path}: there is a map {game[:60]!r} in {places[game]}, too; rename one of them")
    for game in _games(parameters, sorted(places)):
        place_map = load_map(places[game], game)
        yield place_map if plain else named_by_ids(place_map, places[game])


def _edge_files(folder: Path) -> list[Path]:
    """Return the edge files in a folder and its direct subfolders.

    Raises:
        UsageError: If there are none.
    """
    files = sorted([*folder.glob(f"*{_EDGES}"), *folder.glob(f"*/*{_EDGES}")]) if isdir(folder) else []
    if not files:
        raise UsageError(
            f"source={str(folder)[:80]!r}: give generated, published, or a folder with maps, as `waybench textmap "
            "build` writes them"
        )
    return files


def _games(parameters: Mapping[str, Any], known: list[str]) -> list[str]:
    """Return the games of the parameter `games` in order; all if it is not given.

    Raises:
        UsageError: If a game is unknown or given twice.
    """
    if parameters["games"] is None:
        return known
    names = [name.strip() for name in str(parameters["games"]).split(",")]
    for name in names:
        if name not in known:
            raise UsageError(f"games: {unknown('game', name, known)}")
    if len(set(names)) < len(names):
        raise UsageError(f"games={parameters['games'][:80]!r}: name each game once")
    return names


def _cutoff_function(parameters: Mapping[str, Any]) -> CutoffFunction:
    """Return the function from a map to the last step that the parameters allow to show."""
    steps, tokens = parameters["prefix_steps"], parameters.get("prefix_tokens")
    if parameters["source"] == "published":
        steps = PUBLISHED_STEPS if steps is None else steps
        if steps > PUBLISHED_STEPS:
            raise UsageError(f"prefix_steps={steps}: the published maps have no positions after step {PUBLISHED_STEPS}")
    fit = published_cut if parameters["protocol"] == "paper" else fitting_cut
    counter = None if tokens is None else tokenizer(parameters["tokenizer"])

    def cutoff(place_map: PlaceMap) -> int:
        last = place_map.last_step if steps is None else steps
        fitting = None if tokens is None or counter is None else fit(place_map.steps, counter, tokens)
        # As published, the number of steps is not reduced if the walkthrough is shorter.
        return last if fitting is None else min(last, fitting)

    return cutoff
