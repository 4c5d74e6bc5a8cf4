"""The verdict on a submission: what was checked, commitments of keys, and what looks odd."""

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

from waybench._version import __version__
from waybench.core import LABEL, Episode, Item, Json, TurnRecord, key_commitment, plural, policy, private_key_label
from waybench.core._policies import require_self_contained
from waybench.envs import registry
from waybench.results.logs import LoggedEpisode, is_embedded

FORMAT = "waybench-verdict"
VERSION = 1
SHOWN = 20  # findings of one kind and run that are listed, beside the number of all
# Kinds of findings that make a submission unverified, with their meaning.
PROBLEMS = {
    "archive": "The archive differs from its manifest.",
    "task": "The task or its parameters are unknown, or the items cannot be made again here.",
    "missing": "An item or attempt that the task plays has no record.",
    "unexpected": "A record that the task does not play with these results, or a second one of the same attempt.",
    "unfinished": "An episode has no result: an infrastructure error or an interruption ended it.",
    "item": "The record's item differs from the item made again from key, level and index.",
    "defect": "The environment has a defect: its code raised an exception, so the episode has no result.",
    "record": "A new simulation does not agree with the record.",
    "player": "The record names another player than the run.",
    "agent": "The record names another agent than the parameters, or none.",
    "not simulated": "The record cannot be simulated here.",
    "settings": "The settings of a run differ from those that follow from its parameters.",
    "form": "A date or version has another form than those that waybench writes.",
    "repeated": "Another run has records of this run, to the times of their replies.",
    "probes": "The answers to belief probes are not those that the task announces.",
    "results": "The submitted results differ from those computed from the records.",
    "transcript": "The record differs from the transcript in the same log.",
    "log": "The log's header differs from its samples.",
    "version": "The record is of another version of its environment than this waybench has.",
    "commitment": "The key of a private set is not the one that was committed to.",
}
# What no simulation can prove, whatever is submitted.
NOT_PROVEN = (
    "which model gave the replies, and with which settings",
    "that these are all runs of the model, and not the best of several",
    "the numbers of tokens and the times, which are the provider's",
    "that nobody helped: a reply of a person or another program, or a reference player's first moves, look the same",
    "that the model was shown the wording, language, protocol and tools that the records name (a program that reads "
    "one wording has 100 there and 0 in the others), and that no agent helped where the records name none",
    "that limit and levels were not chosen by the results, unless a commitment fixed them before (this moved scores by "
    "up to 11 points, and the best of five runs by 12)",
)


