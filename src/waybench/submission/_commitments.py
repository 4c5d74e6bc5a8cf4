"""Commitments of private sets in a verdict: the keys are those that were committed to before."""

from collections.abc import Sequence
from dataclasses import replace

from waybench.core import LABEL, commitment, key_label
from waybench.submission._verdict import Findings, Verdict

KIND = "commitment"


def with_commitments(verdict: Verdict, keys: Sequence[str], commitments: Sequence[str]) -> Verdict:
    """Return a verdict that also says whether the keys of its private sets are those that were committed to.

    Args:
        verdict: The verdict.
        keys: The keys that were given.
        commitments: The commitments that were published.
    """
    by_commitment = {commitment(key): key_label(key) for key in keys}
    committed = {by_commitment[each]: each for each in commitments if each in by_commitment}
    found = Findings()
    for each in commitments:
        if each not in by_commitment:
            found.add(KIND, f"no key that was given belongs to {each}")
    given = {str(run.parameters.get("key", "")) for run in verdict.runs}
    private = {label for label in given if LABEL.fullmatch(label)}
    for label in sorted({key_label(key) for key in keys} | private):
        if label not in committed:
            found.add(KIND, f"the key of {label} belongs to no commitment that was given")
    return replace(
        verdict,
        problems=[*verdict.problems, *found.shown],
        counts={**verdict.counts, **found.counts},
        commitments=committed,
    )
