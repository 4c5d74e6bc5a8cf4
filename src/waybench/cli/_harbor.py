"""`waybench export --format harbor`: directories of tasks, and the file of a new private key."""

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from waybench.cli._options import option
from waybench.cli._run_settings import read_assignments
from waybench.core import UsageError, key_commitment, plural, read_key

HARBOR = "harbor"
KEY_BYTES = 32  # of a new key
PUBLIC = "public"  # in place of a key
_DEFAULT_COUNT = 10  # items


@dataclass(frozen=True, slots=True)
class TaskSetOptions:
    """The options of `waybench export` for the formats that write items of tasks: harbor and dataset."""

    count: int | None = option("Most items (harbor).  [default: 10]", type=click.IntRange(1, 10_000))
    level: int | None = option("Level of the items (harbor).")
    parameters: tuple[str, ...] = option("Parameter of TASK (harbor, dataset); repeatable.", "-T", metavar="KEY=VALUE")
    key: str | None = option(
        "Key of the items (harbor): env:NAME, file:PATH, or public.  [default: a new one, in OUT.key]", metavar="REF"
    )
    image: str = option("Image of the boxes (harbor).  [default: built on python:3.12-slim]", default="", metavar="REF")
    network: str = option(
        "Whether agents reach the internet (harbor).", type=click.Choice(["public", "no-network"]), default="public"
    )


def write_harbor_tasks(names: Sequence[str], out: Path, options: TaskSetOptions) -> None:
    """Write the directories of one task for Harbor; a new private key is written to OUT.key."""
    from waybench.evaluation.tasks import find_task
    from waybench.ext.publish.harbor._export import HarborSettings, write_harbor

    if len(names) != 1:
        raise UsageError("--format harbor takes one TASK")
    if options.key == PUBLIC and options.network != "no-network":
        raise UsageError(
            "--key public: an agent that reaches the internet can make public items with their answers: add "
            "--network no-network, or leave out --key"
        )
    key_file = out.with_name(f"{out.name}.key")
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out}: the folder is not empty; give a new one")
    if options.key is None:
        write_new_key(key_file)
    key = None if options.key == PUBLIC else read_key(options.key or f"file:{key_file}")
    settings = HarborSettings(
        count=options.count or _DEFAULT_COUNT,
        key=key,
        image=options.image,
        has_network=options.network == "public",
        secret=key or secrets.token_hex(KEY_BYTES),
        commitment=key_commitment(key) if key else "",
    )
    args = read_assignments(options.parameters, "-T", "key=value")
    args |= {} if options.level is None else {"level": options.level}
    try:
        task_folders = write_harbor(find_task(names[0]), args, out, settings)
    except BaseException:
        if options.key is None:  # no task was made with the new key
            key_file.unlink(missing_ok=True)
        raise
    note = f"; keep {key_file}, with which they are made again" if options.key is None else ""
    click.echo(f"export: {plural(len(task_folders), 'task')} in {out}{note}")


def write_new_key(path: Path) -> None:
    """Write a new key to a file that only its owner may read; a file that exists is never replaced."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{path}: this file exists; give another one, or leave out --new") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}); give another file") from None
    with os.fdopen(handle, "w", encoding="ascii") as stream:
        stream.write(secrets.token_hex(KEY_BYTES) + "\n")
