"""Journals: what was answered is found again, and nothing that was asked otherwise."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai.model import ChatMessageAssistant, ContentReasoning, ContentText, ModelOutput, ModelUsage

import waybench
from waybench.core import Episode, Outcome, TurnRecord, Usage
from waybench.core._record import SCHEMA
from waybench.evaluation import _journal
from waybench.evaluation._journal import Journal, JournalError, Syncer
from waybench.evaluation._run_journals import SampleTurns

SETTINGS = {"task": "alicia", "temperature": 0.5}
HEAD = '{"env": "maze/alicia"}'


class Folder:
    """Opens journals in one file, as one run after the other does."""

    def __init__(self, path: Path) -> None:
        self.path = path / "some.journal"
        self.warnings: list[str] = []
        self.failures = 0
        self._syncers: list[Syncer] = []

    def failed(self) -> None:
        self.failures += 1

    def journal(self, settings: Any = SETTINGS) -> Journal:
        self._syncers.append(Syncer(self.failed))
        return Journal(self.path, settings, self._syncers[-1], self.warnings.append)

    def close(self) -> None:
        for syncer in self._syncers:
            syncer.close()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    opened = Folder(tmp_path)
    yield opened
    opened.close()


def output(text: str) -> ModelOutput:
    thought = ContentReasoning(reasoning=f"so {text}", signature="s1gned")
    made = ModelOutput.from_message(ChatMessageAssistant(content=[thought, ContentText(text=text)], model="m"))
    made.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10, reasoning_tokens=2)
    made.time = 1.25
    return made


def turn(text: str, message: str = "") -> TurnRecord:
    return TurnRecord(text, Outcome.OK, message=message or f"you said {text}", usage=Usage(seconds=1.25))


def turns(journal: Journal, sample: str = "501-1", epoch: int = 1, head: str = HEAD) -> SampleTurns:
    return SampleTurns(journal, (sample, epoch), f"uuid of {sample}", head)


def keep(journal: Journal, *texts: str, sample: str = "501-1") -> SampleTurns:
    """Play some turns that are not known."""
    played = turns(journal, sample)
    for text in texts:
        assert played.read_output() is None
        played.write_turn(output(text), turn(text))
    return played


def known(played: SampleTurns, *messages: str) -> list[str]:
    """Replay what is known, as far as it goes; `messages` are shown in place of those of the first run."""
    found: list[str] = []
    while (said := played.read_output()) is not None:
        message = messages[len(found)] if len(found) < len(messages) else ""
        found.append(said.completion)
        played.write_turn(said, turn(said.completion, message))
    return found


def test_a_turn_comes_back_as_it_was(folder: Folder) -> None:
    keep(folder.journal(), "left", "right")
    assert folder.path.read_bytes().count(b"\n") == 3  # on disk at once, and the journal is still open
    played = turns(folder.journal())
    first = played.read_output()
    assert first is not None
    expected = output("left")
    expected.choices[0].message.id = first.choices[0].message.id
    assert first == expected and first.usage == expected.usage and first.time == 1.25
    assert known(turns(folder.journal())) == ["left", "right"]
    assert not folder.warnings


def test_it_goes_on_where_it_ended(folder: Folder) -> None:
    keep(folder.journal(), "left", "right")
    played = turns(folder.journal())
    assert known(played) == ["left", "right"]
    played.write_turn(output("up"), turn("up"))
    assert known(turns(folder.journal())) == ["left", "right", "up"]


def test_a_retry_within_the_run_knows_the_turns_before_the_error(folder: Folder) -> None:
    journal = folder.journal()
    keep(journal, "left", "right")
    assert known(turns(journal)) == ["left", "right"]


@pytest.mark.parametrize(
    "other",
    [
        {"sample": "502-1"},
        {"sample": "501-2"},
        {"epoch": 2},
        {"head": '{"env": "maze/alicia", "options": {}}'},
    ],
)
def test_another_sample_knows_nothing(folder: Folder, other: dict[str, Any]) -> None:
    keep(folder.journal(), "left")
    assert turns(folder.journal(), **other).read_output() is None


def test_what_was_said_to_something_else_is_no_answer(folder: Folder) -> None:
    keep(folder.journal(), "left", "right", "up")
    journal = folder.journal()
    played = turns(journal)
    assert known(played, "a wall that was not there") == ["left"]
    played.write_turn(output("down"), turn("down"))
    played.write_turn(output("down"), turn("down"))
    # The newer turns have replaced the older ones.
    assert known(turns(folder.journal()), "a wall that was not there") == ["left", "down", "down"]
    assert known(turns(folder.journal())) == ["left"]


@pytest.mark.parametrize("other", [{**SETTINGS, "temperature": 0.6}, {**SETTINGS, "args": {"limit": 1}}])
def test_other_settings_are_another_journal(folder: Folder, other: dict[str, Any]) -> None:
    keep(folder.journal(), "left")
    assert known(turns(folder.journal(other))) == []
    (warning,) = folder.warnings
    assert "ignored, because its settings differ" in warning
    assert folder.path.with_suffix(".ignored").exists() and not folder.path.exists()


def test_another_version_s_journal_is_ignored(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_journal, "__version__", "9.9.9")
    keep(folder.journal(), "left")
    monkeypatch.undo()
    keep(folder.journal(), "right")
    (warning,) = folder.warnings
    assert "waybench 9.9.9 wrote it" in warning and "\n" not in warning
    assert known(turns(folder.journal())) == ["right"]


def test_a_line_that_was_cut_off_is_ignored_and_overwritten(folder: Folder) -> None:
    keep(folder.journal(), "left", "right")
    whole = folder.path.read_bytes()
    for cut in (1, 20, len(whole.splitlines()[-1])):
        folder.warnings.clear()
        folder.path.write_bytes(whole[:-cut])
        played = turns(folder.journal())
        assert known(played) == ["left"]
        played.write_turn(output("up"), turn("up"))
        (warning,) = folder.warnings
        assert warning == f"{folder.path}: the last line was cut off and is ignored"
        folder.warnings.clear()
        assert known(turns(folder.journal())) == ["left", "up"]
        assert not folder.warnings


@pytest.mark.parametrize("line", [1, 2, 3])
def test_a_damaged_line_is_ignored_with_what_followed_from_it(folder: Folder, line: int) -> None:
    keep(folder.journal(), "left", "right", "up")
    keep(folder.journal(), "down", sample="502-1")
    lines = folder.path.read_bytes().splitlines(keepends=True)
    for damage in (lines[line].replace(b"so ", b"no "), b"{}\n", b"\xff\x00\n", b"[" * 100_000 + b"\n"):
        folder.path.write_bytes(b"".join([*lines[:line], damage, *lines[line + 1 :]]))
        folder.warnings.clear()
        journal = folder.journal()
        assert known(turns(journal)) == ["left", "right", "up"][: line - 1]
        assert known(turns(journal, "502-1")) == ["down"]
        (warning,) = folder.warnings
        assert f"{folder.path}: {4 - line} damaged lines are ignored" in warning


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", []),
        (b"\n", ["it is damaged"]),
        (b"nothing of ours\n", ["it is damaged"]),
        (b"00000000 {}\n", ["it is damaged"]),
        (b"\x00" * 500, ["the last line was cut off"]),
    ],
)
def test_a_file_that_is_no_journal_is_ignored(folder: Folder, content: bytes, why: list[str]) -> None:
    folder.path.write_bytes(content)
    keep(folder.journal(), "left")
    assert len(folder.warnings) == len(why)
    assert all(words in warning for words, warning in zip(why, folder.warnings, strict=True))
    assert known(turns(folder.journal())) == ["left"]


def test_what_is_logged_is_dropped_and_the_file_goes_with_the_last(folder: Folder) -> None:
    journal = folder.journal()
    keep(journal, "left", sample="501-1").end_sample()
    keep(journal, "right", sample="502-1").end_sample()  # ended, and lost on its way to the log
    keep(journal, "up", sample="503-1")
    journal.drop_logged_samples({"uuid of 501-1"})
    journal = folder.journal()
    found = [known(turns(journal, sample)) for sample in ("501-1", "502-1", "503-1")]
    assert found == [[], ["right"], ["up"]]
    for sample in ("502-1", "503-1"):
        turns(journal, sample).end_sample()
    journal.drop_logged_samples({"uuid of 502-1", "uuid of 503-1"})
    assert not list(folder.path.parent.iterdir()) and not folder.warnings


@pytest.mark.parametrize("writes", [0, 1, 2, 3, 5])
def test_a_full_disk_leaves_whole_lines_and_no_further_request(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    left = writes

    def write(file: int, data: memoryview) -> int:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.write(file, data[: max(1, len(data) // 2)] if left == 0 else data)  # the last one takes a part

    monkeypatch.setattr(_journal, "os", SimpleNamespace(**{**vars(os), "write": write}))
    journal = folder.journal()
    played, said = turns(journal), []
    with pytest.raises(JournalError, match="No space left"):
        for text in ("left", "right", "up", "down", "out"):
            assert played.read_output() is None
            played.write_turn(output(text), turn(text))
            said.append(text)
    with pytest.raises(JournalError):
        turns(journal, "502-1").read_output()
    assert folder.failures == 1
    monkeypatch.undo()
    journal = folder.journal()
    assert known(turns(journal)) == said and not folder.warnings
    assert len(said) == max(0, writes - 2)


def test_what_cannot_be_brought_to_the_disk_stops_the_run(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(file: int) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(_journal, "os", SimpleNamespace(**{**vars(os), "fsync": fsync}))
    journal = folder.journal()
    played = keep(journal, "left")
    folder.close()
    with pytest.raises(JournalError):
        played.read_output()


def test_without_a_journal_nothing_is_known_and_nothing_kept() -> None:
    played = SampleTurns(None, ("501-1", 1), "uuid", HEAD)
    played.write_turn(output("left"), turn("left"))
    played.end_sample()
    assert played.read_output() is None


def test_a_journal_that_an_older_version_wrote_is_known(folder: Folder) -> None:
    """The form of records is a part of an episode's head, and nothing that a player is shown."""
    item = waybench.load("hanoi/rods").source().item(0)
    head = Episode(waybench.load("hanoi/rods"), item, {}, player="a model").record().head_json()
    older = head.replace(f'"schema":{SCHEMA}}}', '"schema":1}')
    assert SCHEMA > 1 and older != head
    written = turns(folder.journal(), head=older)
    for text in ("up", "down"):
        assert written.read_output() is None
        written.write_turn(output(text), turn(text))
    assert known(turns(folder.journal(), head=head)) == ["up", "down"]
    newer = head.replace(f'"schema":{SCHEMA}}}', f'"schema":{SCHEMA + 1}}}')
    assert turns(folder.journal(), head=newer).read_output() is None
