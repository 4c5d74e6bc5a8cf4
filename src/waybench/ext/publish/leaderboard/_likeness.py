"""Submissions that repeat others, and models that gave the replies of others."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

from waybench.submission._names import lookalike_key
from waybench.submission._verdict import SubmissionVerdict


def duplicate_problem(verdict: SubmissionVerdict, earlier: Sequence[tuple[str, SubmissionVerdict | None]]) -> str:
    """Return why a submission repeats an earlier submission or can be mistaken for it; "" if neither.

    Fingerprints of records do not depend on the bytes of the file or on the name of the model. `earlier` has the names
    and verdicts of the other submissions; None for withdrawn ones.
    """
    records = _record_fingerprints(verdict)
    for name, other in earlier:
        if other is None:
            continue
        if records and records <= _record_fingerprints(other):
            return f"the same records as {name}.zip ({', '.join(other.models)[:100]})"
        for model in verdict.models:
            for other_model in other.models:
                if other_model != model and lookalike_key(other_model) == lookalike_key(model):
                    return f"{model[:60]!a} can be taken for {other_model[:60]!a} of {name}.zip"
    return ""


def _record_fingerprints(verdict: SubmissionVerdict) -> set[bytes]:
    """Return the fingerprints of all records of a submission."""
    return set[bytes]().union(*(fingerprints.records for fingerprints in verdict.fingerprints.values()))


def shared_reply_notes(submissions: Sequence[tuple[str, SubmissionVerdict | None]]) -> Mapping[int, Sequence[str]]:
    """Return notes on submissions, by their index, whose models gave the same replies as models of others.

    Both submissions have the note, for who was first is unknown.
    """
    notes: dict[int, list[str]] = defaultdict(list)
    models = [
        (number, model, fingerprints)
        for number, (_, verdict) in enumerate(submissions)
        if verdict
        for model, fingerprints in verdict.fingerprints.items()
    ]
    for number, (_, verdict) in enumerate(submissions):
        findings = verdict.odd if verdict else ()
        notes[number] += [f"{odd.text}." for odd in findings if odd.kind in ("same replies", "repeated run")]
    for (i, model, replies), (j, other_model, other_replies) in combinations(models, 2):
        if i != j and (text := replies.shared_replies_text(other_replies)):
            notes[i].append(f"{other_model} of {submissions[j][0]} gave {text}.")
            notes[j].append(f"{model} of {submissions[i][0]} gave {text}.")
    return notes
