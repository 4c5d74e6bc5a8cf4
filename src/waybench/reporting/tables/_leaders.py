"""The first table: a row for each model at each task."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from waybench.core import Metric
from waybench.envs import registry
from waybench.reporting._format import (
    amount,
    heading,
    interval_text,
    mean_part,
    money,
    percent,
    percent_interval,
    presentation_of,
)
from waybench.reporting.tables._horizon_tables import horizon_cell
from waybench.reporting.tables._table import (
    Cell,
    Column,
    Note,
    Table,
    TableRow,
    columns_of,
    error_cell,
    lost_mark,
    model_cell,
    notes,
    number_cell,
    parts,
    rows_of,
)
from waybench.results import Estimate
from waybench.results.estimates import ladder_ended, measure, ranked
from waybench.results.formatting import LOST, NO_RANK, NOTHING, bounds_text, lost_text, mean_text
from waybench.results.horizons import Horizon, axis_named, horizon_context, reference_text
from waybench.results.results import Group, differing, grouped, over
from waybench.results.stats import CONFIDENCE, LostAttempts, Mean

OUTCOMES = {
    "unparsed": "Unparsed",
    "illegal": "Illegal",
    "truncated": "Truncated",
    "overflow": "Overflow",
    "refused": "Refused",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader:
    """One row.

    Attributes:
        group: Model, task and settings.
        model_page: File name of the model's page.
        page: File name of the page of its results.
        differs: The settings in which it differs from others at this task, in words.
        family: The family's name.
        title: The environment's title.
        apart: What keeps its scores out of others' tables, in words.
        metric: What the score is, with its unit.
        score: The score.
        interval: Its interval, as text.
        unbounded: Which bound the score does not have, as "no lower bound"; "" if it has both.
        normalised: The score between floor (0) and ceiling (100) of the same items with its interval, as text; "" if
            that is nothing new.
        part: How good it is between the metric's bounds, from 0 to 1; None if it has none.
        note: What has to be said of the score; "" for nothing.
        lost: The attempts that the score lacks, and what it would be with them; None for none. It has no rank then.
        items: Number of items.
        horizon: The horizon on the environment's first axis, or on that of a search along an option.
        counts: What the horizon counts; "" where there is none.
        success: What counts as success for it, and the horizons of players that know nothing; "" without a horizon.
        known_nothing: These horizons alone.
        solved: Share of attempts that are solved, in per cent.
        outcomes: Of each outcome, its share of the replies that had to name an action, in per cent.
        errors: Infrastructure errors.
        tokens: Tokens for each solved item.
        cost: Dollars for each solved item; below it, those of all attempts.
    """

    group: Group
    model_page: str
    page: str
    differs: list[str]
    family: str
    title: str
    apart: tuple[str, ...]
    metric: str
    score: Cell
    interval: str
    unbounded: str
    normalised: str
    part: float | None
    note: str
    lost: LostAttempts | None
    items: Cell
    horizon: Cell
    counts: str
    success: str
    known_nothing: str
    solved: Cell
    outcomes: list[Cell]
    errors: int
    tokens: Cell
    cost: Cell


@dataclass(frozen=True, slots=True)
class Leaders:
    """The table.

    Attributes:
        models: Rows of models.
        references: Rows of the embedded players.
        priced: Whether some row has a cost.
        noted: Whether some row has a note.
        has_horizons: Whether some row has a horizon.
    """

    models: list[Leader]
    references: list[Leader]

    @property
    def lines(self) -> list[Leader]:
        """All rows."""
        return [*self.models, *self.references]

    @property
    def priced(self) -> bool:
        """Whether some row has a cost."""
        return any(line.cost.notes for line in self.lines)

    @property
    def noted(self) -> bool:
        """Whether some row was given other levels than others."""
        return any(line.note for line in self.lines)

    @property
    def rescaled(self) -> bool:
        """Whether some row has a score between floor and ceiling."""
        return any(line.normalised for line in self.lines)

    @property
    def lost(self) -> bool:
        """Whether some row lacks the results of attempts."""
        return any(line.lost for line in self.lines)

    @property
    def has_horizons(self) -> bool:
        """Whether some row has a horizon."""
        return any(line.horizon.order is not None for line in self.lines)


def leaders(
    estimates: Sequence[Estimate],
    totals: Sequence[Estimate],
    pages: Mapping[Group, str],
    model_pages: Mapping[str, str],
    horizons: Mapping[Group, Horizon],
    only: str | None = None,
    searched: Collection[Group] = (),
) -> Leaders:
    """Return the table, by family and environment, and within one the best model first.

    Args:
        estimates: All estimates by level.
        totals: Those over all levels.
        pages: File names of the groups' pages.
        model_pages: File names of the models' pages.
        horizons: The groups' horizons, each on the axis that stands for it (`leading`).
        only: A model, if only its rows are wanted.
        searched: Groups whose items were chosen by a search for a horizon, from their own results: a mean over such
            items means nothing, so that their rows have a horizon and no score.
    """
    total_of = {total.group: total for total in totals}
    found: list[Leader] = []
    by_place = grouped(estimates, lambda each: (each.group.env, each.group.apart))
    for place in sorted(by_place, key=lambda place: (presentation_of(place[0]).title, place)):
        groups = ranked(by_place[place])
        most = sorted({level for cells in groups.values() for level in cells})
        for group, cells in groups.items():
            if only is None or group.model == only:
                differs = differing(group, groups)
                horizon = horizons.get(group)
                made = _leader(total_of[group], cells, most, differs, pages, model_pages, horizon)
                found.append(_without_score(made) if group in searched else made)
    return Leaders(
        [line for line in found if not line.group.embedded],
        [line for line in found if line.group.embedded],
    )


def _leader(
    total: Estimate,
    cells: Mapping[int, Estimate],
    most: Sequence[int],
    differs: list[str],
    pages: Mapping[Group, str],
    model_pages: Mapping[str, str],
    horizon: Horizon | None,
) -> Leader:
    group, env = total.group, registry.load(total.group.env)
    measured = measure(env, total.guided)
    # Curves are of one level: with a teacher there is a score where all episodes are of the same.
    estimate = total if len(cells) > 1 else next(iter(cells.values()))
    whole, lost = measured.mean(estimate), measured.lost(estimate)
    mean, note = _overall(whole, cells, most, measured.metric)
    metric = over(measured.metric, [total])
    lost = lost if mean is None else mean.lost
    ends = lost_text(lost, metric) or interval_text(mean, metric)
    return Leader(
        group=group,
        model_page=model_pages[group.model],
        page=pages[group],
        differs=differs,
        family=presentation_of(group.env).title,
        title=env.title,
        apart=group.apart,
        metric=heading(measured.metric) + (" (lower is better)" if measured.metric.better == "lower" else ""),
        score=Cell(
            text=mean_text(mean.value if mean else None, measured.metric),
            order=None if lost or mean is None else mean.value,
            mark=lost_mark(lost),
        ),
        interval=ends,
        unbounded=_no_bounds(metric) if ends and not lost else "",
        normalised=_normalised(total, metric) if mean is whole else "",
        part=mean_part(mean, metric),
        note=note,
        lost=lost,
        items=_number(total.items),
        horizon=horizon_cell(horizon),
        counts=axis_named(env.id, horizon.axis).title.lower() if horizon else "",
        success=horizon_context(horizon) if horizon else "",
        known_nothing=reference_text(horizon.references) if horizon else "",
        solved=replace(
            _percent(total.solved.value if total.solved else None),
            notes=notes([percent_interval(total.solved)] if total.lost else [], "flag"),
        ),
        outcomes=[_percent(total.outcomes.get(name, 0.0) if total.action_replies else None) for name in OUTCOMES],
        errors=total.errors,
        tokens=_number(total.per_solved(total.tokens)),
        cost=_cost(total),
    )


def _cost(total: Estimate) -> Cell:
    each, lines = total.per_solved(total.cost), []
    if total.cost is not None:
        lines = [f"{money(total.cost * total.attempts)} in all"]
    return number_cell(money(each), each, lines)


def _without_score(line: Leader) -> Leader:
    nothing = Cell(text=NOTHING, order=None)
    without = replace(line, score=nothing, interval="", unbounded="", normalised="", part=None, note="", lost=None)
    return replace(without, solved=nothing)


def _overall(
    mean: Mean | None, cells: Mapping[int, Estimate], most: Sequence[int], metric: Metric
) -> tuple[Mean | None, str]:
    """Return the score over all levels, and what has to be said of it where other models were given other levels."""
    levels = sorted(cells)
    if mean is None or levels == list(most):
        return mean, ""
    presentation = presentation_of(cells[levels[0]].group.env)
    level_range = (
        f"{presentation.levels} {levels[0]} to {levels[-1]}" if len(levels) > 1 else f"{presentation.level} {levels[0]}"
    )
    begun = list(most[: len(levels)]) == levels
    if not (begun and ladder_ended(cells[levels[-1]]) and metric.better == "higher" and metric.low == 0):
        return mean, f"{level_range} only"
    share = len(levels) / len(most)  # each level has as many items as another
    low, high = (None if end is None else end * share for end in (mean.low, mean.high))
    lost = mean.lost and mean.lost.scaled(share)
    return replace(
        mean, value=mean.value * share, low=low, high=high, lost=lost
    ), f"{level_range}; harder ones count as 0"


def _normalised(total: Estimate, metric: Metric) -> str:
    """Return the score from 0 (the floor) to 100 (the ceiling), where these are not the metric's own bounds."""
    found = total.rescaled
    if found is None or {found.floor, found.ceiling} == set(metric.bounds):
        return ""
    value, *ends = (None if end is None else 100 * end for end in (found.mean.value, found.mean.low, found.mean.high))
    low, high = (f"{end:.0f}".replace("-", "−") for end in ends) if None not in ends else ("", "")
    if found.mean.lost:
        return f"{value:.0f} ({bounds_text(found.mean.lost, lambda end: f'{100 * end:.0f}')})".replace("-", "−")
    # No line ends within the brackets.
    return f"{value:.0f}".replace("-", "−") + (f" ({low}\u00a0–\u00a0{high})" if low else "")


