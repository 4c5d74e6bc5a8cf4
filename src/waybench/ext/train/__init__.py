"""Reinforcement learning: one text session over an episode, and the faces that training programs take.

* `Session`: one environment as conversations with rewards;
* `Curriculum`: the level of each episode, so that a model keeps succeeding at a given rate;
* `SPLITS`, `split_of`, `SplitSource`: training, validation and test items that share none;
* `waybench.ext.train.gymnasium`: Gymnasium environments (extra `gym`);
* `waybench.ext.train.openenv`: an OpenEnv server (extra `openenv`);
* `waybench.ext.train.trl`: rollouts for TRL's GRPO (extra `trl`).
"""

from typing import TYPE_CHECKING

from waybench._late import lazy_names
from waybench.ext.train._session import SPLITS, TRAINING_KEY, Session, SessionTurn, SplitSource, split_of

if TYPE_CHECKING:
    from waybench.ext.train._curriculum import Curriculum, NextItem

__all__ = ["SPLITS", "TRAINING_KEY", "Curriculum", "NextItem", "Session", "SessionTurn", "SplitSource", "split_of"]

# It needs numpy, which most environments play without.
__getattr__ = lazy_names(__name__, {"_curriculum": ("Curriculum", "NextItem")})
