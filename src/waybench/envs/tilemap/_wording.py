"""The words: everything that a planner needs to know, in one prompt for each goal. They are our own."""

import json
from functools import lru_cache

from waybench.core import Invalid, Memory, Transition, Wording, plural
from waybench.envs.tilemap._board import MOVES, Board, Location, MovePlan, Style
from waybench.envs.tilemap._instance import TileMap
from waybench.envs.tilemap._protocol import GIVEN_UP
from waybench.envs.tilemap._reply import published_plan, sound_plan

_ROLE = "You plan the way of an agent over a map of tiles. Answer with its actions and nothing else."
_ROLE_SINGLE = (
    "You guide an agent over a map of tiles, one move at a time. Answer with its next action and nothing else."
)

_TERMS = """\
The map has one line for each row and one character for each tile. A position is written (row, column); rows are \
counted from 0 downwards, columns from 0 to the right. move_up leads to the row above, move_down to the row below, \
move_left and move_right to the column before and after. A move onto a tile that cannot be walked on, or off the map, \
leaves the agent where it is and costs as much as any other. A name that is not one of the four ends the sequence."""

_REWARDS = {
    False: '{"8 tiles away from the target": -100, "5 to 8 tiles away": -50, "3 to 5 tiles away": 25, '
    '"1 to 3 tiles away": 50, "next to it or on it": 100, "target reached": 200}',
    True: "You get 200 for ending on the target, 100 for ending next to it, 50 for up to 3 tiles away, 25 for up to 5, "
    "-50 for up to 8 and -100 beyond; diagonal steps count as one. Every action costs {cost:g}.",
}

_DEATHS = {"enemy": "met an enemy", "hazard": "stepped on a hazard"}


class TileWording(Wording[TileMap, Location, MovePlan]):
    """One prompt for each goal, with the map as it is now; nothing of earlier prompts is shown again.

    Args:
        name: Its name.
        style: The form of requests and replies.
    """

    rules_role = "system"
    memory = Memory("fresh")

    def __init__(self, name: str, style: Style) -> None:
        self.name = name
        self._style = style
        self._literal = style.protocol.literal and not style.single and not style.predicts
        self._request_text = self._request()

    def rules(self, instance: TileMap) -> str:
        """Return who the player is."""
        return _ROLE_SINGLE if self._style.single else _ROLE

    def observe(self, state: Location, last: Transition[Location] | Invalid | None, turn: int) -> str:
        """Return the prompt for the next goal; a reply that could not be read gets the same one again."""
        case = state.board.case
        if state.goal >= len(state.board.goals) or state.over:
            return f"The map is over. {_feedback(state)}".strip()
        objective = case.objectives[state.board.numbers[state.goal]]
        explains = self._style.protocol.explains
        target = [objective.tile, objective.row, objective.column]
        parts = [
            "The map:\n" + "\n".join(state.rows()),
            _constant(state.board),
            *_beings(state),
        ]
        if explains:
            parts.append(_TERMS)
        parts.append(f"The agent is at ({state.row}, {state.column}).")
        rewards = _REWARDS[True].format(cost=1 / state.board.per_point) if explains else _REWARDS[False]
        parts.append(f"Rewards: {rewards}")
        parts.append(_feedback(state) or "This is the first objective.")
        if explains:
            parts.append(f"The target is the tile {objective.tile!r} at ({objective.row}, {objective.column}).")
        else:
            parts.append(f"The target is {target}.")
        parts.append(self._request_text)
        return "\n\n".join(parts)

    def _request(self) -> str:
        style = self._style
        names = ", ".join(MOVES)
        request = "the next action" if style.single else "the whole sequence of actions that leads to the target"
        example = '["move_up"]' if style.single else '["move_up", "move_up", "move_left"]'
        if self._literal:
            return (
                f"The actions are {names}. Return {request}, strictly as a Python dictionary with the one entry "
                f"'action', such as {{'action': {example.replace(chr(34), chr(39))}}}."
            )
        if style.predicts:
            return (
                f"The actions are {names}. Return {request}, and the map as it will be afterwards, as JSON: "
                f'{{"action": {example}, "map": ["first row", "second row", ...]}}. The tile on which the agent '
                f"stands shows @; a tile that it leaves shows again what was there before it."
            )
        return f'The actions are {names}. Return {request} as JSON: {{"action": {example}}}.'

    def parse(self, reply: str, state: Location) -> MovePlan | Invalid:
        """Read a plan; whether its names are actions is the game's matter."""
        style = self._style
        if self._literal:
            return published_plan(reply)
        return sound_plan(reply, single=style.single, predicts=style.predicts)

    def render(self, action: MovePlan, state: Location) -> str:
        """Return a plan as a reply in the requested form."""
        answer: dict[str, object] = {"action": list(action.names)}
        if action.drawing is not None:
            answer["map"] = action.drawing
        return json.dumps(answer)


def _beings(state: Location) -> list[str]:
    crew, signs = state.board.style.crew, state.board.signs
    lines: list[str] = []
    if crew.walkers:
        lines.append(
            f"The tiles {signs[0]} are walkers. They make a random step with each action, and stand in the way."
        )
    if crew.enemies:
        lines.append(
            f"The tiles {signs[1]} are enemies. With each action they approach: each makes a step, half of the time "
            "towards the agent, otherwise a random one. An agent that meets an enemy is lost."
        )
    if crew.hazards:
        lines.append(f"The tiles {signs[2]} are hazards. An agent that steps on one is lost.")
    if crew.enemies or crew.hazards:
        lines.append(
            f"A lost agent ends the map, and costs {GIVEN_UP} for its objective and for each objective after it."
        )
    return lines


@lru_cache(maxsize=1024)
def _constant(map_board: Board) -> str:
    """Return the part of the prompt that stays the same for a whole map."""
    case = map_board.case
    objectives = {case.objectives[number].name: list(case.objectives[number][1:]) for number in map_board.numbers}
    listed = case.walkable if map_board.style.protocol.substring else json.dumps(list(map_board.walkable))
    return "\n\n".join(
        (
            f"What the characters stand for:\n{json.dumps(dict(case.tiles), ensure_ascii=False)}",
            f"Objectives, to be reached in this order:\n{json.dumps(objectives, ensure_ascii=False)}",
            f"Tiles that can be walked on:\n{listed}",
            f"Tiles of interactive objects:\n{case.interactive}",
            "The agent is the tile @.",
        )
    )


def _feedback(state: Location) -> str:
    last = state.last
    if last is None:
        return "" if state.goal == 0 else "No answer for the objective before this one could be read."
    if state.death:
        return (
            f"During your {last.actions} actions for this objective the agent {_DEATHS[state.death]}: it is lost. This "
            f"objective and each one after it cost {GIVEN_UP}."
        )
    objective = "this objective" if last.goal == state.goal else "the objective before this one"
    if last.rows == last.columns == 0:
        return f"Your {plural(last.actions, 'action')} for {objective} reached it."
    away = f"{plural(last.rows, 'row')} and {plural(last.columns, 'column')} away from it"
    return f"Your {plural(last.actions, 'action')} for {objective} ended {away}."
