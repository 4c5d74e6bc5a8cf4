"""What a model's page shows: every item with its attempts, simulated again from the records."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from markupsafe import Markup

from waybench.analysis import Cluster, Estimate, LoggedEpisode, Measure, Row, grouped, measure
from waybench.core import (
    End,
    Environment,
    Metric,
    Outcome,
)
from waybench.report._families import Family
from waybench.report._figures import Figure, curve_figures
from waybench.report._format import (
    LONGEST_MESSAGE,
    LONGEST_OPENING,
    LONGEST_REPLY,
    LONGEST_UNSENT,
    OPENINGS_OF_A_PAGE,
    PROMPTS_OF_A_PAGE,
    REPLIES_OF_A_PAGE,
    SHORT,
    Excerpt,
    each_of,
    excerpt,
    part,
    value_text,
)
from waybench.report._openings import Opening, Said, opening, prompted
from waybench.report._replay import file_name, followed
from waybench.report._simulated import Simulated

ENDS = {
    End.SOLVED: "solved",
    End.FAILED: "failed",
    End.TURN_LIMIT: "out of turns",
    End.INVALID_LIMIT: "too many invalid replies",
    End.INFRASTRUCTURE: "infrastructure error",
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at an item.

    Attributes:
        number: From 1.
        score: What it is judged by (see `measure`), as text.
        facts: Other metrics worth showing, as (title, value).
        end: How it ended, in words.
        outcomes: What each reply came to.
        error: The message of an infrastructure error; None if there was none.
        aside: Why it does not count, "" if it does.
        mismatch: Where record and simulation differ; "" if they agree.
        conversation: What was said.
        board: The drawing of what was done.
        log: The log file's name.
        again: What a simulation confirms of it.
        replay: File name of the page on which it can be followed; "" if there is none.
    """

    number: int
    score: str
    facts: list[tuple[str, str]]
    end: str
    outcomes: list[Outcome]
    error: Excerpt | None
    aside: str
    mismatch: str
    conversation: list[Said]
    board: Markup | None
    log: str
    again: Simulated
    replay: str

    @property
    def counts(self) -> list[tuple[Outcome, int]]:
        """What the replies came to, each outcome with its number, the most frequent first."""
        return Counter(self.outcomes).most_common()


@dataclass(frozen=True, slots=True)
class Card:
    """One item.

    Attributes:
        item: Its id.
        anchor: Its id in the page.
        best: The best score, as text.
        part: How good it is between the metric's bounds, from 0 to 1; None if there is none.
        missing: Whether all attempts were infrastructure errors.
        incomplete: Whether some were.
        shown: Number of the attempt that the board shows; None if it shows none.
        board: The drawing.
        observation: The first message, where there is no drawing.
        prompt: What the player was told at first, as far as it is not shown elsewhere.
        attempts: The attempts.
    """

    item: str
    anchor: str
    best: str
    part: float | None
    missing: bool
    incomplete: bool
    shown: int | None
    board: Markup | None
    observation: Excerpt | None
    prompt: list[Said]
    attempts: list[Attempt]

    @property
    def replay(self) -> str:
        """File name of the page on which the attempt that the board shows can be followed; "" if there is none."""
        return next((each.replay for each in self.attempts if each.number == self.shown and each.replay), "")


@dataclass(frozen=True, slots=True)
class Batch:
    """Items that are shown together: all of a level, or those that were drawn together, such as questions about a map.

    Attributes:
        cluster: What they were drawn with; None for nothing.
        anchor: Its id in the page.
        whole: Whether the items' prompts have more messages than the opening, or only the rest of its last one.
        opening: What the prompts of all of them begin with.
        cards: The items.
    """

    cluster: Cluster | None
    anchor: str
    whole: bool
    opening: list[Said]
    cards: list[Card]

    @property
    def name(self) -> str:
        """The cluster's name; "" for an instance that was drawn by itself, as where a record does not replay."""
        return self.cluster.name if self.cluster and self.cluster.key else ""


@dataclass(frozen=True, slots=True)
class Level:
    """The items of one level.

    Attributes:
        estimate: What they come to.
        figures: Its curves.
        batches: The items.
    """

    estimate: Estimate
    figures: list[Figure]
    batches: list[Batch]

    @property
    def cards(self) -> list[Card]:
        """All items."""
        return [card for batch in self.batches for card in batch.cards]


