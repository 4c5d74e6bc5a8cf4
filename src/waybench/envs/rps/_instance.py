"""Matches of Rock Paper Scissors: what the opponent does, and what winning is worth."""

from dataclasses import dataclass

from waybench.core import DataError, Instance, Json, check_fields, is_object
from waybench.envs.rps._strategies import FIXED, STRATEGIES

LARGEST_SCORE = 1_000.0
LARGEST_DRAW = 2**53

Three = tuple[float, float, float]
Pair = tuple[float, float]

# The registered settings (shared/specs/smartplay.md, 2) as (the opponent's probability, the score of a win) of each
# choice, by our names.
SETTINGS: dict[str, tuple[Pair, ...]] = {
    "basic": ((0.2, 1.0), (0.2, 1.0), (0.6, 1.0)),
    "different_score": ((0.3, 1.0), (0.3, 2.0), (0.4, 1.0)),
}
PUBLISHED = {"basic": "RockPaperScissorBasic", "different_score": "RockPaperScissorDifferentScore"}


@dataclass(frozen=True, slots=True)
class Match(Instance):
    """An opponent, and the scores.

    Attributes:
        chances: The probabilities of the opponent's choices: of all if it is "fixed", otherwise of the first one and
            of those that do not follow its strategy. Their sum is 1.
        wins: What a win with Rock, Paper and Scissors is worth; a loss costs as much.
        opponent: A name in `STRATEGIES`.
        rate: The probability that it follows its strategy in a round, from the second round on; 0 if it is "fixed".
        draw: Names what chance brings, so that a set can have the same opponent several times.
    """

    chances: Three
    wins: Three
    opponent: str = FIXED
    rate: float = 0.0
    draw: int = 0

    @property
    def level(self) -> int:
        """The level of the opponent's strategy."""
        return STRATEGIES[self.opponent].level

    @property
    def setting(self) -> str | None:
        """The name of the registered setting that this is, in whatever order; None if it is none."""
        if self.opponent != FIXED:
            return None
        pairs = sorted(zip(self.chances, self.wins, strict=True))
        return next((name for name, registered in SETTINGS.items() if sorted(registered) == pairs), None)

    def canonical(self) -> str:
        """Return all numbers and the strategy."""
        numbers = " ".join(repr(number) for number in (*self.chances, *self.wins))
        return f"{numbers} {self.opponent} {self.rate!r} draw {self.draw}"

    def to_json(self) -> Json:
        """Return {"chances": [...], "wins": [...], "opponent": ..., "rate": ..., "draw": ...}."""
        return {
            "chances": list(self.chances),
            "wins": list(self.wins),
            "opponent": self.opponent,
            "rate": self.rate,
            "draw": self.draw,
        }


def decode(data: Json) -> Match:
    """Read {"chances": [0.2, 0.2, 0.6], "wins": [1, 1, 1], "opponent": "fixed", "rate": 0, "draw": 7}.

    Raises:
        DataError: If it is no such object.
    """
    check_fields(data, ("chances", "wins", "opponent", "rate", "draw"))
    if not is_object(data) or set(data) != {"chances", "wins", "opponent", "rate", "draw"}:
        raise DataError("instance: give an object with chances, wins, opponent, rate and draw")
    opponent, rate, draw = data["opponent"], data["rate"], data["draw"]
    if not isinstance(opponent, str) or opponent not in STRATEGIES:
        raise DataError(f"instance: opponent is one of {', '.join(STRATEGIES)}")
    if not _within(rate, 0, 1) or (rate > 0) == (opponent == FIXED):
        raise DataError("instance: rate is 0 if the opponent is fixed, and otherwise a number above 0, up to 1")
    if type(draw) is not int or not 0 <= draw < LARGEST_DRAW:
        raise DataError("instance: draw is a whole number from 0 to 2**53 - 1")
    chances, wins = _three(data["chances"], 1.0), _three(data["wins"], LARGEST_SCORE)
    if abs(sum(chances) - 1) > 1e-9:
        raise DataError("instance: the sum of the chances is not 1")
    if min(wins) == 0:
        raise DataError("instance: a win must be worth more than 0")
    return Match(chances, wins, opponent, float(rate), draw)


def _three(data: Json, high: float) -> Three:
    match data:
        case [rock, paper, scissors] if all(_within(value, 0, high) for value in (rock, paper, scissors)):
            return float(rock), float(paper), float(scissors)
        case _:
            raise DataError(f"instance: chances and wins are three numbers each, from 0 to 1 and to {LARGEST_SCORE:g}")


def _within(value: Json, low: float, high: float) -> bool:
    return type(value) in (int, float) and low <= value <= high
