"""What is measured of the puzzle: metrics, failures, first errors, beliefs, potentials and explanatory variables."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from waybench.core import (
    Axis,
    Belief,
    EpisodeRecord,
    ExplanatoryVariables,
    FailureKind,
    FirstErrors,
    Metric,
    Outcome,
    Potential,
    Range,
    Series,
    Step,
    Stream,
    TurnRecord,
    most_frequent_kind,
    proof_axis,
    unread_reply_kind,
)
from waybench.core._questions import read_number_lists
from waybench.envs.hanoi._game import (
    ILLEGAL_REWARD,
    MOVES,
    ROD_NAMES,
    SOLVED_REWARD,
    HanoiRules,
    Puzzle,
    Towers,
    best_moves,
    decode,
    expected_random_score,
    move_disk,
    position_of,
    shortest_distance,
    stacks_of_position,
)
from waybench.envs.smartplay import AgentState, agent_metrics, human_metric, scaled_metric, step_events, step_turns

_NO_CHANCE = Stream("hanoi", "no chance")  # the game leaves nothing to it
STEPS = 30  # for three and four disks, as published (Table 1)


def most_steps(towers: Towers) -> int:
    """Return the default step limit: 30, or twice the moves of a shortest solution if that is more."""
    return max(STEPS, 2 * shortest_distance(*towers.positions))


def is_competent(record: EpisodeRecord) -> bool:
    """Return whether a solved puzzle took at most the default limit, beyond which random moves can solve it."""
    return len(step_events(record)) <= most_steps(decode(record.instance))


def _step_limit(record: EpisodeRecord) -> int:
    limit = record.options["steps"]
    return most_steps(decode(record.instance)) if limit is None else limit


def _count_disks(record: EpisodeRecord) -> int:
    return len(record.instance["start"])


def _score_range(record: EpisodeRecord) -> Range:
    return 0, _count_disks(record)


def _distance_range(record: EpisodeRecord) -> Range:
    """Return the range of distances between two positions."""
    # No two positions of n disks are farther apart than all disks on one rod and all on another.
    return 0, 2 ** _count_disks(record) - 1


class AttemptedMove(NamedTuple):
    """A move: whether a shortest solution begins with it, and the length of a shortest solution after it."""

    optimal: bool
    remaining: int


def attempted_moves(record: EpisodeRecord) -> list[AttemptedMove]:
    """Return the moves, also those that were not allowed, without lost steps."""
    start, goal = decode(record.instance).positions
    rods, moves = stacks_of_position(start), list[AttemptedMove]()
    for turn in step_turns(record.turns):
        action = turn.carried_out[0]
        optimal = action in best_moves(rods, goal)
        rods = move_disk(rods, action) or rods
        moves.append(AttemptedMove(optimal, shortest_distance(position_of(rods), goal)))
    return moves


def is_forbidden(turn: TurnRecord) -> bool:
    """Return whether a turn's move was not allowed; the protocol may have chosen it, where the reply named none."""
    chosen_by_protocol = turn.events.get("named") is False  # the outcome is then UNPARSED, whatever the move did
    return turn.outcome is Outcome.ILLEGAL or (chosen_by_protocol and turn.reward == ILLEGAL_REWARD)


def published_setting(record: EpisodeRecord) -> str | None:
    """Return the published name of a record's setting; None if its puzzle is not a published one."""
    return decode(record.instance).setting


def sample_name(record: EpisodeRecord) -> str:
    """Return the cluster of an episode: the puzzle or, in a published setting, which has but one, the attempt."""
    return f"attempt {record.attempt}" if published_setting(record) else record.instance_hash


def final_placed_disks(record: EpisodeRecord) -> float:
    """Return the number of disks on their goal rod at the end."""
    steps = step_events(record)
    return float(steps[-1]["score"] if steps else decode(record.instance).placed_disks)


def _score_of_empty_replies(record: EpisodeRecord) -> float:
    """Return the score of empty replies: "paper" makes the first move for each of them, "sound" none."""
    rules, towers = HanoiRules(published=True), decode(record.instance)
    if record.options["protocol"] != "paper":
        return float(towers.placed_disks)
    # The same move again is not allowed and changes nothing, so the first one counts.
    return float(rules.step(rules.begin(towers), 0, _NO_CHANCE).world.placed)


