"""The end of a run: its exit, its next commands."""

from pathlib import Path

from tests.analysis.episodes import played
from tests.cli.support import Command
from waybench.cli._output import next_command
from waybench.results import rows

OUT = Path("waybench-out")


def test_two_models_are_compared_next() -> None:
    two = rows(played("oracle", levels=(5,), model="a/b") + played("null", levels=(5,), model="c d"))
    assert next_command(OUT, two).splitlines() == [
        "waybench compare a/b 'c d'",
        "      waybench report waybench-out",
    ]
    assert next_command(Path("my logs"), two).splitlines()[0] == "waybench compare a/b 'c d' --in 'my logs'"
    assert next_command(OUT, two[:1]) == "waybench report waybench-out"
    # The site of logs at a URL needs a folder of this machine.
    assert next_command("s3://bucket/runs", two[:1]) == "waybench report s3://bucket/runs --out site"


def test_levels_are_printed_on_demand(command: Command, tmp_path: Path) -> None:
    args = ("--limit", 1, "-T", "max_dimension=5", "--out", tmp_path, "--display", "none")
    run = ("run", "alicia", "--model", "waybench/oracle", *args)
    brief, whole = command(*run).stdout, command(*run, "--levels").stdout
    assert "Mazes (AliciaBench)      5" not in brief
    assert [line for line in whole.splitlines() if line not in brief.splitlines()][:3] == [
        "Mazes (AliciaBench)      5",
        "--------------------------",
        "waybench/oracle      100.0",
    ]
