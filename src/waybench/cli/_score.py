"""`waybench score`: stored replies and records, scored without a model."""

import os
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO

import click

from waybench._scoring import score_and_record
from waybench.cli._options import OUTPUT, THINK_TAGS_OPTION, argument, option, with_parameters
from waybench.cli._output import dumps, level_tables_text, open_lines, to_stderr
from waybench.cli._report import build_report
from waybench.core import (
    FIRST_REPLIES,
    THINK_TAGS,
    EpisodeRecord,
    Json,
    UsageError,
    make_writable_folder,
    numbered_json_lines,
    plural,
    reasoning_warning,
    user_path,
)
from waybench.core._replies import join_think_tags
from waybench.envs import registry

LONGEST_LINE = 1 << 28  # bytes; a larger one is not read into memory
_TOO_LONG: dict[str, Json] = {"line": 0, "error": f"the line is longer than {LONGEST_LINE >> 20} MiB"}


@click.command()
@with_parameters
@click.pass_context
def score(
    context: click.Context,
    file: str = argument(type=OUTPUT),
    out: str | None = option("File to write.  [default: standard output]", type=OUTPUT),
    site: Path | None = option(
        "Write a report of the episodes here, and their records as DIR/records.jsonl; print a table of the scores.",
        "--report",
        metavar="DIR",
    ),
    model: str = option('Model name in the report, for lines without "model".', default="stored replies"),
    think_tags: tuple[str, str] | None = THINK_TAGS_OPTION,
) -> None:
    """Score the stored replies in FILE (- for standard input), one JSON object per line, or a list of objects.

    \b
    {"env": "maze/alicia", "instance": {"maze": [[0,0,0,"X",0], ...]},
     "replies": ["...", {"text": "...", "stop": "truncated"}], "options": {"protocol": "paper"}}

    A reply can be null, for an empty one; "stop" is "stop", "truncated", "overflow" or "refused".
    "options", "examples", "attempt", "id" and, for a report, "model" are optional. A line from `waybench generate`
    becomes such an object when you add "replies". An episode's record works too: it is re-simulated and must agree.
    Each line of the output has the metrics, the end (null if the replies ran out first) and the turns. For a line that
    cannot be scored, it has "line" and "error" instead, and the exit status is 1.
    """  # noqa: D301  click's mark for a paragraph that keeps its lines is the character itself
    n_scored = n_failed = 0
    options = {THINK_TAGS: join_think_tags(*think_tags)} if think_tags else {}
    unmarked_replies: list[str] = []
    records_path = None if site is None else str(make_writable_folder(site) / "records.jsonl")
    with _open_input(file) as stream:
        for output in (out, records_path):
            _refuse_output_over_input(stream, output)
        with open_lines(out) as write, open_lines(records_path) if records_path else nullcontext() as write_record:
            for number, line in _numbered_lines(stream, file):
                if line is None:
                    result, record = _TOO_LONG | {"line": number}, None
                elif line.strip():
                    result, record = score_and_record(line, number, model, options)
                else:
                    continue
                if record is not None and len(unmarked_replies) < FIRST_REPLIES:
                    unmarked_replies += _unmarked_replies(record)
                write(dumps(result))
                if write_record is not None and record is not None:
                    write_record(dumps(record))
                n_scored += 1
                n_failed += "error" in result
    if not n_scored:
        if records_path is not None:
            os.unlink(records_path)
        raise UsageError(f"{'standard input' if file == '-' else file} has no lines: give one JSON object a line")
    if site is not None and records_path is not None and n_failed < n_scored:
        _write_report(Path(records_path), site, err=out in (None, "-"))
    if warning := reasoning_warning(unmarked_replies[:FIRST_REPLIES]):
        to_stderr(f"Warning: {warning}")
    if n_failed:
        to_stderr(f"{n_failed} of {plural(n_scored, 'line')} could not be scored: see 'error' in the output")
        context.exit(1)


def _unmarked_replies(record: Json) -> list[str]:
    """Return the replies of a record that had to name an action and have no reasoning marks."""
    episode = EpisodeRecord.from_json(record)
    return [turn.reply for turn in registry.load(episode.env).playing.action_turns(episode) if not turn.reasoning]


def _write_report(records: Path, site: Path, *, err: bool) -> None:
    """Print the score tables of the records and write their report; to stderr if `err`."""
    from waybench.results import read_logs

    text = level_tables_text(read_logs(records), on_problem=lambda problem: None)  # the report names what is skipped
    report = f"report: {build_report((records,), site, 'waybench').index}"
    click.echo(f"{text}\n\n{report}" if text else report, err=err)


@contextmanager
def _open_input(file: str) -> Generator[BinaryIO, None, None]:
    """Open a file for reading, or standard input for "-"."""
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = open(user_path(file), "rb")  # noqa: SIM115  what goes wrong later is no matter of the path
    except OSError as error:
        raise _read_error(file, error) from None
    with stream:
        yield stream


def _refuse_output_over_input(stream: BinaryIO, out: str | None) -> None:
    """Raise a UsageError if the output is the same file as the input."""
    if out is not None and os.path.isfile(out):
        with suppress(OSError):  # what is no file on a disk cannot be the same as one
            if os.path.samestat(os.fstat(stream.fileno()), os.stat(out)):
                raise UsageError("--out is the same file as the input: choose another file")


def _numbered_lines(stream: BinaryIO, file: str) -> Iterator[tuple[int, bytes | None]]:
    """Yield the numbers and the bytes of a file's lines, None for one that is too long."""
    try:
        yield from numbered_json_lines(stream, LONGEST_LINE, file)
    except OSError as error:
        raise _read_error(file, error) from None


def _read_error(file: str, error: OSError) -> UsageError:
    """Return the error that the input cannot be read."""
    return UsageError(f"cannot read {file!r}: {error.strerror}; give a file of JSON lines, or - for standard input")
