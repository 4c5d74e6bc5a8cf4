"""Trials, counted by difficulty."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Trials:
    """Trials, counted by difficulty.

    Attributes:
        at: Difficulties, each once, rising.
        solved: Number of trials that were solved at each; may be weighted.
        trials: Number of trials at each.
    """

    at: Array
    solved: Array
    trials: Array

    def weighted(self, weight: float) -> "Trials":
        """Return it with each trial counting as a part of one."""
        return replace(self, solved=self.solved * weight, trials=self.trials * weight)
