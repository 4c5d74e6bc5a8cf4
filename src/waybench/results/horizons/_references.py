"""Horizons and success curves, their axes, and the horizons of players that know nothing of the items."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from typing import NamedTuple

from waybench._package_data import read_text
from waybench.core import OPTION_AXES, Axis
from waybench.envs import registry
from waybench.results.results import GroupResult, Row, RunKey
from waybench.results.stats._fit import BELOW, BEYOND, NEVER_REACHED
from waybench.results.stats._horizon_ratios import HorizonRatio

FILE = "reference_horizons.json"
_PLAYERS = {
    "random": ("a random player", "random player"),
    "constant": ("the best constant reply", "best constant reply"),
}
SHARES = (0.5, 0.8)
_OUTSIDE = 1e9  # greater than any difficulty


def group_axes(rows: Sequence[Row]) -> tuple[Axis, ...]:
    """Return the axes of a group's rows; its horizon is on the first one.

    They are those of its environment, or, for a search along an option of play, the axis of that option alone.
    """
    along = tuple(axis for name, axis in OPTION_AXES.items() if any(name in row.axes for row in rows))
    return along or rows[0].group.environment.difficulty.axes


def find_axis(env: str, name: str) -> Axis:
    """Return the axis of this name: an environment's, or one along an option."""
    return next(axis for axis in (*registry.load(env).difficulty.axes, *OPTION_AXES.values()) if axis.name == name)


@dataclass(frozen=True, slots=True)
class ReferenceHorizon:
    """The horizon of a player that knows nothing of the items.

    Attributes:
        player: "random", or "constant" for the best of the replies that are the same in every turn of every item.
        value: The difficulty; None where it is outside the difficulties that were tried.
        side: "below" where it is below the easiest one, "beyond" where it is above the hardest one; "" between.
        easiest: The least difficulty that was tried.
        hardest: The greatest difficulty that was tried.
    """

    player: str
    value: float | None
    side: str
    easiest: float
    hardest: float

    @property
    def title(self) -> str:
        """The player's name within a sentence."""
        return _PLAYERS[self.player][0]

    @property
    def name(self) -> str:
        """The player's name at the start of a row."""
        return _PLAYERS[self.player][1]

    @property
    def bound(self) -> float:
        """The difficulty above which another horizon counts as larger; infinite for one above the hardest level."""
        if self.value is not None:
            return self.value
        return self.easiest if self.side in (BELOW, NEVER_REACHED) else inf


def reference_horizons(group: RunKey, axis: str, share: float) -> tuple[ReferenceHorizon, ...]:
    """Return the horizons of players without knowledge, on an axis of a group's environment.

    They are those of the group's protocol and of default options otherwise: what counts as success does not depend on
    options, as an environment declares it (`Difficulty.competent`).

    Args:
        group: The group whose environment, version and protocol count.
        axis: Name of the axis.
        share: The success rate at the horizon; for one above 0.5 that was not measured, the horizon at 0.5 is returned,
            which is no smaller.

    Returns:
        The horizons; empty where they were not measured: for environments of other packages, other versions of an
        environment, and options whose values have tables of their own (`Option.separate_tables`).
    """
    if not group.is_default:
        return ()
    env = group.environment
    key = env.items.twin or env.id, group.version, str(dict(group.options).get("protocol")), axis
    table = _stored_horizons().get(key, {})
    return table.get(share) or (table.get(0.5, ()) if share > 0.5 else ())


@cache
def _stored_horizons() -> Mapping[tuple[str, int, str, str], Mapping[float, tuple[ReferenceHorizon, ...]]]:
    """Return the stored horizons by environment, version, protocol and axis, and by share."""
    table: dict[tuple[str, int, str, str], dict[float, tuple[ReferenceHorizon, ...]]] = {}
    for line in json.loads(read_text(__file__, FILE)):
        shares = table.setdefault((line["env"], line["version"], line["protocol"], line["axis"]), {})
        horizon = ReferenceHorizon(*(line[name] for name in ("player", "value", "side", "easiest", "hardest")))
        shares[line["share"]] = (*shares.get(line["share"], ()), horizon)
    return table


