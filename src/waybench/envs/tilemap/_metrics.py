"""Metrics of an episode on a tile map (GameTraversalBenchmark's program), and explanatory variables of maps."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, fsum, log, log1p, sqrt

from waybench.core import (
    Aggregate,
    Axis,
    End,
    EpisodeRecord,
    ExplanatoryVariables,
    Metric,
    Range,
    outcome_metric,
    proof_metric,
)
from waybench.core._metrics import OF_THE_ITEM
from waybench.envs.tilemap._board import board_of_map, play_style
from waybench.envs.tilemap._instance import decode
from waybench.envs.tilemap._protocols import GIVEN_UP, PROTOCOLS, moves_per_point

ANY_LENGTH = "a plan can have thousands of moves, and each of them costs"
SINGLE_MOVES = "tilemap/stepwise"  # the environment whose plans are of one move


@dataclass(frozen=True, slots=True)
class EpisodeCounts:
    """Counts of an episode.

    Attributes:
        points: Points of all goals together, before moves are paid.
        spent: Moves that are paid for: names in all plans, and the path length for each goal that was given up.
        per_point: How many moves cost one point.
        generation_errors: Unreadable replies, and plans with a name that is not an action.
        wrong: Plans with a name that is not an action.
        moves: Names of moves in all plans, carried out or not.
        actions: Names in all plans.
        top: How many goals count for Top-0, Top-1 and Top-5.
        goals: Number of goals.
        length: Path length that the score is scaled by.
    """

    points: int
    spent: int
    per_point: int
    generation_errors: int
    wrong: int
    moves: int
    actions: int
    top: tuple[int, int, int]
    goals: int
    length: int

    @property
    def reward(self) -> float:
        """Points less the cost of the moves."""
        return (self.points * self.per_point - self.spent) / self.per_point

    def normalized_score(self, points: int, spent: int) -> float:
        """Return 100 (R - Rmin) / (Rmax - Rmin) for a reward R of points and moves spent (see `score`).

        All numbers are integers until the last division, so that a perfect play has exactly 100.
        """
        return (100 * ((points + 100 * self.goals) * self.per_point + self.length - spent)) / (
            300 * self.goals * self.per_point
        )


def shortest_tour_length(record: EpisodeRecord) -> int:
    """Return the moves of a shortest tour around hazards, with all doors opened and without beings."""
    if not (record.options["hazards"] or record.options.get("doors", 0)):
        minimum: int = record.proof["minimum"]
        return minimum
    return board_of_map(decode(record.instance), play_style(record.options)).length


def count_episode(record: EpisodeRecord) -> EpisodeCounts:
    """Return the counts of an episode from which its metrics are computed."""
    protocol = PROTOCOLS[record.options["protocol"]]
    n_goals = len(record.instance["objectives"])
    if not protocol.unreachable:
        n_goals -= len(record.proof["unreachable"])
    length = record.instance["path_length"] if protocol.stored_length else shortest_tour_length(record)
    per_point = moves_per_point(length) if protocol.scaled_moves else 1
    points = unreadable = unreadable_in_a_row = wrong = moves = actions = n_given_up = n_finished = 0
    top = [0, 0, 0]
    for turn in record.turns:
        if turn.events.get("crashed"):
            break
        if turn.action is None:
            unreadable += 1
            unreadable_in_a_row += 1
            if unreadable_in_a_row == record.options["max_failures"]:
                n_given_up += 1
                unreadable_in_a_row = 0
            continue
        unreadable_in_a_row = 0
        wrong += turn.events["unknown"]
        moves += turn.events["moves"]
        actions += turn.events["actions"]
        if "death" in turn.events:
            # All goals that are left count like a goal that is far away.
            points -= GIVEN_UP * (n_goals - n_finished - n_given_up)
        elif turn.events["final"]:
            worth = protocol.worth(*turn.events["off"])
            points += worth.reward
            top = [count + more for count, more in zip(top, worth.top, strict=True)]
            n_finished += 1
    if record.end is End.TURN_LIMIT:  # the caller's budget ended the map: goals that are left count as given up
        n_given_up = n_goals - n_finished
    errors = unreadable + wrong
    points -= errors + GIVEN_UP * n_given_up
    spent = actions + length * n_given_up
    return EpisodeCounts(
        points, spent, per_point, errors, wrong, moves, actions, (top[0], top[1], top[2]), n_goals, length
    )


def score(record: EpisodeRecord) -> float | None:
    """Return the GTB score in percent: 100 (R - Rmin) / (Rmax - Rmin); None where no goal is played.

    Rmax = 200 n - C and Rmin = -(100 n + C), for n goals and the cost C of as many moves as the path length. The
    published score is not cut at 0 and 100: a goal given up costs more than Rmin allows for, and a tour can be shorter
    than the path length.
    """
    totals = count_episode(record)
    if not totals.goals:
        return None
    value = totals.normalized_score(totals.points, totals.spent)
    return min(100.0, max(0.0, value)) if PROTOCOLS[record.options["protocol"]].clipped else value


def worst_score(record: EpisodeRecord) -> float:
    """Return the score of an episode without a readable reply."""
    totals, replies_per_goal = count_episode(record), record.options["max_failures"]
    value = totals.normalized_score(-(replies_per_goal + GIVEN_UP) * totals.goals, totals.length * totals.goals)
    return max(0.0, value) if PROTOCOLS[record.options["protocol"]].clipped else value


def best_score(record: EpisodeRecord) -> float:
    """Return the score of a shortest tour."""
    totals = count_episode(record)
    return totals.normalized_score(200 * totals.goals, shortest_tour_length(record))


def _score_range(record: EpisodeRecord) -> Range:
    return (0, 100) if PROTOCOLS[record.options["protocol"]].clipped else (None, best_score(record))


def _reward_range(record: EpisodeRecord) -> Range:
    totals = count_episode(record)
    return None, 200 * totals.goals - shortest_tour_length(record) / totals.per_point


def _max_plans(record: EpisodeRecord) -> int:
    """Return the greatest possible number of plans."""
    n_goals, tries, doors = len(record.instance["objectives"]), record.options["tries"], record.options.get("doors", 0)
    if record.env != SINGLE_MOVES:
        return n_goals * tries
    # `step_budget`, with a path over all cells to each objective or, with doors, to each objective, key and door.
    most_moves = len(record.instance["environment"]) * (n_goals + 2 * doors if doors else 1)
    return n_goals * (tries * 2 * most_moves + 10)


def _max_replies(record: EpisodeRecord) -> int:
    """Return the greatest possible number of replies, any of which can be unreadable."""
    return record.options["max_failures"] * _max_plans(record)


def _move_range(record: EpisodeRecord) -> Range:
    """Return the range of a number of moves, open where a plan can be of any length."""
    return 0, _max_plans(record) if record.env == SINGLE_MOVES else None


def _value_from_counts(value: Callable[[EpisodeCounts], float]) -> Callable[[EpisodeRecord], float]:
    """Return the function from a record to a value of its counts."""
    return lambda record: float(value(count_episode(record)))


def _count_blocked_moves(record: EpisodeRecord) -> float:
    return fsum(turn.events.get("blocked", 0) for turn in record.turns)


def _count_strategic_errors(record: EpisodeRecord) -> float:
    """Return the number of final plans of actions only that ended off their goal."""
    final_plans = [turn.events for turn in record.turns if turn.events.get("final")]
    return float(sum(list(events["off"]) != [0, 0] and not events["unknown"] for events in final_plans))


def _mean_event(name: str) -> Callable[[EpisodeRecord], float | None]:
    """Return the function from a record to the mean of an event's values over its plans; None without values."""

    def mean(record: EpisodeRecord) -> float | None:
        values = [turn.events[name] for turn in record.turns if turn.events.get(name) is not None]
        return fsum(values) / len(values) if values else None

    return mean


