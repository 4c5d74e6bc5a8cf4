"""The summary of a run for a terminal: a line for each model at each task, and warnings about unreadable replies."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from waybench.core import WARN_ABOVE, Metric, plural, short_count, unreadable_reason
from waybench.core._unreadable import UNREADABLE
from waybench.results.estimates._estimates import Estimate, by_level, overall
from waybench.results.estimates._measures import UNDEFINED, HeadlineSpec, headline_specs, rank_by_merit
from waybench.results.estimates._reliability import PASS_DOC, PassRates
from waybench.results.formatting import (
    NOTHING,
    align_columns,
    better_text,
    bounds_text,
    known_ends,
    mean_text,
    one_line,
    text_width,
    too_few_note,
    too_few_text,
    too_few_values_text,
)
from waybench.results.logs import LoggedEpisode
from waybench.results.results import Row, RunKey, group_by, labels, short_labels
from waybench.results.results._normalized import NormalizedScore
from waybench.results.stats import IntervalEstimate, LostAttempts

_UNNAMED, _STEPS = "unnamed", "played"  # metrics of environments in which a reply can name no action
_INDENT = "  "
_FEW = "†"  # marks an interval from too few items
_CHANGED = "!"  # marks a line of which episodes do not replay
_LONGEST_NAME, _SHORTEST_NAME = 48, 16
_BELOW = "below floor"
MOST_COLUMNS = 100
_LOST = (
    "(a to b): the score if all attempts without a result were failures, and if all were as good as possible; such a "
    "score has no rank"
)
_LEGEND = {
    "95 %": "score: the mean over items, with its 95 % interval",
    "normalised": "normalised: 0 = floor (empty, random or constant replies), 100 = ceiling (the oracle)",
    "solved": "solved: the share of attempts that solve their item, also beside a score of the best attempts",
    "unreadable": "unreadable: replies that were unparsed, truncated, overflow or refused",
    "unnamed": "unnamed: steps at which the reply named no action",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableReplies:
    """The replies of one group that could not be read.

    Attributes:
        count: Number of these replies.
        replies: Number of all replies that had to name an action.
        reason: The most frequent reason.
        with_reason: Number of unreadable replies with this reason.
        example: The first of them.
    """

    group: RunKey
    count: int
    replies: int
    reason: str
    with_reason: int
    example: str

    @property
    def text(self) -> str:
        """The warning as text: the share of unreadable replies, their most frequent reason and an example."""
        share = f"{100 * self.count / self.replies:.0f} %"
        model, example = one_line(self.group.model, _LONGEST_NAME), one_line(self.example, 90)
        return (
            f"warning: {share} of the replies of {model} at {self.group.task}, {self.group.environment.title}, "
            "could not be read.\n"
            f"{_INDENT}Most frequent reason ({self.with_reason:,} of {self.count:,}): {one_line(self.reason, 90)}\n"
            f"{_INDENT}Example: {example or '(an empty reply)'}"
        )


def unreadable_replies(episodes: Sequence[LoggedEpisode], all_rows: Sequence[Row]) -> list[UnreadableReplies]:
    """Return the groups of models with more than 20 % unreadable replies.

    Args:
        episodes: The episodes.
        all_rows: Their rows, in the same order.
    """
    warnings: list[UnreadableReplies] = []
    pairs = [pair for pair in zip(episodes, all_rows, strict=True) if pair[1].is_included and not pair[0].embedded]
    for group, group_pairs in group_by(pairs, lambda pair: pair[1].group).items():
        outcomes = sum((Counter(row.outcomes) for _, row in group_pairs), Counter[str]())
        replies, count = outcomes.total(), sum(outcomes[outcome] for outcome in UNREADABLE)
        if not replies or count / replies <= WARN_ABOVE:
            continue
        turns = [turn for episode, _ in group_pairs for turn in episode.record.own_turns if turn.outcome in UNREADABLE]
        reasons = Counter(map(unreadable_reason, turns))
        if not reasons:
            continue
        (reason, with_reason), *_ = reasons.most_common(1)
        example = next(turn.reply for turn in turns if unreadable_reason(turn) == reason)
        warnings.append(
            UnreadableReplies(
                group=group, count=count, replies=replies, reason=reason, with_reason=with_reason, example=example
            )
        )
    return warnings


def summary_table(all_rows: Sequence[Row], *, searched: Collection[RunKey] = ()) -> str:
    """Return one line for each model at each task as an aligned table of plain text; "" without rows.

    Args:
        all_rows: The rows.
        searched: Groups whose mean score means nothing, since results decided which items they played.
    """
    if not all_rows:
        return ""
    ranked = rank_by_merit(by_level(all_rows))
    order = list(ranked)
    totals = {total.group: total for total in overall(all_rows)}
    by_group = group_by(all_rows, lambda row: row.group)
    tasks = group_by(order, lambda group: (group.task, group.env, group.separate_by, totals[group].guided))
    titles: dict[int, str] = {}  # by the number of the line below the title
    lines = [["", "n", "levels", "score [95 %]", "normalised", "solved", "unreadable", "unnamed", "tokens", "USD"]]
    shorter_names: list[str] = []  # of the lines, without the providers
    for (_, _, separate_by, guided), groups in tasks.items():
        names, short_names = labels(groups), short_labels(groups)
        are_searches = all(group in searched for group in groups)
        for headline in headline_specs(groups[0].environment, guided):
            if headline.aggregate and are_searches:
                continue
            if are_searches:  # whose scores are not shown
                titles[len(lines)] = f"{groups[0].task}, {groups[0].environment.title}"
            else:
                titles[len(lines)] = _task_title(groups[0], headline, separate_by, [totals[group] for group in groups])
            for group in groups:
                cells = _summary_cells(totals[group], headline, by_group[group], group in searched)
                lines.append([_INDENT + one_line(names[group], _LONGEST_NAME), *cells])
                shorter_names.append(short_names[group])
    has_scores = any(group not in searched for group in totals)
    fitting_lines = _fit_names(_without_empty_columns(lines, has_scores=has_scores), shorter_names)
    table: list[str] = []
    for number, line in enumerate(align_columns(fitting_lines, ["line"] * len(fitting_lines)).split("\n")):
        table += [titles[number], line] if number in titles else [line]
    level_notes = [
        f"{task}: each score is over the model's own levels; a report counts those beyond a failed last level as 0"
        for (task, *_), groups in tasks.items()
        if len({frozenset(row.level for row in by_group[group]) for group in groups if group not in searched}) > 1
    ]
    ordered = [totals[group] for group in order]
    return "\n".join(
        [
            *table,
            *_pass_rate_lines([total for total in ordered if total.group not in searched]),
            *_note_lines(ordered, searched),
            *dict.fromkeys(level_notes),
            *_legend_lines(ordered, searched, fitting_lines[0]),
        ]
    )


def _fit_names(lines: Sequence[Sequence[str]], shorter_names: Sequence[str]) -> list[list[str]]:
    """Return the lines with names that leave room for the numbers, the shorter names if necessary."""
    names, *columns = zip(*lines, strict=True)
    width = max(_SHORTEST_NAME, MOST_COLUMNS - sum(2 + max(map(text_width, column)) for column in columns))
    longest = width - len(_INDENT)
    names = [name.strip() for name in names[1:]]
    fitting_names = names if max(map(text_width, names)) <= longest else shorter_names
    pairs = zip(fitting_names, lines[1:], strict=True)
    return [list(lines[0]), *([_INDENT + one_line(name, longest), *line[1:]] for name, line in pairs)]


def _pass_rate_lines(totals: Sequence[Estimate]) -> list[str]:
    """Return a line with pass@k and pass^k for each model at each task with several attempts."""
    names = labels(total.group for total in totals)

    def pass_rate_line(total: Estimate, rates: PassRates) -> str:
        any_of, all_of = (_mean_with_interval_text(mean, None, 100, " %") for mean in (rates.any_of, rates.all_of))
        model = one_line(names[total.group], _LONGEST_NAME)
        return f"{_INDENT}{model} at {total.group.task}: pass@{rates.k} {any_of}, pass^{rates.k} {all_of}"

    lines = [pass_rate_line(total, rates) for total in totals for rates in total.reliability]
    return [f"{PASS_DOC}:", *lines] if lines else []


def _refusals_line(total: Estimate, name: str) -> str:
    """Return a line about unparsed replies that refuse in words; "" without any."""
    if not total.refusals_in_words:
        return ""
    replies = plural(total.action_replies, "reply", "replies")
    count = f"{total.refusals_in_words:,} of {replies}"
    return f"{name} at {total.group.task}: {count} refuse in words, without their provider's mark; they are unparsed"


def _note_lines(totals: Sequence[Estimate], searched: Collection[RunKey]) -> list[str]:
    """Return the lines on lost and unconfirmed episodes, refusals, and intervals from too few items."""
    names = labels(total.group for total in totals)
    lines = [_lost_attempts_line(total, names[total.group]) for total in totals]
    lines.append(_LOST if any(total.lost and total.group not in searched for total in totals) else "")
    lines += [_not_replayed_line(total, names[total.group]) for total in totals]
    lines += [_refusals_line(total, names[total.group]) for total in totals]
    few_notes = [
        f"{_FEW} {note}"
        for total in totals
        if total.group not in searched
        for headline in headline_specs(total.group.environment, total.guided)
        if (note := too_few_note(headline.mean(total), headline.metric))
    ]
    return [*filter(None, lines), *dict.fromkeys(few_notes)]


def _legend_lines(totals: Sequence[Estimate], searched: Collection[RunKey], headings: Sequence[str]) -> Iterator[str]:
    """Yield lines that explain the columns with these headings, and marks."""
    if any(total.attempts > total.items and not total.group.environment.scoring.best_of for total in totals):
        yield "n: different items; an item has several episodes here"
    yield from (text for key, text in _LEGEND.items() if any(key in title for title in headings))
    if any(total.attempts and not total.best and total.group not in searched for total in totals):
        yield UNDEFINED


def _summary_cells(total: Estimate, headline: HeadlineSpec, rows: Sequence[Row], is_searched: bool) -> list[str]:
    """Return the cells of a group's line; a headline aggregate has only count, levels and score."""
    few_items = "" if headline.series or headline.aggregate else total.few_items
    mean, lost = headline.mean(total), headline.lost_attempts(total)
    score = NOTHING if is_searched else _mean_with_interval_text(mean, headline.metric, lost=lost, few_items=few_items)
    levels = sorted({row.level for row in rows})
    n = f"{_item_count_text(total)}{'*' if total.lost else ''}{_CHANGED if total.unconfirmed else ''}"
    level_range = f"{levels[0]}" if len(levels) == 1 else f"{levels[0]}–{levels[-1]}"
    if headline.aggregate:
        return [n, level_range, score, *[""] * 6]  # the line above has the other cells
    rescaled = total.rescaled if not (is_searched or total.guided) else None
    solved = None if is_searched else total.solved
    unreadable = sum(total.outcomes.get(outcome, 0.0) for outcome in UNREADABLE) if total.action_replies else None
    tokens = None if total.tokens is None else total.tokens * total.attempts
    cost = None if total.cost is None else total.cost * total.attempts
    return [
        n,
        level_range,
        score,
        NOTHING if rescaled is None else _normalized_score_text(rescaled),
        _mean_with_interval_text(solved, None, 100, " %")
        if solved and solved.lost
        else _percent_text(solved and solved.value),
        _percent_text(unreadable),
        _percent_text(_share_without_action(rows)),
        NOTHING if tokens is None else short_count(tokens),
        "" if cost is None else f"{cost:.2f}",
    ]


