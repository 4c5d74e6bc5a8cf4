"""Commitments to keys: the form, what a strong key is, and what is refused on the command line."""

import hashlib
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from waybench.cli._app import main
from waybench.core import UsageError, checked_commitment, key_commitment, private_key_label
from waybench.core._secrets import STRONG_BITS, max_key_bits

KEY = "3f1c7a90b2d84e65a1f0c3d2e4b59687"


def run(*arguments: str | Path) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def test_the_form_can_be_computed_without_waybench() -> None:
    digest = hashlib.sha256(b"waybench commitment to a key, version 1\x00" + KEY.encode()).hexdigest()
    assert key_commitment(KEY) == f"waybench-key-1:{digest}"
    assert private_key_label(KEY).removeprefix("private-") not in digest, "the label is another hash"
    assert checked_commitment(key_commitment(KEY)) == key_commitment(KEY)
    with pytest.raises(UsageError, match="no commitment"):
        checked_commitment(digest)


@pytest.mark.parametrize(
    ("key", "is_strong"),
    [
        (KEY, True),
        ("B7q-Zm2x_Kd9w!Tr4Lp0", True),
        ("mine", False),
        ("public-v1", False),
        ("a" * 200, False),
        (KEY[:31], False),
        ("", False),
    ],
)
def test_how_strong_a_key_is(key: str, is_strong: bool) -> None:
    assert (max_key_bits(key) >= STRONG_BITS) == is_strong


def test_a_new_key_is_the_owners_and_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "key"
    status, shown, _ = run("commit", "--new", "--key-file", path)
    key = path.read_text().strip()
    assert (status, shown) == (0, f"{private_key_label(key)} {key_commitment(key)}\n")
    assert max_key_bits(key) >= 256
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    status, _, error = run("commit", "--new", "--key-file", path)
    assert (status, error.count("\n")) == (2, 1)
    assert path.read_text().strip() == key


def test_a_weak_key_is_warned_of_and_not_shown(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("swordfish\n")
    status, shown, error = run("commit", "--key-file", tmp_path / "key")
    assert (status, error.count("\n")) == (0, 1)
    assert "fewer than 128 bits" in error
    assert "swordfish" not in shown + error


@pytest.mark.parametrize(
    "arguments",
    [
        ("generate", "guessnum", "--key", KEY),
        ("run", "guessnum", "--model", "waybench/oracle", "-T", f"key={KEY}"),
        ("run", "guessnum", "--model", "waybench/oracle", "-T", f"guessnum.key={KEY}"),
        ("run", "guessnum", "--model", "waybench/oracle", "--each", f"key=mine,{KEY}"),
        ("commit", "--key", KEY),
    ],
)
def test_a_strong_key_in_a_command_is_refused(arguments: tuple[str, ...]) -> None:
    status, shown, error = run(*arguments)
    assert (status, shown, error.count("\n")) == (2, "", 1)
    assert KEY not in error


def test_items_of_a_key_file_are_those_of_the_key(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("mine\n")
    status, plain, _ = run("generate", "guessnum", "--key", "mine", "--count", "2")
    again = run("generate", "guessnum", "--key-file", tmp_path / "key", "--count", "2")
    assert again == (status, plain, "") == (0, plain, "")
    assert '"mine"' not in plain
    assert run("generate", "guessnum", "--key-file", tmp_path / "key", "--key", "x")[0] == 2
