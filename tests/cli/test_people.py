"""People's records: in reports and comparisons, beside models."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.cli.support import Command, lines_of
from waybench.core import EpisodeRecord, replay
from waybench.results import read_logs, rows
from waybench.results.logs import LoggedEpisode, Skipped

LEVEL = 7


def solution(index: int) -> str:
    proof = waybench.load("maze/alicia").source(level=LEVEL).item(index).proof
    return " ".join(f"{way[0]}{cells}" for way, cells in proof["solution"])


@pytest.fixture
def ada(command: Command, tmp_path: Path) -> Path:
    """Return a file in which Ada solves item 0, fails at item 1, quits at item 2 and solves item 1 at last."""
    file = tmp_path / "ada.jsonl"
    for index, typed in ((0, solution(0)), (1, "u9\nu9\nu9"), (2, "quit"), (1, solution(1))):
        game = ("play", "maze", "--level", LEVEL, "--index", index, "--record", file, "--player", "Ada")
        assert command(*game, stdin=f"{typed}\n").exit_code == 0
    return file


def episodes(*paths: Path) -> tuple[list[LoggedEpisode], list[Skipped]]:
    problems: list[Skipped] = []
    return list(read_logs(*paths, on_problem=problems.append)), problems


def test_a_record_names_its_player_and_task(ada: Path) -> None:
    found, problems = episodes(ada)
    assert problems == []
    assert {(each.model, each.task, each.embedded) for each in found} == {("human/Ada", "alicia", False)}
    loops = {option.name: option.default for option in waybench.load("maze/alicia").items.options}["loops"]
    assert [each.settings["loops"] for each in found] == [loops] * 4


def test_attempts_at_an_item_are_numbered_and_an_unfinished_one_is_excluded(ada: Path) -> None:
    found = rows(episodes(ada)[0])
    assert [(row.item, row.attempt, row.metrics["score"], row.exclusion_reason) for row in found] == [
        ("701", 1, 100.0, ""),
        ("702", 1, 0.0, ""),
        ("703", 1, None, "unfinished"),
        ("702", 2, 100.0, ""),
    ]


def test_a_second_attempt_has_a_chance_of_its_own(command: Command, tmp_path: Path) -> None:
    records: list[EpisodeRecord] = []
    for player in ("Ada", "Ada", "Bea"):
        game = ("play", "bandit", "-T", "steps=20", "-T", "protocol=sound", "--player", player)
        assert command(*game, "--record", tmp_path / "r.jsonl", stdin="1\n" * 20).exit_code == 0
    for line in (tmp_path / "r.jsonl").read_text().splitlines():
        records.append(EpisodeRecord.from_json(json.loads(line)))
        assert replay(waybench.load("bandit/arms"), records[-1]).done
    assert [record.attempt for record in records] == [1, 2, 1]
    first, second, other = ([turn.reward for turn in record.turns] for record in records)
    assert first != second and first == other


def test_attempts_in_two_files_are_one_series(ada: Path, tmp_path: Path) -> None:
    copy = tmp_path / "later.jsonl.gz"
    copy.write_bytes(gzip.compress(ada.read_bytes().splitlines()[0]))
    found = episodes(ada, copy)[0]
    assert [(each.record.item["id"], each.attempt) for each in found] == [
        *(("701", 1), ("702", 1), ("703", 1), ("702", 2)),
        ("701", 2),
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_records_that_another_program_has_saved(ada: Path, encoding: str) -> None:
    wanted = [each.record for each in episodes(ada)[0]]
    ada.write_bytes(ada.read_text().replace("\n", "\r\n").encode(encoding))
    found, problems = episodes(ada)
    assert [each.record for each in found] == wanted
    assert problems == []


def test_damaged_lines_are_named(ada: Path) -> None:
    with ada.open("ab") as stream:
        stream.write(b'{"schema": 2, "turns"\n\xff\n[]\n{"schema": 2, "turns": []}\n')
    found, problems = episodes(ada)
    assert len(found) == 4
    assert [problem.sample for problem in problems] == ["line 5", "line 6", "line 7", "line 8"]
    assert str(problems[0]) == f"skipped {ada}, line 5: the line is not JSON"


def test_a_folder_s_files_are_found_and_others_passed_over(ada: Path, command: Command) -> None:
    folder = ada.parent
    (folder / "items.jsonl").write_text(command("generate", "maze", "--count", 2).stdout)
    (folder / "deeper").mkdir()
    (folder / "deeper" / "cut.jsonl.gz").write_bytes(gzip.compress(ada.read_bytes())[:-40])
    found, problems = episodes(folder)
    assert len(found) >= 4 and {each.model for each in found} == {"human/Ada"}
    assert [Path(problem.log).name for problem in problems] == ["cut.jsonl.gz"]


def test_a_file_without_records_is_named(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text("\n")
    problems: list[Skipped] = []
    with pytest.raises(waybench.core.UsageError, match="no episodes"):
        list(read_logs(tmp_path / "items.jsonl", on_problem=problems.append))
    assert [problem.error for problem in problems] == ["it holds no record"]


def test_the_report_counts_people_and_what_is_unfinished(ada: Path, command: Command) -> None:
    result = command("report", ada)
    assert result.exit_code == 0
    assert "note: 1 of 4 episodes excluded (unfinished): the player quit, or the replies ran out" in result.stderr
    assert "give more replies, or -O requests=1" in result.stderr
    page = (ada.parent / "site" / "index.html").read_text()
    assert "1 person on 3 items from 1 task. All 4 episodes were re-simulated." in page
    [total] = json.loads((ada.parent / "site" / "summary.json").read_text())["overall"]
    assert (total["group"]["model"], total["attempts"], total["aside"]) == ("human/Ada", 3, 1)


def test_a_person_is_compared_with_a_model(ada: Path, command: Command, tmp_path: Path) -> None:
    prompts = lines_of(command("generate", "maze", "--level", LEVEL, "--count", 2, "--prompts"))
    lines = [json.dumps(line | {"replies": ["none"] * 3, "model": "mine"}) for line in prompts]
    (tmp_path / "replies.jsonl").write_text("\n".join(lines))
    scored = command("score", tmp_path / "replies.jsonl", "--report", tmp_path / "model", "--out", tmp_path / "out")
    assert (scored.exit_code, scored.stdout.splitlines()[2].split()) == (0, ["mine", "0.0"])
    assert (tmp_path / "model" / "index.html").is_file()
    result = command("compare", ada, tmp_path / "model" / "records.jsonl", "--json", "-")
    [found] = json.loads(result.stdout)["comparisons"]
    assert (found["first"]["model"], found["second"]["model"], found["items"]) == ("human/Ada", "mine", 2)


def test_stored_replies_have_a_model(command: Command, tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = lines_of(command("generate", "maze", "--count", 3))
    written = [
        line | {"replies": ["?"] * 3} | model for line, model in zip(lines, ({}, {"model": "m"}, {}), strict=True)
    ]
    (tmp_path / "r").write_text("\n".join(map(json.dumps, [*written, {"env": "none"}])))
    for given, name in (((), "stored replies"), (("--model", "mine"), "mine")):
        result = command("score", tmp_path / "r", "--report", tmp_path / name, *given)
        assert (result.exit_code, len(lines_of(result))) == (1, 4)
        assert "Mazes (AliciaBench)" in result.stderr and f"report: {tmp_path / name / 'index.html'}" in result.stderr
        summary = json.loads((tmp_path / name / "summary.json").read_text())
        assert {total["group"]["model"]: total["attempts"] for total in summary["overall"]} == {name: 2, "m": 1}
        assert summary["overall"][0]["group"]["key"] == "alicia-v1"


@pytest.mark.parametrize("wording", ["two_questions", "code"])
def test_a_person_is_asked_for_actions_alone(command: Command, tmp_path: Path, wording: str) -> None:
    game = ("play", "bandit", "-T", "steps=2", "-T", "protocol=sound", "-T", f"wording={wording}")
    result = command(*game, "--record", tmp_path / "r", stdin="1\n2\n")
    assert result.exit_code == 0
    assert "step by step" not in result.stdout
    assert result.stdout.count("Choose the best executable action") == 2
    record = EpisodeRecord.from_json(json.loads((tmp_path / "r").read_text()))
    assert [turn.reply for turn in record.turns] == ["", "Pull slot machine 1.", "", "Pull slot machine 2."]
    environment = waybench.load("bandit/arms")
    assert replay(environment, record).done
    assert [turn.usage is not None for turn in environment.playing.action_turns(record)] == [True, True]


def test_a_task_s_parameters_choose_the_item(command: Command, tmp_path: Path) -> None:
    (tmp_path / "maps.jsonl").write_text(command("generate", "gtb", "--level", 1, "--count", 2).stdout)
    source = ("-T", f"source={tmp_path / 'maps.jsonl'}")
    for name in ("gtb", "tilemap"):
        result = command("play", name, *source, "--index", 1, "--record", tmp_path / "r", stdin="quit\n")
        assert result.exit_code == 0 and "of key maps.jsonl-" in result.stdout
    found = [json.loads(line) for line in (tmp_path / "r").read_text().splitlines()]
    items = [json.loads(line) for line in (tmp_path / "maps.jsonl").read_text().splitlines()]
    assert [(each["task"], each["instance_hash"]) for each in found] == [("gtb", items[1]["hash"])] * 2
    assert "from 0" in command("play", "gtb", *source, "--index", 2, stdin="").stderr
    assert "unknown parameter" in command("play", "gtb", "-T", "sorce=published", stdin="").stderr


def test_published_items_can_be_played(command: Command, data_dir: Any, tmp_path: Path) -> None:
    games = data_dir("mango")
    options = ("-T", "source=published", "-T", "games=zork1", "-T", f"data_dir={games.parent}")
    result = command("play", "mango_route", *options, "--record", tmp_path / "r", stdin="quit\n")
    assert result.exit_code == 0
    assert (data := json.loads((tmp_path / "r").read_text()))["item"]["key"] == "mango"
    assert (data["task"], data["player"]) == ("mango_route", "human")


@pytest.mark.parametrize("name", ["x" * 61, "a\nb"])
def test_a_name_is_one_that_a_table_can_show(command: Command, name: str) -> None:
    assert "--player" in command("play", "maze", "--player", name, stdin="").stderr


@pytest.mark.slow
def test_the_commands_that_report_a_study_work_as_they_are_documented(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "people.md").read_text(encoding="utf-8")
    block = page.partition("## 5. Report it")[2].split("```")[1]
    documented = [line.partition(" # ")[0] for line in block.splitlines() if line.startswith("waybench ")]
    assert [line.split()[1] for line in documented] == ["run", "report", "compare"]
    monkeypatch.chdir(tmp_path)
    command("generate", "maze", "--level", LEVEL, "--count", 2, "--out", "items.jsonl")
    for person in ("p01-kestrel", "p02-heron"):
        game = ("play", "maze", "-T", "source=items.jsonl", "--record", "people.jsonl", "--player", person)
        assert command(*game, stdin="u9\nu9\nu9\n").exit_code == 0
    for line in documented:
        result = command(*line.replace("openai/gpt-4o", "waybench/oracle").split()[1:])
        assert result.exit_code == 0, f"{line}: {result.stderr}"
    assert "over 1 item" in result.stdout