def _normalized_score_text(score: NormalizedScore) -> str:
    """Return a normalised score in per cent with its interval, or "below floor"."""
    if score.is_below_floor and not score.mean.lost:
        return _BELOW
    return _mean_with_interval_text(score.clipped_mean, None, 100)


def _item_count_text(total: Estimate) -> str:
    """Return the number of items and, where attempts are lost, how many have a result: "4 of 10"."""
    if total.lost is None:
        return f"{total.items:,}"
    attempts = f"{total.attempts:,} of {total.n_planned:,}"
    return attempts if total.attempts == total.items else f"{total.items:,} ({attempts} attempts)"


def _mean_with_interval_text(
    mean: IntervalEstimate | None,
    metric: Metric | None,
    factor: int = 1,
    unit: str = "",
    *,
    lost: LostAttempts | None = None,
    few_items: str = "",
) -> str:
    """Return a mean with its interval, or the few items or the bounds in its place.

    Such as "66.7 [42.1, 84.8]", "66.7 [3 items: 2 solved]" and "100.0 (40.0 to 100.0)".
    """

    def number_text(value: float) -> str:
        return mean_text(value, metric) if factor == 1 else f"{factor * value:.0f}".replace("-", "−")

    lost = lost or (mean and mean.lost)
    value = NOTHING if mean is None else f"{number_text(mean.value)}{unit}"
    if lost is not None:
        return f"{value} ({bounds_text(lost, number_text)})"
    ends = known_ends(mean, metric, bounds=None if metric else (0, 1))
    if mean is None or ends is None:
        few_items = few_items or ("" if mean is None or mean.low is None else too_few_values_text(mean))
        return f"{value} [{few_items}]" if few_items and mean is not None else value
    few_items = _FEW if factor == 1 and too_few_text(mean, metric) else ""
    return f"{value} [{number_text(ends[0])}, {number_text(ends[1])}]{few_items}"


