"""What the first page shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waybench.analysis import (
    Estimate,
    ExamplesEffect,
    Group,
    Measure,
    Pair,
    Regression,
    Repeats,
    SuccessCurve,
    WordingEffect,
    differing,
    grouped,
    is_perfect,
    mean_text,
    measure,
    ranked,
    setting,
)
from waybench.core import Environment, Metric, plural, with_article
from waybench.envs import registry
from waybench.report._families import Family, family
from waybench.report._files import slug
from waybench.report._format import anchor, interval_text, missing_text, part
from waybench.report.charts import Figure, level_figures, step_figures, undrawn
from waybench.report.pages._overview import Overview, in_order, overviews
from waybench.report.tables import (
    AttemptLine,
    Averages,
    ComparisonTable,
    Made,
    Prompt,
    Reach,
    RepeatLine,
    SlopeTable,
    SpreadLine,
    attempt_lines,
    averages,
    pair_tables,
    prompt,
    reaches,
    repeat_table,
    side_by_side,
    slope_tables,
    spread_table,
    wording_table,
)


@dataclass(frozen=True, slots=True)
class Cell:
    """The scores of one model at one level.

    Attributes:
        best: Mean of the best attempts, as text; with a teacher the mean of the curve over its steps.
        single: What a single attempt gives on average, as text; "" with a teacher.
        interval: Its interval, as text.
        part: How good `best` is between the metric's bounds, from 0 to 1; None if it has none.
        note: The numbers behind it.
        missing: What infrastructure errors left out, and what the score would be with it; "" for nothing.
        flagged: Whether infrastructure errors left something out.
        undefined: Whether there is no value although some attempts ended without an infrastructure error.
    """

    best: str
    single: str
    interval: str
    part: float | None
    note: str
    missing: str
    flagged: bool
    undefined: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the first page's tables.

    Attributes:
        name: The model.
        page: File name of its page.
        differs: The settings in which it differs from other rows, in words.
        cells: A cell for each level; None where it was not run.
        total: The estimate over all levels.
        prompt: How much of its prompts is shared and was cached, for how it went.
    """

    name: str
    page: str
    differs: list[str]
    cells: list[Cell | None]
    total: Estimate
    prompt: Prompt | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What the estimates are compared by.

    Attributes:
        changes: What in-context examples change.
        repeats: What repeats of the whole come to.
        pairs: Models two by two.
        regressions: Scores on what may explain them.
        wordings: The same items in several wordings.
        curves: How success falls with difficulty.
    """

    changes: Sequence[ExamplesEffect]
    repeats: Sequence[Repeats]
    pairs: Sequence[Pair]
    regressions: Sequence[Regression]
    wordings: Sequence[WordingEffect]
    curves: Sequence[SuccessCurve]

    def of(self, place: "Place") -> "Compared":
        """Return what belongs to one section."""
        return Compared(
            changes=[each for each in self.changes if _place(each.group) == place],
            repeats=[each for each in self.repeats if _place(each.group) == place],
            pairs=[each for each in self.pairs if _place(each.first) == place],
            regressions=[each for each in self.regressions if _place(each.group) == place],
            wordings=[each for each in self.wordings if _place(each.group) == place],
            curves=[each for each in self.curves if _place(each.group) == place],
        )


Place = tuple[str, tuple[str, ...]]  # an environment, and what its scores are kept apart by


def _place(group: Group) -> Place:
    return group.env, group.apart


@dataclass(frozen=True, slots=True)
class Scores:
    """A table of scores by level.

    Attributes:
        measured: What is in it.
        guided: Whether it is of episodes with a teacher.
        levels: All levels that were run.
        models: Rows of models.
        references: Rows of the embedded players.
        most_attempts: The highest number of an attempt.
        flagged: Whether a cell is flagged.
        undefined: Whether some cell has no value though nothing went wrong.
    """

    measured: Measure
    guided: bool
    levels: list[int]
    models: list[Line]
    references: list[Line]
    most_attempts: int
    flagged: bool
    undefined: bool


@dataclass(frozen=True, slots=True)
class Section:
    """One environment on the first page.

    Attributes:
        env: The environment.
        apart: Settings, in words, that keep its scores out of others' tables.
        family: What is known of its family.
        overviews: The family's tables, before its first environment.
        about: What was measured, in two sentences.
        common: The settings that all rows share, in words.
        by_level: Its charts of the score by level, for the first page.
        figures: Its other charts.
        undrawn: Sentences on what its charts do not show.
        reach: How far its models reach, for each axis of difficulty.
        scores: Its tables of scores by level.
        metrics: Its tables of all metrics of the family, as the family's own on the first page.
        aggregates: Its tables of what sets of episodes come to.
        averages: Its table of averages over what was drawn, such as maps; None if each item is drawn by itself.
        pairs: Its tables of models in pairs.
        slopes: Its tables of regressions.
        models: Rows of models, for how it went.
        references: Rows of the embedded players.
        spread_metrics: Columns of the table of several sets.
        spread: Its rows; none where there is one set.
        repeat_metrics: Columns of the table of repeats.
        repeats: Its rows; none where the whole was not repeated.
        wordings: Its table of wordings; None where no player was given several.
        attempts: Rows of what intervals are due to; none where no item was attempted twice.
        uneven: Whether some rows have other levels than others.
        guided: Whether a teacher played in some rows.
        unconfirmed: Rows with episodes that do not replay.
        not_simulated: Rows with episodes whose records could not be simulated again here.
    """

    env: Environment[Any, Any, Any]
    apart: tuple[str, ...]
    family: Family
    overviews: list[Overview]
    about: tuple[str, str]
    common: list[str]
    by_level: list[Figure]
    figures: list[Figure]
    undrawn: list[str]
    reach: list[Reach]
    scores: list[Scores]
    metrics: list[Overview]
    aggregates: list[Made]
    averages: Averages | None
    pairs: list[ComparisonTable]
    slopes: list[SlopeTable]
    models: list[Line]
    references: list[Line]
    spread_metrics: list[Metric]
    spread: list[SpreadLine]
    repeat_metrics: list[Metric]
    repeats: list[RepeatLine]
    wordings: ComparisonTable | None
    attempts: list[AttemptLine]
    uneven: bool
    guided: bool
    unconfirmed: list[Line]
    not_simulated: list[Line]

    @property
    def charts(self) -> list[Figure]:
        """All of its charts."""
        return [*self.by_level, *self.figures, *(each.figure for each in self.reach)]

    def holds(self, group: Group) -> bool:
        """Whether a group's scores are in it."""
        return _place(group) == (self.env.id, self.apart)

    @property
    def anchor(self) -> str:
        """What its page is called, and its place in another one."""
        told = "".join(self.apart)
        # What a record says of its options may be anything.
        return slug(f"{self.env.id}-{told}", f"{self.env.id} {told}") if told else anchor(self.env.id)


