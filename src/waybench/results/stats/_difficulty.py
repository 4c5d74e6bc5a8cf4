"""A difficulty index of items: the level, corrected by what else is known of an item.

Items of one level are not equally hard, so that success falls with the level less steeply than with an item's own
difficulty. The index estimates the latter from explanatory variables of the item.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from waybench.results.stats._curves import Array
from waybench.results.stats._intervals import CONFIDENCE, t_quantile

FEWEST_CLUSTERS = 20  # below which an index of several variables says nothing
FEWEST_OF_A_KIND = 10  # results that are solved, and that are not
_FOLDS = 5
_GROUPS = 10  # of clusters, of which the jackknife leaves one out at a time
_PLAYER_SPREAD = 5.0  # standard deviations of the normal priors, in log odds: of players,
_LEVEL_SPREAD = 5.0  # of the change with a doubling of the level,
_VARIABLE_SPREAD = 0.5  # and of that with a standard deviation of another variable
_LEAST_SLOPE = 0.05  # in log odds for each doubling: success that falls less does not fall with the level
_STEPS = 50
_CLOSE = 1e-8


@dataclass(frozen=True, slots=True)
class DifficultyIndex:
    """The difficulty of an item in doublings of the level, log2(level) plus a weighted sum of its other variables.

    Each variable counts as log2(1 + x), less what it is expected to be at the item's level. So items of one level have
    the level itself as their mean index.

    Attributes:
        starts: Of each variable, the expected value at level 1.
        rises: By how much it is expected to rise with each doubling of the level.
        weights: How many doublings of the level one unit more than that is worth.
    """

    starts: Array
    rises: Array
    weights: Array

    def evaluate(self, levels: Array, variables: Array) -> Array:
        """Return the difficulty indices of items.

        Args:
            levels: Their levels, above 0.
            variables: Their variables, a row for each item; NaN where one is unknown, which counts as expected.
        """
        doublings = np.log2(levels)
        return doublings + self.residuals(doublings, np.log2(1 + variables)) @ self.weights

    def residuals(self, doublings: Array, variables: Array) -> Array:
        """Return log2(1 + x) of variables less their expected values at the levels' log2; 0 where one is unknown."""
        return np.nan_to_num(variables - self.starts - np.outer(doublings, self.rises))


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexGain:
    """What a difficulty index explains beyond the level.

    Both slopes come from the same logistic regression of success, with an intercept for each player: one on the log2 of
    the level, the other on the index. The index of an item is that of the items of other clusters (five-fold
    cross-fitting), so that an index that explains nothing has a ratio of 1 or less.

    Attributes:
        index: The index, fitted on all items.
        marginal: By how much the log odds of success fall with each doubling of the level.
        conditional: By how much they fall with each unit of the index, which is a doubling, too.
        ratio: `conditional / marginal`. An item at the best place has this squared times the information about where a
            player's success falls.
        low: Lower end of its 95 % confidence interval, from a jackknife over ten groups of clusters.
        marginal_loss: Mean log loss of the regression on the level, in bits.
        conditional_loss: That of the regression on the index.
        attempts: Number of results: pairs of a player and an item.
        players: Number of players who solved some items and not all; the others show nothing.
        clusters: Number of independent clusters of items.
    """

    index: DifficultyIndex
    marginal: float
    conditional: float
    ratio: float
    low: float
    high: float
    marginal_loss: float
    conditional_loss: float
    attempts: int
    players: int
    clusters: int


@dataclass(frozen=True, slots=True)
class _Results:
    """Results of players at items.

    Attributes:
        solved: Share of attempts that solved the item.
        players: A column for each player, 1 where the result is its.
        doublings: Log2 of the level.
        variables: Log2 of 1 + each variable; NaN where unknown.
        clusters: The cluster's number.
    """

    solved: Array
    players: Array
    doublings: Array
    variables: Array
    clusters: Array

    def selected(self, mask: npt.NDArray[np.bool_]) -> "_Results":
        """Return the results at which a mask is True."""
        return _Results(
            self.solved[mask],
            self.players[mask],
            self.doublings[mask],
            self.variables[mask],
            self.clusters[mask],
        )


