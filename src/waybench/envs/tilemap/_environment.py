"""The environments of tile maps, with their failures, first errors and beliefs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from waybench._package_data import read_text
from waybench.core import (
    EASIER,
    HARDER,
    Belief,
    Contrast,
    Difficulty,
    End,
    Environment,
    EpisodeRecord,
    FailureKind,
    FirstErrors,
    HorizonSpec,
    Images,
    Items,
    Json,
    Limits,
    Metric,
    Option,
    Play,
    Players,
    Playing,
    Presentation,
    Scoring,
    Step,
    TurnRecord,
    Typing,
    UsageError,
    general_failure_kind,
    is_object,
    most_frequent_kind,
    number_option,
    proof_axis,
    read_numbers,
    unread_reply_kind,
)
from waybench.envs.tilemap import _drawing
from waybench.envs.tilemap._board import MovePlan, TileState, board_of_map, play_style, start_state
from waybench.envs.tilemap._drawing import draw_picture, scene
from waybench.envs.tilemap._game import TileGame, step_budget
from waybench.envs.tilemap._instance import TileMap, decode, isomorph, prove
from waybench.envs.tilemap._items import DATASETS, PUBLIC_KEY, WORLD_OPTIONS, WorldSource
from waybench.envs.tilemap._locks import MOST_DOORS
from waybench.envs.tilemap._metrics import AGGREGATES, METRICS, STATE_METRICS, VARIABLES
from waybench.envs.tilemap._players import PLAYERS, distances_to, oracle_is_ceiling
from waybench.envs.tilemap._protocols import MOVES, PROTOCOLS
from waybench.envs.tilemap._wording import CHAT, TileWording

ENEMY = FailureKind("enemy", "meeting an enemy", "Most objectives were lost because an enemy met the player.")
HAZARD = FailureKind("hazard", "stepping on a hazard", "Most objectives were lost because the player stepped on one.")
CRASHED = FailureKind(
    "crashed",
    "replies that crash the published program",
    'In "paper", most objectives were lost because of an "action" that ends the published program.',
)
_GIVEN_UP = "Most objectives were given up after {}."
UNREAD = (
    FailureKind("refused", "refusals", _GIVEN_UP.format("refusals")),
    FailureKind("truncated", "truncated replies", _GIVEN_UP.format("truncated replies")),
    FailureKind("overflow", "context overflow", _GIVEN_UP.format("the conversation outgrew the context")),
    FailureKind("unparsed", "unreadable replies", _GIVEN_UP.format("unreadable replies")),
)
OUT_OF_BUDGET = FailureKind(
    "turn_limit", "the turn limit", "Most objectives were not attempted, because tokens or messages ran out."
)
WRONG_NAME = FailureKind(
    "wrong_name",
    "names that are not actions",
    "Most objectives were missed by plans with a name that is not an action.",
)
BLOCKED = FailureKind(
    "blocked",
    "moves into obstacles",
    "Most objectives were missed by plans of actions only that obstacles stopped: at least half of the moves were "
    "into walls or off the map, or the plan would have ended at the objective without obstacles.",
)
STRATEGIC = FailureKind(
    "strategic",
    "plans that end elsewhere",
    "Most objectives were missed by plans of actions only that would have ended elsewhere even without obstacles.",
)

FAILURES = (ENEMY, HAZARD, CRASHED, *UNREAD, WRONG_NAME, BLOCKED, STRATEGIC, OUT_OF_BUDGET)
"""The kinds of failure. Of equally frequent kinds the first counts: those that depend least on the plan come first."""

_DEATHS = {"enemy": ENEMY, "hazard": HAZARD}


def failure(record: EpisodeRecord) -> FailureKind:
    """Return the most frequent cause of missed objectives."""
    return most_frequent_kind(_causes_of_misses(record), FAILURES) or general_failure_kind(record)


def _causes_of_misses(record: EpisodeRecord) -> Iterator[FailureKind]:
    """Yield the cause for each objective that was not reached; the cause that ends the map is that of all others."""
    n_remaining = len(record.instance["objectives"])
    if not PROTOCOLS[record.options["protocol"]].unreachable:
        n_remaining -= len(record.proof["unreachable"])
    case = decode(record.instance)
    at = divmod(case.start, case.width)
    unread_outcomes, plan_causes = list[str](), list[FailureKind]()  # for the present objective
    for turn in record.turns:
        events = turn.events
        fatal_cause = CRASHED if events.get("crashed") else _DEATHS.get(str(events.get("death", "")))
        if fatal_cause is not None:
            yield from [fatal_cause] * n_remaining
            return
        if turn.action is None:
            unread_outcomes.append(str(turn.outcome))
            if len(unread_outcomes) == record.options["max_failures"]:
                yield max(UNREAD, key=lambda kind: unread_outcomes.count(kind.name))
                n_remaining, unread_outcomes, plan_causes = n_remaining - 1, [], []
            continue
        unread_outcomes = []
        goal = case.objectives[int(events["goal"])]
        plan_causes.append(_cause_of_plan(turn, at, (goal.row, goal.column)))
        at = (events["at"][0], events["at"][1])
        if events["final"]:
            if list(events["off"]) != [0, 0]:
                yield most_frequent_kind(plan_causes, FAILURES) or STRATEGIC
            n_remaining, plan_causes = n_remaining - 1, []
    if record.end is End.TURN_LIMIT:
        yield from [OUT_OF_BUDGET] * n_remaining  # the caller's budget ended the map before the rest


def _plan_names(turn: TurnRecord) -> Sequence[str]:
    """Return the names in a turn's plan, which may have a drawing beside them."""
    return turn.action["action"] if is_object(turn.action) else turn.action


