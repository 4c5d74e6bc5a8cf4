"""Horizons and curves of success as data."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

from waybench.analysis.horizons._references import ReferenceHorizon
from waybench.analysis.results import Group
from waybench.core import Json
from waybench.stats import HorizonRatio

SHARES = (0.5, 0.8)
_OUTSIDE = 1e9  # greater than any difficulty


class Extreme(NamedTuple):
    """A horizon if attempts without a result had all been failures, or all been solved.

    Attributes:
        value: The difficulty; None where it is not between what was tried.
        side: Where it is then, as of a `Horizon`.
        easiest: The least difficulty that was tried.
        hardest: The greatest one.
    """

    value: float | None
    side: str
    easiest: float
    hardest: float


class LostHorizon(NamedTuple):
    """The attempts that a horizon lacks, since their results are not known.

    Attributes:
        lost: Number of these attempts.
        planned: Number of all attempts, these included.
        lowest: The horizon if all of them were failures.
        highest: The horizon if all of them were solved.
    """

    lost: int
    planned: int
    lowest: Extreme
    highest: Extreme


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizon:
    """The difficulty at which a player succeeds at a share of the items.

    Attributes:
        group: Model, task and settings.
        axis: Name of what makes items hard.
        share: The share.
        value: The difficulty; None where that is not between what was tried (see `side`).
        low: Lower end of its 90 % interval; None where it is not between what was tried.
        high: Upper end, likewise.
        side: "beyond" where the horizon is above the hardest items that were tried, "below" where it is below the
            easiest ones; "" between.
        easiest: The least difficulty that was tried.
        hardest: The greatest one.
        trials: Number of attempts.
        items: Number of items that they were made at.
        clusters: Number of independent clusters that they come from.
        sensitivity: The value under other assumptions (`ALTERNATIVES`), by their names; None where it is not between
            what was tried. Of an environment's first axis alone.
        sides: The sides of these values, likewise.
        known: Whether the interval leaves out some of what was tried. If it does not, there were too few items.
        references: The horizons of players that know nothing of the items, where they are known.
        above_references: Whether the interval is above all of these; None where there are none.
        mark: That it is not: "not above a random player's"; "" otherwise.
        curve_fits: Whether the success rates agree with the fitted curve. If they do not (a plateau, a dip), the
            interval holds for any curve that falls.
        lost: The attempts that it lacks; None if it lacks none. A horizon that lacks some has no rank.
    """

    group: Group
    axis: str
    share: float
    value: float | None
    low: float | None
    high: float | None
    side: str
    easiest: float
    hardest: float
    trials: int
    items: int
    clusters: int
    sensitivity: Mapping[str, float | None]
    sides: Mapping[str, str]
    known: bool = True
    references: tuple[ReferenceHorizon, ...] = ()
    above_references: bool | None = None
    mark: str = ""
    curve_fits: bool = True
    lost: LostHorizon | None = None

    def under(self, assumption: str) -> "Horizon":
        """Return the horizon under another assumption, of which no interval is known."""
        return replace(
            self,
            value=self.sensitivity[assumption],
            side=self.sides[assumption],
            low=None,
            high=None,
            sensitivity={},
            sides={},
            references=(),
            above_references=None,
            mark="",
            curve_fits=True,
            lost=None,
        )

    @property
    def order(self) -> float:
        """Sort key of the horizons of one axis: first those below the difficulties tested, last those above them."""
        if self.value is not None:
            return self.value
        return _OUTSIDE + self.hardest if self.side == "beyond" else self.easiest - _OUTSIDE

    def to_json(self) -> dict[str, Json]:
        """Return the horizon as JSON values."""
        lost = self.lost and {
            "lost": self.lost.lost,
            "planned": self.lost.planned,
            "lowest": self.lost.lowest._asdict(),
            "highest": self.lost.highest._asdict(),
        }
        return {**asdict(self), "group": self.group.to_json(), "lost": lost}


class DifficultyBin(NamedTuple):
    """The observed success rate at one difficulty.

    Attributes:
        at: The difficulty.
        solved: Share of its items at which a single attempt succeeds, from 0 to 1.
        items: Number of its items.
        trials: Number of attempts at them.
    """

    at: float
    solved: float
    items: int
    trials: int


class Expected(NamedTuple):
    """The fitted success rate at one difficulty.

    Attributes:
        at: The difficulty.
        rate: The expected success rate.
        low: Lower end of its 90 % interval at this difficulty.
        high: Upper end.
    """

    at: float
    rate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SuccessCurve:
    """How the success of a player falls along an axis.

    Attributes:
        group: Model, task and settings.
        axis: Name of what makes items hard.
        horizons: The horizons at `SHARES`.
        bins: The success rate observed at each difficulty, rising.
        line: The fitted curve from the least difficulty that was tried to the greatest.
        leader: The group that reaches furthest at the same task, among models if there are any; None on other axes
            than the first one, and for that group itself.
        ratio: The 50 % horizon divided by the leader's; None without a leader.
    """

    group: Group
    axis: str
    horizons: tuple[Horizon, ...]
    bins: tuple[DifficultyBin, ...]
    line: tuple[Expected, ...]
    leader: Group | None = None
    ratio: HorizonRatio | None = None
