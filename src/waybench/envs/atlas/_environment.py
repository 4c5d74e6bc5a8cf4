"""The environment of worlds: its condition as an option of play, metrics, failures and first errors."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil

from waybench._package_data import read_text
from waybench.core import (
    NO_ANSWER,
    Belief,
    Board,
    Contrast,
    Difficulty,
    End,
    Environment,
    EpisodeRecord,
    FailureKind,
    FirstErrors,
    HorizonSpec,
    Images,
    Invalid,
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
    Stream,
    TurnRecord,
    TypedAction,
    Typing,
    general_failure_kind,
    is_array,
    json_excerpt,
    level_axis,
    outcome_metric,
    plural,
    proof_metric,
    unread_reply_kind,
)
from waybench.envs.atlas._game import (
    CONDITION,
    CONDITIONS,
    SENTENCES,
    Condition,
    Moves,
    Walk,
    WorldGame,
    first_leg_budget,
    guess_rates_by_level,
    story_parts,
)
from waybench.envs.atlas._generate import HIGHEST_LEVEL, LADDER, OPTIONS, SAMPLE_LEVELS, WorldSource
from waybench.envs.atlas._players import POLICIES
from waybench.envs.atlas._wording import WorldWording, draw_picture, read_moves, scenes
from waybench.envs.atlas._world import DIRECTIONS, World, decode, isomorph, prove

_USUAL = "act"  # the default condition
_KEYS = dict(zip(DIRECTIONS, ("up", "right", "down", "left"), strict=True))


def _recorded_condition(record: EpisodeRecord) -> Condition:
    """Return the condition in which a recorded episode was played."""
    return CONDITIONS[record.options[CONDITION]]


def _event_sum(record: EpisodeRecord, event: str) -> float:
    """Return the sum of an event's values over the turns of a record."""
    return float(sum(turn.events.get(event, 0) for turn in record.turns))


def _has_reached_targets(record: EpisodeRecord, count: int) -> float | None:
    """Return 1 or 0: whether at least `count` targets were reached; None in conditions with one target."""
    return float(_event_sum(record, "arrived") >= count) if _recorded_condition(record).explores else None


def _fewest_moves_to_succeed(record: EpisodeRecord) -> float:
    """Return the fewest moves with which an episode can succeed in its condition."""
    proof, condition = record.proof, _recorded_condition(record)
    if condition.explores:
        return 2 * proof["shortest"] + proof["back"]
    return proof["detour" if condition.closes else "known" if condition.announces else "shortest"]


def _efficiency(record: EpisodeRecord) -> float | None:
    """Return the fewest moves divided by the moves made, at most 1; None without success."""
    if record.end is not End.SOLVED:
        return None
    # More than 1 if the walk met another closure, with a shorter detour, than the shortest route meets.
    return min(1.0, _fewest_moves_to_succeed(record) / _event_sum(record, "moves"))


def action_turns(record: EpisodeRecord) -> Sequence[TurnRecord]:
    """Return the turns in which moves were asked for: all but the turns with a part of a story."""
    n_parts = ceil(record.proof["story"] / SENTENCES) if _recorded_condition(record).parts else 0
    return record.turns[n_parts:]


def _most_moves(world: World, condition: Condition) -> int:
    """Return an upper bound on the moves of an episode."""
    # The way back, and the way there again, have at most twice the moves of the exploration.
    return first_leg_budget(world, condition) * (1 + 2 + 2 if condition.explores else 1)


def _most_turns(world: World, condition: Condition) -> int:
    """Return an upper bound on the turns of an episode."""
    parts = len(story_parts(world)) if condition.parts else 0
    return parts + (_most_moves(world, condition) if condition.steps else 1)


def _move_range(record: EpisodeRecord) -> tuple[float, float]:
    return 0, float(_most_moves(decode(record.instance), _recorded_condition(record)))