def _chance_and_maximum(record: EpisodeRecord) -> tuple[float, float] | None:
    """Return the expected score of random moves and the maximum; None if not computed, not attainable, or equal."""
    towers, steps = decode(record.instance), _step_limit(record)
    chance, maximum = expected_random_score(*towers.positions, steps), float(towers.level)
    if chance is None or chance >= maximum or steps < record.proof["minimum"]:
        return None
    return chance, maximum


def _optimal_rate(record: EpisodeRecord) -> float | None:
    """Return the share of moves that begin a shortest solution; None without moves."""
    moves = attempted_moves(record)
    return sum(step.optimal for step in moves) / len(moves) if moves else None


def _moves_left(record: EpisodeRecord) -> float:
    """Return the moves of a shortest solution from the final position."""
    moves = attempted_moves(record)
    return float(moves[-1].remaining if moves else record.proof["minimum"])


METRICS = agent_metrics(
    Metric(
        name="score",
        of=final_placed_disks,
        title="Score",
        low=0,
        range=_score_range,
        floor=_score_of_empty_replies,
        ceiling=lambda record: float(_count_disks(record)),
        doc="Disks on their goal rod at the end (rod C in the published puzzles, section 4.2).",
    ),
    human_metric(published_setting, _score_range, final_placed_disks),
    scaled_metric(
        _chance_and_maximum,
        "The random player takes any of the legal moves (exact, up to 7 disks by default); the optimal one solves it. "
        "Not defined for many more disks or steps, or with fewer steps than the shortest solution has.",
        _score_range,
        final_placed_disks,
    ),
    Metric(
        name="optimal_rate",
        of=_optimal_rate,
        title="Optimal moves",
        low=0,
        high=1,
        doc="Share of attempted moves that start a shortest solution from the current position.",
    ),
    Metric(
        name="first_mistake",
        of=lambda record: next(
            (float(number) for number, step in enumerate(attempted_moves(record), 1) if not step.optimal), None
        ),
        title="First mistake",
        range=lambda record: (1, _step_limit(record)),
        better="",
        doc="Number of the first attempted move, from 1, that does not start a shortest solution; undefined if all do.",
    ),
    Metric(
        name="left",
        of=_moves_left,
        title="Moves left",
        range=_distance_range,
        better="lower",
        doc="Length of a shortest solution from the final position.",
    ),
    Metric(
        name="illegal",
        of=lambda record: float(sum(map(is_forbidden, record.turns))),
        title="Illegal moves",
        range=lambda record: (0, _step_limit(record)),
        better="lower",
        doc='Moves that were not allowed: from an empty rod, or onto a smaller disk; in "paper" also the first move, '
        "where it is not allowed and was taken for a reply that names none.",
    ),
    steps=_step_limit,
    reward=lambda record: (ILLEGAL_REWARD * _step_limit(record), SOLVED_REWARD),
)

SERIES = (
    Series(
        name="optimal",
        of=lambda record: [float(step.optimal) for step in attempted_moves(record)],
        title="Share of optimal moves",
        low=0,
        high=1,
        doc="Whether a shortest solution starts with the attempted move.",
    ),
    Series(
        name="moves_left",
        of=lambda record: [float(step.remaining) for step in attempted_moves(record)],
        title="Moves left",
        range=_distance_range,
        better="lower",
        doc="Length of a shortest solution after the step.",
    ),
)


ILLEGAL = FailureKind("illegal", "illegal moves", "Of the moves without effect, most were not allowed.")
DETOUR = FailureKind(
    "detour", "moves off the shortest solution", "Of the moves without effect, most were allowed but not optimal."
)

UNFINISHED = FailureKind("turn_limit", "running out of moves", "The moves ran out, although all were optimal.")

FAILURES = (ILLEGAL, DETOUR, UNFINISHED)


def own_failure(record: EpisodeRecord, general: FailureKind) -> FailureKind:
    """Return the most frequent kind of mistake; the general kind where there is none."""
    return most_frequent_kind(_kinds_of_mistakes(record), FAILURES) or general


