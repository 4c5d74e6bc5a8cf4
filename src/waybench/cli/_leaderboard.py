"""`waybench leaderboard`: a static site of many submissions."""

import sys
from collections.abc import Callable
from pathlib import Path

import click

from waybench.cli._keys import KEY_FILES, KEYS, read_secrets
from waybench.cli._options import argument, option, with_parameters
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
    data_dir: str | None = option(
        "Folder of published data sets.  [default: $WAYBENCH_DATA, then the cache]", type=click.Path()
    ),
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
    from waybench.analysis.formatting import one_line
    from waybench.leaderboard import read_board, read_settings, write_leaderboard, write_template

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