def _move_share_metric(name: str, title: str, doc: str) -> Metric:
    """Return the metric of the number of moves with the event `name`; a set's figure is their share of all moves."""
    return Metric(
        name=name,
        of=lambda record: _event_sum(record, name),
        title=title,
        range=_move_range,
        per=lambda record: _event_sum(record, "moves"),
        better="lower",
        doc=doc,
    )


def _share_metric(name: str, title: str, of: Callable[[EpisodeRecord], float | None], doc: str) -> Metric:
    """Return a metric with values from 0 to 1."""
    return Metric(name=name, of=of, title=title, low=0, high=1, doc=doc)


METRICS = (
    _share_metric(
        "success",
        "Success",
        lambda record: float(record.end is End.SOLVED),
        "Whether the goal was reached within the budget: twice the moves of the shortest route. In explore and chart, "
        "whether all three targets were reached, each within its own.",
    ),
    _share_metric("efficiency", "Efficiency", _efficiency, "Moves of the shortest way / moves, where it succeeded."),
    _share_metric(
        "found",
        "Found",
        lambda record: _has_reached_targets(record, 1),
        "In explore and chart, whether the goal was found.",
    ),
    _share_metric(
        "returned",
        "Returned",
        lambda record: _has_reached_targets(record, 2),
        "In explore and chart, whether the start was reached again after the goal.",
    ),
    _move_share_metric(
        "away",
        "Moves off the route",
        "Moves that led no nearer to the target, as far as the player can know; in explore and chart, those after the "
        "goal was found. A set's figure is their share of all moves.",
    ),
    _move_share_metric(
        "blocked",
        "Moves that led nowhere",
        "Moves where no open passage leads. A set's figure is their share of all moves.",
    ),
    Metric(
        name="moves",
        of=lambda record: _event_sum(record, "moves"),
        title="Moves",
        range=_move_range,
        better="",
        doc="Moves, those that led nowhere included.",
    ),
    proof_metric("shortest", "Shortest route", "Moves of the shortest route."),
    outcome_metric(
        "unparsed",
        "Replies that name no move or route.",
        max_turns=lambda record: float(_most_turns(decode(record.instance), _recorded_condition(record))),
    ),
)

CONTRASTS = tuple(
    Contrast(CONDITION, base, demanding, demand)
    for base, demanding, demand in (
        ("plan", "map", "reading a drawing"),
        ("plan", "read", "building a map from a story"),
        ("read", "recall", "remembering a story"),
        ("act", "plan", "writing the whole route beforehand"),
        ("act", "blind", "keeping track of where one is"),
        ("act", "detour", "replanning"),
        ("known", "detour", "replanning, the closure being known or met"),
        ("act", "explore", "exploring"),
        ("act", "chart", "exploring with a chart"),
        ("chart", "explore", "remembering what was explored"),
    )
)

BLOCKED = FailureKind("blocked", "moves that lead nowhere", "At least half of the moves led nowhere.")
OFF_ROUTE = FailureKind(
    "off_route", "moves off the route", "At least a quarter of the moves led no nearer to the target."
)
NOT_FOUND = FailureKind("not_found", "not finding the goal", "The goal was never found.")
NOT_BACK = FailureKind("not_back", "not finding the way back", "The goal was found, and not the way back.")
NOT_REPLANNED = FailureKind(
    "not_replanned",
    "trying a closed passage again",
    "Moves that led nowhere were made after a passage was found closed.",
)
FAILURES = (NOT_FOUND, NOT_BACK, NOT_REPLANNED, BLOCKED, OFF_ROUTE)