def _no_bounds(metric: Metric) -> str:
    """Return which bound a score does not have, for its interval; "" if it has both."""
    missing = [side for side, end in zip(("lower", "upper"), metric.bounds, strict=True) if end is None]
    return f"no {' or '.join(missing)} bound" if missing else ""


def _percent(share: float | None) -> Cell:
    return number_cell(percent(share), None if share is None else 100 * share)


def _number(value: float | None) -> Cell:
    return number_cell(amount(value), value)


def leader_tables(found: Leaders, *, alone: bool = False) -> list[Table]:
    """Return the table of models, with a row for each at each task, and that of the reference players.

    Args:
        found: The rows.
        alone: Whether they are all of one model, whose name is left out.
    """
    listed = ("leaders", "Models", found.models), ("references", "Reference players, not models", found.references)
    tables: list[Table] = []
    for name, title, lines in listed:
        if lines:
            tables.append(
                Table(
                    id=name,
                    title="Tasks" if alone else title,
                    caption=(Note(_FLOORS if tables else _ABOUT),),
                    help=() if tables else list(_help(found)),
                    columns=_columns(found, alone),
                    groups=rows_of(_row(line, found, alone) for line in lines),
                    kind="leaders scores",
                    choose="Family",
                )
            )
    return tables


_ABOUT = (
    "A row for each task, over all its levels; the task's name links to all its numbers and items. Small: "
    f"the {100 * CONFIDENCE:.0f} % interval, and the metric."
)
_FLOORS = "Floor and ceiling of each task."


