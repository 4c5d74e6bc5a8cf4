"""Opens engines by name."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from waybench.core import UsageError
from waybench.envs.voxel.engines._terrain import ENGINES, LUANTI, Terrain

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from waybench.envs.voxel.engines._luanti import LuantiTerrain
    from waybench.envs.voxel.engines._own import BlockWorld

GROUP = "waybench.voxel_engines"
"""The entry points of engines whose maps are not known: callables (seed, goal) -> Terrain, by the engine's name."""


def open_terrain(engine: str, seed: int, goal: str = "") -> Terrain:
    """Return a world of an engine; only engines without known maps need the goal.

    Raises:
        UsageError: If there is no such engine, or it is not installed.
    """
    if engine in ENGINES and not ENGINES[engine].charted:
        return _external_terrain(engine, seed, goal)
    return open_charted_world(engine, seed)


def open_charted_world(engine: str, seed: int, keep: bool = True) -> "BlockWorld":
    """Return a world whose map is known.

    It is cached, unless `keep` is false: looking at many maps once would push out the worlds in which episodes go on.

    Raises:
        UsageError: If there is no such engine, its maps are not known, or it is not installed.
    """
    if engine not in ENGINES:
        raise UsageError(f"engine {engine!r}: give one of {', '.join(ENGINES)}")
    if not ENGINES[engine].charted:
        raise UsageError(f"engine={engine}: its maps are unknown; choose a player that needs no map")
    if engine != LUANTI:
        return _block_world(seed) if keep else _block_world.__wrapped__(seed)
    world = _luanti_world(seed)
    if world.ended:  # start a new server
        _luanti_world.cache_clear()
        world = _luanti_world(seed)
    return world


@lru_cache(maxsize=16)  # each has some eight megabytes of chunks, and episodes go on side by side
def _block_world(seed: int) -> "BlockWorld":
    from waybench.envs.voxel.engines._own import OwnTerrain  # numpy and numba, which nothing else here needs

    return OwnTerrain(seed)


# Each is a server of its own, of a gigabyte or so, which stops when it is no longer cached. All worlds of a set are
# cached, for starting a server again takes seconds.
@lru_cache(maxsize=8)
def _luanti_world(seed: int) -> "LuantiTerrain":
    from waybench.envs.voxel.engines._luanti import LuantiTerrain

    return LuantiTerrain(seed)


@lru_cache(maxsize=1)  # a simulator, which plays one episode at a time
def _external_terrain(engine: str, seed: int, goal: str) -> Terrain:
    """Return a world of an engine from an entry point."""
    for point in _entry_points(engine):
        make: Any = point.load()
        return make(seed, goal)
    raise UsageError(f"engine={engine}: no installed package has the entry point {engine!r} in the group {GROUP}")


def _entry_points(engine: str) -> "EntryPoints":
    from importlib.metadata import entry_points  # it takes long to import, and few processes need it

    return entry_points(group=GROUP, name=engine)


def find_program(engine: str) -> str | None:
    """Return the path of an engine's program, or the module of its entry point; None if it is not installed.

    Nothing is started. The class that an entry point names can have a method `installed`.
    """
    if engine == LUANTI:
        from waybench.envs.voxel.engines._server import program_path

        return program_path()
    for point in _entry_points(engine):
        engine_class: Any = point.load()
        if getattr(engine_class, "installed", lambda: True)():
            return point.module
    return None


def is_drawable(engine: str) -> bool:
    """Return whether an engine's maps are known and the engine is installed."""
    return find_program(engine) is not None if engine == LUANTI else ENGINES[engine].charted
