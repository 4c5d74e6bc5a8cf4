"""The nine capabilities of SmartPlay: what each game asks of them, and the scores that follow (sections 2 and 4.2)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple

from waybench._package_data import read_toml
from waybench.envs.smartplay._measures import HUMANS

_PUBLISHED = read_toml(__file__, "published.toml")
BENCHMARK: str = _PUBLISHED["benchmark"]
CAPABILITIES: tuple[str, ...] = _PUBLISHED["capabilities"]
_DEGREES: Mapping[str, tuple[int, ...]] = _PUBLISHED["degrees"]
DEGREE_SCALES: Mapping[str, tuple[str, ...]] = dict(zip(CAPABILITIES, _PUBLISHED["scales"], strict=True))
"""What the degrees of each capability mean, from degree 1 on (Table 3)."""
DEGREES_SOURCE: str = _PUBLISHED["degrees_source"].strip()
RECORDED = tuple(HUMANS)
"""The seven settings of which the paper gives scores."""


class Formula(NamedTuple):
    """The formula of a capability from the games' normalised scores.

    Attributes:
        less: What is subtracted from a degree to get its weight: 0 in the paper, 1 in the published program.
        capped: Whether each game's score is first cut to between 0 and 1.
    """

    less: int
    capped: bool


# A game without an upper bound hides all others, for example Crafter at 20 times the human score. So each published
# formula has a capped form, in which no game counts for more than the human score.
FORMULAS = {
    "paper": Formula(0, capped=False),
    "paper_capped": Formula(0, capped=True),
    "code": Formula(1, capped=False),
    "code_capped": Formula(1, capped=True),
}
"""The published formulas by name, and the capped form of each."""


@dataclass(frozen=True, slots=True)
class Capability:
    """A score of one capability.

    Attributes:
        value: The weighted mean of the games' normalised scores; None if no game has a weight.
        games: The settings that have a score and a weight.
        missing: Settings of the seven that have a weight and no score: the value is not that of the whole benchmark.
        parts: Setting -> what it adds to the value: its weight times its score, divided by the sum of the weights.
    """

    name: str
    value: float | None
    games: tuple[str, ...]
    missing: tuple[str, ...]
    parts: Mapping[str, float]

    @property
    def shares(self) -> Mapping[str, float] | None:
        """Setting -> its part as a share of the value; None where some part is below 0, or all parts are 0."""
        parts = self.parts.values()
        if not self.value or min(parts) < 0:
            return None
        return {setting: part / self.value for setting, part in self.parts.items()}


def capability_degrees(setting: str) -> Mapping[str, int]:
    """Return the degree, 1 to 4, to which a setting such as "Hanoi3Disk" asks for each capability (Table 3).

    Raises:
        KeyError: If SmartPlay does not have the game.
    """
    # A setting's name begins with that of its game; the longest counts, as one game's name can begin another's.
    game = max((name for name in _DEGREES if setting.startswith(name)), key=len, default=setting)
    return dict(zip(CAPABILITIES, _DEGREES[game], strict=True))


def capability_weights(capability: str, formula: str, settings: Iterable[str]) -> dict[str, int]:
    """Return the weights of settings in a capability (degree minus `Formula.less`), without settings of weight 0."""
    weights = {setting: capability_degrees(setting)[capability] - FORMULAS[formula].less for setting in settings}
    return {setting: weight for setting, weight in weights.items() if weight}


def capability_scores(scores: Mapping[str, float], formula: str = "paper") -> list[Capability]:
    """Return the scores of the nine capabilities: sum of d s / sum of d, over the games played.

    Args:
        scores: Setting -> human-normalised score.
        formula: One of FORMULAS. "paper": d is the degree; "code": the degree less 1, so that games of degree 1 have no
            weight. With "_capped", s is the score cut to between 0 and 1, which is not published.
    """
    if FORMULAS[formula].capped:
        scores = {setting: min(max(score, 0.0), 1.0) for setting, score in scores.items()}
    capabilities: list[Capability] = []
    for name in CAPABILITIES:
        weights = capability_weights(name, formula, dict.fromkeys((*RECORDED, *scores)))
        played = [setting for setting in weights if setting in scores]
        total = fsum(weights[setting] for setting in played)
        parts = {setting: weights[setting] * scores[setting] / total for setting in played}
        value = fsum(weights[setting] * scores[setting] for setting in played) / total if total else None
        missing = tuple(setting for setting in weights if setting not in scores)
        capabilities.append(Capability(name, value, tuple(played), missing, parts))
    return capabilities
