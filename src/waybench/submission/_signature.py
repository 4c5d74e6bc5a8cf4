"""Signatures of verdicts, made and checked by OpenSSH, and the page of a verdict."""

import hashlib
import json
import subprocess
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

from jinja2 import Environment, StrictUndefined

from waybench.core import UsageError, plural
from waybench.results.formatting import visible
from waybench.submission._verdict import NOT_PROVEN, PROBLEMS, Verdict

NAMESPACE = "waybench"
_PATIENCE = 60  # seconds; a key with a passphrase waits for a person


class Signed(NamedTuple):
    """A signature that was checked.

    Attributes:
        signer: The name of the key in the file of allowed signers.
        verdict: The verdict that was signed: "verified" or "not verified".
        problem: Why the signature does not hold; "" if it does.
    """

    signer: str
    verdict: str
    problem: str = ""


def sign(verdict: Path, key: Path) -> Path:
    """Sign a verdict; the signature is written beside it, as `verdict.json.sig`.

    Args:
        verdict: The file.
        key: A private key of OpenSSH, or the public key of one that its agent holds.

    Raises:
        UsageError: If it cannot be signed with this key.
    """
    signature = verdict.with_name(f"{verdict.name}.sig")
    signature.unlink(missing_ok=True)  # ssh-keygen asks before it replaces a file
    _run(["-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(verdict)], f"cannot sign with {key}")
    return signature


def check_signature(submission: Path, signature: Path, signers: Path) -> Signed:
    """Check that a signed verdict is about a submission, and who signed it.

    Args:
        submission: The submission.
        signature: The signature, with the verdict beside it: the same name without ".sig".
        signers: A file of allowed signers, as `ssh-keygen` has it.

    Raises:
        UsageError: If a file is missing, or `ssh-keygen` is not installed.
    """
    verdict = signature.with_suffix("")
    for path, what in (
        (submission, "submission"),
        (verdict, "verdict"),
        (signature, "signature"),
        (signers, "list of signers"),
    ):
        if not path.is_file():
            raise UsageError(f"{path}: there is no such {what}")
    content = verdict.read_bytes()
    found = _call(["-Y", "find-principals", "-f", str(signers), "-s", str(signature)])
    signer = found.stdout.decode(errors="replace").strip().splitlines()[0] if found.returncode == 0 else ""
    if not signer:
        return Signed("", "", "no allowed signer has the key of this signature")
    command = ["-Y", "verify", "-f", str(signers), "-I", signer, "-n", NAMESPACE, "-s", str(signature)]
    if _call(command, content).returncode != 0:
        return Signed(signer, "", "the signature does not belong to this verdict: one of them was changed")
    try:
        data: Any = json.loads(content)
        of_file, said = str(data["submission"]["sha256"]), str(data["verdict"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return Signed(signer, "", f"{verdict.name} is no verdict")
    with submission.open("rb") as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() != of_file:
            return Signed(signer, said, "the verdict is about another file: the SHA-256 differs")
    return Signed(signer, said)


def _run(arguments: list[str], what: str) -> None:
    done = _call(arguments)
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise UsageError(f"{what}: {lines[-1][:200] if lines else 'ssh-keygen failed'}")


def _call(arguments: list[str], content: bytes | None = None) -> "subprocess.CompletedProcess[bytes]":
    program = which("ssh-keygen")
    if program is None:
        raise UsageError("ssh-keygen is not installed: install OpenSSH (Debian: openssh-client) to use signatures")
    try:
        # Without a terminal, a key with a passphrase is refused; the agent can hold it.
        return subprocess.run(
            [program, *arguments],
            input=content if content is not None else b"",
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise UsageError("ssh-keygen did not answer within a minute: add the key to the agent with ssh-add") from None


def verdict_page(verdict: Verdict, *, links: Sequence[tuple[str, str]] = (), note: str = "", signer: str = "") -> str:
    """Return the page of a verdict.

    Args:
        verdict: The verdict. Everything in it is text from outside, which is escaped.
        links: Texts and addresses of pages about the same submission.
        note: What else is known of the submission, in a sentence.
        signer: Who signed a verdict that the file is verified, which stands for the checks that are not possible here;
            "" for nobody. The page's heading is then this verdict, and what is not checked here is no failure.
    """
    templates = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    source = (files("waybench.submission") / "verdict.html").read_text(encoding="utf-8")
    headline = [
        score for score in verdict.scores if score["kind"] == "overall" and score["metrics"].get(score["headline"])
    ]
    return templates.from_string(source).render(
        verdict=verdict,
        links=links,
        note=note,
        signer=signer,
        scores=headline,
        meanings=PROBLEMS,
        not_proven=NOT_PROVEN,
        plural=plural,
        records=sum(run.records for run in verdict.runs),
    )


def _shown(value: Any) -> Any:
    return visible(value) if isinstance(value, str) else value
