"""Signatures of verdicts, made and checked by OpenSSH."""

import hashlib
import json
import subprocess
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

from waybench.core import UsageError

NAMESPACE = "waybench"
_LONGEST_WAIT = 60  # seconds; a key with a passphrase waits for a person


class Signed(NamedTuple):
    """A signature that was checked.

    Attributes:
        signer: The name of the key in the file of allowed signers.
        verdict: The verdict that was signed: "verified" or "not verified".
        problem: Why the signature is not valid for the submission; "" if it is valid.
    """

    signer: str
    verdict: str
    problem: str = ""


def sign_verdict(verdict: Path, key: Path) -> Path:
    """Sign a verdict's file; return the path of the signature, `verdict.json.sig`.

    `key` is a private key of OpenSSH, or the public key of a private key that its agent has.

    Raises:
        UsageError: If the file cannot be signed with this key.
    """
    signature = verdict.with_name(f"{verdict.name}.sig")
    signature.unlink(missing_ok=True)  # ssh-keygen asks before it replaces a file
    process = _run_ssh_keygen(["-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(verdict)])
    if process.returncode != 0:
        lines = process.stderr.decode(errors="replace").strip().splitlines()
        raise UsageError(f"cannot sign with {key}: {lines[-1][:200] if lines else 'ssh-keygen failed'}")
    return signature


def check_signature(submission: Path, signature: Path, signers: Path) -> Signed:
    """Check who signed a verdict, and that it is about a submission.

    Args:
        submission: The submission.
        signature: The signature, with the verdict beside it: the same name without ".sig".
        signers: A file of allowed signers, in the format of `ssh-keygen`.

    Raises:
        UsageError: If a file is missing, or `ssh-keygen` is not installed.
    """
    verdict = signature.with_suffix("")
    for path, description in (
        (submission, "submission"),
        (verdict, "verdict"),
        (signature, "signature"),
        (signers, "list of signers"),
    ):
        if not path.is_file():
            raise UsageError(f"{path}: there is no such {description}")
    content = verdict.read_bytes()
    principals = _run_ssh_keygen(["-Y", "find-principals", "-f", str(signers), "-s", str(signature)])
    signer = principals.stdout.decode(errors="replace").strip().splitlines()[0] if principals.returncode == 0 else ""
    if not signer:
        return Signed("", "", "no allowed signer has the key of this signature")
    command = ["-Y", "verify", "-f", str(signers), "-I", signer, "-n", NAMESPACE, "-s", str(signature)]
    if _run_ssh_keygen(command, content).returncode != 0:
        return Signed(signer, "", "the signature does not belong to this verdict: one of them was changed")
    try:
        data: Any = json.loads(content)
        signed_sha256, conclusion = str(data["submission"]["sha256"]), str(data["verdict"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return Signed(signer, "", f"{verdict.name} is no verdict")
    with submission.open("rb") as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() != signed_sha256:
            return Signed(signer, conclusion, "the verdict is about another file: the SHA-256 differs")
    return Signed(signer, conclusion)


def _run_ssh_keygen(arguments: list[str], stdin: bytes | None = None) -> "subprocess.CompletedProcess[bytes]":
    """Run ssh-keygen with these arguments and input, and return the finished process."""
    program = which("ssh-keygen")
    if program is None:
        raise UsageError("ssh-keygen is not installed: install OpenSSH (Debian: openssh-client) to use signatures")
    try:
        # Without a terminal, a key with a passphrase is refused; the agent can hold it.
        return subprocess.run(
            [program, *arguments],
            input=stdin if stdin is not None else b"",
            capture_output=True,
            timeout=_LONGEST_WAIT,
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise UsageError("ssh-keygen did not answer within a minute: add the key to the agent with ssh-add") from None