def _cause_of_plan(plan: TurnRecord, start: tuple[int, int], goal: tuple[int, int]) -> FailureKind:
    """Return why a plan that began at one cell did not end at its goal."""
    blocked_count = plan.events["blocked"]
    if plan.events["unknown"]:
        return WRONG_NAME
    moves = [MOVES[name] for name in _plan_names(plan) if name in MOVES]
    end_without_obstacles = start[0] + sum(rows for rows, _ in moves), start[1] + sum(columns for _, columns in moves)
    is_blocked = blocked_count and (2 * blocked_count >= len(moves) or end_without_obstacles == goal)
    return BLOCKED if is_blocked else STRATEGIC


BLOCKED_ERROR = FailureKind("blocked", "moves into obstacles", "The move is blocked.")
DIRECTION = FailureKind("direction", "moves away from the objective", "The move leads away from the objective.")
PASSED = FailureKind("passed", "moves past the objective", "The plan goes on after it has reached the objective.")
OTHER = FailureKind("other_action", "actions that are no moves", "The plan has another action, or no name of one.")
STOPPED = FailureKind("stopped", "stopping before the objective", "The last plan for an objective ends before it.")


def plan_steps(record: EpisodeRecord) -> Iterator[Step]:
    """Yield the moves of all plans, up to and including the first error.

    With walkers, enemies or doors nothing is yielded: a shortest path may have to wait or make a detour.
    """
    if any(record.options.get(name) for name in ("walkers", "enemies", "doors")):
        return
    case = decode(record.instance)
    state = start_state(case, play_style(record.options))
    width, at = case.width + 2, state.cell
    for number, turn in enumerate(record.turns):
        if turn.action is None:
            yield Step(number, unread_reply_kind(turn))
            return
        goal = case.objectives[int(turn.events["goal"])]
        distances = distances_to(state.board, state.board.fenced, (goal.row + 1) * width + goal.column + 1)
        if at not in distances:
            return  # no play reaches this objective
        for name in _plan_names(turn):
            error = _error_of_action(name, at, distances, width)
            yield Step(number, error)
            if error is not None:
                return
            rows, columns = MOVES[name]
            at += rows * width + columns
        if turn.events["final"] and distances[at]:
            yield Step(number, STOPPED)
            return