def _count_metric(
    name: str,
    title: str,
    value: Callable[[EpisodeRecord], float],
    doc: str,
    better: str = "lower",
    max_value: Callable[[EpisodeRecord], float] | None = None,
) -> Metric:
    """Return a metric from 0 to `max_value`; without it, one that counts the moves of plans."""
    return Metric(
        name=name,
        of=value,
        title=title,
        low=0,
        range=_move_range if max_value is None else lambda record: (0, max_value(record)),
        unbounded="" if max_value else ANY_LENGTH,
        better=better,
        doc=doc,
    )


def _top_metric(index: int, doc: str) -> Metric:
    """Return the metric Top-0, Top-1 or Top-5, by its index."""
    name = ("Top-0", "Top-1", "Top-5")[index]
    return Metric(
        name=name.lower().replace("-", ""),
        of=_value_from_counts(lambda counts: counts.top[index]),
        title=name,
        low=0,
        range=lambda record: (0, len(record.instance["objectives"])),
        per=_value_from_counts(lambda counts: counts.goals),
        doc=f"{doc} For a set, this is the share of all objectives; times 100, it is the published percentage.",
    )


def _length_error_metric(name: str, title: str, error: Callable[[int], float], doc: str) -> Metric:
    """Return the metric of an error function of the difference between the moves and the path length."""
    of = _value_from_counts(lambda counts: error(counts.moves - counts.length))
    return Metric(name=name, of=of, title=title, low=0, unbounded=ANY_LENGTH, better="lower", doc=doc)


def _log_cosh(difference: int) -> float:
    """Return log(cosh(x)), also where cosh(x) is too large for a float."""
    size = abs(difference)
    return size + log1p(exp(-2 * size)) - log(2)


LENGTH_SQUARED = _length_error_metric(
    "length_mse",
    "Length MSE",
    lambda difference: float(difference**2),
    "Square of the difference between the moves of all plans (MPL) and the path length that the score is scaled by.",
)

