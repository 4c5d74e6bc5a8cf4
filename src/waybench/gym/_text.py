"""Any environment of the catalogue as a Gymnasium environment whose observations and actions are texts."""

import string
from collections.abc import Mapping
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces

from waybench.core import End, Episode, Json
from waybench.envs import registry

TRAINING_KEY = "gymnasium"
_ENDLESS = 2**31


class Texts(spaces.Space[str]):
    """Every string. `gymnasium.spaces.Text` has an alphabet, and a language model has none."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=str, seed=seed)

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        """Return up to 40 random printable characters."""
        length = int(self.np_random.integers(40))
        return "".join(self.np_random.choice(list(string.printable), length))

    def contains(self, x: Any) -> bool:
        """Whether a value is a string."""
        return isinstance(x, str)

    @property
    def is_np_flattenable(self) -> bool:
        """Texts have no length in common."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Texts)

    def __repr__(self) -> str:
        return "Texts()"


class TextEnv(gymnasium.Env[str, str]):
    """One environment of the catalogue, at one level, on a new item in each episode.

    The observation after `reset` is what a player is told first (rules and first observation), and after `step` the
    answer to the reply; the whole conversation, as the wording's memory cuts it, is in `info["messages"]`. The reward
    is the game's. An episode that the game ends is terminated, one that a limit ends is truncated. `info` also has
    the `outcome` of a turn with its `reason`, and at the end `metrics`.

    Args:
        env_id: The environment's id in the catalogue.
        key: The set that items are drawn from; by default one of its own, not the public set. Instances are still
            shared where a level has few of them: `maze/alicia`, from top to bottom and with the default loops, has 20
            mazes at level 5 and 1476 at level 7, so that training there meets the public ones too. From level 9 on
            (2.8 million mazes) it does but by rare chance. `source.space` tells where a level is that small.
        level: The level; the smallest by default.
        items: Number of different items; by default there is no end of them.
        source_options: How items are drawn.
        render_mode: "ansi" or None.
        **options: Options of play.

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
        source_options: Mapping[str, Json] | None = None,
        render_mode: str | None = None,
        **options: Json,
    ) -> None:
        self.environment = registry.load(env_id)
        self.options = self.environment.resolve_options(options)
        self.source = self.environment.source(
            key, level, protocol=str(self.options["protocol"]), **(source_options or {})
        )
        self.items = _ENDLESS if items is None else items
        self.render_mode = render_mode
        self.observation_space = Texts()
        self.action_space = Texts()
        self.episode: Episode[Any, Any, Any] | None = None
        self._shown = ""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Start an episode on a random item, or on number `options["index"]`, as attempt `options["attempt"]`."""
        super().reset(seed=seed)
        chosen = options or {}
        index = int(chosen.get("index", self.np_random.integers(self.items)))
        attempt = int(chosen.get("attempt", self.np_random.integers(1, _ENDLESS)))
        self.episode = Episode(self.environment, self.source.item(index), self.options, attempt=attempt)
        self._shown = "\n\n".join(message.text for message in self.episode.messages)
        return self._shown, self._info(self.episode)

    def step(self, action: str) -> tuple[str, SupportsFloat, bool, bool, dict[str, Any]]:
        """Take one reply.

        Raises:
            ResetNeeded: Before the first reset.
            WaybenchError: After the end of the episode.
        """
        if self.episode is None:
            raise gymnasium.error.ResetNeeded("call reset() before the first step()")
        turn = self.episode.step(action)
        self._shown = turn.message
        end = self.episode.end_reason
        terminated = end in (End.SOLVED, End.FAILED)
        info = {**self._info(self.episode), "outcome": str(turn.outcome), "reason": turn.reason}
        if end is not None:
            record = self.episode.record()
            info |= {
                "end": str(end),
                "metrics": {metric.name: metric.of(record) for metric in self.environment.metrics},
            }
        return turn.message, turn.reward, terminated, end is not None and not terminated, info

    def render(self) -> str | None:  # type: ignore[override]
        """Return the last observation."""
        return self._shown if self.render_mode == "ansi" else None

    def _info(self, episode: Episode[Any, Any, Any]) -> dict[str, Any]:
        messages = [{"role": message.role, "content": message.text} for message in episode.messages]
        return {"messages": messages, "item": episode.item.id, "level": episode.item.level, "key": episode.item.key}
