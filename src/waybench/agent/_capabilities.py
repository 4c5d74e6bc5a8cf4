"""The nine capabilities of SmartPlay: what each game asks of them, and the scores that follow (sections 2 and 4.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from waybench.agent._humans import HUMANS

# Table 3, in its order. MessengerL1 is like L2 and L3 but for planning and reasoning (shared/specs/smartplay.md, 9).
CAPABILITIES = (
    "Long Text Understanding",
    "Reasoning",
    "Instruction Following",
    "Planning",
    "Generalization",
    "Understanding the Odds",
    "Learning from Interactions",
    "Error/Mistake Handling",
    "Spatial Reasoning",
)
_DEGREES = {
    "Bandit": (1, 1, 1, 1, 2, 3, 2, 1, 1),
    "RockPaperScissor": (2, 1, 3, 1, 2, 3, 3, 1, 1),
    "Hanoi": (2, 3, 2, 3, 1, 1, 1, 2, 1),
    "MessengerL1": (3, 1, 2, 1, 2, 2, 1, 1, 2),
    "Messenger": (3, 2, 2, 2, 2, 2, 1, 1, 2),
    "Crafter": (4, 3, 3, 3, 3, 2, 4, 3, 2),
    "Minedojo": (1, 1, 2, 1, 3, 2, 1, 2, 3),
}
RECORDED = tuple(HUMANS)
"""The seven settings of which the paper gives scores."""

FORMULAS = {"paper": 0, "code": 1}
"""What is taken from a degree to have its weight: nothing in the paper, 1 in the published program."""


@dataclass(frozen=True, slots=True)
class Capability:
    """A score of one capability.

    Attributes:
        name: The capability.
        value: The weighted mean of the games' normalised scores; None if no game has a weight.
        games: The settings that it is made of, those with a weight.
        missing: Settings of the seven that have a weight and no score: the value is not that of the whole benchmark.
    """

    name: str
    value: float | None
    games: tuple[str, ...]
    missing: tuple[str, ...]


def degrees(setting: str) -> Mapping[str, int]:
    """Return how much a setting asks of each capability, from 1 to 4 (Table 3).

    Args:
        setting: The published name, such as "Hanoi3Disk".

    Raises:
        KeyError: If the game is none of SmartPlay's.
    """
    fitting = [name for name in _DEGREES if setting.startswith(name)]
    return dict(zip(CAPABILITIES, _DEGREES[max(fitting, key=len, default=setting)], strict=True))


def capability_scores(
    scores: Mapping[str, float], formula: str = "paper", wanted: Sequence[str] = RECORDED
) -> list[Capability]:
    """Return the scores of the nine capabilities: sum of d s / sum of d, over the games that have been played.

    Args:
        scores: Setting -> human-normalised score.
        formula: "paper": d is the degree; "code": the degree less 1, so that games of degree 1 have no weight.
        wanted: The settings that the whole benchmark consists of.
    """
    found: list[Capability] = []
    for name in CAPABILITIES:
        weights = {setting: degrees(setting)[name] - FORMULAS[formula] for setting in dict.fromkeys((*wanted, *scores))}
        weights = {setting: weight for setting, weight in weights.items() if weight}
        played = [setting for setting in weights if setting in scores]
        total = fsum(weights[setting] for setting in played)
        value = fsum(weights[setting] * scores[setting] for setting in played) / total if total else None
        missing = tuple(setting for setting in weights if setting not in scores)
        found.append(Capability(name, value, tuple(played), missing))
    return found