def _kinds_of_mistakes(record: EpisodeRecord) -> Iterator[FailureKind]:
    for turn, move in zip(step_turns(record.turns), attempted_moves(record), strict=True):
        if turn.prefix:  # the move of a reference player, before the episode was handed over
            continue
        if is_forbidden(turn):
            yield ILLEGAL
        elif not move.optimal:
            yield DETOUR


FORBIDDEN = FailureKind("illegal", "illegal moves", "The move is not allowed.")
REVISIT = FailureKind("revisit", "moves back", "The move leads back to a position where the player has been.")
DIRECTION = FailureKind("direction", "moves off the shortest solution", "The move leads away from the goal.")


def move_steps(record: EpisodeRecord) -> Iterator[Step]:
    """Yield the moves up to and including the first error."""
    start, goal = decode(record.instance).positions
    rods = stacks_of_position(start)
    visited = {position_of(rods)}
    for number, turn in enumerate(record.turns):
        if "score" not in turn.events:
            if turn.action is None and turn.reason is not None:
                yield Step(number, unread_reply_kind(turn))
                return
            continue  # a thought
        if turn.action is None or turn.events.get("named") is False:
            yield Step(number, unread_reply_kind(turn))
            return
        action = turn.action[0]
        after = move_disk(rods, action)
        if after is None or is_forbidden(turn):
            yield Step(number, FORBIDDEN)
            return
        if action not in best_moves(rods, goal):
            yield Step(number, REVISIT if position_of(after) in visited else DIRECTION)
            return
        yield Step(number)
        rods = after
        visited.add(position_of(rods))


FIRST_ERRORS = FirstErrors((DIRECTION, REVISIT, FORBIDDEN), move_steps)


RODS_BELIEF: Belief[AgentState[Towers, Puzzle]] = Belief(
    name="rods",
    title="rods",
    doc="The disks on each rod, from bottom to top.",
    question=f"Which disks are on the rods {', '.join(ROD_NAMES)} now? List the disks of each rod from bottom to top.",
    form=f"[{', '.join(f'[<disks on {rod}>]' for rod in ROD_NAMES)}]",
    expected=lambda state: [list(disks) for disks in state.world.rods],
    read=partial(read_number_lists, count=len(ROD_NAMES)),
)


def _progress_to_goal(state: AgentState[Towers, Puzzle]) -> float:
    """Return the share of the moves from start to goal that is gained."""
    start, goal = state.instance.positions
    return 1 - shortest_distance(position_of(state.world.rods), goal) / shortest_distance(start, goal)


POTENTIALS = (
    Potential("distance", "Share of the moves of a shortest solution that is gained.", _progress_to_goal, 100.0),
)


def reasoning(state: AgentState[Towers, Puzzle]) -> str:
    """Return a text on the largest disk that has to move, the disks in its way, and the best move."""
    goal = state.instance.positions[1]
    rods = state.world.rods
    position = position_of(rods)
    largest = max(disk for disk in range(len(position)) if position[disk] != goal[disk])
    disks_in_way = [disk for disk in range(largest) if position[disk] in (position[largest], goal[largest])]
    way = f"Disks {', '.join(map(str, disks_in_way))} have to leave these rods first. " if disks_in_way else ""
    source, target = MOVES[best_moves(rods, goal)[0]]
    return (
        f"The largest disk that is not where it has to be is {largest}: from rod {ROD_NAMES[position[largest]]} to "
        f"{ROD_NAMES[goal[largest]]}. {way}A shortest solution has {shortest_distance(position, goal)} moves left and "
        f"begins with the top disk of {ROD_NAMES[source]} to {ROD_NAMES[target]}."
    )


MINIMUM = proof_axis("minimum", "Optimal moves", "Length of a shortest solution, in moves.")


VARIABLES = ExplanatoryVariables(
    items=(
        MINIMUM,
        Axis(
            name="misplaced",
            title="Misplaced disks",
            of=lambda record: float(_count_disks(record) - decode(record.instance).placed_disks),
            doc="Disks that do not start on their goal rod.",
        ),
        Axis(
            name="towers",
            title="Towers",
            of=lambda record: float(len(set(record.instance["start"])) + len(set(record.instance["goal"]))),
            doc="Rods with disks at the start, and rods with disks at the end, added up.",
        ),
    )
)
