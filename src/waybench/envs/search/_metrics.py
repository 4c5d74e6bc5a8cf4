"""Metrics of a search, and the answers that they count (AQA-Bench, sections 3.1 to 3.3)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from math import fsum
from typing import Any, Generic, TypeVar
from typing import Protocol as Interface

from waybench.core import (
    End,
    EpisodeRecord,
    FailureKind,
    Instance,
    Metric,
    Outcome,
    Range,
    Series,
    outcome_metric,
    proof_metric,
)
from waybench.envs.search import _number, _walk
from waybench.envs.search._texts import PROTOCOLS, SearchProtocol

I = TypeVar("I", bound=Instance)  # noqa: E741

VALID = (Outcome.OK, Outcome.UNPRODUCTIVE)


@dataclass(frozen=True, slots=True)
class ScoredAnswers:
    """The answers of an episode that count.

    Attributes:
        values: Each answer; None for an invalid one. With a teacher every reply is an answer. In free play these are
            the valid replies, and a last None if invalid replies ended the episode; retried replies count nowhere.
        taught: With a teacher in the whole episode, the teacher's answer at each step; otherwise None.
        unused: Number of interactions that remained when the player was stopped short of the goal.
        before: The teacher's answers before free play, which no metric counts.
    """

    values: tuple[int | None, ...]
    taught: tuple[int, ...] | None
    unused: int
    before: tuple[int, ...] = ()

    @classmethod
    def from_record(cls, record: EpisodeRecord, default_max_steps: int) -> "ScoredAnswers":
        """Read the answers of a record; the default is used if the option `max_steps` is not set."""
        if record.options["teacher_guided"] is True:
            values = [turn.action if turn.outcome in VALID else None for turn in record.turns]
            return cls(tuple(values), tuple(turn.executed for turn in record.turns), 0)
        valid: list[int | None] = [
            turn.action
            for turn in record.turns
            if turn.executed is None and turn.outcome in VALID and "coached" not in turn.events
        ]
        before = teacher_steps(record)
        stopped = record.end not in (None, End.SOLVED)
        unused = (record.options["max_steps"] or default_max_steps) - len(before) - len(valid) if stopped else 0
        return cls((*valid, None) if record.end is End.INVALID_LIMIT else tuple(valid), None, unused, before)

    @property
    def valid(self) -> int:
        """Number of valid answers."""
        return sum(answer is not None for answer in self.values)


def teacher_steps(record: EpisodeRecord) -> tuple[int, ...]:
    """Return the answers of the teacher that were executed."""
    return tuple(turn.executed for turn in record.turns if turn.executed is not None)


class Algorithm(Interface):
    """A run of an algorithm, with which answers are compared."""

    def is_next_answer(self, answer: int) -> bool:
        """Return whether the algorithm can give this answer now."""
        ...

    def classify_error(self, answer: int) -> FailureKind:
        """Return what is wrong with an answer that does not follow the algorithm."""
        ...

    def add_answer(self, answer: int) -> None:
        """Go on to the algorithm's next step after an answer."""
        ...


def unvisited_shares(answers: ScoredAnswers, case: _walk.WalkGraph) -> list[float]:
    """Return the share of nodes that are not visited after each answer.

    In free play an invalid answer adds nothing to the list. With a teacher, the teacher's earlier nodes and this
    answer's node are visited; an invalid answer repeats the share before it.
    """
    size, visited_nodes = case.graph.size, visited_bits(answers.before)
    shares: list[float] = []
    for number, answer in enumerate(answers.values):
        if answer is not None:
            shares.append(1 - (visited_nodes | 1 << answer).bit_count() / size)
        elif answers.taught is not None:
            shares.append(shares[-1] if shares else 1 - 1 / size)  # node 0 alone is visited before the first answer
        node = answer if answers.taught is None else answers.taught[number]
        if node is not None:
            visited_nodes |= 1 << node
    return shares


def visited_bits(nodes: Iterable[int]) -> int:
    """Return node 0 and the given nodes as bits of a number."""
    return reduce(lambda mask, node: mask | 1 << node, nodes, 1)


