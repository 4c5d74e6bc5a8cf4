"""The environment of Messenger, with its metrics and failures."""

from collections.abc import Callable

from waybench._package_data import read_text
from waybench.core import (
    TURN_LIMIT,
    End,
    EpisodeRecord,
    FailureKind,
    Images,
    Items,
    Metric,
    Players,
    Presentation,
    Range,
    Scoring,
)
from waybench.envs.messenger._drawing import board, scene
from waybench.envs.messenger._game import PLAYERS, RoleRules
from waybench.envs.messenger._items import DATASETS, PUBLIC_KEY, SOURCE_OPTIONS, DrawnGames
from waybench.envs.messenger._world import PUBLISHED, STAGES, Case, decode
from waybench.envs.smartplay import (
    LEGEND,
    SEEN,
    agent_environment,
    agent_metrics,
    draw_seen,
    human_metric,
    scaled_metric,
    step_events,
    thinking_players,
)
from waybench.envs.smartplay._measures import action_turns

LEAST, MOST = -5.0, 1.5  # sums of rewards: an enemy and four decoys met at once; message and goal


# Mean scores of the random player and of the oracle, with most steps as published, from simulations of 200,000 and of
# 20,000 games of each stage. Standard errors: random 0.0011, 0.0014 and 0.0008; oracle 0, below 0.0001, and 0.0006.
EXPECTED = {1: (-0.080, 1.0), 2: (-0.516, 1.0), 3: (-0.925, 0.997)}


def _case(record: EpisodeRecord) -> Case:
    return decode(record.instance)


def setting(record: EpisodeRecord) -> str | None:
    """Return the published name of a record's setting; None if it is none of the registered ones."""
    case = _case(record)
    is_published = case.published and all(actor.name in PUBLISHED for actor in case.actors)
    return f"MessengerL{case.stage}" if is_published else None


def score(record: EpisodeRecord) -> float:
    """Return the reward of the last step, a lost one included: a player with the message gains nothing by silence."""
    return action_turns(record)[-1].reward if action_turns(record) else 0.0


def _expected_scores(record: EpisodeRecord) -> tuple[float, float] | None:
    case = _case(record)
    usual = case.published and record.options["steps"] in (None, case.steps)
    return EXPECTED[case.stage] if usual else None


def _deadly(case: Case) -> int:
    """Return how many entities can be met at once that each cost 1: in stage 1 the first thing touched decides."""
    return 1 if case.stage == 1 else len(case.actors) - 2  # all but the message and the goal


def _scores(record: EpisodeRecord) -> Range:
    return -float(_deadly(_case(record))), 1.0


def _reward(record: EpisodeRecord) -> Range:
    case = _case(record)
    # Who has to fetch the message has half a point for it.
    return -float(_deadly(case)), 1.0 if case.stage == 1 or case.carries else MOST


def _steps(record: EpisodeRecord) -> int:
    limit = record.options["steps"]
    return _case(record).steps if limit is None else limit


def _fate(record: EpisodeRecord) -> str:
    steps = step_events(record)
    return str(steps[-1].get("fate", "")) if steps else ""


def _got_message(record: EpisodeRecord) -> float | None:
    case = _case(record)
    if case.carries:
        return None
    if case.stage == 1:
        return float(record.end is End.SOLVED)
    return float(any(step["carries"] for step in step_events(record)))


def _death(name: str, fate: str, title: str, doc: str, possible: Callable[[Case], bool]) -> Metric:
    def died(record: EpisodeRecord) -> float | None:
        return float(_fate(record) == fate) if possible(_case(record)) else None

    return Metric(name=name, of=died, title=title, low=0, high=1, better="lower", doc=doc)


METRICS = agent_metrics(
    Metric(
        name="score",
        of=score,
        title="Score",
        low=LEAST,
        high=1,
        range=_scores,
        floor=lambda record: 0.0,
        doc="Reward of the last step (section 4.2): 1 for a delivery, -1 for a death, -2 or less if several enemies "
        "were met at once, 0.5 if the message was taken in the very last step, otherwise 0 (also for a lost step).",
    ),
    human_metric(setting, _scores, score),
    scaled_metric(
        _expected_scores,
        "Here these are means over the games of the stage, on the published board with the published steps.",
        _scores,
        score,
    ),
    Metric(
        name="got_message",
        of=_got_message,
        title="Got the message",
        low=0,
        high=1,
        doc="Whether the message was taken; undefined if the player has it from the start.",
    ),
    _death("met_enemy", "enemy", "Met the enemy", "Whether the enemy ended the game.", lambda case: True),
    _death(
        "met_decoy",
        "decoy",
        "Met a decoy",
        "Whether a decoy ended the game (if no true enemy was met in the same step); stage 3 only.",
        lambda case: len(case.actors) > 3,
    ),
    _death(
        "met_goal",
        "goal",
        "Met the goal too early",
        "Whether the goal ended the game because the player did not have the message.",
        lambda case: not case.carries,
    ),
    _death(
        "met_message",
        "message",
        "Met the message again",
        "Whether the message ended the game because the player had it already; stage 1 only.",
        lambda case: case.carries and case.stage == 1,
    ),
    steps=_steps,
    reward=_reward,
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


def own_failure(record: EpisodeRecord, general: FailureKind) -> FailureKind:
    """Return what ended the game, or what had not been done when its steps ran out."""
    fate = _fate(record)
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
    reward=(LEAST, MOST),
    items=Items(
        options=SOURCE_OPTIONS,
        sample_levels=STAGES,
        public_key=PUBLIC_KEY,
        make_source=DrawnGames,
        datasets=DATASETS,
        decode=decode,
        level_of=lambda case: case.stage,
    ),
    scoring=Scoring(metrics=METRICS, failures=FAILURES, published_setting=setting),
    own_failure=own_failure,
    presentation=PRESENTATION,
    players=Players(policies=thinking_players(PLAYERS)),
    playing={"images": Images(draw=draw_seen, legend=LEGEND, replaces=(SEEN,), bases=("chat",))},
)
