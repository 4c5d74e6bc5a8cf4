"""`waybench prices`: a table of prices to fill in."""

from pathlib import Path

import click

from waybench.cli._log_place import log_places
from waybench.cli._options import option, with_parameters


@click.command(epilog="waybench prices waybench-out > prices.json")
@with_parameters
def prices(
    folders: tuple[Path, ...] = log_places("DIR|URL"),
    known: Path | None = option("Existing price table; its prices are kept.", "--prices", metavar="FILE"),
) -> None:
    """Print a JSON price table for the models of the runs in some folders.

    Replace each null by dollars per million tokens: of requests (input), of replies (output) and of requests read
    from a cache. A model with nulls has no cost. Pass the file to `waybench report --prices`.
    """
    from waybench.analysis.logs import logged_models
    from waybench.core import UsageError, price_table

    models = logged_models(*folders)
    if not models:
        where = ", ".join(map(str, folders))[:200]
        raise UsageError(
            f"no model to price in {where}: it has no logs, or those of embedded players, which cost nothing"
        )
    click.echo(price_table(models, known))
