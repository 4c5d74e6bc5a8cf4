"""A signed verdict beside a submission, which stands for checks that are not possible here."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from waybench.analysis.formatting import stored_lost_text
from waybench.core import UsageError, check_json
from waybench.envs import registry
from waybench.submission import check_signature

_MOST_BYTES = 64 << 20
_MOST_VALUES = 2_000_000


class SignedScores(NamedTuple):
    """A score of an earlier version of an environment, as a signed verdict has it.

    Attributes:
        model: The model.
        task: The task.
        env: The environment.
        version: Its version.
        metric: The headline metric.
        value: The mean.
        low: Lower end of its 95 % interval; None if it is not known.
        high: Upper end.
        lost: What the score lacks: "n = 4 of 10; 16.000 to 76.000"; "" if it lacks nothing.
    """

    model: str
    task: str
    env: str
    version: int
    metric: str
    value: float
    low: float | None
    high: float | None
    lost: str = ""


class SignedVerdict(NamedTuple):
    """A verdict with the signature of an allowed signer.

    Attributes:
        signer: The signer.
        is_verified: Whether it says that the submission is verified.
        earlier: Its scores of earlier versions of environments.
    """

    signer: str
    is_verified: bool
    earlier: Sequence[SignedScores]


def signed_verdict(submission: Path, signers: Path) -> SignedVerdict | None:
    """Return the signed verdict beside a submission; None if there is none.

    Args:
        submission: The submission, "x.zip". Its verdict is "x.verdict.json", with the signature "x.verdict.json.sig".
        signers: The file of allowed signers.

    Raises:
        UsageError: If the signature does not hold.
    """
    path = submission.with_suffix(".verdict.json")
    signature = path.with_name(f"{path.name}.sig")
    if not signature.is_file() and not path.is_file():
        return None
    if path.is_symlink() or signature.is_symlink() or (path.is_file() and path.stat().st_size > _MOST_BYTES):
        raise UsageError(f"{path.name}: a link, or more than {_MOST_BYTES >> 20} MiB")
    if not signature.is_file():
        return None  # a verdict that nobody signed proves nothing
    found = check_signature(submission, signature, signers)
    if found.problem:
        raise UsageError(f"{signature.name}: {found.problem}")
    text = path.read_text(encoding="utf-8", errors="replace")
    check_json(text, _MOST_VALUES)
    return SignedVerdict(found.signer, found.verdict == "verified", tuple(_earlier(json.loads(text))))


def _earlier(verdict: Mapping[str, Any]) -> Iterator[SignedScores]:
    for score in verdict.get("scores", ()):
        try:
            group, metric = score["group"], str(score["headline"])
            mean = score["metrics"][metric]
            if score["kind"] != "overall" or mean is None:
                continue
            version, env = int(group["version"]), str(group["env"])
            if version == registry.load(env).version:
                continue
            ends = (None if mean[end] is None else float(mean[end]) for end in ("low", "high"))
            lost = stored_lost_text(mean.get("lost"))  # verdicts of earlier versions of waybench do not have it
            names = str(group["model"]), str(group["task"]), env, version, metric
            low, high = ends
            yield SignedScores(*names, mean["value"], low, high, lost)
        except (KeyError, TypeError, ValueError, UsageError):  # of a form that this waybench does not know
            continue
