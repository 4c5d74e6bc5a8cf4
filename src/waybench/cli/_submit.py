"""`waybench submit`, `waybench verify`, and `waybench commit` for the keys of private sets."""

import json
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from waybench.cli._options import (
    ADDRESS,
    DATA_DIR,
    KEY_FILES,
    KEYS,
    WORKERS,
    LogPlace,
    argument,
    chosen_workers,
    option,
    read_secrets,
    with_parameters,
)
from waybench.cli._output import size_text, tell_skipped
from waybench.core import STRONG_BITS, UsageError, commitment, key_bits, key_label, plural, read_commitment

if TYPE_CHECKING:
    from waybench.results.logs import Skipped

NOT_VERIFIED = 1
_PLACE = click.Path(path_type=Path)
_BAR_EVERY = 25  # records


@click.command()
@with_parameters
def submit(
    places: tuple[Path, ...] = argument("DIR|URL...", required=True, type=LogPlace()),
    models: tuple[str, ...] = option("Model to submit; repeatable.  [default: all]", "--model"),
    out: Path = option("File to write.", default=Path("submission.zip")),
    submitter: str = option("Who submits: a name, an address, a page.", "--by", default=""),
    about: str = option("What you say of the models: version, settings that the logs do not have.", default=""),
) -> None:
    """Write the runs in DIR... as one file that `waybench verify` checks.

    DIR is a folder of logs (as `waybench run --out` writes it) or a log. The file has the records, their settings and
    versions, and the scores. It has no keys of private sets, no credentials, no paths of this machine, and no
    prompts: `waybench verify` makes these again. The same logs give the same bytes.
    """
    from waybench.submission import pack

    skipped: list[Skipped] = []
    with _bar("reading") as step:
        packed = pack(
            places,
            out,
            models=models,
            submitter=submitter,
            about=about,
            on_problem=skipped.append,
            progress=lambda done: step(done, None),
        )
    tell_skipped(skipped)
    if packed.unconfirmed:
        click.echo(
            f"waybench: a new simulation does not agree with {plural(packed.unconfirmed, 'record')}: "
            f"`waybench verify {out}` says why",
            err=True,
        )
    size = packed.path.stat().st_size
    click.echo(
        f"{packed.path}: {plural(packed.runs, 'run')} of {plural(len(packed.models), 'model')}, "
        f"{plural(packed.records, 'record')}, {size_text(size)}"
    )
    if out.suffix != ".zip":
        click.echo(
            f"Warning: {out}: leaderboards take only files named *.zip; rename it before you hand it in", err=True
        )
    click.echo(f"next: waybench verify {out}")


@click.command()
@with_parameters
@click.pass_context
def verify(
    context: click.Context,
    places: tuple[Path, ...] = argument("PATH|URL...", required=True, type=LogPlace()),
    models: tuple[str, ...] = option("Model to verify, of logs; repeatable.  [default: all]", "--model"),
    keys: tuple[str, ...] = KEYS,
    key_files: tuple[str, ...] = KEY_FILES,
    commitments: tuple[str, ...] = option(
        "Check that the keys are the ones of these commitments (`waybench commit`); repeatable.",
        "--commitment",
        metavar="TEXT",
    ),
    data_dir: str | None = DATA_DIR,
    out: Path | None = option("Write verdict.json and verdict.html to this folder.", metavar="DIR"),
    as_json: bool = option("Print the verdict as JSON.", "--json"),
    sign: Path | None = option("Sign verdict.json in --out with this SSH key.", metavar="KEY"),
    signature: Path | None = option("Check a signature (verdict.json.sig) instead.", metavar="SIG"),
    signers: Path | None = option("File of allowed signers, for --signature."),
    executor_name: str | None = WORKERS,
    address: str = ADDRESS,
) -> None:
    """Verify a submission, or logs, without a model and without a network.

    PATH is a file that `waybench submit` wrote, a folder of logs, or a log. Every item is made again from its key,
    level and index; every record is simulated again; every episode that the task implies has to be there, once; and
    all scores are computed again. In logs, records are compared with the transcripts, too. A vocabulary of tiktoken
    that a task counts tokens with (tokenizer=tiktoken/NAME) is fetched if it is not in tiktoken's cache.

    The exit status is 0 if it is verified, 1 if not, and 2 if PATH is no submission.
    """
    if signature is not None:
        context.exit(_check(places, signature, signers))
    if signers is not None:
        raise UsageError("--signers: for --signature only; leave it out")
    if sign is not None and out is None:
        raise UsageError("--sign: give a folder for the verdict with --out, too")
    for place in places:
        if not place.exists():
            raise UsageError(f"{place}: there is no such file or folder; give a submission or a folder of logs")
    secrets = read_secrets(keys, key_files)
    committed = [read_commitment(text) for text in commitments]
    archives = [place for place in places if place.is_file() and place.suffix != ".eval"]
    if archives and len(places) > 1:
        raise UsageError("give one submission at a time, or only folders of logs and logs")
    from waybench.submission import NotASubmission, verify, verify_logs, with_commitments

    skipped: list[Skipped] = []
    workers = chosen_workers(executor_name, address)
    with _bar("verifying") as step:
        options: dict[str, Any] = {"keys": secrets, "data_dir": data_dir, "progress": step, "workers": workers}
        if archives:
            if models:
                raise UsageError("--model: for logs only; a submission is verified whole")
            try:
                verdict = verify(archives[0], **options)
            except NotASubmission as error:
                raise UsageError(
                    f"{archives[0]}: {error}; give a file that `waybench submit` wrote, or a folder of logs"
                ) from None
        else:
            verdict = verify_logs(places, models=models, on_problem=skipped.append, **options)
    if committed:
        verdict = with_commitments(verdict, secrets, committed)
    tell_skipped(skipped)
    click.echo(json.dumps(verdict.to_json(), indent=1) if as_json else verdict.text())
    if out is not None:
        _write(out, verdict, sign)
    context.exit(0 if verdict.is_verified else NOT_VERIFIED)


