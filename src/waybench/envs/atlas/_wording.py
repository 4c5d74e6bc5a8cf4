"""What a player of a world reads and sees, how its moves are read, and the drawing of a walk."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from waybench._svg import ROUND, box, circle, line, path, point, texts
from waybench.core import (
    ActionTool,
    Field,
    Invalid,
    Picture,
    Scene,
    ToolCall,
    Transition,
    TurnRecord,
    View,
    Wording,
    normalize_name,
    plural,
)
from waybench.core._choices import index_of_named_action
from waybench.core._presentation import states_after_turn_counts
from waybench.core._question_kit import candidate_answer_lines
from waybench.envs.atlas._game import (
    CONDITIONS,
    MOST_MOVES,
    Condition,
    Moves,
    Walk,
    WorldGame,
    crossed_passages,
    first_leg_budget,
    story_parts,
)
from waybench.envs.atlas._world import DIRECTIONS, World, plan_of, prove

_UNIT = 60.0
_MIDDLE = 18.0  # of a place, from the edge of its cell; its name is on the right
_MARGIN = 12.0  # on the right and below
_HEAD = 6.0  # half the length of an arrow head


def _place_position(world: World, place: int) -> tuple[float, float]:
    """Return the centre of a place in the drawing."""
    x, y = world.cells[place]
    return _UNIT * x + _MIDDLE, _UNIT * y + _MIDDLE


def _drawing_size(world: World) -> tuple[float, float]:
    """Return width and height of the drawing."""
    columns, rows = (1 + max(cell[axis] for cell in world.cells) for axis in (0, 1))
    return _UNIT * columns + _MARGIN, _UNIT * rows + _MARGIN


def _arrow_head_path(world: World, source: int, target: int) -> str:
    """Return the SVG path of an arrow head in the middle of a passage."""
    (x, y), (to_x, to_y) = _place_position(world, source), _place_position(world, target)
    across, down = (to_x - x) / _UNIT, (to_y - y) / _UNIT
    middle_x, middle_y = (x + to_x) / 2, (y + to_y) / 2
    corners = (
        (middle_x + _HEAD * across, middle_y + _HEAD * down),
        (middle_x - _HEAD * (across + down), middle_y - _HEAD * (down + across)),
        (middle_x - _HEAD * (across - down), middle_y - _HEAD * (down - across)),
    )
    return f"M{'L'.join(map(point, corners))}Z"


def _passage_and_place_shapes(world: World) -> list[str]:
    """Return the shapes of the passages, the arrows of one-way passages, the places and their names."""
    places = range(len(world.names))
    positions = [_place_position(world, place) for place in places]
    lines = (line([positions[source], positions[target]]) for source, target, _ in world.passages)
    name_labels = ((x + 6, y - 5, name) for (x, y), name in zip(positions, world.names, strict=True))
    arrow_heads = (_arrow_head_path(world, source, target) for source, target, one_way in world.passages if one_way)
    return [
        path("atlas-passage", "#8c93a0", 2, lines),
        path("atlas-one-way", "#5a6372", 0, arrow_heads),
        path("atlas-place", "#5a6372", 6, (f"M{point(position)}h0" for position in positions), ROUND),
        texts("atlas-name", name_labels, 10, "start"),
    ]


def scenes(world: World, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[Scene]:
    """Yield the world with the walk after each number of turns, whose events have the condition."""
    # Turns with unread replies have no events.
    condition = next((turn.events["condition"] for turn in turns if "condition" in turn.events), "plan")
    (x, y), start = _place_position(world, world.goal), _place_position(world, world.start)
    board = [
        *_passage_and_place_shapes(world),
        circle("atlas-start", "#0072b2", 2.5, start, 8),
        box("atlas-goal", "#009e73", 2.5, (x - 8, y - 8), (16, 16)),
    ]
    places = plural(len(world.names), "place")
    states = states_after_turn_counts(WorldGame(CONDITIONS[condition]), world, turns, counts)
    for count, state in zip(counts, states, strict=True):
        label = f"World of {places}, {plural(len(state.trail) - 1, 'move')}"
        yield Scene("atlas", label, _drawing_size(world), _walk_shapes(state, begun=count > 0), board=board)


def _walk_shapes(state: Walk, *, begun: bool) -> list[str]:
    """Return the line of a walk, a cross on a passage found closed and, once a turn was played, the player."""
    world = state.world
    shapes = [path("atlas-trail", "#d55e00", 4, [line(_place_position(world, place) for place in state.trail)], ROUND)]
    if state.closed >= 0:
        source, target, _ = world.passages[state.closed]
        (x, y), (to_x, to_y) = _place_position(world, source), _place_position(world, target)
        x, y = (x + to_x) / 2, (y + to_y) / 2
        shapes.append(path("atlas-closed", "#cc3311", 3, [f"M{x - 6:g} {y - 6:g}l12 12m0 -12l-12 12"]))
    if begun:
        shapes.append(circle("atlas-player", "#d55e00", 0, _place_position(world, state.place), 5))
    return shapes


def draw_picture(picture: Picture) -> str:
    """Draw the passages of a world with the names of its places, as lists and text drawings have them."""
    state: Walk = picture.state
    world = state.world
    label = f"Map of {plural(len(world.names), 'place')}"
    return Scene("atlas", label, _drawing_size(world), _passage_and_place_shapes(world)).svg()


_WORLD = """\
A world has places, and passages between neighbouring places. A passage leads north, east, south or west. It can be \
used both ways, unless it is called one-way."""
_DESCRIPTIONS = {
    "list": "These are all passages:\n{passages}",
    "drawing": "This is a drawing of all places and passages, with north at the top. Lines of - and | are passages "
    "that can be used both ways; where a line has >, <, ^ or v, the passage is one-way, in this direction.\n{passages}",
    "story": "This story tells of each passage:\n{passages}",
    "": "You do not know the passages: you see the exits of the place where you are.",
}
_LISTEN = (
    "You will read a story that tells of each passage, in {parts}. Reply only OK to each part. After the last part you "
    "are asked for a route."
)
_GO_ON = "Reply only OK."
_TASK = """\
You are at {start} and want to go to {goal}. A move is north, east, south or west. Where no passage leads that way, \
you stay where you are, and the move counts. You have {moves}."""
_EXPLORE = """\
You are at {start}. Find {goal}, go back to {start}, and then go to {goal} again. A move is north, east, south or \
west. Where no passage leads that way, you stay where you are, and the move counts. You have {moves} to find {goal}, \
and then for each way twice as many as the shortest one over passages that you have crossed."""
_ROUTE = """\
Answer with the moves of the whole route. The last line of your reply has to be the moves in their order, with commas \
between them, and nothing else: for example, north, east, east."""
_STEP = (
    "Make one move in each turn. The last line of your reply has to be the move and nothing else: for example, north."
)
_SHOWN = "After each move you are told where you are and which exits are there."
_BLIND = "After each move you are only told whether you have moved."
_CLOSES = "A passage can turn out to be closed when you try it. It stays closed then, both ways."
_ANNOUNCED = "The passage between {first} and {second} is closed, both ways."
_CHART = "In each turn you are also shown the passages that you have crossed."

_NAMES = {name: name for name in DIRECTIONS} | {name[0]: name for name in DIRECTIONS}
_WORD = re.compile(r"[^\W\d_]+")
_DIRECTION = {"type": "string", "enum": list(DIRECTIONS)}
_MOVE_TOOL = ActionTool("move", "Make a move.", {"direction": {**_DIRECTION, "description": "Direction of the move."}})
_ROUTE_TOOL = ActionTool(
    "route",
    "Answer with the whole route.",
    {
        "moves": {
            "type": "array",
            "items": _DIRECTION,
            "maxItems": MOST_MOVES,
            "description": "The moves in their order.",
        }
    },
)


def passage_lines(world: World, numbers: Iterable[int]) -> str:
    """Return passages as a list, one in each line."""
    plan = plan_of(world)
    return "\n".join(
        f"{world.names[source]}: {plan.exit_to(source, target)[0]} to {world.names[target]}{_one_way_mark(one_way)}"
        for source, target, one_way in (world.passages[number] for number in numbers)
    )


def _one_way_mark(one_way: bool) -> str:
    """Return " (one-way)" for a one-way passage; otherwise ""."""
    return " (one-way)" if one_way else ""


def story_text(world: World, walk: Sequence[int]) -> str:
    """Return a walk as a story, one sentence for each move."""
    plan, names = plan_of(world), world.names
    sentences = [f"I was at {names[walk[0]]}."]
    for place, after in pairwise(walk):
        direction, number = plan.exit_to(place, after)
        sentences.append(f"I went {direction} to {names[after]}{_one_way_mark(plan.passages[number].one_way)}.")
    return " ".join(sentences)


def text_drawing(world: World) -> str:
    """Return a world as a text drawing, with its places as names and its passages as lines."""
    cell_width = max(map(len, world.names)) + 4
    columns, rows = (1 + max(cell[axis] for cell in world.cells) for axis in (0, 1))
    lines = [[" "] * (cell_width * columns) for _ in range(2 * rows - 1)]
    for name, (x, y) in zip(world.names, world.cells, strict=True):
        left = cell_width * x + (cell_width - len(name)) // 2
        lines[2 * y][left : left + len(name)] = name
    for source, target, one_way in world.passages:
        direction, _ = plan_of(world).exit_to(source, target)
        x, y = min(world.cells[source], world.cells[target])  # the western or northern end
        middle = cell_width * x + cell_width // 2
        if direction in ("north", "south"):
            lines[2 * y + 1][middle] = "|" if not one_way else "v^"[direction == "north"]
            continue
        line = lines[2 * y]
        first = line.index(" ", middle)  # after the name of the western place
        last = first
        while line[last] == " ":  # up to the name of the eastern place
            last += 1
        line[first:last] = "-" * (last - first)
        if one_way:
            line[last - 1 if direction == "east" else first] = "><"[direction == "west"]
    return "\n".join("".join(line).rstrip() for line in lines)


@lru_cache(maxsize=256)
def passages_text(world: World, form: str) -> str:
    """Return all passages as a "list", a "drawing" or a "story" (cached); "" for another form."""
    if form == "list":
        return passage_lines(world, range(len(world.passages)))
    return text_drawing(world) if form == "drawing" else story_text(world, world.story) if form == "story" else ""


def read_moves(line: str) -> Moves | Invalid:
    """Read a line of directions with commas or other marks between them, as words or first letters."""
    text = normalize_name(line)
    moves = tuple(_NAMES.get(word, "") for word in _WORD.findall(text))
    if not moves or "" in moves or any(sign.isdigit() for sign in text):
        return Invalid("The last line has to be moves, each north, east, south or west, with commas between them.")
    return moves


class WorldWording(Wording[World, Walk, Moves]):
    """The rules and messages of one condition."""

    def __init__(self, condition: Condition) -> None:
        self._condition = condition
        field = Field[World]
        # A picture replaces the field "passages" (see `Images`), never a story.
        passages_field = {
            "list": field("passages", "The list of passages.", self._passages_text),
            "drawing": field("passages", "The drawing of the passages.", self._passages_text),
            "story": field("story", "The story, where it comes at once.", self._passages_text),
        }.get(condition.description)
        self.rule_fields = (
            *([passages_field] if passages_field is not None else []),
            field("start", "The name of the start.", lambda world: world.names[world.start]),
            field("goal", "The name of the goal.", lambda world: world.names[world.goal]),
            field("moves", "Most moves, in words.", self._budget_text),
        )
        self.fields = (
            Field[View[Walk]]("feedback", "What the last reply led to.", lambda view: self._feedback_text(view)),
            Field[View[Walk]](
                "place", "The place and its exits, where they are shown.", lambda view: self._place_text(view.state)
            ),
            Field[View[Walk]](
                "part",
                "The part of the story, or the question after it.",
                lambda view: self._story_part_text(view.state),
            ),
        )

    def _passages_text(self, world: World) -> str:
        """Return all passages, unless the story comes in parts."""
        return "" if self._condition.parts else passages_text(world, self._condition.description)

    def _budget_text(self, world: World) -> str:
        """Return the moves of the first leg in words."""
        return plural(first_leg_budget(world, self._condition), "move")

    def _task_text(self, world: World) -> str:
        """Return the start, the goal, the budget, what messages will show, and the form of the reply."""
        condition = self._condition
        template, names = _EXPLORE if condition.explores else _TASK, world.names
        parts = [template.format(start=names[world.start], goal=names[world.goal], moves=self._budget_text(world))]
        if condition.announces:
            first, second, _ = world.passages[int(prove(world)["closed"])]
            parts.append(_ANNOUNCED.format(first=names[first], second=names[second]))
        if condition.steps:
            parts.append(_SHOWN if condition.shows_place else _BLIND)
        if condition.closes:
            parts.append(_CLOSES)
        if condition.shows_chart:
            parts.append(_CHART)
        return "\n".join([*parts, _STEP if condition.steps else _ROUTE])

    def rules(self, instance: World) -> str:
        if self._condition.parts:
            parts = plural(len(story_parts(instance)), "part")
            return f"{_WORLD}\n{_LISTEN.format(parts=parts)}"
        description = _DESCRIPTIONS[self._condition.description].format(passages=self._passages_text(instance))
        return f"{_WORLD}\n{description}\n\n{self._task_text(instance)}"

    def observe(self, state: Walk, last: Transition[Walk] | Invalid | None, turn: int) -> str:
        view = View(state, last, turn)
        return "\n".join(
            filter(None, (self._feedback_text(view), self._story_part_text(state), self._place_text(state)))
        )

    def _story_part_text(self, state: Walk) -> str:
        """Return the present part of the story, or the task after the last part; "" at other times."""
        if not self._condition.parts or not state.moves_left:
            return ""
        if not state.is_reading_story:
            return self._task_text(state.world)
        parts = story_parts(state.world)
        heading = f"Part {state.part} of {len(parts)}:"
        return f"{heading}\n{story_text(state.world, parts[state.part - 1])}\n{_GO_ON}"

    def _place_text(self, state: Walk) -> str:
        """Return the place, its exits and the crossed passages, as far as the condition shows them."""
        condition = self._condition
        is_over = not state.moves_left or state.targets_reached == condition.targets
        if is_over or not (condition.steps and condition.shows_place):
            return ""
        names = ", ".join(state.open_exits_of(state.place)) or "none"
        lines = [f"{state.world.names[state.place]}. Exits: {names}."]
        if condition.shows_chart and (crossed := crossed_passages(state.plan, state.trail)):
            lines.append(f"Passages that you have crossed:\n{passage_lines(state.world, crossed)}")
        return "\n".join(lines)

    def _feedback_text(self, view: View[Walk]) -> str:
        """Return the sentences on the last reply; "" at the start and between parts of a story."""
        state, last = view.state, view.last
        names, condition = state.world.names, self._condition
        if last is None or state.is_reading_story:
            return ""
        ending = "You have no moves left." if condition.steps and not state.moves_left else ""
        if isinstance(last, Invalid):
            return f"{last.reason} {ending}".rstrip()
        if "part" in last.events:
            return ""  # the last reply was to the last part of the story
        if not condition.steps:
            leads = "leads" if state.targets_reached == 1 else "does not lead"
            return f"The route {leads} to {names[state.world.goal]}."
        if last.events["arrived"]:
            here = f"You have reached {names[state.place]}."
            if state.targets_reached == condition.targets:
                return here
            request = "Go back" if state.targets_reached == 1 else "Now go again"
            return f"{here} {request} to {names[state.target]}: you have {plural(state.moves_left, 'move')}."
        return f"{self._move_feedback(last)} {ending}".strip()

    def _move_feedback(self, last: Transition[Walk]) -> str:
        """Return the sentence on a single move; "" for a successful move where messages show the place."""
        if last.events["closed"]:
            return "The passage is closed. You have not moved."
        if last.events["blocked"]:
            return "You have not moved."
        return "" if self._condition.shows_place else "You have moved."

    def thought_question(self, state: Walk) -> str:
        return _GO_ON if state.is_reading_story else ""

    def takes_truncated(self, state: Walk) -> bool:
        return state.is_reading_story

    def parse(self, reply: str, state: Walk) -> Moves | Invalid:
        """Read the moves of the last line of a reply, or of the text after the last "answer:"."""
        if state.is_reading_story:
            return ()
        lines = candidate_answer_lines(reply)
        if isinstance(lines, Invalid):
            return lines
        moves_of_lines = [self._read_line(line) for line in lines]
        return next((moves for moves in moves_of_lines if not isinstance(moves, Invalid)), moves_of_lines[0])

    def _read_line(self, line: str) -> Moves | Invalid:
        """Read the moves of a line; in conditions with single moves also a sentence that names one direction."""
        moves = read_moves(line)
        if not self._condition.steps or (not isinstance(moves, Invalid) and len(moves) == 1):
            return moves
        index = index_of_named_action(line, tuple(DIRECTIONS)) if isinstance(moves, Invalid) else None
        if not isinstance(index, int):
            return Invalid("The last line has to be one move: north, east, south or west.")
        return (tuple(DIRECTIONS)[index],)

    def render(self, action: Moves, state: Walk) -> str:
        return ", ".join(action) or "OK"

    def tools(self, state: Walk) -> Sequence[ActionTool]:
        return (_MOVE_TOOL if self._condition.steps else _ROUTE_TOOL,)

    def parse_call(self, call: ToolCall, state: Walk) -> Moves | Invalid:
        if self._condition.steps:
            return (call.arguments["direction"],)
        return tuple(call.arguments["moves"]) or Invalid("The route has no moves.")

    def render_call(self, action: Moves, state: Walk) -> ToolCall:
        if self._condition.steps:
            return ToolCall(_MOVE_TOOL.name, {"direction": action[0]})
        return ToolCall(_ROUTE_TOOL.name, {"moves": list(action)})
