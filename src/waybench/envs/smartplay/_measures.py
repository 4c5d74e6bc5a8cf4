"""What is measured of agents: metrics, scores on common scales, learning curves and failures."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from math import fsum
from typing import Any, NamedTuple

from waybench._package_data import read_toml
from waybench.core import (
    NO_ANSWER,
    TURN_LIMIT,
    UNPARSED,
    End,
    EpisodeRecord,
    FailureKind,
    Json,
    Metric,
    Range,
    ReferenceScores,
    Scoring,
    Series,
    TurnRecord,
    base_wording_name,
    general_failure_kind,
    outcome_metric,
)
from waybench.envs.smartplay._wording import PROMPT_STYLES


def action_turns(record: EpisodeRecord) -> list[TurnRecord]:
    """Return the turns that had to name an action, lost steps included: one for each step, no thoughts."""
    thinks = bool(PROMPT_STYLES[base_wording_name(record.options)].think)
    return list(record.turns[1::2] if thinks else record.turns)  # a thought comes before each action


def step_turns(turns: Iterable[TurnRecord]) -> Iterator[TurnRecord]:
    """Yield the turns with a step of the world: no thoughts and no lost steps."""
    return (turn for turn in turns if "score" in turn.events)


def step_events(record: EpisodeRecord) -> list[Mapping[str, Json]]:
    """Return the events of each step that was made."""
    return [turn.events for turn in step_turns(record.turns)]


def final_score(record: EpisodeRecord) -> float:
    """Return the score after the last step; 0 before the first."""
    steps = step_events(record)
    return float(steps[-1]["score"]) if steps else 0.0


def agent_metrics(
    score: Metric,
    *game_metrics: Metric,
    steps: Callable[[EpisodeRecord], int],
    reward: Callable[[EpisodeRecord], Range],
) -> tuple[Metric, ...]:
    """Return the metrics of a game of the agent protocol.

    Args:
        score: The score, the headline metric.
        *game_metrics: Further metrics of the game.
        steps: EpisodeRecord -> most steps of the episode.
        reward: EpisodeRecord -> the least and the greatest sum of rewards.
    """

    def step_range(record: EpisodeRecord) -> Range:
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
            of=lambda record: float(len(step_events(record))),
            title="Steps",
            range=step_range,
            better="",
            doc="Number of steps.",
        ),
        Metric(
            name="unnamed",
            of=lambda record: float(sum(turn.events.get("named") is False for turn in record.own_turns)),
            title="No action named",
            range=step_range,
            better="lower",
            doc='Steps without a named action; "paper" takes the first action then.',
        ),
        outcome_metric(
            "unparsed",
            'Replies that name no action in "paper", or not exactly one in "sound", where the step is lost.',
            max_turns=steps,
        ),
    )


Scale = tuple[float, float]  # the scores that are 0 and 1 on it


class Baseline(NamedTuple):
    """The published scores of a setting."""

    name: str  # short, for charts
    human: float  # the mean score of people
    least: float  # the least score possible
    steps: int  # most steps of an episode


HUMANS = {setting: Baseline(**fields) for setting, fields in read_toml(__file__, "published.toml")["humans"].items()}


def human_metric(
    setting: Callable[[EpisodeRecord], str | None],
    scores: Callable[[EpisodeRecord], Range],
    score: Callable[[EpisodeRecord], float] = final_score,
    *,
    far_bounds: bool = False,
) -> Metric:
    """Return the metric of the human-normalised score.

    Args:
        setting: EpisodeRecord -> the published name of its setting; None if its setting is not a registered one.
        scores: EpisodeRecord -> the range of its score.
        score: EpisodeRecord -> its score.
        far_bounds: Whether no player comes near the greatest score.
    """

    def human_scale(record: EpisodeRecord) -> Scale | None:
        baseline, steps = HUMANS.get(setting(record) or ""), record.options["steps"]
        if baseline is None or steps not in (None, baseline.steps):  # None is the default, as published
            return None
        return baseline.least, baseline.human

    metric = Metric(
        name="human",
        of=score,
        title="Human-normalised score",
        range=scores,
        far_bounds=far_bounds,
        doc="(score - min) / (human - min) with the published human scores (appendix D; its formula is printed "
        "with human - score, which would give 0 for people). Only for settings and numbers of steps with published "
        "human scores.",
    )
    return _rescaled_metric(metric, human_scale)


def scaled_metric(
    expected: Callable[[EpisodeRecord], Scale | None],
    players: str,
    scores: Callable[[EpisodeRecord], Range],
    score: Callable[[EpisodeRecord], float] = final_score,
) -> Metric:
    """Return the metric of the score on a scale from a random player's to the optimal one's.

    Args:
        expected: EpisodeRecord -> expected scores of the random and of the optimal player on the same instance with the
            same number of steps; None where they are not known or equal.
        players: A sentence that says what the random and the optimal player do.
        scores: EpisodeRecord -> the range of its score.
        score: EpisodeRecord -> its score.
    """
    metric = Metric(
        name="scaled",
        of=score,
        title="Oracle-normalised score",
        range=scores,
        doc="(score - random) / (oracle - random) with the expected scores of a random and of the optimal player on "
        f"this very instance: 0 is chance level, 1 the best expected score. {players}",
    )
    return _rescaled_metric(metric, expected)


def _rescaled_metric(metric: Metric, scale: Callable[[EpisodeRecord], Scale | None]) -> Metric:
    """Return a metric on a scale, undefined and with an open range for records without a scale."""
    score, scores = metric.of, metric.range
    assert scores is not None

    def value_on_scale(score: float | None, scale: Scale | None) -> float | None:
        if score is None or scale is None:
            return None
        zero, one = scale
        return (score - zero) / (one - zero)

    def score_on_scale(record: EpisodeRecord) -> float | None:
        return value_on_scale(score(record), scale(record))

    def range_on_scale(record: EpisodeRecord) -> Range:
        (low, high), scale_of_record = scores(record), scale(record)
        return value_on_scale(low, scale_of_record), value_on_scale(high, scale_of_record)

    return replace(metric, of=score_on_scale, range=range_on_scale)


def best_action_and_gaps(values: Sequence[float]) -> tuple[int, tuple[float, ...]]:
    """Return the first action with the highest value, and by how much the value of each action is lower."""
    highest = max(values)
    return values.index(highest), tuple(highest - value for value in values)


def symmetric_reward_range(stake: float, default_steps: int) -> Callable[[int | None], tuple[float, float]]:
    """Return the function from most steps to the range of rewards, if each step wins or loses a stake."""
    return lambda steps: (-stake * (steps or default_steps), stake * (steps or default_steps))


def learning_scoring(
    best: str,
    decode: Callable[[Json], Any],
    published: Mapping[str, str],
    actions: Callable[[EpisodeRecord], int],
    players: str,
    stake: Callable[[EpisodeRecord], float],
    *,
    has_chance_scores: bool = False,
) -> Scoring:
    """Return metrics and series of a game of chance in which steps with the best action count.

    Args:
        best: What the best action is, as the end of a sentence.
        decode: JSON -> instance, whose `setting` is a name or None.
        published: Setting -> its published name, for registered settings.
        actions: EpisodeRecord -> number of actions.
        players: A sentence with the scores of a random and of the optimal player.
        stake: EpisodeRecord -> what a step wins or loses at most.
        has_chance_scores: Whether the scores of random and of best actions are the game's reference scores.
    """

    def setting(record: EpisodeRecord) -> str | None:
        return published.get(decode(record.instance).setting or "")

    def steps(record: EpisodeRecord) -> int:
        return record.options["steps"]

    def scores(record: EpisodeRecord) -> Range:
        return 0, steps(record)

    def reward(record: EpisodeRecord) -> Range:
        largest_sum = stake(record) * steps(record)
        return -largest_sum, largest_sum

    def regret_range(record: EpisodeRecord) -> Range:
        return 0, 2 * stake(record) * steps(record)  # the best action could win as much as another one loses

    score = Metric(
        name="score",
        of=final_score,
        title="Score",
        low=0,
        range=scores,
        ceiling=lambda record: float(steps(record)),
        doc=f"Steps in which the action was {best} (section 4.2).",
    )

    def chance_and_best_scores(record: EpisodeRecord) -> tuple[float, float]:
        """Return the expected scores of random and of best actions.

        With k actions a random choice is the best one in 1/k of the steps. A constant reply is no better: before
        anything is learned each action is as likely to be the best one.
        """
        most = float(steps(record))
        return most / actions(record), most

    def reference_scores(record: EpisodeRecord) -> ReferenceScores:
        chance, best_score = chance_and_best_scores(record)
        return ReferenceScores(chance, {}, best_score, chance=True)

    metrics = agent_metrics(
        score,
        human_metric(setting, scores),
        scaled_metric(chance_and_best_scores, players, scores),
        replace(_REGRET, range=regret_range),
        steps=steps,
        reward=reward,
    )
    return Scoring(
        metrics=metrics,
        series=(_OPTIMAL, replace(_REGRET_SO_FAR, range=regret_range)),
        published_setting=setting,
        reference_scores=reference_scores if has_chance_scores else None,
    )


def _step_regrets(record: EpisodeRecord) -> list[float]:
    """Return the regret of each step; a lost step counts as the worst action."""
    worst_regret = float(record.proof["worst"])
    return [float(turn.events.get("regret", worst_regret)) for turn in action_turns(record)]


_REGRET = Metric(
    name="regret",
    of=lambda record: fsum(_step_regrets(record)),
    title="Regret",
    low=0,
    better="lower",
    doc="Sum over steps of the highest expected reward minus that of the action taken, regardless of luck. A lost "
    "step counts as the worst action at the start.",
)

_OPTIMAL = Series(
    name="optimal",
    of=lambda record: [float(turn.events.get("optimal", False)) for turn in action_turns(record)],
    title="Share of best actions",
    low=0,
    high=1,
    doc="Whether the action was the best one; its mean over episodes, step by step, is the learning curve. A lost "
    "step counts as not the best.",
)
_REGRET_SO_FAR = Series(
    name="regret_so_far",
    of=lambda record: list(accumulate(_step_regrets(record))),
    title="Regret so far",
    low=0,
    better="lower",
    doc="The regret of all steps up to this one.",
)


UNNAMED = FailureKind(
    "unnamed",
    "replies that name no action",
    'In "paper", where such replies take the first action: at least half of the steps, or most replies without effect, '
    "name no action.",
)

OwnFailure = Callable[[EpisodeRecord, FailureKind], FailureKind | None]


def agent_failure(game_failure: OwnFailure) -> Callable[[EpisodeRecord], FailureKind | None]:
    """Return the function from a record to its kind of failure; None if it has not failed.

    Where most replies name an action, `game_failure` decides, by the record and by the general kind of its turns in
    which an action was requested.
    """

    def failure(record: EpisodeRecord) -> FailureKind | None:
        general = general_failure_kind(record, action_turns(record))
        steps = step_events(record)
        unnamed_count = sum(step["named"] is False for step in steps)
        if general in NO_ANSWER:
            return UNNAMED if unnamed_count and general is UNPARSED else general
        if steps and 2 * unnamed_count >= len(steps):
            return UNNAMED
        return game_failure(record, general)

    return failure


def ignore_turn_limit(record: EpisodeRecord, general: FailureKind) -> FailureKind | None:
    """Return the general kind of failure, but None for a game of fixed length that came to its end."""
    return None if general is TURN_LIMIT else general