Episodes = Sequence[tuple[Row, LoggedEpisode, Simulated]]


def levels(
    env: Environment[Any, Any, Any], words: Family, episodes: Episodes, estimates: Sequence[Estimate], page: str
) -> list[Level]:
    """Return what a model's page shows of its episodes, by level.

    Args:
        env: The environment.
        words: What is known of its family.
        episodes: The episodes of one group with their rows and simulations.
        estimates: Its estimates by level.
        page: File name of the page.
    """
    draw = words.draw()
    replays = {
        id(row): file_name(page, number)
        for number, (row, _, again) in enumerate(episodes, start=1)
        if followed(draw, again.instance, again.turns, again.mismatch)
    }
    longest = _longest(episodes)
    by_level = grouped(episodes, lambda played: played[0].level)
    together = _are_together(row for row, _, _ in episodes)
    found: list[Level] = []
    for estimate in estimates:
        level = estimate.level or 0
        drawn = grouped(by_level[level], lambda played: played[0].cluster if together else None)
        batches: list[Batch] = []
        for cluster in sorted(drawn, key=_as_drawn):
            shared = opening([played[1].record.opening for played in drawn[cluster]])
            items = grouped(drawn[cluster], lambda played: (played[0].index, played[0].item, played[0].instance))
            before = sum(len(batch.cards) for batch in batches)
            cards = [
                _card(env, words, draw, items[key], f"i{level}-{number}", shared, longest, replays, whole=number == 1)
                for number, key in enumerate(sorted(items), start=before + 1)
            ]
            told = shared.said(longest.opening)
            batches.append(Batch(cluster, f"b{level}-{len(batches) + 1}", shared.beginning is None, told, cards))
        curves = curve_figures(env, words, level, estimate.group.examples, [estimate], small=True)
        found.append(Level(estimate, curves, batches))
    return found


def _are_together(all_rows: Iterable[Row]) -> bool:
    """Return whether there are several items to some cluster."""
    items = {(row.cluster, row.level, row.item, row.instance) for row in all_rows if row.cluster.key}
    return len(items) > len({cluster for cluster, *_ in items})


def _as_drawn(cluster: Cluster | None) -> tuple[bool, str]:
    """Sort by name, and last what was drawn with nothing else, as records that do not replay are taken to be."""
    return (cluster is not None and not cluster.key, cluster.name if cluster else "")


class _Longest(NamedTuple):
    """How many characters of each text are shown."""

    opening: int
    prompt: int
    reply: int


def _longest(episodes: Episodes) -> _Longest:
    replies = sum(len(episode.record.turns) for _, episode, _ in episodes)
    return _Longest(
        each_of(OPENINGS_OF_A_PAGE, len({(row.level, row.cluster) for row, _, _ in episodes}), LONGEST_OPENING),
        each_of(PROMPTS_OF_A_PAGE, len(episodes), LONGEST_MESSAGE),
        each_of(REPLIES_OF_A_PAGE, replies, LONGEST_REPLY),
    )


def _card(
    env: Environment[Any, Any, Any],
    words: Family,
    draw: Callable[..., str] | None,
    some: Episodes,
    anchor: str,
    shared: Opening,
    longest: _Longest,
    replays: Mapping[int, str],
    *,
    whole: bool,
) -> Card:
    ordered = sorted(some, key=lambda played: (bool(played[0].aside), played[0].attempt))
    measured = measure(env, any(row.guided for row, _, _ in some))
    metric = measured.metric
    counted = [(measured.value(row), row) for row, _, _ in ordered if row.counts]
    scored = [(value, row) for value, row in counted if value is not None]
    best = (min if metric.better == "lower" else max)((value for value, _ in scored), default=None)
    shown = next((row for value, row in scored if value == best), counted[0][1] if counted else None)
    again = [simulated for _, _, simulated in ordered]
    boards = _boards(draw, again, [row is shown for row, _, _ in ordered], anchor)
    first = ordered[0][1].record
    attempts = [
        _attempt(
            measured,
            _facts(env.metrics, words, row, metric),
            row,
            episode,
            simulated,
            replays.get(id(row), ""),
            board,
            longest.reply,
            prompted(episode.record, shared, longest.prompt, whole=whole)
            if episode.record.opening != first.opening
            else [],
        )
        for (row, episode, simulated), board in zip(ordered, boards[1:], strict=True)
    ]
    valid = [row for row, _, _ in ordered if not row.aside]
    prompt = prompted(first, shared, longest.prompt, whole=whole)
    observed = prompt[-1].text if boards[0] is None and prompt else None
    return Card(
        item=ordered[0][0].item,
        anchor=anchor,
        best=value_text(best, metric),
        part=part(best, metric),
        missing=bool(valid) and not counted,
        incomplete=bool(counted) and any(row.error for row in valid),
        shown=shown.attempt if shown else None,
        board=boards[0],
        observation=observed,
        prompt=prompt[:-1] if observed else prompt,
        attempts=attempts,
    )