@dataclass(frozen=True)
class Scores(Generic[I]):
    """The metrics that the games share, by the three functions in which the games differ.

    Attributes:
        decode: JSON -> instance.
        default_max_steps: Instance -> default number of interactions.
        algorithm: (instance, protocol) -> the algorithm with which answers are compared.
    """

    decode: Callable[[object], I]
    default_max_steps: Callable[[I], int]
    algorithm: Callable[[I, SearchProtocol], Algorithm]

    def read_case_and_answers(self, record: EpisodeRecord) -> tuple[I, ScoredAnswers]:
        """Return the instance of a record, and its answers that are scored (see `ScoredAnswers`)."""
        case = self.decode(record.instance)
        return case, ScoredAnswers.from_record(record, self.default_max_steps(case))

    def most_answers(self, record: EpisodeRecord) -> int:
        """Return the greatest possible number of valid answers; with a teacher throughout, the number of its steps."""
        if record.options["teacher_guided"] is True:
            return record.proof["minimum"]
        limit: int = record.options["max_steps"] or self.default_max_steps(self.decode(record.instance))
        return limit - len(teacher_steps(record))

    def most_replies(self, record: EpisodeRecord) -> int:
        """Return an upper bound on the number of replies that are unreadable or invalid, with those retried."""
        if record.options["teacher_guided"] is True:  # whatever the reply, the teacher's answer follows: no retries
            return self.most_answers(record)
        n_guided = len(teacher_steps(record))  # one reply each, as above
        n_free = self.most_answers(record) + 1  # one more: the answer whose invalid replies end the episode
        return n_guided + n_free * (record.options["max_retries"] + 1)

    def sum_range(self, record: EpisodeRecord) -> Range:
        """Return the range of a sum of shares over all answers, with the invalid one that ends an episode."""
        return 0, self.most_answers(record) + 1

    def follow_marks(self, record: EpisodeRecord, protocol: SearchProtocol) -> list[float]:
        """Return 1 or 0 for each answer: whether it follows the algorithm.

        In free play nothing follows after the first deviation; with a teacher each answer is judged by itself, after
        the teacher's earlier ones. An invalid answer never follows.
        """
        case, answers = self.read_case_and_answers(record)
        algorithm, marks = self.algorithm(case, protocol), list[float]()
        for step in answers.before:
            algorithm.add_answer(step)
        for number, answer in enumerate(answers.values):
            follows = answer is not None and algorithm.is_next_answer(answer)
            if answers.taught is None and not follows:
                return marks + [0.0] * (len(answers.values) - number)
            marks.append(float(follows))
            # Without a teacher the answer is valid here, since it follows.
            algorithm.add_answer(answers.taught[number] if answers.taught else answer or 0)
        return marks

    def accuracy(self, record: EpisodeRecord, protocol: SearchProtocol) -> float:
        """Return the share of answers that follow the algorithm; 0 without answers.

        Where quitting is charged, interactions that were left undone without the goal count as answers that do not.
        """
        marks, (_, answers) = self.follow_marks(record, protocol), self.read_case_and_answers(record)
        n_answers = max(len(marks), answers.valid + answers.unused) if protocol.charges_quitting else len(marks)
        return sum(marks) / n_answers if n_answers else 0.0


NUMBERS = Scores(
    _number.decode,
    _number.default_max_steps,
    lambda case, protocol: _number.Bisection(case, protocol.any_bisection),
)
DEPTH = Scores(_walk.decode, _walk.default_max_steps_depth_first, lambda case, protocol: _walk.DepthFirst(case))
BREADTH = Scores(_walk.decode, _walk.default_max_steps_breadth_first, lambda case, protocol: _walk.BreadthFirst(case))


def recorded_protocol(record: EpisodeRecord) -> SearchProtocol:
    """Return the protocol of a record."""
    return PROTOCOLS[record.options["protocol"]]


def _relative_errors(record: EpisodeRecord, protocol: SearchProtocol) -> list[float]:
    """Return each answer's distance from the target as a share of the range; 1 for an invalid answer."""
    case, answers = NUMBERS.read_case_and_answers(record)
    size = case.high - case.low + protocol.whole_range
    return [1.0 if answer is None else abs(answer - case.target) / size for answer in answers.values]


def _sum_of_relative_errors(record: EpisodeRecord, protocol: SearchProtocol) -> float:
    """Return the sum of errors, plus 1 for each unused interaction if quitting is charged; else 1 without answers."""
    errors = _relative_errors(record, protocol)
    if protocol.charges_quitting:
        _, answers = NUMBERS.read_case_and_answers(record)
        # The invalid answer that ends an episode is one of the unused interactions, and not charged twice.
        return float(fsum(errors) + answers.unused - (record.end is End.INVALID_LIMIT))
    return fsum(errors) if errors else 1.0


def _mean_relative_error(record: EpisodeRecord) -> float:
    """Return the mean error of the answers; 1 without answers."""
    errors = _relative_errors(record, recorded_protocol(record))
    return fsum(errors) / len(errors) if errors else 1.0


def _final_unvisited_share(scores: Scores[_walk.WalkGraph], record: EpisodeRecord) -> float:
    """Return the share of nodes that are not visited at the end."""
    case, answers = scores.read_case_and_answers(record)
    shares = unvisited_shares(answers, case)
    return shares[-1] if shares else 1 - visited_bits(answers.before).bit_count() / case.graph.size


def _first_unvisited_share(record: EpisodeRecord) -> float:
    """Return the share of nodes that are not visited before the first scored answer."""
    is_taught = record.options["teacher_guided"] is True  # in the whole episode: the first answer is scored
    return 1 - visited_bits(() if is_taught else teacher_steps(record)).bit_count() / len(record.instance["nodes"])


def _sum_of_unvisited_shares(scores: Scores[_walk.WalkGraph], record: EpisodeRecord, protocol: SearchProtocol) -> float:
    """Return the sum of the unvisited shares, plus 1 for each unused interaction if quitting is charged."""
    case, answers = scores.read_case_and_answers(record)
    return float(fsum(unvisited_shares(answers, case)) + (answers.unused if protocol.charges_quitting else 0))


