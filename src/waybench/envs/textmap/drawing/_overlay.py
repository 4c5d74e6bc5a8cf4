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
from waybench.envs.textmap._answers import (
    PAPER,
    SOUND,
    Hop,
    MatchingRules,
    Trajectory,
    move_index,
    possible_destinations,
)
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
_WIDEST, _HIGHEST, _NARROWEST = 560, 470, 330  # the area of the places, without margins
_LONGEST_STEPS: Point = (132, 74)  # between neighbours, across and down
_SIDE, _TOP, _BOTTOM = 52, 52, 34  # margins

# Styles of moves: not yet known at the cutoff, inferred from the opposite move, walked.
_STYLES = ("later", "#bdb8ad", 1.2, "1 4"), ("imputed", "#5a6372", 1.8, "4 3"), ("walked", "#5a6372", 1.8, "")


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
        last_column, last_row = (max(cell[axis] for cell in cells.values()) for axis in (0, 1))
        step_x, step_y = (
            stretch * min(longest_step, room / max(1, n_steps))
            for longest_step, room, n_steps in zip(
                _LONGEST_STEPS, (_WIDEST, _HIGHEST), (last_column, last_row), strict=True
            )
        )
        self.width = max(_NARROWEST, step_x * last_column) + 2 * _SIDE
        self.height = step_y * last_row + _TOP + _BOTTOM
        left = (self.width - step_x * last_column) / 2
        self.at = {place: (left + step_x * x, _TOP + step_y * y) for place, (x, y) in cells.items()}
        step = min(step_x, step_y)
        self.radius = max(2.0, min(4.5, 0.16 * step))
        self._edges, self._bend, occupied = edges, 0.55 * step, set(cells.values())
        self._thin = max(0.6, min(1.0, step / 36))  # line width factor for dense maps
        self._pairs = dict.fromkeys((edge.source, edge.target) for edge in edges if edge.source != edge.target)
        self._bent_pairs = set[Pair]()
        for pair in self._pairs:
            (x, y), (end_x, end_y) = (cells[place] for place in pair)
            if any((x + east, y + south) in occupied for east, south in cells_between(end_x - x, end_y - y)):
                self._bent_pairs |= {pair, pair[::-1]}
        name_area = (2, _TOP / 2, self.width - 2, self.height - 2)
        self.names = PlaceLabels(self.at, self._points_along_lines(), name_area, self.radius)

    def _points_along_lines(self) -> Iterator[Point]:
        """Yield points along all lines, about 5 pixels from each other."""
        for source, target in self._pairs:
            if source < target or (target, source) not in self._pairs:  # moves in both directions have one line
                curve = (x, y), _, (end_x, end_y) = self.curve_between(source, target)
                n_parts = max(2, int(hypot(end_x - x, end_y - y) / 5))
                yield from (point_on_curve(curve, number / n_parts) for number in range(1, n_parts))

    def curve_between(self, source: str, target: str) -> Curve:
        """Return the line from one place to another, bent if it would pass other places."""
        (x, y), (end_x, end_y) = self.at[source], self.at[target]
        middle_x, middle_y = (x + end_x) / 2, (y + end_y) / 2
        if (source, target) not in self._bent_pairs:
            return (x, y), (middle_x, middle_y), (end_x, end_y)
        # The bend is on the same side in both directions.
        bend = self._bend if (x, y) < (end_x, end_y) else -self._bend
        length = hypot(end_x - x, end_y - y)
        control = middle_x + bend * (end_y - y) / length, middle_y - bend * (end_x - x) / length
        return (x, y), control, (end_x, end_y)

    def path_data(self, source: str, target: str, *, half: bool = False) -> str:
        """Return the SVG path data of the line between two places, or of its first half."""
        curve = (x, y), (control_x, control_y), (end_x, end_y) = self.curve_between(source, target)
        if half:
            end_x, end_y = point_on_curve(curve, 0.5)
            control_x, control_y = (x + control_x) / 2, (y + control_y) / 2
        command = f"Q{control_x:.4g} {control_y:.4g} " if (source, target) in self._bent_pairs else "L"
        return f"M{x:.4g} {y:.4g}{command}{end_x:.4g} {end_y:.4g}"

    def move_path_data(self, source: str, target: str) -> str:
        """Return the SVG path data of a move: half of the line if the opposite move is drawn too."""
        return self.path_data(source, target, half=(target, source) in self._pairs)

    def arrow_head_data(self, source: str, target: str, part: float = 0.6, size: float = 5.0) -> str:
        """Return the SVG path data of an arrow head at a fraction of a line."""
        corners = arrow_head_corners(self.curve_between(source, target), part, size)
        return "M" + "L".join(f"{x:.4g} {y:.4g}" for x, y in corners) + "z"

    def render_moves_and_places(self, cutoff: int) -> str:
        """Return the shapes of moves, places and names for a reader of the steps 0 to `cutoff`."""
        styles: dict[Pair, int] = dict.fromkeys(self._pairs, 0)  # index in `_STYLES` of each pair's best known move
        for edge in self._edges:
            if edge.source != edge.target:
                pair = edge.source, edge.target
                style = 2 if is_reached(edge.forward, cutoff) else int(is_reached(edge.reverse, cutoff))
                styles[pair] = max(styles[pair], style)
        shapes: list[str] = []
        for style, (name, colour, width, dash) in enumerate(_STYLES):
            lines = (self.move_path_data(*pair) for pair, pair_style in styles.items() if pair_style == style)
            dashes = f'stroke-dasharray="{dash}"' if dash else ""
            shapes.append(path(f"textmap-{name}", colour, round(width * self._thin, 2), lines, dashes))
        one_way_pairs = (pair for pair, style in styles.items() if style and pair[::-1] not in styles)
        heads = (self.arrow_head_data(*pair, 0.72, 4) for pair in one_way_pairs)
        shapes.append(path("textmap-head", "#5a6372", 0, heads))
        reached_places = {place for pair, style in styles.items() if style for place in pair}
        dots: dict[bool, list[str]] = {True: [], False: []}
        for place, (x, y) in self.at.items():
            name = self.names.fitting.get(place)
            is_complete = name is not None and " ".join(name.lines) == clip_name(place)
            dot = f'<circle cx="{x:.4g}" cy="{y:.4g}" r="{self.radius:.2g}"/>'
            dots[place in reached_places].append(dot if is_complete else with_tooltip(clip_name(place, 100), dot))
        shapes.append(group("textmap-place", dots[True], 'fill="#5a6372"'))
        shapes.append(group("textmap-untold", dots[False], 'fill="#fff" stroke="#bdb8ad"'))
        return "".join(shapes) + name_shapes(self.names.fitting.values())


