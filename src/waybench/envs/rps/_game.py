"""Rock Paper Scissors: matches, strategies of opponents, rules, wording, players and sets by key."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from waybench.core import DataError, Instance, Json, KeyedSource, Option, Stream, UsageError, unknown_name_message
from waybench.envs.smartplay import ActionEffect, Rules, best_action_and_gaps, field_values, is_within


def winning_choice(choice: int) -> int:
    """Return the choice that beats a choice."""
    return (choice + 1) % 3


@dataclass(frozen=True, slots=True)
class Strategy:
    """An opponent's way to choose.

    Attributes:
        level: What the opponent looks at: 1 nothing, 2 the last round, 3 all rounds.
        choose: (the player's last choice, the opponent's last choice, how often the player made each choice) -> the
            opponent's next choice.
        doc: What the opponent does, as the end of a sentence.
    """

    level: int
    choose: Callable[[int, int, Sequence[int]], int]
    doc: str


FIXED = "fixed"
STRATEGIES = {
    FIXED: Strategy(1, lambda player, opponent, counts: opponent, "draws every choice from the same probabilities"),
    "copy_last": Strategy(2, lambda player, opponent, counts: player, "repeats the player's last choice"),
    "beat_last": Strategy(
        2, lambda player, opponent, counts: winning_choice(player), "chooses what beats the player's last choice"
    ),
    "win_stay": Strategy(
        2,
        lambda player, opponent, counts: winning_choice(player) if player == winning_choice(opponent) else opponent,
        "keeps its choice unless it has lost, and then chooses what would have won",
    ),
    "cycle": Strategy(
        2,
        lambda player, opponent, counts: winning_choice(opponent),
        "chooses what beats its own last choice: Rock, Paper, Scissors",
    ),
    "frequency": Strategy(
        3,
        lambda player, opponent, counts: winning_choice(counts.index(max(counts))),
        "chooses what beats the player's most frequent choice, the first in the list of several",
    ),
}


LARGEST_SCORE = 1_000.0
LARGEST_DRAW = 2**53

Three = tuple[float, float, float]  # a number for each choice: Rock, Paper, Scissors
ChanceAndWin = tuple[float, float]  # of a choice: the opponent's probability of making it, and the score of a win

# The registered settings (shared/specs/smartplay.md, 2) by our names.
SETTINGS: dict[str, tuple[ChanceAndWin, ...]] = {
    "basic": ((0.2, 1.0), (0.2, 1.0), (0.6, 1.0)),
    "different_score": ((0.3, 1.0), (0.3, 2.0), (0.4, 1.0)),
}
PUBLISHED = {"basic": "RockPaperScissorBasic", "different_score": "RockPaperScissorDifferentScore"}


@dataclass(frozen=True, slots=True)
class Match(Instance):
    """An opponent, and the scores.

    Attributes:
        chances: The probabilities of the opponent's choices where it does not follow its strategy, as in the first
            round and always if it is "fixed". Their sum is 1.
        wins: What a win with Rock, Paper and Scissors is worth; a loss costs as much.
        opponent: A name in `STRATEGIES`.
        rate: The probability that the opponent follows its strategy in a round, from the second round on; 0 if it is
            "fixed".
        draw: A number that tells apart instances with the same opponent but other random results.
    """

    chances: Three
    wins: Three
    opponent: str = FIXED
    rate: float = 0.0
    draw: int = 0

    @property
    def level(self) -> int:
        return STRATEGIES[self.opponent].level

    @property
    def setting(self) -> str | None:
        """The name of the registered setting with these numbers, in any order; None without such a setting."""
        if self.opponent != FIXED:
            return None
        pairs = sorted(zip(self.chances, self.wins, strict=True))
        return next((name for name, registered in SETTINGS.items() if sorted(registered) == pairs), None)

    def canonical(self) -> str:
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
    """Read what `Match.to_json` wrote; raise DataError for anything else."""
    chance_data, win_data, opponent, rate, draw = field_values(
        data,
        ("chances", "wins", "opponent", "rate", "draw"),
        "instance: give an object with chances, wins, opponent, rate and draw",
    )
    if not isinstance(opponent, str) or opponent not in STRATEGIES:
        raise DataError(f"instance: opponent is one of {', '.join(STRATEGIES)}")
    if not is_within(rate, 0, 1) or (rate > 0) == (opponent == FIXED):
        raise DataError("instance: rate is 0 if the opponent is fixed, and otherwise a number above 0, up to 1")
    if type(draw) is not int or not 0 <= draw < LARGEST_DRAW:
        raise DataError("instance: draw is a whole number from 0 to 2**53 - 1")
    chances, wins = _read_three(chance_data, 1.0), _read_three(win_data, LARGEST_SCORE)
    if abs(sum(chances) - 1) > 1e-9:
        raise DataError("instance: the sum of the chances is not 1")
    if min(wins) == 0:
        raise DataError("instance: a win must be worth more than 0")
    return Match(chances, wins, opponent, float(rate), draw)


def _read_three(data: Json, high: float) -> Three:
    """Return three numbers from 0 to `high`; raise DataError for anything else."""
    match data:
        case [rock, paper, scissors] if all(is_within(value, 0, high) for value in (rock, paper, scissors)):
            return float(rock), float(paper), float(scissors)
        case _:
            raise DataError(f"instance: chances and wins are three numbers each, from 0 to 1 and to {LARGEST_SCORE:g}")


# Protocol text: the published program's. {wins} are the scores in the order in which the lines are filled.
MANUAL = """\
For the game Rock Paper Scissors, you and the opponent choose one of three options: rock, paper, or scissors.
After both players have chosen, the winner is determined as follows:
Rock crushes scissors (Rock wins, score {wins[0]:g})
Scissors cut paper (Scissors win, score {wins[1]:g})
Paper covers rock (Paper wins, score {wins[2]:g})
If you lose, your score is the negative of the winner's score.
If both players choose the same option, it's a draw (score 0).
Your goal is to maximize your score."""
BEGIN = "New round begins."
PLAYED = (
    "You chose {mine}, and the opponent chose {theirs}. You {result} and received score {reward:g}.\nNew round begins."
)
RESULTS = ("tied", "won", "lost")  # by (mine - theirs) % 3
NAMES = ("Rock", "Paper", "Scissor")

SOUND_NAMES = ("Rock", "Paper", "Scissors")  # as the manual calls it


class Rounds(NamedTuple):
    """The match after some rounds.

    Attributes:
        chances: The probabilities of the opponent's next choice.
        best: The choice with the highest expected score against these probabilities; the first of several.
        gaps: How much less the expected score of each choice is than that of the best.
        player_counts: How often the player made each choice.
        opponent_counts: How often the opponent made each choice.
        replies: How often the opponent made each choice after each kind of round, at the index 9 * player's choice +
            3 * opponent's choice + opponent's next choice.
        score: Rounds in which the best choice was made.
        last: The player's last choice and the opponent's; None at the start.
        reward: The player's score in the last round.
    """

    match: Match
    chances: Three
    best: int
    gaps: tuple[float, ...]
    player_counts: tuple[int, int, int] = (0, 0, 0)
    opponent_counts: tuple[int, int, int] = (0, 0, 0)
    replies: tuple[int, ...] = (0,) * 27
    score: int = 0
    last: tuple[int, int] | None = None
    reward: float = 0.0


def best_choice_and_gaps(chances: Sequence[float], wins: Sequence[float]) -> tuple[int, tuple[float, ...]]:
    """Return the best choice against an opponent's probabilities, and how much less each choice is worth.

    A win is worth the score of the player's choice, and a defeat costs that of the opponent's choice.
    """
    rock, paper, scissors = chances
    rock_win, paper_win, scissors_win = wins
    return best_action_and_gaps(
        (
            rock_win * scissors - paper_win * paper,
            paper_win * rock - scissors_win * scissors,
            scissors_win * paper - rock_win * rock,
        )
    )


class RpsRules(Rules[Match, Rounds]):
    """In each round the player and the opponent choose at once; the game never ends by itself.

    Events: `theirs`, the opponent's choice; `optimal`, whether the player's was the best one, given the opponent's
    probabilities in this round; `regret`, how much less the expected score of the player's choice was.

    Args:
        published: Whether the manual shows the scores of Paper and Scissors in each other's line, and the third action
            is called Scissor, as in the published program.
    """

    deterministic = False

    def __init__(self, *, published: bool) -> None:
        super().__init__(published=published)
        self._names = NAMES if published else SOUND_NAMES
        self._choice_by_line = (0, 1, 2) if published else (0, 2, 1)  # whose score each line of the manual shows

    def begin(self, instance: Match) -> Rounds:
        return Rounds(instance, instance.chances, *best_choice_and_gaps(instance.chances, instance.wins))

    def actions(self, instance: Match) -> Sequence[str]:
        return self._names

    def step(self, world: Rounds, action: int, rng: Stream) -> ActionEffect[Rounds]:
        rock, paper, _ = world.chances
        number = rng.random()
        opponent = 0 if number < rock else 1 if number < rock + paper else 2
        after = play_round(world, action, opponent)
        events = {"theirs": opponent, "optimal": action == world.best, "regret": world.gaps[action]}
        return ActionEffect(after, after.reward, events)

    def score(self, world: Rounds) -> float:
        return world.score

    def manual(self, instance: Match) -> str:
        """Return the manual, which says nothing of the opponent's strategy."""
        return MANUAL.format(wins=[instance.wins[choice] for choice in self._choice_by_line])

    def observe(self, world: Rounds) -> str:
        if world.last is None:
            return BEGIN
        choice, opponent = world.last
        return _played_text(self._names[choice], self._names[opponent], RESULTS[(choice - opponent) % 3], world.reward)


