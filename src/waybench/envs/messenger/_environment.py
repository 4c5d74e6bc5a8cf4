"""The environment of Messenger, with its drawings and boards, metrics and failures."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from waybench._package_data import read_text
from waybench._svg import ROUND, Point, box, circle, cross, line, path, point, text, true_cells, with_tooltip
from waybench.core import (
    TURN_LIMIT,
    Board,
    End,
    EpisodeRecord,
    FailureKind,
    Images,
    Items,
    Metric,
    Players,
    Presentation,
    Range,
    Scene,
    Scoring,
    Tile,
    TurnRecord,
    plural,
)
from waybench.envs.messenger._game import PLAYERS, RoleRules, cell_of_location
from waybench.envs.messenger._items import DATASETS, PUBLIC_KEY, SOURCE_OPTIONS, DrawnGames
from waybench.envs.messenger._world import (
    PUBLISHED,
    STAGES,
    WON,
    Case,
    Location,
    MessengerWorld,
    decode,
    role_name,
    start_world,
)
from waybench.envs.smartplay import (
    LEGEND,
    SEEN,
    AgentState,
    agent_environment,
    agent_metrics,
    draw_seen,
    human_metric,
    scaled_metric,
    step_events,
    thinking_players,
)
from waybench.envs.smartplay._measures import action_turns

Positions = tuple[Location, tuple[Location | None, ...]]  # of the agent and of the actors
# Colours that people with any kind of colour vision tell apart, and a letter for those who print in grey.
_LOOKS = {
    "enemy": ("#d55e00", "E"),
    "message": ("#cc79a7", "M"),
    "goal": ("#009e73", "G"),
    "decoy": ("#b8860b", "D"),
}


def scene(case: Case, turns: Sequence[TurnRecord]) -> Scene:
    """Return the board with the entities at their starts, all trails, and the agent's last position.

    Nothing of the manual, which can be hostile, reaches the drawing: its words are names of known entities.
    """
    positions = list(positions_after_steps(case, turns))
    fate = next((str(turn.events["fate"]) for turn in turns if "fate" in turn.events), "")
    label = f"Messenger, stage {case.stage}, {case.size} by {case.size} cells"
    if len(positions) > 1:
        end = "won" if fate == WON else "lost" if fate else "not ended"
        label += f", {plural(len(positions) - 1, 'step')}, {end}"
    return Scene(
        "tiles",
        label,
        (case.size, case.size),
        board=_board_shapes(case),
        parts=[*_trail_shapes(case, positions), *_end_mark_shapes(positions, fate)],
    )


def positions_after_steps(case: Case, turns: Iterable[TurnRecord]) -> Iterator[Positions]:
    """Yield the positions of the agent and of the actors at the start and after each step."""
    start = start_world(case)
    yield start.agent, start.places
    for turn in turns:
        if "places" in turn.events:
            x, y = turn.events["at"]
            yield (x, y), tuple(None if cell is None else (cell[0], cell[1]) for cell in turn.events["places"])


def _board_shapes(case: Case) -> Iterator[str]:
    """Yield the grid, the entities at their starts, and the agent's start."""
    lines = (f"M0 {edge}h{case.size}M{edge} 0v{case.size}" for edge in range(case.size + 1))
    pale = 'fill-opacity="0.2" stroke-width="0.06" rx="0.12"'
    yield true_cells("tiles-floor", "#fff", [[True] * case.size] * case.size, 1.02)
    yield path("roles-grid", "#888", 0.03, lines, 'stroke-opacity="0.35"')
    for number, actor in enumerate(case.actors):
        colour, letter = _LOOKS[role_name(number)]
        x, y = actor.x, actor.y
        yield with_tooltip(
            f"{role_name(number)}: {actor.name}, {actor.kind}",
            box("roles-actor", colour, 0, (x + 0.05, y + 0.05), (0.9, 0.9), f'{pale} stroke="{colour}"'),
            text("roles-letter", x + 0.5, y + 0.55, letter, 0.5, "middle", colour=colour, more='font-weight="bold"'),
            text("roles-name", x + 0.5, y + 0.82, actor.name, 0.2, "middle", colour=colour),
        )
    yield circle("tiles-start", "#009e73", 0.12, (case.x + 0.5, case.y + 0.5), 0.34)


