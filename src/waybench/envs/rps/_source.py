"""Matches by key."""

from collections.abc import Mapping

from waybench.core import Json, KeyedSource, Option, Stream, UsageError, unknown
from waybench.envs.rps._game import values
from waybench.envs.rps._instance import LARGEST_DRAW, SETTINGS, Match, Pair
from waybench.envs.rps._strategies import FIXED, STRATEGIES

VERSION = 1  # of the generator; part of every item's key
LOWEST_LEVEL, HIGHEST_LEVEL = 1, 3
_LEAD = 0.1  # least difference of the best expected score to the next one, so that it can be found out
_TWENTIETHS = [(rock, paper, 20 - rock - paper) for rock in range(1, 19) for paper in range(1, 20 - rock)]

OPTIONS = (
    Option(
        name="setting",
        default="free",
        choices=("free", *SETTINGS),
        doc="Probabilities and scores: free draws them from the key; basic and different_score are the registered "
        "ones, whose order is drawn.",
    ),
    Option(
        name="opponent",
        default="any",
        doc=f"The opponent, which must belong to the level: {', '.join(STRATEGIES)}; any draws one of the level.",
    ),
    Option(
        name="rate",
        default=0.8,
        low=0.05,
        high=1,
        doc="Rate at which an opponent that is not fixed follows its strategy; otherwise it draws from the "
        "probabilities.",
    ),
)


class RpsSource(KeyedSource[Match]):
    """Matches drawn by key.

    Args:
        key: The set's key.
        level: What the opponent looks at: 1 nothing, 2 the last round, 3 all rounds.
        options: `setting`, `opponent`, `rate`.

    Raises:
        UsageError: For a level or an opponent that does not exist, or if they do not fit each other.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if not LOWEST_LEVEL <= level <= HIGHEST_LEVEL:
            raise UsageError(f"level {level}: give a level of opponents from {LOWEST_LEVEL} to {HIGHEST_LEVEL}")
        super().__init__(key, level, prove)
        self._setting, self._rate = str(options["setting"]), float(options["rate"])
        opponent = str(options["opponent"])
        if opponent != "any" and opponent not in STRATEGIES:
            raise UsageError(unknown("opponent", opponent, ("any", *STRATEGIES)))
        if opponent != "any" and STRATEGIES[opponent].level != level:
            fits = STRATEGIES[opponent].level
            raise UsageError(f"opponent={opponent} belongs to level {fits}, not {level}: use level {fits}")
        fitting = [name for name, strategy in STRATEGIES.items() if strategy.level == level]
        self._opponents = fitting if opponent == "any" else [opponent]

    def instance(self, index: int) -> Match:
        """Return the match of this number."""
        settings = f"{self._setting} {self._rate!r} {' '.join(self._opponents)}"
        rng = Stream("rps", VERSION, self.key, self.level, settings, index)
        (rock, paper, scissors), opponent = self._pairs(rng), rng.choice(self._opponents)
        return Match(
            (rock[0], paper[0], scissors[0]),
            (rock[1], paper[1], scissors[1]),
            opponent,
            0.0 if opponent == FIXED else self._rate,
            rng.below(LARGEST_DRAW),
        )

    def _pairs(self, rng: Stream) -> tuple[Pair, ...]:
        if self._setting != "free":
            pairs = list(SETTINGS[self._setting])
            rng.shuffle(pairs)
            return tuple(pairs)
        while True:
            chances = [share / 20 for share in rng.choice(_TWENTIETHS)]
            wins = [float(1 + rng.below(3)) for _ in chances]
            if sorted(values(chances, wins)[1])[1] >= _LEAD:
                return tuple(zip(chances, wins, strict=True))


def prove(match: Match) -> dict[str, Json]:
    """Return the best choice of the first round as "best", from 1, and how much worse the worst one is as "worst"."""
    best, gaps = values(match.chances, match.wins)
    return {"best": best + 1, "worst": max(gaps)}
