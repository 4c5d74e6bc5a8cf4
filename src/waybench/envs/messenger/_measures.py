"""What is measured of a delivery: metrics and failures."""

from collections.abc import Callable

from waybench.core import TURN_LIMIT, End, EpisodeRecord, FailureKind, Metric, Range
from waybench.envs.messenger._world import PUBLISHED, Case, decode
from waybench.envs.smartplay import action_turns, agent_metrics, human_metric, scaled_metric, steps_of

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


def _expected(record: EpisodeRecord) -> tuple[float, float] | None:
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
    steps = steps_of(record)
    return str(steps[-1].get("fate", "")) if steps else ""


def _got_message(record: EpisodeRecord) -> float | None:
    case = _case(record)
    if case.carries:
        return None
    if case.stage == 1:
        return float(record.end is End.SOLVED)
    return float(any(step["carries"] for step in steps_of(record)))


def _death(name: str, fate: str, title: str, doc: str, possible: Callable[[Case], bool]) -> Metric:
    def died(record: EpisodeRecord) -> float | None:
        return float(_fate(record) == fate) if possible(_case(record)) else None

    return Metric(name=name, of=died, title=title, low=0, high=1, better="lower", doc=doc)


SCORE = Metric(
    name="score",
    of=score,
    title="Score",
    low=LEAST,
    high=1,
    range=_scores,
    floor=lambda record: 0.0,
    doc="Reward of the last step (section 4.2): 1 for a delivery, -1 for a death, -2 or less if several enemies were "
    "met at once, 0.5 if the message was taken in the very last step, otherwise 0 (also for a lost step).",
)
METRICS = agent_metrics(
    SCORE,
    human_metric(setting, _scores, score),
    scaled_metric(
        _expected,
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
ENEMY = FailureKind("enemy", "meeting the enemy", "The enemy ended the game.")
DECOY = FailureKind("decoy", "meeting a decoy", "A decoy ended the game; stage 3 only.")
GOAL = FailureKind(
    "goal", "meeting the goal without the message", "The player met the goal too early, which ended the game."
)
MESSAGE = FailureKind("message", "meeting the message again", "The message ended the game; stage 1 only.")
NOT_FOUND = FailureKind("not_found", "message not picked up in time", "The steps ran out without the message.")
UNDELIVERED = FailureKind(
    "undelivered", "message not delivered in time", "The steps ran out while the player had the message."
)

FAILURES = (UNPRODUCTIVE, ENEMY, DECOY, GOAL, MESSAGE, NOT_FOUND, UNDELIVERED)
_FATES = {"enemy": ENEMY, "decoy": DECOY, "goal": GOAL, "message": MESSAGE}


def own_failure(record: EpisodeRecord, general: FailureKind) -> FailureKind:
    """Return what ended the game, or what had not been done when its steps ran out."""
    steps = steps_of(record)
    fate = str(steps[-1].get("fate", "")) if steps else ""
    if fate in _FATES:
        return _FATES[fate]
    if general != TURN_LIMIT:
        return general
    carries = steps[-1]["carries"] if steps else record.instance["agent"]["carries"]
    return UNDELIVERED if carries else NOT_FOUND