def _cell_centre(location: Location) -> Point:
    """Return the middle of an entity in cells; its location is its corner in half cells."""
    return location[0] / 2 + 0.5, location[1] / 2 + 0.5


def _trail_shapes(case: Case, positions: Sequence[Positions]) -> Iterator[str]:
    """Yield the trails of the actors and of the agent."""
    for number in range(len(case.actors)):
        locations = (actor_locations[number] for _, actor_locations in positions)
        points = [_cell_centre(location) for location in locations if location is not None]
        if data := line(points):
            colour, _ = _LOOKS[role_name(number)]
            yield path("roles-way", colour, 0.09, [data], 'stroke-dasharray="0.16 0.12"')
            yield circle("roles-way", colour, 0, points[-1], 0.13)
    yield path("tiles-trail", "#0072b2", 0.16, [line(_cell_centre(agent) for agent, _ in positions)], ROUND)


def _end_mark_shapes(positions: Sequence[Positions], fate: str) -> Iterator[str]:
    """Yield the mark at the agent's last position: a dot, with a ring after a success or a cross after a death."""
    if len(positions) < 2:  # no step yet
        return
    agent, _ = positions[-1]
    end = _cell_centre(agent)
    yield circle("tiles-stop", "#0072b2", 0, end, 0.18)
    if fate == WON:
        yield circle("roles-end", "#009e73", 0.1, end, 0.3)
    elif fate:
        yield path("roles-end", "#d55e00", 0.12, [f"M{point(end)}{cross(0.3)}"])


_FLOOR, _AGENT = "#f0efe9", "#0072b2"
_COLOURS = ("#e69f00", "#cc79a7", "#56b4e9", "#f0e442", "#9ad0c2", "#c9b6e4")


def board(state: AgentState[Any, MessengerWorld], turns: Sequence[TurnRecord]) -> Board:
    """Return the cells with the first letters of the entities in them; entities of one name have one colour."""
    world, case = state.world, state.instance
    rows = [[Tile("", _FLOOR)] * case.size for _ in range(case.size)]
    names = sorted({actor.name for actor in case.actors})
    for actor, location in zip(case.actors, world.places, strict=True):
        if location is not None:
            colour = _COLOURS[names.index(actor.name) % len(_COLOURS)]
            column, row = cell_of_location(location)
            rows[row][column] = Tile(actor.name[:2], colour)
    x, y = cell_of_location(world.agent)
    rows[y][x] = Tile("@!" if world.carries else "@", _AGENT)
    entities = ", ".join(f"{name[:2]} {name}" for name in names)
    carried = "You have the message." if world.carries else "You do not have the message."
    return Board(rows=rows, at=(y, x), notes=[carried, f"@ is you. {entities}. The manual says which is which."])


# Sums of rewards: the enemy and four decoys met at once; half a point for the message, and a point for the goal.
LEAST_REWARD, MOST_REWARD = -5.0, 1.5
# Mean scores of the random player and of the oracle, with most steps as published, from simulations of 200,000 and of
# 20,000 games of each stage. Standard errors: random 0.0011, 0.0014 and 0.0008; oracle 0, below 0.0001, and 0.0006.
EXPECTED = {1: (-0.080, 1.0), 2: (-0.516, 1.0), 3: (-0.925, 0.997)}


def _recorded_case(record: EpisodeRecord) -> Case:
    return decode(record.instance)


def published_setting_name(record: EpisodeRecord) -> str | None:
    """Return the published name of a record's setting; None if the setting is not published."""
    case = _recorded_case(record)
    is_published = case.published and all(actor.name in PUBLISHED for actor in case.actors)
    return f"MessengerL{case.stage}" if is_published else None