def sections(
    estimates: Sequence[Estimate],
    totals: Sequence[Estimate],
    compared: Compared,
    pages: Mapping[Group, str],
) -> list[Section]:
    """Return the sections of the first page, one for each environment, those of one family together.

    Args:
        estimates: The estimates by level.
        totals: Those over all levels.
        compared: What they are compared by.
        pages: File names of the groups' pages.
    """
    total_of = {total.group: total for total in totals}
    by_place = grouped(estimates, lambda estimate: _place(estimate.group))
    found: list[Section] = []
    for places in grouped(by_place, lambda place: (place[0].partition("/")[0], place[1])).values():
        words, apart, envs = family(places[0][0]), places[0][1], [env for env, _ in places]
        everything = [estimate for place in places for estimate in by_place[place]]
        pooled = [total for total in totals if _place(total.group) in places and registry.load(total.group.env).pooled]
        tables = overviews(words, pooled or everything, compared.changes, pages) if words.metrics else []
        for number, env in enumerate(in_order(words, envs)):
            place, before = (env, apart), [] if number else tables
            own = [each for each in pooled or everything if each.group.env == env]
            metrics = overviews(words, own, compared.changes, pages) if words.metrics else []
            found.append(_section(place, before, metrics, by_place[place], total_of, compared.of(place), pages))
    return found