def below_reference_text(value: float, low: float, references: Sequence[ReferenceHorizon]) -> str:
    """Return "not above PLAYER's" or "not clearly above PLAYER's" for the highest reference; "" if above it."""
    if is_above_references(low, references) is not False:
        return ""
    greatest = max(references, key=lambda reference: reference.bound)
    return f"not {'' if value <= greatest.bound else 'clearly '}above {greatest.title}'s"


def is_above_references(low: float, references: Sequence[ReferenceHorizon]) -> bool | None:
    """Return whether a horizon (its lower end `low`) is above the reference players'; None without these."""
    return low >= max(reference.bound for reference in references) if references else None


@dataclass(frozen=True, slots=True)
class Extreme:
    """A horizon if attempts without a result had all been failures, or all been solved; fields as of a `Horizon`."""

    value: float | None
    side: str
    easiest: float
    hardest: float


@dataclass(frozen=True, slots=True)
class LostHorizon:
    """The attempts that a horizon lacks, since their results are not known.

    Attributes:
        lost: Number of these attempts.
        planned: Number of all attempts, the lost ones included.
        lowest: The horizon if all of them were failures.
        highest: The horizon if all of them were solved.
    """

    lost: int
    planned: int
    lowest: Extreme
    highest: Extreme


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizon(GroupResult):
    """The difficulty at which a player succeeds at a share of the items.

    Attributes:
        value: The difficulty; None where it is outside the difficulties that were tried or not identified (see `side`).
        low: Lower end of its 90 % interval; None where it is outside the difficulties that were tried.
        high: Upper end of its 90 % interval; None where it is outside the difficulties that were tried.
        side: "beyond" where the horizon is above the hardest items that were tried, "below" where it is below the
            easiest ones; "plateau" where the success rate may be below the share at all levels, however easy, so that
            the horizon is not identified, "never" where it is below the share at all of them; "" between.
        easiest: The least difficulty that was tried.
        hardest: The greatest difficulty that was tried.
        trials: Number of attempts.
        clusters: Number of independent clusters of the items.
        sensitivity: The value under other assumptions (`ALTERNATIVES`), by their names; None where it is outside the
            difficulties that were tried. Empty on all axes but the first.
        sides: The side of each of these values.
        known: Whether the interval excludes some difficulty that was tried. If it does not, there were too few items.
        references: The horizons of players that know nothing of the items, where they are known.
        above_references: Whether the interval is above all of these; None without any.
        mark: "not above a random player's" or the like where it is not; "" otherwise.
        curve_fits: Whether the success rates agree with the fitted curve. If they do not (a plateau, a dip), the
            interval holds for any curve that falls.
        lost: The attempts that it lacks; None if it lacks none. A horizon that lacks some has no rank.
    """

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

    def alternative(self, assumption: str) -> "Horizon":
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
        """Sort key of the horizons of one axis: first those below the difficulties tested, last those above them.

        One that is not identified, or never reached, counts as below.
        """
        if self.value is not None:
            return self.value
        return _OUTSIDE + self.hardest if self.side == BEYOND else self.easiest - _OUTSIDE


class DifficultyBin(NamedTuple):
    """The observed success rate at one difficulty.

    Attributes:
        solved: Share of single attempts that succeed, from 0 to 1, averaged over the items.
        trials: Number of attempts at the items.
    """

    at: float
    solved: float
    items: int
    trials: int


class Expected(NamedTuple):
    """The fitted success rate at one difficulty, with the ends of its 90 % interval there."""

    at: float
    rate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SuccessCurve:
    """The success rate of a player along an axis.

    Attributes:
        bins: The observed success rate at each difficulty, rising.
        line: The fitted curve from the least difficulty that was tried to the greatest.
        leader: The group with the greatest horizon at the same task, among models if there are any; None on other axes
            than the first one, for that group itself, and for a group with lost attempts.
        ratio: The 50 % horizon divided by the leader's; None without a leader.
        p_adjusted: The p value of their order, after Holm's procedure over all pairs of models at all tasks; None
            without a leader, and for a reference player beside models.
    """

    group: RunKey
    axis: str
    horizons: tuple[Horizon, ...]
    bins: tuple[DifficultyBin, ...]
    line: tuple[Expected, ...]
    leader: RunKey | None = None
    ratio: HorizonRatio | None = None
    p_adjusted: float | None = None
