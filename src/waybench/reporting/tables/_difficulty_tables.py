"""The table of what makes single items hard."""

from collections.abc import Iterable

from waybench.reporting.tables._table import Cell, Column, Note, Table, TableRow, rows_of
from waybench.reporting.tables._task_view import TaskView
from waybench.results.estimates import ItemDifficulty
from waybench.results.formatting import NOTHING
from waybench.results.stats import CONFIDENCE


def difficulty_table(view: TaskView, found: Iterable[ItemDifficulty]) -> Table | None:
    """Return the table of the explanatory variables of an environment's items; None without a difficulty index.

    Args:
        view: The task.
        found: Its index, if it has one.
    """
    index = next((each for each in found if each.gain is not None), None)
    if index is None or index.gain is None:
        return None
    gain, axis, item = index.gain, view.env.difficulty.axes[0].title.lower(), view.presentation.item
    shown = "" if gain.low > 1 else ", so that no gain is shown"
    caption = (
        f"Success falls {gain.ratio:.2f} times as steeply with the difficulty of a single {item} as with "
        f"its {axis} alone ({100 * CONFIDENCE:.0f} % interval {gain.low:.2f} to {gain.high:.2f}{shown}): the log odds "
        f"of success fall by {gain.conditional:.2f} with each unit of the difficulty index, and by {gain.marginal:.2f} "
        f"with each doubling of the {axis}, in logistic regressions with an intercept for each player. The index is "
        f"log2 of the {axis}, plus the variables with the weights below; for each {item} it is fitted on "
        f"others (cross-fitting), so that variables without influence give a ratio of 1 or less. {gain.attempts:,} "
        f"results of {gain.players} players who solved some {view.presentation.items} and not all."
    )
    docs = {each.name: each for each in view.env.difficulty.item_variables}
    rows = [
        TableRow(
            Cell(text=docs[name].title, title=docs[name].doc),
            [Cell(text=_signed(weight) if weight else NOTHING, kind="score")],
        )
        for name, weight in index.weights.items()
    ]
    return Table(
        id="task-item-difficulty",
        title=f"What makes one {item} harder than another",
        caption=(Note(caption),),
        columns=[
            Column(heading="Variable"),
            Column(
                heading=f"A doubling is worth, in doublings of the {axis}",
                help="Of the variable plus 1, beyond what is usual at the level.",
                kind="score",
            ),
        ],
        groups=rows_of(rows),
        kind="scores slopes",
    )


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
