"""Horizons: what a fit and a decision take beside the usual logistic fit."""

from collections.abc import Iterator

import numpy as np
import statsmodels.api as sm

from benchmarks._timing import Comparison, compare
from waybench.envs.maze import ALICIA
from waybench.results.stats import Seeker, StoppingRule, Trial
from waybench.results.stats._adaptive import Candidate
from waybench.results.stats._curves import CurvePrior
from waybench.results.stats._fit import fit_curves

assert ALICIA.difficulty.horizon is not None
PLACES = ALICIA.difficulty.horizon.levels
TRIALS, TIMES = 200, 10


def horizons() -> Iterator[Comparison]:
    """Fit 200 trials, and decide what to try after them."""
    rng = np.random.default_rng(1)
    at = rng.choice(np.array(PLACES, dtype=np.float64), TRIALS)
    solved = (rng.random(TRIALS) < 1 / (1 + np.exp(3 * np.log2(at / 25)))).astype(np.float64)
    design = sm.add_constant(np.log2(at))
    apart = list(range(TRIALS))
    seeker = Seeker(StoppingRule(precision=0.02, most=10_000), PLACES[0], PLACES[-1])
    candidates = [Candidate(difficulty, float(difficulty**2)) for difficulty in PLACES]
    trials = [Trial(float(x), bool(y), None, 1.0) for x, y in zip(at, solved, strict=True)]

    def fit() -> None:
        for _ in range(TIMES):
            fit_curves(CurvePrior(), at, solved, apart).horizon(0.5, 0.9)

    def decide() -> None:
        for _ in range(TIMES):
            assert seeker.next(trials, candidates).candidates

    def usual() -> None:
        for _ in range(TIMES):
            sm.GLM(solved, design, family=sm.families.Binomial()).fit()

    against = "a logistic fit without lapses by statsmodels"
    yield compare(
        f"the horizon of {TRIALS} trials with its interval", fit, usual, against=against, count=TIMES, unit="fits"
    )
    yield compare(
        f"the next four items of a search after {TRIALS} trials, and whether to stop",
        decide,
        usual,
        against=against,
        count=TIMES,
        unit="rounds",
    )