@lru_cache(maxsize=64)
def map_layout(place_map: PlaceMap) -> MapLayout:
    """Return the layout of a map; cached, since it does not depend on the cutoff."""
    return MapLayout(place_map.places, place_map.edges)


def name_shapes(names: Iterable[Name], *, strong: bool = False) -> str:
    """Return the SVG text of names."""
    fill_attributes = (
        'fill="#1c2230" font-weight="600" stroke-width="5"' if strong else 'fill="#5a6372" stroke-width="3"'
    )
    stroke_attributes = 'stroke="#fff" stroke-linejoin="round" paint-order="stroke"'
    attributes = f'{fill_attributes} {stroke_attributes} font-size="{FONT}" text-anchor="middle"'
    return group("textmap-meant" if strong else "textmap-name", map(_name_text, names), attributes)


def _name_text(name: Name) -> str:
    """Return a name as an SVG text element."""
    x, y = name.at
    first, *more = map(escape, name.lines)
    anchor = "" if name.anchor == "middle" else f' text-anchor="{name.anchor}"'
    more_lines = "".join(f'<tspan x="{x:.4g}" dy="{LINE}">{line}</tspan>' for line in more)
    return f'<text x="{x:.4g}" y="{y:.4g}"{anchor}>{first}{more_lines}</text>'


_N_APPROACH = 6  # moves of the walkthrough that are drawn before the move of a minigame
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
        right_moves: Moves of the walkthrough for which the answers have a right triplet.
        missing_moves: Moves of the walkthrough for which they have none.
        stops: Places where the answer ends.
        crosses: Places of errors with the direction of the wrong move; (0, 0) if the place itself is wrong.
        turn: Number of the turn of the answer, from 1; 0 without an answer, and where moves are not animated.
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
    shortest_path = shortest_path_by_edges(question, question.map.edges)
    caption = f"From {_short(question.source)} to {_short(question.target)}"
    answered_moves, crosses = list[Pair](), list[tuple[str, Cell]]()
    places = frozenset({question.source})  # where the answer leads so far: an action can lead to several places
    rules = _rules_of_score(question, turn, hops)
    for number, hop in enumerate(hops, start=1):
        action = index.resolve_action(hop.action, places, rules)
        moves = [(place, end) for place in sorted(places) for end in sorted(index.places_after((place,), action or ""))]
        if not moves:
            direction, _ = direction_and_certainty(action or hop.action)
            crosses = [(place, direction) for place in sorted(places)]
            caption += f": move {number} of {len(hops)} leads nowhere"
            break
        answered_moves += moves
        places = frozenset(end for _, end in moves)
    else:
        if hops:
            n_shortest = len(shortest_path)
            shorter_text = f" where {n_shortest} would do" if 0 < n_shortest < len(hops) else ""
            n_moves_text = plural(len(hops), "move")
            if question.target in places:
                caption += f": right, {n_moves_text}{shorter_text}"
            else:
                caption += f": wrong, {n_moves_text} that lead elsewhere"
                crosses = [(place, (0, 0)) for place in sorted(places)]
        elif turn is not None:
            caption += f": {_UNREAD}"
    return AnswerOverlay(
        caption=caption,
        start=question.source,
        target=question.target,
        reference=[(edge.source, edge.target) for edge in shortest_path],
        answered_moves=answered_moves,
        stops=sorted(places) if hops else (),
        crosses=crosses,
    )


