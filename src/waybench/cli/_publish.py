"""Results for others: `waybench submit`, `verify` and `commit`, `waybench leaderboard` and `waybench export`."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from waybench.cli._dataset import DATASET, write_dataset
from waybench.cli._harbor import HARBOR, TaskSetOptions, write_harbor_tasks, write_new_key
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
    read_keys,
    with_parameters,
)
from waybench.cli._output import print_skipped, size_text, to_stderr
from waybench.cli._run_settings import read_assignments
from waybench.core import (
    UsageError,
    checked_commitment,
    key_commitment,
    make_writable_folder,
    plural,
    private_key_label,
)
from waybench.core._secrets import STRONG_BITS, max_key_bits

if TYPE_CHECKING:
    from waybench.results.logs import Skipped

FORMATS = ("every-eval-ever", "huggingface", "inspect-catalogue", "citation", HARBOR, DATASET)
NOT_VERIFIED = 1
_RECORDS_PER_UPDATE = 25  # of a count on the terminal


@click.command()
@with_parameters
def leaderboard(
    folder: Path = argument("FOLDER"),
    out: Path | None = option("Folder for the site.  [default: FOLDER/site]", "--out", "-o"),
    keys: tuple[str, ...] = KEYS,
    key_files: tuple[str, ...] = KEY_FILES,
    data_dir: str | None = DATA_DIR,
    init: bool = option("Write the files of a new leaderboard to FOLDER instead."),
) -> None:
    """Verify all submissions in FOLDER and write a leaderboard of them as a static site.

    Each file *.zip in FOLDER is a submission (`waybench submit`), for example in a checkout of a git repository; a
    submission with another name is refused. Rows
    are verified, run again by the maintainers, not verified (community) or withdrawn; each leads to its verdict and
    replays. data/feed.json has the same for programs. A file that is no submission is refused, and the others are not
    affected.

    leaderboard.toml in FOLDER has the title, the allowed signers and the commitments of private sets. --init writes
    it, with a workflow that verifies what a pull request adds.
    """
    from waybench.ext.publish.leaderboard._entries import read_board, read_settings
    from waybench.ext.publish.leaderboard._site import write_leaderboard
    from waybench.ext.publish.leaderboard._template import write_template
    from waybench.results.formatting import one_line

    if init:
        for name, is_new in write_template(make_writable_folder(folder)):
            click.echo(f"{folder / name}{'' if is_new else ' (it exists, and stays as it is)'}")
        return
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder; give the folder of the submissions")
    settings = read_settings(folder)
    secret_keys = read_keys(keys, key_files)
    commitments = {private_set.commitment for private_set in settings.private_sets}
    for key in secret_keys:
        if key_commitment(key) not in commitments:
            raise UsageError(
                f"the key of {private_key_label(key)} belongs to no commitment in leaderboard.toml: add it first"
            )
    site = make_writable_folder(out or folder / "site")
    board = read_board(folder, settings, keys=secret_keys, data_dir=data_dir, progress=_show_names("verifying"))
    site_files = write_leaderboard(site, settings, *board, progress=_show_names("writing"))
    print_skipped(site_files.skipped)
    for refusal in board.refused:
        to_stderr(f"refused: {one_line(refusal.file, 80)}: {one_line(refusal.reason, 200)}")
    statuses = Counter(entry.status for entry in board.entries)
    counts = "".join(f", {count} {status}" for status, count in sorted(statuses.items()))
    count = plural(len(board.entries), "submission")
    click.echo(f"leaderboard: {site_files.page} ({count}{counts}, {len(board.refused)} refused)")


def _show_names(label: str) -> Callable[[str], None] | None:
    """Return a function that shows a name after a label on the terminal; None without a terminal."""
    return (lambda name: click.echo(f"\r\x1b[K{label} {name}", err=True, nl=False)) if sys.stderr.isatty() else None


_EXAMPLES = """\b
waybench export waybench-out --format every-eval-ever --organization "My lab" --out eee
waybench export waybench-out --format huggingface --dataset my-name/my-benchmark --out hub
waybench export waybench-out --format inspect-catalogue --repository https://... --commit 0123... --out register
waybench export waybench-out --format citation --out cite
waybench export TASK --format harbor --count 20 --out tasks
waybench export TASK TASK --format dataset --dataset my-name/my-benchmark --out hub"""


@click.command(epilog=_EXAMPLES)
@with_parameters
def export(
    task_set: TaskSetOptions,
    folders: tuple[Path, ...] = argument("DIR|URL|FILE|TASK...", required=True, type=LogPlace()),
    form: str = option("Format of the files.", "--format", required=True, type=click.Choice(FORMATS)),
    out: Path = option("Folder for the files.", "--out", "-o", required=True),
    model: str = option("Export this model alone.", default="", metavar="NAME"),
    organization: str | None = option("Who provides the results (every-eval-ever).", metavar="NAME"),
    relationship: str = option(
        "Your relationship to the models (every-eval-ever).",
        type=click.Choice(["first_party", "third_party", "collaborative", "other"]),
        default="third_party",
    ),
    dataset: str | None = option("The benchmark's data set on the Hub (huggingface, dataset).", metavar="OWNER/NAME"),
    url: str = option("Where the evaluation can be read (huggingface).", default="", metavar="URL"),
    repository: str | None = option("The repository that was run (inspect-catalogue).", metavar="URL"),
    commit: str | None = option("The commit of it that was run (inspect-catalogue).", metavar="SHA"),
    maintainers: tuple[str, ...] = option("Who keeps the entry; repeatable.", "--maintainer", metavar="NAME"),
    answers: bool = option("Write the items as data and their answers, too (dataset)."),
) -> None:
    """Export the results of some runs in a format that others read.

    Every episode is simulated again first, as for a report; one that does not agree with its simulation is in no file.
    Searches for horizons are left out, since they choose their items by the results.

    every-eval-ever: one JSON file for each model, task and settings, and one line for each episode (schema 0.3).
    huggingface: `.eval_results` for the models' repositories, and `eval.yaml` for the benchmark's.
    inspect-catalogue: registration files of Inspect's catalogue of evaluations. citation: what to cite.
    harbor: TASK as directories of tasks, which Harbor runs: an item each, with its verifier and solution.
    dataset: public sets of TASK... as Parquet with card, eval.yaml and checksums, for the Hugging Face Hub.
    """
    names = [str(folder) for folder in folders]
    if form == HARBOR:
        write_harbor_tasks(names, out, task_set)
        return
    if form == DATASET:
        write_dataset(names, out, task_set, dataset=dataset or "", answers=answers)
        return
    from waybench.ext.publish.exports._every_eval_ever import every_eval_ever_files
    from waybench.ext.publish.exports._files import benchmark_file, write_files
    from waybench.ext.publish.exports._formats import catalogue_entries, citations, eval_results_files, read_results
    from waybench.results.logs import Skipped

    required = {
        "every-eval-ever": [("--organization", organization)],
        "huggingface": [("--dataset", dataset)],
        "inspect-catalogue": [("--repository", repository), ("--commit", commit)],
    }
    for flag, value in required.get(form, ()):
        if not value:
            raise UsageError(f"--format {form} needs {flag}")
    skipped: list[Skipped] = []
    results = read_results(folders, model, skipped.append)
    if form == "every-eval-ever":
        files = every_eval_ever_files(results, organization=organization or "", relationship=relationship)
    elif form == "huggingface":
        files = (
            *eval_results_files(results, dataset or "", url=url),
            benchmark_file({result.group.task for result in results}),
        )
    elif form == "inspect-catalogue":
        files = catalogue_entries(results, repository=repository or "", commit=commit or "", maintainers=maintainers)
    else:
        files = citations(results)
    paths = write_files(out, list(files))
    print_skipped(skipped)
    episodes = sum(len(result.episodes) for result in results)
    click.echo(f"export: {plural(len(paths), 'file')} of {plural(episodes, 'episode')} in {out}")


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
    from waybench.submission._pack import pack

    skipped: list[Skipped] = []
    with _record_counter("reading") as show_count:
        packed = pack(
            places,
            out,
            models=models,
            submitter=submitter,
            about=about,
            on_problem=skipped.append,
            progress=lambda done: show_count(done, None),
        )
    print_skipped(skipped)
    if packed.unconfirmed:
        to_stderr(
            f"waybench: a new simulation does not agree with {plural(packed.unconfirmed, 'record')}: "
            f"`waybench verify {out}` says why"
        )
    click.echo(
        f"{packed.path}: {plural(packed.runs, 'run')} of {plural(len(packed.models), 'model')}, "
        f"{plural(packed.records, 'record')}, {size_text(packed.path.stat().st_size)}"
    )
    if out.suffix != ".zip":
        to_stderr(f"Warning: {out}: leaderboards take only files named *.zip; rename it before you hand it in")
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
    minutes: float = option("Longest time for it.", "--time-limit", metavar="MINUTES", default=60.0),
) -> None:
    """Verify a submission, or logs, without a model and without a network.

    PATH is a file that `waybench submit` wrote, a folder of logs, or a log. Every item is made again from its key,
    level and index; every record is simulated again; every episode that the task implies has to be there, once; and
    all scores are computed again. In logs, records are compared with the transcripts, too. A vocabulary of tiktoken
    that a task counts tokens with (tokenizer=tiktoken/NAME) is fetched if it is not in tiktoken's cache.

    The exit status is 0 if it is verified, 1 if not, and 2 if PATH is no submission.
    """
    if signature is not None:
        context.exit(_check_signature(places, signature, signers))
    if signers is not None:
        raise UsageError("--signers: for --signature only; leave it out")
    if sign is not None and out is None:
        raise UsageError("--sign: give a folder for the verdict with --out, too")
    for path in places:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder; give a submission or a folder of logs")
    secret_keys = read_keys(keys, key_files)
    checked_commitments = [checked_commitment(text) for text in commitments]
    submissions = [path for path in places if path.is_file() and path.suffix != ".eval"]
    if submissions and len(places) > 1:
        raise UsageError("give one submission at a time, or only folders of logs and logs")
    from waybench import submission
    from waybench.submission._archive import NotASubmission
    from waybench.submission._logs import verify_logs
    from waybench.submission._verdict import with_commitments

    skipped: list[Skipped] = []
    workers = chosen_workers(executor_name, address)
    with _record_counter("verifying") as show_count:
        options: dict[str, Any] = {"keys": secret_keys, "data_dir": data_dir, "progress": show_count}
        options |= {"workers": workers, "seconds": 60 * minutes}
        if submissions:
            if models:
                raise UsageError("--model: for logs only; a submission is verified whole")
            try:
                verdict = submission.verify(submissions[0], **options)
            except NotASubmission as error:
                raise UsageError(
                    f"{submissions[0]}: {error}; give a file that `waybench submit` wrote, or a folder of logs"
                ) from None
        else:
            verdict = verify_logs(places, models=models, on_problem=skipped.append, **options)
    if checked_commitments:
        verdict = with_commitments(verdict, secret_keys, checked_commitments)
    print_skipped(skipped)
    click.echo(json.dumps(verdict.to_json(), indent=1) if as_json else verdict.text())
    if out is not None:
        _write_verdict(out, verdict, sign)
    context.exit(0 if verdict.is_verified else NOT_VERIFIED)


def _write_verdict(out: Path, verdict: Any, sign: Path | None) -> None:
    """Write verdict.json and verdict.html, and sign them if a key is given."""
    from waybench.submission import verdict_page
    from waybench.submission._signatures import sign_verdict

    make_writable_folder(out)
    path = out / "verdict.json"
    path.write_text(json.dumps(verdict.to_json(), indent=1) + "\n", encoding="utf-8")
    (out / "verdict.html").write_text(verdict_page(verdict), encoding="utf-8")
    to_stderr(f"verdict: {out / 'verdict.html'}, {path}")
    if sign is not None:
        to_stderr(f"signature: {sign_verdict(path, sign)}")


def _check_signature(places: Sequence[Path], signature: Path, signers: Path | None) -> int:
    """Check the signature of a verdict on a submission, print the result, and return the exit status."""
    if signers is None or len(places) != 1:
        raise UsageError("--signature: give one submission, and the allowed signers with --signers FILE")
    from waybench.submission import check_signature

    check = check_signature(places[0], signature, signers)
    if check.problem:
        click.echo(f"{signature}: {check.problem}")
        return NOT_VERIFIED
    click.echo(f"{signature}: signed by {check.signer}; the verdict on this file is: {check.verdict}")
    return 0 if check.verdict == "verified" else NOT_VERIFIED


@contextmanager
def _record_counter(label: str) -> Generator[Callable[[int, int | None], None]]:
    """Yield a function that shows a count of records on the terminal; elsewhere it does nothing."""
    is_shown = sys.stderr.isatty()

    def print_count(done: int, total: int | None) -> None:
        """Show a count, if it is a round one or the last."""
        if is_shown and (done % _RECORDS_PER_UPDATE == 0 or done == total):
            total_text = "" if total is None else f" of {total:,}"
            click.echo(f"\r{label} {done:,}{total_text} records", err=True, nl=False)

    try:
        yield print_count
    finally:
        if is_shown:
            click.echo("\r\x1b[K", err=True, nl=False)


@click.command()
@with_parameters
def commit(
    task: str | None = argument("[TASK]"),
    model: str = option("With TASK: the model.", "--model", "-m", default=""),
    parameters: tuple[str, ...] = option("With TASK: parameter of the task; repeatable.", "-T", metavar="KEY=VALUE"),
    out: Path | None = option("With TASK: file to write.  [default: standard output]"),
    key_files: tuple[str, ...] = KEY_FILES,
    keys: tuple[str, ...] = KEYS,
    new: bool = option("Draw a new key of 256 bits and write it to --key-file first."),
    as_json: bool = option("Print JSON.", "--json"),
) -> None:
    """Commit to a run of TASK before it begins, or print the commitment to the key of a private set.

    With TASK, the file says which task, items, options and model are run. Hand it to the keepers of a leaderboard, who
    add it to their folder commitments by a signed git commit: the time of that commit shows that limit and ladder were
    not chosen by the results.

    A commitment to a key is a hash to publish before the set is used. Whoever has the key later checks with
    `waybench verify --key-file FILE --commitment TEXT` that it is the same one.
    The commitment does not show the key, as long as that has at least 128 bits.
    """
    if task is not None:
        if not model or keys or key_files or new:
            raise UsageError("TASK: give --model, too, and no key; a private set's key goes to -T key=file:PATH")
        from waybench.submission._parameters import run_commitment

        text = json.dumps(run_commitment(task, read_assignments(parameters, "-T", "key=value"), model), indent=1)
        if out is None:
            click.echo(text)
        else:
            out.write_text(text + "\n", encoding="utf-8")
            click.echo(f"{out}: have it added to the leaderboard's folder commitments by a signed commit, then run")
        return
    if model or parameters or out is not None:
        raise UsageError("--model, -T and --out are for a run: name the TASK, or leave them out")
    if new:
        if keys or len(key_files) != 1:
            raise UsageError("--new: give one file for the new key with --key-file")
        write_new_key(Path(key_files[0]))
    secret_keys = read_keys(keys, key_files)
    if not secret_keys:
        raise UsageError("give the key with --key-file FILE or --key env:NAME")
    for key in secret_keys:
        if max_key_bits(key) < STRONG_BITS:
            to_stderr(
                f"Warning: the key of {private_key_label(key)} has fewer than {STRONG_BITS} bits, and can be found by "
                "trying: draw one with --new"
            )
    values = [{"set": private_key_label(key), "commitment": key_commitment(key)} for key in secret_keys]
    if as_json:
        click.echo(json.dumps(values, indent=1))
    else:
        for value in values:
            click.echo(f"{value['set']} {value['commitment']}")
