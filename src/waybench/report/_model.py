"""What a model's page shows: every item with its attempts, simulated again from the records."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from markupsafe import Markup

from waybench.analysis import Estimate, LoggedEpisode, Row, grouped
from waybench.core import End, Environment, EpisodeRecord, Instance, Outcome, TurnRecord, WaybenchError, replay
from waybench.envs import registry
from waybench.report._families import Family
from waybench.report._format import LONGEST_MESSAGE, LONGEST_REPLY, LONGEST_UNSENT, Excerpt, excerpt, part, value_text

ENDS = {
    End.SOLVED: "solved",
    End.FAILED: "failed",
    End.TURN_LIMIT: "out of turns",
    End.INVALID_LIMIT: "too many invalid replies",
    End.INFRASTRUCTURE: "infrastructure error",
}


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a conversation.

    Attributes:
        who: "prompt", "reply" or "answer".
        title: Its heading.
        text: What it says.
        outcome: Of a reply, what it came to.
        reason: Of a reply, why it was not carried out.
    """

    who: str
    title: str
    text: Excerpt
    outcome: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at an item.

    Attributes:
        number: From 1.
        score: The headline metric, as text.
        facts: Other metrics worth showing, as (title, value).
        end: How it ended, in words.
        outcomes: What each reply came to.
        error: The message of an infrastructure error; None if there was none.
        aside: Why it does not count, "" if it does.
        mismatch: Where record and simulation differ; "" if they agree.
        conversation: What was said.
        board: The drawing of what was done.
        log: The log file's name.
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


@dataclass(frozen=True, slots=True)
class Card:
    """One item.

    Attributes:
        item: Its id.
        anchor: Its id in the page.
        best: The best score, as text.
        part: Where it lies between the metric's bounds, from 0 to 1; None if there is none.
        missing: Whether all attempts were infrastructure errors.
        incomplete: Whether some were.
        shown: Number of the attempt that the board shows; None if it shows none.
        board: The drawing.
        observation: The first message, where there is no drawing.
        prompt: What the player was told at first.
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


@dataclass(frozen=True, slots=True)
class Level:
    """The items of one level.

    Attributes:
        estimate: What they come to.
        cards: The items.
    """

    estimate: Estimate
    cards: list[Card] = field(default_factory=list[Card])


class Simulated(NamedTuple):
    """What a new simulation confirms of a record.

    Attributes:
        instance: The instance; None if the record has none.
        turns: The turns; none if record and simulation do not agree.
        mismatch: Where they do not agree; "" if they do.
    """

    instance: Instance | None
    turns: tuple[TurnRecord, ...]
    mismatch: str


Episodes = Sequence[tuple[Row, LoggedEpisode, Simulated]]


def levels(
    env: Environment[Any, Any, Any], words: Family, episodes: Episodes, estimates: Sequence[Estimate]
) -> list[Level]:
    """Return what a model's page shows of its episodes, by level.

    Args:
        env: The environment.
        words: What is known of its family.
        episodes: The episodes of one group with their rows and simulations.
        estimates: Its estimates by level.
    """
    draw = words.draw()
    by_level = grouped(episodes, lambda played: played[0].level)
    found: list[Level] = []
    for estimate in estimates:
        items = grouped(
            by_level[estimate.level or 0], lambda played: (played[0].index, played[0].item, played[0].instance)
        )
        numbered = enumerate((items[key] for key in sorted(items)), start=1)
        cards = [_card(env, draw, some, f"i{estimate.level}-{number}") for number, some in numbered]
        found.append(Level(estimate, cards))
    return found


def _card(env: Environment[Any, Any, Any], draw: Callable[..., str] | None, some: Episodes, anchor: str) -> Card:
    ordered = sorted(some, key=lambda played: (bool(played[0].aside), played[0].attempt))
    metric = env.metrics[0]
    counted = [(row.metrics[metric.name], row) for row, _, _ in ordered if row.counts]
    scored = [(value, row) for value, row in counted if value is not None]
    best = (min if metric.better == "lower" else max)((value for value, _ in scored), default=None)
    shown = next((row for value, row in scored if value == best), counted[0][1] if counted else None)
    again = [simulated for _, _, simulated in ordered]
    boards = _boards(draw, again, [row is shown for row, _, _ in ordered], anchor)
    opening = ordered[0][1].record.opening
    attempts = [
        _attempt(env, row, episode, simulated.mismatch, board, with_prompt=episode.record.opening != opening)
        for (row, episode, simulated), board in zip(ordered, boards[1:], strict=True)
    ]
    valid = [row for row, _, _ in ordered if not row.aside]
    return Card(
        item=ordered[0][0].item,
        anchor=anchor,
        best=value_text(best, metric),
        part=part(best, metric),
        missing=bool(valid) and not counted,
        incomplete=bool(counted) and any(row.error for row in valid),
        shown=shown.attempt if shown else None,
        board=boards[0],
        observation=excerpt(opening[-1].text, LONGEST_MESSAGE) if boards[0] is None and opening else None,
        prompt=[Said("prompt", _speaker(message.role), excerpt(message.text, LONGEST_MESSAGE)) for message in opening],
        attempts=attempts,
    )


def _speaker(role: str) -> str:
    return {"system": "System prompt", "user": "Prompt"}.get(role, role)


def simulate(episodes: Iterable[LoggedEpisode]) -> list[Simulated]:
    """Simulate episodes again from their records, in the given order."""
    instances: dict[str, Instance] = {}
    found: list[Simulated] = []
    for episode in episodes:
        again = _simulate(registry.load(episode.record.env), episode.record)
        if again.instance is not None and not again.mismatch:
            # Attempts at one instance share it: boards take more memory than what is done on them.
            again = again._replace(instance=instances.setdefault(episode.record.instance_hash, again.instance))
        found.append(again)
    return found


def _simulate(env: Environment[Any, Any, Any], record: EpisodeRecord) -> Simulated:
    """Return instance and turns of a record as a new simulation confirms them, and where it does not."""
    try:
        episode = replay(env, record)
        return Simulated(episode.item.instance, episode.turns, "")
    except Exception as error:  # a record is data from outside; whatever a simulation trips over, it does not agree
        told = str(error) if isinstance(error, WaybenchError) else f"{type(error).__name__} {error}"
    try:
        return Simulated(env.decode(record.instance), (), told[:LONGEST_UNSENT])
    except Exception:
        return Simulated(None, (), told[:LONGEST_UNSENT])


def _boards(
    draw: Callable[..., str] | None, again: Sequence[Simulated], chosen: Sequence[bool], anchor: str
) -> list[Markup | None]:
    """Return the item's drawing, of the chosen attempt, and one for each other attempt with the same board below it."""
    if draw is None or all(instance is None for instance, _, _ in again):
        return [None] * (len(again) + 1)
    numbered = [number for number, (instance, _, _) in enumerate(again) if instance is not None]
    first = next((number for number in numbered if chosen[number]), numbered[0])
    instance, turns, _ = again[first]
    # Drawings are made of numbers and words of ours, so that nothing in them can come from a reply.
    boards: list[Markup | None] = [Markup(draw(instance, turns, board_id=anchor + "b"))]
    for number, (_, turns, mismatch) in enumerate(again):
        if number == first or mismatch or not turns:
            boards.append(None)
        else:
            boards.append(Markup(draw(instance, turns, board_id=anchor + "b", reuse=True)))
    return boards


