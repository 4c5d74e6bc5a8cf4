"""The table of agents: what an agent around a model gains on the same items, beside what it costs."""

from collections.abc import Sequence

from waybench.analysis.comparisons import AgentEffect
from waybench.analysis.formatting import NOTHING, one_line
from waybench.analysis.results import LONGEST, differing
from waybench.reporting._format import amount
from waybench.reporting.tables._comparisons import difference_cells
from waybench.reporting.tables._table import Cell, Note, Table, TableRow, columns_of, mean_cell, model_cell, rows_of
from waybench.reporting.tables._task_view import TaskView
from waybench.stats import CONFIDENCE


def agent_effect_table(view: TaskView, found: Sequence[AgentEffect]) -> Table | None:
    """Return the table of agents beside the bare model, models before embedded players; None if there are none.

    Args:
        view: The task.
        found: The effects.
    """
    if not found:
        return None
    items, metric, bare = view.presentation.items, found[0].comparison.metric, [each.bare for each in found]
    in_dollars = any(each.costs for each in found)
    unit, per = ("USD", "USD") if in_dollars else ("tokens", "1M tokens")
    rows: list[TableRow] = []
    for each in sorted(found, key=lambda each: each.group.embedded):
        one = each.comparison
        with_agent, without = each.spent_texts(in_dollars=in_dollars)
        cells = [
            Cell(text=one_line(each.agent, LONGEST), kind="name"),
            Cell(text=amount(one.items)),
            mean_cell(one.second_mean, metric),
            mean_cell(one.first_mean, metric),
            *difference_cells(one),
            Cell(text=without or NOTHING),
            Cell(text=with_agent or NOTHING),
            Cell(text=each.gain_text(in_dollars=in_dollars) or NOTHING),
        ]
        head = model_cell(each.group.model, differing(each.bare, bare), view.pages[each.group])
        rows.append(TableRow(head, cells))
    caption = (
        f"{metric.title} of the bare model and of the same model with an agent around it, at the {items} that both "
        f"were given. The difference is that of the agent, with its paired {100 * CONFIDENCE:.0f} % interval. p is "
        "from a paired test, adjusted by Holm’s procedure over all agents; a difference is bold where p is below 0.05. "
        f"Costs are means of an attempt over the same {items}. The gain is by how much an attempt is better for each "
        f"{per} that it costs more."
    )
    headings = "Model", "*Agent", items.capitalize(), "Bare", "Agent’s score", "Difference", "p"
    costs = f"Bare, {unit}", f"Agent, {unit}", f"Gain per {per}"
    return Table(
        id="task-agents",
        title=f"Agents beside the bare model: the same {items}",
        caption=(Note(caption),),
        columns=columns_of(*headings, *costs),
        groups=rows_of(rows),
        kind="scores wordings",
    )
