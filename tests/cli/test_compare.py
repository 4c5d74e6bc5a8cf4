"""`waybench compare`: what A and B can be, what it prints, and what it refuses."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.analysis.foreign import BROKEN, RIGHT, WRONG, ask
from tests.cli.support import Command, one_line_error
from waybench.evaluation import evaluate
from waybench.evaluation.tasks import TASKS, load_task


def run(out: Path, *players: str, task: str = "alicia", **args: object) -> None:
    entry = next(entry for entry in TASKS if entry.name == task)
    models = [f"waybench/{player}" for player in players]
    assert evaluate([partial(load_task(entry), **args)], models, out) == []


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two players at three mazes."""
    out = tmp_path_factory.mktemp("ours")
    run(out, "oracle", "null", max_dimension=5, limit=7, attempts=1)
    return out


@pytest.fixture(scope="module")
def sums(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the folders "before" and "after", of a task that is not ours."""
    out = tmp_path_factory.mktemp("sums")
    for folder, good in (("before", 6), ("after", 9)):
        ask(out / folder, "m", lambda number, good=good: RIGHT if number < good else WRONG)
        ask(out / folder, "n", lambda number: BROKEN if number == 0 else RIGHT)
    return out


def test_two_models_of_a_folder(command: Command, ours: Path) -> None:
    out = command("compare", "oracle", "waybench/null", "--in", ours).stdout
    assert out.startswith(
        "waybench/oracle is better than waybench/null at the task that both ran.\n\n"
        "A: waybench/oracle\nB: waybench/null\n"
    )
    # Seven mazes, each solved by one alone: 1 / 2^7. The interval is Wilson's of 7 of 7 with Student's t of 6 degrees
    # of freedom, 2.447: from 2 * 7 / (7 + 2.447^2) - 1 up to all.
    row = next(line for line in out.splitlines() if line.startswith("Mazes (AliciaBench): Score "))
    assert row.split()[3:] == ["7", "100.0", "0.0", "+100.0", "+7.8", "to", "+100.0", "0.0078", "A", "better"]
    assert "A fails in none of 7 attempts, B by unreadable replies (7 of 7 failures)." in out


def test_a_folder_of_two_models_needs_no_names(
    command: Command, ours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = command("compare", "null", "oracle", "--in", ours).stdout
    assert command("compare", ours).stdout == named
    run(tmp_path / "waybench-out", "oracle", "null", "random", max_dimension=5, limit=2, attempts=1)
    monkeypatch.chdir(tmp_path)
    assert "has results of 3 models, waybench/null, waybench/oracle, waybench/random" in one_line_error(
        command("compare")
    )


def test_a_model_is_compared_with_itself_in_an_agent(command: Command, tmp_path: Path) -> None:
    agent = "tests.net.agents.planner:times=2"
    both, bare, within = (tmp_path / name for name in ("both", "bare", "within"))
    for out, settings in ((bare, {}), (within, {"agent": agent})):
        run(out, "noisy-0.5", max_dimension=5, limit=3, attempts=1, **settings)
    both.mkdir()
    for log in (*bare.glob("*.eval"), *within.glob("*.eval")):
        (both / log.name).write_bytes(log.read_bytes())
    name = f"waybench/noisy-0.5 ({agent})"
    found = command("compare", both).stdout
    assert found.startswith(f"No task can tell waybench/noisy-0.5 and {name} apart")
    assert f"\nA: waybench/noisy-0.5\nB: {name}\n" in found
    assert command("compare", "noisy-0.5", name, "--in", both).stdout == found
    assert (
        f"\nA: {name}\nB: waybench/noisy-0.5\n"
        in command("compare", name.removeprefix("waybench/"), "noisy-0.5", "--in", both).stdout
    )
    assert f"waybench/noisy-0.5 and {name} apart" in command("compare", bare, within).stdout
    assert f"choose from waybench/noisy-0.5, {name}" in one_line_error(command("compare", "x", "y", "--in", both))
    assert "has results of 1 model, waybench/noisy-0.5: run another one, or give a second folder" in one_line_error(
        command("compare", bare)
    )


@pytest.mark.slow
def test_tasks_that_cannot_tell_are_one_line(command: Command, tmp_path: Path) -> None:
    run(tmp_path, "oracle", "null", max_dimension=5, limit=8, attempts=1)
    run(tmp_path, "oracle", "null", task="guessnum", limit=3)
    run(tmp_path, "oracle", "null", task="coin", limit=3)
    out = command("compare", "oracle", "null", "--in", tmp_path).stdout
    first, *lines = out.splitlines()
    # With three tasks a difference takes 1 + log2(3 / .05) = 6.9 items, all in one direction.
    assert first.startswith(
        "waybench/oracle is better than waybench/null at the one task that can tell; 2 need more items: --limit 7"
    )
    (line,) = (line for line in lines if line.startswith("Too few items to tell: "))
    assert "Number guessing (AQA-Bench)" in line and "Coins in a chest (AQA-Bench)" in line
    assert sum(line.startswith("Number guessing") for line in lines) == 0


@pytest.mark.slow
def test_items_that_share_maps_need_more_maps(command: Command, tmp_path: Path) -> None:
    more = {"task": "mango_destination", "level": 2, "limit": 3, "protocol": "sound"}
    run(tmp_path / "few", "oracle", "null", worlds=3, **more)
    first, *_ = command("compare", "oracle", "null", "--in", tmp_path / "few").stdout.splitlines()
    # Six maps, all in one direction, have a p value of 1 / 2^5; nine questions on three maps never go below 1 / 4.
    assert first == "No task can tell waybench/oracle and waybench/null apart; 1 needs more items: -T worlds=6."
    run(tmp_path / "more", "oracle", "null", worlds=6, **more)
    verdict = command("compare", "oracle", "null", "--in", tmp_path / "more").stdout
    assert verdict.startswith("waybench/oracle is better than waybench/null at the task that both ran.")


def test_one_model_in_two_folders(command: Command, sums: Path) -> None:
    out = command("compare", sums / "before", sums / "after").stdout
    assert out.count("\nB: mockllm/") == 2
    assert "A: mockllm/m in " in out and "A: mockllm/n in " in out
    assert "Excluded: 1 item missing due to infrastructure errors (A 1, B 1)." in out
    alone = command("compare", sums / "before" / "m", sums / "after" / "mockllm" / "m").stdout
    assert "mockllm/n" not in alone
    assert "A − B" in alone and "−0.250" in alone
    assert "(6 of 6 failures)" not in alone
    assert "Both fail by wrong answers (A 6 of 6, B 3 of 3 failures)." in alone


def test_models_of_several_folders(command: Command, sums: Path, ours: Path) -> None:
    out = command("compare", "m", "n", "--in", sums / "before", "--in", ours).stdout
    assert "A: mockllm/m\nB: mockllm/n" in out
    both = command("compare", "m", "n", "--in", sums / "before", "--task", "sums").stdout
    assert both == out


def test_json(command: Command, ours: Path, tmp_path: Path) -> None:
    alone = command("compare", "oracle", "null", "--in", ours, "--metric", "solved", "--json", "-").stdout
    told = json.loads(alone)
    assert (told["schema"], told["a"], told["b"]) == (1, "oracle", "null")
    (found,) = told["comparisons"]
    assert (found["metric"]["name"], found["items"], found["verdict"]) == ("solved", 7, "first")
    assert found["test"] == {"p": 1 / 2**7, "method": "mcnemar", "least_p": 1 / 2**7, "exact": False}
    file = tmp_path / "x.json"
    both = command("compare", "oracle", "null", "--in", ours, "--metric", "solved", "--json", file)
    assert both.stdout.startswith("waybench/oracle is better than waybench/null at the task that both ran.")
    assert file.read_text() == alone


def test_other_items_are_told(command: Command, ours: Path, tmp_path: Path) -> None:
    run(tmp_path, "oracle", max_dimension=5, limit=5, attempts=1)
    out = command("compare", ours / "null", tmp_path).stdout
    assert "Excluded: 2 items that only A was given, level 5." in out
    assert "too few" in out


def test_errors(command: Command, ours: Path, sums: Path, tmp_path: Path) -> None:
    def error(*args: object) -> str:
        return one_line_error(command("compare", *args))

    before = sums / "before"
    assert "unknown folder or model 'nul': choose from waybench/null, waybench/oracle" in error(
        "oracle", "nul", "--in", ours
    )
    assert "are the same" in error("null", "waybench/null", "--in", ours)
    assert "are the same" in error(before, before)
    assert "are the same" in error(before, before / "m")
    assert "nothing to compare: the other side has no such task with these settings" in error(ours, before)
    assert "there is no folder 'waybench-out' in which to look it up as a model: give a folder" in error(
        "nowhere", "null"
    )
    assert "no scores in" in error(tmp_path, before)
    assert "unknown task 'sum': did you mean 'sums'" in error("m", "n", "--in", before, "--task", "sum")
    assert "unknown metric 'x': choose from match" in error("m", "n", "--in", before, "--metric", "x")
    assert "unknown metric 'scor': did you mean 'score'" in error("oracle", "null", "--in", ours, "--metric", "scor")
    assert "--margin" in error("m", "n", "--in", before, "--margin", 2)
    assert "nan is not a number" in error("m", "n", "--in", before, "--margin", "nan")
    assert "cannot write" in error("m", "n", "--in", before, "--json", tmp_path)


def test_an_ambiguous_name(command: Command, tmp_path: Path) -> None:
    run(tmp_path, "null", max_dimension=5, limit=1)
    ask(tmp_path, "null", lambda number: RIGHT, count=2)
    message = one_line_error(command("compare", "null", "x", "--in", tmp_path))
    assert "'null' is ambiguous: give one of mockllm/null, waybench/null" in message


@pytest.mark.slow
def test_a_story_against_its_plain_twin(command: Command, tmp_path: Path) -> None:
    run(tmp_path, "oracle", task="guessnum", limit=4)
    run(tmp_path, "oracle", "null", task="coin", limit=6)
    out = command("compare", tmp_path, "--twins").stdout
    assert "Coins in a chest (AQA-Bench) against Number guessing (AQA-Bench): Err_min" in out
    assert "waybench/null" not in out
    assert "Excluded: 2 items" in out
    found = json.loads(command("compare", tmp_path / "oracle", "--twins", "--json", "-").stdout)
    assert [one["items"] for one in found["comparisons"]] == [4]
    assert "leave 'other' out" in one_line_error(command("compare", tmp_path, "other", "--twins"))


@pytest.mark.slow
def test_pictures_against_text(command: Command, tmp_path: Path) -> None:
    for player, wording in (("noisy-0.3", "image"), ("noisy-0.3", "matrix"), ("null", "image"), ("oracle", "matrix")):
        run(tmp_path, player, max_dimension=5, limit=4, attempts=1, wording=wording)
    run(tmp_path, "oracle", max_dimension=5, limit=3, attempts=1, wording="image", image_size=100)
    found = json.loads(command("compare", tmp_path, "--wordings", "--json", "-").stdout)["comparisons"]
    assert sorted((one["name"], one["items"], one["difference"]["value"]) for one in found) == [
        ("Mazes (AliciaBench), image (image_size=100) against matrix", 3, 0.0),
        ("Mazes (AliciaBench), image against matrix", 4, 0.0),
    ]
    assert "leave 'other' out" in one_line_error(command("compare", tmp_path, "other", "--wordings"))
    assert "--each wording=" in one_line_error(command("compare", "null", "--in", tmp_path, "--wordings"))
    assert "give one of them" in one_line_error(command("compare", tmp_path, "--wordings", "--twins"))


@pytest.mark.slow
def test_spanish_against_english(command: Command, tmp_path: Path) -> None:
    for language, limit in (("en", 4), ("es", 3)):
        run(tmp_path, "noisy-0.3", max_dimension=5, limit=limit, attempts=1, language=language)
    run(tmp_path, "null", max_dimension=5, limit=3, attempts=1, language="es")
    (found,) = json.loads(command("compare", tmp_path, "--language", "--json", "-").stdout)["comparisons"]
    assert found["name"] == "Mazes (AliciaBench), es against en"
    assert (found["items"], found["clusters"], found["difference"]["value"]) == (3, 3, 0.0)
    assert (found["first"]["model"], found["second"]["only"]) == ("waybench/noisy-0.3", 1)
    shown = command("compare", "noisy-0.3", "--in", tmp_path, "--language").stdout
    assert "in the language that is named first" in shown
    assert "--each language=en,es" in one_line_error(command("compare", "null", "--in", tmp_path, "--language"))
    # Models in different languages are not compared with each other, and no language is a setting of the model.
    models = command("compare", "noisy-0.3", "null", "--in", tmp_path, "--json", "-")
    (between,) = json.loads(models.stdout)["comparisons"]
    assert (between["items"], between["first"]["settings"]) == (3, {})


@pytest.mark.slow
def test_original_items_against_isomorphic_ones(command: Command, tmp_path: Path) -> None:
    run(tmp_path, "oracle", task="dfs", limit=7)
    run(tmp_path, "oracle", "null", task="dfs", limit=6, isomorph=2)
    run(tmp_path, "oracle", task="dfs", limit=6, isomorph=3)
    out = command("compare", tmp_path, "--isomorphs").stdout
    assert "A: waybench/oracle in original items" in out
    assert "waybench/null" not in out
    assert "Excluded: 1 item that only A was given" in out
    assert "agreement of two forms 1.000" in out
    found = json.loads(command("compare", tmp_path / "oracle", "--isomorphs", "--json", "-").stdout)
    assert [(one["items"], one["sets"]) for one in found["comparisons"]] == [(6, [2, 3])]
    assert "leave 'other' out" in one_line_error(command("compare", tmp_path, "other", "--isomorphs"))
    assert "give one of them" in one_line_error(command("compare", tmp_path, "--isomorphs", "--twins"))
    assert "-T isomorph=1" in one_line_error(command("compare", tmp_path / "null", "--isomorphs"))
    assert "isomorph" in one_line_error(command("run", "rps", "--model", "waybench/null", "-T", "isomorph=1"))


@pytest.mark.slow
def test_horizons_are_compared_by_their_ratio(command: Command, tmp_path: Path) -> None:
    run(tmp_path, "oracle", "random", max_dimension=17, limit=4, attempts=1)
    (ratio,) = json.loads(command("compare", "oracle", "random", "--in", tmp_path, "--json", "-").stdout)["horizons"]
    assert (ratio["first"]["model"], ratio["second"]["model"]) == ("waybench/oracle", "waybench/random")
    assert (ratio["axis"], ratio["share"]) == ("dimension", 0.5)
    # The oracle solves every maze, so its horizon is above dimension 17: nothing bounds the ratio from above.
    assert (ratio["ratio"], ratio["high"]) == (None, None)
    assert ratio["low"] > 1, "a random walk reaches most exits, and by too long a way"
    assert [each["player"] for each in ratio["references"]] == ["random", "constant"]
    assert (ratio["first_mark"], ratio["second_mark"][:15]) == ("", "not above a ran")
    line = command("compare", "oracle", "random", "--in", tmp_path).stdout.split("Horizons:\n  ")[1]
    assert "A reaches further; B is not above a random player's; a random player and the best constant" in line


@pytest.mark.slow
def test_searches_are_compared_by_their_horizons_alone(command: Command, tmp_path: Path) -> None:
    run(tmp_path, "noisy-0.02", "noisy-0.2", task="horizon_maze", most=40)
    found = json.loads(command("compare", "noisy-0.02", "noisy-0.2", "--in", tmp_path, "--json", "-").stdout)
    assert found["comparisons"] == [], "two searches share items by chance"
    assert found["not_compared"] == []
    (ratio,) = found["horizons"]
    assert ratio["low"] > 1
    assert ratio["verdict"] == "first"
    assert found["horizons_over_families"] is None
    line = command("compare", "noisy-0.02", "noisy-0.2", "--in", tmp_path).stdout.split("Horizons:\n  ")[1]
    assert line.startswith("horizon_maze, 50 % horizon by dimension: ")
    assert ": A reaches further; a random player and the best constant reply: below 5" in line


@pytest.mark.slow
def test_hand_overs_are_compared_by_the_steps_that_are_left(command: Command, tmp_path: Path) -> None:
    run(tmp_path, "noisy-0.2", "noisy-0.6", task="horizon_dfs", axis="steps_left", level=12, most=60)
    found = json.loads(command("compare", "noisy-0.2", "noisy-0.6", "--in", tmp_path, "--json", "-").stdout)
    (ratio,) = found["horizons"]
    assert (ratio["axis"], ratio["references"], found["comparisons"]) == ("steps_left", [], [])
    assert ratio["low"] > 1 and ratio["verdict"] == "first"
    command("report", tmp_path, "--out", tmp_path / "report")
    (page,) = (tmp_path / "report" / "tasks").glob("*oracle-n*.html")
    text = page.read_text(encoding="utf-8")
    assert "Horizons, by steps left." in text and "Success by steps left for each model" in text
    assert "by nodes: the mean" not in text, "what the search chose to play is no score"
    summary = json.loads((tmp_path / "report" / "summary.json").read_text(encoding="utf-8"))
    assert {each["axis"] for each in summary["horizons"]} == {"steps_left"}
    assert "Models by families." not in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_what_both_were_asked_is_compared(command: Command, tmp_path: Path) -> None:
    run(tmp_path, "oracle", "noisy-0.6", task="guessnum", limit=10, probe="every:2")
    asked = ("compare", "oracle", "noisy-0.6", "--in", tmp_path)
    (found,) = json.loads(command(*asked, "--json", "-").stdout)["beliefs"]
    assert (found["belief"], found["first_known"]["value"], found["verdict"]) == ("range", 1.0, "first")
    assert found["difference"]["n"] == 10 and 0 < found["second_known"]["value"] < 0.8
    assert "Belief probes:\n  guessnum, range: A 100.0 %, B " in command(*asked).stdout


@pytest.mark.slow
def test_pairs_of_models_over_all_tasks(command: Command, tmp_path: Path) -> None:
    run(tmp_path, "oracle", "null", task="bfs", limit=7)
    run(tmp_path, "oracle", "null", task="dfs", limit=8)
    asked = ("compare", "oracle", "null", "--in", tmp_path)
    (pair,) = json.loads(command(*asked, "--json", "-").stdout)["model_pairs"]
    assert (pair["first"], pair["second"], pair["verdict"]) == ("waybench/oracle", "waybench/null", "first")
    assert (pair["families"], pair["tasks"], pair["items"], pair["clusters"]) == (1, 2, 15, 15)
    assert pair["difference"]["value"] >= 100, "empty replies can be worse than the floor"
    lines = command(*asked).stdout.split("Pairs of models: ")[1].splitlines()
    assert lines[1].split() == ["A", "B", "Families", "Tasks", "Items", "A", "−", "B", "p", "Verdict"]
    assert lines[3].split()[:5] == ["waybench/oracle", "waybench/null", "1", "2", "15"]
    assert lines[3].endswith("A better")
    # By another metric than the headline there are no normalised scores.
    assert json.loads(command(*asked, "--metric", "solved", "--json", "-").stdout)["model_pairs"] == []


@pytest.mark.slow
def test_compare_says_in_which_demand_two_models_differ(command: Command, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    for condition in ("plan", "read"):
        command(
            *("run", "atlas_world", "--model", "waybench/able", "--model", "waybench/misreads-all", "--limit", "8"),
            *("--out", logs, "-T", f"condition={condition}", "-T", "level=3"),
            *("-T", "key=contrasts"),
        )
    result = command("compare", "able", "misreads-all", "--in", logs, "--json", tmp_path / "pair.json")
    assert "building a map from a story (plan − read)" in result.stdout, result.output
    (difference,) = json.loads((tmp_path / "pair.json").read_text(encoding="utf-8"))["contrasts"]
    assert (difference["demand"], difference["items"]) == ("building a map from a story", 8)
