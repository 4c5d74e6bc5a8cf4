"""The task's face to the engine: parameters, and the ladder's decisions."""

import asyncio
import inspect
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import waybench
from waybench.core import End, Episode, EpisodeRecord, Item, UsageError, WaybenchError, policy
from waybench.evaluation import evaluate
from waybench.evaluation._ladders import Ladder
from waybench.evaluation.tasks import TASKS, load_task
from waybench.results import overall, read_logs, rows

MAZES = waybench.load("maze/alicia")


@pytest.mark.parametrize("entry", TASKS, ids=lambda entry: entry.name)
def test_declared_parameters_are_the_function_s(entry: Any) -> None:
    parameters = inspect.signature(load_task(entry)).parameters
    declared = {option.name: option.default for option in entry.options}
    assert {name: parameter.default for name, parameter in parameters.items()} == declared


def _finished(sample: Any, player: str, end: End | None = None) -> Any:
    """Play a sample's episode as the solver would, and return what the engine would report of it."""
    head = EpisodeRecord.from_parts(sample.metadata["waybench"])
    item = Item(MAZES.items.decode(head.instance), **head.item, proof=head.proof)
    episode: Episode[Any, Any, Any] = Episode(MAZES, item, head.options, attempt=head.attempt, player=player)
    while not episode.done and end is None:
        episode.step(policy(player).reply(episode))
    if end is not None:
        episode.end(end)
    progress = {
        "player": player,
        "turns": [turn.dumps() for turn in episode.turns],
        "end": episode.end_reason,
        "error": None,
    }
    return SimpleNamespace(
        id=sample.id, epoch=1, error=None, metadata=sample.metadata, store={"waybench": progress}, scores=None
    )


def _ladder(levels: tuple[int, ...] = (5, 7, 9), mazes: int = 2, attempts: int = 3) -> Ladder:
    return Ladder(
        MAZES,
        MAZES.resolve_options({}),
        levels=lambda: levels,
        items=lambda level: MAZES.source("ladder", level).head(mazes),
        attempts=attempts,
    )


def _climb(ladder: Ladder, players: dict[str, str]) -> list[str]:
    """Run a ladder to its end, one sample after the other; the player is chosen by sample id, "null" by default."""
    waiting, ran = ladder.initial_samples(), []
    while waiting:
        sample = waiting.pop(0)
        ran.append(str(sample.id))
        done = _finished(sample, players.get(str(sample.id), "null"))
        waiting += asyncio.run(ladder.sample_complete(done)) or []
    return ran


def test_a_player_that_never_arrives_stops_after_one_dimension() -> None:
    ran = _climb(_ladder(), {})
    assert sorted(ran) == [f"50{maze}-{attempt}" for maze in (1, 2) for attempt in (1, 2, 3)]


def test_a_perfect_attempt_is_the_last_and_one_success_opens_the_next_dimension() -> None:
    ran = _climb(_ladder(), {"501-2": "oracle", "702-1": "oracle"})
    assert [name for name in ran if name.startswith("501")] == ["501-1", "501-2"]
    assert [name for name in ran if name.startswith("502")] == ["502-1", "502-2", "502-3"]
    assert [name for name in ran if name.startswith("702")] == ["702-1"]
    assert len([name for name in ran if name.startswith("9")]) == 6


def test_the_cap_ends_the_climb() -> None:
    ran = _climb(_ladder(levels=(5, 7)), {f"{n}0{maze}-1": "oracle" for n in (5, 7) for maze in (1, 2)})
    assert ran == ["501-1", "502-1", "701-1", "702-1"]


def test_nothing_follows_from_an_infrastructure_error() -> None:
    ladder = _ladder()
    first = ladder.initial_samples()[0]
    assert asyncio.run(ladder.sample_complete(_finished(first, "null", End.INFRASTRUCTURE))) is None


def test_what_was_saved_from_a_killed_run_has_its_progress_in_the_score() -> None:
    ladder = _ladder(attempts=1)
    done = _finished(ladder.initial_samples()[0], "oracle")
    done.scores = {"episode": SimpleNamespace(metadata=dict(done.store))}
    done.store = {}
    assert [str(sample.id) for sample in asyncio.run(ladder.sample_complete(done)) or []] == ["701-1", "702-1"]


def test_players_that_share_a_source_climb_each_for_itself() -> None:
    ladder = _ladder(attempts=1)
    names: dict[str, list[str]] = {}
    for player in ("oracle", "heuristic", "null"):
        more = [asyncio.run(ladder.sample_complete(_finished(s, player))) or [] for s in ladder.initial_samples()]
        names[player] = sorted(str(sample.id) for added in more for sample in added)
    assert names == {"oracle": ["701-1", "702-1"], "heuristic": ["701-1", "702-1"], "null": []}