def index_gain(
    solved: Sequence[float],
    players: Sequence[int],
    levels: Sequence[float],
    variables: Array,
    clusters: Sequence[int],
) -> IndexGain | str:
    """Return a difficulty index and what it explains beyond the level, or why there is none.

    Args:
        solved: Of each result, the share of attempts that solved the item, from 0 to 1.
        players: The player's number.
        levels: The item's level, above 0.
        variables: The item's other variables, 0 or more, a row for each result; NaN where one is unknown.
        clusters: The number of the cluster that the item was drawn with; the same for all players. Clusters are
            assigned to folds in this order.
    """
    player_of_result = np.asarray(players)
    shares = np.asarray(solved, dtype=np.float64)
    # Players who solved all items or none show nothing.
    mixed = [player for player in np.unique(player_of_result) if 0 < shares[player_of_result == player].mean() < 1]
    if not mixed:
        return "every player solved all items or none"
    is_used = np.isin(player_of_result, mixed)
    logs = np.log2(1 + variables[is_used])
    varying = [column for column in range(logs.shape[1]) if _varies(logs[:, column])]
    results = _Results(
        shares[is_used],
        (player_of_result[is_used][:, None] == np.array(mixed)).astype(np.float64),
        np.log2(np.asarray(levels, dtype=np.float64)[is_used]),
        logs[:, varying],
        np.unique(np.asarray(clusters)[is_used], return_inverse=True)[1].astype(np.float64),
    )
    n_clusters = int(results.clusters.max()) + 1
    if n_clusters < FEWEST_CLUSTERS:
        return f"fewer than {FEWEST_CLUSTERS}"
    if min(results.solved.sum(), len(results.solved) - results.solved.sum()) < FEWEST_OF_A_KIND:
        return f"fewer than {FEWEST_OF_A_KIND} results are solved, or not solved"
    if np.ptp(results.doublings) == 0:
        return "the level is the same for all"
    if not results.variables.shape[1]:
        return "no variable differs"
    slopes = _marginal_and_conditional_slopes(results)
    index = _fit_index(results)
    if slopes is None or index is None:
        return "success does not fall with the level"
    ratios: list[float] = []  # without one group of clusters each
    for group in range(_GROUPS):
        slopes_without_group = _marginal_and_conditional_slopes(results.selected(results.clusters % _GROUPS != group))
        if slopes_without_group is None:
            return "success does not fall with the level in each part of the items"
        ratios.append(slopes_without_group[1] / slopes_without_group[0])
    log_ratios = np.log(ratios)
    error = float(np.sqrt((_GROUPS - 1) / _GROUPS * np.square(log_ratios - log_ratios.mean()).sum()))
    marginal, conditional, marginal_loss, conditional_loss = slopes
    reach = np.exp(t_quantile((1 - CONFIDENCE) / 2, (_GROUPS - 1)) * error)
    ratio = conditional / marginal
    index_of_all = np.zeros((3, variables.shape[1]))  # variables that do not vary have the weight 0
    index_of_all[:, varying] = index.starts, index.rises, index.weights
    return IndexGain(
        index=DifficultyIndex(*index_of_all),
        marginal=marginal,
        conditional=conditional,
        ratio=ratio,
        low=float(ratio / reach),
        high=float(ratio * reach),
        marginal_loss=marginal_loss,
        conditional_loss=conditional_loss,
        attempts=len(results.solved),
        players=len(mixed),
        clusters=n_clusters,
    )


def _varies(column: Array) -> bool:
    """Return whether the known values of a column are not all equal."""
    values = column[~np.isnan(column)]
    return bool(len(values)) and float(np.ptp(values)) > 0


