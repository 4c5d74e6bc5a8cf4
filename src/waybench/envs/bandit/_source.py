"""Slot machines by key."""

from collections.abc import Mapping

from waybench.core import Json, KeyedSource, Option, Stream, UsageError
from waybench.envs.bandit._game import values
from waybench.envs.bandit._instance import LARGEST_DRAW, SETTINGS, Arm, Bandit

VERSION = 1  # of the generator; part of every item's key
FEWEST, MOST = 2, 50  # machines that are drawn
_CHANCES = range(5, 96)  # hundredths
_PAYOFFS = range(1, 6)
_LEAD = 0.1  # least difference of the best expected reward to the next one, so that it can be found out

OPTIONS = (
    Option(
        name="setting",
        default="free",
        choices=("free", *SETTINGS),
        doc="The machines: free draws them from the key; the others are the four registered settings of two machines, "
        "whose order is drawn.",
    ),
    Option(
        name="drift",
        default=0.0,
        low=0,
        high=0.5,
        doc="Maximum change of each machine's probability per step, up or down; the manual mentions the drift.",
    ),
    Option(
        name="payoffs",
        default="equal",
        choices=("equal", "unequal"),
        doc="Payoffs of free machines: 1 each, or whole numbers from 1 to 5.",
    ),
)


class BanditSource(KeyedSource[Bandit]):
    """Slot machines drawn by key.

    Args:
        key: The set's key.
        level: Number of machines.
        options: `setting`, `drift`, `payoffs`.

    Raises:
        UsageError: For a level that does not exist or does not fit the setting.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if not FEWEST <= level <= MOST:
            raise UsageError(f"level {level}: give a number of slot machines from {FEWEST} to {MOST}")
        super().__init__(key, level, prove)
        self._setting, self._drift = str(options["setting"]), float(options["drift"])
        self._unequal = options["payoffs"] == "unequal"
        if self._setting != "free" and len(SETTINGS[self._setting]) != level:
            fits = len(SETTINGS[self._setting])
            raise UsageError(f"setting={self._setting} has {fits} slot machines, not {level}: give level {fits}")

    def instance(self, index: int) -> Bandit:
        """Return the machines of this number."""
        settings = f"{self._setting} {self._drift!r} {self._unequal}"
        rng = Stream("bandit", VERSION, self.key, self.level, settings, index)
        return Bandit(self._arms(rng), self._drift, rng.below(LARGEST_DRAW))

    def _arms(self, rng: Stream) -> tuple[Arm, ...]:
        if self._setting != "free":
            arms = list(SETTINGS[self._setting])
            rng.shuffle(arms)
            return tuple(arms)
        while True:
            hundredths = list(_CHANCES)
            rng.shuffle(hundredths)
            arms = [
                (chance / 100, float(rng.choice(_PAYOFFS)) if self._unequal else 1.0)
                for chance in hundredths[: self.level]
            ]
            bandit = Bandit(tuple(arms))
            if sorted(values(bandit, [chance for chance, _ in arms])[1])[1] >= _LEAD:
                return bandit.arms


def prove(bandit: Bandit) -> dict[str, Json]:
    """Return the best machine at the start as "best", from 1, and how much worse the worst one is as "worst"."""
    best, gaps = values(bandit, [chance for chance, _ in bandit.arms])
    return {"best": best + 1, "worst": max(gaps)}