def last_reward(record: EpisodeRecord) -> float:
    """Return the reward of the last step.

    A step without a readable action has the reward 0, so a player that takes the message (0.5) and then says nothing
    does not end with 0.5.
    """
    turns = action_turns(record)
    return turns[-1].reward if turns else 0.0


def _expected_scores(record: EpisodeRecord) -> tuple[float, float] | None:
    """Return the mean scores of a random player and of the oracle; None for settings that are not published."""
    case = _recorded_case(record)
    is_published = case.published and record.options["steps"] in (None, case.steps)
    return EXPECTED[case.stage] if is_published else None


def _count_deadly_entities(case: Case) -> int:
    """Return the most enemies that can be met at once, each of which costs 1; in stage 1 the first contact decides."""
    return 1 if case.stage == 1 else len(case.actors) - 2  # all but the message and the goal


def _score_range(record: EpisodeRecord) -> Range:
    """Return the range of the last reward."""
    return -float(_count_deadly_entities(_recorded_case(record))), 1.0


def _reward_range(record: EpisodeRecord) -> Range:
    """Return the range of the sum of rewards."""
    case = _recorded_case(record)
    # A player that has to fetch the message has half a point for it.
    return -float(_count_deadly_entities(case)), 1.0 if case.stage == 1 or case.carries else MOST_REWARD


def _step_limit(record: EpisodeRecord) -> int:
    """Return the most steps of an episode."""
    limit = record.options["steps"]
    return _recorded_case(record).steps if limit is None else limit


def _final_fate(record: EpisodeRecord) -> str:
    """Return what ended the game (`MessengerWorld.fate`); "" if nothing did."""
    steps = step_events(record)
    return str(steps[-1].get("fate", "")) if steps else ""


def _got_message(record: EpisodeRecord) -> float | None:
    """Return 1 or 0: whether the message was taken; None if the player had it from the start."""
    case = _recorded_case(record)
    if case.carries:
        return None
    if case.stage == 1:
        return float(record.end is End.SOLVED)
    return float(any(step["carries"] for step in step_events(record)))


def _death_metric(name: str, fate: str, title: str, doc: str, possible: Callable[[Case], bool]) -> Metric:
    """Return the metric of a kind of death, whose value is None for games in which this death is not possible."""

    def died(record: EpisodeRecord) -> float | None:
        """Return 1 or 0: whether the game ended in this way."""
        return float(_final_fate(record) == fate) if possible(_recorded_case(record)) else None

    return Metric(name=name, of=died, title=title, low=0, high=1, better="lower", doc=doc)


METRICS = agent_metrics(
    Metric(
        name="score",
        of=last_reward,
        title="Score",
        low=LEAST_REWARD,
        high=1,
        range=_score_range,
        floor=lambda record: 0.0,
        doc="Reward of the last step (section 4.2): 1 for a delivery, -1 for a death, -2 or less if several enemies "
        "were met at once, 0.5 if the message was taken in the very last step, otherwise 0 (also for a lost step).",
    ),
    human_metric(published_setting_name, _score_range, last_reward),
    scaled_metric(
        _expected_scores,
        "Here these are means over the games of the stage, on the published board with the published steps.",
        _score_range,
        last_reward,
    ),
    Metric(
        name="got_message",
        of=_got_message,
        title="Got the message",
        low=0,
        high=1,
        doc="Whether the message was taken; undefined if the player has it from the start.",
    ),
    _death_metric("met_enemy", "enemy", "Met the enemy", "Whether the enemy ended the game.", lambda case: True),
    _death_metric(
        "met_decoy",
        "decoy",
        "Met a decoy",
        "Whether a decoy ended the game (if no true enemy was met in the same step); stage 3 only.",
        lambda case: len(case.actors) > 3,
    ),
    _death_metric(
        "met_goal",
        "goal",
        "Met the goal too early",
        "Whether the goal ended the game because the player did not have the message.",
        lambda case: not case.carries,
    ),
    _death_metric(
        "met_message",
        "message",
        "Met the message again",
        "Whether the message ended the game because the player had it already; stage 1 only.",
        lambda case: case.carries and case.stage == 1,
    ),
    steps=_step_limit,
    reward=_reward_range,
)


