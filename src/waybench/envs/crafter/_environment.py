"""The environment of Crafter, with its metrics and failures."""

import math
from collections.abc import Iterable
from itertools import accumulate

from waybench._package_data import read_text
from waybench.core import (
    Aggregate,
    EpisodeRecord,
    FailureKind,
    Images,
    Items,
    Metric,
    Players,
    Presentation,
    Range,
    ReferenceScores,
    Scoring,
    Series,
)
from waybench.core._metrics import SampleSize
from waybench.envs.crafter._drawing import KEYS, board, scenes
from waybench.envs.crafter._game import SurvivalRules
from waybench.envs.crafter._ids import ACHIEVEMENTS, HARMS
from waybench.envs.crafter._players import PLAYERS
from waybench.envs.crafter._world import LEVEL, Worlds, decode
from waybench.envs.smartplay import (
    LEGEND,
    SEEN,
    agent_environment,
    agent_metrics,
    draw_seen,
    final_score,
    human_metric,
    step_events,
    thinking_players,
)

STEPS = 9_999  # the published program ends an episode when its clock is at 10,000, and begins it at 1
LEAST, MOST = -1.0, float(len(ACHIEVEMENTS))  # sums of rewards: 0.1 for each health lost, 1 for an achievement


def published_setting(record: EpisodeRecord) -> str:
    """Return the published name of the setting."""
    return "Crafter"


def reference_scores(record: EpisodeRecord) -> ReferenceScores:
    """Return reference scores without a best possible score.

    All 22 achievements from the first step to the last would give 219,978 at 9,999 steps, where the oracle has some
    thousands and people 2,680: on a scale up to this bound every model would be at 0.
    """
    return ReferenceScores(0.0, {}, None)


def unlocked_achievements(record: EpisodeRecord) -> set[str]:
    """Return the names of the achievements that an episode unlocked."""
    return {str(name) for events in step_events(record) for name in events.get("unlocked", ())}


def crafter_score(rates: Iterable[float]) -> float:
    """Return the Crafter score: exp(mean of ln(1 + s)) - 1, s being the success rates in percent (arXiv:2109.06780).

    Args:
        rates: For each achievement the share of episodes that unlocked it, from 0 to 1.

    Returns:
        A number from 0 to 100. It is a figure of many episodes, and weighs rare achievements more than a mean does.
    """
    logs = [math.log1p(100 * rate) for rate in rates]
    return math.expm1(math.fsum(logs) / len(logs)) if logs else 0.0


def _unlocked_metric(achievement: str) -> Metric:
    """Return the metric on whether an achievement was unlocked."""
    words = achievement.replace("_", " ")
    return Metric(
        name=f"unlocked_{achievement}",
        of=lambda record: float(achievement in unlocked_achievements(record)),
        title=words.capitalize(),
        low=0,
        high=1,
        doc=f'Whether the achievement "{words}" was unlocked.',
    )


def _cause_of_death(record: EpisodeRecord) -> str:
    """Return the cause of the player's death, one of `HARMS`; "" if it lives."""
    steps = step_events(record)
    return str(steps[-1].get("death", "")) if steps else ""


def _death_metric(kind: FailureKind, title: str) -> Metric:
    """Return the metric on whether the player died of a kind of cause."""
    return Metric(
        name=f"death_{kind.name}",
        of=lambda record: float(_cause_of_death(record) == kind.name),
        title=title,
        low=0,
        high=1,
        better="lower",
        doc=f"Whether {kind.doc[0].lower()}{kind.doc[1:]}",
    )


def _step_limit(record: EpisodeRecord) -> int:
    return record.options["steps"] or STEPS


def _score_range(record: EpisodeRecord) -> Range:
    return 0, len(ACHIEVEMENTS) * _step_limit(record)


FAILURES = (
    FailureKind("zombie", "killed by a zombie", "A zombie took the last health."),
    FailureKind("arrow", "killed by an arrow", "An arrow took the last health."),
    FailureKind("lava", "walking into lava", "The player walked into lava."),
    FailureKind("need", "hunger, thirst or exhaustion", "Hunger, thirst or exhaustion took the last health."),
)
_DEATHS = {kind.name: kind for kind in FAILURES}
assert set(_DEATHS) == set(HARMS) - {""}

