"""One ability of models over several families of items: item response theory with a general and a family part.

The log odds that model m solves item i of family f are `ability(m, f) + covariates(i) - difficulty(i)`. Difficulties
are normal, with a standard deviation for each family; they are integrated out by quadrature (Bock and Aitkin,
Psychometrika 46, 1981). Abilities are `easiness(f) + slope(f) * (general(m) + deviation(m, f))`, normal with variance 1
for the general ability, which sets the scale, and one variance for all deviations. Abilities have Laplace's
approximation; slopes and variances are fitted by its evidence with weak priors, and their uncertainty is kept.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from waybench._late import LazyModule
from waybench.results.stats._curves import Array

if TYPE_CHECKING:
    from scipy import optimize
else:
    optimize = LazyModule("scipy.optimize")

PROFILE_CONFIDENCE = 0.9
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_LOG_WEIGHTS = np.log(_WEIGHTS / _WEIGHTS.sum())
_EASINESS, _COVARIATE = 2.5, 1.5  # standard deviations of normal priors, in log odds
_SLOPE, _SLOPES, _DEVIATION = 1.0, 0.4, 0.7  # of normal priors of logarithms: mean slope, slopes, deviations
_DEVIATION_MEDIAN = 0.7
_ITEM_COUNT = 4.0  # prior weight, in items, of items' difficulties that have a standard deviation of 1
_ROUNDS, _STEPS, _CLOSE = 12, 30, 1e-4
_DRAWS, _DRAWS_EACH = 40, 25  # of slopes and variances, and of abilities for each of these
_TAILS = 8  # degrees of freedom of abilities where there is no result: deviations are not quite normal
_LARGEST = 12.0  # log odds
_LEAST_DISPERSION = 0.05
_STEP = 0.05  # of the differences that curvatures come from


class FamilyResults(NamedTuple):
    """The results of all models at the items of a family.

    Attributes:
        shares: Of each item and each model, the result from 0 to 1; NaN where the model was not run on the item.
        covariates: Of each item, what its difficulty may depend on, standardised; a row for each item.
        weights: The weight of each item in the family's score; they sum to 1.
    """

    shares: Array
    covariates: Array
    weights: Array


class Interval(NamedTuple):
    """An estimate with its 90 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """Models' abilities.

    Attributes:
        general: The general ability of each model: 0 is an average model, 1 one standard deviation above.
        deviations: Of each model and family, how much better the model is there than its general ability says, in the
            same unit.
        scores: Of each model and family, the score from 0 to 1 that a run on the family's items is expected to have,
            with the interval of that run's score: it includes the chance of a run of so many items.
        weak_scores: The same for families where the model has no result, if its ability there is one standard deviation
            of deviations below what its general ability says; None where it has results.
        shared: Share of the variance of abilities within a family that is due to the general ability.
    """

    general: tuple[Interval, ...]
    deviations: tuple[tuple[Interval, ...], ...]
    scores: tuple[tuple[Interval, ...], ...]
    weak_scores: tuple[tuple[Interval | None, ...], ...]
    shared: Interval


def joint_abilities(families: Sequence[FamilyResults]) -> Abilities:
    """Return the abilities of models from the joint model, fitted on their results in all families.

    Args:
        families: The results, with the same models in the same order. Each family has at least one result.
    """
    return _Model(families).abilities(np.random.default_rng(0))


class _Likelihood(NamedTuple):
    """Log likelihood of a family, its slope and curvature, and the posterior weights of each item's nodes."""

    value: float
    slope: Array
    curvature: Array
    nodes: Array