METRICS = (
    Metric(
        name="score",
        of=score,
        title="GTB_Score",
        unit="%",
        range=_score_range,
        unbounded=ANY_LENGTH,
        floor=worst_score,
        ceiling=best_score,
        doc="100 (R - Rmin) / (Rmax - Rmin); R is the reward, Rmax = 200 n - C, Rmin = -(100 n + C), n objectives, C "
        'the cost of as many moves as the path length: in "paper" the record\'s, and the score is not cut to 0 and '
        '100; in "sound" that of the shortest tour, and the score is cut.',
    ),
    Metric(
        name="reward",
        of=_value_from_counts(lambda counts: counts.reward),
        title="Reward",
        range=_reward_range,
        unbounded=ANY_LENGTH,
        doc="Points for where each objective's plan ended, minus the cost of each action, minus 1 for each generation "
        "error, minus 100 and the cost of the path length for each objective that was given up. An action costs 1; in "
        '"sound" it costs less on a map whose shortest tour has 100 moves or more (see the documentation).',
    ),
    _count_metric(
        "generation_errors",
        "MGE",
        _value_from_counts(lambda counts: counts.generation_errors),
        "Replies that could not be read, and plans with a name that is not an action.",
        max_value=_max_replies,
    ),
    _count_metric(
        "wrong_actions",
        "Invalid names",
        _value_from_counts(lambda counts: counts.wrong),
        "Plans with a name that is not an action.",
        max_value=_max_plans,
    ),
    _count_metric(
        "path_length",
        "MPL",
        _value_from_counts(lambda counts: counts.moves),
        "Names of moves in all plans, including those after an invalid name, which are not carried out (as published).",
        "",
    ),
    _count_metric("actions", "MAT", _value_from_counts(lambda counts: counts.actions), "Names in all plans.", ""),
    LENGTH_SQUARED,
    _length_error_metric(
        "length_log_cosh",
        "Length log-cosh",
        _log_cosh,
        "Logarithm of the hyperbolic cosine of the same difference. The published program adds it up over all maps: it "
        "is this mean times the number of maps.",
    ),
    _top_metric(0, "Objectives at which the plan ended."),
    _top_metric(1, 'Objectives with a plan that ended on a cell next to them; in "sound" including Top-0.'),
    _top_metric(
        2,
        'In "paper" objectives from which it ended 2 to 5 away in a straight line, give or take one; in "sound" up to '
        "5 away.",
    ),
    Metric(
        name="objectives",
        of=_value_from_counts(lambda counts: counts.goals),
        title="Objectives",
        low=0,
        unbounded=OF_THE_ITEM,
        better="",
        doc="Number of objectives.",
    ),
    proof_metric("minimum", "Shortest tour", "Length of a shortest tour of all objectives.", low=0),
    _count_metric("blocked", "Blocked moves", _count_blocked_moves, "Moves into a wall or off the map."),
    _count_metric(
        "strategic",
        "Strategic errors",
        _count_strategic_errors,
        "Objectives with a plan of actions only that ended elsewhere.",
        max_value=lambda record: len(record.instance["objectives"]),
    ),
    outcome_metric("unparsed", "Unreadable replies.", max_turns=_max_replies),
)

STATE_METRICS = (
    *METRICS,
    Metric(
        name="cells",
        of=_mean_event("cells"),
        title="Cells right",
        low=0,
        high=1,
        doc="Share of the map's cells that the player predicted correctly, mean over its plans.",
    ),
    Metric(
        name="moved",
        of=_mean_event("moved"),
        title="Changed cells right",
        low=0,
        high=1,
        doc="The same for cells that change on the map or in the prediction (the others can be copied); undefined if "
        "none does.",
    ),
)

AGGREGATES = (
    Aggregate(
        name="length_rmse",
        metrics=(LENGTH_SQUARED,),
        of=lambda means: sqrt(means[0]),
        title="Length RMSE",
        doc="Root of the mean of length_mse over maps: the published program's error of the path length.",
        part="Error",
        low=0,
        better="lower",
        is_headline=False,  # a player without a plan is nearer to the published length than one with short ways
    ),
)


def _count_cells(record: EpisodeRecord) -> float:
    return float(sum(map(len, record.instance["environment"].splitlines())))


def _blocked_share(record: EpisodeRecord) -> float:
    tiles, walkable = record.instance["environment"].replace("\n", ""), set(record.instance["walkable_tiles"])
    return sum(tile not in walkable for tile in tiles) / max(1, len(tiles))


def _longest_leg(record: EpisodeRecord) -> float | None:
    lengths = [length for length in record.proof.get("legs", ()) if length is not None]
    return float(max(lengths)) if lengths else None


VARIABLES = ExplanatoryVariables(
    items=(
        Axis(
            name="objectives",
            title="Objectives",
            of=lambda record: float(len(record.instance["objectives"])),
            doc="Objectives of the map.",
        ),
        Axis(
            name="longest_leg",
            title="Longest leg",
            of=_longest_leg,
            doc="Moves of the longest shortest path from one objective to the next.",
        ),
        Axis(name="cells", title="Cells", of=_count_cells, doc="Cells of the map."),
        Axis(
            name="blocked",
            title="Share of cells that block",
            of=_blocked_share,
            doc="Share of the cells whose tiles cannot be walked on.",
        ),
    )
)
