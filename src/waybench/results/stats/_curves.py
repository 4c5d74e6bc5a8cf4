"""Success by difficulty: psychometric curves, and what follows if nothing but a fall is assumed."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from waybench._late import LazyModule

if TYPE_CHECKING:
    from scipy import special
else:
    special = LazyModule("scipy.special")  # the curves of training do without it


Array = NDArray[np.float64]
Indices = NDArray[np.intp]
# Confidence of the bounds (`monotone_bounds`) that every interval of a fixed design contains: 90 % intervals then hold
# the horizon in 85 % of cases with plateaus. Bounds with the other confidence count if they span more doublings.
LEAST_CONFIDENCE = 0.4
WIDE_CONFIDENCE, WIDE = 0.8, 1.5
_POOLED = 5  # trials of neighbouring difficulties that are compared with a curve together, at least
_FEWEST_POOLS = 5  # a curve with a middle, a slope and a lapse rate fits fewer ones anyway
_PARAMETERS = 3  # of a curve
_MISFIT = 0.01  # p value below which a curve does not fit
_MIDDLES, _SLOPES = 257, 13  # numbers of values in the grid
_STEEPEST = 2.2  # the steepest curve is exp(2.2) = 9 times as steep as the usual one
_LAPSES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.35)
_BEYOND = 1.0  # how far beyond the tried range a curve may fall, in widths of the range
_LEAST_WIDTH = 1.0  # of the range, in doublings
CELLS = 1000  # of rates, for their intervals
_EQUAL = 1e-9  # a curve that begins at the share, such as one with a lapse rate of 20 % at 80 %, is nowhere above it
_BISECTIONS = 36  # from some ten doublings to less than the error of a sum
NO_WEIGHT = 1e-9  # of the most probable curve's: less of a curve moves no quantile
# Upper tails of distributions and their inverses, with the widths at which they fall about as steeply as the logistic.
_LINKS: Mapping[str, tuple[Callable[[Array], Any], Callable[[Array], Any], float]] = {
    "logistic": (lambda x: special.expit(-x), lambda share: -special.logit(share), 1.0),
    "normal": (lambda x: special.ndtr(-x), lambda share: -special.ndtri(share), 1 / 0.6),
    "gumbel": (lambda x: np.exp(-np.exp(x)), lambda share: np.log(-np.log(share)), 1 / 0.8),
}
_LAPSE_PRIOR = dict(zip(_LAPSES, (0.36, 0.26, 0.18, 0.11, 0.06, 0.03), strict=True))
_NO_GUESSES = {0.0: 1.0}


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
        """Return the trials, each counted with a weight."""
        return replace(self, solved=self.solved * weight, trials=self.trials * weight)


def monotone_bounds(trials: Trials, share: float, confidence: float) -> tuple[float, float]:
    """Return the difficulties between which any falling success rate passes a share, with a confidence.

    For each gap between neighbouring difficulties, the best curve that falls below the share in this gap is compared
    with the best one of all by their likelihoods (isotonic regression; Banerjee and Wellner, "Likelihood ratio tests
    for monotone functions", Annals of Statistics 29, 2001). Bounds are the ends of the gaps that are not rejected.

    Args:
        trials: The trials.
        share: The share, between 0 and 1.
        confidence: Of the two bounds; each gap is tested with the chi-squared distribution of one degree of freedom.

    Returns:
        The last difficulty below the horizon and the first one above it; infinite where there is none.
    """
    above = _monotone_log_likelihoods(trials.solved, trials.trials, share)
    # From the hardest down, failures fall: the same task from the other side.
    below = _monotone_log_likelihoods((trials.trials - trials.solved)[::-1], trials.trials[::-1], 1 - share)[::-1]
    log_likelihoods = above + below  # of a horizon in each gap
    deviances = 2 * (log_likelihoods.max() - log_likelihoods)
    gaps = np.flatnonzero(deviances <= special.chdtri(1, 1 - confidence) + 1e-9)
    gap_ends = np.concatenate([[-np.inf], trials.at, [np.inf]])
    return float(gap_ends[gaps[0]]), float(gap_ends[gaps[-1] + 1])


def _monotone_log_likelihoods(solved: Array, trials: Array, least_rate: float) -> Array:
    """Return the greatest log-likelihoods of the first 0, 1, 2, ... counts, for rates that fall and stay above a least.

    This is the isotonic regression by pooling adjacent violators; rates that it puts below the least are the least.
    """
    pools: list[tuple[float, float, float]] = []  # solved, trials, log-likelihood up to here
    log_likelihoods = [0.0]
    for k, n in zip(solved.tolist(), trials.tolist(), strict=True):
        while pools and pools[-1][0] * n <= k * pools[-1][1]:  # the rate of the last pool is not above this one's
            k, n = k + pools[-1][0], n + pools[-1][1]
            pools.pop()
        rate = max(k / n, least_rate)
        log: float = (k * math.log(rate) if k else 0.0) + ((n - k) * math.log(1 - rate) if n > k else 0.0)
        pools.append((k, n, (pools[-1][2] if pools else 0.0) + log))
        log_likelihoods.append(pools[-1][2])
    return np.array(log_likelihoods, dtype=np.float64)


def is_good_fit(trials: Trials, rates: Array) -> bool:
    """Return whether trials agree with a fitted curve at 1 %: False for a plateau or a dip.

    Neighbouring difficulties with few trials are pooled. The deviance is compared with the chi-squared distribution.
    """
    pools = _pool_trials(trials.trials)
    if len(pools) < _FEWEST_POOLS:
        return True
    solved, counts, expected = (
        np.array([float(values[first:end].sum()) for first, end in pools], dtype=np.float64)
        for values in (trials.solved, trials.trials, trials.trials * rates)
    )
    deviance = 2 * float(
        (special.xlogy(solved, solved / np.clip(expected, 1e-12, None))).sum()
        + special.xlogy(counts - solved, (counts - solved) / np.clip(counts - expected, 1e-12, None)).sum()
    )
    return float(special.chdtrc(len(pools) - _PARAMETERS, max(deviance, 0.0))) >= _MISFIT


def _pool_trials(trials: Array) -> Sequence[tuple[int, int]]:
    """Return ranges (first, end) of neighbouring difficulties that have enough trials together."""
    pools: list[tuple[int, int]] = []
    first = 0
    for end in range(1, len(trials) + 1):
        if float(trials[first:end].sum()) >= _POOLED:
            pools.append((first, end))
            first = end
    if pools and first < len(trials):  # too few at the end belong to those before
        pools[-1] = pools[-1][0], len(trials)
    return pools


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePrior:
    """The prior assumptions about curves.

    Attributes:
        links: Names of the distributions whose upper tail a curve may be, each as probable as the others: "logistic",
            "normal" (probit) or "gumbel" (complementary log-log, the curve of who errs at a rate in each step).
        log: Whether difficulty counts in doublings (log2) rather than in its own unit.
        lapse: Shares of items that fail however easy they are, with their prior probabilities.
        guess: Shares of items that are solved however hard they are, with their prior probabilities.
        spread: Standard deviation of the prior of the slope's logarithm; the median is a curve that falls from 90 to
            10 % within a quarter of the tried range, or within one and a half doublings.
        guess_rates: Rates at which luck solves items, where they are known, each below 0.5 and none greater than that
            of an easier one: (difficulty, rate), rising in difficulty. Between these the rate is linear on the scale of
            the curve, and outside them it is that of the nearest one.
    """

    links: tuple[str, ...] = ("logistic", "gumbel")
    log: bool = True
    lapse: Mapping[float, float] | None = None
    guess: Mapping[float, float] | None = None
    spread: float = 1.0
    guess_rates: tuple[tuple[float, float], ...] = ()

    def with_guess_rates(self, rates: Mapping[float, float]) -> "CurvePrior":
        """Return the prior with known guess rates, by difficulty, in place of an estimated one.

        Raises:
            ValueError: If a rate is not between 0 and 0.5, or greater than that of an easier item.
        """
        by_difficulty = sorted(rates.items())
        falling = [0.5, *(rate for _, rate in by_difficulty), 0.0]
        if falling != sorted(falling, reverse=True) or 0.5 in falling[1:]:
            raise ValueError(f"guess rates {dict(by_difficulty)}: give rates from 0 to below 0.5 that never rise")
        return replace(self, guess=None, guess_rates=tuple(by_difficulty)) if rates else self

    def to_scale(self, x: Array) -> Array:
        """Return difficulties on the scale on which curves are symmetrical."""
        return np.asarray(np.log2(x) if self.log else x, dtype=np.float64)

    def from_scale(self, x: float) -> float:
        """Return the difficulty of a value on that scale."""
        return float(2**x) if self.log else float(x)


def _upper_tail(link: str, x: Array) -> Array:
    """Return the upper tail probability of a link's distribution at x."""
    tail, _, width = _LINKS[link]
    return np.asarray(tail(x / width), dtype=np.float64)


def _upper_tail_inverse(link: str, share: Array) -> Array:
    """Return the values at which a link's upper tail is a share."""
    _, inverse, width = _LINKS[link]
    return np.asarray(inverse(share), dtype=np.float64) * width


# Players of a fixed design may guess right at a rate that nobody declares: items that they solve at the hardest levels
# tell. Searches seldom go there, and assume that nothing is guessed.
FIXED_DESIGN = CurvePrior(guess={0.0: 0.8, 0.1: 0.1, 0.25: 0.1})


class Curves:
    """All curves of a shape over a range of difficulties, with their posterior probabilities.

    p(x) = guess + (1 - guess - lapse) * tail(slope * (x - middle)), as in Wichmann and Hill, "The psychometric function
    I", Perception & Psychophysics 63, 2001; the posterior is summed over a grid of curves, as in Kontsevich and Tyler,
    "Bayesian adaptive estimation of psychometric slope and threshold", Vision Research 39, 1999.
    """

    def __init__(self, shape: CurvePrior, lowest: float, highest: float) -> None:
        """Lay out the grid.

        Args:
            shape: The prior assumptions about curves.
            lowest: The least difficulty that can be tried, above 0 if the shape counts in doublings.
            highest: The greatest one.
        """
        self.shape, self.lowest, self.highest = shape, lowest, highest
        low, high = (float(end) for end in shape.to_scale(np.array([lowest, highest])))
        width = max(high - low, _LEAST_WIDTH if shape.log else 1e-9)
        middles = np.linspace(low - _BEYOND * width, high + _BEYOND * width, _MIDDLES)
        fall = 1.5 if shape.log else width / 4  # from 90 to 10 %, of the usual curve
        log_steepness = np.linspace(-_STEEPEST, _STEEPEST, _SLOPES)
        # The two ends of a curve: the shares that are solved however hard, and not solved however easy items are.
        curve_ends = [
            (guess, lapse, guess_probability * lapse_probability)
            for guess, guess_probability in (shape.guess or _NO_GUESSES).items()
            for lapse, lapse_probability in (_LAPSE_PRIOR if shape.lapse is None else shape.lapse).items()
        ]
        guesses, lapses, probabilities = (
            np.array(values, dtype=np.float64) for values in zip(*curve_ends, strict=True)
        )
        sizes = len(middles), len(log_steepness), len(curve_ends), len(shape.links)
        # The grid has every combination; these are each curve's indices of middle, steepness, ends and link.
        middle_index, steepness_index, ends_index, self._link = np.indices(sizes).reshape(len(sizes), -1)
        steepness: Array = log_steepness[steepness_index]
        usual_slopes = np.array(
            [2 * float(_upper_tail_inverse(name, np.array([0.1]))[0]) / fall for name in shape.links], dtype=np.float64
        )
        self.middle: Array = middles[middle_index]
        self.slope: Array = usual_slopes[self._link] * np.exp(steepness)
        self.guess: Array = guesses[ends_index]
        self.lapse: Array = lapses[ends_index]
        log_probability: Array = np.log(probabilities)[ends_index]
        standardised_middle: Array = (self.middle - (low + high) / 2) / (1.5 * width)
        self._log_prior: Array = log_probability - (standardised_middle**2 + (steepness / shape.spread) ** 2) / 2
        # Sums weights by link over curves that differ in ends and link: these lie beside each other.
        spans = np.asarray(1 - guesses - lapses, dtype=np.float64)
        self._spans: Array = np.kron(spans[:, None], np.eye(len(shape.links))).astype(np.float64)
        # Curves that differ in their ends alone have the same tail: a row in the table of tails.
        self._is_first_of_tail: NDArray[np.bool_] = ends_index == 0
        row = np.ravel_multi_index((middle_index, steepness_index, self._link), (sizes[0], sizes[1], sizes[3]))
        self._tail_row: NDArray[np.intp] = np.asarray(row, dtype=np.intp)
        # Caches: searches ask for the same difficulties and the same share many times.
        self._logs_cache: dict[float, tuple[Array, Array]] = {}
        self._tails: tuple[bytes, Array] = b"", np.empty(0)
        self._likelihood: tuple[Trials | None, Array] = None, np.empty(0)
        self._cells: tuple[bytes, NDArray[np.int16]] = b"", np.empty(0, dtype=np.int16)
        self._horizons_cache: dict[float, Array] = {}

    def clear_caches(self) -> None:
        """Free the memory of results that are cached for further trials."""
        self._logs_cache.clear()
        self._likelihood, self._cells = (None, np.empty(0)), (b"", np.empty(0, dtype=np.int16))

    def rates(self, at: Array, selection: NDArray[np.bool_] | Indices | None = None) -> Array:
        """Return the success rates of curves (rows) at some difficulties (columns).

        Args:
            at: The difficulties.
            selection: The curves, by a mask or by their indices; all if None.
        """
        tails = self._tails_at(at)[self._tail_row if selection is None else self._tail_row[selection]]
        guess, lapse = (ends if selection is None else ends[selection] for ends in (self.guess, self.lapse))
        rates = guess[:, None] + (1 - guess - lapse)[:, None] * tails
        if not self.shape.guess_rates:
            return rates
        luck = self._guess_rates_at(self.shape.to_scale(at))
        return luck + (1 - luck) * rates

    def _guess_rates_at(self, x: Array) -> Array:
        """Return the known guess rates at values on the prior's scale."""
        at, rates = zip(*self.shape.guess_rates, strict=True)
        return np.interp(x, self.shape.to_scale(np.array(at)), rates)

    def rate_cells(self, at: Array) -> NDArray[np.int16]:
        """Return the success rates of all curves (columns) at some difficulties (rows), in whole thousandths.

        The last result is cached: players of a fixed design have the same difficulties.
        """
        key = at.tobytes()
        if self._cells[0] != key:
            tails, span = self._tails_at(at), 1 - self.guess - self.lapse
            cells = np.empty((len(at), len(self.guess)), dtype=np.int16)
            luck = self._guess_rates_at(self.shape.to_scale(at)) if self.shape.guess_rates else np.zeros(len(at))
            for number, tails_there in enumerate(tails.T.copy()):
                rates = luck[number] + (1 - luck[number]) * (self.guess + span * tails_there[self._tail_row])
                cells[number] = np.minimum(rates * CELLS, CELLS - 1)
            self._cells = key, cells
        return self._cells[1]

    def _tails_at(self, at: Array) -> Array:
        """Return each different upper tail (rows) at some difficulties (columns); the last result is cached."""
        key = at.tobytes()
        if self._tails[0] != key:
            selected = self._is_first_of_tail
            x = self.slope[selected, None] * (self.shape.to_scale(at)[None] - self.middle[selected, None])
            self._tails = key, self._upper_tails(x, self._link[selected])
        return self._tails[1]

    def _upper_tails(self, x: Array, link_numbers: Indices) -> Array:
        """Return the upper tails of links, each at its own values (a number or a row); `x` is overwritten."""
        for number, link in enumerate(self.shape.links):
            is_of_link = link_numbers == number
            x[is_of_link] = _upper_tail(link, x[is_of_link])
        return x

    def weighted_rate_sums(self, at: Array, weights: Array) -> Array:
        """Return weighted sums of all curves' success rates at some difficulties (columns); a row for each weighting.

        It is `weights @ rates(at)`, in a fraction of the time: curves that differ in their ends alone are added up
        first, for they have the same tail.

        Args:
            at: The difficulties.
            weights: Of each curve (columns), any number of weights (rows).
        """
        tails = self._tails_at(at)
        tail_weights = weights.reshape(-1, len(self._spans)) @ self._spans
        sums = (weights @ self.guess)[:, None] + tail_weights.reshape(-1, len(tails)) @ tails
        if not self.shape.guess_rates:
            return sums
        luck = self._guess_rates_at(self.shape.to_scale(at))
        return luck * weights.sum(axis=1)[:, None] + (1 - luck) * sums

    def posterior(self, log_likelihood: Array) -> Array:
        """Return the posterior probability of each curve from its log-likelihood; they sum to 1."""
        log = self._log_prior + log_likelihood
        weights = np.exp(log - log.max())
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    def log_likelihood(self, trials_done: Trials) -> Array:
        """Return the log-likelihood of each curve; the result for the last trials is cached."""
        if self._likelihood[0] is not trials_done:
            log = np.zeros_like(self._log_prior)
            counts = (trials_done.at.tolist(), trials_done.solved.tolist(), trials_done.trials.tolist())
            for at, solved, trials in zip(*counts, strict=True):
                log_success, log_failure = self.log_rates(at)
                log += log_success * solved + log_failure * (trials - solved)
            self._likelihood = trials_done, log
        return self._likelihood[1]

    def log_rates(self, at: float) -> tuple[Array, Array]:
        """Return the logarithms of each curve's rates of success and of failure at a difficulty."""
        if at not in self._logs_cache:
            rates = np.clip(self.rates(np.array([at]))[:, 0], 1e-9, 1 - 1e-9)
            self._logs_cache[at] = np.log(rates), np.log1p(-rates)
        return self._logs_cache[at]

    def horizons(self, share: float) -> Array:
        """Return where each curve falls below a share, on the prior's scale; -inf if it is below it everywhere."""
        if share not in self._horizons_cache:
            horizons = self._horizons_with_luck(share) if self.shape.guess_rates else self._horizons_without_luck(share)
            horizons.flags.writeable = False  # every later call returns the same array
            self._horizons_cache[share] = horizons
        return self._horizons_cache[share]

    def _horizons_without_luck(self, share: float) -> Array:
        """Return each curve's horizon without known guess rates; -inf if it is below the share everywhere."""
        tails = (share - self.guess) / (1 - self.guess - self.lapse)  # at the horizons
        horizons = np.full(tails.shape, -np.inf)
        for number, link in enumerate(self.shape.links):
            is_reached = (self._link == number) & (tails < 1 - _EQUAL) & (tails > 0)
            distances = _upper_tail_inverse(link, tails[is_reached]) / self.slope[is_reached]
            horizons[is_reached] = self.middle[is_reached] + distances
        return horizons

    def _horizons_with_luck(self, share: float) -> Array:
        """Return each curve's horizon with the known guess rates, by bisection: curves and rates both fall."""
        (easiest, greatest_luck), (hardest, least_luck) = self.shape.guess_rates[0], self.shape.guess_rates[-1]
        first, last = (float(end) for end in self.shape.to_scale(np.array([easiest, hardest])))
        # Outside the known difficulties luck is constant, so that the horizon there is that of another share.
        before_first = self._horizons_without_luck((share - greatest_luck) / (1 - greatest_luck))
        after_last = self._horizons_without_luck((share - least_luck) / (1 - least_luck))
        reached = np.flatnonzero(np.isfinite(before_first))
        low, high = np.minimum(before_first, first)[reached], np.maximum(after_last, last)[reached]
        spans = 1 - self.guess - self.lapse
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            x = self.slope[reached] * (middle - self.middle[reached])
            rates = self.guess[reached] + spans[reached] * self._upper_tails(x, self._link[reached])
            luck = self._guess_rates_at(middle)
            is_above = luck + (1 - luck) * rates > share
            low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
        horizons = np.full(before_first.shape, -np.inf)
        horizons[reached] = (low + high) / 2
        return horizons


def quantiles(values: Array, weights: Array, shares: Sequence[float]) -> list[float]:
    """Return the quantiles of a distribution on a grid of values, linear between them; values may be -inf."""
    relevant = weights > NO_WEIGHT * weights.max()
    values, weights = values[relevant], weights[relevant]
    order = np.argsort(values)
    values, weights = values[order], weights[order]
    cumulative = np.cumsum(weights) - weights / 2
    is_finite = np.isfinite(values)
    if not is_finite.any():
        return [-np.inf for _ in shares]
    interpolated = np.interp(shares, cumulative[is_finite], values[is_finite])
    infinite_weight = float(weights[~is_finite].sum())  # of curves that are nowhere above the share
    return [
        -np.inf if share < infinite_weight else float(value) for share, value in zip(shares, interpolated, strict=True)
    ]
