"""The Gymnasium face: `gymnasium.make("waybench/maze-alicia-v1", level=7)`.

Importing this package registers every environment of the catalogue. Needs the extra `gym`.
"""

import string
from collections.abc import Mapping, Sequence
from multiprocessing import sharedctypes
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector import utils as _utils

from waybench.core import Episode, Json, UsageError
from waybench.envs import registry
from waybench.ext.train._curriculum import Curriculum
from waybench.ext.train._session import ATTEMPTS, TRAINING_KEY, Session
from waybench.people._play import board_text

__all__ = ["TRAINING_KEY", "TextEnv", "TextVectorEnv", "gym_id", "register_all"]

_UTILS: Any = _utils  # its functions are typed for Gymnasium's own spaces only
_ENDLESS = 2**31  # items, without a number given
LONGEST_SHARED = 1 << 20  # bytes of a text in the memory that the processes of `make_vec` share
_LENGTH_BYTES = 8  # of the length before each text there
_WIDTH = 120  # characters of a drawing

_GYMNASIUM: Any = gymnasium  # some of its types are only partly known


class Texts(spaces.Space[str]):
    """Every string. `gymnasium.spaces.Text` has an alphabet, and a language model has none."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=str, seed=seed)

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        """Return 0 to 39 random printable characters."""
        length = int(self.np_random.integers(40))
        return "".join(self.np_random.choice(list(string.printable), length))

    def contains(self, x: Any) -> bool:
        """Return whether a value is a string."""
        return isinstance(x, str)

    @property
    def is_np_flattenable(self) -> bool:
        """False: texts have no common length."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Texts)

    def __repr__(self) -> str:
        return "Texts()"


@_UTILS.create_shared_memory.register(Texts)
def _create_shared_memory(space: Texts, n: int = 1, ctx: Any = sharedctypes) -> list[Any]:
    """Return memory for `n` texts that processes share."""
    # Pages of memory that no text has reached take no room.
    return [ctx.Array("c", LONGEST_SHARED) for _ in range(n)]


@_UTILS.write_to_shared_memory.register(Texts)
def _write_to_shared_memory(space: Texts, index: int, value: str, shared_memory: list[Any]) -> None:
    """Write a text with its length to the shared memory of one environment."""
    content = value.encode("utf-8", "surrogatepass")
    if len(content) + _LENGTH_BYTES > LONGEST_SHARED:
        raise UsageError(
            f"a text of {len(content):,} bytes does not fit into the memory that processes share: "
            "make_vec(..., vector_kwargs={'shared_memory': False}) sends texts of any length"
        )
    shared_memory[index][: _LENGTH_BYTES + len(content)] = len(content).to_bytes(_LENGTH_BYTES) + content


class _SharedTexts(Sequence[str]):
    """The present texts in shared memory; Gymnasium makes this object once, and copies it after each step."""

    def __init__(self, memory: list[Any]) -> None:
        self._memory = memory

    def __len__(self) -> int:
        return len(self._memory)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self)[index]
        memory = self._memory[index]
        end = _LENGTH_BYTES + int.from_bytes(memory[:_LENGTH_BYTES])
        return memory[_LENGTH_BYTES:end].decode("utf-8", "surrogatepass")

    def __deepcopy__(self, memo: Any) -> tuple[str, ...]:
        return tuple(self)


@_UTILS.read_from_shared_memory.register(Texts)
def _read_from_shared_memory(space: Texts, shared_memory: list[Any], n: int = 1) -> _SharedTexts:
    """Return the texts in shared memory, decoded on access."""
    return _SharedTexts(shared_memory)


