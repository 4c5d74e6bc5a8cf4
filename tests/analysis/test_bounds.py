"""What a score would be with what infrastructure errors took, and what its interval is due to."""

import numpy as np
import pytest

from tests.analysis.episodes import detour, estimate, failed, item, logged, played
from tests.analysis.searches import searched
from waybench.results import overall, rows, score_frame
from waybench.results.stats._intervals import variance_components


def test_nothing_missing_has_no_bounds() -> None:
    assert all(each.bounds is None for each in estimate(played("random", (5,))))


def test_missing_items_are_filled_with_the_worst_and_the_best() -> None:
    there = [logged(detour(item(7, number), 0)) for number in (0, 1)]
    lost = [logged(failed(detour(item(7, number), 0))) for number in (2, 3, 4)]
    (found,) = estimate([*there, *lost])
    assert found.best is not None
    assert (found.best.value, found.items, found.missing) == (100, 2, 3)
    assert found.bounds == (pytest.approx(40), pytest.approx(100))


def test_a_lost_attempt_of_several_can_only_raise_the_best_of_them() -> None:
    imperfect = logged(detour(item(7, 0), 4))
    lost = logged(failed(detour(item(7, 0), 0, attempt=2)))
    (found,) = estimate([imperfect, lost])
    assert found.best is not None
    assert 0 < found.best.value < 100
    assert (found.missing, found.incomplete) == (0, 1)
    assert found.bounds == (pytest.approx(found.best.value), 100)


def test_all_missing_says_nothing_but_the_bounds() -> None:
    (found,) = estimate([logged(failed(detour(item(7), 0)))])
    assert (found.best, found.bounds) == (None, (0, 100))


def test_bounds_are_in_the_frame_of_scores() -> None:
    there, lost = logged(detour(item(7, 0), 0)), logged(failed(detour(item(7, 1), 0)))
    assert {(line["bound_low"], line["bound_high"]) for line in score_frame(estimate([there, lost])).records()} == {
        (50.0, 100.0)
    }


def test_components_of_variance_by_hand() -> None:
    # Means 1, 3, 8 of two attempts each, around 4: between 2 (9 + 1 + 16) / 2 = 26, within (2 + 2 + 0) / 3.
    found = variance_components([[0, 2], [2, 4], [8, 8]])
    assert found is not None
    assert found.within == pytest.approx(4 / 3)
    assert found.between == pytest.approx((26 - 4 / 3) / 2)
    assert found.share == pytest.approx((4 / 3 / 2) / (4 / 3 / 2 + (26 - 4 / 3) / 2))
    assert found.width_ratio(items=4) == pytest.approx(0.5)
    assert found.width_ratio(attempts=1e12) == pytest.approx((1 - found.share) ** 0.5)


def test_components_agree_with_restricted_maximum_likelihood() -> None:
    mixed = pytest.importorskip("statsmodels.regression.mixed_linear_model")
    rng = np.random.default_rng(3)
    values = rng.normal(0, 2, (12, 1)) + rng.normal(0, 1, (12, 3))
    fit = mixed.MixedLM(values.ravel(), np.ones(36), groups=np.repeat(np.arange(12), 3)).fit(reml=True)
    found = variance_components(values.tolist())
    assert found is not None
    assert found.within == pytest.approx(float(fit.scale), rel=1e-3)
    assert found.between == pytest.approx(float(np.asarray(fit.cov_re)[0, 0]), rel=1e-3)


def test_what_cannot_be_told_apart_is_none() -> None:
    assert variance_components([[1.0], [0.0]]) is None
    assert variance_components([[1.0, 0.0]]) is None
    assert variance_components([[1.0, 1.0], [1.0, 1.0]]) is None
    alike = variance_components([[0.0, 1.0], [1.0, 0.0]])
    assert alike is not None
    assert (alike.between, alike.share) == (0, 1)


def test_components_on_average_are_the_true_ones() -> None:
    rng = np.random.default_rng(4)
    sizes = [1, 2, 3] * 10
    found = [variance_components([list(rng.normal(rng.normal(0, 2), 3, size)) for size in sizes]) for _ in range(400)]
    known = [one for one in found if one is not None]
    assert np.mean([one.within for one in known]) == pytest.approx(9, rel=0.05)
    assert np.mean([one.between for one in known]) == pytest.approx(4, rel=0.1)


def test_where_the_best_attempt_counts_attempts_are_no_sample() -> None:
    assert all(each.variance is None for each in overall(rows(played("random", (5,)))))
    assert all(each.variance is None for each in overall(rows(searched("random"))))  # one attempt at each
