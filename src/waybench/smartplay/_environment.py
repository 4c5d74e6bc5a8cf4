"""What environments of the agent protocol share: their options, their metrics, and how they are played."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from math import fsum
from typing import Any

from waybench.core import End, EpisodeRecord, Json, Limits, Metric, Option, Play, Range, TurnRecord, outcome_metric
from waybench.smartplay._game import AgentGame, Choice, Scene
from waybench.smartplay._rules import Rules
from waybench.smartplay._wording import MANNERS, AgentWording

Make = Callable[[str], Rules[Any, Any]]  # protocol -> rules
Bounds = tuple[float, float]

TYPED_HELP = "Type a thought or the name of an action, as you are asked; in protocol=sound its number will do, too."


def agent_options(*, history: int, steps: int | None) -> tuple[Option, ...]:
    """Return the options of play.

    Args:
        history: Number of past observations that are shown (Table 1).
        steps: Most steps of an episode (Table 1); None if that depends on the instance.
    """
    return (
        Option(
            name="protocol",
            default="paper",
            choices=("paper", "sound"),
            doc='"paper": the first name of an action in a reply counts, and without any the first action is taken, as '
            'published; "sound": a reply has to name exactly one action, or the step is lost.',
        ),
        Option(
            name="wording",
            default="two_questions",
            choices=tuple(MANNERS),
            doc="two_questions: a thought, then the action, as in the paper; code: the same in the published program's "
            "words; one_question: the action alone; chat: a growing chat in place of a history.",
        ),
        Option(name="history", default=history, low=0, high=10_000, doc="Past observations that are shown."),
        Option(
            name="steps",
            default=steps,
            kind=None if steps is not None else int,
            low=1,
            high=100_000,
            doc="Most steps of an episode" + ("." if steps is not None else "; if not given, as published."),
        ),
    )


def agent_play(
    make: Make, cap: Callable[[Any], int], reward: Bounds | Callable[[int | None], Bounds]
) -> Callable[[Mapping[str, Json]], Any]:
    """Return the function that makes of resolved options how an episode is played.

    Args:
        make: Protocol -> the game's rules and words.
        cap: Instance -> most steps, where the option `steps` does not say it.
        reward: Smallest and largest sum of rewards of an episode, or a function that gives them for most steps (None
            if these depend on the instance).
    """

    @lru_cache(maxsize=64)
    def made(protocol: str, wording: str, history: int, steps: int | None) -> Play[Any, Any, Any]:
        rules, manner = make(protocol), MANNERS[wording]
        thinks = bool(manner.think)
        bounds = reward(steps) if callable(reward) else reward
        game: AgentGame[Any, Any] = AgentGame(rules, 0 if manner.chats else history, thinks=thinks, reward=bounds)
        words: AgentWording[Any, Any] = AgentWording(rules, manner, published=protocol == "paper")

        def turns(instance: Any) -> int:
            return (1 + thinks) * (cap(instance) if steps is None else steps)

        return Play(game, words, Limits(turns=1), turns=turns)

    def play(options: Mapping[str, Json]) -> Play[Any, Any, Any]:
        return made(options["protocol"], options["wording"], int(options["history"]), options["steps"])

    return play


def agent_typed(make: Make) -> Callable[[str, Scene[Any, Any]], Choice | None]:
    """Return what a person can type in place of an action's name: its number in the list.

    Args:
        make: Protocol -> the game's rules and words.
    """
    rules = make("sound")

    def typed(text: str, state: Scene[Any, Any]) -> Choice | None:
        listed = range(1, len(rules.actions(state.instance)) + 1)
        return next((Choice(number - 1) for number in listed if text.strip() == str(number)), None)

    return typed


def action_turns(record: EpisodeRecord) -> list[TurnRecord]:
    """Return the turns whose replies had to name an action: one for each step, lost ones included, and no thoughts."""
    thinks = bool(MANNERS[record.options["wording"]].think)
    return list(record.turns[thinks :: 1 + thinks])


def steps_of(record: EpisodeRecord) -> list[Mapping[str, Json]]:
    """Return what happened in each step that was made, thoughts and lost steps left out."""
    return [turn.events for turn in record.turns if "score" in turn.events]


def final_score(record: EpisodeRecord) -> float:
    """Return the score after the last step; 0 before the first."""
    made = steps_of(record)
    return float(made[-1]["score"]) if made else 0.0


def agent_metrics(
    score: Metric,
    *own: Metric,
    steps: Callable[[EpisodeRecord], int],
    reward: Callable[[EpisodeRecord], Range],
) -> tuple[Metric, ...]:
    """Return the metrics of an environment.

    Args:
        score: The score, the headline metric.
        *own: Further metrics of the game.
        steps: EpisodeRecord -> most steps of the episode.
        reward: EpisodeRecord -> the least and the greatest sum of rewards.
    """

    def counted(record: EpisodeRecord) -> Range:
        return 0, steps(record)

    return (
        score,
        Metric(
            name="reward",
            of=lambda record: fsum(turn.reward for turn in record.turns),
            title="Reward",
            range=reward,
            doc="Sum of the rewards of all steps (section 4.2).",
        ),
        Metric(
            name="completed",
            of=lambda record: float(record.end is End.SOLVED),
            title="Completed",
            low=0,
            high=1,
            doc="Whether the game was completed; games without an end never are (section 4.2).",
        ),
        *own,
        Metric(
            name="played",
            of=lambda record: float(len(steps_of(record))),
            title="Steps",
            range=counted,
            better="",
            doc="Steps that were made.",
        ),
        Metric(
            name="unnamed",
            of=lambda record: float(sum(events["named"] is False for events in steps_of(record))),
            title="No action named",
            range=counted,
            better="lower",
            doc='Steps in which no action was named, so that in "paper" the first one was taken.',
        ),
        outcome_metric(
            "unparsed",
            'Replies that name no action in "paper", or not exactly one in "sound", where the step is lost.',
            most=steps,
        ),
    )
