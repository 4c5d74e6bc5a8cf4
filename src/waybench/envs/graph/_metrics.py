"""What is measured of an answer, and how answers fail."""

from collections.abc import Callable
from typing import cast

from waybench.core import NOTHING, EpisodeRecord, FailureKind, Json, Metric, general_failure, outcome_metric

INVENTED = FailureKind("invented", "edges that are not in the graph", "The path has a step that is no edge.")
OTHER_ENDS = FailureKind("other_ends", "paths between other nodes", "The path begins or ends at another node.")
LONGER = FailureKind("longer", "paths that are not shortest", "The path is right but longer than necessary.")
FAILURES = (INVENTED, OTHER_ENDS, LONGER)


def _event(name: str) -> Callable[[EpisodeRecord], float | None]:
    def value(record: EpisodeRecord) -> float | None:
        found = record.turns[-1].events.get(name) if record.turns else None
        return None if found is None else float(found)

    return value


def _success(record: EpisodeRecord) -> float:
    return _event("success")(record) or 0.0


def _is_path(record: EpisodeRecord) -> float | None:
    asked_for_path = cast("dict[str, Json]", record.instance)["question"] == "path"
    return float(_event("excess")(record) is not None) if asked_for_path else None


METRICS = (
    Metric(
        name="success",
        of=_success,
        title="Success",
        low=0,
        high=1,
        doc="Whether the answer is right: a shortest path, or whether there is one. Unreadable answers are wrong.",
    ),
    Metric(
        name="is_path",
        of=_is_path,
        title="Paths",
        low=0,
        high=1,
        doc="Whether the answer is a path along edges between the two nodes, of any length.",
    ),
    Metric(
        name="invented",
        of=_event("invented"),
        title="Invented edges",
        low=0,
        unbounded="an answer can have any number of nodes",
        better="lower",
        doc="Steps of the answer that are no edges of the graph; of answers that can be read.",
    ),
    Metric(
        name="excess",
        of=_event("excess"),
        title="Excess edges",
        low=0,
        unbounded="a path can go back and forth",
        better="lower",
        doc="Edges of the path beyond those of a shortest one; of answers that are paths.",
    ),
    outcome_metric("unparsed", "The answer has no JSON object with the question's key.", most=lambda record: 1),
)


def failure(record: EpisodeRecord) -> FailureKind:
    """Return what is wrong with a path; a wrong yes or no is a wrong answer."""
    events = record.turns[-1].events if record.turns else NOTHING
    if events.get("invented"):
        return INVENTED
    if events.get("ends") is False:
        return OTHER_ENDS
    return LONGER if events.get("excess") else general_failure(record)
