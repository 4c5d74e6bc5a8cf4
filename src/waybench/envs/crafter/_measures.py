"""What is measured of a life in Crafter: metrics and failures."""

import math
from collections.abc import Iterable, Mapping

from waybench.core import Aggregate, EpisodeRecord, FailureKind, Metric, Range, ReferenceScores, SampleSize, Series
from waybench.envs.crafter._ids import ACHIEVEMENTS, HARMS
from waybench.envs.smartplay import agent_metrics, final_score, human_metric, steps_of

STEPS = 9_999  # the published program ends an episode when its clock is at 10,000, and begins it at 1
LEAST, MOST = -1.0, float(len(ACHIEVEMENTS))  # sums of rewards: 0.1 for each health lost, 1 for an achievement


def setting(record: EpisodeRecord) -> str:
    """Return the published name of the setting."""
    return "Crafter"


def reference_scores(record: EpisodeRecord) -> ReferenceScores:
    """Return that the best possible score is not known.

    The bound, all 22 achievements from the first step to the last, is 219,978 at 9,999 steps, where the oracle has some
    thousands and people 2,680: between such ends every model would be at 0.
    """
    return ReferenceScores(0.0, {}, None)


def unlocked(record: EpisodeRecord) -> set[str]:
    """Return the names of the achievements that an episode unlocked."""
    return {str(name) for events in steps_of(record) for name in events.get("unlocked", ())}


def crafter_score(rates: Iterable[float]) -> float:
    """Return the Crafter score: exp(mean of ln(1 + s)) - 1, s being the success rates in percent (arXiv:2109.06780).

    Args:
        rates: For each achievement the share of episodes that unlocked it, from 0 to 1.

    Returns:
        A number from 0 to 100. It is a figure of many episodes, and weighs rare achievements more than a mean does.
    """
    logs = [math.log1p(100 * rate) for rate in rates]
    return math.expm1(math.fsum(logs) / len(logs)) if logs else 0.0


def success_rates(records: Iterable[EpisodeRecord]) -> Mapping[str, float]:
    """Return for each achievement the share of episodes that unlocked it; 0 for all where there is no episode."""
    unlocked_sets = [unlocked(record) for record in records]
    return {name: sum(name in names for names in unlocked_sets) / max(1, len(unlocked_sets)) for name in ACHIEVEMENTS}


def _unlocks(name: str) -> Metric:
    words = name.replace("_", " ")
    return Metric(
        name=f"unlocked_{name}",
        of=lambda record: float(name in unlocked(record)),
        title=words.capitalize(),
        low=0,
        high=1,
        doc=f'Whether the achievement "{words}" was unlocked.',
    )


def _death(cause: str, title: str, doc: str) -> Metric:
    def death_share(record: EpisodeRecord) -> float:
        steps = steps_of(record)
        return float(bool(steps) and steps[-1].get("death") == cause)

    return Metric(name=f"death_{cause}", of=death_share, title=title, low=0, high=1, better="lower", doc=doc)


def _steps(record: EpisodeRecord) -> int:
    return record.options["steps"] or STEPS


def _scores(record: EpisodeRecord) -> Range:
    return 0, len(ACHIEVEMENTS) * _steps(record)


def _curve(record: EpisodeRecord) -> list[float]:
    total, curve = 0, list[float]()
    for events in steps_of(record):
        total += len(events.get("unlocked", ()))
        curve.append(float(total))
    return curve


_DEATHS = {
    "zombie": ("Killed by a zombie", "Whether a zombie took the last health."),
    "arrow": ("Killed by an arrow", "Whether an arrow took the last health."),
    "lava": ("Walked into lava", "Whether the player walked into lava."),
    "need": ("Starved", "Whether hunger, thirst or exhaustion took the last health."),
}
assert set(_DEATHS) == set(HARMS) - {""}

SCORE = Metric(
    name="score",
    of=final_score,
    title="Score",
    low=0,
    range=_scores,
    floor=lambda record: 0.0,
    ceiling=lambda record: float(len(ACHIEVEMENTS) * _steps(record)),
    far_bounds=True,  # all achievements at the first step; people reach an eightieth of that
    doc="Number of achievements unlocked so far, summed over the steps (section 4.2); the published human mean is "
    "2680.",
)
_UNLOCKED = tuple(map(_unlocks, ACHIEVEMENTS))
METRICS = agent_metrics(
    SCORE,
    Metric(
        name="achievements",
        of=lambda record: float(len(unlocked(record))),
        title="Achievements",
        low=0,
        high=len(ACHIEVEMENTS),
        doc="Number of the 22 achievements unlocked.",
    ),
    human_metric(setting, _scores, far_bounds=True),
    *(_death(cause, title, doc) for cause, (title, doc) in _DEATHS.items()),
    *_UNLOCKED,
    steps=_steps,
    reward=lambda record: (LEAST, MOST),
)
SERIES = (
    Series(
        name="unlocked",
        of=_curve,
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


_DEATH_KINDS = {
    "zombie": FailureKind("zombie", "killed by a zombie", "A zombie took the last health."),
    "arrow": FailureKind("arrow", "killed by an arrow", "An arrow took the last health."),
    "lava": FailureKind("lava", "walking into lava", "The player walked into lava."),
    "need": FailureKind("need", "hunger, thirst or exhaustion", "Hunger, thirst or exhaustion took the last health."),
}
assert set(_DEATH_KINDS) == set(HARMS) - {""}

FAILURES = tuple(_DEATH_KINDS.values())


def own_failure(record: EpisodeRecord, general: FailureKind) -> FailureKind:
    """Return what the player died of; the general kind where it did not die."""
    steps = steps_of(record)
    return _DEATH_KINDS.get(str(steps[-1].get("death", "")), general) if steps else general
