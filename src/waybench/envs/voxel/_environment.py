"""The environment of the search for a biome, with its metrics, failures and players."""

from functools import partial
from math import fsum

from waybench._package_data import read_text, read_toml
from waybench.core import (
    TURN_LIMIT,
    End,
    EpisodeRecord,
    FailureKind,
    Images,
    Items,
    Metric,
    Players,
    Presentation,
    Range,
    ReferenceScores,
    Scoring,
    Stream,
    base_wording_name,
    is_object,
)
from waybench.core._parts import Program
from waybench.envs.smartplay import (
    SEEN,
    agent_environment,
    agent_metrics,
    final_score,
    human_metric,
    step_events,
    thinking_players,
)
from waybench.envs.voxel._drawing import board, draw_picture, scenes
from waybench.envs.voxel._game import (
    FARTHEST,
    OPTIONS,
    FindRules,
    Search,
    SearchSource,
    VoxelWorld,
    decode,
    level_of,
    prove,
    sound_source_options,
)
from waybench.envs.voxel._wording import ACTIONS
from waybench.envs.voxel.engines._engines import find_program, is_drawable
from waybench.envs.voxel.engines._terrain import LUANTI, MINEDOJO, OWN, PUBLISHED_GOALS

_MOST_LEFT = 2**0.5 * FARTHEST  # blocks; goals are looked for in a square around the walker


def published_setting(record: EpisodeRecord) -> str | None:
    """Return the published name of a record's setting; None unless it was played in Minecraft."""
    if record.instance["engine"] != MINEDOJO:
        return None
    return next((name for name, goal in PUBLISHED_GOALS.items() if goal == record.instance["goal"]), None)


def why_not_replayable(record: EpisodeRecord) -> str:
    """Return why a record cannot be simulated again here; "" if it can."""
    engine = record.instance.get("engine") if is_object(record.instance) else None
    if engine == MINEDOJO:
        return "it was played in a live world"
    if engine == LUANTI and not is_drawable(LUANTI):
        return f"its engine, {LUANTI}, is not installed here"
    return ""


def world_name(record: EpisodeRecord) -> str:
    """Return the name of a record's world; with some engines, searches share a world."""
    return f"{record.instance['engine']} {record.instance['seed']}"


def _start_distance(record: EpisodeRecord) -> float | None:
    """Return the distance to the nearest goal at the start, in blocks; None if none is near."""
    distance = record.proof.get("distance")
    return float(distance) if isinstance(distance, int | float) and distance > 0 else None


def _distance_left(record: EpisodeRecord) -> float | None:
    """Return the distance to the nearest goal at the end, in blocks; None if none is near."""
    steps = step_events(record)
    if not steps:
        return _start_distance(record)
    return None if steps[-1]["left"] is None else float(steps[-1]["left"])


def progress_to_goal(record: EpisodeRecord) -> float | None:
    """Return the share of the distance to the nearest goal that was covered; None where a distance is unknown."""
    remaining, start = _distance_left(record), _start_distance(record)
    return None if remaining is None or start is None else 1 - remaining / start


def _path_efficiency(record: EpisodeRecord) -> float | None:
    """Return the success weighted by path length; None where the distance at the start is unknown."""
    start = _start_distance(record)
    if start is None:
        return None
    if record.end is not End.SOLVED:
        return 0.0
    walked = fsum(float(step["walked"]) for step in step_events(record))
    return start / max(start, walked)


def _progress_bounds(record: EpisodeRecord) -> Range:
    """Return the range of `progress_to_goal` from the start of a record."""
    start = _start_distance(record)
    return (None, 1) if start is None else (1 - _MOST_LEFT / start, 1)


