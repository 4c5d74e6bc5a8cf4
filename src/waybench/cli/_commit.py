"""`waybench commit`: the commitment to the key of a private set."""

import json
import os
import secrets
from pathlib import Path

import click

from waybench.cli._keys import KEY_FILES, KEYS, read_secrets
from waybench.cli._options import option, with_parameters
from waybench.core import STRONG_BITS, UsageError, commitment, key_bits, key_label

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
        _write(Path(key_files[0]))
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


def _write(path: Path) -> None:
    try:
        # Only the owner may read it, and an earlier key is never replaced.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{path}: this file exists; give another one, or leave out --new") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}); give another file") from None
    with os.fdopen(handle, "w", encoding="ascii") as stream:
        stream.write(secrets.token_hex(_BYTES) + "\n")