UNPRODUCTIVE = FailureKind(
    "unproductive", "moves against the edge", "The steps ran out, and at least half of them were against the edge."
)
_FATES = {
    kind.name: kind
    for kind in (
        FailureKind("enemy", "meeting the enemy", "The enemy ended the game."),
        FailureKind("decoy", "meeting a decoy", "A decoy ended the game; stage 3 only."),
        FailureKind(
            "goal", "meeting the goal without the message", "The player met the goal too early, which ended the game."
        ),
        FailureKind("message", "meeting the message again", "The message ended the game; stage 1 only."),
    )
}
NOT_FOUND = FailureKind("not_found", "message not picked up in time", "The steps ran out without the message.")
UNDELIVERED = FailureKind(
    "undelivered", "message not delivered in time", "The steps ran out while the player had the message."
)

FAILURES = (UNPRODUCTIVE, *_FATES.values(), NOT_FOUND, UNDELIVERED)


def messenger_failure(record: EpisodeRecord, general: FailureKind) -> FailureKind:
    """Return which entity ended the game, what was left to do when the steps ran out, or the general kind."""
    fate = _final_fate(record)
    if fate in _FATES:
        return _FATES[fate]
    if general != TURN_LIMIT:
        return general
    steps = step_events(record)
    carries = steps[-1]["carries"] if steps else record.instance["agent"]["carries"]
    return UNDELIVERED if carries else NOT_FOUND


PRESENTATION = Presentation(
    title="Messenger (SmartPlay)",
    lead=(
        "The player brings a message to a goal past an enemy; a paraphrased manual says which entity is which. The "
        "score is the reward of the last step: 1 for a delivery, -1 for a death. On the human scale 1 is the human "
        "mean and 0 is a death; on the oracle scale 0 is a random player and 1 is a player that knows all roles."
    ),
    level="stage",
    item="game",
    metrics=(
        "score",
        "completed",
        "reward",
        "human",
        "scaled",
        "got_message",
        "met_enemy",
        "met_decoy",
        "met_goal",
    ),
    scene=scene,
    board=board,
    legend=(
        "The ring is the player's start; the squares are the starts of the enemy (E), the message (M), the goal (G) "
        "and decoys (D). The solid line is the player's path, dashed lines are the others' paths, and dots mark the "
        "last positions: a ring around the player's dot is a success, a cross is a death."
    ),
    undefined=(
        "A dash: there is no published human score for stage 3, for other boards or for other numbers of steps; and a "
        "player that has the message from the start cannot get it."
    ),
)


ROLES = agent_environment(
    id="messenger/roles",
    version=1,
    title="Messenger (SmartPlay)",
    about=read_text(__file__, "about.md"),
    rules=RoleRules,
    history=2,  # Table 1
    steps=None,
    most_steps=lambda case: case.steps,
    reward=(LEAST_REWARD, MOST_REWARD),
    items=Items(
        options=SOURCE_OPTIONS,
        sample_levels=STAGES,
        public_key=PUBLIC_KEY,
        make_source=DrawnGames,
        datasets=DATASETS,
        decode=decode,
        level_of=lambda case: case.stage,
    ),
    scoring=Scoring(metrics=METRICS, failures=FAILURES, published_setting=published_setting_name),
    own_failure=messenger_failure,
    presentation=PRESENTATION,
    players=Players(policies=thinking_players(PLAYERS)),
    playing={"images": Images(draw=draw_seen, legend=LEGEND, replaces=(SEEN,), bases=("chat",))},
)