def _error_of_action(name: str, at: int, distances: dict[int, int], width: int) -> FailureKind | None:
    """Return the kind of error of an action at a cell, by the distances to the goal; None for a good move."""
    if name not in MOVES:
        return OTHER
    rows, columns = MOVES[name]
    next_cell = at + rows * width + columns
    if next_cell not in distances:
        return BLOCKED_ERROR
    if distances[next_cell] < distances[at]:
        return None
    return DIRECTION if distances[at] else PASSED


FIRST_ERRORS = FirstErrors((DIRECTION, BLOCKED_ERROR, PASSED, OTHER, STOPPED), plan_steps)


def _belief(name: str, noun: str, doc: str, expected: Callable[[TileState], Json]) -> Belief[TileState]:
    """Return the belief about the row and column of something."""
    return Belief(
        name=name,
        title=name,
        doc=doc,
        question=f"In which row and which column is the {noun}? Both are counted from 0.",
        form="[<row>, <column>]",
        expected=expected,
        read=partial(read_numbers, count=2),
    )


BELIEFS = (
    _belief("position", "agent now", "The agent's row and column.", lambda state: [state.row, state.column]),
    _belief(
        "target",
        "present target",
        "Row and column of the present objective.",
        lambda state: list(state.board.goals[state.goal]),
    ),
)


OPTIONS = (
    Option(
        name="protocol",
        default="paper",
        choices=tuple(PROTOCOLS),
        doc='"paper": prompt, parsing, walkability, rewards and scores as in the published program; "sound": '
        "corrected.",
    ),
    Option(
        name="wording",
        default="plain",
        choices=("plain", CHAT),
        doc='"plain": our own text with the published facts; "chat": the same as a conversation.',
    ),
    number_option(
        "max_failures",
        1,
        1000,
        "Unreadable replies in a row before an objective is given up.",
        default=10,
        effect=EASIER,
    ),
    number_option(
        "tries",
        1,
        100,
        "Plans per objective: 1 is zero-shot, as published; with 2, the player gets a second plan for a missed "
        "objective, with feedback, from where the first plan ended (one-shot with feedback).",
        default=1,
        effect=EASIER,
    ),
    number_option(
        "walkers", 0, 20, "Number of walkers, which move at random and block the way.", default=0, effect=HARDER
    ),
    number_option(
        "enemies", 0, 20, "Number of enemies, which end the map when they meet the player.", default=0, effect=HARDER
    ),
    number_option(
        "hazards", 0, 1000, "Number of hazard cells, which end the map when the player steps on them.", 0, effect=HARDER
    ),
    number_option(
        "doors",
        0,
        MOST_DOORS,
        "Number of objectives behind doors, with keys elsewhere; adds the actions pick_up and open_door.",
        default=0,
        effect=HARDER,
    ),
)


IMAGES = Images(
    draw=draw_picture,
    legend="The picture of the map has a square for each tile, with the tile's character in it. White squares can be "
    "walked on, and dark ones cannot. The agent is the orange disk.",
    replaces=("map",),
    bases=("plain",),
    grid=True,
)


def _play(options: Mapping[str, Json], *, single: bool, predicts: bool) -> Play[TileMap, TileState, MovePlan]:
    """Return the game, wording and limits that the options of play select."""
    style = play_style(options, single=single, predicts=predicts)
    if predicts and (style.crew.walkers or style.crew.enemies):
        raise UsageError("tilemap/state has no walkers or enemies, since they cannot be predicted: remove them")
    if style.doors and (style.crew.walkers or style.crew.enemies):
        raise UsageError("doors: a best tour among walkers or enemies, with doors, is not known: remove one of them")
    max_failures, tries = int(options["max_failures"]), int(options["tries"])

    def turn_limit(case: TileMap) -> int:
        # Enough for every reply that the rules allow: the game ends every episode before.
        board = board_of_map(case, style)
        most_plans = [step_budget(board, goal, tries) if single else tries for goal in range(len(board.goals))]
        return max(1, max_failures * sum(most_plans))

    wording = TileWording(options["wording"], style)
    return Play(TileGame(style, max_failures, tries), wording, Limits(turns=1), turns=turn_limit)