def _attempt(
    env: Environment[Any, Any, Any],
    row: Row,
    episode: LoggedEpisode,
    mismatch: str,
    board: Markup | None,
    *,
    with_prompt: bool,
) -> Attempt:
    record = episode.record
    told = [
        Said("prompt", _speaker(message.role), excerpt(message.text, LONGEST_MESSAGE)) for message in record.opening
    ]
    conversation = told if with_prompt else []
    for number, turn in enumerate(record.turns, start=1):
        last = number == len(record.turns) and not row.error
        reply, reason = excerpt(turn.reply, LONGEST_REPLY), (turn.reason or "")[:LONGEST_UNSENT]
        conversation.append(Said("reply", f"Reply {number}", reply, turn.outcome, reason))
        answer = excerpt(turn.message, LONGEST_UNSENT if last else LONGEST_MESSAGE)
        unsent = " (not sent, the attempt was over)" if last else ""
        conversation.append(Said("answer", f"Answer {number}{unsent}", answer))
    error = record.error or ("the episode has no end" if row.error else "")
    return Attempt(
        number=row.attempt,
        score=value_text(row.metrics[env.metrics[0].name], env.metrics[0]),
        facts=_facts(env, row),
        end=ENDS[record.end] if record.end else "no end",
        outcomes=[turn.outcome for turn in record.turns],
        error=excerpt(error, LONGEST_UNSENT) if row.error else None,
        aside=row.aside,
        mismatch=mismatch,
        conversation=conversation,
        board=board,
        log=row.log.replace("\\", "/").rpartition("/")[2],
    )


def _facts(env: Environment[Any, Any, Any], row: Row) -> list[tuple[str, str]]:
    """Return the metrics that describe an attempt, and of those that count mishaps the ones that happened."""
    found: list[tuple[str, str]] = []
    for metric in env.metrics[1:]:
        value = row.metrics[metric.name]
        if value is not None and (metric.better == "" or (metric.better == "lower" and value)):
            found.append((metric.title, value_text(value, metric)))
    return found