def _percent_text(value: float | None) -> str:
    """Return a share in per cent, without decimals; a dash if it is not known."""
    return NOTHING if value is None else f"{100 * value:.0f} %"


def _share_without_action(rows: Iterable[Row]) -> float | None:
    """Return the share of steps whose reply names no action; None where there is no such metric."""
    metrics_by_row = [row.metrics for row in rows if row.is_included and row.metrics.get(_UNNAMED) is not None]
    steps = sum(metrics.get(_STEPS) or 0.0 for metrics in metrics_by_row)
    return sum(metrics[_UNNAMED] or 0.0 for metrics in metrics_by_row) / steps if steps else None


def _task_title(
    group: RunKey, headline: HeadlineSpec, separate_by: Sequence[str], estimates: Sequence[Estimate]
) -> str:
    """Return the title above a task's lines: task, environment, headline, attempts and options."""
    env = group.environment
    attempts = max(estimate.most_attempts for estimate in estimates)
    is_same = all(estimate.n_planned == attempts * estimate.items for estimate in estimates)
    count = f"{'' if is_same else '1 to '}{attempts}"
    best = f"best of {count} attempts" if env.scoring.best_of and attempts > 1 and not headline.series else ""
    teacher = "with a teacher" if headline.series else ""
    parts = [headline.metric.title, best, teacher, better_text(headline.metric), *separate_by]
    return f"{group.task}, {env.title}: {', '.join(part for part in parts if part and part != 'higher is better')}"


