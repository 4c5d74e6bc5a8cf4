"""Minecraft as an engine of the search for a biome, through MineDojo.

`waybench.envs.voxel` finds it by the entry point "minedojo" of the group "waybench.voxel_engines", as it would find an
engine of another package.
"""

import weakref
from collections import OrderedDict
from importlib import import_module
from importlib.util import find_spec
from math import hypot, radians
from threading import RLock
from typing import Any

import numpy as np

from waybench.core import UsageError
from waybench.envs.voxel._wording import CURSOR, LONGEST, TURN, Raw, fan_angles
from waybench.envs.voxel.engines._terrain import CREATIVE, MINECRAFT_BIOMES, Body, WalkResult

__all__ = ["MinedojoTerrain"]

MISSING = (
    "engine=minedojo needs MineDojo 0.1, a Java Development Kit 8 and Minecraft 1.11.2; see its documentation, or "
    "choose engine=own"
)
_WAYS, _SIDES, _JUMPS, _YAW = 0, 1, 2, 4  # indices into the eight numbers of an action
_AHEAD, _LEFT, _RIGHT, _JUMP, _SPRINT = 1, 1, 2, 1, 3  # values of the first three
_STILL = 12  # value of _YAW that does not turn the camera
_KEPT = 256  # observations that are remembered, for histories


def simulator_settings(seed: int) -> dict[str, Any]:
    """Return the published settings of the simulator, except for the first four, which make worlds by seed."""
    return {
        "world_seed": str(seed),
        "seed": seed % (1 << 31),
        "regenerate_world_after_reset": True,
        "fast_reset": False,
        "image_size": (160, 256),
        "use_voxel": True,
        "voxel_size": {"xmin": -4, "ymin": -4, "zmin": -4, "xmax": 4, "ymax": 4, "zmax": 4},
        "use_lidar": True,
        "lidar_rays": [
            (radians(pitch), radians(yaw), length)
            for pitch, yaw, length in [(0, 0, CURSOR), *((pitch, yaw, LONGEST) for pitch, yaw in fan_angles())]
        ],
    }


def read_raw(observation: Any) -> Raw:
    """Return the position, blocks and rays of an observation of MineDojo.

    It reads `location_stats` (pos, yaw, pitch), `voxels` (block_name) and `rays` (block_name, block_distance,
    entity_name, entity_distance).
    """
    location, rays = observation["location_stats"], observation["rays"]
    voxels, hit_blocks = np.asarray(observation["voxels"]["block_name"]), np.asarray(rays["block_name"])
    blocks, codes = np.unique(np.concatenate([voxels.ravel(), hit_blocks.ravel()]), return_inverse=True)
    beings, hit_beings = np.unique(np.asarray(rays["entity_name"]), return_inverse=True)
    x, y, z = map(float, location["pos"])
    return Raw(
        (x, y, z),
        _scalar(location["yaw"]),
        _scalar(location["pitch"]),
        tuple(map(str, blocks)),
        codes[: voxels.size].reshape(voxels.shape),
        codes[voxels.size :],
        np.asarray(rays["block_distance"], dtype=np.float64),
        tuple(map(str, beings)),
        hit_beings,
        np.asarray(rays["entity_distance"], dtype=np.float64),
    )


def _scalar(number: Any) -> float:
    """Return a number that may be in an array with one element."""
    return float(np.asarray(number).reshape(-1)[0])


class MinedojoTerrain:
    """A running simulator of Minecraft, of a world's seed and a published goal. It plays one episode at a time.

    Raises:
        UsageError: If MineDojo is not installed.
    """

    def __init__(self, seed: int, goal: str) -> None:
        if not self.installed():
            raise UsageError(MISSING)
        minedojo: Any = import_module("minedojo")  # has no types
        self._env = minedojo.make(f"creative:{CREATIVE[goal]}", **simulator_settings(seed))
        self.close = weakref.finalize(self, self._env.close)
        self._lock = RLock()
        self._last: Body | None = None
        self._seen: OrderedDict[Body, Raw] = OrderedDict()
        self._biome = ""

    @staticmethod
    def installed() -> bool:
        """Whether MineDojo can be imported."""
        return find_spec("minedojo") is not None

    def _remember_observation(self, observation: Any) -> Body:
        """Remember an observation, and return where it was made."""
        raw = read_raw(observation)
        body = Body(*raw.at, raw.yaw)
        self._last, self._biome = body, MINECRAFT_BIOMES[int(_scalar(observation["location_stats"]["biome_id"]))]
        self._seen[body] = raw
        if len(self._seen) > _KEPT:
            self._seen.popitem(last=False)
        return body

    def stand(self, x: int, z: int) -> Body:
        """Reset the world, and return the start that the simulator chooses."""
        with self._lock:
            return self._remember_observation(self._env.reset())

    def biome(self, x: int, z: int) -> str:
        """Return the name of the biome at the player's last location, whatever the coordinates."""
        return self._biome

    def view(self, body: Body) -> Raw:
        """Return the observation made at one of the last locations; raise a UsageError for any other."""
        with self._lock:
            if body not in self._seen:
                raise UsageError("engine=minedojo shows only where its player has been: its world cannot be reset")
            return self._seen[body]

    def walk(self, body: Body, ticks: bytes, goals: tuple[str, ...]) -> WalkResult:
        """Turn the camera, then walk; a goal biome ends the walk.

        Raises:
            UsageError: If the player is somewhere else.
        """
        with self._lock:
            last = self._last
            if last is None or body._replace(yaw=last.yaw) != last:
                raise UsageError(
                    "engine=minedojo plays one episode at a time, and cannot take a step back: use --max-connections 1"
                )
            turn = self._env.action_space.no_op()
            turn[_YAW] = round(((body.yaw - last.yaw + 180) % 360 - 180) / TURN) + _STILL
            position, length, n_ticks = (last.x, last.z), 0.0, 0
            observation, _, done, _ = self._env.step(turn)
            for tick in ticks:
                if done:
                    break
                observation, _, done, _ = self._env.step(self._walking_action(tick))
                x, _, z = map(float, observation["location_stats"]["pos"])
                length, n_ticks = length + hypot(x - position[0], z - position[1]), n_ticks + 1
                position = x, z
                if MINECRAFT_BIOMES[int(_scalar(observation["location_stats"]["biome_id"]))] in goals:
                    break
            body_after = self._remember_observation(observation)
            return WalkResult(body_after, self._biome in goals and n_ticks > 0, length, n_ticks)

    def _walking_action(self, tick: int) -> Any:
        """Return the simulator's action for one tick of a walk."""
        action = self._env.action_space.no_op()
        action[_WAYS] = _AHEAD
        action[_SIDES] = {2: _LEFT, 3: _RIGHT}.get(tick & 3, 0)
        action[_JUMPS] = _SPRINT if tick & 4 else _JUMP
        return action
