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
    RODS,
    SOLVED_REWARD,
    HanoiRules,
    Puzzle,
    Towers,
    best_moves,
    decode,
    distance,
    move_disk,
    position_of,
    random_score,
    stacks,
)
from waybench.envs.smartplay import AgentState, agent_metrics, human_metric, scaled_metric, step_turns, steps_of

_NO_CHANCE = Stream("hanoi", "no chance")  # the game leaves nothing to it
STEPS = 30  # for three and four disks, as published (Table 1)


def most_steps(towers: Towers) -> int:
    """Return the default number of steps: 30, or twice those of a shortest solution if that is more."""
    return max(STEPS, 2 * distance(*towers.positions))


def is_competent(record: EpisodeRecord) -> bool:
    """Return whether a solved puzzle took no more steps than the default limit; with a higher one chance does it."""
    return len(steps_of(record)) <= most_steps(decode(record.instance))


def _steps(record: EpisodeRecord) -> int:
    limit = record.options["steps"]
    return most_steps(decode(record.instance)) if limit is None else limit


def _disks(record: EpisodeRecord) -> int:
    return len(record.instance["start"])


def _scores(record: EpisodeRecord) -> Range:
    return 0, _disks(record)


def _farthest(record: EpisodeRecord) -> Range:
    # No two positions of n disks are farther apart than from all on one rod to all on another.
    return 0, 2 ** _disks(record) - 1


class Move(NamedTuple):
    """A step that was made.

    Attributes:
        optimal: Whether it was the beginning of a shortest solution from where one was.
        remaining: Moves of a shortest solution after it.
    """

    optimal: bool
    remaining: int


def moves_of(record: EpisodeRecord) -> list[Move]:
    """Return the steps that were made, lost ones left out."""
    start, goal = decode(record.instance).positions
    rods, moves = stacks(start), list[Move]()
    for turn in step_turns(record.turns):
        action = turn.carried_out[0]
        optimal = action in best_moves(rods, goal)
        rods = move_disk(rods, action) or rods
        moves.append(Move(optimal, distance(position_of(rods), goal)))
    return moves


def is_forbidden(turn: TurnRecord) -> bool:
    """Return whether a move was not allowed, be it the reply's or the one that the protocol took for it."""
    by_protocol = turn.events.get("named") is False
    return turn.outcome is Outcome.ILLEGAL or (by_protocol and turn.reward == ILLEGAL_REWARD)


def setting(record: EpisodeRecord) -> str | None:
    """Return the published name of a record's setting; None if it is none of the registered ones."""
    return decode(record.instance).setting


def sample(record: EpisodeRecord) -> str:
    """Return what an episode is one of a sample of: of a registered puzzle, which is the only one, its attempts."""
    return f"attempt {record.attempt}" if setting(record) else record.instance_hash


def score(record: EpisodeRecord) -> float:
    """Return how many disks are where they have to go at the end."""
    steps = steps_of(record)
    return float(steps[-1]["score"] if steps else decode(record.instance).placed_disks)


def _silent_score(record: EpisodeRecord) -> float:
    """Return the score of empty replies, for which the published program tries the first move again and again.

    That moves one disk at most, for what is below it is larger.
    """
    rules, towers = HanoiRules(published=True), decode(record.instance)
    if record.options["protocol"] != "paper":
        return float(towers.placed_disks)
    return float(rules.step(rules.begin(towers), 0, _NO_CHANCE).world.placed)


def _chance_and_maximum(record: EpisodeRecord) -> tuple[float, float] | None:
    towers, steps = decode(record.instance), _steps(record)
    chance = random_score(*towers.positions, steps)
    enough = steps >= record.proof["minimum"] and chance is not None and chance < towers.level
    return (chance, float(towers.level)) if chance is not None and enough else None


def _rate(record: EpisodeRecord) -> float | None:
    moves = moves_of(record)
    return sum(step.optimal for step in moves) / len(moves) if moves else None


def _moves_left(record: EpisodeRecord) -> float:
    moves = moves_of(record)
    return float(moves[-1].remaining if moves else record.proof["minimum"])