class Finding(NamedTuple):
    """A problem, or something odd.

    Attributes:
        kind: A key of `PROBLEMS`, or a kind of oddity (`OddThings.findings`).
        sample: The sample; "" for a whole run or submission.
    """

    kind: str
    text: str
    sample: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the finding as JSON values."""
        return self._asdict()


class Findings:
    """Findings, of each kind the first `SHOWN` and the number of all."""

    def __init__(self) -> None:
        self._shown: dict[str, list[Finding]] = {}
        self._counts: dict[str, int] = {}

    def add(self, kind: str, text: str, sample: str = "") -> None:
        """Add a finding; long texts are cut."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        findings = self._shown.setdefault(kind, [])
        if len(findings) < SHOWN:
            findings.append(Finding(kind, text[:300], sample[:200]))

    def update(self, others: "Findings") -> None:
        """Add other findings."""
        for kind, findings in others._shown.items():
            findings_of_kind = self._shown.setdefault(kind, [])
            findings_of_kind += findings[: SHOWN - len(findings_of_kind)]
            self._counts[kind] = self._counts.get(kind, 0) + others._counts[kind]

    @property
    def shown_findings(self) -> list[Finding]:
        """The first findings of each kind."""
        return [finding for findings in self._shown.values() for finding in findings]

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of all findings by kind."""
        return dict(self._counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunVerdict:
    """The verdict on one run.

    Attributes:
        created: When the run began, according to the log.
        version: The version of waybench that ran the task.
        confirmed: Number of records that a simulation confirms.
        played: Number of episodes that the task plays with these results; None if it is not known.
        problems: The problems that make the run unverified.
        counts: Number of problems by kind.
    """

    model: str
    task: str
    parameters: Mapping[str, Json]
    settings: Mapping[str, Json]
    created: str
    version: str
    records: int
    confirmed: int
    played: int | None
    problems: Sequence[Finding]
    counts: Mapping[str, int]
    epochs: int = 1

    @property
    def is_verified(self) -> bool:
        """Whether the run has no problem."""
        return not self.counts

    def to_json(self) -> dict[str, Json]:
        """Return the verdict as JSON values."""
        return {
            "model": self.model,
            "task": self.task,
            "parameters": dict(self.parameters),
            "settings": dict(self.settings),
            "created": self.created,
            "version": self.version,
            "records": self.records,
            "confirmed": self.confirmed,
            "played": self.played,
            "verified": self.is_verified,
            "counts": dict(self.counts),
            "problems": [finding.to_json() for finding in self.problems],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionVerdict:
    """The verdict on a submission.

    Attributes:
        sha256: SHA-256 of the file that was verified; "" for a folder.
        problems: Problems of the submission as a whole.
        counts: Number of problems of the submission as a whole, by kind.
        odd: Findings that look odd and prove nothing.
        commitments: Label of each private set whose key matches a commitment -> the commitment.
        fingerprints: Model -> what identifies its episodes, to compare them with those of other submissions.
    """

    submitter: str
    about: str
    name: str
    sha256: str
    runs: Sequence[RunVerdict]
    problems: Sequence[Finding] = ()
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    odd: Sequence[Finding] = ()
    scores: Sequence[Mapping[str, Any]] = ()
    commitments: Mapping[str, str] = field(default_factory=dict[str, str])
    fingerprints: "Mapping[str, Fingerprints]" = field(default_factory=dict[str, "Fingerprints"], repr=False)

    @property
    def is_verified(self) -> bool:
        """Whether there are runs, and neither a run nor the submission as a whole has a problem."""
        return bool(self.runs) and not self.counts and all(run.is_verified for run in self.runs)

    @property
    def models(self) -> list[str]:
        """The models, each once."""
        return list(dict.fromkeys(run.model for run in self.runs))

    def to_json(self) -> dict[str, Json]:
        """Return the content of `verdict.json`."""
        return {
            "format": FORMAT,
            "schema": VERSION,
            "verdict": "verified" if self.is_verified else "not verified",
            "waybench": __version__,
            "submission": {"name": self.name, "sha256": self.sha256},
            "models": self.models,
            "submitter": self.submitter,
            "about": self.about,
            "runs": [run.to_json() for run in self.runs],
            "problems": [finding.to_json() for finding in self.problems],
            "counts": dict(self.counts),
            "odd": [finding.to_json() for finding in self.odd],
            "not_proven": list(NOT_PROVEN),
            "scores": [dict(score) for score in self.scores],
            "commitments": dict(self.commitments),
        }

    def text(self) -> str:
        """Return the verdict as text for a terminal."""
        lines: list[str] = []
        for run in self.runs:
            state = "verified" if run.is_verified else "NOT VERIFIED"
            played = "" if run.played is None else f" of {run.played:,}"
            lines.append(f"{run.model}, {run.task}: {state}; {run.confirmed:,}{played} episodes confirmed")
            lines += _problem_lines(run.problems, run.counts)
        lines += _problem_lines(self.problems, self.counts, indent="")
        lines += [f"{label}: its key is the one that was committed to" for label in self.commitments]
        lines += [f"odd: {finding.text}" for finding in self.odd]
        records = sum(run.records for run in self.runs)
        summary = f"{plural(len(self.runs), 'run')}, {plural(records, 'record')}"
        conclusion = "verified" if self.is_verified else "not verified"
        return "\n".join([*lines, f"{summary}: {conclusion}", f"No simulation can prove: {'; '.join(NOT_PROVEN)}."])


def _problem_lines(problems: Sequence[Finding], counts: Mapping[str, int], indent: str = "  ") -> list[str]:
    """Return lines on the problems of each kind, with the first three findings."""
    lines: list[str] = []
    for kind, count in counts.items():
        lines.append(f"{indent}{PROBLEMS[kind]}" + (f" ({count:,} times)" if count > 1 else ""))
        for finding in [finding for finding in problems if finding.kind == kind][:3]:
            lines.append(f"{indent}  {f'{finding.sample}: ' if finding.sample else ''}{finding.text}")
    return lines


V = TypeVar("V", RunVerdict, SubmissionVerdict)


def with_problems(verdict: V, findings: Iterable[Finding]) -> V:
    """Return a verdict with further problems."""
    problems = Findings()
    for finding in findings:
        problems.add(*finding)
    return replace(
        verdict, problems=[*verdict.problems, *problems.shown_findings], counts={**verdict.counts, **problems.counts}
    )


def with_commitments(verdict: SubmissionVerdict, keys: Sequence[str], commitments: Sequence[str]) -> SubmissionVerdict:
    """Return a verdict that states which private keys match the given commitments, and which do not."""
    label_of_commitment = {key_commitment(key): private_key_label(key) for key in keys}
    committed = {label_of_commitment[text]: text for text in commitments if text in label_of_commitment}
    findings = [
        Finding("commitment", f"no key that was given belongs to {text}")
        for text in commitments
        if text not in label_of_commitment
    ]
    run_keys = {str(run.parameters.get("key", "")) for run in verdict.runs}
    labels = {*label_of_commitment.values(), *(key for key in run_keys if LABEL.fullmatch(key))}
    findings += [
        Finding("commitment", f"the key of {label} belongs to no commitment that was given")
        for label in sorted(labels - committed.keys())
    ]
    return replace(with_problems(verdict, findings), commitments=committed)


ORACLE_SAMPLE = 50  # records of each model that are compared with the oracle's
_SUSPICIOUS_SHARE = 0.9  # of episodes with equal replies; a smaller one is no finding
_FEWEST_EPISODES = 5  # with fewer, no share is a finding
_FASTEST = 20_000  # plausible output tokens a second
_DIGEST_BYTES = 8
_MOST_TURNS = 64  # with a digest of the replies up to each
_LONGEST_TOKEN = 200  # plausible characters of a reply for each token that the provider counted


class Conduct(NamedTuple):
    """What may look odd in an episode.

    Attributes:
        run: The run's file of records.
        item: The hash of the instance, and the number of the attempt.
        record: A digest of the record, whoever is named as its player.
        is_timed: Whether the record has times of replies, which no two episodes share.
        replies: Digests of the replies up to each turn, eight bytes each, so that the beginning of another episode has
            the beginning of its digests; empty for an embedded player, and without replies.
        oracles: Whether its replies are the oracle's, to the letter; None if they were not compared.
        times: A text on each reply with an implausible time or number of tokens.
    """

    model: str
    run: str
    item: tuple[str, int]
    record: bytes = b""
    is_timed: bool = False
    replies: bytes = b""
    oracles: bool | None = None
    times: tuple[str, ...] = ()


def examine_conduct(episode: LoggedEpisode, *, against_oracle: bool) -> Conduct:
    """Return the conduct in an episode; `against_oracle` compares its replies with the oracle's."""
    record = episode.record
    item = (record.instance_hash, record.attempt)
    turns = tuple(turn._replace(message="", reply=_letters_and_digits(turn.reply)) for turn in record.turns)
    # Without the fields that no simulation confirms, and in which a copy could differ.
    unconfirmed_fields = ("player", "agent", "package", "reasoning_returned", "reasoning_sent_back")
    core = replace(record, **dict.fromkeys(unconfirmed_fields, ""), opening=(), turns=turns)
    identity = hashlib.sha256(core.dumps().encode()).digest()[:_DIGEST_BYTES]
    is_timed = any(turn.usage and turn.usage.seconds > 0 for turn in record.own_turns)
    if is_embedded(episode.model) or not record.own_turns:
        return Conduct(episode.model, episode.run, item, identity, is_timed)
    replies = [_letters_and_digits(turn.reply).encode("utf-8", "surrogatepass") for turn in record.own_turns]
    digest, digests = hashlib.sha256(), bytearray()
    for reply in replies[:_MOST_TURNS]:
        digest.update(reply + b"\0")
        digests += digest.digest()[:_DIGEST_BYTES]
    if len(replies) > _MOST_TURNS:  # a last digest for all replies
        digest.update(b"\0".join(replies))
        digests += digest.digest()[:_DIGEST_BYTES]
    times = tuple(text for turn in record.own_turns if (text := _implausible_usage(turn)))
    oracles = _has_oracle_replies(episode) if against_oracle else None
    return Conduct(episode.model, episode.run, item, identity, is_timed, bytes(digests), oracles, times)


