"""The documented Python API: every example of docs/api.md is run, in order."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import waybench
from tests.conftest import PATIENCE
from waybench.cli import main
from waybench.core import WaybenchError, policy

DOCUMENT = Path(__file__).parents[1] / "docs" / "api.md"


@pytest.mark.slow
def test_every_example_of_the_document_runs(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 8
    # In a process of its own, as a user would: the engine changes signals and logging.
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)], cwd=tmp_path, capture_output=True, text=True, timeout=4 * PATIENCE
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "maze/alicia 1 " in done.stdout
    assert "waybench/noisy-0.3 5 " in done.stdout
    assert done.stdout.startswith("solved 100.0\n")
    first = Path(done.stdout.split()[-1])
    assert (tmp_path / first).name == "index.html"
    assert "<title>Mazes</title>" in (tmp_path / first).read_text(encoding="utf-8")


def test_the_document_names_all_that_is_exported() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    functions = [name for name in waybench.__all__ if name[0].islower()]
    assert functions == [
        *(
            "compare",
            "evaluate",
            "list_environments",
            "load",
            "play",
            "power",
            "profile",
            "read_logs",
            "report",
            "score",
        )
    ]
    assert set(dir(waybench)) == set(waybench.__all__)
    assert [name for name in functions if f"waybench.{name}(" not in text] == []


def test_a_function_is_shown_what_is_new_and_the_whole_conversation() -> None:
    seen: list[waybench.Prompt] = []

    def lost(prompt: waybench.Prompt) -> str:
        seen.append(prompt)
        return "I am lost."

    result = waybench.play("maze/alicia", lost, wording="matrix")
    assert (result.record.player, len(seen)) == ("lost", len(result.record.turns))
    assert seen[0].messages[-1]["content"] in seen[0]
    assert [message["role"] for message in seen[1].messages][-2:] == ["assistant", "user"]
    assert seen[1] == seen[1].messages[-1]["content"] == result.record.turns[0].message
    assert not result.solved
    assert result.score == result.metrics["score"] == 0


def test_an_environment_is_one_line() -> None:
    assert repr(waybench.load("maze/alicia")) == "<Environment maze/alicia, version 1: Mazes (AliciaBench)>"


def test_power_is_that_of_the_command() -> None:
    printed = CliRunner().invoke(main, ["power", "--detect", "0.1", "--rate", "0.6"]).stdout
    assert str(waybench.power(detect=0.1, rate=0.6)) == printed.rstrip("\n")


def test_a_player_can_be_named_or_be_a_policy() -> None:
    named = waybench.play("hanoi/rods", "oracle", level=3, key="k", index=2)
    given = waybench.play(waybench.load("hanoi/rods"), policy("oracle"), level=3, key="k", index=2)
    assert named.solved
    assert named == given
    assert named.record.item["index"] == 2


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: waybench.play("maze/alicai"), "alicia"),
        (lambda: waybench.play("maze/alicia", "orcale"), "oracle"),
        (lambda: waybench.play("maze/alicia", wordng="ascii"), "wording"),
        (lambda: waybench.play("maze/alicia", lambda prompt: None), "NoneType"),  # type: ignore[arg-type,return-value]
        (lambda: waybench.score({"env": "maze/alicia"}), '"replies" is missing'),
        (lambda: waybench.evaluate("alica", "waybench/oracle"), "alicia"),
        (lambda: waybench.evaluate("alicia", "waybench/oracle", limt=2), "limit"),
        (lambda: waybench.read_logs("nowhere"), "nowhere"),
        (lambda: waybench.report(), "folder"),
        (lambda: waybench.compare("nowhere", "else", folders="no-folder"), "no folder"),
        (lambda: waybench.profile("nowhere"), "nowhere"),
        (lambda: waybench.power(detekt=0.1), "--detekt"),
    ],
)
def test_what_the_user_can_mend_is_one_line(call: object, said: str) -> None:
    assert callable(call)
    with pytest.raises(WaybenchError, match=re.escape(said)) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_stored_replies_are_scored_as_they_were_played() -> None:
    played = waybench.play("hanoi/rods", "noisy-0.5", level=3, steps=5)
    line = {
        "env": "hanoi/rods",
        "instance": played.record.instance,
        "replies": [turn.reply for turn in played.record.turns],
        "options": dict(played.record.options),
    }
    stored = waybench.score(json.loads(json.dumps(line)))
    assert (stored.metrics, stored.end) == (played.metrics, played.end)
    half = waybench.score({**line, "replies": line["replies"][:2]})
    assert half.end is None
    assert "unfinished" in repr(half)
    changed = played.record.to_json()
    changed["turns"][0]["outcome"] = "illegal" if changed["turns"][0]["outcome"] != "illegal" else "ok"
    with pytest.raises(WaybenchError):
        waybench.score(changed)
