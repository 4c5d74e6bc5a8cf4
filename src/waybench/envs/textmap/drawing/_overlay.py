"""Overlays: an answer on a map, the reference answer and the errors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

from waybench.core import Outcome, TurnRecord, plural
from waybench.envs.textmap.drawing._board import Pair
from waybench.envs.textmap.drawing._layout import Cell, bearing
from waybench.envs.textmap.drawing._names import shown
from waybench.envs.textmap.extract import EXAMPLES, Extraction, PlayerTriplets, triplet_scores
from waybench.envs.textmap.minigame import Minigame, outgoing_moves
from waybench.envs.textmap.questions import (
    PAPER,
    SOUND,
    MapQuestion,
    Rules,
    Trajectory,
    destinations,
    move_index,
    read_hops,
    shortest_way,
)

_APPROACH = 6  # moves of the walkthrough to draw before the one of a minigame
_UNREAD = "nothing could be read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """The part of a drawing that depends on the answer. All places in it are places of the map.

    Attributes:
        caption: Description of the question and the answer, with names of the map.
        start: Start of the question.
        target: Destination, if the question gives it.
        right: The right answer if it is a place.
        reference: Moves of the reference answer.
        approach: Last moves before the start.
        answered_moves: Moves in the answer that the map has.
        invented: Moves in the answer that the map does not have, as pairs of places.
        right_moves: Moves with a right triplet.
        missing_moves: Moves without a right triplet.
        stops: Places where the answer ends.
        turn: Number of the turn of the answer, from 1; 0 for none.
        crosses: Places of errors with the direction of the wrong move; (0, 0) if the place itself is wrong.
    """

    caption: str
    start: str
    target: str = ""
    right: str = ""
    reference: Sequence[Pair] = ()
    approach: Sequence[Pair] = ()
    answered_moves: Sequence[Pair] = ()
    invented: Sequence[Pair] = ()
    right_moves: Sequence[Pair] = ()
    missing_moves: Sequence[Pair] = ()
    stops: Sequence[str] = ()
    crosses: Sequence[tuple[str, Cell]] = ()
    turn: int = 0


def overlays(
    instance: MapQuestion | Minigame | Extraction, turns: Sequence[TurnRecord], counts: Sequence[int]
) -> Iterator[Overlay]:
    """Yield the overlay after each number of turns.

    Args:
        instance: The question.
        turns: All turns of the episode, confirmed by re-simulation.
        counts: Numbers of turns.
    """
    if isinstance(instance, Extraction):
        yield from _extractions(instance, turns, counts)
        return
    for count in counts:
        turn = turns[count - 1] if count else None
        if isinstance(instance, Minigame):
            yield _minigame(instance, turn)
        else:
            yield replace((_destination if instance.path else _route)(instance, turn), turn=count)


def _scored_hops(turn: TurnRecord | None) -> Trajectory:
    """Return the moves of the answer that was scored; empty if there is none."""
    action = None if turn is None else turn.carried_out
    return () if action is None else read_hops(action)


def _short(place: str) -> str:
    return shown(place, 34)


def _route(question: MapQuestion, turn: TurnRecord | None) -> Overlay:
    index, hops = move_index(question.map), _scored_hops(turn)
    way = shortest_way(question, question.map.edges)
    caption = f"From {_short(question.source)} to {_short(question.target)}"
    answered_moves, crosses = list[Pair](), list[tuple[str, Cell]]()
    places = frozenset({question.source})
    rules = _rules(question, turn, hops)
    for number, hop in enumerate(hops, start=1):
        action = index.resolve_action(hop.action, places, rules)
        steps = [(place, end) for place in sorted(places) for end in sorted(index.targets((place,), action or ""))]
        if not steps:
            crosses = [(place, bearing(action or hop.action)[0]) for place in sorted(places)]
            caption += f": move {number} of {len(hops)} leads nowhere"
            break
        answered_moves += steps
        places = frozenset(end for _, end in steps)
    else:
        if hops:
            arrived = question.target in places
            least = f" where {len(way)} would do" if way and len(way) < len(hops) else ""
            moves = plural(len(hops), "move")
            caption += f": right, {moves}{least}" if arrived else f": wrong, {moves} that lead elsewhere"
            crosses = [] if arrived else [(place, (0, 0)) for place in sorted(places)]
        elif turn is not None:
            caption += f": {_UNREAD}"
    return Overlay(
        caption=caption,
        start=question.source,
        target=question.target,
        reference=[edge[:2] for edge in way],
        answered_moves=answered_moves,
        stops=sorted(places) if hops else (),
        crosses=crosses,
    )


def _rules(question: MapQuestion, turn: TurnRecord | None, hops: Trajectory) -> Rules:
    """Return the rules that a route was scored with: those that reproduce its outcome."""
    index = move_index(question.map)
    for rules in (PAPER, SOUND):
        ends = index.follow(question.source, [hop.action for hop in hops], rules)
        wrong = Outcome.UNPRODUCTIVE if ends else Outcome.ILLEGAL
        if turn is not None and turn.outcome is (Outcome.OK if question.target in ends else wrong):
            return rules
    return PAPER


def _destination(question: MapQuestion, turn: TurnRecord | None) -> Overlay:
    index, hops = move_index(question.map), _scored_hops(turn)
    caption = f"From {_short(question.source)} by {plural(len(question.path), 'move')}"
    answered_moves, invented, crosses = list[Pair](), list[Pair](), list[tuple[str, Cell]]()
    for hop in hops:
        before, after = index.find_place(hop.before), index.find_place(hop.after)
        if before is not None and after is not None and before != after:
            (answered_moves if index.has(*hop) else invented).append((before, after))
        elif before is not None and after is None:
            crosses.append((before, bearing(hop.action)[0]))
    answer = index.find_place(hops[-1].after) if hops else None
    if answer is not None:
        # If the moves can lead to several places, all of them are right in "sound" only.
        is_alternative = (
            turn is not None and turn.outcome is Outcome.OK and answer in destinations(question.map, question)
        )
        is_right = answer == question.target or is_alternative
        caption += f": {_short(answer)}, " + ("right" if is_right else "wrong")
        crosses += [] if is_right else [(answer, (0, 0))]
    elif turn is not None:
        caption += ": a place that is not on the map" if hops else f": {_UNREAD}"
    return Overlay(
        caption=caption,
        start=question.source,
        right=question.target,
        reference=[edge[:2] for edge in question.path],
        answered_moves=answered_moves,
        invented=invented,
        stops=() if answer is None else (answer,),
        crosses=crosses,
    )


def _minigame(game: Minigame, turn: TurnRecord | None) -> Overlay:
    action = None if turn is None else turn.carried_out
    here, places = game.move.source, game.places
    caption, crosses, ends = f"Step {game.step}, at {_short(here)}", list[tuple[str, Cell]](), list[str]()
    if turn is None:
        caption += ": what is next?"
    elif not isinstance(action, str):
        caption += f": {_UNREAD}"
    else:
        is_right = action == game.move.action
        ends = sorted({edge.target for edge in outgoing_moves(game) if edge.action == action})
        answer = shown(action, 30) if action in game.actions else "an action that is not listed"
        caption += f": {answer}, " + ("right" if is_right else "wrong")
        crosses = [] if is_right else [(end, (0, 0)) for end in ends] or [(here, bearing(action)[0])]
    approach = [pair for pair in pairwise(places) if pair[0] != pair[1]]
    return Overlay(
        caption=caption,
        start=here,
        right=game.move.target,
        reference=[game.move[:2]],
        approach=approach[-_APPROACH:],
        answered_moves=[(here, end) for end in ends],
        stops=ends,
        crosses=crosses,
    )


def _extractions(task: Extraction, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[Overlay]:
    whole = _is_whole(task, turns)
    answers = [_scored_hops(turn) for turn in turns]
    triplets: PlayerTriplets = tuple(hop for hops in answers for hop in (hops if whole or len(hops) == 1 else (None,)))
    first = 0 if whole else EXAMPLES
    truth = task.truth if whole else task.truth[first : first + len(triplets)]
    right = triplet_scores(truth, triplets, in_place=not whole or _in_place(truth, triplets, turns[-1]))
    moves = [(hop.before, hop.after) for hop in truth]
    examples = [(hop.before, hop.after) for hop in task.truth[:first] if hop.before != hop.after]
    for count in counts:
        step_count = len(truth) if whole and count else count
        right_moves = {
            move for move, mark in zip(moves[:step_count], right, strict=False) if mark and move[0] != move[1]
        }
        caption = f"{plural(task.cutoff, 'step')} at once" if whole else f"Step {first + step_count} of {task.cutoff}"
        if step_count:
            caption += f": {sum(map(bool, right[:step_count]))} of {plural(step_count, 'triplet')} right"
            unread = 0 if whole else sum(hop is None for hop in triplets[:step_count])
            caption += f", {unread} could not be read" if unread else "" if triplets else f", {_UNREAD}"
        yield Overlay(
            caption=caption,
            start=task.truth[0].before,
            approach=examples,
            right_moves=sorted(right_moves),
            missing_moves=sorted({move for move in moves[:step_count] if move[0] != move[1]} - right_moves),
            stops=[] if whole or not count else [truth[step_count - 1].after],
        )


def _is_whole(task: Extraction, turns: Sequence[TurnRecord]) -> bool:
    """Return whether one answer had to give all triplets, inferred from how the first answer was scored."""
    if len(turns) != 1:
        return False
    triplets, right, reward = _scored_hops(turns[0]), turns[0].events.get("right"), turns[0].reward
    if right is None:
        return not triplets  # in mode "steps", an answer with several triplets is rejected
    # In mode "steps", the reward of a triplet is its share of the steps.
    return len(triplets) > 1 or (task.cutoff > EXAMPLES + 1 and right in (0, reward))


def _in_place(truth: Trajectory, triplets: PlayerTriplets, turn: TurnRecord) -> bool:
    """Return whether triplets were compared with the steps one by one, inferred from the score."""
    right = triplet_scores(truth, triplets, in_place=True)
    return fmean(right) == turn.events.get("right", fmean(right))