class _Model:
    """The joint model of some results.

    Its vector of unknowns has, in this order, the abilities (family by family), the covariates' coefficients (family by
    family), the general abilities, and the families' easiness.
    """

    def __init__(self, families: Sequence[FamilyResults]) -> None:
        self._families = families
        self._models, self._count = families[0].shares.shape[1], len(families)
        ends = np.cumsum([0, *(family.covariates.shape[1] for family in families)]) + self._models * self._count
        self._coefficients = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        self._general = slice(int(ends[-1]), int(ends[-1]) + self._models)
        self._easiness = slice(self._general.stop, self._general.stop + self._count)
        self._size = self._easiness.stop
        self._spreads = np.ones(self._count)
        self._blocks = [
            np.r_[
                np.arange(self._family_slice(number).start, self._family_slice(number).stop), self._coefficients[number]
            ]
            for number in range(self._count)
        ]

    def _family_slice(self, family: int) -> slice:
        """Return the slice of the unknowns that holds the models' abilities in a family."""
        return slice(family * self._models, (family + 1) * self._models)

    def _prior_covariance(self, hyper: Array) -> Array:
        """Return the prior covariance of the unknowns, given the logarithms of slopes and variances."""
        slopes, deviation = self._slopes_and_deviation(hyper)
        covariance = np.zeros((self._size, self._size))
        same_model = np.eye(self._models)
        for first, second in product(range(self._count), repeat=2):
            shared = slopes[first] * slopes[second] * (1 + deviation**2 * (first == second))
            covariance[self._family_slice(first), self._family_slice(second)] = shared * same_model + _EASINESS**2 * (
                first == second
            )
        for number in range(self._count):
            covariance[self._general, self._family_slice(number)] = slopes[number] * same_model
            covariance[self._family_slice(number), self._general] = slopes[number] * same_model
            covariance[self._easiness.start + number, self._family_slice(number)] = _EASINESS**2
            covariance[self._family_slice(number), self._easiness.start + number] = _EASINESS**2
        covariance[self._general, self._general] = same_model
        covariance[self._easiness, self._easiness] = _EASINESS**2 * np.eye(self._count)
        for coefficients in self._coefficients:
            covariance[coefficients, coefficients] = _COVARIATE**2 * np.eye(coefficients.stop - coefficients.start)
        return covariance

    def _slopes_and_deviation(self, hyper: Array) -> tuple[Array, float]:
        """Return the slopes and the standard deviation of deviations from their logarithms."""
        return np.exp(hyper[0] + hyper[2:]), _DEVIATION_MEDIAN * float(np.exp(hyper[1]))

    def _hyper_penalty(self, hyper: Array) -> float:
        """Return the negative log prior of slopes and variances, but for a constant."""
        spreads = np.array([_SLOPE, _DEVIATION, *[_SLOPES] * self._count])
        return float(np.square(hyper / spreads).sum()) / 2

    def _family_likelihood(self, family_number: int, unknowns: Array) -> _Likelihood:
        """Return the likelihood of one family's results, given the unknowns."""
        family, spread = self._families[family_number], self._spreads[family_number]
        abilities, design = unknowns[self._family_slice(family_number)], family.covariates
        odds = abilities + (design @ unknowns[self._coefficients[family_number]])[:, None]
        at_nodes = np.clip(odds[:, :, None] - spread * _NODES, -500, 500)
        observed = ~np.isnan(family.shares)[:, :, None]
        shares = np.nan_to_num(family.shares)[:, :, None]
        rates = 1 / (1 + np.exp(-at_nodes))
        logs = np.where(observed, shares * at_nodes - np.logaddexp(0, at_nodes), 0).sum(axis=1) + _LOG_WEIGHTS
        values = np.logaddexp.reduce(logs, axis=1)
        nodes = np.exp(logs - values[:, None])
        off = np.where(observed, shares - rates, 0)
        slopes = np.einsum("iq,imq->im", nodes, off)
        spreads = np.einsum("iq,imq->im", nodes, np.where(observed, rates * (1 - rates), 0))
        # Of the curvature of an item, (models, models): its sum over items, and its row sums for each item.
        sums = np.einsum("iq,iq,imq->im", nodes, off.sum(axis=1), off) - slopes * slopes.sum(axis=1)[:, None] - spreads
        inner = np.einsum("iq,imq,inq->mn", nodes, off, off) - slopes.T @ slopes - np.diag(spreads.sum(axis=0))
        cross = sums.T @ design
        outer = design.T @ (design * sums.sum(axis=1)[:, None])
        curvature = -np.block([[inner, cross], [cross.T, outer]])
        return _Likelihood(
            float(values.sum()),
            np.r_[slopes.sum(axis=0), design.T @ slopes.sum(axis=1)],
            _nearest_positive_semidefinite(curvature),
            nodes,
        )

    def _posterior_mode(self, unknowns: Array, prior: Array) -> tuple[Array, Array, Array]:
        """Return the posterior mode of the unknowns, and the likelihood's precision and shift there."""
        precision, shift = np.zeros((self._size, self._size)), np.zeros(self._size)
        value = -np.inf
        before, step, size = unknowns, np.zeros(self._size), 1.0
        for _ in range(_STEPS):
            likelihoods = [self._family_likelihood(number, unknowns) for number in range(self._count)]
            now = (
                sum(likelihood.value for likelihood in likelihoods)
                - float(unknowns @ self._solve_prior(prior, unknowns)) / 2
            )
            if now < value - _CLOSE and size > 0.02:
                size /= 2
                unknowns = before + size * step
                continue
            value, size = now, 1.0
            slope = np.zeros(self._size)
            for block, likelihood in zip(self._blocks, likelihoods, strict=True):
                precision[np.ix_(block, block)] = likelihood.curvature
                slope[block] = likelihood.slope
            shift = precision @ unknowns + slope
            step = np.linalg.solve(np.eye(self._size) + prior @ precision, prior @ shift) - unknowns
            before, unknowns = unknowns, unknowns + step
            if float(np.abs(step).max()) < _CLOSE:
                break
        return before, precision, shift

    def _solve_prior(self, prior: Array, unknowns: Array) -> Array:
        """Return the inverse of the prior covariance times the unknowns."""
        return np.asarray(np.linalg.solve(prior + 1e-9 * np.eye(self._size), unknowns), dtype=np.float64)

    def _negative_log_evidence(self, hyper: Array, precision: Array, shift: Array) -> float:
        """Return the negative log evidence, but for a constant, with the likelihood taken as normal."""
        prior = self._prior_covariance(hyper)
        both = np.eye(self._size) + prior @ precision
        sign, size = np.linalg.slogdet(both)
        if sign <= 0:
            return 1e12
        return float(size - shift @ np.linalg.solve(both, prior @ shift)) / 2 + self._hyper_penalty(hyper)

    def _fit_modes(self) -> tuple[Array, Array, Array, Array]:
        """Return the modes of slopes and variances and of the unknowns, and the likelihood's precision and shift."""
        hyper, unknowns = np.zeros(2 + self._count), np.zeros(self._size)
        precision, shift = np.zeros((self._size, self._size)), np.zeros(self._size)
        bounds = [(-4.0, 4.0), (-3.0, 3.0), *[(-2.0, 2.0)] * self._count]
        for _ in range(_ROUNDS):
            unknowns, precision, shift = self._posterior_mode(unknowns, self._prior_covariance(hyper))
            for number, family in enumerate(self._families):
                nodes = self._family_likelihood(number, unknowns).nodes
                squares = self._spreads[number] ** 2 * float((nodes @ np.square(_NODES)).sum())
                self._spreads[number] = np.sqrt((squares + _ITEM_COUNT) / (len(family.shares) + _ITEM_COUNT))
            optimum = optimize.minimize(
                self._negative_log_evidence,
                hyper,
                (precision, shift),
                method="L-BFGS-B",
                bounds=bounds,
                options={"maxiter": 6},
            )
            moved, hyper = float(np.abs(optimum.x - hyper).max()), np.asarray(optimum.x, dtype=np.float64)
            if moved < 0.01:
                break
        unknowns, precision, shift = self._posterior_mode(unknowns, self._prior_covariance(hyper))
        return hyper, unknowns, precision, shift

    def abilities(self, rng: np.random.Generator) -> Abilities:
        """Return the abilities with their intervals, from draws of the posterior."""
        hyper, mode, precision, shift = self._fit_modes()
        covariance = _inverse_with_floor(_hessian(lambda at: self._negative_log_evidence(at, precision, shift), hyper))
        hypers = rng.multivariate_normal(hyper, covariance, _DRAWS, method="eigh")
        hypers[:, 0] = np.clip(hypers[:, 0], -4, 4)
        hypers[:, 1] = np.clip(hypers[:, 1], -3, 3)
        drawn: list[Array] = []
        deviations: list[Array] = []
        residuals: list[Array] = []  # standard deviations of families' abilities around the general one, in log odds
        for draw in hypers:
            prior, (slopes, deviation) = self._prior_covariance(draw), self._slopes_and_deviation(draw)
            spread = np.linalg.solve(np.eye(self._size) + prior @ precision, prior)
            spread = (spread + spread.T) / 2
            sample = rng.multivariate_normal(spread @ shift, spread, _DRAWS_EACH, method="eigh")
            drawn.append(sample)
            abilities = sample[:, : self._models * self._count].reshape(-1, self._count, self._models)
            standard = (abilities - sample[:, self._easiness][:, :, None]) / slopes[:, None]
            deviations.append(standard - sample[:, self._general][:, None, :])
            residuals.append(np.tile(slopes * deviation, (_DRAWS_EACH, 1)))
        draws, offs, errors = np.concatenate(drawn), np.concatenate(deviations), np.concatenate(residuals)
        shared = 1 / (1 + np.square(_DEVIATION_MEDIAN * np.exp(hypers[:, 1])))
        scores = [self._score_intervals(number, mode, draws, rng) for number in range(self._count)]
        weak = [self._weak_scores(number, mode, draws, errors[:, number]) for number in range(self._count)]
        return Abilities(
            general=tuple(_interval_of_draws(draws[:, self._general.start + model]) for model in range(self._models)),
            deviations=tuple(
                tuple(_interval_of_draws(offs[:, number, model]) for number in range(self._count))
                for model in range(self._models)
            ),
            scores=tuple(
                tuple(scores[number][model] for number in range(self._count)) for model in range(self._models)
            ),
            weak_scores=tuple(
                tuple(weak[number][model] for number in range(self._count)) for model in range(self._models)
            ),
            shared=_interval_of_draws(shared),
        )

    def _score_intervals(
        self, family_number: int, mode: Array, draws: Array, rng: np.random.Generator
    ) -> list[Interval]:
        """Return each model's expected score in a family, with the predictive interval of a run's score."""
        family, coefficients = self._families[family_number], self._coefficients[family_number]
        nodes = self._family_likelihood(family_number, mode).nodes
        grid = np.linspace(-_LARGEST, _LARGEST, 241)
        base = family.covariates @ mode[coefficients]
        odds = base[:, None] - self._spreads[family_number] * _NODES
        rates = np.array([(nodes / (1 + np.exp(-(odds + at)))).sum(axis=1) for at in grid])
        means = rates @ family.weights
        errors = np.sqrt(
            (rates * (1 - rates)) @ np.square(family.weights) * self._dispersion(family_number, mode, nodes)
        )
        # Coefficients are less certain than they are taken for: they move all items together, as an ability does.
        moved = (draws[:, coefficients] - mode[coefficients]) @ (family.weights @ family.covariates)
        intervals: list[Interval] = []
        for model in range(self._models):
            at = draws[:, self._family_slice(family_number).start + model]
            if np.isnan(family.shares[:, model]).all():
                at = at.mean() + (at - at.mean()) * np.sqrt(_TAILS / rng.chisquare(_TAILS, len(at)))
            at = at + moved
            expected = np.interp(at, grid, means)
            runs = np.clip(expected + np.interp(at, grid, errors) * rng.standard_normal(len(at)), 0, 1)
            intervals.append(_interval_of_draws(runs)._replace(value=float(expected.mean())))
        return intervals

    def _weak_scores(self, family_number: int, mode: Array, draws: Array, residuals: Array) -> list[Interval | None]:
        """Return the scores of models without results in a family, for abilities one standard deviation lower."""
        lower = draws.copy()
        lower[:, self._family_slice(family_number)] -= residuals[:, None]
        is_missing: Any = np.isnan(self._families[family_number].shares).all(axis=0)  # of one model for each column
        unknown: list[bool] = is_missing.tolist()
        if not any(unknown):
            return [None] * len(unknown)
        scores = self._score_intervals(family_number, mode, lower, np.random.default_rng(family_number))
        return [score if is_unknown else None for score, is_unknown in zip(scores, unknown, strict=True)]

    def _dispersion(self, family_number: int, mode: Array, nodes: Array) -> float:
        """Return the variance of results divided by that of results of 0 and 1; graded ones vary less."""
        family = self._families[family_number]
        base = (
            mode[self._family_slice(family_number)]
            + (family.covariates @ mode[self._coefficients[family_number]])[:, None]
        )
        rates = 1 / (1 + np.exp(-(base[:, :, None] - self._spreads[family_number] * _NODES)))
        expected = np.einsum("iq,imq->im", nodes, rates)
        most = float(np.nansum(np.where(np.isnan(family.shares), np.nan, expected * (1 - expected))))
        observed = float(np.nansum(np.square(family.shares - expected))) / max(most, 1e-9)
        return min(1.0, max(_LEAST_DISPERSION, observed))


