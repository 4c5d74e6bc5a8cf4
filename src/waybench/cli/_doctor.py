"""`waybench doctor`: whether runs will work here."""

import sys
from pathlib import Path

import click

from waybench._version import __version__
from waybench.cli._checks import NOTE, OK, PROBLEM, Check, checks
from waybench.cli._options import option, with_parameters
from waybench.cli._output import dumps
from waybench.core import plural

_SIGNS = {OK: ("ok", "green"), NOTE: ("note", "yellow"), PROBLEM: ("PROBLEM", "red")}
_WIDTH = max(len(sign) for sign, _ in _SIGNS.values())


@click.command()
@with_parameters
def doctor(
    out: Path = option("Log folder whose disk is checked.", default=Path("waybench-out")),
    as_json: bool = option("Print one JSON object.", "--json"),
) -> None:
    """Check that runs will work here: versions, keys, programs, data sets, disk and terminal.

    Each line says what was found and what you can do. "note" is something optional that is missing. "PROBLEM" makes
    runs fail, and the exit status is then 1. Of keys only the names of their variables are shown.
    """
    found: list[Check] = []
    for check in checks(out):
        if not as_json:
            _print(check, heading=not found or found[-1].group != check.group)
        found.append(check)
    problems = sum(check.status == PROBLEM for check in found)
    if as_json:
        listed = [check._asdict() for check in found]
        click.echo(dumps({"waybench": __version__, "problems": problems, "checks": listed}))
    else:
        click.echo(f"\n{plural(problems, 'problem') if problems else 'No problem was found.'}")
    sys.exit(1 if problems else 0)


def _print(check: Check, heading: bool) -> None:
    if heading:
        click.echo(f"\n{check.group}")
    sign, colour = _SIGNS[check.status]
    click.echo(f"  {click.style(f'{sign:{_WIDTH}}', fg=colour)}  {check.name}: {check.detail}")
    if check.advice:
        click.echo(f"  {'':{_WIDTH}}  -> {check.advice}")