METRICS = agent_metrics(
    Metric(
        name="score",
        of=score,
        title="Score",
        low=0,
        range=_scores,
        floor=_silent_score,
        ceiling=lambda record: float(_disks(record)),
        doc="Disks on their goal rod at the end (rod C in the published puzzles, section 4.2).",
    ),
    human_metric(setting, _scores, score),
    scaled_metric(
        _chance_and_maximum,
        "The random player takes any of the legal moves (exact, up to 7 disks by default); the optimal one solves it. "
        "Not defined for many more disks or steps, or with fewer steps than the shortest solution has.",
        _scores,
        score,
    ),
    Metric(
        name="optimal_rate",
        of=_rate,
        title="Optimal moves",
        low=0,
        high=1,
        doc="Share of attempted moves that start a shortest solution from the current position.",
    ),
    Metric(
        name="first_mistake",
        of=lambda record: next(
            (float(number) for number, step in enumerate(moves_of(record), 1) if not step.optimal), None
        ),
        title="First mistake",
        range=lambda record: (1, _steps(record)),
        better="",
        doc="Number of the first attempted move, from 1, that does not start a shortest solution; undefined if all do.",
    ),
    Metric(
        name="left",
        of=_moves_left,
        title="Moves left",
        range=_farthest,
        better="lower",
        doc="Length of a shortest solution from the final position.",
    ),
    Metric(
        name="illegal",
        of=lambda record: float(sum(map(is_forbidden, record.turns))),
        title="Illegal moves",
        range=lambda record: (0, _steps(record)),
        better="lower",
        doc='Moves that were not allowed: from an empty rod, or onto a smaller disk; in "paper" also the first move, '
        "where it is not allowed and was taken for a reply that names none.",
    ),
    steps=_steps,
    reward=lambda record: (ILLEGAL_REWARD * _steps(record), SOLVED_REWARD),
)

SERIES = (
    Series(
        name="optimal",
        of=lambda record: [float(step.optimal) for step in moves_of(record)],
        title="Share of optimal moves",
        low=0,
        high=1,
        doc="Whether a shortest solution starts with the attempted move.",
    ),
    Series(
        name="moves_left",
        of=lambda record: [float(step.remaining) for step in moves_of(record)],
        title="Moves left",
        range=_farthest,
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
    """Return which mistakes are most frequent; the general kind where there is none."""
    return most_frequent_kind(_mistakes(record), FAILURES) or general


def _mistakes(record: EpisodeRecord) -> Iterator[FailureKind]:
    for turn, move in zip(step_turns(record.turns), moves_of(record), strict=True):
        if turn.prefix:
            continue
        if is_forbidden(turn):
            yield ILLEGAL
        elif not move.optimal:
            yield DETOUR


FORBIDDEN = FailureKind("illegal", "illegal moves", "The move is not allowed.")
REVISIT = FailureKind("revisit", "moves back", "The move leads back to a position where the player has been.")
DIRECTION = FailureKind("direction", "moves off the shortest solution", "The move leads away from the goal.")


def steps(record: EpisodeRecord) -> Iterator[Step]:
    """Yield the moves up to the first that is not one of a shortest solution."""
    start, goal = decode(record.instance).positions
    rods = stacks(start)
    seen = {position_of(rods)}
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
        following = move_disk(rods, action)
        if following is None or is_forbidden(turn):
            yield Step(number, FORBIDDEN)
            return
        if action not in best_moves(rods, goal):
            yield Step(number, REVISIT if position_of(following) in seen else DIRECTION)
            return
        yield Step(number)
        rods = following
        seen.add(position_of(rods))


FIRST_ERRORS = FirstErrors((DIRECTION, REVISIT, FORBIDDEN), steps)


RODS_BELIEF: Belief[AgentState[Towers, Puzzle]] = Belief(
    name="rods",
    title="rods",
    doc="The disks on each rod, from bottom to top.",
    question=f"Which disks are on the rods {', '.join(RODS)} now? List the disks of each rod from bottom to top.",
    form=f"[{', '.join(f'[<disks on {rod}>]' for rod in RODS)}]",
    expected=lambda state: [list(disks) for disks in state.world.rods],
    read=partial(read_number_lists, count=len(RODS)),
)


def _progress(state: AgentState[Towers, Puzzle]) -> float:
    start, goal = state.instance.positions
    return 1 - distance(position_of(state.world.rods), goal) / distance(start, goal)


POTENTIALS = (Potential("distance", "Share of the moves of a shortest solution that is gained.", _progress, 100.0),)


def reasoning(state: AgentState[Towers, Puzzle]) -> str:
    """Return the largest disk that has to move, what is in its way, and the first move of a shortest solution."""
    goal = state.instance.positions[1]
    rods = state.world.rods
    position = position_of(rods)
    largest = max(disk for disk in range(len(position)) if position[disk] != goal[disk])
    away = [disk for disk in range(largest) if position[disk] in (position[largest], goal[largest])]
    way = f"Disks {', '.join(map(str, away))} have to leave these rods first. " if away else ""
    start, end = MOVES[best_moves(rods, goal)[0]]
    return (
        f"The largest disk that is not where it has to be is {largest}: from rod {RODS[position[largest]]} to "
        f"{RODS[goal[largest]]}. {way}A shortest solution has {distance(position, goal)} moves left and "
        f"begins with the top disk of {RODS[start]} to {RODS[end]}."
    )


MINIMUM = proof_axis("minimum", "Optimal moves", "Length of a shortest solution, in moves.")


VARIABLES = ExplanatoryVariables(
    items=(
        MINIMUM,
        Axis(
            name="misplaced",
            title="Misplaced disks",
            of=lambda record: float(_disks(record) - decode(record.instance).placed_disks),
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