def _section(
    place: Place,
    tables: list[Overview],
    metrics: list[Overview],
    estimates: Sequence[Estimate],
    total_of: Mapping[Group, Estimate],
    compared: Compared,
    pages: Mapping[Group, str],
) -> Section:
    env, words = registry.load(place[0]), family(place[0])
    groups = ranked(estimates)
    levels = sorted({level for cells in groups.values() for level in cells})
    lines = [
        (
            group,
            Line(
                group.model,
                pages[group],
                differing(group, groups),
                [],
                total_of[group],
                prompt(total_of[group], words),
            ),
        )
        for group in groups
    ]
    first = next(iter(groups))
    varied = set(differing(first, groups))
    by_guide = grouped(estimates, lambda estimate: estimate.guided)
    # The family's tables have it all where there is one level.
    scored = [_scores(env, by_guide[guided], total_of, pages) for guided in sorted(by_guide)]
    spread_metrics, spread_lines = spread_table(env, words, estimates)
    charts = level_figures(env, words, estimates)
    repeat_metrics, repeat_lines = repeat_table(env, words, compared.repeats)
    return Section(
        env=env,
        apart=place[1],
        family=words,
        overviews=tables,
        about=(_first_sentence(env.about), _second_sentence(estimates, env.metrics[0], words, levels)),
        common=[told for name, value in first.settings.items() if (told := setting(name, value)) not in varied],
        by_level=charts,
        figures=step_figures(env, words, estimates),
        undrawn=undrawn(env, words, estimates, charts),
        reach=reaches(env, words, compared.curves, list(groups), pages),
        scores=scored if not words.metrics or len(levels) > 1 else [],
        metrics=metrics,
        aggregates=side_by_side(env, words, [total_of[g] for g in groups] if env.pooled else estimates, pages),
        averages=averages(env, words, list(groups), total_of, pages),
        pairs=pair_tables(env, words, list(groups), compared.pairs, pages),
        slopes=slope_tables(env, words, list(groups), compared.regressions, pages),
        models=[line for group, line in lines if not group.embedded],
        references=[line for group, line in lines if group.embedded],
        spread_metrics=spread_metrics,
        spread=spread_lines,
        repeat_metrics=repeat_metrics,
        repeats=repeat_lines,
        wordings=wording_table(env, words, compared.wordings, pages),
        attempts=attempt_lines([total_of[group] for group in groups]),
        uneven=len({tuple(cells) for cells in groups.values()}) > 1,
        guided=True in by_guide,
        unconfirmed=[line for _, line in lines if line.total.unconfirmed],
        not_simulated=[line for _, line in lines if line.total.not_simulated],
    )


def _scores(
    env: Environment[Any, Any, Any],
    estimates: Sequence[Estimate],
    total_of: Mapping[Group, Estimate],
    pages: Mapping[Group, str],
) -> Scores:
    groups = ranked(estimates)
    levels = sorted({level for cells in groups.values() for level in cells})
    guided = estimates[0].guided
    measured, words = measure(env, guided), family(env.id)
    lines = [
        Line(
            name=group.model,
            page=pages[group],
            differs=differing(group, groups),
            cells=[_cell(cells.get(level), measured, words) for level in levels],
            total=total_of[group],
        )
        for group, cells in groups.items()
    ]
    return Scores(
        measured=measured,
        guided=guided,
        levels=levels,
        models=[line for line in lines if not line.total.group.embedded],
        references=[line for line in lines if line.total.group.embedded],
        most_attempts=max(estimate.most_attempts for estimate in estimates),
        flagged=any(cell.flagged for line in lines for cell in line.cells if cell),
        undefined=any(cell.undefined for line in lines for cell in line.cells if cell),
    )


def _cell(estimate: Estimate | None, measured: Measure, words: Family) -> Cell | None:
    if estimate is None:
        return None
    metric, mean = measured.metric, measured.mean(estimate)
    note = f"{plural(estimate.items, words.item, words.items)}, {plural(estimate.attempts, 'attempt')}"
    if estimate.missing:
        note += f", {estimate.missing} missing"
    if estimate.incomplete:
        note += f", {estimate.incomplete} incomplete"
    best_of = not measured.series and registry.load(estimate.group.env).best_of
    if best_of and (ends := interval_text(mean, metric)):
        note += f"; best of attempts {ends}"
    single = mean if measured.series else estimate.single
    return Cell(
        best=mean_text(mean.value if mean else None, metric),
        single=mean_text(single.value if single else None, metric) if best_of else "",
        interval=interval_text(single, metric),
        part=part(mean.value if mean else None, metric),
        note=note,
        missing=missing_text(estimate, metric),
        flagged=bool(estimate.missing or estimate.incomplete),
        undefined=mean is None and estimate.attempts > 0,
    )


def _first_sentence(about: str) -> str:
    text = " ".join(about.split())
    end = text.find(". ")
    return text if end < 0 else text[: end + 1]


def _second_sentence(estimates: Sequence[Estimate], metric: Metric, words: Family, levels: Sequence[int]) -> str:
    most = max(estimate.most_attempts for estimate in estimates)
    items = {estimate.items + estimate.missing for estimate in estimates}
    count = plural(max(items), words.item, words.items)
    up_to = "" if len(items) == 1 else "up to "
    span = f"{words.level} {levels[0]}" if len(levels) == 1 else f"{words.levels} {levels[0]} to {levels[-1]}"
    each = f"{up_to}{count}" if len(levels) == 1 else f"{up_to}{count} each"
    free = any(not estimate.guided for estimate in estimates)
    best_of = registry.load(estimates[0].group.env).best_of
    bounded = free and best_of and (is_perfect(metric.high, metric) or is_perfect(metric.low, metric))
    # How many were allowed is not in the records: where each first one was perfect, no other was made.
    ended = ", and none counts after a perfect one" if bounded else ""
    tries = "one attempt was" if most == 1 else f"{most:,} attempts were"
    return f"{span.capitalize()}, {each}; at most {tries} made at {with_article(words.item)}{ended}."
