"""What a player of a world reads, and how its moves are read."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from waybench.core import (
    ActionTool,
    Field,
    Invalid,
    ToolCall,
    Transition,
    View,
    Wording,
    normalize_name,
    plural,
)
from waybench.core._choices import index_of_named_action
from waybench.core._question_kit import candidate_answer_lines
from waybench.envs.atlas._game import (
    MOST_MOVES,
    Condition,
    Moves,
    Walk,
    crossed_passages,
    first_budget,
    story_parts,
)
from waybench.envs.atlas._world import DIRECTIONS, World, plan_of, prove

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
        f"{world.names[source]}: {plan.exit_to(source, target)[0]} to {world.names[target]}{_mark(one_way)}"
        for source, target, one_way in (world.passages[number] for number in numbers)
    )


def _mark(one_way: bool) -> str:
    return " (one-way)" if one_way else ""


def story_text(world: World, walk: Sequence[int]) -> str:
    """Return a walk as a story, one sentence for each move."""
    plan, names = plan_of(world), world.names
    sentences = [f"I was at {names[walk[0]]}."]
    for place, after in pairwise(walk):
        direction, number = plan.exit_to(place, after)
        sentences.append(f"I went {direction} to {names[after]}{_mark(plan.passages[number].one_way)}.")
    return " ".join(sentences)


def drawing(world: World) -> str:
    """Return a world as a drawing in text, with its places as names and its passages as lines."""
    cell_width = max(map(len, world.names)) + 4
    columns, rows = (1 + max(cell[axis] for cell in world.cells) for axis in (0, 1))
    lines = [[" "] * (cell_width * columns) for _ in range(2 * rows - 1)]
    for name, (x, y) in zip(world.names, world.cells, strict=True):
        left = cell_width * x + (cell_width - len(name)) // 2
        lines[2 * y][left : left + len(name)] = name
    for source, target, one_way in world.passages:
        direction, _ = plan_of(world).exit_to(source, target)
        x, y = min(world.cells[source], world.cells[target])
        if direction in ("north", "south"):
            lines[2 * y + 1][cell_width * x + cell_width // 2] = "|" if not one_way else "v^"[direction == "north"]
            continue
        line = lines[2 * y]
        first = last = cell_width * x + cell_width // 2
        while line[first] != " ":
            first += 1
        last = first
        while line[last] == " ":
            last += 1
        line[first:last] = "-" * (last - first)
        if one_way:
            line[last - 1 if direction == "east" else first] = "><"[direction == "west"]
    return "\n".join("".join(line).rstrip() for line in lines)


@lru_cache(maxsize=256)
def passages_text(world: World, form: str) -> str:
    """Return all passages of a world in the form that a condition gives; "" where it gives none."""
    match form:
        case "list":
            return passage_lines(world, range(len(world.passages)))
        case "drawing":
            return drawing(world)
        case "story":
            return story_text(world, world.story)
        case _:
            return ""


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
        # A picture takes the place of passages, and of no story.
        passages = {
            "list": field("passages", "The list of passages.", self._passages),
            "drawing": field("passages", "The drawing of the passages.", self._passages),
            "story": field("story", "The story, where it comes at once.", self._passages),
        }.get(condition.description)
        self.rule_fields = (
            *([passages] if passages is not None else []),
            field("start", "The name of the start.", lambda world: world.names[world.start]),
            field("goal", "The name of the goal.", lambda world: world.names[world.goal]),
            field("moves", "Most moves, in words.", self._budget),
        )
        self.fields = (
            Field[View[Walk]]("feedback", "What the last reply led to.", lambda view: self._feedback(view)),
            Field[View[Walk]](
                "place", "The place and its exits, where they are shown.", lambda v: self._place(v.state)
            ),
            Field[View[Walk]](
                "part", "The part of the story, or the question after it.", lambda v: self._part(v.state)
            ),
        )

    def _passages(self, world: World) -> str:
        return "" if self._condition.parts else passages_text(world, self._condition.description)

    def _budget(self, world: World) -> str:
        return plural(first_budget(world, self._condition), "move")

    def _task(self, world: World) -> str:
        condition = self._condition
        template = _EXPLORE if condition.explores else _TASK
        start, goal = world.names[world.start], world.names[world.goal]
        parts = [template.format(start=start, goal=goal, moves=self._budget(world))]
        if condition.announces:
            closed = world.passages[int(prove(world)["closed"])]
            parts.append(_ANNOUNCED.format(first=world.names[closed[0]], second=world.names[closed[1]]))
        if condition.steps:
            parts += [_SHOWN if condition.shows_place else _BLIND]
        parts += [_CLOSES] if condition.closes else []
        parts += [_CHART] if condition.shows_chart else []
        return "\n".join([*parts, _STEP if condition.steps else _ROUTE])

    def rules(self, instance: World) -> str:
        if self._condition.parts:
            parts = plural(len(story_parts(instance)), "part")
            return f"{_WORLD}\n{_LISTEN.format(parts=parts)}"
        description = _DESCRIPTIONS[self._condition.description].format(passages=self._passages(instance))
        return f"{_WORLD}\n{description}\n\n{self._task(instance)}"

    def observe(self, state: Walk, last: Transition[Walk] | Invalid | None, turn: int) -> str:
        view = View(state, last, turn)
        return "\n".join(filter(None, (self._feedback(view), self._part(state), self._place(state))))

    def _part(self, state: Walk) -> str:
        if not self._condition.parts or not state.moves_left:
            return ""
        if not state.listens:
            return self._task(state.world)
        parts = story_parts(state.world)
        heading = f"Part {state.part} of {len(parts)}:"
        return f"{heading}\n{story_text(state.world, parts[state.part - 1])}\n{_GO_ON}"

    def _place(self, state: Walk) -> str:
        condition = self._condition
        if (
            not condition.steps
            or not condition.shows_place
            or not state.moves_left
            or state.targets_reached == condition.targets
        ):
            return ""
        names = ", ".join(state.open_exits) or "none"
        lines = [f"{state.world.names[state.place]}. Exits: {names}."]
        if condition.shows_chart and (crossed := crossed_passages(state.plan, state.trail)):
            lines.append(f"Passages that you have crossed:\n{passage_lines(state.world, crossed)}")
        return "\n".join(lines)

    def _feedback(self, view: View[Walk]) -> str:
        state, last = view.state, view.last
        names, condition = state.world.names, self._condition
        if last is None or state.listens:
            return ""
        ending = "You have no moves left." if condition.steps and not state.moves_left else ""
        if isinstance(last, Invalid):
            return f"{last.reason} {ending}".rstrip()
        if "part" in last.events:
            return ""
        if not condition.steps:
            leads = "leads" if state.targets_reached == 1 else "does not lead"
            return f"The route {leads} to {names[state.world.goal]}."
        if last.events["arrived"]:
            here = f"You have reached {names[state.place]}."
            if state.targets_reached == condition.targets:
                return here
            way = "Go back" if state.targets_reached == 1 else "Now go again"
            return f"{here} {way} to {names[state.target]}: you have {plural(state.moves_left, 'move')}."
        return f"{self._moved(last)} {ending}".strip()

    def _moved(self, last: Transition[Walk]) -> str:
        if last.events["closed"]:
            return "The passage is closed. You have not moved."
        if last.events["blocked"]:
            return "You have not moved."
        return "" if self._condition.shows_place else "You have moved."

    def thought_question(self, state: Walk) -> str:
        return _GO_ON if state.listens else ""

    def takes_truncated(self, state: Walk) -> bool:
        return state.listens

    def parse(self, reply: str, state: Walk) -> Moves | Invalid:
        """Read the moves of the last line of a reply, or of what follows the last "answer:"."""
        if state.listens:
            return ()
        lines = candidate_answer_lines(reply)
        if isinstance(lines, Invalid):
            return lines
        results = [self._read(line) for line in lines]
        return next((moves for moves in results if not isinstance(moves, Invalid)), results[0])

    def _read(self, line: str) -> Moves | Invalid:
        moves = read_moves(line)
        if not self._condition.steps or (not isinstance(moves, Invalid) and len(moves) == 1):
            return moves
        number = index_of_named_action(line, tuple(DIRECTIONS)) if isinstance(moves, Invalid) else moves
        if not isinstance(number, int):
            return Invalid("The last line has to be one move: north, east, south or west.")
        return (tuple(DIRECTIONS)[number],)

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
