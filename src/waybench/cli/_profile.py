"""`waybench profile`: one ability of each model over all families, and expected scores where it was not run."""

import json
import shutil
from pathlib import Path

import click

from waybench.cli._log_place import log_places
from waybench.cli._options import option, with_parameters
from waybench.cli._output import lines, tell_skipped

_EXAMPLES = """\b
waybench profile waybench-out
waybench profile waybench-out --json -
waybench profile waybench-out --references        with the embedded players, as for a demonstration"""


@click.command(epilog=_EXAMPLES)
@with_parameters
def profile(
    folders: tuple[Path, ...] = log_places("DIR|URL|FILE"),
    references: bool = option("Count the embedded players as models."),
    out: str | None = option("Write JSON to a file (- for standard output).", "--json", metavar="FILE"),
) -> None:
    """Estimate each model's general ability from all runs in some folders, and predict scores of missing families.

    A joint model of all models and families (item response theory) has an ability of each model, which consists of a
    general ability and a deviation in each family, and a difficulty of each item. All models need not have run the
    same families or items. Where a model was not run on a family, the output shows in square brackets what score to
    expect, with a 90 % interval; predictions are never part of a mean or of a report. At least two models and two
    families with normalised scores are needed; with a handful of models, intervals are wide.
    """
    from waybench.analysis import read_logs
    from waybench.analysis.estimates import profiles, profiles_text
    from waybench.analysis.logs import Skipped
    from waybench.analysis.results import anchored, measurable

    skipped: list[Skipped] = []
    measured, rows = measurable(read_logs(*folders, on_problem=skipped.append), on_problem=skipped.append, confirm=True)
    rows = anchored((episode.record for episode in measured), rows)
    tell_skipped(skipped)
    found = profiles(rows, references=references)
    if out is not None:
        with lines(out) as write:
            write(json.dumps(found.to_json(), allow_nan=False))
    if out != "-":
        click.echo(profiles_text(found, shutil.get_terminal_size().columns))