class TextEnv(gymnasium.Env[str, str]):
    """One environment of the catalogue, at one level, on a new item in each episode.

    The observation after `reset` is the whole first prompt (rules and first observation), and after `step` the
    answer to the reply; the whole conversation, as the wording's memory cuts it, is in `info["messages"]`. The reward
    is the game's. An episode that the game ends is terminated, one that a limit ends is truncated. `info` also has
    what `waybench.ext.train.SessionTurn.info` has.

    Args:
        env_id: The environment's id in the catalogue.
        key: The set that items are drawn from; see `waybench.ext.train.Session`.
        level: The level; the smallest by default.
        items: Number of different items; by default there is no end of them.
        split: "train", "validation" or "test": only items of this split; all items if None.
        source_options: How items are drawn.
        curriculum: Chooses the level of each episode and learns from its end; it has all settings of play, and takes
            the place of key, level, split, source options and settings here.
        render_mode: "ansi", the board as text, or the last observation where the environment has no board; or None.
        **settings: `shaping`, `discount` and `legal_actions` of `waybench.ext.train.Session`, and options of play.

    Raises:
        UsageError: For an unknown environment, a wrong option or level.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012  the base class declares it so

    def __init__(
        self,
        env_id: str,
        *,
        key: str = TRAINING_KEY,
        level: int | None = None,
        items: int | None = None,
        split: str | None = None,
        source_options: Mapping[str, Json] | None = None,
        curriculum: Curriculum | None = None,
        render_mode: str | None = None,
        **settings: Json,
    ) -> None:
        if curriculum is None:
            extra: dict[str, Any] = settings
            self.session = Session(env_id, key=key, level=level, split=split, source_options=source_options, **extra)
        elif settings or (key, level, split, source_options) != (TRAINING_KEY, None, None, None):
            raise UsageError("the curriculum has the settings: give them to Curriculum(...)")
        elif curriculum.environment.id != env_id:
            raise UsageError(f"the curriculum is for {curriculum.environment.id}, not for {env_id}")
        else:
            self.session = Session(**curriculum.settings(curriculum.level()))
        self._curriculum = curriculum
        self.items = _ENDLESS if items is None else items
        self.render_mode = render_mode
        self.observation_space = Texts()
        self.action_space = Texts()
        self._text = ""

    @property
    def episode(self) -> Episode[Any, Any, Any] | None:
        """The present episode; None before the first reset."""
        return self.session.episode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Start an episode on a random item, or on number `options["index"]`, as attempt `options["attempt"]`."""
        super().reset(seed=seed)
        reset_options = options or {}
        index = int(reset_options.get("index", self.np_random.integers(self.items)))
        attempt = int(reset_options.get("attempt", self.np_random.integers(1, ATTEMPTS)))
        if self._curriculum is not None:
            self.session = Session(**self._curriculum.settings(self._curriculum.level()))
        turn = self.session.start(index, attempt)
        self._text = turn.text
        return turn.text, {**turn.info, "messages": turn.messages}

    def step(self, action: str) -> tuple[str, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play a turn with a reply.

        Raises:
            ResetNeeded: Before the first reset.
            UsageError: After the end of the episode.
        """
        if self.episode is None:
            raise gymnasium.error.ResetNeeded("call reset() before the first step()")
        turn = self.session.reply(action)
        if turn.done and self._curriculum is not None:
            self._curriculum.add(self.session.record())
        self._text = turn.text
        return turn.text, turn.reward, turn.terminated, turn.truncated, {**turn.info, "messages": turn.messages}

    def render(self) -> str | None:  # type: ignore[override]
        """Return the board, with ANSI colours; the last observation where the environment has no board."""
        if self.render_mode != "ansi":
            return None
        board = self.session.environment.presentation.board
        if board is None or self.episode is None:
            return self._text
        return board_text(board(self.episode.state, self.episode.turns), _WIDTH)


class TextVectorEnv(VectorEnv[tuple[str, ...], Sequence[str], Any]):
    """Episodes of one environment, side by side in this process: one call takes a reply for each.

    An episode that is over starts again, on a new item, with the next step, whose reply for it is not read
    (`AutoresetMode.NEXT_STEP`).

    Args:
        **settings: As `TextEnv`.
    """

    metadata: dict[str, Any] = {**TextEnv.metadata, "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, env_id: str, num_envs: int = 1, **settings: Any) -> None:
        self.num_envs = num_envs
        self.envs = [TextEnv(env_id, **settings) for _ in range(num_envs)]
        self.render_mode = self.envs[0].render_mode
        self.single_observation_space = self.single_action_space = Texts()
        self.observation_space = self.action_space = spaces.Tuple([Texts() for _ in self.envs])
        self._over = [False] * num_envs

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Start all episodes; `seed` is that of the first, and those of the others follow it."""
        if isinstance(seed, int | None):
            seed = [None if seed is None else seed + number for number in range(self.num_envs)]
        self._over = [False] * self.num_envs
        starts = [env.reset(seed=env_seed, options=options) for env, env_seed in zip(self.envs, seed, strict=True)]
        return tuple(text for text, _ in starts), self._merge_infos([info for _, info in starts])

    def step(self, actions: Sequence[str]) -> tuple[tuple[str, ...], Any, Any, Any, dict[str, Any]]:
        """Play a turn in each episode; those that are over start anew."""
        turns: list[tuple[str, SupportsFloat, bool, bool, dict[str, Any]]] = []
        for env, action, is_over in zip(self.envs, actions, self._over, strict=True):
            if is_over:
                text, info = env.reset()
                turns.append((text, 0.0, False, False, info))
            else:
                turns.append(env.step(action))
        texts, rewards, terminated, truncated, infos = zip(*turns, strict=True)
        self._over = [any(ends) for ends in zip(terminated, truncated, strict=True)]
        return (
            tuple(texts),
            np.array(rewards, float),
            np.array(terminated),
            np.array(truncated),
            self._merge_infos(infos),
        )

    def render(self) -> tuple[str | None, ...]:  # type: ignore[override]
        """Return the rendered boards of all episodes."""
        return tuple(env.render() for env in self.envs)

    def _merge_infos(self, infos: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the `info` of all episodes as one dictionary of arrays."""
        merged: dict[str, Any] = {}
        for number, info in enumerate(infos):
            merged = self._add_info(merged, info, number)
        return merged


def gym_id(env_id: str, version: int) -> str:
    """Return the Gymnasium id of an environment: ("maze/alicia", 1) -> "waybench/maze-alicia-v1"."""
    return f"waybench/{env_id.replace('/', '-')}-v{version}"


def register_all() -> None:
    """Register every environment of the catalogue that is not registered yet."""
    for entry in registry.entries:
        name = gym_id(entry.id, entry.version)
        if name not in gymnasium.registry:
            _GYMNASIUM.register(
                name,
                entry_point="waybench.ext.train.gymnasium:TextEnv",
                vector_entry_point="waybench.ext.train.gymnasium:TextVectorEnv",
                kwargs={"env_id": entry.id},
            )


register_all()