def _rules_of_score(question: MapQuestion, turn: TurnRecord | None, hops: Trajectory) -> MatchingRules:
    """Return the rules that a route was scored with: the first that reproduce its outcome, otherwise the paper's."""
    index = move_index(question.map)
    for rules in (PAPER, SOUND):
        ends = index.places_after_actions(question.source, [hop.action for hop in hops], rules)
        wrong_outcome = Outcome.UNPRODUCTIVE if ends else Outcome.ILLEGAL
        if turn is not None and turn.outcome is (Outcome.OK if question.target in ends else wrong_outcome):
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
            direction, _ = direction_and_certainty(hop.action)
            crosses.append((before, direction))
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
        reference=[(edge.source, edge.target) for edge in question.path],
        answered_moves=answered_moves,
        invented=invented,
        stops=() if answer is None else (answer,),
        crosses=crosses,
    )


def _minigame_overlay(game: Minigame, turn: TurnRecord | None) -> AnswerOverlay:
    """Return the overlay of a minigame."""
    action = None if turn is None else turn.carried_out
    current_place, crosses, targets = game.move.source, list[tuple[str, Cell]](), list[str]()
    caption = f"Step {game.step}, at {_short(current_place)}"
    if turn is None:
        caption += ": what is next?"
    elif not isinstance(action, str):
        caption += f": {_UNREAD}"
    else:
        is_right = action == game.move.action
        targets = sorted({edge.target for edge in outgoing_moves(game) if edge.action == action})
        answer = clip_name(action, 30) if action in game.actions else "an action that is not listed"
        caption += f": {answer}, " + ("right" if is_right else "wrong")
        if not is_right:
            direction, _ = direction_and_certainty(action)
            crosses = [(end, (0, 0)) for end in targets] or [(current_place, direction)]
    approach = [(source, target) for source, target in pairwise(game.places) if source != target]
    return AnswerOverlay(
        caption=caption,
        start=current_place,
        right=game.move.target,
        reference=[(game.move.source, game.move.target)],
        approach=approach[-_N_APPROACH:],
        answered_moves=[(current_place, end) for end in targets],
        stops=targets,
        crosses=crosses,
    )


def _extraction_overlays(
    task: Extraction, turns: Sequence[TurnRecord], counts: Sequence[int]
) -> Iterator[AnswerOverlay]:
    """Yield the overlay after each number of turns: of a step each, or of all steps where they were asked at once."""
    at_once = _was_asked_for_all_triplets(task, turns)
    triplets: list[Hop | None] = []
    for turn in turns:
        hops = _scored_hops(turn)
        triplets += hops if at_once or len(hops) == 1 else (None,)
    n_examples = 0 if at_once else EXAMPLES
    truth = task.truth if at_once else task.truth[n_examples : n_examples + len(triplets)]
    marks = right_triplet_marks(
        truth, tuple(triplets), in_place=not at_once or _was_scored_in_order(truth, tuple(triplets), turns[-1])
    )
    moves = [(hop.before, hop.after) for hop in truth]
    examples = [(hop.before, hop.after) for hop in task.truth[:n_examples] if hop.before != hop.after]
    for count in counts:
        n_steps = len(truth) if at_once and count else count
        moves_with_marks = zip(moves[:n_steps], marks, strict=False)
        right_moves = {(before, after) for (before, after), mark in moves_with_marks if mark and before != after}
        missing_moves = {(before, after) for before, after in moves[:n_steps] if before != after} - right_moves
        caption = (
            f"{plural(task.cutoff, 'step')} at once" if at_once else f"Step {n_examples + n_steps} of {task.cutoff}"
        )
        if n_steps:
            caption += f": {sum(map(bool, marks[:n_steps]))} of {plural(n_steps, 'triplet')} right"
            n_unread = 0 if at_once else sum(hop is None for hop in triplets[:n_steps])
            if n_unread:
                caption += f", {n_unread} could not be read"
            elif not triplets:
                caption += f", {_UNREAD}"
        yield AnswerOverlay(
            caption=caption,
            start=task.truth[0].before,
            approach=examples,
            right_moves=sorted(right_moves),
            missing_moves=sorted(missing_moves),
            stops=[] if at_once or not count else [truth[n_steps - 1].after],
        )


def _was_asked_for_all_triplets(task: Extraction, turns: Sequence[TurnRecord]) -> bool:
    """Return whether one answer had to give all triplets, inferred from how the first answer was scored."""
    if len(turns) != 1:
        return False
    triplets, right_share, reward = _scored_hops(turns[0]), turns[0].events.get("right"), turns[0].reward
    if right_share is None:
        return not triplets  # in mode "steps", an answer with several triplets is rejected
    # In mode "steps", the reward of a triplet is its share of the steps.
    return len(triplets) > 1 or (task.cutoff > EXAMPLES + 1 and right_share in (0, reward))


def _was_scored_in_order(truth: Trajectory, triplets: PlayerTriplets, turn: TurnRecord) -> bool:
    """Return whether triplets were compared with the steps one by one, inferred from the score."""
    score = fmean(right_triplet_marks(truth, triplets, in_place=True))
    return score == turn.events.get("right", score)
