"""`waybench leaderboard` and `waybench export`: results for others."""

import sys
from collections.abc import Callable
from pathlib import Path

import click

from waybench.cli._options import DATA_DIR, KEY_FILES, KEYS, LogPlace, argument, option, read_secrets, with_parameters
from waybench.cli._output import tell_skipped, to_stderr
from waybench.core import UsageError, commitment, key_label, plural, prepare_folder

_PLACE = click.Path(path_type=Path)


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
    from waybench.ext.publish.leaderboard import read_board, read_settings, write_leaderboard, write_template
    from waybench.results.formatting import one_line

    if init:
        for name, is_new in write_template(prepare_folder(folder)):
            click.echo(f"{folder / name}{'' if is_new else ' (it exists, and stays as it is)'}")
        return
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder; give the folder of the submissions")
    settings = read_settings(folder)
    secrets = read_secrets(keys, key_files)
    committed = {each.commitment for each in settings.private_sets}
    for key in secrets:
        if commitment(key) not in committed:
            raise UsageError(f"the key of {key_label(key)} belongs to no commitment in leaderboard.toml: add it first")
    site = prepare_folder(out or folder / "site")
    entries, refused = read_board(folder, settings, keys=secrets, data_dir=data_dir, progress=_shown("verifying"))
    board = write_leaderboard(site, settings, entries, refused, progress=_shown("writing"))
    tell_skipped(board.skipped)
    for each in refused:
        to_stderr(f"refused: {one_line(each.file, 80)}: {one_line(each.reason, 200)}")
    counts: dict[str, int] = {}
    for entry in entries:
        counts[entry.status] = counts.get(entry.status, 0) + 1
    listed = "".join(f", {count} {status}" for status, count in sorted(counts.items()))
    click.echo(f"leaderboard: {board.page} ({plural(len(entries), 'submission')}{listed}, {len(refused)} refused)")


def _shown(what: str) -> Callable[[str], None] | None:
    return (lambda name: click.echo(f"\r\x1b[K{what} {name}", err=True, nl=False)) if sys.stderr.isatty() else None


FORMATS = ("every-eval-ever", "huggingface", "inspect-catalogue", "citation")
_EXAMPLES = """\b
waybench export waybench-out --format every-eval-ever --organization "My lab" --out eee
waybench export waybench-out --format huggingface --dataset my-name/my-benchmark --out hub
waybench export waybench-out --format inspect-catalogue --repository https://... --commit 0123... --out register
waybench export waybench-out --format citation --out cite"""


@click.command(epilog=_EXAMPLES)
@with_parameters
def export(
    folders: tuple[Path, ...] = argument("DIR|URL|FILE...", required=True, type=LogPlace()),
    form: str = option("Format of the files.", "--format", required=True, type=click.Choice(FORMATS)),
    out: Path = option("Folder for the files.", "--out", "-o", required=True),
    model: str = option("Export this model alone.", default="", metavar="NAME"),
    organization: str | None = option("Who provides the results (every-eval-ever).", metavar="NAME"),
    relationship: str = option(
        "Your relationship to the models (every-eval-ever).",
        type=click.Choice(["first_party", "third_party", "collaborative", "other"]),
        default="third_party",
    ),
    dataset: str | None = option("The benchmark's data set on the Hub (huggingface).", metavar="OWNER/NAME"),
    url: str = option("Where the evaluation can be read (huggingface).", default="", metavar="URL"),
    repository: str | None = option("The repository that was run (inspect-catalogue).", metavar="URL"),
    commit: str | None = option("The commit of it that was run (inspect-catalogue).", metavar="SHA"),
    maintainers: tuple[str, ...] = option("Who keeps the entry; repeatable.", "--maintainer", metavar="NAME"),
) -> None:
    """Export the results of some runs in a format that others read.

    Every episode is simulated again first, as for a report; one that does not agree with its simulation is in no file.
    Searches for horizons are left out, since they choose their items by the results.

    every-eval-ever: one JSON file for each model, task and settings, and one line for each episode (schema 0.3).
    huggingface: `.eval_results` for the models' repositories, and `eval.yaml` for the benchmark's.
    inspect-catalogue: registration files of Inspect's catalogue of evaluations. citation: what to cite.
    """
    from waybench.ext.publish import exports
    from waybench.results.logs import Skipped

    needed = {
        "every-eval-ever": [("--organization", organization)],
        "huggingface": [("--dataset", dataset)],
        "inspect-catalogue": [("--repository", repository), ("--commit", commit)],
    }
    for flag, value in needed.get(form, ()):
        if not value:
            raise UsageError(f"--format {form} needs {flag}")
    skipped: list[Skipped] = []
    found = exports.read_results(folders, model, skipped.append)
    if form == "every-eval-ever":
        files = list(exports.every_eval_ever(found, organization=organization or "", relationship=relationship))
    elif form == "huggingface":
        files = [*exports.eval_results(found, dataset or "", url=url), exports.benchmark_file(found)]
    elif form == "inspect-catalogue":
        files = list(
            exports.catalogue_entries(found, repository=repository or "", commit=commit or "", maintainers=maintainers)
        )
    else:
        files = list(exports.citations(found))
    written = exports.write_files(out, files)
    tell_skipped(skipped)
    episodes = sum(len(one.episodes) for one in found)
    click.echo(f"export: {plural(len(written), 'file')} of {plural(episodes, 'episode')} in {out}")