_UNLOCKED = tuple(map(_unlocked_metric, ACHIEVEMENTS))
METRICS = agent_metrics(
    Metric(
        name="score",
        of=final_score,
        title="Score",
        low=0,
        range=_score_range,
        floor=lambda record: 0.0,
        ceiling=lambda record: float(len(ACHIEVEMENTS) * _step_limit(record)),
        far_bounds=True,  # all achievements at the first step; people reach an eightieth of that
        doc="Number of achievements unlocked so far, summed over the steps (section 4.2); the published human mean is "
        "2680.",
    ),
    Metric(
        name="achievements",
        of=lambda record: float(len(unlocked_achievements(record))),
        title="Achievements",
        low=0,
        high=len(ACHIEVEMENTS),
        doc="Number of the 22 achievements unlocked.",
    ),
    human_metric(published_setting, _score_range, far_bounds=True),
    *map(_death_metric, FAILURES, ("Killed by a zombie", "Killed by an arrow", "Walked into lava", "Starved")),
    *_UNLOCKED,
    steps=_step_limit,
    reward=lambda record: (LEAST, MOST),
)
SERIES = (
    Series(
        name="unlocked",
        of=lambda record: list(accumulate(float(len(events.get("unlocked", ()))) for events in step_events(record))),
        title="Achievements so far",
        low=0,
        high=len(ACHIEVEMENTS),
        far_bounds=True,  # at an early step hardly any can have been unlocked
        doc="Number of the 22 achievements unlocked up to this step.",
    ),
)
AGGREGATES = (
    Aggregate(
        name="crafter_score",
        metrics=_UNLOCKED,
        of=crafter_score,
        title="Crafter score",
        part="Achievement",
        # Of ten worlds, intervals not of logarithms hold the true score less often: in 54 % of samples for 70 %.
        scale=(math.log1p, math.expm1),
        # Simulated players of nine kinds: `python -m benchmarks.crafter_score`.
        sample_size=SampleSize(
            fewest=100,
            units="worlds",
            doc="With 10 worlds, the 95 % interval contains the true value in only 48 to 97 % of samples, depending on "
            "how many achievements are rare; 100 worlds would do (92 % or more).",
        ),
        low=0,
        high=100,
        doc="exp(mean of ln(1 + s)) - 1, s being the success rates of the 22 achievements in per cent "
        "(arXiv:2109.06780). Rare achievements weigh more than in a mean, and a small set of worlds gives a lower "
        "value than a large one.",
    ),
)


def own_failure(record: EpisodeRecord, general: FailureKind) -> FailureKind:
    """Return the cause of death; the general kind if the player lives."""
    return _DEATHS.get(_cause_of_death(record), general)


PRESENTATION = Presentation(
    title="Crafter (SmartPlay)",
    lead=(
        "The player survives in a world of grass, water, mountains and caves, with 22 achievements to unlock. The "
        "score is the "
        "number of achievements unlocked so far, summed over the steps, so early achievements and a long life count "
        "more. The Crafter score combines the shares of worlds in which each achievement was unlocked."
    ),
    item="world",
    metrics=("score", "human", "crafter_score", "achievements", "reward", "played", "unnamed", "unparsed"),
    scenes=scenes,
    board=board,
    legend=(
        "The ring is the player's start and the line its path; the dot is its last position and direction, and the "
        "dashed box what it saw there. Numbers mark where achievements were unlocked; the list is beside the map. "
        "Cells with an edge were changed; colours and letters are named below the map."
    ),
)


SURVIVAL = agent_environment(
    id="crafter/survival",
    version=1,
    title="Crafter (SmartPlay)",
    about=read_text(__file__, "about.md"),
    rules=SurvivalRules,
    history=5,  # Table 1
    steps=None,
    most_steps=lambda wilds: STEPS,
    reward=(LEAST, MOST),
    items=Items(
        sample_levels=(LEVEL,), public_key="crafter-v1", make_source=Worlds, decode=decode, level_of=lambda wilds: LEVEL
    ),
    playing={
        "check_options": {"steps": 40},
        "images": Images(draw=draw_seen, legend=LEGEND, replaces=(SEEN,), bases=("chat",)),
    },
    scoring=Scoring(
        metrics=METRICS,
        failures=FAILURES,
        series=SERIES,
        aggregates=AGGREGATES,
        published_setting=published_setting,
        reference_scores=reference_scores,
    ),
    own_failure=own_failure,
    presentation=PRESENTATION,
    players=Players(policies=thinking_players(PLAYERS)),
    keys=KEYS,
)
