"""Metrics of an episode on a tile map (GameTraversalBenchmark, after its published program)."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, fsum, log, log1p, sqrt

from waybench.core import Aggregate, End, EpisodeRecord, Metric, Range, outcome_metric, proof_metric
from waybench.core._metrics import OF_THE_ITEM
from waybench.envs.tilemap._board import board, play_style
from waybench.envs.tilemap._instance import decode
from waybench.envs.tilemap._protocols import GIVEN_UP, PROTOCOLS, moves_per_point

ANY_LENGTH = "a plan can have thousands of moves, and each of them costs"
SINGLE_MOVES = "tilemap/stepwise"  # the environment whose plans are of one move


@dataclass(frozen=True, slots=True)
class EpisodeCounts:
    """Counts of an episode.

    Attributes:
        points: Points of all goals together, without what moves cost.
        spent: Moves that are paid for: names in all plans, and the path length for each goal that was given up.
        per_point: How many moves cost one point.
        generation_errors: Replies that could not be read, and plans with a name that is not an action.
        wrong: Of these, the latter.
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

    def share(self, points: int, spent: int) -> float:
        """Return a reward's place between Rmin = -(100 n + C) and Rmax = 200 n - C, in percent.

        C is the cost of `length` moves. Both are integers until the last division, so that a perfect play has exactly
        100.
        """
        return (100 * ((points + 100 * self.goals) * self.per_point + self.length - spent)) / (
            300 * self.goals * self.per_point
        )


def shortest(record: EpisodeRecord) -> int:
    """Return the moves of a shortest tour, around hazards, with all doors opened, and as if there were no beings."""
    if not (record.options["hazards"] or record.options.get("doors", 0)):
        minimum: int = record.proof["minimum"]
        return minimum
    return board(decode(record.instance), play_style(record.options)).length


def tally(record: EpisodeRecord) -> EpisodeCounts:
    """Count the results of an episode."""
    rules = PROTOCOLS[record.options["protocol"]]
    goals = len(record.instance["objectives"])
    if not rules.unreachable:
        goals -= len(record.proof["unreachable"])
    length = record.instance["path_length"] if rules.stored_length else shortest(record)
    per_point = moves_per_point(length) if rules.scaled_moves else 1
    limit = record.options["max_failures"]
    points = spent = errors = wrong = moves = actions = misses = finished = 0
    top = [0, 0, 0]
    for turn in record.turns:
        if turn.events.get("crashed"):
            break
        if turn.action is None:
            errors += 1
            misses += 1
            points -= 1
            if misses == limit:
                points -= GIVEN_UP
                spent += length
                misses = 0
                finished += 1
            continue
        misses = 0
        errors += turn.events["unknown"]
        wrong += turn.events["unknown"]
        moves += turn.events["moves"]
        actions += turn.events["actions"]
        spent += turn.events["actions"]
        points -= turn.events["unknown"]
        if "death" in turn.events:
            # The goals that were not reached count like one that is far away.
            points -= GIVEN_UP * (goals - finished)
        elif turn.events["final"]:
            worth = rules.worth(*turn.events["off"])
            points += worth.reward
            top = [have + more for have, more in zip(top, worth.top, strict=True)]
            finished += 1
    if record.end is End.TURN_LIMIT:
        # The caller's budget has ended the map: objectives that were not reached count as given up.
        points -= GIVEN_UP * (goals - finished)
        spent += length * (goals - finished)
    return EpisodeCounts(
        points, spent, per_point, errors, wrong, moves, actions, (top[0], top[1], top[2]), goals, length
    )


def score(record: EpisodeRecord) -> float | None:
    """Return where the reward lies between two others, in percent: 100 (R - Rmin) / (Rmax - Rmin).

    Rmax = 200 n - C and Rmin = -(100 n + C), n goals and C the cost of as many moves as the path length. As published
    it is not cut: a goal given up costs more than Rmin has room for, and the path length is no shortest tour. None
    where no goal is played.
    """
    totals = tally(record)
    if not totals.goals:
        return None
    value = totals.share(totals.points, totals.spent)
    return min(100.0, max(0.0, value)) if PROTOCOLS[record.options["protocol"]].clipped else value


def worst(record: EpisodeRecord) -> float:
    """Return the score of an episode in which no reply could be read."""
    totals, limit = tally(record), record.options["max_failures"]
    value = totals.share(-(limit + GIVEN_UP) * totals.goals, totals.length * totals.goals)
    return max(0.0, value) if PROTOCOLS[record.options["protocol"]].clipped else value


def best(record: EpisodeRecord) -> float:
    """Return the score of a shortest tour."""
    totals = tally(record)
    return totals.share(200 * totals.goals, shortest(record))


def _scores(record: EpisodeRecord) -> Range:
    return (0, 100) if PROTOCOLS[record.options["protocol"]].clipped else (None, best(record))


def _rewards(record: EpisodeRecord) -> Range:
    totals = tally(record)
    return None, 200 * totals.goals - shortest(record) / totals.per_point


def _plans(record: EpisodeRecord) -> int:
    """Return the greatest number of plans possible."""
    goals, tries = len(record.instance["objectives"]), record.options["tries"]
    # Single moves: the shortest path to each objective, twice among beings, and ten.
    cells = len(record.instance["environment"])
    # With doors, a tour's moves: between objectives, keys and doors it passes no cell twice.
    cells *= goals + 2 * record.options.get("doors", 0) if record.options.get("doors", 0) else 1
    return goals * (tries * 2 * cells + 10 if record.env == SINGLE_MOVES else tries)


def _replies(record: EpisodeRecord) -> int:
    """Return the greatest number of replies possible, of which any can be unreadable."""
    return record.options["max_failures"] * _plans(record)


