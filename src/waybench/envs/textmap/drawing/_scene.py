"""What is to be seen of an answer on a map: a way that was taken, what was meant, and where it went wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from waybench.core import Outcome, TurnRecord, plural
from waybench.envs.textmap.drawing._board import Pair
from waybench.envs.textmap.drawing._layout import Cell, bearing
from waybench.envs.textmap.drawing._names import shown
from waybench.envs.textmap.extract import EXAMPLES, Extraction, Said, said_right
from waybench.envs.textmap.minigame import Minigame, leaving
from waybench.envs.textmap.questions import (
    PAPER,
    SOUND,
    MapQuestion,
    Rules,
    Trajectory,
    destinations,
    ground,
    read_hops,
    shortest_way,
)

_CAME = 6  # moves of the walkthrough that are drawn before a minigame's
_UNREAD = "nothing could be read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What is drawn on a map. All places are places of the map, whatever was answered.

    Attributes:
        told: What it is, in words of ours, with names of the map.
        start: Where it begins.
        target: Where it is to end, if the question says so.
        right: The right answer, if it is a place.
        reference: Moves of a right answer.
        came: Moves that led to the start.
        taken: Moves of the map that were answered.
        made_up: Pairs of places that were answered as moves, and are none of the map.
        found: Moves whose triplets were said.
        missed: Moves whose triplets were not.
        stops: Where the answer ends.
        crosses: Places where it goes wrong, and in which direction it leaves them; (0, 0) if it is wrong to be there.
    """

    told: str
    start: str
    target: str = ""
    right: str = ""
    reference: Sequence[Pair] = ()
    came: Sequence[Pair] = ()
    taken: Sequence[Pair] = ()
    made_up: Sequence[Pair] = ()
    found: Sequence[Pair] = ()
    missed: Sequence[Pair] = ()
    stops: Sequence[str] = ()
    crosses: Sequence[tuple[str, Cell]] = ()


def scenes(
    instance: MapQuestion | Minigame | Extraction, turns: Sequence[TurnRecord], counts: Sequence[int]
) -> Iterator[Scene]:
    """Yield what is to be seen after each of some numbers of turns.

    Args:
        instance: What is asked.
        turns: All turns of the episode, as a simulation has confirmed them.
        counts: After how many of them.
    """
    if isinstance(instance, Extraction):
        yield from _extractions(instance, turns, counts)
        return
    for count in counts:
        turn = turns[count - 1] if count else None
        if isinstance(instance, Minigame):
            yield _minigame(instance, turn)
        else:
            yield (_destination if instance.path else _route)(instance, turn)


def _done(turn: TurnRecord | None) -> Trajectory:
    """Return the moves of an answer, or of what was put in its place; nothing if there are none."""
    action = None if turn is None else turn.action if turn.executed is None else turn.executed
    return () if action is None else read_hops(action)


def _short(place: str) -> str:
    return shown(place, 34)


def _route(question: MapQuestion, turn: TurnRecord | None) -> Scene:
    here, hops = ground(question.map), _done(turn)
    way = shortest_way(question, question.map.edges)
    told = f"From {_short(question.source)} to {_short(question.target)}"
    taken, crosses = list[Pair](), list[tuple[str, Cell]]()
    places = frozenset({question.source})
    rules = _rules(question, turn, hops)
    for number, hop in enumerate(hops, start=1):
        action = here.meant(hop.action, places, rules)
        made = [(place, end) for place in sorted(places) for end in sorted(here.ends((place,), action or ""))]
        if not made:
            crosses = [(place, bearing(action or hop.action)[0]) for place in sorted(places)]
            told += f": move {number} of {len(hops)} leads nowhere"
            break
        taken += made
        places = frozenset(end for _, end in made)
    else:
        if hops:
            arrived = question.target in places
            least = f" where {len(way)} would do" if way and len(way) < len(hops) else ""
            moves = plural(len(hops), "move")
            told += f": right, {moves}{least}" if arrived else f": wrong, {moves} that lead elsewhere"
            crosses = [] if arrived else [(place, (0, 0)) for place in sorted(places)]
        elif turn is not None:
            told += f": {_UNREAD}"
    return Scene(
        told=told,
        start=question.source,
        target=question.target,
        reference=[edge[:2] for edge in way],
        taken=taken,
        stops=sorted(places) if hops else (),
        crosses=crosses,
    )


def _rules(question: MapQuestion, turn: TurnRecord | None, hops: Trajectory) -> Rules:
    """Return by which rules a route was scored: those by which it comes to what it came to."""
    here = ground(question.map)
    for rules in (PAPER, SOUND):
        ends = here.follow(question.source, [hop.action for hop in hops], rules)
        wrong = Outcome.UNPRODUCTIVE if ends else Outcome.ILLEGAL
        if turn is not None and turn.outcome is (Outcome.OK if question.target in ends else wrong):
            return rules
    return PAPER