_PROTOCOL_NOTE = ' It follows the episode\'s protocol; {name}_sound always follows "sound".'


def _common_metrics(scores: Scores[Any]) -> tuple[Metric, ...]:
    """Return the metrics that both games have."""
    return (
        Metric(
            name="acc",
            of=lambda record: scores.accuracy(record, recorded_protocol(record)),
            title="ACC",
            low=0,
            high=1,
            doc="Share of the answers that follow the algorithm, up to the first deviation (equation 5); with a "
            "teacher throughout, every answer is judged separately." + _PROTOCOL_NOTE.format(name="acc"),
        ),
        Metric(
            name="psacc",
            of=lambda record: (
                scores.accuracy(record, recorded_protocol(record)) if record.options["teacher_guided"] is True else None
            ),
            title="Steps followed with a teacher",
            low=0,
            high=1,
            doc="With a teacher, the share of its steps at which the answer follows the algorithm; not defined without "
            "one. This is equation 7 for a single episode. PSACC of a set is not the mean of these, since it "
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
            of=lambda record: float(scores.read_case_and_answers(record)[1].valid),
            title="Valid answers",
            range=lambda record: (0, scores.most_answers(record)),
            better="",
            doc="Number of valid answers, without the teacher's first steps.",
        ),
        proof_metric(
            "minimum",
            "Steps of the optimal policy",
            "Number of answers of the optimal policy, the teacher; luck can need fewer.",
        ),
        outcome_metric("unparsed", "Replies without a readable number.", max_turns=scores.most_replies),
        outcome_metric("illegal", "Replies with an invalid number.", max_turns=scores.most_replies),
    )


NUMBER_METRICS = (
    Metric(
        name="err_min",
        of=lambda record: min(_relative_errors(record, recorded_protocol(record)), default=1.0),
        title="Err_min",
        low=0,
        high=1,
        better="lower",
        doc="Least error of an answer: |answer - target| / (max - min) as in the published program, by one more in "
        '"sound" (equation 1, where "max" is printed for "min"); 1 without a valid answer.',
    ),
    Metric(
        name="err_sum",
        of=lambda record: _sum_of_relative_errors(record, recorded_protocol(record)),
        title="Err_sum",
        range=NUMBERS.sum_range,
        better="lower",
        doc="Sum of the errors of all answers (equation 2); an invalid reply that ends the episode has error 1."
        + _PROTOCOL_NOTE.format(name="err_sum"),
    ),
    Metric(
        name="err_avg",
        of=_mean_relative_error,
        title="Err_avg",
        low=0,
        high=1,
        better="lower",
        doc="Mean of the same errors; from the published program, not the paper.",
    ),
    *_common_metrics(NUMBERS),
    Metric(
        name="err_sum_sound",
        of=lambda record: _sum_of_relative_errors(record, PROTOCOLS["sound"]),
        title="Err_sum, sound",
        range=NUMBERS.sum_range,
        better="lower",
        doc="Err_sum relative to the whole range, with an error of 1 for every unused answer if the number was not "
        "found, so giving up never lowers it.",
    ),
)


def walk_metrics(scores: Scores[_walk.WalkGraph]) -> tuple[Metric, ...]:
    """Return the metrics of a walk."""
    return (
        Metric(
            name="g_min",
            of=lambda record: _final_unvisited_share(scores, record),
            title="G_min",
            low=0,
            high=1,
            better="lower",
            floor=_first_unvisited_share,
            doc="Share of nodes not visited at the end (equation 3); node 0 counts as visited.",
        ),
        Metric(
            name="g_sum",
            of=lambda record: _sum_of_unvisited_shares(scores, record, recorded_protocol(record)),
            title="G_sum",
            range=scores.sum_range,
            better="lower",
            doc="Sum over valid answers of the share of nodes not visited yet (equation 4); neither the start nor an "
            "invalid reply that ends the episode adds anything." + _PROTOCOL_NOTE.format(name="g_sum"),
        ),
        *_common_metrics(scores),
        Metric(
            name="g_sum_sound",
            of=lambda record: _sum_of_unvisited_shares(scores, record, PROTOCOLS["sound"]),
            title="G_sum, sound",
            range=scores.sum_range,
            better="lower",
            doc="G_sum with 1 for every unused answer if nodes are left unvisited, so giving up never lowers it.",
        ),
    )


def per_step_series(scores: Scores[Any]) -> tuple[Series, ...]:
    """Return the series that says for each answer whether it follows the algorithm."""
    return (
        Series(
            name="follows",
            of=lambda record: scores.follow_marks(record, recorded_protocol(record)),
            title="Per-step accuracy",
            guided_title="PSACC",
            low=0,
            high=1,
            doc="With a teacher in the whole episode, whether each answer follows the algorithm: its mean at step k, "
            "over the episodes whose optimal run has that step, is PSACC_k, and the mean of these over all k is "
            "PSACC_avg. In free play, whether the player has followed it up to this answer, over the episodes that "
            "last so long; those that end early are missing from the later steps. After a teacher's first steps, step "
            "1 is the first free one.",
        ),
    )