def failure(record: EpisodeRecord) -> FailureKind:
    """Return why an episode failed."""
    general = general_failure_kind(record, action_turns(record))
    if general in NO_ANSWER:
        return general
    moves = max(_event_sum(record, "moves"), 1)
    if _recorded_condition(record).explores:
        n_arrivals = _event_sum(record, "arrived")
        if n_arrivals == 0:
            return NOT_FOUND
        return NOT_BACK if n_arrivals == 1 else general
    closure_turn = next((number for number, turn in enumerate(record.turns) if turn.events.get("closed")), None)
    if closure_turn is not None:
        turns_after_closure = record.turns[closure_turn + 1 :]
        if 2 * sum(turn.events.get("blocked", 0) for turn in turns_after_closure) >= len(turns_after_closure) > 0:
            return NOT_REPLANNED
    if 2 * _event_sum(record, "blocked") >= moves:
        return BLOCKED
    return OFF_ROUTE if 4 * _event_sum(record, "away") >= moves else general


NOWHERE = FailureKind("blocked", "moves that lead nowhere", "No open passage leads that way.")
AWAY = FailureKind("off_route", "moves off the route", "The move leads no nearer to the target.")


def steps_to_first_error(record: EpisodeRecord) -> Iterator[Step]:
    """Yield the moves and unread replies of an episode, up to and including the first error."""
    game = WorldGame(_recorded_condition(record))
    state = game.start(decode(record.instance))
    for number, turn in enumerate(record.turns):
        if turn.carried_out is None:
            yield Step(number, unread_reply_kind(turn))
            return
        action = game.decode(turn.carried_out)
        if not action:
            state = game.apply(state, action, Stream("first error")).state
        for direction in action:
            after, event = game.make_move(state, direction)
            error = {"blocked": NOWHERE, "away": AWAY}.get(event)
            yield Step(number, error)
            if error is not None or game.terminal(after) is not None:
                return
            state = after


def _read_directions(value: Json) -> list[str] | Invalid:
    """Read a list of directions; return each once, in the order of `DIRECTIONS`."""
    if not is_array(value) or not all(isinstance(name, str) for name in value):
        return Invalid(f"The answer must be a list of directions, not {json_excerpt(value)}.")
    moves = read_moves(", ".join(value)) if value else ()
    return moves if isinstance(moves, Invalid) else [name for name in DIRECTIONS if name in moves]


def _read_place_name(value: Json) -> str | Invalid:
    """Read a name of a place in any case; return it with a capital."""
    return value.strip().capitalize() if isinstance(value, str) else Invalid("The answer must be a text.")


def _read_whole_number(value: Json) -> int | Invalid:
    return value if type(value) is int else Invalid("The answer must be a whole number.")


def _knows_passages(state: Walk) -> bool:
    """Return whether the player has been shown all passages."""
    return not state.is_reading_story and bool(state.condition.description)


PROBES: tuple[Belief[Walk], ...] = (
    Belief(
        name="place",
        title="place",
        doc="The place where the player is.",
        question="Where are you now?",
        form='"<name of the place>"',
        expected=lambda state: state.world.names[state.place],
        read=_read_place_name,
        is_shown=lambda options, state: state.condition.steps,
    ),
    Belief(
        name="exits",
        title="exits of the start",
        doc="The directions of the exits of the start.",
        question="In which directions do passages lead from the place where you started?",
        form='["<direction>", ...]',
        expected=lambda state: list(state.plan.exits[state.world.start]),
        read=_read_directions,
        is_shown=lambda options, state: state.closed < 0 and (_knows_passages(state) or state.condition.explores),
    ),
    Belief(
        name="way_back",
        title="way back",
        doc="The moves of the shortest way from the present place to the start.",
        question="How many moves does the shortest way from where you are now to the place where you started have?",
        form="<number>",
        expected=lambda state: state.plan.distances(state.world.start)[state.place],
        read=_read_whole_number,
        is_shown=lambda options, state: state.closed < 0 and state.condition.steps and _knows_passages(state),
    ),
)


def _play(options: Mapping[str, Json]) -> Play[World, Walk, Moves]:
    """Return the rules and the wording of an episode by the options."""
    condition = CONDITIONS[options[CONDITION]]
    game, wording = WorldGame(condition), WorldWording(condition)
    return Play(game, wording, Limits(turns=1_000_000), turns=lambda world: _most_turns(world, condition))


