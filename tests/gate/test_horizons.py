"""Horizons: equal models rarely reach further than each other, and a plateau is no horizon."""

import pytest

from tests.gate._designs import LEVEL, equal_horizons, plateau

pytestmark = pytest.mark.slow


def test_equal_models_rarely_reach_further() -> None:
    """Fails if p values are not adjusted over all pairs."""
    rate = equal_horizons(runs=24)
    assert rate.at_most(LEVEL), str(rate)


def test_a_horizon_near_a_plateau_is_printed_only_where_it_is_known() -> None:
    """Fails if a posterior with many curves below the share still gives a horizon."""
    said = plateau(runs=120)
    assert said.printed.at_least(0.8), said
    assert said.wrong.at_most(0.1), said
