"""Shapes of places, moves and names, and overlays: an answer on a map, the reference answer and the errors."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from html import escape
from itertools import pairwise
from math import hypot
from statistics import fmean

from waybench._svg import group, path, with_tooltip
from waybench.core import Outcome, TurnRecord, plural
from waybench.envs.textmap._answers import PAPER, SOUND, MatchingRules, Trajectory, move_index, possible_destinations
from waybench.envs.textmap._extraction_items import EXAMPLES, Extraction, PlayerTriplets, right_triplet_marks
from waybench.envs.textmap._game import read_hops, shortest_path_by_edges
from waybench.envs.textmap._items import MapQuestion
from waybench.envs.textmap._minigame_game import Minigame, outgoing_moves
from waybench.envs.textmap._place_map import Edge, PlaceMap
from waybench.envs.textmap._prefix import is_reached
from waybench.envs.textmap.drawing._layout import (
    FONT,
    LINE,
    Cell,
    Curve,
    Name,
    PlaceLabels,
    Point,
    arrow_head_corners,
    cells_between,
    clip_name,
    direction_and_certainty,
    lay_out_places,
    point_on_curve,
)

Pair = tuple[str, str]

# In pixels: a drawing is about as wide as a page. These sizes do not depend on the map.
_WIDE, _HIGH, _LEAST = 560, 470, 330
_FARTHEST: Point = (132, 74)  # between neighbours
_SIDE, _TOP, _BOTTOM = 52, 52, 34

# Styles of moves: not yet known at the cutoff, inferred from the opposite move, walked.
_KINDS = ("later", "#bdb8ad", 1.2, "1 4"), ("imputed", "#5a6372", 1.8, "4 3"), ("walked", "#5a6372", 1.8, "")


class MapLayout:
    """The positions of all elements of a map drawing, in pixels.

    `stretch` is how many times as much room there is as in a drawing that stands in a page.

    Attributes:
        at: Position of each place.
        names: The names of places.
        radius: Radius of the dots of places.
    """

    def __init__(self, places: tuple[str, ...], edges: tuple[Edge, ...], stretch: float = 1.0) -> None:
        cells = dict(zip(places, lay_out_places(places, edges), strict=True))
        last = [max(cell[axis] for cell in cells.values()) for axis in (0, 1)]
        east, south = (
            stretch * min(far, room / max(1, end))
            for far, room, end in zip(_FARTHEST, (_WIDE, _HIGH), last, strict=True)
        )
        self.width, self.height = max(_LEAST, east * last[0]) + 2 * _SIDE, south * last[1] + _TOP + _BOTTOM
        left = (self.width - east * last[0]) / 2
        self.at = {place: (left + east * x, _TOP + south * y) for place, (x, y) in cells.items()}
        self.radius = max(2.0, min(4.5, 0.16 * min(east, south)))
        self._edges, self._bend, occupied = edges, 0.55 * min(east, south), set(cells.values())
        self._thin = max(0.6, min(1.0, min(east, south) / 36))  # line width factor for dense maps
        self._pairs = dict.fromkeys((edge.source, edge.target) for edge in edges if edge.source != edge.target)
        self._bent = set[Pair]()
        for pair in self._pairs:
            (x, y), (column, row) = (cells[place] for place in pair)
            if any((x + across, y + down) in occupied for across, down in cells_between(column - x, row - y)):
                self._bent |= {pair, pair[::-1]}
        within = (2, _TOP / 2, self.width - 2, self.height - 2)
        self.names = PlaceLabels(self.at, self._points_along_lines(), within, self.radius)

    def _points_along_lines(self) -> Iterator[Point]:
        """Yield points along all lines."""
        for source, target in self._pairs:
            if source < target or (target, source) not in self._pairs:
                line = self.curve_between(source, target)
                count = max(2, int(hypot(line[2][0] - line[0][0], line[2][1] - line[0][1]) / 5))
                yield from (point_on_curve(line, number / count) for number in range(1, count))

    def curve_between(self, source: str, target: str) -> Curve:
        """Return the line from one place to another."""
        (x, y), (column, row) = self.at[source], self.at[target]
        middle = (x + column) / 2, (y + row) / 2
        if (source, target) not in self._bent:
            return (x, y), middle, (column, row)
        # The bend is on the same side in both directions.
        side = self._bend if (x, y) < (column, row) else -self._bend
        length = hypot(column - x, row - y)
        return (x, y), (middle[0] + side * (row - y) / length, middle[1] - side * (column - x) / length), (column, row)

    def path_data(self, source: str, target: str, *, half: bool = False) -> str:
        """Return the SVG path data of the line between two places, or of its first half."""
        line = (x, y), (bent_x, bent_y), (column, row) = self.curve_between(source, target)
        if half:
            column, row = point_on_curve(line, 0.5)
            bent_x, bent_y = (x + bent_x) / 2, (y + bent_y) / 2
        bent = f"Q{bent_x:.4g} {bent_y:.4g} " if (source, target) in self._bent else "L"
        return f"M{x:.4g} {y:.4g}{bent}{column:.4g} {row:.4g}"

    def move_path_data(self, source: str, target: str) -> str:
        """Return the SVG path data of a move: half of the line if the opposite move is drawn too."""
        return self.path_data(source, target, half=(target, source) in self._pairs)

    def arrow_head_data(self, source: str, target: str, part: float = 0.6, size: float = 5.0) -> str:
        """Return the SVG path data of an arrow head at a fraction of a line."""
        corners = arrow_head_corners(self.curve_between(source, target), part, size)
        return "M" + "L".join(f"{x:.4g} {y:.4g}" for x, y in corners) + "z"

    def render_moves_and_places(self, cutoff: int) -> str:
        """Return the shapes of moves, places and names for a reader of the steps 0 to `cutoff`."""
        best: dict[Pair, int] = dict.fromkeys(self._pairs, 0)  # an index of `_KINDS`
        for edge in self._edges:
            if edge.source != edge.target:
                pair = edge.source, edge.target
                kind = 2 if is_reached(edge.forward, cutoff) else int(is_reached(edge.reverse, cutoff))
                best[pair] = max(best[pair], kind)
        parts: list[str] = []
        for kind, (name, colour, wide, dash) in enumerate(_KINDS):
            lines = (self.move_path_data(*pair) for pair, best_kind in best.items() if best_kind == kind)
            dashes = f'stroke-dasharray="{dash}"' if dash else ""
            parts.append(path(f"textmap-{name}", colour, round(wide * self._thin, 2), lines, dashes))
        heads = (self.arrow_head_data(*pair, 0.72, 4) for pair, kind in best.items() if kind and pair[::-1] not in best)
        parts.append(path("textmap-head", "#5a6372", 0, heads))
        reached_places = {place for pair, kind in best.items() if kind for place in pair}
        dots: dict[bool, list[str]] = {True: [], False: []}
        for place, (x, y) in self.at.items():
            name = self.names.fitting.get(place)
            is_complete = name is not None and " ".join(name.lines) == clip_name(place)
            dot = f'<circle cx="{x:.4g}" cy="{y:.4g}" r="{self.radius:.2g}"/>'
            dots[place in reached_places].append(dot if is_complete else with_tooltip(clip_name(place, 100), dot))
        parts.append(group("textmap-place", dots[True], 'fill="#5a6372"'))
        parts.append(group("textmap-untold", dots[False], 'fill="#fff" stroke="#bdb8ad"'))
        return "".join(parts) + name_shapes(self.names.fitting.values())


@lru_cache(maxsize=64)
def map_layout(place_map: PlaceMap) -> MapLayout:
    """Return the layout of a map; cached, since it does not depend on the cutoff."""
    return MapLayout(place_map.places, place_map.edges)


def name_shapes(names: Iterable[Name], *, strong: bool = False) -> str:
    """Return the SVG text of names."""
    look = 'fill="#1c2230" font-weight="600" stroke-width="5"' if strong else 'fill="#5a6372" stroke-width="3"'
    edge = 'stroke="#fff" stroke-linejoin="round" paint-order="stroke"'
    more = f'{look} {edge} font-size="{FONT}" text-anchor="middle"'
    return group("textmap-meant" if strong else "textmap-name", map(_name_text, names), more)


def _name_text(name: Name) -> str:
    """Return a name as an SVG text element."""
    x, y = name.at
    first, *more = map(escape, name.lines)
    anchor = "" if name.anchor == "middle" else f' text-anchor="{name.anchor}"'
    more_lines = "".join(f'<tspan x="{x:.4g}" dy="{LINE}">{line}</tspan>' for line in more)
    return f'<text x="{x:.4g}" y="{y:.4g}"{anchor}>{first}{more_lines}</text>'


_APPROACH = 6  # moves of the walkthrough to draw before the one of a minigame
_UNREAD = "nothing could be read"
_short = partial(clip_name, most=34)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOverlay:
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
) -> Iterator[AnswerOverlay]:
    """Yield the overlay after each number of turns; `turns` are all turns of the episode."""
    if isinstance(instance, Extraction):
        yield from _extraction_overlays(instance, turns, counts)
        return
    for count in counts:
        turn = turns[count - 1] if count else None
        if isinstance(instance, Minigame):
            yield _minigame_overlay(instance, turn)
        else:
            yield replace((_destination_overlay if instance.path else _route_overlay)(instance, turn), turn=count)


def _scored_hops(turn: TurnRecord | None) -> Trajectory:
    """Return the moves of the answer that was scored; empty if there is none."""
    action = None if turn is None else turn.carried_out
    return () if action is None else read_hops(action)


def _route_overlay(question: MapQuestion, turn: TurnRecord | None) -> AnswerOverlay:
    """Return the overlay of a route question."""
    index, hops = move_index(question.map), _scored_hops(turn)
    way = shortest_path_by_edges(question, question.map.edges)
    caption = f"From {_short(question.source)} to {_short(question.target)}"
    answered_moves, crosses = list[Pair](), list[tuple[str, Cell]]()
    places = frozenset({question.source})
    rules = _rules_of_score(question, turn, hops)
    for number, hop in enumerate(hops, start=1):
        action = index.resolve_action(hop.action, places, rules)
        steps = [(place, end) for place in sorted(places) for end in sorted(index.places_after((place,), action or ""))]
        if not steps:
            crosses = [(place, direction_and_certainty(action or hop.action)[0]) for place in sorted(places)]
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
    return AnswerOverlay(
        caption=caption,
        start=question.source,
        target=question.target,
        reference=[edge[:2] for edge in way],
        answered_moves=answered_moves,
        stops=sorted(places) if hops else (),
        crosses=crosses,
    )


def _rules_of_score(question: MapQuestion, turn: TurnRecord | None, hops: Trajectory) -> MatchingRules:
    """Return the rules that a route was scored with: those that reproduce its outcome."""
    index = move_index(question.map)
    for rules in (PAPER, SOUND):
        ends = index.places_after_actions(question.source, [hop.action for hop in hops], rules)
        wrong = Outcome.UNPRODUCTIVE if ends else Outcome.ILLEGAL
        if turn is not None and turn.outcome is (Outcome.OK if question.target in ends else wrong):
            return rules
    return PAPER


def _destination_overlay(question: MapQuestion, turn: TurnRecord | None) -> AnswerOverlay:
    """Return the overlay of a destination question."""
    index, hops = move_index(question.map), _scored_hops(turn)
    caption = f"From {_short(question.source)} by {plural(len(question.path), 'move')}"
    answered_moves, invented, crosses = list[Pair](), list[Pair](), list[tuple[str, Cell]]()
    for hop in hops:
        before, after = index.find_place(hop.before), index.find_place(hop.after)
        if before is not None and after is not None and before != after:
            (answered_moves if index.has_move(*hop) else invented).append((before, after))
        elif before is not None and after is None:
            crosses.append((before, direction_and_certainty(hop.action)[0]))
    answer = index.find_place(hops[-1].after) if hops else None
    if answer is not None:
        # If the moves can lead to several places, all of them are right in "sound" only.
        is_alternative = (
            turn is not None and turn.outcome is Outcome.OK and answer in possible_destinations(question.map, question)
        )
        is_right = answer == question.target or is_alternative
        caption += f": {_short(answer)}, " + ("right" if is_right else "wrong")
        crosses += [] if is_right else [(answer, (0, 0))]
    elif turn is not None:
        caption += ": a place that is not on the map" if hops else f": {_UNREAD}"
    return AnswerOverlay(
        caption=caption,
        start=question.source,
        right=question.target,
        reference=[edge[:2] for edge in question.path],
        answered_moves=answered_moves,
        invented=invented,
        stops=() if answer is None else (answer,),
        crosses=crosses,
    )


def _minigame_overlay(game: Minigame, turn: TurnRecord | None) -> AnswerOverlay:
    """Return the overlay of a minigame."""
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
        answer = clip_name(action, 30) if action in game.actions else "an action that is not listed"
        caption += f": {answer}, " + ("right" if is_right else "wrong")
        crosses = [] if is_right else [(end, (0, 0)) for end in ends] or [(here, direction_and_certainty(action)[0])]
    approach = [pair for pair in pairwise(places) if pair[0] != pair[1]]
    return AnswerOverlay(
        caption=caption,
        start=here,
        right=game.move.target,
        reference=[game.move[:2]],
        approach=approach[-_APPROACH:],
        answered_moves=[(here, end) for end in ends],
        stops=ends,
        crosses=crosses,
    )


def _extraction_overlays(
    task: Extraction, turns: Sequence[TurnRecord], counts: Sequence[int]
) -> Iterator[AnswerOverlay]:
    """Yield the overlay after each number of scored steps; where all is asked at once, any but 0 means all steps."""
    at_once = _was_asked_for_all_triplets(task, turns)
    answers = [_scored_hops(turn) for turn in turns]
    triplets: PlayerTriplets = tuple(
        hop for hops in answers for hop in (hops if at_once or len(hops) == 1 else (None,))
    )
    first = 0 if at_once else EXAMPLES
    truth = task.truth if at_once else task.truth[first : first + len(triplets)]
    right = right_triplet_marks(
        truth, triplets, in_place=not at_once or _was_scored_in_order(truth, triplets, turns[-1])
    )
    moves = [(hop.before, hop.after) for hop in truth]
    examples = [(hop.before, hop.after) for hop in task.truth[:first] if hop.before != hop.after]
    for count in counts:
        step_count = len(truth) if at_once and count else count
        right_moves = {
            move for move, mark in zip(moves[:step_count], right, strict=False) if mark and move[0] != move[1]
        }
        caption = f"{plural(task.cutoff, 'step')} at once" if at_once else f"Step {first + step_count} of {task.cutoff}"
        if step_count:
            caption += f": {sum(map(bool, right[:step_count]))} of {plural(step_count, 'triplet')} right"
            unread = 0 if at_once else sum(hop is None for hop in triplets[:step_count])
            caption += f", {unread} could not be read" if unread else "" if triplets else f", {_UNREAD}"
        yield AnswerOverlay(
            caption=caption,
            start=task.truth[0].before,
            approach=examples,
            right_moves=sorted(right_moves),
            missing_moves=sorted({move for move in moves[:step_count] if move[0] != move[1]} - right_moves),
            stops=[] if at_once or not count else [truth[step_count - 1].after],
        )


def _was_asked_for_all_triplets(task: Extraction, turns: Sequence[TurnRecord]) -> bool:
    """Return whether one answer had to give all triplets, inferred from how the first answer was scored."""
    if len(turns) != 1:
        return False
    triplets, right, reward = _scored_hops(turns[0]), turns[0].events.get("right"), turns[0].reward
    if right is None:
        return not triplets  # in mode "steps", an answer with several triplets is rejected
    # In mode "steps", the reward of a triplet is its share of the steps.
    return len(triplets) > 1 or (task.cutoff > EXAMPLES + 1 and right in (0, reward))


def _was_scored_in_order(truth: Trajectory, triplets: PlayerTriplets, turn: TurnRecord) -> bool:
    """Return whether triplets were compared with the steps one by one, inferred from the score."""
    right = right_triplet_marks(truth, triplets, in_place=True)
    return fmean(right) == turn.events.get("right", fmean(right))
