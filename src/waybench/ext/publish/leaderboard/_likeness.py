"""Submissions that repeat others, and models that gave the replies of others."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

from waybench.submission._names import lookalike_key
from waybench.submission._verdict import SubmissionVerdict


def duplicate_problem(verdict: SubmissionVerdict, earlier: Sequence[tuple[str, SubmissionVerdict | None]]) -> str:
    """Return why a submission repeats an earlier one or can be mistaken for it; "" if neither.

    What identifies records does not depend on the bytes of the file or on the name of the model.

    `earlier` has the names and verdicts of the other submissions.
    """
    records = _record_fingerprints(verdict)
    for name, other in earlier:
        if other is None:
            continue
        if records and records <= _record_fingerprints(other):
            return f"the same records as {name}.zip ({', '.join(other.models)[:100]})"
        for model in verdict.models:
            for rival in other.models:
                if rival != model and lookalike_key(rival) == lookalike_key(model):
                    return f"{model[:60]!a} can be taken for {rival[:60]!a} of {name}.zip"
    return ""


def _record_fingerprints(verdict: SubmissionVerdict) -> set[bytes]:
    return set[bytes]().union(*(fingerprints.records for fingerprints in verdict.fingerprints.values()))


def shared_reply_notes(submissions: Sequence[tuple[str, SubmissionVerdict | None]]) -> Mapping[int, Sequence[str]]:
    """Return notes on submissions, by their index, whose models gave the replies of others.

    It is noted on both, for who was first is unknown.
    """
    notes: dict[int, list[str]] = defaultdict(list)
    models = [
        (number, model, fingerprints)
        for number, (_, verdict) in enumerate(submissions)
        if verdict
        for model, fingerprints in verdict.fingerprints.items()
    ]
    for number, (_, verdict) in enumerate(submissions):
        odd = verdict.odd if verdict else ()
        notes[number] += [f"{found.text}." for found in odd if found.kind in ("same replies", "repeated run")]
    for (one, first, replies), (other, second, others) in combinations(models, 2):
        if one != other and (text := replies.shared_replies_text(others)):
            notes[one].append(f"{second} of {submissions[other][0]} gave {text}.")
            notes[other].append(f"{first} of {submissions[one][0]} gave {text}.")
    return notes