METRICS = agent_metrics(
    Metric(
        name="score",
        of=final_score,
        title="Score",
        low=0,
        high=1,
        doc="1 if the biome was found, otherwise 0 (section 4.2).",
    ),
    human_metric(published_setting, lambda record: (0, 1)),
    Metric(
        name="found_after",
        of=lambda record: float(len(step_events(record))) if record.end is End.SOLVED else None,
        title="Steps to the goal",
        range=lambda record: (0, record.options["steps"]),
        better="lower",
        doc="Steps until the biome was found; undefined if it was not found.",
    ),
    Metric(
        name="progress",
        of=progress_to_goal,
        title="Progress",
        high=1,
        range=_progress_bounds,
        doc="Share of the distance to the nearest goal that was covered: 1 at the goal, 0 as far as at the start, "
        "negative if farther. The nearest goal can differ between start and end.",
    ),
    Metric(
        name="distance_left",
        of=_distance_left,
        title="Distance left",
        unit="blocks",
        low=0,
        high=_MOST_LEFT,
        better="lower",
        doc="Horizontal straight-line distance from the end to the nearest goal.",
    ),
    Metric(
        name="spl",
        of=_path_efficiency,
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
    """Return `ASTRAY` if the steps ran out and the player came no nearer to a goal; otherwise the general kind."""
    progress = progress_to_goal(record) if general == TURN_LIMIT else None
    return ASTRAY if progress is not None and progress <= 0 else general


_STEPS = 200
# Protocol -> beginning of the instance's hash -> success rates with thoughts before actions, and without.
_SUCCESS_RATES = read_toml(__file__, "reference_scores.toml")
_THINKING = {"two_questions": 0, "code": 0, "one_question": 1, "chat": 1}
_HASHED = 12  # characters of a hash that are kept


def reference_scores(record: EpisodeRecord) -> ReferenceScores | None:
    """Return the measured scores of empty replies, each single direction and the oracle; None if not measured."""
    options = record.options
    rates = _SUCCESS_RATES[options["protocol"]].get(record.instance_hash[:_HASHED])
    if rates is None or options["steps"] != _STEPS or record.instance["engine"] != OWN:
        return None
    empty_reply, *directions, oracle = (float(rate) for rate in rates[_THINKING[base_wording_name(options)]])
    return ReferenceScores(empty_reply, dict(zip(ACTIONS, directions, strict=True)), oracle)


_RULES = FindRules(published=True)
_SLOW = 4.0  # blocks; a player that comes less far in a step is stuck, and tries another direction
_AHEAD, _STUCK_AHEAD = 2, 3  # steps of the oracle's lookahead, and when it is stuck


def oracle(search: Search, world: VoxelWorld, rng: Stream) -> int:
    """Take the action that leads nearest to a goal in two steps, by the true map and with imagined chances.

    A player that was stuck in the last step looks three steps ahead.
    """
    depth = _AHEAD if world.last < 0 or world.moved > _SLOW else _STUCK_AHEAD
    distances = _remaining_distances(search, world, depth, rng)
    return distances.index(min(distances))


def _remaining_distances(search: Search, world: VoxelWorld, depth: int, rng: Stream) -> list[float]:
    """Return for each action the least distance left after it and `depth` - 1 more; -(steps saved) if found early."""
    from waybench.envs.voxel._route import cached_route  # numpy and numba, which nothing else here needs

    distances: list[float] = []
    for action in range(len(ACTIONS)):
        after = _RULES.turn_and_walk(world, action, rng)[0]
        if after.is_found:
            distances.append(-float(depth - 1))
        elif depth == 1:
            distances.append(cached_route(search).distance_left(after.body.x, after.body.z))
        else:
            distances.append(min(_remaining_distances(search, after, depth - 1, rng)))
    return distances


def straight(search: Search, world: VoxelWorld, rng: Stream) -> int:
    """Keep a heading as long as it leads on, then turn to a side."""
    if world.last < 0:
        return rng.below(len(ACTIONS))
    quarter_turns = 0 if world.moved > _SLOW else 1 + 2 * rng.below(2)  # to the right, or three: to the left
    return (world.last + quarter_turns) % len(ACTIONS)


PLAYERS = {"oracle": oracle, "heuristic": straight}


PROGRAMS = (
    Program(
        LUANTI,
        f"voxel worlds (engine={LUANTI})",
        partial(find_program, LUANTI),
        "install Debian's package minetest-server, or put luantiserver in PATH",
    ),
    Program(
        MINEDOJO,
        f"Minecraft (engine={MINEDOJO})",
        partial(find_program, MINEDOJO),
        "install MineDojo 0.1, a Java Development Kit 8 and Minecraft 1.11.2; see its documentation",
    ),
)

PRESENTATION = Presentation(
    title="Find a biome (after SmartPlay)",
    lead=(
        "The player looks for a biome in a voxel world that is described in words, by walking in one of four "
        "directions in each step. The score is the share of searches that found one. By default the world is "
        "waybench's own; there are no published scores to compare with."
    ),
    level="level of distance",
    levels="levels of distance",
    item="search",
    items="searches",
    metrics=("score", "found_after", "progress", "distance_left", "spl", "unnamed", "unparsed"),
    scenes=scenes,
    board=board,
    legend=(
        "The map from above, north at the top, with the goal biomes outlined. The ring is the player's start, the "
        "square the goal nearest to it, the line the player's path, and the dot its last position, with a ring if the "
        "biome was found."
    ),
    panels={"Success": ("score", "spl")},
    undefined="A dash: no biome was found, so there is no number of steps.",
)


IMAGES = Images(
    draw=draw_picture,
    legend="The picture has what is around you and what you see: you are the orange dot in the middle, north is up, "
    "and each of the boxes around you lists what is in its direction: its distance in blocks, whether it is above you, "
    "below you or level with you, and, of what you see, the share of the screen that it takes. In the box in the "
    "middle is what is in front of you.",
    replaces=(SEEN,),
    bases=("chat",),
)

FIND = agent_environment(
    id="voxel/find",
    version=2,
    title="Find a biome in a voxel world (after SmartPlay)",
    about=read_text(__file__, "about.md"),
    rules=FindRules,
    history=2,  # Table 1, and so are the steps
    steps=200,
    reward=(0.0, 1.0),
    items=Items(
        options=OPTIONS,
        sample_levels=(1,),
        public_key="voxel-v1",
        make_source=SearchSource,
        decode=decode,
        level_of=level_of,
        prove=prove,
        cluster=world_name,
        sound_options=sound_source_options,
    ),
    scoring=Scoring(
        reference_scores=reference_scores, metrics=METRICS, failures=FAILURES, published_setting=published_setting
    ),
    playing={
        "check_options": {"steps": 40},
        "programs": PROGRAMS,
        "not_replayable": why_not_replayable,
        "images": IMAGES,
    },
    own_failure=own_failure,
    presentation=PRESENTATION,
    players=Players(policies=thinking_players(PLAYERS)),
)
