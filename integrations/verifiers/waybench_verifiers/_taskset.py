"""Items as tasks, their reward, and the check that the reference player solves them."""

from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf
from waybench.core import UsageError, policy
from waybench.ext.train import TRAINING_KEY, Session

INFO = "waybench"  # where a trace has the episode


class WaybenchTasksetConfig(vf.TasksetConfig):
    """Which items: see the table in the README."""

    env: str = "maze/alicia"
    level: int | None = None
    split: str = "train"
    key: str = TRAINING_KEY
    items: int = 1000
    options: dict[str, Any] = {}  # noqa: RUF012  pydantic copies it

    def session(self) -> Session:
        """Return a session for these items.

        Raises:
            UsageError: For a wrong setting, or an environment whose prompts are no growing conversation.
        """
        session = Session(
            self.env, key=self.key, level=self.level, split=self.split or None, legal_actions=0, **self.options
        )
        if not session.grows:
            raise UsageError(
                f"{self.env} shows a new prompt in each turn with these options, and a rollout of verifiers is one "
                "growing conversation: choose another wording or protocol"
            )
        return session


class WaybenchData(vf.TaskData):
    """An item: what a session needs to start it."""

    settings: dict[str, Any]
    index: int


class WaybenchTask(vf.Task[WaybenchData, vf.State, vf.TaskConfig]):
    """One item."""

    def session(self) -> Session:
        """Return a session for this item's set."""
        return WaybenchTasksetConfig.model_validate(self.data.settings).session()

    @vf.reward
    async def episode(self, trace: vf.Trace) -> float:
        """Return the sum of the environment's rewards; 0 where nothing was played."""
        return float(sum(trace.info.get(INFO, {}).get("rewards", ())))

    async def validate(self, runtime: vf.Runtime) -> bool | None:
        """Let the oracle play; whether it got all that the environment can give, as far as that is certain."""
        session = self.session()
        session.start(self.data.index)
        episode, total, oracle = session.episode, 0.0, policy("oracle")
        assert episode is not None
        while not episode.done:
            total += session.reply(oracle.reply(episode)).reward
        properties = episode.play.game.properties
        return total >= properties.reward[1] - 1e-9 if properties.deterministic else total > properties.reward[0]


class WaybenchTaskset(vf.Taskset[WaybenchTask, WaybenchTasksetConfig]):
    """The items of one environment, level and split."""

    def load(self) -> Iterator[WaybenchTask]:
        """Yield the items."""
        session = self.config.session()
        for index in range(self.config.items):
            yield self._task(self.config, session, index)

    def choose(self, level: int, index: int) -> WaybenchTask:
        """Return one item of any level, such as a curriculum chooses.

        Args:
            level: The level.
            index: The item's number in the split, from 0.
        """
        config = self.config.model_copy(update={"level": level})
        return self._task(config, config.session(), index)

    def _task(self, config: WaybenchTasksetConfig, session: Session, index: int) -> WaybenchTask:
        turn = session.start(index)
        return WaybenchTask(
            WaybenchData(
                name=f"{config.env}#{turn.info['level']}/{turn.info['item']}",
                prompt=turn.messages,  # pyright: ignore[reportArgumentType]  pydantic reads them as messages
                settings=config.model_dump(include={"env", "level", "split", "key", "items", "options"}),
                index=index,
            ),
            self.config.task,
        )
