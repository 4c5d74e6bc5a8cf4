"""Analyses of runs: what `waybench compare`, `profile` and `power` compute, as values."""

import io
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from waybench._extras import says_missing_extra
from waybench.core import Json, UsageError

Places = str | Path  # of a folder of logs or a file of records; or the name of a model


@dataclass(frozen=True, slots=True, repr=False)
class Analysis:
    """The result of an analysis: the text that the command prints, and its numbers.

    Attributes:
        data: The numbers, as `--json` writes them; empty for `power`.
        notes: What was left out of the analysis, and why, in lines.
    """

    text: str
    data: Mapping[str, Json] = field(default_factory=dict[str, Json])
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return self.text


@says_missing_extra
def compare(
    a: Places | None = None,
    b: Places | None = None,
    *,
    folders: Places | Sequence[Places] = (),
    tasks: str | Sequence[str] = (),
    metric: str = "",
    margin: float = 0.05,
    by: Literal["twins", "isomorphs", "wordings", "language", "people"] | None = None,
) -> Analysis:
    """Compare two models, or two folders of runs, on the same items with paired tests.

    Args:
        a: A folder of logs, a file of records, or a model; ``waybench-out`` by default.
        b: The other one; None for a folder of two models, and with `by`.
        folders: The folders in which models are looked up; ``waybench-out`` by default.
        tasks: The tasks to compare on; all by default.
        metric: The metric to compare, or ``"solved"``; by default each task's headline metric.
        margin: Differences below this share of the metric's range count as a tie.
        by: Compares each model of `a` with itself, in place of `b`: at twin tasks, isomorphic items, several wordings
            or languages; or the people in `a` with each other.

    Returns:
        The text and the numbers of `waybench compare`.

    Raises:
        waybench.core.UsageError: If a side does not exist or there is nothing to compare; if `waybench[eval]` is not
            installed.
    """
    sides = [str(side) for side in (a, b) if side is not None]
    arguments = [*sides, "--metric", metric, "--margin", str(margin)]
    arguments += [*_repeated_option("--in", folders), *_repeated_option("--task", tasks)]
    arguments += [] if by is None else [f"--{by}"]
    return _analysis_of_command("compare", arguments, with_numbers=True)


@says_missing_extra
def profile(*folders: Places, references: bool = False) -> Analysis:
    """Estimate each model's general ability from all runs in some folders, and predict scores of missing families.

    Args:
        *folders: Folders of logs, and files of records.
        references: Whether the embedded players count as models.

    Returns:
        The text and the numbers of `waybench profile`.

    Raises:
        waybench.core.UsageError: If there are fewer than two models or families; if `waybench[eval]` is not installed.
    """
    arguments = [*map(str, folders), *(["--references"] if references else [])]
    return _analysis_of_command("profile", arguments, with_numbers=True)


@says_missing_extra
def power(**options: Json) -> Analysis:
    """Compute how many items are needed to show a difference between two models, a tie, a ranking or a ratio.

    Args:
        **options: The options of `waybench power`, with "_" for "-": ``detect=0.05``, ``items=200``, ``rate=0.8``,
            ``pilot="waybench-out"``; lists as in ``levels="5,7,9"``, flags as True.

    Returns:
        The text of `waybench power`.

    Raises:
        waybench.core.UsageError: For an unknown option or contradictory assumptions; if `waybench[eval]` is not
            installed.
    """
    arguments: list[str] = []
    for name, value in options.items():
        if value is not None and value is not False:
            arguments += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return _analysis_of_command("power", arguments)


def _repeated_option(option: str, values: Places | Sequence[Places]) -> list[str]:
    """Return the command-line arguments of an option that is given once for each value."""
    values = [values] if isinstance(values, str | Path) else values
    return [word for value in values for word in (option, str(value))]


def _analysis_of_command(command: str, arguments: Sequence[str], *, with_numbers: bool = False) -> Analysis:
    """Return the output of a command as an `Analysis`: its text, its messages as notes, and the numbers of `--json`."""
    import click

    from waybench.cli import main

    text, notes = io.StringIO(), io.StringIO()
    with TemporaryDirectory() as folder:
        file = Path(folder) / "numbers.json"
        numbers = ["--json", os.fspath(file)] if with_numbers else []
        try:
            with redirect_stdout(text), redirect_stderr(notes):
                click_command = main.get_command(click.Context(main), command)
                assert click_command is not None
                click_command.main([*arguments, *numbers], f"waybench {command}", standalone_mode=False)
        except click.ClickException as error:
            raise UsageError(error.format_message()) from None
        data: dict[str, Json] = json.loads(file.read_text(encoding="utf-8")) if with_numbers else {}
    return Analysis(text.getvalue().rstrip("\n"), data, tuple(notes.getvalue().splitlines()))
