"""A comparison as a check of a change: when it fails, and what a comment on the change says."""

import sys
from collections.abc import Sequence
from typing import NamedTuple

from waybench.cli._output import open_lines, to_stderr
from waybench.core import UsageError, plural
from waybench.reporting.tables._markdown import escape_markdown
from waybench.results.comparisons._comparison import Comparison
from waybench.results.comparisons._decisions import BETTER, UNDECIDED, Decision
from waybench.results.comparisons._outcomes import Outcome
from waybench.results.comparisons._text import comparison_cells
from waybench.results.formatting import one_line
from waybench.results.horizons._text import HorizonComparison
from waybench.results.results import LONGEST
from waybench.results.stats._verdicts import Verdict

WORSE, NOT_BETTER, UNSURE = "worse", "not-better", "unsure"
_LONGEST_LINE = 2000
# Of several conditions that hold, the first one decides.
STATUSES = {WORSE: 4, NOT_BETTER: 5, UNSURE: 6}


class Tally(NamedTuple):
    """What the tasks of a comparison say of B, the change, beside A.

    Attributes:
        better: Tasks at which B is shown to be better.
        worse: Tasks at which it is shown to be worse.
        tied: Tasks at which both are shown to differ by less than the margin.
        unsure: Tasks that show none of these.
    """

    better: Sequence[str]
    worse: Sequence[str]
    tied: Sequence[str]
    unsure: Sequence[str]

    def first_condition_met(self, conditions: Sequence[str]) -> str:
        """Return the first of these conditions that holds; "" if none does."""
        holds = {
            WORSE: bool(self.worse),
            NOT_BETTER: bool(self.worse) or not self.better,
            UNSURE: bool(self.unsure),
        }
        return next((name for name in STATUSES if name in conditions and holds[name]), "")

    @property
    def text(self) -> str:
        """The tally in a line: "B is worse on 1 task (alicia), better on 2 (bfs, dfs)"."""
        words = {"worse": self.worse, "better": self.better, "tied": self.tied, "not sure": self.unsure}
        parts = [
            f"{word} on {plural(len(tasks), 'task')} ({', '.join(tasks)})" for word, tasks in words.items() if tasks
        ]
        return f"B is {'; '.join(parts)}"


def tally_tasks(
    comparisons: Sequence[Comparison], ratios: Sequence[HorizonComparison], decisions: Sequence[Decision], second: str
) -> Tally:
    """Return the tasks at which the second of two models is better, worse, tied or neither.

    Ratios of horizons of tasks that are compared on items, too, do not count twice. `second` is the second model's
    name; "" where models are compared with themselves, before and after a change.

    Raises:
        UsageError: If several models are compared with others.
    """
    pairs = {(pair.first.model, pair.second.model) for pair in comparisons}
    pairs |= {(ratio.first.model, ratio.second.model) for ratio in ratios}
    has_other_models = len(pairs) > 1 and any(first != other for first, other in pairs)
    if has_other_models or any(len(decision.plan.models) > 2 for decision in decisions):
        raise UsageError("--fail-if and --markdown are of one model beside another: name A and B")

    def task_label(name: str, model: str) -> str:
        """Return a task's name, with the model if there are several."""
        return f"{model}: {name}" if len(pairs) > 1 else name

    result_by_verdict = {Verdict.FIRST: "worse", Verdict.SECOND: "better", Verdict.TIED: "tied"}
    results = [
        (task_label(pair.name, pair.first.model), result_by_verdict.get(pair.verdict, "unsure")) for pair in comparisons
    ]
    compared_on_items = {(pair.first.model, pair.first.task) for pair in comparisons}
    results += [
        (
            task_label(ratio.first.task, ratio.first.model),
            # The side with the larger horizon is the better one: 1 is A, -1 is B.
            "unsure" if ratio.depends else {1: "worse", -1: "better"}.get(ratio.larger, "unsure"),
        )
        for ratio in ratios
        if (ratio.first.model, ratio.first.task) not in compared_on_items
    ]
    results += [(decision.plan.task, _decision_result(decision, second)) for decision in decisions]
    return Tally(
        *(
            [one_line(name, LONGEST) for name, result in results if result == tally_field]
            for tally_field in Tally._fields
        )
    )


def _decision_result(decision: Decision, second: str) -> str:
    """Return the second model's result: "better", "worse", "tied" or "unsure"."""
    if decision.problem or decision.verdict == UNDECIDED:
        return "unsure"
    if decision.verdict != BETTER:
        return "tied"
    return "better" if decision.best == (second,) else "worse"


def write_markdown(
    path: str, outcomes: Sequence[Outcome], comparisons: Sequence[Comparison], tally: Tally, failure: str
) -> None:
    """Write a comparison as Markdown, for a comment on a change: the verdict first, then a line for each task."""
    lines = [escape_markdown(text, _LONGEST_LINE) for text in (*(outcome.text for outcome in outcomes), tally.text)]
    parts = ["### waybench", *lines[:-1], f"{lines[-1]}."]
    if failure:
        parts.append(f"**This fails: {failure}.**")
    if comparisons:
        parts.append(
            "\n".join(
                f"{letter}: {escape_markdown(name)}  " for letter, name in zip("AB", comparisons[0].names, strict=True)
            )
        )
        table = [["task", "items", "A", "B", "A − B", "95 % interval", "p", "verdict"]]
        table += [[one_line(pair.name, LONGEST), *comparison_cells(pair)] for pair in comparisons]
        rows = [f"| {' | '.join(map(escape_markdown, row))} |" for row in table]
        parts.append("\n".join([rows[0], f"|{' --- |' * len(table[0])}", *rows[1:]]))
    with open_lines(path) as write:
        write("\n\n".join(parts))


def exit_if_failed(tally: Tally, condition: str) -> None:
    """Exit with the status of a condition that holds, after a line that says why; do nothing for ""."""
    if condition:
        to_stderr(f"waybench: --fail-if {condition}: {tally.text}")
        sys.exit(STATUSES[condition])