def _moves(record: EpisodeRecord) -> Range:
    return 0, _plans(record) if record.env == SINGLE_MOVES else None


def _from_tally(value: Callable[[EpisodeCounts], float]) -> Callable[[EpisodeRecord], float]:
    return lambda record: float(value(tally(record)))


def _n_blocked(record: EpisodeRecord) -> float:
    return fsum(turn.events.get("blocked", 0) for turn in record.turns)


def _strategic(record: EpisodeRecord) -> float:
    """Count the plans of actions only, the last for their goal, that ended elsewhere."""
    final_plans = [turn.events for turn in record.turns if turn.events.get("final")]
    return float(sum(list(events["off"]) != [0, 0] and not events["unknown"] for events in final_plans))


def _mean_event(name: str) -> Callable[[EpisodeRecord], float | None]:
    def mean(record: EpisodeRecord) -> float | None:
        values = [turn.events[name] for turn in record.turns if turn.events.get(name) is not None]
        return fsum(values) / len(values) if values else None

    return mean


def _metric(
    name: str,
    title: str,
    value: Callable[[EpisodeRecord], float],
    doc: str,
    better: str = "lower",
    most: Callable[[EpisodeRecord], float] | None = None,
) -> Metric:
    """Return a metric from 0 up to `most`; without it, one that counts the moves of plans."""
    return Metric(
        name=name,
        of=value,
        title=title,
        low=0,
        range=_moves if most is None else lambda record: (0, most(record)),
        unbounded="" if most else ANY_LENGTH,
        better=better,
        doc=doc,
    )


def _top(number: int, doc: str) -> Metric:
    def share(record: EpisodeRecord) -> float:
        return float(tally(record).top[number])

    name = ("Top-0", "Top-1", "Top-5")[number]
    per = _from_tally(lambda totals: totals.goals)
    doc = f"{doc} For a set, this is the share of all objectives; times 100, it is the published percentage."
    return Metric(
        name=name.lower().replace("-", ""),
        of=share,
        title=name,
        low=0,
        range=lambda record: (0, len(record.instance["objectives"])),
        per=per,
        doc=doc,
    )


def _length_error(name: str, title: str, error: Callable[[int], float], doc: str) -> Metric:
    of = _from_tally(lambda counted: error(counted.moves - counted.length))
    return Metric(name=name, of=of, title=title, low=0, unbounded=ANY_LENGTH, better="lower", doc=doc)


def _log_cosh(difference: int) -> float:
    """Return log(cosh(x)), also where cosh(x) is too large for a float."""
    size = abs(difference)
    return size + log1p(exp(-2 * size)) - log(2)


LENGTH_SQUARED = _length_error(
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
        range=_scores,
        unbounded=ANY_LENGTH,
        floor=worst,
        ceiling=best,
        doc="100 (R - Rmin) / (Rmax - Rmin); R is the reward, Rmax = 200 n - C, Rmin = -(100 n + C), n objectives, C "
        'the cost of as many moves as the path length: in "paper" the record\'s, and the score is not cut to 0 and '
        '100; in "sound" that of the shortest tour, and the score is cut.',
    ),
    Metric(
        name="reward",
        of=_from_tally(lambda counted: counted.reward),
        title="Reward",
        range=_rewards,
        unbounded=ANY_LENGTH,
        doc="Points for where each objective's plan ended, minus the cost of each action, minus 1 for each generation "
        "error, minus 100 and the cost of the path length for each objective that was given up. An action costs 1; in "
        '"sound" it costs less on a map whose shortest tour has 100 moves or more (see the documentation).',
    ),
    _metric(
        "generation_errors",
        "MGE",
        _from_tally(lambda counted: counted.generation_errors),
        "Replies that could not be read, and plans with a name that is not an action.",
        most=_replies,
    ),
    _metric(
        "wrong_actions",
        "Invalid names",
        _from_tally(lambda counted: counted.wrong),
        "Plans with a name that is not an action.",
        most=_plans,
    ),
    _metric(
        "path_length",
        "MPL",
        _from_tally(lambda counted: counted.moves),
        "Names of moves in all plans, including those after an invalid name, which are not carried out (as published).",
        "",
    ),
    _metric("actions", "MAT", _from_tally(lambda counted: counted.actions), "Names in all plans.", ""),
    LENGTH_SQUARED,
    _length_error(
        "length_log_cosh",
        "Length log-cosh",
        _log_cosh,
        "Logarithm of the hyperbolic cosine of the same difference. The published program adds it up over all maps: it "
        "is this mean times the number of maps.",
    ),
    _top(0, "Objectives at which the plan ended."),
    _top(1, 'Objectives with a plan that ended on a cell next to them; in "sound" including Top-0.'),
    _top(
        2,
        'In "paper" objectives from which it ended 2 to 5 away in a straight line, give or take one; in "sound" up to '
        "5 away.",
    ),
    Metric(
        name="objectives",
        of=_from_tally(lambda counted: counted.goals),
        title="Objectives",
        low=0,
        unbounded=OF_THE_ITEM,
        better="",
        doc="Number of objectives.",
    ),
    proof_metric("minimum", "Shortest tour", "Length of a shortest tour of all objectives.", low=0),
    _metric("blocked", "Blocked moves", _n_blocked, "Moves into a wall or off the map."),
    _metric(
        "strategic",
        "Strategic errors",
        _strategic,
        "Objectives with a plan of actions only that ended elsewhere.",
        most=lambda record: len(record.instance["objectives"]),
    ),
    outcome_metric("unparsed", "Unreadable replies.", max_turns=_replies),
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
