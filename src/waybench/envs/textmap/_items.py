"""Route and destination questions, and the data sets of all environments of text maps."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from os.path import isdir, isfile  # which take names that are too long for a path
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    check_known_fields,
    is_object,
    load_tokenizer,
    number_option,
    plural,
    resolve,
    unknown_name_message,
    user_path,
)
from waybench.core._datasets import item_list_from_file
from waybench.envs.textmap._instances import (
    DATA_SET,
    LATEST_CUTOFF,
    MapInstance,
    published_map,
    read_map,
    read_number,
    read_place,
    read_texts,
    truncate_map,
)
from waybench.envs.textmap._place_map import NEVER, Edge, PlaceMap, load_map
from waybench.envs.textmap._prefix import (
    PUBLISHED_STEPS,
    EasyOrHard,
    Labels,
    Rule,
    last_step_by_published_rule,
    last_step_that_fits,
    path_labels,
    with_machine_ids_from_file,
)
from waybench.envs.textmap.worlds._items import Ask, CutoffFunction

if TYPE_CHECKING:
    from waybench.envs.textmap._paths import Routes


_FIELDS = ("map", "game", "cutoff", "src", "dst")
_MOST_PATHS = 1000  # that the given actions of a question can follow
RELEASED_LABELS, PAPER_LABELS = "released", "paper"
LABELS: dict[str, Rule] = {RELEASED_LABELS: "released", PAPER_LABELS: "tables"}
"""What users call the rules of labels -> the rules."""
PUBLIC_KEY = "textmap-v1"
_DEFAULT_LEVEL = 3  # 16 to 31 places, like most published maps
_DEFAULT_WORLDS = 30  # number of generated worlds
_EDGES = ".edges.json"
# Source options that apply to all maps, not only to generated worlds.
_MAP_OPTIONS = ("difficulty", "longest", "names", "labels", "moves", "choices")
_PREFIX_STEPS = number_option(
    "prefix_steps", 1, 5_000, "Steps of the walkthrough to show; by default 70 for a published game, otherwise all."
)
_ATTEMPTS = number_option("attempts", 1, 1000, "Attempts per item.", default=1)


@dataclass(frozen=True, slots=True)
class MapQuestion(MapInstance):
    """One question about a map, from where a path starts to where it ends.

    `path` has the given moves of a destination question; it is empty for a route question, whose difficulty follows
    from `rule`.
    """

    source: str
    target: str
    path: tuple[Edge, ...] = ()
    rule: Rule = "released"

    @property
    def actions(self) -> tuple[str, ...]:
        """The given actions of a destination question; empty for a route question."""
        return tuple(edge.action for edge in self.path)

    @property
    def labels(self) -> Labels:
        """The steps from which the question is answerable and easy."""
        return _labels_of_path(self.path) if self.path else self.routes.labels(self.source, self.target)

    @property
    def difficulty(self) -> EasyOrHard | None:
        """The difficulty for a reader of what is shown; None if the question is not answerable."""
        if self.path:
            return self.labels.difficulty(self.cutoff)
        return self.routes.difficulty(self.source, self.target, self.cutoff, self.rule)

    @property
    def answerable_from(self) -> int:
        """The step from which the question is answerable; 9999 for never."""
        return self.labels.answerable_from(self.rule)

    @property
    def easy_from(self) -> int:
        """The step from which the question is easy; 9999 for never."""
        if self.rule == "released":
            return self.labels.easy_from()
        # Under the tables' rule it does not depend on the cutoff whether an answerable route is easy.
        return self.answerable_from if self.routes.has_walked_shortest_path(self.source, self.target) else NEVER

    @property
    def shortest(self) -> int | None:
        """Number of moves of a shortest path on the whole map; None if there is none."""
        return self.routes.shortest(self.source, self.target)

    @property
    def routes(self) -> "Routes":
        """The labels and shortest path lengths of all pairs of places."""
        from waybench.envs.textmap._paths import routes

        return routes(self.map)

    def question_json(self) -> dict[str, Json]:
        return {**self.question_json_without_cutoff(), "cutoff": self.cutoff}

    def question_json_without_cutoff(self) -> dict[str, Json]:
        """Return the question as JSON, without the map and the cutoff."""
        data: dict[str, Json] = {"src": self.source, "dst": self.target}
        if self.path:
            data["actions"], data["path"] = list(self.actions), [edge.target for edge in self.path]
        if self.rule != "released":
            data["labels"] = PAPER_LABELS
        return data


_labels_of_path = lru_cache(maxsize=64)(path_labels)


def decode_route(data: Json) -> MapQuestion:
    """Read a route question."""
    if is_object(data) and not {"actions", "path"}.isdisjoint(data):
        raise DataError("actions: only destination questions have moves; remove them from a route question")
    return decode_route_on_map(*_read_prefix(data), data)


def decode_destination(data: Json) -> MapQuestion:
    """Read a destination question. "dst" and "path" are optional if the moves lead to one place only."""
    return decode_destination_on_map(*_read_prefix(data), data)


def decode_route_on_map(place_map: PlaceMap, cutoff: int, data: dict[str, Json]) -> MapQuestion:
    """Read a route question on a map with the walkthrough up to the cutoff; a DataError names an invalid field."""
    check_known_fields(data, (*_FIELDS, "labels"))
    question = _read_source_and_target(place_map, cutoff, data)
    if not question.target:
        raise DataError("dst: missing; give the place where the route ends")
    if question.source == question.target:
        raise DataError("dst: the same place as src; give another place")
    labels = data.get("labels", RELEASED_LABELS)
    if labels not in LABELS:
        raise DataError(f'labels: give "{RELEASED_LABELS}" or "{PAPER_LABELS}", or leave it out')
    return replace(question, rule=LABELS[labels])


def decode_destination_on_map(place_map: PlaceMap, cutoff: int, data: dict[str, Json]) -> MapQuestion:
    """Read a destination question on a map with the walkthrough up to the cutoff; a DataError names an invalid field.

    See `decode_destination` for the optional fields.
    """
    check_known_fields(data, (*_FIELDS, "actions", "path"))
    question = _read_source_and_target(place_map, cutoff, data)
    actions = read_texts(data, "actions")
    if not 1 <= len(actions) <= len(place_map.places):
        raise DataError(
            f"actions: {plural(len(actions), 'move')}; give from 1 to {len(place_map.places)}, a simple path"
        )
    paths = _simple_paths_by_actions(place_map, question.source, actions)
    if "path" in data:
        path_places = read_texts(data, "path")
        paths = [path for path in paths if [edge.target for edge in path] == path_places]
    if "dst" in data:
        paths = [path for path in paths if path[-1].target == question.target]
    if not paths:
        raise DataError("actions: no simple path of the map makes these moves from src (to dst, along path)")
    if len({path[-1].target for path in paths}) > 1:
        raise DataError("dst: missing, and these moves can lead to several places: give one of them")
    # Of several paths to one place, take the one that is answerable first.
    path = min(paths, key=lambda path: (path_labels(path).known_named, path_labels(path).forward_named))
    return replace(question, target=path[-1].target, path=path)


def _simple_paths_by_actions(place_map: PlaceMap, source: str, actions: Sequence[str]) -> list[tuple[Edge, ...]]:
    """Return the simple paths from a place with the given actions; one action can lead to several places."""
    paths: list[tuple[Edge, ...]] = [()]
    for action in actions:
        longer_paths: list[tuple[Edge, ...]] = []
        for path in paths:
            visited = {source, *(edge.target for edge in path)}
            end = path[-1].target if path else source
            longer_paths += [
                (*path, edge)
                for edge in place_map.edges
                if edge.source == end and edge.action == action and edge.target not in visited
            ]
        paths = longer_paths[:_MOST_PATHS]  # two ambiguous actions in a row are rare; only a made-up map has many
    return paths


def _read_prefix(data: Json) -> tuple[PlaceMap, int]:
    """Read the map of a question, without the steps after its cutoff, and the cutoff."""
    if not is_object(data):
        raise DataError('instance: give a question, {"map": {...}, "src": "...", "dst": "...", "cutoff": 70}')
    place_map = read_map(data)
    cutoff = read_number(data, "cutoff", 0, LATEST_CUTOFF, "the last step shown")
    return truncate_map(place_map, cutoff), cutoff


def _read_source_and_target(place_map: PlaceMap, cutoff: int, data: dict[str, Json]) -> MapQuestion:
    """Read a question with its source, and its target if it is given."""
    source = read_place(place_map, "src", data.get("src"))
    target = read_place(place_map, "dst", data["dst"]) if "dst" in data else ""
    return MapQuestion(place_map, cutoff, source, target)


_TOKENS = (
    number_option("prefix_tokens", 50, 100_000_000, "Maximum tokens of the walkthrough to show; published: 3600."),
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
    number_option("level", 1, 7, "Size class of generated worlds; by default 3 (16 to 31 places)."),
    number_option("worlds", 1, 100_000, f"Number of generated worlds; by default {_DEFAULT_WORLDS}.", is_count=True),
)


@dataclass(frozen=True, slots=True)
class MapItems:
    """The data sets of one environment.

    Attributes:
        draw: Generates items by key, level, source options and cutoff function.
        ask: Asks questions about a map.
        limit: Default and documentation of the parameter `limit`, the number of questions about each map.
        is_one_item: Whether all questions about a map are one item.
        takes_tokens: Whether the walkthrough can be limited to a number of tokens.
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
        default, doc = self.limit
        limit = number_option("limit", 1, 10_000_000, doc, default)
        common_options = (limit, _PREFIX_STEPS, *(_TOKENS if self.takes_tokens else ()), _ATTEMPTS)
        shared = tuple(option.name for option in self.environment.items.options if option.name in _MAP_OPTIONS)

        def make_dataset(name: str, items: str, doc: str, open_: Any, *options: Option) -> Dataset:
            """Return a data set with its own and the common options."""
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
            make_dataset("generated", "worlds", "text games by key", self._open_generated, *_WORLD_OPTIONS),
            make_dataset(
                "published",
                "maps",
                "the benchmark's own, see `waybench data fetch mango`",
                self._open_maps,
                _DATA_DIR,
                _GAMES,
            ),
            make_dataset("file", "maps", "a folder with maps from `waybench textmap build`", self._open_file, _GAMES),
        )

    def _open_generated(self, parameters: Mapping[str, Any], files: DataFiles) -> Source[Any]:
        """Return the items about generated worlds."""
        key = PUBLIC_KEY if parameters["key"] is None else parameters["key"]
        level = _DEFAULT_LEVEL if parameters["level"] is None else parameters["level"]
        options = self.environment.items.options
        values = {option.name: parameters.get(option.name) for option in options} | {"questions": parameters["limit"]}
        cutoff = _cutoff_function(parameters) if self.takes_tokens and parameters["prefix_tokens"] else None
        source = self.draw(key, level, resolve(options, values), cutoff)
        n_worlds = _DEFAULT_WORLDS if parameters["worlds"] is None else parameters["worlds"]
        return _make_item_list(source.head(n_worlds * (1 if self.is_one_item else parameters["limit"])))

    def _open_file(self, parameters: Mapping[str, Any], files: DataFiles) -> Source[Any]:
        """Return the items of a file of instances, or about the maps in a folder."""
        path = user_path(parameters["source"])
        if path.suffix == ".jsonl" or isfile(path):
            environment = self.environment
            return item_list_from_file(
                path, environment.id, environment.items.decode, environment.items.level_of, environment.items.prove
            )
        return self._open_maps(parameters, files)

    def _open_maps(self, parameters: Mapping[str, Any], files: DataFiles) -> Source[Any]:
        """Return the items about published maps, or the maps in a folder."""
        cutoff, kind = _cutoff_function(parameters), self.environment.id.partition("/")[2]
        key = DATA_SET if parameters["source"] == "published" else user_path(parameters["source"]).resolve().name
        items: list[Item[Any]] = []
        for place_map in selected_maps(parameters, files):
            stream = Stream("textmap/asked", kind, key, place_map.name)
            for instance in self.ask(place_map, cutoff(place_map), parameters["limit"], stream, parameters, None):
                proof = self.environment.items.prove(instance)
                name = f"{place_map.name}-{len(items)}"
                items.append(Item(instance, name, instance.level, key, len(items), proof))
        return _make_item_list(items)