def _letters_and_digits(reply: str) -> str:
    """Return a reply's letters and digits in lower case, so that blanks and punctuation do not matter."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", reply).casefold())


def _implausible_usage(turn: TurnRecord) -> str:
    """Return what is implausible about a turn's time or tokens; "" if nothing is."""
    usage = turn.usage
    if usage is None:
        return ""
    if not usage.output_tokens:
        return "replies without any output token" if turn.reply else ""
    if usage.seconds <= 0 or usage.output_tokens / usage.seconds > _FASTEST:
        return f"replies of more than {_FASTEST:,} tokens a second"
    if len(turn.reply) > _LONGEST_TOKEN * usage.output_tokens:
        return "replies with more text than their tokens can have"
    return ""


class Fingerprints:
    """Digests that identify the episodes of one model in one run or submission.

    Attributes:
        replies: Item and attempt -> the digests of the replies (`Conduct.replies`).
        records: Digest of each record -> whether it has times.
    """

    def __init__(self) -> None:
        self.replies: dict[tuple[str, int], bytes] = {}
        self.records: dict[bytes, bool] = {}

    def add(self, conduct: Conduct) -> None:
        """Add an episode."""
        self.records[conduct.record] = conduct.is_timed
        if conduct.replies:
            self.replies[conduct.item] = conduct.replies

    def shared_replies_text(self, other: "Fingerprints") -> str:
        """Return a text if most replies at shared items are equal, or the beginnings of the other's; "" otherwise."""
        shorter, longer = sorted((self.replies, other.replies), key=len)
        pairs = [(replies, longer[item]) for item, replies in shorter.items() if item in longer]
        n_equal = sum(first == second for first, second in pairs)
        n_alike = sum(first.startswith(second) or second.startswith(first) for first, second in pairs)
        if len(pairs) < _FEWEST_EPISODES or n_alike < _SUSPICIOUS_SHARE * len(pairs):
            return ""
        beginnings = f", and the beginnings of {n_alike - n_equal:,} more" if n_alike > n_equal else ""
        return f"the same replies in {n_equal:,} of {plural(len(pairs), 'episode')}{beginnings}"


