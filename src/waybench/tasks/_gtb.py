"""GameTraversalBenchmark's tasks: whole plans, single moves, and plans with a prediction of the map."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from inspect_ai import Task

from waybench.core import Item, UsageError
from waybench.data import locate
from waybench.envs import registry
from waybench.tasks._declare import declared, played_items
from waybench.tasks._index import TILEMAPS
from waybench.tasks._sources import file_key, refuse_for_file, refuse_for_generated

_FILE = "traversal_benchmark.json"
_MAPS = 150  # generated ones, as many as the published description counts
_LEVEL = 3  # 280 to 559 tiles, as most of the published maps have


def _task(env_id: str) -> Callable[..., Task]:
    def make(**given: Any) -> Task:
        environment = registry.load(env_id)
        options = {option.name: given[option.name] for option in environment.options}
        items = ((environment, options, item) for item in _items(env_id, given))
        return played_items(items, given["attempts"], environment.version)

    return make


def _items(env_id: str, given: Mapping[str, Any]) -> Iterator[Item[Any]]:
    environment = registry.load(env_id)
    if given["source"] == "generated":
        refuse_for_generated(given)
        if given["skip"]:
            raise UsageError("skip: for the maps of a file only; leave it out, or add source")
        level = _LEVEL if given["level"] is None else given["level"]
        style = {option.name: given[option.name] for option in environment.source_options}
        yield from environment.source(given["key"], level, **style).head(given["limit"] or _MAPS)
        return
    refuse_for_file(given, environment, "maps", ("key", "level"))
    source = _file(environment, given)
    numbers = range(given["skip"], len(source))
    chosen = [source.item(index) for index in numbers[: given["limit"]]]
    if not chosen:
        raise UsageError(f"skip={given['skip']}: there is no map after the first {len(source)}")
    # In "sound" no objective is asked for that cannot be reached, and on a map without any there is nothing to do.
    playable = [
        item
        for item in chosen
        if given["protocol"] == "paper" or len(item.proof["unreachable"]) < len(item.instance.objectives)
    ]
    if not playable:
        raise UsageError("no objective of these maps can be reached, so that there is nothing to play: choose others")
    yield from playable


def _file(environment: Any, given: Mapping[str, Any]) -> Any:
    from waybench.envs.tilemap import MapFile

    if given["source"] == "published":
        folder = given["data_dir"]
        path = locate("gtb", _FILE, None if folder is None else Path(folder))
        key = f"gtb-without-{given['skip']}" if given["skip"] else "gtb"
        return MapFile(path, key, environment.prove, published=True)
    if given["data_dir"] is not None:
        raise UsageError("data_dir: for published maps only; leave it out")
    path = Path(given["source"])
    return MapFile(path, file_key(path, "maps"), environment.prove)


gtb, gtb_stepwise, gtb_state = (declared(name, _task(env_id)) for name, env_id in TILEMAPS.items())