def _nearest_positive_semidefinite(matrix: Array) -> Array:
    """Return the nearest matrix without negative eigenvalues."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def _inverse_with_floor(curvature: Array) -> Array:
    """Return the inverse of a matrix whose eigenvalues below 0.5 are raised to it."""
    values, vectors = np.linalg.eigh(curvature)
    return (vectors / np.maximum(values, 0.5)) @ vectors.T


def _hessian(function: Callable[[Array], float], point: Array) -> Array:
    """Return the second derivatives of a function at a point, by central differences."""
    size = len(point)
    shifts, hessian = np.eye(size) * _STEP, np.zeros((size, size))
    middle = function(point)
    for i in range(size):
        hessian[i, i] = (function(point + shifts[i]) + function(point - shifts[i]) - 2 * middle) / _STEP**2
        for j in range(i):
            ends = [function(point + a * shifts[i] + b * shifts[j]) for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
            hessian[i, j] = hessian[j, i] = (ends[0] - ends[1] - ends[2] + ends[3]) / (4 * _STEP**2)
    return hessian


def _interval_of_draws(draws: Array) -> Interval:
    """Return the mean of draws with its 90 % interval."""
    low, high = np.quantile(draws, [(1 - PROFILE_CONFIDENCE) / 2, (1 + PROFILE_CONFIDENCE) / 2])
    return Interval(float(draws.mean()), float(low), float(high))