def _fit_index(results: _Results) -> DifficultyIndex | None:
    """Return an index fitted on all results; None if success does not fall with the level."""
    lines = [_least_squares_line(results.doublings, variable) for variable in results.variables.T]
    starts, rises = (np.array(numbers) for numbers in zip(*lines, strict=True))
    index = DifficultyIndex(starts, rises, np.zeros(len(starts)))
    residuals = index.residuals(results.doublings, results.variables)
    spreads = np.maximum(residuals.std(axis=0), 1e-9)
    # Columns of the regression: players, the level, the variables.
    design = np.column_stack([results.players, results.doublings - results.doublings.mean(), residuals / spreads])
    n_players = results.players.shape[1]
    prior = [*[_PLAYER_SPREAD] * n_players, _LEVEL_SPREAD, *[_VARIABLE_SPREAD] * residuals.shape[1]]
    coefficients = logistic_coefficients(design, results.solved, 1 / np.square(prior))
    slope = -float(coefficients[n_players])
    if slope < _LEAST_SLOPE:
        return None
    return replace(index, weights=-coefficients[n_players + 1 :] / spreads / slope)


def _least_squares_line(doublings: Array, column: Array) -> tuple[float, float]:
    """Return value at level 1 and slope of the least-squares line of a variable by log2 of the level."""
    is_known = ~np.isnan(column)
    if not is_known.any():
        return 0.0, 0.0
    x, y = doublings[is_known], column[is_known]
    deviations = x - x.mean()
    rise = float(deviations @ y / (deviations @ deviations)) if np.ptp(x) > 0 else 0.0
    return float(y.mean()) - rise * float(x.mean()), rise


def _marginal_and_conditional_slopes(results: _Results) -> tuple[float, float, float, float] | None:
    """Return marginal and conditional slope and their log losses, in bits; None if success does not fall."""
    indices = np.empty(len(results.solved))
    for fold in range(_FOLDS):
        # The clusters of one group of the jackknife are in different folds.
        in_fold = (results.clusters + results.clusters // _GROUPS) % _FOLDS == fold
        if not in_fold.any():
            continue
        index = _fit_index(results.selected(~in_fold)) if not in_fold.all() else None
        if index is None:
            return None
        doublings = results.doublings[in_fold]
        indices[in_fold] = doublings + index.residuals(doublings, results.variables[in_fold]) @ index.weights
    marginal, marginal_loss = _slope_and_loss(results, results.doublings)
    conditional, conditional_loss = _slope_and_loss(results, indices)
    if marginal < _LEAST_SLOPE or conditional < _LEAST_SLOPE:
        return None
    return marginal, conditional, marginal_loss, conditional_loss


def _slope_and_loss(results: _Results, difficulties: Array) -> tuple[float, float]:
    """Return by how much the log odds of success fall per unit of difficulty, and the mean log loss in bits."""
    design = np.column_stack([results.players, difficulties - results.doublings.mean()])
    prior = [*[_PLAYER_SPREAD] * results.players.shape[1], _LEVEL_SPREAD]
    coefficients = logistic_coefficients(design, results.solved, 1 / np.square(prior))
    log_odds = design @ coefficients
    log_loss = float(np.mean(np.logaddexp(0, log_odds) - results.solved * log_odds) / np.log(2))
    return -float(coefficients[-1]), log_loss


def logistic_coefficients(design: Array, shares: Array, precisions: Array) -> Array:
    """Return the coefficients of a logistic regression with independent normal priors around 0 (their mode).

    Args:
        design: A row of explanatory values for each observation.
        shares: What is to be explained, from 0 to 1.
        precisions: 1 by the prior variance of each coefficient.
    """
    at_mode = np.zeros(design.shape[1])

    def penalized_loss(coefficients: Array) -> float:
        log_odds = design @ coefficients
        return float(np.sum(np.logaddexp(0, log_odds) - shares * log_odds) + precisions @ np.square(coefficients) / 2)

    # Newton's method; a step that does not lower the loss is halved.
    loss = penalized_loss(at_mode)
    for _ in range(_STEPS):
        rates = 1 / (1 + np.exp(-np.clip(design @ at_mode, -500, 500)))
        slope = design.T @ (shares - rates) - precisions * at_mode
        curvature = (design * (rates * (1 - rates))[:, None]).T @ design + np.diag(precisions)
        step = np.linalg.solve(curvature, slope)
        size = 1.0
        while (new_loss := penalized_loss(at_mode + size * step)) > loss and size > _CLOSE:
            size /= 2
        at_mode, old_loss, loss = at_mode + size * step, loss, new_loss
        if old_loss - loss < _CLOSE:
            break
    return at_mode
