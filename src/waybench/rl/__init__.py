"""Reinforcement learning: one text session over an episode, and the faces that training programs take.

* `Session`: one environment as conversations with rewards;
* `SPLITS`, `split_of`, `SplitSource`: training, validation and test items that share none;
* `waybench.rl.gymnasium`: Gymnasium environments (extra `gym`);
* `waybench.rl.openenv`: an OpenEnv server (extra `openenv`);
* `waybench.rl.trl`: rollouts for TRL's GRPO (extra `trl`).
"""

from waybench.rl._session import Session, Turn
from waybench.rl._splits import SPLITS, TRAINING_KEY, SplitSource, split_of

__all__ = ["SPLITS", "TRAINING_KEY", "Session", "SplitSource", "Turn", "split_of"]
