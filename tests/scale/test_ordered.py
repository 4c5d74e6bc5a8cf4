"""Results of an executor in the order of the parts, as `verify` and `report` take them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from tests.scale.jobs import refuse, square
from waybench.core import UsageError, WaybenchError
from waybench.ext.scale import _executors
from waybench.ext.scale._executors import OrderedResults, executor_by_name


class Backwards:
    """Runs all jobs, the last one first."""

    is_whole = True

    def map(self, function: Callable[[Any], Any], jobs: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        for index in reversed(range(len(jobs))):
            yield index, function(jobs[index])


def test_results_come_in_the_order_of_the_parts_whatever_ends_first() -> None:
    with OrderedResults(Backwards()).each(square, range(9)) as results:
        assert [result for result, _ in results] == [number * number for number in range(9)]


@pytest.mark.usefixtures("watchdog")
def test_an_error_of_a_part_is_raised_and_what_has_not_begun_is_left() -> None:
    with pytest.raises(UsageError, match="job 3 cannot be done"):  # noqa: SIM117
        with OrderedResults(executor_by_name("processes:2")).each(refuse, range(20)) as results:
            list(results)
    with OrderedResults(executor_by_name("processes:1")).each(refuse, range(20)) as results:
        assert next(results) == 0


@pytest.mark.parametrize("name", ["print", "print:kubernetes", "job:0/2"])
def test_an_executor_that_leaves_jobs_to_others_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="use --executor ray or processes"):
        OrderedResults(executor_by_name(name, argv=["verify", "x.zip"]))


def test_a_worker_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with OrderedResults(executor_by_name("processes:1")).each(square, range(3)) as results:
        monkeypatch.setattr(_executors, "__version__", "0.0.1")
        with pytest.raises(
            WaybenchError, match=r"a worker has waybench 0\.0\.1, and this machine .*: install the same"
        ):
            next(results)
