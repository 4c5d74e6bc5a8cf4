"""`waybench power`: how many items a comparison takes, before money is spent."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from waybench.cli._options import FiniteRange, option, with_parameters
from waybench.core import UsageError, plural

if TYPE_CHECKING:
    from waybench.results.stats import PowerAssumptions

_EXAMPLES = """\b
waybench power --detect 0.05                       a difference of five points in the share solved
waybench power --detect 0.05 --pilot waybench-out  with variances and clusters from a small run
waybench power --items 200 --rate 0.8              what 200 items can detect"""

_SHARE = FiniteRange(0, 1, min_open=True, max_open=True)


@click.command(epilog=_EXAMPLES)
@with_parameters
def power(
    detect: float | None = option(
        "Difference to detect, as a share of the metric's range.", type=_SHARE, metavar="SHARE"
    ),
    items: int | None = option(
        "Number of items: prints the smallest difference that they detect.", type=click.IntRange(min=1)
    ),
    power: float = option("Probability of detecting the difference.", type=_SHARE, default=0.8),
    alpha: float = option("Significance level of the two-sided test.", type=_SHARE, default=0.05),
    rate: float = option("Share of items that a model solves.", type=_SHARE, default=0.5),
    correlation: float = option(
        "Correlation of two models' outcomes on the same item.", type=FiniteRange(-1, 1, max_open=True), default=0.5
    ),
    disagree: float | None = option(
        "Share of items that exactly one model solves; replaces --correlation.", type=_SHARE
    ),
    attempts: int = option("Attempts per item.", type=click.IntRange(min=1), default=1),
    repeat: float | None = option("Correlation of one model's attempts on the same item.", type=FiniteRange(-1, 1)),
    cluster: float = option("Items per cluster, such as a map.", type=FiniteRange(1), default=1),
    icc: float = option("Correlation within a cluster.", type=FiniteRange(0, 1), default=0.1),
    pilot_folder: Path | None = option("Estimate all of these from logs.", "--pilot", metavar="DIR"),
    metric: str = option(
        "Metric of the pilot, or `solved`; by default the headline metric.", default="", metavar="NAME"
    ),
    families: int = option("Number of comparisons to adjust for.", type=click.IntRange(min=1), default=1),
) -> None:
    """Compute how many items are needed to detect a difference between two models.

    Both models get the same items, as in `waybench compare`. The assumptions are printed. For better ones, give a
    pilot: a small run of one or more models. With several families (tasks), Holm's procedure requires a p value of
    --alpha divided by their number in the worst case, which is shown too.
    """
    from waybench.results.stats import assume_shares

    if (detect is None) == (items is None):
        raise UsageError("give either --detect or --items")
    try:
        if pilot_folder:
            found, problems = _pilots(pilot_folder, metric, correlation)
        else:
            shares = assume_shares(
                rate,
                correlation=correlation,
                disagree=disagree,
                attempts=attempts,
                repeat=repeat,
                size=cluster,
                icc=icc,
            )
            found, problems = [shares], []
        blocks = ["\n".join(_lines(assumptions, detect, items, (alpha, power), families)) for assumptions in found]
    except ValueError as error:  # assumptions that contradict each other; the message says which option to change
        raise UsageError(str(error)) from error
    click.echo("\n\n".join([*blocks, *problems]))


def _pilots(folder: Path, metric: str, correlation: float) -> "tuple[list[PowerAssumptions], list[str]]":
    from waybench.cli._compare import read_scores
    from waybench.results.comparisons import pilots

    found, problems = pilots(read_scores((folder,), metric), correlation)
    if not found:
        raise UsageError(problems[0])
    return found, problems


def _lines(
    assumptions: "PowerAssumptions", detect: float | None, items: int | None, levels: tuple[float, float], families: int
) -> Iterator[str]:
    alpha, power = levels
    if assumptions.name:
        yield assumptions.name
    if detect is not None:
        yield f"To detect a difference of {detect:g} with a power of {power:g}, two-sided at {alpha:g}:"
        yield from _needed(assumptions, detect, levels, families)
    elif items is not None:
        yield f"With {plural(items, 'item')} and a power of {power:g}, two-sided at {alpha:g}:"
        yield from _detectable(assumptions, items, levels, families)
    yield f"  {'from the pilot' if assumptions.name else 'assumed'}: {assumptions.description}"


def _needed(
    assumptions: "PowerAssumptions", detect: float, levels: tuple[float, float], families: int
) -> Iterator[str]:
    from waybench.results.stats import items_needed

    alpha, power = levels
    found = items_needed(assumptions, detect, alpha=alpha, power=power)
    yield f"  the same items for both models: {found.items:,}{_clusters(assumptions, found.clusters)}"
    if families > 1:
        strict = items_needed(assumptions, detect, alpha=alpha / families, power=power)
        yield f"  in each of {families} families, at worst: {strict.items:,}{_clusters(assumptions, strict.clusters)}"
    if found.unpaired is not None:
        yield f"  other items for each model: {found.unpaired:,} each"


def _detectable(
    assumptions: "PowerAssumptions", items: int, levels: tuple[float, float], families: int
) -> Iterator[str]:
    from waybench.results.stats import detectable_difference

    alpha, power = levels
    found = detectable_difference(assumptions, items, alpha=alpha, power=power)
    yield f"  the same items for both models: {_shown(found)}"
    if families > 1:
        strict = detectable_difference(assumptions, items, alpha=alpha / families, power=power)
        yield f"  in each of {families} families, at worst: {_shown(strict)}"


def _shown(found: float | None) -> str:
    return "none, however large" if found is None else f"differences from {found:.3f}"


def _clusters(assumptions: "PowerAssumptions", clusters: int) -> str:
    return f" in {plural(clusters, 'cluster')}" if assumptions.size > 1 else ""