def play_round(world: Rounds, action: int, their_choice: int) -> Rounds:
    """Return the match after a round with these choices of the player and of the opponent."""
    match, chances, best, gaps, player_counts, opponent_counts, replies, score, last, _ = world
    result = RESULTS[(action - their_choice) % 3]
    reward = match.wins[action] if result == "won" else -match.wins[their_choice] if result == "lost" else 0.0
    score += action == best
    player_counts, opponent_counts = _with_choice(player_counts, action), _with_choice(opponent_counts, their_choice)
    if last is not None:
        index = 9 * last[0] + 3 * last[1] + their_choice
        replies = replies[:index] + (replies[index] + 1,) + replies[index + 1 :]  # noqa: RUF005  unpacking takes longer
    if match.opponent != FIXED:
        chances = _choice_probabilities(match, STRATEGIES[match.opponent].choose(action, their_choice, player_counts))
        best, gaps = best_choice_and_gaps(chances, match.wins)
    last = action, their_choice
    return Rounds._make((match, chances, best, gaps, player_counts, opponent_counts, replies, score, last, reward))


@lru_cache(maxsize=256)  # a match has nine such texts
def _played_text(player: str, opponent: str, result: str, reward: float) -> str:
    return PLAYED.format(mine=player, theirs=opponent, result=result, reward=reward)


