"""The whole path from a key to a report, as `make demo` runs it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PATIENCE
from tests.report.pages import Site

pytestmark = pytest.mark.slow  # minutes, and the wheel is tried with the demonstration as well


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Run `waybench demo` and return its folder and what it printed."""
    out = tmp_path_factory.mktemp("demo") / "with a space"
    result = subprocess.run(
        [sys.executable, "-m", "waybench", "demo", "--out", str(out)], capture_output=True, text=True, timeout=PATIENCE
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return out, result.stdout


def scores_of(table: str) -> dict[str, list[float]]:
    lines = [line.split() for line in table.splitlines() if line.startswith("waybench/")]
    return {line[0].removeprefix("waybench/"): [float(cell.replace("−", "-")) for cell in line[1:]] for line in lines}


def test_the_table(demo: tuple[Path, str]) -> None:
    scores = scores_of(next(table for table in demo[1].split("\n\n") if table.startswith("Mazes")))
    assert scores["oracle"] == [100.0] * 5
    assert scores["null"] == [0.0]  # and no further dimension, since no maze was reached
    for player in ("random", "heuristic"):
        assert len(scores[player]) == 5
        assert all(0 < score < 100 for score in scores[player])


def test_horizons_come_last(demo: tuple[Path, str]) -> None:
    (table,) = (
        part for part in demo[1].split("\n\n") if part.startswith("Mazes (AliciaBench): horizons, by dimension")
    )
    lines = {line.split()[0]: line for line in table.splitlines()}
    assert "above 13" in lines["waybench/oracle"]
    assert "waybench/null" not in lines  # it was given one dimension alone


def test_horizons_that_are_known_are_found(demo: tuple[Path, str]) -> None:
    lines = [line.strip() for line in demo[1].splitlines() if line.startswith("  waybench/noisy-")]
    assert [line.split(":")[0] for line in lines] == [f"waybench/noisy-{rate}" for rate in ("0.02", "0.05", "0.1")]
    for line in lines:
        found = re.search(
            r"at dimension ([\d.]+) \(90 % interval ([\d.]+) to ([\d.]+)\); \d+ episodes; known: ([\d.]+)", line
        )
        assert found is not None, line
        value, low, high, known = map(float, found.groups())
        assert low < value < high
        assert low < known < high


def test_every_other_family_parts_the_players(demo: tuple[Path, str]) -> None:
    found = [table for table in demo[1].split("\n\n") if "\nwaybench/oracle" in table and "Mazes" not in table]
    tables = [table for table in found if ": horizons, by" not in table]
    assert len(tables) >= 6
    for table in tables:
        scores = scores_of(table)
        assert set(scores) == {"null", "random", "heuristic", "noisy-0.1", "oracle"}
        sign = -1 if "lower is better" in table else 1
        worst, middle, best = (sign * scores[name][0] for name in ("null", "random", "oracle"))
        # In Messenger, who does nothing is not beaten, and who walks at random is. No biome is found by chance so soon.
        if table.startswith("Messenger"):
            assert middle < worst < best
        elif table.startswith("Find a biome"):
            assert worst <= middle < best
        else:
            assert worst < middle < best


def test_the_report(demo: tuple[Path, str]) -> None:
    out, printed = demo
    index = out / "site" / "index.html"
    assert printed.rstrip().endswith(f"report: {index}")
    assert index.stat().st_size > 10_000
    summary = json.loads((out / "site" / "summary.json").read_text(encoding="utf-8"))
    assert summary["schema"] == 2
    site = Site(out / "site")
    assert len(site.results) == len(summary["overall"])
    assert len(site.models) == len({total["group"]["model"] for total in summary["overall"]}) == 7
    assert len(site.tasks) == len({total["group"]["env"] for total in summary["overall"]})
    assert set(site.compared) == set(site.tasks)
    assert len(site.replays) > 300


def test_the_report_command_writes_the_same(demo: tuple[Path, str], tmp_path: Path) -> None:
    out, _ = demo
    again = subprocess.run(
        [sys.executable, "-m", "waybench", "report", str(out), "-o", str(tmp_path), "--title", "waybench demo"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert again.returncode == 0, again.stderr

    def files(folder: Path) -> dict[Path, bytes]:
        return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    assert files(tmp_path) == files(out / "site")
