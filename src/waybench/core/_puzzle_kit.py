"""Environments of a puzzle that is solved step by step (`puzzle_environment`)."""

from collections.abc import Callable, Mapping

from waybench.core._choices import ChoiceGame, ChoiceWording, choice_typing
from waybench.core._datasets import HorizonSpec
from waybench.core._environment import Environment
from waybench.core._game import End, Json, Limits, S, Stream
from waybench.core._metrics import Metric, proof_axis
from waybench.core._parts import Difficulty, Items, Players, Playing, Scoring
from waybench.core._play import Option, Play
from waybench.core._presentation import Presentation
from waybench.core._question_kit import DrawnSource, Q
from waybench.core._record import EpisodeRecord
from waybench.core._solutions import DEAD_END, Solutions


def puzzle_environment(
    solutions: Solutions[Q, S, str],
    wording: ChoiceWording[Q, S],
    draw: Callable[[Stream, int], Q],
    level_of: Callable[[Q], int],
    *,
    id: str,
    title: str,
    about: str,
    sample_levels: tuple[int, ...],
    highest_level: int,
    public_key: str,
    turns: int,
    level: str,
    item: str,
    horizon: tuple[int, ...],
    version: int = 1,
) -> Environment[Q, S, str]:
    """Return the environment of a puzzle whose actions have names and whose best solutions are known.

    The score is the turns of a shortest solution as a share of the player's, and an item's proof has them as
    "minimum". The heuristic player errs in a quarter of its turns, and failures after a dead end are told apart. Take
    its parts apart with `dataclasses.replace` to change any of them.

    Args:
        solutions: The best solutions by number of actions, such as `Searched(game, decode)` of a `ChoiceGame`; `decode`
            refuses with a `DataError` what cannot be solved.
        wording: The words.
        draw: (stream of random numbers, level) -> an instance of this level that can be solved.
        level_of: Instance -> its level.
        id: "family/variant".
        title: Its name for people.
        about: What it measures and how.
        sample_levels: A few levels for tests and demonstrations, the easiest of all first.
        highest_level: The hardest level.
        public_key: The key of its public set.
        turns: Most turns.
        level: What the level counts, in the plural if it counts something: "moves".
        item: What an item is called: "room".
        horizon: The levels on which a model's horizon is searched for, by the turns of shortest solutions.
        version: Raised whenever a score can move.

    Raises:
        TypeError: If the game of the solutions is no `ChoiceGame`.
    """
    game = solutions.game
    if not isinstance(game, ChoiceGame):
        raise TypeError(f"{type(game).__name__} is no ChoiceGame")

    def prove_minimum(instance: Q) -> dict[str, Json]:
        return {"minimum": solutions.remaining(game.start(instance))}

    def play_with_options(options: Mapping[str, Json]) -> Play[Q, S, str]:
        return Play(game, wording, Limits(turns=int(options["turns"])))

    score = Metric(
        name="score",
        of=_solution_efficiency,
        title="Score",
        doc="Turns of a shortest solution by turns; 0 if failed.",
        low=0,
        high=1,
    )
    return Environment(
        id=id,
        version=version,
        title=title,
        about=about,
        items=Items(
            sample_levels=sample_levels,
            highest_level=highest_level,
            public_key=public_key,
            make_source=lambda key, level, options: DrawnSource(id, draw, level_of, key, level, prove_minimum),
            decode=solutions.decode,
            level_of=level_of,
            prove=prove_minimum,
        ),
        playing=Playing(
            play=play_with_options,
            options=(Option(name="turns", default=turns, low=1, high=turns, doc="Maximum number of turns."),),
            texts=wording.tables,
        ),
        scoring=Scoring(
            metrics=(score,),
            failures=(DEAD_END,),
            failure=solutions.failure,
            first_errors=solutions.first_errors,
        ),
        difficulty=Difficulty(
            axes=(proof_axis("minimum", "Shortest solution", "Turns of a shortest solution."),),
            success="the item is solved in at most twice the turns of a shortest solution",
            competent=lambda record: _solution_efficiency(record) >= 0.5,  # a random player seldom counts
            horizon=HorizonSpec(levels=horizon),
        ),
        players=Players(
            policies={"oracle": solutions.oracle, "heuristic": solutions.erring(0.25)},
            oracle_is_ceiling=lambda record: True,
        ),
        typing=choice_typing(game.actions),
        presentation=Presentation(level=level, levels=level, item=item, metrics=("score",)),
    )


def _solution_efficiency(record: EpisodeRecord) -> float:
    """Return the turns of a shortest solution divided by the player's; 0 if the puzzle is not solved."""
    return float(record.proof["minimum"]) / len(record.turns) if record.end is End.SOLVED else 0.0
