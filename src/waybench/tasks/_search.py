"""AQA-Bench's tasks: one for each environment, and all of them as one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from inspect_ai import Task

from waybench.core import Environment, Instance, Item, Json, Source, UsageError, plural
from waybench.data import locate
from waybench.envs import registry
from waybench.tasks._declare import Played, declared, played_items
from waybench.tasks._index import SEARCH
from waybench.tasks._sources import file_key, refuse_for_file, refuse_for_generated

# Game -> its published file, and the level of each mode. The numbers' files leave the range out.
_PUBLISHED = {
    "guessnum": ("binary_search_0.json", {"easy": 15, "hard": 25}),
    "coin": ("binary_search_0.json", {"easy": 15, "hard": 25}),
    "dfs": ("dfs_0.json", {"easy": 8, "hard": 13}),
    "cavedfs": ("dfs_0.json", {"easy": 8, "hard": 13}),
    "bfs": ("bfs_0.json", {"easy": 15, "hard": 25}),
    "cavebfs": ("bfs_0.json", {"easy": 15, "hard": 25}),
}
_CASES = {"easy": 400, "hard": 1500}  # as many as the published tables are made of
_NUMBERS = ("guessnum", "coin")
_FAR = 10**9  # number of the case that a generated set's first examples are counted back from
_TRIES = 1000  # examples that are drawn for one item, at most

Examples = Callable[[int, Item[Any]], tuple[Instance, ...]]


def _task(names: Sequence[str]) -> Callable[..., Task]:
    def make(**given: Any) -> Task:
        items = (played for name in names for played in _items(name, given, prefix=len(names) > 1))
        version = max(registry.load(f"search/{name}").version for name in names)
        return played_items(items, given["attempts"], version)

    return make


def _items(name: str, given: Mapping[str, Any], *, prefix: bool) -> Iterator[Played]:
    environment = registry.load(f"search/{name}")
    options = {option.name: given[option.name] for option in environment.options}
    for number, (source, count) in enumerate(_sets(environment, name, given), start=1):
        examples = _examples(environment, source, given)
        for index in range(count):
            item = source.item(index)
            parts = [*([name] if prefix else []), item.id, *([f"set{number}"] if number > 1 else [])]
            yield environment, options, replace(item, id="-".join(parts), examples=examples(index, item))


def _sets(environment: Environment[Any, Any, Any], name: str, given: Mapping[str, Any]) -> Iterator[tuple[Any, int]]:
    """Yield the sources of all sets with the number of cases that are played of each."""
    count = given["limit"] or _CASES[given["mode"]]
    if given["source"] == "generated":
        refuse_for_generated(given)
        key = environment.public_key if given["key"] is None else given["key"]
        for number in range(1, given["sets"] + 1):
            yield _generated(environment, name, given, key if number == 1 else f"{key}/{number}"), count
        return
    refuse_for_file(given, environment, "cases", ("sets", "key", "level"))
    source = _from_file(environment, name, given)
    if given["icl"] >= len(source) and given["protocol"] == "paper":
        raise UsageError(f"icl={given['icl']}: the file has only {plural(len(source), 'case')}; lower icl")
    yield source, min(count, len(source)) if given["limit"] is None else count


def _level(name: str, given: Mapping[str, Any]) -> int:
    level = given.get("level")
    return _PUBLISHED[name][1][given["mode"]] if level is None else level


def _generated(environment: Environment[Any, Any, Any], name: str, given: Mapping[str, Any], key: str) -> Source[Any]:
    style = {option.name: given.get(option.name, option.default) for option in environment.source_options}
    return environment.source(key, _level(name, given), **style)


def _from_file(environment: Environment[Any, Any, Any], name: str, given: Mapping[str, Any]) -> Any:
    from waybench.envs.search import CaseFile

    file = ("hard_" if given["mode"] == "hard" else "") + _PUBLISHED[name][0]
    if given["source"] == "published":
        folder = given["data_dir"]
        path = locate("aqa", file, None if folder is None else Path(folder))
        key = f"aqa-{given['mode']}"
    else:
        path = Path(given["source"])
        key = file_key(path, "cases")
    level = _PUBLISHED[name][1][given["mode"]]
    common: dict[str, Json] = {"min": 32, "max": 32 + 2**level} if name in _NUMBERS else {}
    return CaseFile(path, key, environment.decode, environment.level_of, environment.prove, common)


def _examples(environment: Environment[Any, Any, Any], source: Source[Any], given: Mapping[str, Any]) -> Examples:
    """Return the function that chooses an item's in-context examples.

    As published they are the cases just before it; the window begins with the last cases of the file, or, of a set
    that has no end, with some far beyond those that are played. Where a level has few cases, one of them can be the
    same as the item. In "sound" each item has examples of its own, all different and none the same as the item.
    """
    wanted = given["icl"]
    if not wanted:
        return lambda index, item: ()

    @lru_cache(maxsize=256)
    def case(index: int) -> Instance:
        return source.item(index if index >= 0 or hasattr(source, "__len__") else _FAR + index).instance

    def window(index: int, item: Item[Any]) -> tuple[Instance, ...]:
        return tuple(case(before) for before in range(index - wanted, index))

    def own(index: int, item: Item[Any]) -> tuple[Instance, ...]:
        try:
            drawn = environment.source(f"{item.key}/examples", item.level, **_style_of(environment, item, given))
        except UsageError as error:
            raise UsageError(
                f"icl with protocol=sound draws examples that are like case {item.id}, and that cannot be done "
                f"({error}): use protocol=paper, or leave icl out"
            ) from None
        found: dict[str, Instance] = {}
        for number in range(_TRIES):
            example = drawn.item(index * _TRIES + number).instance
            if example.hash != item.instance.hash:
                found.setdefault(example.hash, example)
            if len(found) == wanted:
                return tuple(found.values())
        raise UsageError(
            f"icl={wanted}: level {item.level} has not so many different cases; lower icl or raise the level"
        )

    return window if given["protocol"] == "paper" else own


def _style_of(environment: Environment[Any, Any, Any], item: Item[Any], given: Mapping[str, Any]) -> dict[str, Json]:
    """Return how to draw cases that are like an item."""
    if environment.id.partition("/")[2] in _NUMBERS:
        return {"lowest": item.instance.low, "span": item.instance.high - item.instance.low}
    return {"shape": given["shape"], "cycles": item.instance.graph.cycles}


guessnum, coin, dfs, cavedfs, bfs, cavebfs = (declared(name, _task([name])) for name in SEARCH)
aqa = declared("aqa", _task(SEARCH))
