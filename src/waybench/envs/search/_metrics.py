"""Metrics of a search (AQA-Bench, sections 3.1 to 3.3)."""

from collections.abc import Sequence
from math import fsum
from typing import Any

from waybench.core import (
    End,
    EpisodeRecord,
    Metric,
    Series,
    outcome_metric,
    proof_metric,
)
from waybench.envs.search import _game_walk
from waybench.envs.search._answers import NUMBERS, Scores, errors, gaps, protocol_of, teacher_steps, visited_set
from waybench.envs.search._protocol import PROTOCOLS, Protocol


def _err(record: EpisodeRecord, protocol: Protocol) -> tuple[list[float], int]:
    case, answers = NUMBERS.read(record)
    return errors(answers, case, protocol.whole_range), answers.left


def err_min(record: EpisodeRecord) -> float:
    """Return the least error."""
    return min(_err(record, protocol_of(record))[0], default=1.0)


def err_sum(record: EpisodeRecord, protocol: Protocol) -> float:
    """Return the sum of errors, with a 1 for each interaction left undone where that is charged."""
    distances, left = _err(record, protocol)
    if protocol.charges_quitting:
        return float(fsum(distances) + left - (record.end is End.INVALID_LIMIT))
    return fsum(distances) if distances else 1.0


def err_avg(record: EpisodeRecord) -> float:
    """Return the mean of errors."""
    distances = _err(record, protocol_of(record))[0]
    return fsum(distances) / len(distances) if distances else 1.0


def g_min(scores: Scores[_game_walk.Terrain], record: EpisodeRecord) -> float:
    """Return the gap at the end."""
    case, answers = scores.read(record)
    shares = gaps(answers, case)
    return shares[-1] if shares else 1 - visited_set(answers.before).bit_count() / case.graph.size


def _first_gap(record: EpisodeRecord) -> float:
    """Return the gap before the first step that counts."""
    free = record.options["teacher_guided"] is not True
    return 1 - visited_set(teacher_steps(record) if free else ()).bit_count() / len(record.instance["nodes"])


def g_sum(scores: Scores[_game_walk.Terrain], record: EpisodeRecord, protocol: Protocol) -> float:
    """Return the sum of gaps, with a 1 for each interaction left undone where that is charged."""
    case, answers = scores.read(record)
    return float(fsum(gaps(answers, case)) + (answers.left if protocol.charges_quitting else 0))


_PROTOCOL_NOTE = ' It follows the episode\'s protocol; {name}_sound always follows "sound".'


def _shared(scores: Scores[Any]) -> tuple[Metric, ...]:
    return (
        Metric(
            name="acc",
            of=lambda record: scores.accuracy(record, protocol_of(record)),
            title="ACC",
            low=0,
            high=1,
            doc="Share of the answers that follow the algorithm, up to the first deviation (equation 5); with a "
            "teacher throughout, every answer is judged separately." + _PROTOCOL_NOTE.format(name="acc"),
        ),
        Metric(
            name="psacc",
            of=scores.guided_accuracy,
            title="PSACC of one episode",
            low=0,
            high=1,
            doc="With a teacher, the share of its steps at which the answer follows the algorithm; not defined without "
            "one. This is equation 7 for a single episode. The value of a set is not the mean of these, since it "
            "weighs steps and not episodes: it is the average of the curve of `follows`.",
        ),
        Metric(
            name="acc_sound",
            of=lambda record: scores.accuracy(record, PROTOCOLS["sound"]),
            title="ACC, sound",
            low=0,
            high=1,
            doc="ACC that accepts both middles of an even number of candidates. If the goal was not reached, unused "
            "answers count as deviations, so giving up never raises it.",
        ),
        Metric(
            name="steps",
            of=lambda record: float(scores.read(record)[1].valid),
            title="Valid answers",
            range=lambda record: (0, scores.most_answers(record)),
            better="",
            doc="Number of valid answers, without the teacher's first steps.",
        ),
        proof_metric("minimum", "Optimal steps", "Number of answers of the optimal policy."),
        outcome_metric("unparsed", "Replies without a readable number.", most=scores.most_replies),
        outcome_metric("illegal", "Replies with an invalid number.", most=scores.most_replies),
    )


NUMBER_METRICS = (
    Metric(
        name="err_min",
        of=err_min,
        title="Err_min",
        low=0,
        high=1,
        better="lower",
        doc="Least error of an answer: |answer - target| / (max - min) as in the published program, by one more in "
        '"sound" (equation 1, where "max" is printed for "min"); 1 without a valid answer.',
    ),
    Metric(
        name="err_sum",
        of=lambda record: err_sum(record, protocol_of(record)),
        title="Err_sum",
        range=NUMBERS.summed,
        better="lower",
        doc="Sum of the errors of all answers (equation 2); an invalid reply that ends the episode has error 1."
        + _PROTOCOL_NOTE.format(name="err_sum"),
    ),
    Metric(
        name="err_avg",
        of=err_avg,
        title="Err_avg",
        low=0,
        high=1,
        better="lower",
        doc="Mean of the same errors; from the published program, not the paper.",
    ),
    *_shared(NUMBERS),
    Metric(
        name="err_sum_sound",
        of=lambda record: err_sum(record, PROTOCOLS["sound"]),
        title="Err_sum, sound",
        range=NUMBERS.summed,
        better="lower",
        doc="Err_sum relative to the whole range, with an error of 1 for every unused answer if the number was not "
        "found, so giving up never lowers it.",
    ),
)


def walk_metrics(scores: Scores[_game_walk.Terrain]) -> tuple[Metric, ...]:
    """Return the metrics of a walk."""
    return (
        Metric(
            name="g_min",
            of=lambda record: g_min(scores, record),
            title="G_min",
            low=0,
            high=1,
            better="lower",
            floor=_first_gap,
            doc="Share of nodes not visited at the end (equation 3); node 0 counts as visited.",
        ),
        Metric(
            name="g_sum",
            of=lambda record: g_sum(scores, record, protocol_of(record)),
            title="G_sum",
            range=scores.summed,
            better="lower",
            doc="Sum over valid answers of the share of nodes not visited yet (equation 4); neither the start nor an "
            "invalid reply that ends the episode adds anything." + _PROTOCOL_NOTE.format(name="g_sum"),
        ),
        *_shared(scores),
        Metric(
            name="g_sum_sound",
            of=lambda record: g_sum(scores, record, PROTOCOLS["sound"]),
            title="G_sum, sound",
            range=scores.summed,
            better="lower",
            doc="G_sum with 1 for every unused answer if nodes are left unvisited, so giving up never lowers it.",
        ),
    )


def series(scores: Scores[Any]) -> tuple[Series, ...]:
    """Return what is measured at each step."""

    def follows(record: EpisodeRecord) -> Sequence[float]:
        return scores.follow_marks(record, protocol_of(record))

    return (
        Series(
            name="follows",
            of=follows,
            title="Per-step accuracy",
            low=0,
            high=1,
            doc="With a teacher in the whole episode, whether each answer follows the algorithm: its mean at step k, "
            "over the episodes whose optimal run has that step, is PSACC_k, and the mean of these over all k is "
            "PSACC_avg. In free play, whether the player has followed it up to this answer, over the episodes that "
            "last so long; those that end early are missing from the later steps. After a teacher's first steps, step "
            "1 is the first free one.",
        ),
    )