def _boards(
    draw: Callable[..., str] | None, again: Sequence[Simulated], chosen: Sequence[bool], anchor: str
) -> list[Markup | None]:
    """Return the item's drawing, of the chosen attempt, and one for each other attempt with the same board below it."""
    if draw is None or all(each.instance is None for each in again):
        return [None] * (len(again) + 1)
    numbered = [number for number, each in enumerate(again) if each.instance is not None]
    first = next((number for number in numbered if chosen[number]), numbered[0])
    instance, turns = again[first].instance, again[first].turns
    # Drawings are made of numbers and words of ours, so that nothing in them can come from a reply.
    boards: list[Markup | None] = [Markup(draw(instance, turns, board_id=anchor + "b"))]
    for number, each in enumerate(again):
        if number == first or each.mismatch or not each.turns:
            boards.append(None)
        else:
            boards.append(Markup(draw(instance, each.turns, board_id=anchor + "b", reuse=True)))
    return boards


def _attempt(
    measured: Measure,
    facts: list[tuple[str, str]],
    row: Row,
    episode: LoggedEpisode,
    again: Simulated,
    replay_page: str,
    board: Markup | None,
    longest: int,
    prompt: Iterable[Said],
) -> Attempt:
    record = episode.record
    conversation = list(prompt)
    for number, turn in enumerate(record.turns, start=1):
        last = number == len(record.turns) and not row.error
        reply, reason = excerpt(turn.reply, longest), (turn.reason or "")[:LONGEST_UNSENT]
        other = turn.executed is not None and turn.executed != turn.action
        instead = excerpt(str(turn.executed), LONGEST_UNSENT) if other else None
        read = again.read[number - 1] if number <= len(again.read) else ""
        conversation.append(Said("reply", f"Reply {number}", reply, turn.outcome, reason, instead, read))
        before = record.turns[number - 2].message if number > 1 else record.opening[-1].text if record.opening else ""
        same = turn.message == before and len(turn.message) > SHORT
        told_again = "(The same as before.)" if same else turn.message
        answer = excerpt(told_again, LONGEST_UNSENT if last else LONGEST_MESSAGE)
        unsent = " (not sent, the attempt was over)" if last else ""
        conversation.append(Said("answer", f"Answer {number}{unsent}", answer))
    error = record.error or ("the episode has no end" if row.error else "")
    end = ENDS[record.end] if record.end else "no end"
    return Attempt(
        number=row.attempt,
        score=value_text(measured.value(row), measured.metric),
        facts=facts,
        end=f"{end}, by the teacher" if row.guided and record.end is End.SOLVED else end,
        outcomes=[turn.outcome for turn in record.turns],
        error=excerpt(error, LONGEST_UNSENT) if row.error else None,
        aside=row.aside,
        mismatch=again.mismatch,
        conversation=conversation,
        board=board,
        log=row.log.replace("\\", "/").rpartition("/")[2],
        again=again,
        replay=replay_page,
    )


def _facts(metrics: Iterable[Metric], words: Family, row: Row, shown: Metric) -> list[tuple[str, str]]:
    """Return the metrics that describe an attempt, and of those that count mishaps the ones that happened."""
    found: list[tuple[str, str]] = []
    for number, metric in enumerate(metrics):
        value = row.metrics[metric.name]
        telling = metric.better == "" or (metric.better == "lower" and value)
        if number and metric is not shown and value is not None and (telling or metric.name in words.metrics):
            found.append((metric.title, value_text(value, metric)))
    return found
