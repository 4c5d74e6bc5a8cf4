"""The metrics that the games of the agent protocol share, and what they are computed from."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import fsum

from waybench.core import End, EpisodeRecord, Json, Metric, Range, TurnRecord, base_wording, outcome_metric
from waybench.smartplay._wording import PROMPT_STYLES


def action_turns(record: EpisodeRecord) -> list[TurnRecord]:
    """Return the turns whose replies had to name an action: one for each step, lost ones included, and no thoughts."""
    thinks = bool(PROMPT_STYLES[base_wording(record.options)].think)
    return list(record.turns[thinks :: 1 + thinks])


def step_turns(turns: Iterable[TurnRecord]) -> Iterator[TurnRecord]:
    """Yield the turns in which a step was made: no thoughts and no lost steps."""
    return (turn for turn in turns if "score" in turn.events)


def steps_of(record: EpisodeRecord) -> list[Mapping[str, Json]]:
    """Return what happened in each step that was made."""
    return [turn.events for turn in step_turns(record.turns)]


def final_score(record: EpisodeRecord) -> float:
    """Return the score after the last step; 0 before the first."""
    steps = steps_of(record)
    return float(steps[-1]["score"]) if steps else 0.0


def agent_metrics(
    score: Metric,
    *game_metrics: Metric,
    steps: Callable[[EpisodeRecord], int],
    reward: Callable[[EpisodeRecord], Range],
) -> tuple[Metric, ...]:
    """Return the metrics of an environment.

    Args:
        score: The score, the headline metric.
        *game_metrics: Further metrics of the game.
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
        *game_metrics,
        Metric(
            name="played",
            of=lambda record: float(len(steps_of(record))),
            title="Steps",
            range=counted,
            better="",
            doc="Number of steps.",
        ),
        Metric(
            name="unnamed",
            of=lambda record: float(sum(turn.events.get("named") is False for turn in record.own_turns)),
            title="No action named",
            range=counted,
            better="lower",
            doc='Steps without a named action; "paper" takes the first action then.',
        ),
        outcome_metric(
            "unparsed",
            'Replies that name no action in "paper", or not exactly one in "sound", where the step is lost.',
            most=steps,
        ),
    )
