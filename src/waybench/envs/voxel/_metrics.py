"""Metrics of a search."""

from math import fsum

from waybench.core import End, EpisodeRecord, Metric, Range, is_object
from waybench.envs.voxel._instance import FARTHEST
from waybench.envs.voxel.engines import LUANTI, MINEDOJO, PUBLISHED_GOALS, drawable
from waybench.smartplay import agent_metrics, final_score, human_metric, steps_of

_MOST_LEFT = 2**0.5 * FARTHEST  # blocks; goals are looked for in a square around the walker


def setting(record: EpisodeRecord) -> str | None:
    """Return the published name of a setting, which only Minecraft's have: no other world was played in for them."""
    if record.instance["engine"] != MINEDOJO:
        return None
    return next((name for name, goal in PUBLISHED_GOALS.items() if goal == record.instance["goal"]), None)


def not_replayable(record: EpisodeRecord) -> str:
    """Return why a record cannot be simulated again here; "" if it can."""
    engine = record.instance.get("engine") if is_object(record.instance) else None
    if engine == MINEDOJO:
        return "it was played in a live world"
    if engine == LUANTI and not drawable(LUANTI):
        return f"its engine, {LUANTI}, is not installed here"
    return ""


def world_name(record: EpisodeRecord) -> str:
    """Return the name of the world: some engines have few, so that several searches share one."""
    return f"{record.instance['engine']} {record.instance['seed']}"


def _steps(record: EpisodeRecord) -> float | None:
    return float(len(steps_of(record))) if record.end is End.SOLVED else None


def _start(record: EpisodeRecord) -> float | None:
    """Return the distance to the nearest goal at the start, in blocks; None if there is none near."""
    away = record.proof.get("distance")
    return float(away) if isinstance(away, int | float) and away > 0 else None


def _left(record: EpisodeRecord) -> float | None:
    """Return the distance to the goal that is nearest at the end, in blocks; None if there is none near."""
    steps = steps_of(record)
    if not steps:
        return _start(record)
    return None if steps[-1]["left"] is None else float(steps[-1]["left"])


def progress(record: EpisodeRecord) -> float | None:
    """Return how much nearer a goal is at the end than at the start, as a share; None where that is not known."""
    left, start = _left(record), _start(record)
    return None if left is None or start is None else 1 - left / start


def _efficiency(record: EpisodeRecord) -> float | None:
    start = _start(record)
    if start is None:
        return None
    if record.end is not End.SOLVED:
        return 0.0
    walked = fsum(float(step["walked"]) for step in steps_of(record))
    return start / max(start, walked)


def _steps_range(record: EpisodeRecord) -> Range:
    return 0, record.options["steps"]


def _progress_range(record: EpisodeRecord) -> Range:
    start = _start(record)
    return (None, 1) if start is None else (1 - _MOST_LEFT / start, 1)


SCORE = Metric(
    name="score",
    of=final_score,
    title="Score",
    low=0,
    high=1,
    doc="1 if the biome was found, otherwise 0 (section 4.2).",
)
METRICS = agent_metrics(
    SCORE,
    human_metric(setting, lambda record: (0, 1)),
    Metric(
        name="found_after",
        of=_steps,
        title="Steps to the goal",
        range=_steps_range,
        better="lower",
        doc="Steps until the biome was found; undefined if it was not found.",
    ),
    Metric(
        name="progress",
        of=progress,
        title="Progress",
        high=1,
        range=_progress_range,
        doc="Share of the distance to the nearest goal that was covered: 1 at the goal, 0 as far as at the start, "
        "negative if farther. The nearest goal can differ between start and end.",
    ),
    Metric(
        name="distance_left",
        of=_left,
        title="Distance left",
        unit="blocks",
        low=0,
        high=_MOST_LEFT,
        better="lower",
        doc="Horizontal straight-line distance from the end to the nearest goal.",
    ),
    Metric(
        name="spl",
        of=_efficiency,
        title="Path efficiency (SPL)",
        low=0,
        high=1,
        doc="Success weighted by path length: the straight-line distance to the nearest goal over the length of the "
        "walked path; 0 if no goal was found. Obstacles keep all players below 1.",
    ),
    steps=lambda record: record.options["steps"],
    reward=lambda record: (0, 1),
)
