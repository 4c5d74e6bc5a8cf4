"""Published rows beside a run's results, for a terminal."""

from collections.abc import Iterable

from waybench.analysis.estimates import aligned
from waybench.analysis.formatting import NOTHING, mean_text, one_line
from waybench.analysis.published._beside import Beside, label_of
from waybench.core import plural
from waybench.envs import registry
from waybench.papers import Numbers


def published_text(found: Iterable[Beside], numbers: Iterable[Numbers] = ()) -> str:
    """Return plain-text tables: the results of the run and, below a line, the published rows.

    Args:
        found: The published rows with the results beside them; those without rows of all items are left out.
        numbers: Published numbers that are values of no metric.
    """
    return "\n\n".join([*(_table(each) for each in found if each.rows), *(_numbers(each) for each in numbers)])


def _table(one: Beside) -> str:
    head = f"{registry.load(one.block.env).title}: {one.block.setting}"
    lines = [[head, *(metric.title for metric in one.metrics)]]
    kinds = [""]
    for result in one.results:
        name = f"{one_line(result.label, 60)} ({plural(result.items, 'item')})"
        means = zip(result.means, one.metrics, strict=True)
        lines.append([name, *(mean_text(mean.value if mean else None, metric) for mean, metric in means)])
        kinds.append("run")
    lines.append([f"{one.table.title}, published (not run here):", *("" for _ in one.metrics)])
    kinds.append("published")
    for row in one.rows:
        values = zip(row.values, one.metrics, strict=True)
        lines.append([f"  {label_of(row)}", *(mean_text(value, metric) for value, metric in values)])
        kinds.append("published")
    return aligned(lines, kinds)


def _numbers(one: Numbers) -> str:
    lines = [[f"{one.title}, published (not run here)", *one.columns]]
    lines += [[name, *(NOTHING if value is None else f"{value:g}" for value in values)] for name, values in one.rows]
    return aligned(lines)
