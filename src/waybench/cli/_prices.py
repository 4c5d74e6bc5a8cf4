"""`waybench prices`: a table of prices to fill in."""

from pathlib import Path

import click


@click.command(epilog="waybench prices waybench-out > prices.json")
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR...")
@click.option(
    "--prices", "known", type=click.Path(path_type=Path), metavar="FILE", help="A table that you have; its prices stay."
)
def prices(folders: tuple[Path, ...], known: Path | None) -> None:
    """Print a table of prices with the models of the runs in some folders, as JSON.

    Put a number in place of each null: dollars per million tokens of requests (input), of replies (output) and of
    requests that were read from a cache. A model whose nulls stay has no cost. `waybench report --prices` reads it.
    """
    from waybench.analysis.logs import logged_models
    from waybench.core import price_table

    click.echo(price_table(logged_models(*folders), known))