def _with_choice(counts: tuple[int, int, int], choice: int) -> tuple[int, int, int]:
    """Return counts of choices with one more of a choice."""
    rock, paper, scissors = counts
    return rock + (choice == 0), paper + (choice == 1), scissors + (choice == 2)


def _choice_probabilities(match: Match, planned: int) -> Three:
    """Return the probabilities of an opponent that makes the choice it plans at its rate."""
    rate = match.rate
    rock, paper, scissors = ((1 - rate) * chance for chance in match.chances)
    return rock + rate * (planned == 0), paper + rate * (planned == 1), scissors + rate * (planned == 2)


def oracle(match: Match, world: Rounds, rng: Stream) -> int:
    """Make the choice with the highest expected score against what the opponent is about to do, which it knows."""
    return world.best


def learner(match: Match, world: Rounds, rng: Stream) -> int:
    """Learn the opponent's frequencies: the best response to how often it has made each choice, plus once each."""
    return _best_response(world.opponent_counts, match)


def predictor(match: Match, world: Rounds, rng: Stream) -> int:
    """Learn how the opponent follows up: the best response to what it has done after such a last round, plus once each.

    This predicts opponents of level 2.
    """
    if world.last is None:
        return learner(match, world, rng)
    start = 9 * world.last[0] + 3 * world.last[1]
    return _best_response(world.replies[start : start + 3], match)


