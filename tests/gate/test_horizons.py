"""Horizons: equal models rarely reach further than each other, and a plateau is no horizon."""

import pytest

from tests.gate._designs import LEVEL, equal_horizons, plateau
from tests.gate._rate import Rate

pytestmark = pytest.mark.slow


def test_equal_models_rarely_reach_further() -> None:
    """Fails if p values are not adjusted over all pairs (two thirds of tables)."""
    rate = equal_horizons(runs=12)
    assert rate.at_most(LEVEL), str(rate)


def test_a_horizon_near_a_plateau_is_printed_only_where_it_is_known() -> None:
    """Fails if a posterior with many curves below the share still gives a horizon (.14 are wrong then)."""
    # At the easiest levels 85 and 82 % are solved, so that there is an 80 % horizon.
    said = [plateau(runs=110, lapse=lapse) for lapse in (0.15, 0.18)]
    printed, wrong = (
        Rate(sum(rate.hits for rate in rates), sum(rate.runs for rate in rates))
        for rates in ([one.printed for one in said], [one.wrong for one in said])
    )
    assert printed.at_least(0.8), said
    assert wrong.at_most(0.05), said