def _help(found: Leaders) -> Iterator[Note]:
    if found.has_horizons:
        yield Note(
            "Horizon: the difficulty at which a single attempt succeeds at half of the items, with its 90 % interval. "
            "Below it, those of players that know nothing. What counts as success is on each task’s page. “Above” and "
            "“below”: outside the difficulties that were tried. “–”: all items have one difficulty. A search for a "
            "horizon chooses its items by their results, so that it has no score."
        )
    yield Note(
        "Unparsed, illegal, truncated, overflow and refused are shares of the replies that had to name an action; "
        "thoughts are not counted."
    )
    yield Note("Errors are infrastructure errors, which have no result.")
    yield Note(
        f"Tokens{' and cost' if found.priced else ''} per solved item: the total of all attempts divided by "
        f"the number of solved items{', and in small the total cost' if found.priced else ''}."
    )
    if found.rescaled:
        yield Note(
            "Normalised: 0 is the better of empty replies and the best constant reply (chosen on other items), 100 "
            "is the oracle, on the same items, with its interval; omitted where the two do not differ significantly."
        )
    if found.lost:
        yield Note("*", "flag")
        yield Note(LOST)
    if found.noted:
        yield Note("“harder ones count as 0”:", "flag")
        yield Note("the model failed the last level it was given, and harder levels count as 0;")
        yield Note("“only”:", "flag")
        yield Note("other models were given other levels.")


def _columns(found: Leaders, alone: bool) -> list[Column]:
    return columns_of(
        *(("Task",) if alone else ("Model", "*Task")),
        "Score",
        *(["Horizon"] if found.has_horizons else []),
        "Items",
        "Solved, %",
        *(f"{title}, %" for title in OUTCOMES.values()),
        "Errors",
        "Tokens per solved",
        *(["Cost per solved"] if found.priced else []),
    )


def _row(line: Leader, found: Leaders, alone: bool) -> TableRow:
    task = Cell(
        text=line.title,
        link=f"results/{line.page}",
        order=line.title,
        notes=parts(line.apart),
        kind="" if alone else "name",
    )
    model = replace(model_cell(line.group.model, line.differs, order=True), link=f"models/{line.model_page}")
    head, *first = [replace(task, notes=parts((*line.apart, *line.differs)))] if alone else [model, task]
    score = replace(
        line.score,
        bold=True,
        part=line.part,
        kind="score",
        notes=(
            *notes([line.interval], "flag" if line.lost else "interval"),
            *notes([NO_RANK.partition(":")[0]] if line.lost else [], "flag"),
            *notes([line.unbounded, line.metric]),
            *notes([line.normalised and f"normalised {line.normalised}"], "normalised"),
            *notes([line.note], "flag"),
        ),
    )
    horizon = replace(
        line.horizon,
        kind="zero" if line.horizon.order is None else "horizon",
        notes=(*line.horizon.notes, *notes([line.counts]), *notes([line.known_nothing], "success")),
    )
    cells = [
        *first,
        score,
        *([horizon] if found.has_horizons else []),
        line.items,
        line.solved,
        *line.outcomes,
        error_cell(line.errors),
        line.tokens,
        *([line.cost] if found.priced else []),
    ]
    return TableRow(head, cells, choice=line.family)