def _best_response(counts: Sequence[int], match: Match) -> int:
    """Return the best choice against the frequencies of counts, plus one each."""
    round_count = sum(counts) + len(counts)
    return best_choice_and_gaps([(count + 1) / round_count for count in counts], match.wins)[0]


def beat_last(match: Match, world: Rounds, rng: Stream) -> int:
    """Choose what beats the opponent's last choice."""
    return 0 if world.last is None else winning_choice(world.last[1])


PLAYERS = {"oracle": oracle, "learner": learner, "predictor": predictor, "heuristic": beat_last}


VERSION = 1  # of the generator; part of every item's key
LOWEST_LEVEL, HIGHEST_LEVEL = 1, 3
_LEAD = 0.1  # least difference of the best expected score to the next one, so that players can find it out
# All probabilities of the three choices in steps of 1/20.
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
    """Matches drawn by key. The level is what the opponent looks at: 1 nothing, 2 the last round, 3 all rounds.

    UsageError for a level or an opponent that does not exist, or if they do not fit each other.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if not LOWEST_LEVEL <= level <= HIGHEST_LEVEL:
            raise UsageError(f"level {level}: give a level of opponents from {LOWEST_LEVEL} to {HIGHEST_LEVEL}")
        super().__init__(key, level, prove)
        self._setting, self._rate = str(options["setting"]), float(options["rate"])
        opponent = str(options["opponent"])
        if opponent != "any" and opponent not in STRATEGIES:
            raise UsageError(unknown_name_message("opponent", opponent, ("any", *STRATEGIES)))
        if opponent != "any" and STRATEGIES[opponent].level != level:
            its_level = STRATEGIES[opponent].level
            raise UsageError(f"opponent={opponent} belongs to level {its_level}, not {level}: use level {its_level}")
        names_of_level = [name for name, strategy in STRATEGIES.items() if strategy.level == level]
        self._opponents = names_of_level if opponent == "any" else [opponent]

    def instance(self, index: int) -> Match:
        settings = f"{self._setting} {self._rate!r} {' '.join(self._opponents)}"
        rng = Stream("rps", VERSION, self.key, self.level, settings, index)
        (rock, rock_win), (paper, paper_win), (scissors, scissors_win) = self._draw_chances_and_wins(rng)
        opponent = rng.choice(self._opponents)
        rate = 0.0 if opponent == FIXED else self._rate
        chances, wins = (rock, paper, scissors), (rock_win, paper_win, scissors_win)
        return Match(chances, wins, opponent, rate, rng.below(LARGEST_DRAW))

    def _draw_chances_and_wins(self, rng: Stream) -> tuple[ChanceAndWin, ...]:
        """Draw (the opponent's probability, score of a win) of each choice."""
        if self._setting != "free":
            pairs = list(SETTINGS[self._setting])
            rng.shuffle(pairs)
            return tuple(pairs)
        while True:
            chances = [share / 20 for share in rng.choice(_TWENTIETHS)]
            wins = [float(1 + rng.below(3)) for _ in chances]
            _, gaps = best_choice_and_gaps(chances, wins)
            second_gap = sorted(gaps)[1]  # the smallest gap, 0, is that of the best choice
            if second_gap >= _LEAD:
                return tuple(zip(chances, wins, strict=True))


def prove(match: Match) -> dict[str, Json]:
    """Return the best choice of the first round as "best", from 1, and the regret of the worst one as "worst"."""
    best, gaps = best_choice_and_gaps(match.chances, match.wins)
    return {"best": best + 1, "worst": max(gaps)}
