"""The rules and the words of the game (SmartPlay, section 3.3 and appendix C.2; shared/specs/smartplay.md, 4)."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from waybench.core import Stream
from waybench.envs.rps._instance import Match, Three
from waybench.envs.rps._strategies import FIXED, STRATEGIES
from waybench.smartplay import Rules, Step, best_of

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
        match: The instance.
        chances: The probabilities of the opponent's next choice.
        best: Which choice has the highest expected score against it; the first of several.
        gaps: How much less the expected score of each is.
        mine: How often the player has chosen each.
        theirs: How often the opponent has.
        replies: How often each choice of the opponent has followed each last round: 9 times mine, 3 times theirs.
        score: Rounds in which the best choice was made.
        last: The player's last choice and the opponent's; None at the start.
        reward: What came of it.
    """

    match: Match
    chances: Three
    best: int
    gaps: tuple[float, ...]
    mine: tuple[int, int, int] = (0, 0, 0)
    theirs: tuple[int, int, int] = (0, 0, 0)
    replies: tuple[int, ...] = (0,) * 27
    score: int = 0
    last: tuple[int, int] | None = None
    reward: float = 0.0


def values(chances: Sequence[float], wins: Sequence[float]) -> tuple[int, tuple[float, ...]]:
    """Return the best choice against an opponent's probabilities, and how much less each is worth.

    A win is worth the score of one's own choice, and a defeat takes away that of the opponent's.
    """
    rock, paper, scissors = chances
    of_rock, of_paper, of_scissors = wins
    return best_of(
        (
            of_rock * scissors - of_paper * paper,
            of_paper * rock - of_scissors * scissors,
            of_scissors * paper - of_rock * rock,
        )
    )


class RpsRules(Rules[Match, Rounds]):
    """Each round both choose at once; it never ends by itself.

    Events: `theirs`, the opponent's choice; `optimal`, whether the player's was the best one, given what the opponent
    was about to do; `regret`, how much less its expected score was.

    Args:
        published: Whether the manual shows the scores of Paper and Scissors in each other's line, and the third action
            is called Scissor, as in the published program.
    """

    deterministic = False

    def __init__(self, *, published: bool) -> None:
        super().__init__(published=published)
        self._names = NAMES if published else SOUND_NAMES
        self._lines = (0, 1, 2) if published else (0, 2, 1)  # whose score each line of the manual shows

    def begin(self, instance: Match) -> Rounds:
        """Return the match before the first round."""
        return Rounds(instance, instance.chances, *values(instance.chances, instance.wins))

    def actions(self, instance: Match) -> Sequence[str]:
        """Return the three choices."""
        return self._names

    def step(self, world: Rounds, action: int, rng: Stream) -> Step[Rounds]:
        """Play a round."""
        rock, paper, _ = world.chances
        number = rng.random()
        theirs = 0 if number < rock else 1 if number < rock + paper else 2
        after = played(world, action, theirs)
        events = {"theirs": theirs, "optimal": action == world.best, "regret": world.gaps[action]}
        return Step(after, after.reward, events)

    def score(self, world: Rounds) -> float:
        """Return the number of rounds in which the best choice was made."""
        return world.score

    def manual(self, instance: Match) -> str:
        """Return the manual; it does not tell what the opponent does."""
        return MANUAL.format(wins=[instance.wins[choice] for choice in self._lines])

    def observe(self, world: Rounds) -> str:
        """Return how the last round went."""
        if world.last is None:
            return BEGIN
        mine, theirs = world.last
        return _played_text(self._names[mine], self._names[theirs], RESULTS[(mine - theirs) % 3], world.reward)


def played(world: Rounds, action: int, their_choice: int) -> Rounds:
    """Return the match after a round in which both have made their choice."""
    match, chances, best, gaps, mine, theirs, replies, score, last, _ = world
    result = (action - their_choice) % 3
    reward = match.wins[action] if result == 1 else -match.wins[their_choice] if result else 0.0
    score += action == best
    mine, theirs = _with_choice(mine, action), _with_choice(theirs, their_choice)
    if last is not None:
        place = 9 * last[0] + 3 * last[1] + their_choice
        replies = (*replies[:place], replies[place] + 1, *replies[place + 1 :])
    if match.opponent != FIXED:
        chances = _chances(match, STRATEGIES[match.opponent].choose(action, their_choice, mine))
        best, gaps = values(chances, match.wins)
    return Rounds(match, chances, best, gaps, mine, theirs, replies, score, (action, their_choice), reward)


@lru_cache(maxsize=256)  # a match has nine of them
def _played_text(mine: str, theirs: str, result: str, reward: float) -> str:
    return PLAYED.format(mine=mine, theirs=theirs, result=result, reward=reward)


def _with_choice(counts: tuple[int, int, int], choice: int) -> tuple[int, int, int]:
    rock, paper, scissors = counts
    return rock + (choice == 0), paper + (choice == 1), scissors + (choice == 2)


def _chances(match: Match, planned: int) -> Three:
    """Return the probabilities of an opponent that mostly makes the choice it plans."""
    rock, paper, scissors = ((1 - match.rate) * chance for chance in match.chances)
    rate = match.rate
    return rock + rate * (planned == 0), paper + rate * (planned == 1), scissors + rate * (planned == 2)
