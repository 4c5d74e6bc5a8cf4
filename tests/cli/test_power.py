"""`waybench power`: what it prints, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import inspect_ai.model as inspect_model
import pytest
from inspect_ai import eval as inspect_eval
from scipy import stats

from tests.analysis.foreign import RIGHT, WRONG, ask
from tests.cli.support import Command, one_line_error
from tests.cli.test_compare import run
from waybench.evaluation.tasks import find_task, load_task

_MODEL: Any = inspect_model  # its types are not complete


def guess(out: Path, name: str, number: int, **args: object) -> None:
    """Let a model that always names the same number play, with 40 tokens in and 2 out for each reply."""

    def reply(*_: Any) -> Any:
        output = _MODEL.ModelOutput.from_content("mockllm/model", str(number))
        output.usage = _MODEL.ModelUsage(input_tokens=40, output_tokens=2, total_tokens=42)
        return output

    model = _MODEL.get_model(f"mockllm/{name}", custom_outputs=reply, memoize=False)
    task = load_task(find_task("guessnum"))(level=3, **args)
    inspect_eval(task, model=model, log_dir=str(out), display="none")


def test_items_for_a_difference(command: Command) -> None:
    lines = command("power", "--detect", 0.1, "--disagree", 0.3, "--families", 5).stdout.splitlines()
    assert lines[0] == "To detect a difference of 0.1 with a power of 0.8, two-sided at 0.05:"
    assert lines[1] == "  the same items for both models: 230"
    # The normal approximation (Connor, Biometrics 43, 1987) has 234 and 348.
    assert lines[2] == "  in each of 5 families, at worst: 344"
    assert lines[3] == "  other items for each model: 405 each"
    assert lines[4] == "  assumed: one model solves 0.5 of the items, they disagree on 0.3, one attempt at each"


def test_a_difference_for_items(command: Command) -> None:
    lines = command("power", "--items", 230, "--disagree", 0.3).stdout.splitlines()
    assert lines[0] == "With 230 items and a power of 0.8, two-sided at 0.05:"
    assert lines[1] == "  the same items for both models: differences from 0.100"
    assert "none, however large" in command("power", "--items", 3).stdout


def test_clusters(command: Command) -> None:
    out = command("power", "--detect", 0.05, "--cluster", 20, "--icc", 0.1).stdout
    assert "2,320 in 116 clusters" in out


def test_a_pilot(command: Command, tmp_path: Path) -> None:
    ask(tmp_path, "good", lambda number: RIGHT)
    ask(tmp_path, "poor", lambda number: RIGHT if number % 3 else WRONG)
    out = command("power", "--detect", 0.1, "--pilot", tmp_path).stdout
    # They disagree on 4 of 12: 80 % sure on at most D = 0.497, of which up to 4 of 12 come with a chance of 0.2.
    assert stats.binom.cdf(4, 12, 0.497) == pytest.approx(0.2, abs=0.002)
    assert "from the pilot: two models, 12 items, disagreeing on at most 0.497 of them, a rough guess" in out
    # The normal approximation has 388.
    assert "the same items for both models: 387\n" in out
    assert "other items for each model: 403 each" in out


@pytest.mark.slow
def test_a_pilot_says_what_items_take(command: Command, tmp_path: Path) -> None:
    guess(tmp_path, "five", 5, limit=8, attempts=2)
    guess(tmp_path, "two", 2, limit=8, attempts=2)
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"mockllm/five": {"input": 10, "output": 100}}), encoding="utf-8")
    args = ("--pilot", tmp_path, "--metric", "solved", "--prices", prices)
    lines = command("power", "--items", 80, *args).stdout.splitlines()
    replies = _replies(tmp_path)
    # Of 8 items with 2 attempts: ten times as much for 80 items.
    tokens = {name: 10 * 42 * number for name, number in replies.items()}
    dollars = 10 * replies["mockllm/five"] * (40 * 10 + 2 * 100) / 1e6
    assert f"  mockllm/five at 80 items: about {tokens['mockllm/five'] / 1000:.1f}k tokens, {dollars:.2f} USD" in lines
    assert f"  mockllm/two at 80 items: about {tokens['mockllm/two'] / 1000:.1f}k tokens" in lines
    assert "  as a task's limit: --limit 80" in lines


def _replies(out: Path) -> dict[str, int]:
    from waybench.results import read_logs

    counts: dict[str, int] = {}
    for episode in read_logs(out):
        counts[episode.model] = counts.get(episode.model, 0) + len(episode.record.turns)
    return counts


@pytest.mark.slow
def test_embedded_players_are_no_models(command: Command, tmp_path: Path) -> None:
    run(tmp_path, "oracle", "null", task="guessnum", limit=6)
    args = ("power", "--detect", 0.2, "--pilot", tmp_path, "--metric", "solved")
    message = one_line_error(command(*args))
    assert "has embedded players only (waybench/null, waybench/oracle)" in message and "--references" in message
    assert "from the pilot: two models, 6 items" in command(*args, "--references").stdout
    guess(tmp_path, "five", 5, limit=6, attempts=1)
    out = command(*args).stdout
    assert "from the pilot: one model" in out
    assert out.endswith(
        "Left out, since they are no models: waybench/null, waybench/oracle (--references counts them)\n"
    )


def test_isomorphic_items(command: Command, tmp_path: Path) -> None:
    for isomorph in (0, 1):
        guess(tmp_path, "five", 5, limit=8, attempts=1, isomorph=isomorph)
    args = ("power", "--detect", 0.3, "--pilot", tmp_path, "--metric", "solved")
    out = command(*args, "--isomorphs", 1).stdout
    assert "mockllm/five against itself" in out.splitlines()[0]
    assert "  items, each in all forms: " in out and "other items" not in out
    assert "(search-v1~1) at " in out  # what the isomorphic items take
    assert "  from the pilot: 8 items, " in out
    message = one_line_error(command(*args, "--isomorphs", 2))
    assert "--isomorphs 2: the pilot has 1 isomorphic forms of an item" in message
    # Two forms tell more than one: their mean varies less.
    one, two = (
        int(command("power", "--detect", 0.1, "--isomorphs", forms).stdout.splitlines()[1].split(": ")[1])
        for forms in (1, 2)
    )
    assert two < one


def test_a_tie(command: Command) -> None:
    lines = command("power", "--tie", 0.05, "--disagree", 0.2).stdout.splitlines()
    assert lines[0] == "To show that two equal models are tied within 0.05 with a power of 0.8, one-sided at 0.05:"
    # The normal approximation has (1.645 + 1.2816)^2 0.2 / 0.05^2 = 685.
    assert lines[1] == "  the same items for both models: 689"
    assert lines[2] == "  a tie takes, however small the differences are: 60 items"
    assert "689: a power of 0.80" in command("power", "--tie", 0.05, "--disagree", 0.2, "--items", 689).stdout


def test_a_ranking(command: Command) -> None:
    alone, ranked = command("power", "--detect", 0.1, "--models", 4).stdout.splitlines()[1:3]
    assert ranked.startswith("  each pair in a ranking of 4 models (6 pairs), at worst: ")
    # Holm's first step: a sixth of 5 %.
    strict = command("power", "--detect", 0.1, "--alpha", 0.05 / 6).stdout.splitlines()[1]
    assert ranked.split(": ")[1] == strict.split(": ")[1] != alone.split(": ")[1]


@pytest.mark.slow
def test_horizons(command: Command) -> None:
    levels = "4,5.7,8,11,16,23,32"
    lines = command("power", "--ratio", 2.5, "--levels", levels).stdout.splitlines()
    assert lines[0] == "To detect a ratio of 50 % horizons of 2.5 with a power of 0.8, two-sided at 0.05:"
    items = int(lines[1].split("about ")[1].split()[0])
    assert lines[1] == f"  7 levels: about {items} items of each level, {7 * items} in all"
    found = command("power", "--items", items, "--levels", levels).stdout.splitlines()[1]
    assert 2 < float(found.removeprefix("  7 levels: ratios from ")) <= 2.55


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--tie", 0.05, "--detect", 0.1], "two questions"),
        (["--detect", 0.1, "--prices", "prices.json"], "add --pilot"),
        (["--tie", 0.05, "--models", 3], "ties are not adjusted"),
        (["--tie", 0.05, "--power", 0.96], "lower --power or --alpha"),
        (["--ratio", 2], "--levels"),
        (["--levels", "3,9"], "either --ratio or --items"),
        (["--levels", "3,x", "--ratio", 2], "'3,x' are not 2 to 50 numbers"),
        (["--levels", "3,9", "--ratio", 2, "--pilot", "."], "leave --pilot out"),
        (["--detect", 0.1, "--models", 3, "--isomorphs", 1], "--families"),
        ([], "give either --detect or --items"),
        (["--detect", 0.1, "--items", 10], "give either --detect or --items"),
        (["--detect", 0.8], "choose another --rate"),
        (["--detect", 1.5], "--detect"),
        (["--detect", 0.1, "--attempts", 2, "--disagree", 0.2], "single attempts"),
        (["--detect", 0.1, "--pilot", "nowhere"], "no folder"),
    ],
)
def test_bad_input(command: Command, args: list[object], expected: str) -> None:
    assert expected in one_line_error(command("power", *args))


@pytest.mark.slow
def test_what_a_comparison_takes_that_ends_when_it_is_decided(command: Command) -> None:
    lines = command("power", "--until", "decided", "--disagree", "0.3").stdout.splitlines()
    assert lines[0] == "Until two models are told apart or tied within 0.05, at most 2,000 items each:"
    counts = [int(line.partition("about ")[2].split()[0].replace(",", "")) for line in lines[1:6]]
    assert [line.split(":")[0].strip() for line in lines[1:6]] == [
        *("a difference of 0.3", "a difference of 0.2", "a difference of 0.1", "a difference of 0.05", "equal models"),
    ]
    for count, expected in zip(counts, (27, 66, 260, 937, 1258), strict=True):
        assert abs(count - expected) < 0.08 * expected
    wider = command("power", "--until", "decided", "--disagree", "0.3", "--tie", "0.1").stdout.splitlines()
    assert abs(int(wider[5].partition("about ")[2].split()[0]) - 319) < 25
    assert "leave --detect" in command("power", "--until", "decided", "--detect", "0.1").stderr