def _make_item_list(items: Sequence[Item[Any]]) -> ItemList[Any]:
    """Return the items as a source; an error if there are none."""
    if not items:
        raise UsageError(
            "these prefixes have no answerable question of this kind: show more steps, or choose other questions"
        )
    return ItemList(items)


def selected_maps(parameters: Mapping[str, Any], files: DataFiles) -> Iterator[PlaceMap]:
    """Yield published maps, or maps in a folder.

    `parameters` has "source" ("published" or the folder), "games", and perhaps "names"; `files` finds the published
    files. Raises a UsageError if a map is missing, and a DataError if it is invalid or two maps have the same name.
    """
    has_plain_names = parameters.get("names", "plain") == "plain"  # without machine ids
    if parameters["source"] == "published":
        for game in _selected_games(parameters, sorted({file.partition("/")[0] for file in files.names(DATA_SET)})):
            place_map = published_map(game, files)
            # MANGO's files of ids are not among those of the data set, but they can lie beside them.
            game_folder = files(DATA_SET, f"{game}/{game}{_EDGES}").parent
            yield place_map if has_plain_names else with_machine_ids_from_file(place_map, game_folder)
        return
    folder, game_folders = user_path(parameters["source"]), dict[str, Path]()
    paths = sorted([*folder.glob(f"*{_EDGES}"), *folder.glob(f"*/*{_EDGES}")]) if isdir(folder) else []
    if not paths:
        raise UsageError(
            f"source={str(folder)[:80]!r}: give generated, published, or a folder with maps, as `waybench textmap "
            "build` writes them"
        )
    for path in paths:
        game = path.name.removesuffix(_EDGES)
        if game_folders.setdefault(game, path.parent) != path.parent:
            raise DataError(f"{path}: there is a map {game[:60]!r} in {game_folders[game]}, too; rename one of them")
    for game in _selected_games(parameters, sorted(game_folders)):
        place_map = load_map(game_folders[game], game)
        yield place_map if has_plain_names else with_machine_ids_from_file(place_map, game_folders[game])


def _selected_games(parameters: Mapping[str, Any], available: list[str]) -> list[str]:
    """Return the games of the parameter `games` in order; all if it is not given."""
    if parameters["games"] is None:
        return available
    names = [name.strip() for name in str(parameters["games"]).split(",")]
    for name in names:
        if name not in available:
            raise UsageError(f"games: {unknown_name_message('game', name, available)}")
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
    fit = last_step_by_published_rule if parameters["protocol"] == "paper" else last_step_that_fits
    tokenizer = None if tokens is None else load_tokenizer(parameters["tokenizer"])

    def last_step_shown(place_map: PlaceMap) -> int:
        """Return the lesser of the two limits; the limit of steps can be beyond the walkthrough's end, as published."""
        last_step = place_map.last_step if steps is None else steps
        last_fitting = None if tokens is None or tokenizer is None else fit(place_map.steps, tokenizer, tokens)
        return last_step if last_fitting is None else min(last_step, last_fitting)

    return last_step_shown
