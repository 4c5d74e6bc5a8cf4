"""pass@k and pass^k: by hand, by all choices of attempts, and how often their intervals hold the truth."""

from collections.abc import Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from tests.analysis.test_frames import row
from waybench.core import Metric
from waybench.reporting._format import TaskView
from waybench.reporting.tables._variation import reliability_table
from waybench.results import Row, overall, score_frame
from waybench.results.estimates._reliability import PassRates, pass_all, pass_any, pass_rates
from waybench.results.estimates._summary import summary_table
from waybench.results.results import Cluster, RunKey, group_by_item
from waybench.results.stats import clustered_mean

SUCCESS = Metric(name="success", of=lambda record: None, title="Success", doc="", low=0, high=1)


def rows_of(results: Sequence[Sequence[float]], env: str = "graph/paths", **more: Any) -> list[Row]:
    """Return the attempts at items 0, 1, ..., each a cluster of its own, with these values of the headline metric."""
    group = RunKey(model="vendor/model", task="paths", env=env, version=1, options=(), key="k1")
    return [
        row(
            group,
            item=str(number),
            instance=f"{number:064x}",
            cluster=Cluster(f"{number:064x}"),
            attempt=attempt,
            end="solved" if value else "failed",
            **{"metrics": {metric.name: value for metric in group.environment.scoring.metrics}, **more},
        )
        for number, values in enumerate(results)
        for attempt, value in enumerate(values, start=1)
    ]


def rates_of(results: Sequence[Sequence[float]], **more: Any) -> tuple[PassRates, ...]:
    rows = rows_of(results, **more)
    items = group_by_item(rows)
    head = rows[0].group.environment.scoring.metrics[0]
    return pass_rates(items, head, lambda mean_of: mean_of(items))


def test_by_hand_and_by_all_choices() -> None:
    results = [[1, 0, 0, 1, 0], [0] * 5, [1] * 5, [1, 1, 1, 0, 1]] * 2
    found = {rates.k: rates for rates in rates_of(results)}
    assert list(found) == [2, 4, 5]
    # Of two attempts out of five with two successes: 3 of 10 pairs have none, 1 has two.
    assert found[2].any_of.value == pytest.approx((7 / 10 + 0 + 1 + 1) / 4)
    assert found[2].all_of.value == pytest.approx((1 / 10 + 0 + 1 + 6 / 10) / 4)
    for k, rates in found.items():
        choices = [[chosen for chosen in combinations(item, k)] for item in results]
        assert rates.any_of.value == pytest.approx(fmean(fmean(map(max, of_item)) for of_item in choices))
        assert rates.all_of.value == pytest.approx(fmean(fmean(map(min, of_item)) for of_item in choices))
        assert (rates.any_of.n, rates.any_of.clusters) == (8, 8)
        assert rates.any_of.low is not None and rates.any_of.low < rates.any_of.value


def test_items_with_fewer_attempts_are_left_out() -> None:
    found = rates_of([[1, 0, 1, 0], [1, 1], [0]])
    assert [(rates.k, rates.any_of.n) for rates in found] == [(2, 2), (4, 1)]
    assert rates_of([[1], [0]]) == ()


def test_only_of_metrics_that_say_success() -> None:
    assert rates_of([[1, 0.5], [0, 1]]) == ()
    assert rates_of([[1, 0], [0, 1]], env="search/coin") == ()  # lower is better
    # What is a share of nothing, such as a question without an answer, does not count.
    assert rates_of([[0, 0], [1, 0]], env="textmap/route", sizes={"success": 0.0}) == ()


def test_in_all_outputs() -> None:
    rows = rows_of([[1, 0, 0, 1], [0] * 4, [1] * 4, [1, 1, 1, 0]] * 2)
    (total,) = overall(rows)
    assert [rates.k for rates in total.reliability] == [2, 4]
    first: Any = total.to_json()["reliability"]
    assert first[0]["k"] == 2 and first[0]["any_of"]["value"] == pytest.approx((5 / 6 + 0 + 1 + 1) / 4)
    frame = score_frame([total]).table.to_pylist()
    values = {line["statistic"]: line["value"] for line in frame if line["metric"] == "success"}
    assert values["pass@4"] == pytest.approx(3 / 4)
    assert values["pass^4"] == pytest.approx(1 / 4)
    lines = summary_table(rows).splitlines()
    (line,) = (line for line in lines if "pass@4" in line)
    assert line.strip().startswith("vendor/model at paths: pass@4 75 % [") and "pass^4 25 % [" in line
    assert "pass@k: the share of items that at least one of k attempts solves" in "\n".join(lines)


def test_the_table_of_a_task() -> None:
    (total,) = overall(rows_of([[1, 0, 0, 1], [0] * 4, [1] * 4, [1, 1, 1, 0]]))
    env = total.group.environment
    table = reliability_table(TaskView(env, env.presentation, {}), [total])
    assert table is not None
    assert [column.heading for column in table.columns][1:4] == ["k", "pass@k", "pass^k"]
    assert [[cell.text for cell in line.cells] for line in table.groups[0].rows] == [
        ["2", "0.708", "0.417", "4"],
        ["4", "0.750", "0.250", "4"],
    ]
    assert reliability_table(TaskView(env, env.presentation, {}), overall(rows_of([[1], [0]]))) is None


def test_lost_attempts_are_in_the_bounds() -> None:
    rows = rows_of([[1, 0], [1, 1], [0, 0]])
    rows[1] = row(rows[1].group, **{**_fields(rows[1]), "end": "", "error": True, "metrics": {"success": None}})
    (total,) = overall(rows)
    (rates,) = total.reliability
    assert rates.any_of.n == 2 and rates.any_of.value == 0.5
    assert rates.any_of.lost is not None and rates.all_of.lost is not None
    assert (rates.any_of.lost.lowest, rates.any_of.lost.highest) == pytest.approx((2 / 3, 2 / 3))
    assert (rates.all_of.lost.lowest, rates.all_of.lost.highest) == pytest.approx((1 / 3, 2 / 3))


def _fields(of: Row) -> dict[str, Any]:
    names = ("level", "item", "instance", "cluster", "index", "attempt")
    return {name: getattr(of, name) for name in names}


@pytest.mark.parametrize("items", [10, 20, 53])
def test_intervals_hold_the_truth(items: int) -> None:
    """Items of beta-distributed difficulty, five attempts at each: without bias, and covered in most samples."""
    rng = np.random.default_rng([27, items])
    alpha, beta, attempts, runs = 1.2, 0.8, 5, 300
    solved = rng.binomial(attempts, rng.beta(alpha, beta, (runs, items))).tolist()
    for k in (2, 4):
        # That k attempts at a new item all fail, or are all solved: moments of the beta distribution.
        fail, win = (
            float(np.prod([(shape + step) / (alpha + beta + step) for step in range(k)])) for shape in (beta, alpha)
        )
        for share_of, truth in ((pass_any, 1 - fail), (pass_all, win)):
            means = [
                clustered_mean([share_of(attempts, count, k) for count in counts], range(items), 0, 1)
                for counts in solved
            ]
            held = fmean(mean.low <= truth <= mean.high for mean in means if mean and mean.low is not None)
            spread = float(np.std([mean.value for mean in means]))
            assert fmean(mean.value for mean in means) == pytest.approx(truth, abs=4 * spread / runs**0.5)
            assert 0.89 <= held <= 0.995
