"""Keys of private sets: where they are read from, and what stands for them."""

import hashlib
from pathlib import Path

import pytest

import waybench
from waybench.core import Episode, UsageError, private_key_label, read_key
from waybench.core._secrets import key_for_log, key_label_in_log

LABEL = "private-" + hashlib.sha256(b"waybench key hush").hexdigest()[:8]
DIGITS = LABEL.removeprefix("private-")


def test_a_key_is_given_as_it_is_or_by_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SET_KEY", "hush")
    file = tmp_path / "the key"
    file.write_text("hush\n")
    for text, logged in (
        ("hush", LABEL),
        ("env:SET_KEY", f"env:SET_KEY#{DIGITS}"),
        (f"env:SET_KEY#{DIGITS}", f"env:SET_KEY#{DIGITS}"),
        (f"file:{file}", f"file:{file}#{DIGITS}"),
    ):
        assert read_key(text) == "hush"
        assert key_for_log(text) == logged
        assert key_label_in_log(logged) == LABEL
    assert key_label_in_log("hush") == LABEL  # as older logs have it


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("env:NO_SUCH_KEY", "this environment variable is not set"),
        ("env:EMPTY_KEY", "empty; it should contain the key"),
        ("env:SET_KEY#00000000", f"does not belong to the set private-00000000, but to {LABEL}"),
        ("file:no-such-file", "cannot read no-such-file"),
        (LABEL, "give the key itself"),
        ("", "the key is empty"),
        (" ", "the key is empty"),
    ],
)
def test_what_is_no_key_is_refused_and_none_is_named(text: str, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SET_KEY", "hush")
    monkeypatch.setenv("EMPTY_KEY", "")
    with pytest.raises(UsageError, match=problem) as error:
        read_key(text)
    assert "hush" not in str(error.value)


def test_a_record_has_a_private_sets_label_and_a_public_sets_key() -> None:
    environment = waybench.load("search/dfs")

    def key_of(key: str | None) -> object:
        return Episode(environment, environment.source(key).item(0)).record().item["key"]

    public = environment.items.public_key
    assert [key_of(None), key_of(public), key_of(f"{public}/2")] == [public, public, f"{public}/2"]
    assert key_of("hush") == LABEL == private_key_label("hush")
    assert key_of(f"{public}-mine") == private_key_label(f"{public}-mine")
    assert environment.source("hush").item(0).key == "hush"  # which generates further items