def _lost_attempts_line(total: Estimate, name: str) -> str:
    """Return a line about the attempts whose results are lost; "" if there are none."""
    if total.lost is None:
        return ""
    stopped = total.lost.lost - total.errors - total.unconfirmed
    counts = {
        plural(total.errors, "infrastructure error"): total.errors,
        f"{total.unconfirmed:,} excluded": total.unconfirmed,
        f"{stopped:,} stopped early": stopped,
    }
    reasons = ", ".join(text for text, count in counts.items() if count > 0)
    attempts = plural(total.n_planned, "attempt")
    return f"* {name} at {total.group.task}: {total.lost.lost:,} of {attempts} without a result ({reasons})"


def _not_replayed_line(total: Estimate, name: str) -> str:
    """Return a line about episodes that do not replay; "" if there are none."""
    if not total.unconfirmed:
        return ""
    metric = next(metric for metric in total.group.environment.scoring.metrics if metric.name == total.headline)
    worst = total.bounds and mean_text(total.bounds[metric.better == "lower"], metric)
    bound = f"; with the worst score for each, the mean is {worst}" if worst else ""
    episodes = plural(total.unconfirmed, "episode")
    return f"{_CHANGED} {name} at {total.group.task}: excluded {episodes} that new simulation does not confirm{bound}"


def _without_empty_columns(lines: Sequence[Sequence[str]], *, has_scores: bool) -> list[list[str]]:
    """Return the lines without columns that are empty or unknown in every line."""
    always = ("", "n", "score [95 %]") if has_scores else ("", "n")
    visible: list[tuple[str, ...]] = []
    for head, *cells in zip(*lines, strict=True):
        is_empty = all(cell in ("", NOTHING) for cell in cells)
        if head in always or (not is_empty and (head != "levels" or any("–" in cell for cell in cells))):
            visible.append((head, *cells))
    return [list(line) for line in zip(*visible, strict=True)]
