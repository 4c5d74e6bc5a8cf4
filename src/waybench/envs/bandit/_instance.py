"""Slot machines: what each pays, how often, and how that changes."""

from dataclasses import dataclass

from waybench.core import DataError, Instance, Json, check_fields, is_array, is_object

MOST_ARMS = 1_000
LARGEST_PAYOFF = 1_000.0
LARGEST_DRAW = 2**53

Arm = tuple[float, float]

# The registered settings (shared/specs/smartplay.md, 2) as (probability, payoff) of each arm, by our names.
SETTINGS: dict[str, tuple[Arm, ...]] = {
    "deterministic": ((1.0, 1.0), (0.0, 1.0)),
    "high_low": ((0.8, 1.0), (0.2, 1.0)),
    "high_high": ((0.8, 1.0), (0.9, 1.0)),
    "low_low": ((0.1, 1.0), (0.2, 1.0)),
}
PUBLISHED = {
    "deterministic": "BanditTwoArmedDeterministicFixed",
    "high_low": "BanditTwoArmedHighLowFixed",
    "high_high": "BanditTwoArmedHighHighFixed",
    "low_low": "BanditTwoArmedLowLowFixed",
}


@dataclass(frozen=True, slots=True)
class Bandit(Instance):
    """Some slot machines.

    Attributes:
        arms: (probability, payoff) of each: it pays its payoff with its probability, and otherwise takes as much.
        drift: The most by which a probability changes in one step; 0 if all stay as they are.
        draw: Names what chance brings, so that a set can have the same machines several times.
    """

    arms: tuple[Arm, ...]
    drift: float = 0.0
    draw: int = 0

    @property
    def level(self) -> int:
        """The number of machines."""
        return len(self.arms)

    @property
    def setting(self) -> str | None:
        """The name of the registered setting that this is, in whatever order; None if it is none."""
        if self.drift:
            return None
        return next((name for name, arms in SETTINGS.items() if sorted(arms) == sorted(self.arms)), None)

    def canonical(self) -> str:
        """Return all numbers."""
        arms = " ".join(f"{chance!r}:{payoff!r}" for chance, payoff in self.arms)
        return f"{arms} drift {self.drift!r} draw {self.draw}"

    def to_json(self) -> Json:
        """Return {"arms": [[probability, payoff], ...], "drift": ..., "draw": ...}."""
        return {"arms": [list(arm) for arm in self.arms], "drift": self.drift, "draw": self.draw}


def decode(data: Json) -> Bandit:
    """Read {"arms": [[0.8, 1], [0.2, 1]], "drift": 0, "draw": 7}.

    Raises:
        DataError: If it is no such object.
    """
    check_fields(data, ("arms", "drift", "draw"))
    if not is_object(data) or set(data) != {"arms", "drift", "draw"} or not is_array(data["arms"]):
        raise DataError('instance: give {"arms": [[0.8, 1], [0.2, 1]], "drift": 0, "draw": 7}')
    if not 2 <= len(data["arms"]) <= MOST_ARMS:
        raise DataError(f"instance: give 2 to {MOST_ARMS} arms")
    arms = tuple(_arm(arm) for arm in data["arms"])
    drift, draw = data["drift"], data["draw"]
    if not _within(drift, 0, 1):
        raise DataError("instance: drift is a number from 0 to 1")
    if type(draw) is not int or not 0 <= draw < LARGEST_DRAW:
        raise DataError("instance: draw is a whole number from 0 to 2**53 - 1")
    return Bandit(arms, float(drift), draw)


def _arm(data: Json) -> Arm:
    match data:
        case [chance, payoff] if _within(chance, 0, 1) and _within(payoff, 0, LARGEST_PAYOFF) and payoff > 0:
            return float(chance), float(payoff)
        case _:
            raise DataError(
                f"instance: an arm is [probability, payoff], from 0 to 1 and from above 0 to {LARGEST_PAYOFF:g}"
            )


def _within(value: Json, low: float, high: float) -> bool:
    return type(value) in (int, float) and low <= value <= high