def _write(out: Path, verdict: Any, sign: Path | None) -> None:
    from waybench.core import prepare_folder
    from waybench.submission import sign_verdict, verdict_page

    prepare_folder(out)
    path = out / "verdict.json"
    path.write_text(json.dumps(verdict.to_json(), indent=1) + "\n", encoding="utf-8")
    (out / "verdict.html").write_text(verdict_page(verdict), encoding="utf-8")
    click.echo(f"verdict: {out / 'verdict.html'}, {path}", err=True)
    if sign is not None:
        click.echo(f"signature: {sign_verdict(path, sign)}", err=True)


def _check(places: Sequence[Path], signature: Path, signers: Path | None) -> int:
    if signers is None or len(places) != 1:
        raise UsageError("--signature: give one submission, and the allowed signers with --signers FILE")
    from waybench.submission import check_signature

    found = check_signature(places[0], signature, signers)
    if found.problem:
        click.echo(f"{signature}: {found.problem}")
        return NOT_VERIFIED
    click.echo(f"{signature}: signed by {found.signer}; the verdict on this file is: {found.verdict}")
    return 0 if found.verdict == "verified" else NOT_VERIFIED


class _bar:
    """A line of progress on a terminal; nothing elsewhere."""

    def __init__(self, what: str) -> None:
        self._what, self._shown = what, sys.stderr.isatty()

    def __enter__(self) -> Callable[[int, int | None], None]:
        return self._step

    def _step(self, done: int, total: int | None) -> None:
        if self._shown and (done % _BAR_EVERY == 0 or done == total):
            of = "" if total is None else f" of {total:,}"
            click.echo(f"\r{self._what} {done:,}{of} records", err=True, nl=False)

    def __exit__(self, *error: object) -> None:
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)


_BYTES = 32


@click.command()
@with_parameters
def commit(
    key_files: tuple[str, ...] = KEY_FILES,
    keys: tuple[str, ...] = KEYS,
    new: bool = option("Draw a new key of 256 bits and write it to --key-file first."),
    as_json: bool = option("Print JSON.", "--json"),
) -> None:
    """Print the commitment to the key of a private set: a hash to publish before the set is used.

    Whoever has the key later checks with `waybench verify --key-file FILE --commitment TEXT` that it is the same one.
    The commitment does not show the key, as long as that has at least 128 bits.
    """
    if new:
        if keys or len(key_files) != 1:
            raise UsageError("--new: give one file for the new key with --key-file")
        _write_key(Path(key_files[0]))
    found = read_secrets(keys, key_files)
    if not found:
        raise UsageError("give the key with --key-file FILE or --key env:NAME")
    for key in found:
        if key_bits(key) < STRONG_BITS:
            click.echo(
                f"Warning: the key of {key_label(key)} has fewer than {STRONG_BITS} bits, and can be found by trying: "
                "draw one with --new",
                err=True,
            )
    values = [{"set": key_label(key), "commitment": commitment(key)} for key in found]
    if as_json:
        click.echo(json.dumps(values, indent=1))
    else:
        for value in values:
            click.echo(f"{value['set']} {value['commitment']}")


def _write_key(path: Path) -> None:
    try:
        # Only the owner may read it, and an earlier key is never replaced.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{path}: this file exists; give another one, or leave out --new") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}); give another file") from None
    with os.fdopen(handle, "w", encoding="ascii") as stream:
        stream.write(secrets.token_hex(_BYTES) + "\n")
