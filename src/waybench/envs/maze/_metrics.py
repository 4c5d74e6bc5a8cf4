"""Metrics of an attempt at a maze."""

from waybench.core import EpisodeRecord, Metric, outcome_metric, proof_metric


def _steps(record: EpisodeRecord) -> float:
    return float(sum(turn.events.get("moved", 0) for turn in record.turns))


def _reached_exit(record: EpisodeRecord) -> float:
    return float(record.end == "solved")


def _raw_score(record: EpisodeRecord) -> float:
    minimum = record.proof["minimum"]
    return (1 - (_steps(record) - minimum) / minimum) * 100 if _reached_exit(record) else 0.0


def _requests(record: EpisodeRecord) -> int:
    return record.options["requests"]


def is_competent(record: EpisodeRecord) -> bool:
    """Return whether a solved maze took at most one and a half times the minimum of steps: a score of at least 50.

    Twice the minimum would not do: a random walk without turning back does with it in .70 of mazes of dimension 5.
    """
    return 2 * _steps(record) <= 3 * record.proof["minimum"]


_ANY_LENGTH = "a reply can name any number of movements"

METRICS = (
    Metric(
        name="score",
        of=lambda record: max(0.0, _raw_score(record)),
        title="Score",
        unit="%",
        low=0,
        high=100,
        doc="raw_score, but at least 0.",
    ),
    Metric(
        name="raw_score",
        of=_raw_score,
        title="Raw score",
        unit="%",
        high=100,
        unbounded=_ANY_LENGTH,
        doc="(1 - (steps - minimum) / minimum) * 100 if the exit was reached, otherwise 0 (AliciaBench's description).",
    ),
    Metric(name="reached", of=_reached_exit, title="Reached", low=0, high=1, doc="1 if the exit was reached."),
    Metric(
        name="steps",
        of=_steps,
        title="Steps",
        low=0,
        unbounded=_ANY_LENGTH,
        better="",
        doc="Cells moved in all requests of the attempt.",
    ),
    proof_metric("minimum", "Minimum steps", "Cells on a shortest path, without the entrance."),
    Metric(
        name="requests",
        of=lambda record: float(len(record.own_turns)),
        title="Requests",
        range=lambda record: (0, _requests(record)),
        better="lower",
        doc="Requests used.",
    ),
    outcome_metric("unparsed", "Replies that are not a list of movements.", most=_requests),
    outcome_metric("illegal", "Replies with a movement into a wall or outside.", most=_requests),
)