def _destination(question: MapQuestion, turn: TurnRecord | None) -> Scene:
    here, hops = ground(question.map), _done(turn)
    told = f"From {_short(question.source)} by {plural(len(question.path), 'move')}"
    taken, made_up, crosses = list[Pair](), list[Pair](), list[tuple[str, Cell]]()
    for hop in hops:
        before, after = here.named(hop.before), here.named(hop.after)
        if before is not None and after is not None and before != after:
            (taken if here.has(*hop) else made_up).append((before, after))
        elif before is not None and after is None:
            crosses.append((before, bearing(hop.action)[0]))
    answered = here.named(hops[-1].after) if hops else None
    if answered is not None:
        # Where the moves can lead to several places, each is right in "sound" alone.
        other = turn is not None and turn.outcome is Outcome.OK and answered in destinations(question.map, question)
        is_right = answered == question.target or other
        told += f": {_short(answered)}, " + ("right" if is_right else "wrong")
        crosses += [] if is_right else [(answered, (0, 0))]
    elif turn is not None:
        told += ": a place that is not on the map" if hops else f": {_UNREAD}"
    return Scene(
        told=told,
        start=question.source,
        right=question.target,
        reference=[edge[:2] for edge in question.path],
        taken=taken,
        made_up=made_up,
        stops=() if answered is None else (answered,),
        crosses=crosses,
    )


def _minigame(game: Minigame, turn: TurnRecord | None) -> Scene:
    action = None if turn is None else turn.action if turn.executed is None else turn.executed
    here, places = game.move.source, game.places
    told, crosses, ends = f"Step {game.step}, at {_short(here)}", list[tuple[str, Cell]](), list[str]()
    if turn is None:
        told += ": what is next?"
    elif not isinstance(action, str):
        told += f": {_UNREAD}"
    else:
        is_right = action == game.move.action
        ends = sorted({edge.target for edge in leaving(game) if edge.action == action})
        named = shown(action, 30) if action in game.actions else "an action that is not listed"
        told += f": {named}, " + ("right" if is_right else "wrong")
        crosses = [] if is_right else [(end, (0, 0)) for end in ends] or [(here, bearing(action)[0])]
    came = [pair for pair in pairwise(places) if pair[0] != pair[1]]
    return Scene(
        told=told,
        start=here,
        right=game.move.target,
        reference=[game.move[:2]],
        came=came[-_CAME:],
        taken=[(here, end) for end in ends],
        stops=ends,
        crosses=crosses,
    )


def _extractions(task: Extraction, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[Scene]:
    whole = _is_whole(task, turns)
    answers = [_done(turn) for turn in turns]
    said: Said = tuple(hop for hops in answers for hop in (hops if whole or len(hops) == 1 else (None,)))
    first = 0 if whole else EXAMPLES
    truth = task.truth if whole else task.truth[first : first + len(said)]
    right = said_right(truth, said, in_place=not whole or _in_place(truth, said, turns[-1]))
    moves = [(hop.before, hop.after) for hop in truth]
    examples = [(hop.before, hop.after) for hop in task.truth[:first] if hop.before != hop.after]
    for count in counts:
        asked = len(truth) if whole and count else count
        found = {move for move, mark in zip(moves[:asked], right, strict=False) if mark and move[0] != move[1]}
        told = f"{plural(task.cutoff, 'step')} at once" if whole else f"Step {first + asked} of {task.cutoff}"
        if asked:
            told += f": {sum(map(bool, right[:asked]))} of {plural(asked, 'triplet')} right"
            unread = 0 if whole else sum(hop is None for hop in said[:asked])
            told += f", {unread} could not be read" if unread else "" if said else f", {_UNREAD}"
        yield Scene(
            told=told,
            start=task.truth[0].before,
            came=examples,
            found=sorted(found),
            missed=sorted({move for move in moves[:asked] if move[0] != move[1]} - found),
            stops=[] if whole or not count else [truth[asked - 1].after],
        )


def _is_whole(task: Extraction, turns: Sequence[TurnRecord]) -> bool:
    """Return whether all triplets were asked for at once; only what came of the first answer tells."""
    if len(turns) != 1:
        return False
    said, right, reward = _done(turns[0]), turns[0].events.get("right"), turns[0].reward
    if right is None:
        return not said  # several where one is asked for come to nothing
    # One triplet of several steps is worth its part.
    return len(said) > 1 or (task.cutoff > EXAMPLES + 1 and right in (0, reward))


def _in_place(truth: Trajectory, said: Said, turn: TurnRecord) -> bool:
    """Return whether triplets were compared one by one with the steps, by what that came to."""
    right = said_right(truth, said, in_place=True)
    return fmean(right) == turn.events.get("right", fmean(right))