def test_a_retried_task_is_told_again_of_what_is_finished_and_the_ladder_begins_again() -> None:
    ladder = _ladder(attempts=1)
    done = [_finished(sample, "oracle") for sample in ladder.initial_samples()]
    first = [asyncio.run(ladder.sample_complete(sample)) for sample in done]
    again = [asyncio.run(ladder.sample_complete(sample)) for sample in done]
    names = [[str(sample.id) for sample in more or []] for more in first]
    assert names == [["701-1", "702-1"], []]
    assert [[str(sample.id) for sample in more or []] for more in again] == names


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("alica", "--model", "waybench/oracle"), "did you mean 'alicia'"),
        (("alicia", "--model", "waybench/orcle"), "did you mean 'oracle'"),
        (("alicia", "--model", "waybench/noisy-2"), "from 0 to 1"),
        (("alicia", "--model", "nowhere/nothing"), "unknown provider 'nowhere'"),
        (("alicia", "--model", "openai-api/nowhere/x"), "NOWHERE_API_KEY"),
        (("alicia", "--model", "waybench/oracle", "-T", "protcol=paper"), "did you mean 'protocol'"),
        (("alicia", "--model", "waybench/oracle", "-T", "wording=matrx"), "did you mean 'matrix'"),
        (("alicia", "--model", "waybench/oracle", "-T", "min_dimension=4"), "out of range"),
        (("alicia", "--model", "waybench/oracle", "-T", "min_dimension=9", "-T", "max_dimension=7"), "above"),
        (("alicia", "--model", "waybench/oracle", "-T", "limit=0"), "out of range"),
        (("alicia", "--model", "waybench/oracle", "-T", "limit"), "key=value"),
        (("alicia", "--model", "waybench/oracle", "--out", "/proc/nothing"), "cannot write"),
        (("alicia", "--model", "waybench/oracle", "--reasoning-effort", "silly"), "reasoning_effort='silly'"),
        (("alicia", "--model", "waybench/oracle", "--temperature", "-1"), "--temperature"),
        (("alicia", "--model", "hf/local", "-M", "model_path=./nowhere"), "folder ./nowhere does not exist"),
        (("alicia",), "--model"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str], tmp_path: Any, monkeypatch: Any
) -> None:
    from waybench.cli import main

    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main(["run", *arguments])
    told = capsys.readouterr().err.strip()
    assert stop.value.code == 2
    assert told.startswith("Error: ") and "\n" not in told and says in told


FILE = """\
{"id": "mine", "instance": {"maze": ["000X0", "01110", "01010", "01110", "01000"]}}
["0X00000", "0111110", "0101010", "0111010", "0100010", "0111110", "0000010"]
{"maze": [[0,0,0,"X",0], [0,1,0,1,0], [0,1,1,1,0], [0,1,0,1,0], [0,0,0,1,0]]}
"""


@pytest.mark.parametrize(
    ("player", "given", "wanted"),
    [
        ("oracle", {}, ["mine", "2", "1"]),
        ("oracle", {"limit": 1}, ["mine", "1"]),
        ("oracle", {"max_dimension": 5}, ["mine", "2"]),
        ("oracle", {"min_dimension": 6}, ["1"]),
        ("null", {"attempts": 1}, ["mine", "2"]),
    ],
)
def test_mazes_of_one_s_own_are_climbed(tmp_path: Path, player: str, given: dict[str, int], wanted: list[str]) -> None:
    path = tmp_path / "mazes.jsonl"
    path.write_text(FILE)
    out = tmp_path / "logs"
    waybench.evaluate("alicia", f"waybench/{player}", out=out, source=str(path), **given)
    records = [episode.record for episode in read_logs(out)]
    assert sorted(str(record.item["id"]) for record in records) == sorted(wanted)
    assert {str(record.item["key"])[:13] for record in records} == {"mazes.jsonl-" + str(records[0].item["key"])[12]}
    low, high = given.get("min_dimension", 5), given.get("max_dimension", 101)
    declared = tuple(level for level in (5, 7) if low <= level <= high)
    assert {row.declared_levels for row in rows(read_logs(out))} == {declared}


def test_a_log_has_the_levels_that_the_ladder_declares(tmp_path: Path) -> None:
    waybench.evaluate("alicia", "waybench/null", out=tmp_path, limit=1, attempts=2, max_dimension=102)
    episodes = list(read_logs(tmp_path))
    assert [episode.record.attempt for episode in episodes] == [1, 2]
    assert {row.declared_levels for row in rows(episodes)} == {range(5, 103, 2)}
    assert not any(row.adaptive for row in rows(episodes))
    (total,) = overall(rows(episodes))
    assert total.declared_levels == tuple(range(5, 102, 2))
    assert "declared_levels" not in total.to_json()


def test_what_a_file_of_mazes_cannot_have_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mazes.jsonl"
    path.write_text(FILE)
    for given, message in (
        ({"key": "k"}, "key: only for generated items"),
        ({"loops": 0.5}, "loops: only for generated items"),
        ({"min_dimension": 9}, "its items are of level 5, 7, and none is from min_dimension=9 to max_dimension=101"),
    ):
        with pytest.raises(UsageError, match=message):
            waybench.evaluate("alicia", "waybench/oracle", out=tmp_path / "logs", source=str(path), **given)
    path.write_text(FILE + '["000X0"]\n')
    with pytest.raises(WaybenchError, match=r"mazes\.jsonl: line 4: maze: the matrix has 1 row; "):
        waybench.evaluate("alicia", "waybench/oracle", out=tmp_path / "logs", source=str(path))


def test_the_examples_of_the_description_are_mazes() -> None:
    environment = waybench.load("maze/alicia")
    lines = environment.about.split("```json\n")[1].split("```")[0].splitlines()
    mazes = [json.loads(line) for line in lines]
    assert [
        environment.item(maze.get("instance", maze) if isinstance(maze, dict) else maze).level for maze in mazes
    ] == [
        5,
        5,
        7,
    ]


def test_a_setting_that_the_engine_does_not_have_is_one_line(tmp_path: Path) -> None:
    make = load_task(next(entry for entry in TASKS if entry.name == "alicia"))
    with pytest.raises(UsageError, match=r"^generation settings: Unknown [^\n]*: token_limit\.[^\n]*$"):
        evaluate([make], ["waybench/oracle"], tmp_path, config={"token_limit": 5})
    with pytest.raises(UsageError, match=r"^temperature='warm': [^\n]*$"):
        evaluate([make], ["waybench/oracle"], tmp_path, config={"temperature": "warm"})
