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
    # Who plays, how far the report has come, and nothing else.
    assert all(line.startswith(("demo: ", "report: ")) for line in result.stderr.splitlines()), result.stderr
    return out, result.stdout


def test_the_output_fits_one_screen(demo: tuple[Path, str]) -> None:
    lines = demo[1].splitlines()
    assert len(lines) <= 36
    assert max(map(len, lines)) <= 100
    assert lines[0].startswith("Normalised scores: 0 is")
    assert lines[1].startswith("The players are waybench's own")


def test_the_matrix_has_every_player_the_best_first(demo: tuple[Path, str]) -> None:
    lines = demo[1].split("---\n")[1].splitlines()[:5]
    means = {line.split()[0]: float(line.split()[1].replace("−", "-")) for line in lines}
    # Who knows nothing is near 0, in whatever order: what is surely below the floor counts as 0.
    assert list(means)[:3] == ["oracle", "noisy-0.1", "heuristic"]
    assert means["oracle"] == 100
    assert sorted(means.values(), reverse=True) == list(means.values())
    assert max(abs(means[name]) for name in ("random", "null")) < means["heuristic"]


def test_horizons_that_are_known_are_found(demo: tuple[Path, str]) -> None:
    lines = [line.strip() for line in demo[1].splitlines() if line.startswith("  noisy-")]
    assert [line.split(":")[0] for line in lines] == [f"noisy-{rate}" for rate in ("0.02", "0.05", "0.1")]
    for line in lines:
        found = re.search(
            r"at dimension ([\d.]+) \(90 % interval ([\d.]+) to ([\d.]+)\); \d+ episodes; known: ([\d.]+)", line
        )
        assert found is not None, line
        value, low, high, known = map(float, found.groups())
        assert low < value < high
        assert low < known < high


def test_a_second_run_prints_the_same(demo: tuple[Path, str]) -> None:
    out, printed = demo
    again = subprocess.run(
        [sys.executable, "-m", "waybench", "demo", "--out", str(out)], capture_output=True, text=True, timeout=PATIENCE
    )
    assert again.returncode == 0, again.stderr
    assert again.stdout == printed


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