def typed_actions(state: Walk) -> Sequence[TypedAction]:
    """Return the four directions; for a route each is a part of the reply."""
    return [TypedAction(name, key=key, is_reply=state.condition.steps) for name, key in _KEYS.items()]


def parse_typed(text: str, state: Walk) -> Moves | None:
    """Return the moves of a typed text such as "n, n, e" or "north"; None for any other text."""
    moves = read_moves(text[:1_000])
    if isinstance(moves, Invalid) or (state.condition.steps and len(moves) > 1):
        return None
    return moves


def board(state: Walk, turns: Sequence[TurnRecord]) -> Board:
    """Return the place, the target and the moves left; the passages are in the messages."""
    names, condition = state.world.names, state.condition
    if state.is_reading_story:
        return Board(notes=["The question follows the story."])
    # Only a player of single moves without places has to keep track of its place.
    here = f"At {names[state.place]}. " if condition.shows_place or not condition.steps else ""
    return Board(notes=[f"{here}To {names[state.target]}, with {plural(state.moves_left, 'move')} left."])


_DOCS = "; ".join(f"{condition.name}: {condition.doc}" for condition in CONDITIONS.values())

WORLD: Environment[World, Walk, Moves] = Environment(
    id="atlas/world",
    version=1,
    title="Atlas",
    about=read_text(__file__, "about.md"),
    items=Items(
        options=OPTIONS,
        sample_levels=SAMPLE_LEVELS,
        highest_level=HIGHEST_LEVEL,
        public_key="atlas-v1",
        make_source=WorldSource,
        decode=decode,
        prove=prove,
        isomorph=isomorph,
    ),
    playing=Playing(
        play=_play,
        options=(
            Option(
                name=CONDITION,
                default=_USUAL,
                choices=tuple(CONDITIONS),
                separate_tables=True,
                doc=f"How the world is met; {_DOCS}.",
            ),
        ),
        images=Images(
            draw=draw_picture,
            legend="The picture is a map of all places and passages, with north at the top. A passage with an arrow is "
            "one-way, in the direction of the arrow; the others can be used both ways.",
            replaces=("passages",),
            bases=("plain",),
            size=1024,
        ),
        action_turns=action_turns,
    ),
    scoring=Scoring(
        contrasts=CONTRASTS,
        metrics=METRICS,
        failures=FAILURES,
        failure=failure,
        first_errors=FirstErrors((NOWHERE, AWAY), steps_to_first_error),
    ),
    difficulty=Difficulty(
        axes=(level_axis("moves", "Moves of the shortest route."),),
        guess_rates=lambda options: guess_rates_by_level(CONDITIONS[options.get(CONDITION, _USUAL)]),
        horizon=HorizonSpec(levels=LADDER),
        success="the goal is reached within the budget of the condition",
    ),
    players=Players(policies=POLICIES, oracle_is_ceiling=lambda record: True),
    probes=PROBES,
    typing=Typing(
        parse=parse_typed,
        format=lambda moves: list(moves),
        help="Type directions (n, e, s, w, or in words), with commas between them, or the reply itself.",
        actions=typed_actions,
    ),
    presentation=Presentation(
        title="Atlas",
        lead="The player meets one world in several ways, which differ in one demand each: reading, mapping, "
        "remembering, planning, acting, exploring, replanning. The score is the share of worlds in which it reaches "
        "the goal within twice the moves of the shortest route.",
        level="route length",
        item="world",
        metrics=("success", "efficiency", "found", "returned", "away", "blocked", "unparsed"),
        scenes=scenes,
        board=board,
        legend="The ring is the start, the square the goal, the line the walk. Arrows are one-way passages. A cross "
        "marks the passage that was found closed.",
        undefined="Efficiency is that of successful walks, and only explore and chart have several targets.",
    ),
)
