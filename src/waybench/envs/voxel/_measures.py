"""What is measured of a search: metrics, failures, and recorded scores of reference players."""

from math import fsum

from waybench.core import (
    TURN_LIMIT,
    End,
    EpisodeRecord,
    FailureKind,
    Metric,
    Range,
    ReferenceScores,
    base_wording,
    is_object,
)
from waybench.envs.smartplay import agent_metrics, final_score, human_metric, steps_of
from waybench.envs.voxel._game import FARTHEST
from waybench.envs.voxel._wording import ACTIONS
from waybench.envs.voxel.engines import LUANTI, MINEDOJO, OWN, PUBLISHED_GOALS, drawable

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


UNPRODUCTIVE = FailureKind(
    "unproductive", "walks that get stuck", "The steps ran out, and in at least half of them the player was blocked."
)
ASTRAY = FailureKind(
    "astray",
    "walking away from the goal",
    "The steps ran out, and the nearest goal was as far away as at the start, or farther.",
)

TOO_FAR = FailureKind("turn_limit", "goal not found in time", "The steps ran out before the goal was found.")

FAILURES = (UNPRODUCTIVE, ASTRAY, TOO_FAR)


def own_failure(record: EpisodeRecord, general: FailureKind) -> FailureKind:
    """Return whether the walk led away from the goal, as far as that is known; otherwise the general kind."""
    came = progress(record) if general == TURN_LIMIT else None
    return ASTRAY if came is not None and came <= 0 else general


_STEPS = 200
# Beginnings of the instances' hashes. First where a thought comes before each action, so that chance has drawn in other
# turns, then without: 1 if found by saying nothing, by moving north, east, south and west in every step, by the oracle.
_SUCCESS_RATES = {
    "paper": {
        "3caaa39e0f84": ("001001", "001011"),
        "34bed6f9e3ac": ("110111", "110001"),
        "a5f3f367ce2c": ("111111", "111111"),
        "c2a021c3bf86": ("111111", "110111"),
        "7e014c26e1e8": ("110111", "110111"),
        "e50c95d807e7": ("111101", "111101"),
        "aac91f46c6ea": ("000111", "000111"),
        "5e37636f5be4": ("111101", "001111"),
        "6fc2faac29c2": ("000111", "000111"),
        "0fc787dc6484": ("110111", "110111"),
        "fcfc266630fa": ("000111", "000111"),
        "0e731dafe70c": ("111001", "111001"),
        "9e16a54b7cc0": ("111011", "111011"),
        "db9b4ef0d278": ("111111", "110101"),
        "6978bbe26230": ("111111", "111111"),
        "0532f10c5ee9": ("001111", "110111"),
        "62051a11f861": ("111011", "111011"),
        "a14dd81462f7": ("111011", "111011"),
        "e36550f7dacd": ("111111", "001011"),
        "3a519044abc4": ("110111", "111101"),
    },
    "sound": {
        "3dbde4b616af": ("000001", "001001"),
        "571d0a83433e": ("001111", "000111"),
        "01266476c90c": ("011011", "011111"),
        "bd48f928be6c": ("011111", "011111"),
        "d09dea249b3b": ("001001", "001001"),
        "d55934e64ed8": ("010111", "010111"),
        "dd3b60ab9612": ("011101", "011101"),
        "8ec0c4ba2da0": ("011011", "001011"),
        "a937953f6b0e": ("001101", "011101"),
        "bc1e77e01012": ("011011", "011011"),
        "b04b5c8f6d24": ("011001", "011011"),
        "9ba4d5ed0095": ("011011", "011011"),
        "e48d9e8ac676": ("011101", "011101"),
        "80e8b2a41bf0": ("010111", "010111"),
        "2b24a5b93448": ("010101", "010101"),
        "243e9387d275": ("000111", "000111"),
        "bd3301e869fb": ("011001", "011001"),
        "18d20aa049ee": ("010111", "010111"),
        "ed6992ed863d": ("001011", "001011"),
        "57fd3a010f69": ("011101", "011101"),
    },
}
_THINKING = {"two_questions": 0, "code": 0, "one_question": 1, "chat": 1}
_HASHED = 12  # characters of a hash that are kept


def reference_scores(record: EpisodeRecord) -> ReferenceScores | None:
    """Return the scores of saying nothing, moving in one direction and the oracle at a record's item, if measured."""
    options = record.options
    rates = _SUCCESS_RATES[options["protocol"]].get(record.instance_hash[:_HASHED])
    if rates is None or options["steps"] != _STEPS or record.instance["engine"] != OWN:
        return None
    nothing, *directions, oracle = (float(rate) for rate in rates[_THINKING[base_wording(options)]])
    return ReferenceScores(nothing, dict(zip(ACTIONS, directions, strict=True)), oracle)