PRESENTATION = Presentation(
    title="Tile maps (GameTraversalBenchmark)",
    lead=(
        "The player leads an agent over a map of characters from objective to objective. GTB_Score combines where "
        "plans end with their length and with replies that cannot be carried out; Top-0 is the share of objectives "
        "at which a plan ended. Per map, MGE counts generation errors, MPL moves and MAT all actions."
    ),
    level="size class",
    levels="size classes",
    item="map",
    metrics=("score", "generation_errors", "path_length", "actions", "top0", "top1", "top5", "moved"),
    scene=scene,
    board=_drawing.board,
    legend=(
        "The ring is the player's start, and the squares are the objectives with their numbers. The line is the "
        "walked path (a straight line if creatures interfered), and a dot marks where a plan ended."
    ),
    reference="a shortest tour (dashed)",
    panels={"Score and objectives": ("score", "top0")},
)


def _tilemap_environment(
    name: str,
    title: str,
    metrics: tuple[Metric, ...],
    task: str,
    more_rules: str = "",
    *,
    single: bool = False,
    predicts: bool = False,
) -> Environment[TileMap, TileState, MovePlan]:
    """Return an environment of tile maps; `more_rules` are further lines of its page."""
    return Environment(
        id=f"tilemap/{name}",
        version=2,
        title=title,
        about=read_text(__file__, "about.md").format(first=f"The player leads an agent over {task}.", more=more_rules),
        items=Items(
            options=WORLD_OPTIONS,
            sample_levels=(1, 2, 4),
            public_key=PUBLIC_KEY,
            make_source=WorldSource,
            datasets=DATASETS,
            decode=decode,
            prove=prove,
            pooled=True,
            isomorph=isomorph,
        ),
        playing=Playing(
            options=OPTIONS,
            play=partial(_play, single=single, predicts=predicts),
            images=IMAGES,
            illegal="The reply has an action that the game does not have.",
        ),
        scoring=Scoring(
            metrics=metrics,
            aggregates=AGGREGATES,
            failures=FAILURES,
            failure=failure,
            first_errors=FIRST_ERRORS,
            contrasts=(Contrast("doors", "0", "", "keys and doors"),),
        ),
        difficulty=Difficulty(
            horizon=None if single or predicts else HorizonSpec(levels=(1, 2, 3, 4, 5, 6), pool=60),
            axes=(
                proof_axis(
                    "minimum", "Shortest tour", "Length of a shortest tour of all objectives in their order, in moves."
                ),
            ),
            explanatory_variables=VARIABLES,
            success="a plan ends at every objective, by any path",
        ),
        players=Players(policies=PLAYERS, oracle_is_ceiling=oracle_is_ceiling),
        probes=BELIEFS,
        typing=Typing(
            parse=None if predicts else _drawing.parse_typed,
            format=None if predicts else _drawing.format_typed,
            help=_drawing.REPLY_HELP if predicts else _drawing.SINGLE_HELP if single else _drawing.HELP,
            actions=None if predicts else _drawing.typed_actions(single=single),
        ),
        presentation=PRESENTATION,
    )


GTB = _tilemap_environment(
    "gtb",
    "Tile maps (GameTraversalBenchmark)",
    METRICS,
    "a map of tiles from objective to objective, with one whole plan each time",
)
STEPWISE = _tilemap_environment(
    "stepwise",
    "Tile maps, one move at a time",
    METRICS,
    "a map of tiles from objective to objective, one move at a time",
    "* **Single moves.** A reply is JSON with one action or none, in both protocols. An objective is done\n"
    "  with when the player stands on it, or after as many replies as its shortest path has moves, and ten.\n",
    single=True,
)
STATE = _tilemap_environment(
    "state",
    "Tile maps, foreseeing the map",
    STATE_METRICS,
    "a map of tiles with whole plans, and draws the map after each",
    "* **Foreseeing.** A reply is JSON with the actions and the map, in both protocols. `cells` is the share\n"
    "  of the map's cells that the drawing has right, `moved` that of the cells which change in truth or in the\n"
    "  drawing. The score is that of the plan alone.\n",
    predicts=True,
)
