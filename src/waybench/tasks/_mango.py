"""MANGO's tasks, about published games, worlds by key, or maps of the user's."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai import Task

from waybench.core import Environment, Item, Stream, UsageError, unknown
from waybench.data import dataset, locate
from waybench.envs import registry
from waybench.tasks._declare import declared, played_items
from waybench.tasks._index import MANGO, MANGO_WORLDS
from waybench.tasks._sources import refuse_for_file, refuse_for_generated
from waybench.tasks._tokens import tokenizer

Shown = Callable[[Any], int]  # map -> the last step that is shown
Ask = Callable[
    [Any, int, Stream, Mapping[str, Any]], Sequence[Any]
]  # (map, that step, stream, parameters) -> instances

_LEVEL = 3  # 16 to 31 places, as most of the published maps have
_EDGES = ".edges.json"
_OF_QUESTIONS = (
    "prefix_steps",
    "difficulty",
    "longest",
    "names",
    "moves",
    "choices",
)  # source options for maps of any kind


def _asked(kind: Any) -> Ask:
    def ask(place_map: Any, cutoff: int, stream: Stream, given: Mapping[str, Any]) -> Sequence[Any]:
        from waybench.envs.textmap import choose, wanted

        return choose(place_map, kind, cutoff, given["limit"], stream, **wanted(given))

    return ask


def _minigames(place_map: Any, cutoff: int, stream: Stream, given: Mapping[str, Any]) -> Sequence[Any]:
    from waybench.envs.textmap import minigames

    return minigames(place_map, cutoff, given["limit"], stream, moves=given["moves"], choices=given["choices"])


def _extractions(place_map: Any, cutoff: int, stream: Stream, given: Mapping[str, Any]) -> Sequence[Any]:
    from waybench.envs.textmap import extractions

    return extractions(place_map, cutoff, given["limit"], stream, longest=given["longest"])


_ASK: Mapping[str, Ask] = {
    "textmap/route": _asked("route"),
    "textmap/destination": _asked("destination"),
    "textmap/minigame": _minigames,
    "textmap/extract": _extractions,
}


def _task(env_id: str) -> Callable[..., Task]:
    def make(**given: Any) -> Task:
        environment = registry.load(env_id)
        options = {option.name: given[option.name] for option in environment.options}
        chosen = _generated if given["source"] == "generated" else _from_files
        items = list(chosen(environment, given))
        if not items:
            raise UsageError(
                "nothing of this kind can be asked about so little of the walkthroughs: show more of them, or ask for "
                "other questions"
            )
        return played_items(((environment, options, item) for item in items), given["attempts"], environment.version)

    return make


def _generated(environment: Environment[Any, Any, Any], given: Mapping[str, Any]) -> list[Item[Any]]:
    """Return items about worlds by key."""
    from waybench.envs.textmap import WorldQuestions

    refuse_for_generated(given)
    if given["games"] is not None:
        raise UsageError("games: for published maps or your own; leave it out, or add source")
    key = environment.public_key if given["key"] is None else given["key"]
    level = _LEVEL if given["level"] is None else given["level"]
    style: dict[str, Any] = {option.name: given.get(option.name) for option in environment.source_options}
    style["questions"] = given["limit"]
    worlds = MANGO_WORLDS if given["worlds"] is None else given["worlds"]
    if environment is registry.load("textmap/extract"):
        return environment.source(key, level, **style).head(worlds)
    if given.get("prefix_tokens"):
        kind: Any = environment.id.partition("/")[2]
        source: Any = WorldQuestions(key, level, style, kind, environment.prove, _shown(given))
        return environment.marked(source, key).head(worlds * given["limit"])
    return environment.source(key, level, **style).head(worlds * given["limit"])


def _from_files(environment: Environment[Any, Any, Any], given: Mapping[str, Any]) -> Iterator[Item[Any]]:
    """Yield items about the published maps, or those of a folder."""
    of_worlds = {name: value for name, value in given.items() if name not in _OF_QUESTIONS}
    refuse_for_file(of_worlds, environment, "worlds", ("key", "level", "worlds"))
    shown, kind = _shown(given), environment.id.partition("/")[2]
    published = given["source"] == "published"
    key = "mango" if published else Path(given["source"]).resolve().name
    index = 0
    for place_map in _maps(given):
        stream = Stream("textmap/asked", kind, key, place_map.name)
        for question in _ASK[environment.id](place_map, shown(place_map), stream, given):
            name = f"{place_map.name}-{index}"
            yield Item(question, name, question.level, key, index, environment.prove(question))
            index += 1


def _maps(given: Mapping[str, Any]) -> Iterator[Any]:
    from waybench.envs.textmap import load_map, named_by_ids, published_map

    if given["source"] == "published":
        if given.get("names", "plain") != "plain":
            raise UsageError("names=ids: the published files have no ids; leave it out, or build maps with them")
        folder = given["data_dir"]
        for game in _games(given, sorted({file.path.partition("/")[0] for file in dataset("mango").files})):
            yield published_map(game, lambda name, file: locate(name, file, None if folder is None else Path(folder)))
        return
    if given["data_dir"] is not None:
        raise UsageError("data_dir: for published maps only; leave it out")
    places = {path.name.removesuffix(_EDGES): path.parent for path in _edge_files(Path(given["source"]))}
    for game in _games(given, sorted(places)):
        place_map = load_map(places[game], game)
        yield place_map if given.get("names", "plain") == "plain" else named_by_ids(place_map, places[game])


def _edge_files(folder: Path) -> list[Path]:
    """Return the files of moves in a folder and in the folders in it.

    Raises:
        UsageError: If there are none.
    """
    found = sorted([*folder.glob(f"*{_EDGES}"), *folder.glob(f"*/*{_EDGES}")]) if folder.is_dir() else []
    if not found:
        raise UsageError(
            f"source={str(folder)[:80]!r}: give generated, published, or a folder with maps, as `waybench textmap "
            "build` writes them"
        )
    return found


def _games(given: Mapping[str, Any], known: list[str]) -> list[str]:
    """Return the games that are asked for, in their order; all if none is named.

    Raises:
        UsageError: If there is no such game, or one is named twice.
    """
    if given["games"] is None:
        return known
    names = [name.strip() for name in str(given["games"]).split(",")]
    for name in names:
        if name not in known:
            raise UsageError(f"games: {unknown('game', name, known)}")
    if len(set(names)) < len(names):
        raise UsageError(f"games={given['games'][:80]!r}: name each game once")
    return names


def _shown(given: Mapping[str, Any]) -> Shown:
    """Return the function that says how much of a walkthrough is shown: the least of what the parameters allow."""
    from waybench.envs.textmap import PUBLISHED_STEPS, fitting_cut, published_cut

    steps, tokens = given["prefix_steps"], given.get("prefix_tokens")
    if given["source"] == "published":
        steps = PUBLISHED_STEPS if steps is None else steps
        if steps > PUBLISHED_STEPS:
            raise UsageError(
                f"prefix_steps={steps}: where the player is after step {PUBLISHED_STEPS} the published maps do not tell"
            )
    fit = published_cut if given["protocol"] == "paper" else fitting_cut
    counter = None if tokens is None else tokenizer(given["tokenizer"])

    def shown(place_map: Any) -> int:
        last = place_map.last_step if steps is None else steps
        fitting = None if tokens is None or counter is None else fit(place_map.steps, counter, tokens)
        # As published, the number of the steps stays what it is where the walkthrough is shorter.
        return last if fitting is None else min(last, fitting)

    return shown


mango_route, mango_destination, mango_minigames, mango_extract = (
    declared(name, _task(env_id)) for name, env_id in MANGO.items()
)