class OddThings:
    """Looks for odd things in episodes, one at a time."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, str], Fingerprints] = defaultdict(Fingerprints)  # by model and run
        self._same_as_oracle: dict[str, list[bool]] = defaultdict(list)  # by model
        self._times: dict[str, Counter[str]] = defaultdict(Counter)  # by model

    def add(self, conduct: Conduct) -> None:
        """Add the conduct in an episode."""
        self._runs[conduct.model, conduct.run].add(conduct)
        if not conduct.replies:
            return
        if conduct.oracles is not None:
            self._same_as_oracle[conduct.model].append(conduct.oracles)
        self._times[conduct.model].update(conduct.times)

    @property
    def fingerprints(self) -> dict[str, Fingerprints]:
        """The fingerprints of the episodes of each model."""
        by_model: dict[str, Fingerprints] = defaultdict(Fingerprints)
        for (model, _), fingerprints in self._runs.items():
            by_model[model].replies |= fingerprints.replies
            by_model[model].records |= fingerprints.records
        return dict(by_model)

    def run_pairs_with_same_record(self) -> list[tuple[str, str]]:
        """Return pairs of runs of which the second repeats a record of the first, with its times."""
        first_run: dict[bytes, str] = {}
        pairs: dict[tuple[str, str], None] = {}
        for (_, run), fingerprints in self._runs.items():
            for record, is_timed in fingerprints.records.items():
                if is_timed and first_run.setdefault(record, run) != run:
                    pairs[first_run[record], run] = None
        return list(pairs)

    def findings(self) -> list[Finding]:
        """Return findings on what looks odd in the episodes of a model, or in those of two models or runs."""
        findings: list[Finding] = []
        by_model = self.fingerprints
        for first, second in combinations(sorted(by_model), 2):
            if text := by_model[first].shared_replies_text(by_model[second]):
                findings.append(Finding("same replies", f"{first} and {second} gave {text}"))
        for (model, run), (other_model, other_run) in combinations(sorted(self._runs), 2):
            if model == other_model and (
                text := self._runs[model, run].shared_replies_text(self._runs[model, other_run])
            ):
                findings.append(Finding("repeated run", f"two runs of {model}, {run} and {other_run}, have {text}"))
        for model, same in self._same_as_oracle.items():
            if len(same) >= _FEWEST_EPISODES and sum(same) >= _SUSPICIOUS_SHARE * len(same):
                text = f"{model} replied as the oracle does, to the letter, in {sum(same)} of {len(same)} episodes"
                findings.append(Finding("oracle", text))
        for model, texts in self._times.items():
            for text, count in sorted(texts.items()):
                findings.append(Finding("time", f"{model}: {text} ({count:,} of them)"))
        return findings


def _has_oracle_replies(episode: LoggedEpisode) -> bool:
    """Return whether an episode's replies have the letters and digits of the oracle's; False if there is no oracle."""
    record = episode.record
    environment = registry.load(record.env)
    if "oracle" not in environment.players.policies:
        return False
    try:
        require_self_contained(record.options)
        oracle = policy("oracle")
        item = Item(environment.items.decode(record.instance), id="", level=0)
        again = Episode(environment, item, record.options, attempt=record.attempt)
        for turn in record.own_turns:
            if again.done or _letters_and_digits(oracle.reply(again)) != _letters_and_digits(turn.reply):
                return False
            again.step(turn.reply)
        return True
    except Exception:  # a record is data from outside
        return False
