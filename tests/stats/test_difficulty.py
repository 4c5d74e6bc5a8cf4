"""The difficulty index of items, on simulated players whose difficulty of items is known."""

import numpy as np
import pytest

from waybench.results.stats._difficulty import IndexGain, index_gain, logistic_coefficients

LEVELS = (5, 7, 9, 13, 17, 21, 29, 41)
SLOPE = 4.0


def simulated(spread: float, key: int, items: int = 160, players: int = 6) -> IndexGain | str:
    """Simulate players at items whose first of three variables moves their difficulty by `spread` doublings."""
    rng = np.random.default_rng(key)
    levels = rng.choice(LEVELS, items)
    parts = rng.normal(size=(items, 3))
    variables = np.exp2(1.5 * np.log2(levels)[:, None] + 0.5 * parts) - 1
    difficulty = np.log2(levels) + spread * parts[:, 0]
    middles = rng.normal(4, 0.6, players)
    solved = rng.random((players, items)) < 1 / (1 + np.exp(SLOPE * (difficulty - middles[:, None])))
    player, item = np.repeat(np.arange(players), items), np.tile(np.arange(items), players)
    return index_gain(
        solved.ravel().astype(float).tolist(), player.tolist(), levels[item].tolist(), variables[item], item.tolist()
    )


def test_weights_and_slope_of_a_known_difficulty() -> None:
    found = simulated(0.6, 1)
    assert isinstance(found, IndexGain)
    # A unit of a variable is two of its standard deviations beyond the level's, each worth 0.6 doublings.
    assert found.index.weights == pytest.approx([1.2, 0, 0], abs=0.25)
    assert found.index.rises == pytest.approx([1.5] * 3, abs=0.1)
    assert found.conditional == pytest.approx(SLOPE, rel=0.2)
    assert found.low > 1
    assert found.ratio == found.conditional / found.marginal
    assert found.conditional_loss < found.marginal_loss - 0.05


def test_interval_of_variables_without_influence_holds_one() -> None:
    gains = [found for key in range(20) if isinstance(found := simulated(0.0, key, items=80), IndexGain)]
    assert len(gains) == 20
    assert sum(gain.low > 1 for gain in gains) <= 2
    # Without cross-fitting the index would take chance for difficulty, and the ratio would be above 1.
    assert np.mean([gain.ratio for gain in gains]) <= 1


def test_index_of_an_average_item_is_its_level() -> None:
    found = simulated(0.6, 2)
    assert isinstance(found, IndexGain)
    levels = np.array([8.0, 16.0])
    expected = np.exp2(found.index.starts + np.outer(np.log2(levels), found.index.rises)) - 1
    assert found.index.evaluate(levels, expected) == pytest.approx([3, 4])
    harder = expected.copy()
    harder[:, 0] = 2 * (1 + harder[:, 0]) - 1
    assert np.exp2(found.index.evaluate(levels, harder)) == pytest.approx(levels * 2 ** found.index.weights[0])
    unknown = np.full((2, 3), np.nan)
    assert found.index.evaluate(levels, unknown) == pytest.approx([3, 4])


def test_reasons_for_no_index() -> None:
    def gain(solved: list[float], levels: list[float], clusters: list[int]) -> IndexGain | str:
        values = np.arange(len(solved), dtype=np.float64)[:, None]
        return index_gain(solved, [0] * len(solved), levels, values, clusters)

    many = list(range(40))
    assert gain([1.0] * 40, [2.0] * 40, many) == "every player solved all items or none"
    assert gain([1.0, 0.0] * 20, [2.0] * 40, many) == "the level is the same for all"
    assert gain([1.0, 0.0] * 20, [2.0, 3.0, 4.0, 5.0] * 10, [0, 1] * 20) == "fewer than 20"
    # It rises with the level.
    assert gain([0.0] * 20 + [1.0] * 20, [2.0] * 20 + [8.0] * 20, many) == "success does not fall with the level"


def test_logistic_regression_with_a_known_mode() -> None:
    # Without slopes the mode is the log odds of the mean; with a prior, the root of 40 * (0.75 - rate) = precision * x.
    constant, shares = np.ones((40, 1)), np.array([1.0, 1.0, 1.0, 0.0] * 10)
    assert logistic_coefficients(constant, shares, np.zeros(1)) == pytest.approx([np.log(3)])
    (found,) = logistic_coefficients(constant, shares, np.array([2.0]))
    assert 40 * (0.75 - 1 / (1 + np.exp(-found))) == pytest.approx(2 * found)
