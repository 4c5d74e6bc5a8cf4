"""What a run may spend: it stops, keeps what was paid for, and goes on where it stopped."""

import re
from collections import Counter
from pathlib import Path

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

from tests.eval.model_server import Answer, model_server
from tests.eval.play import MODEL, records, waybench_
from waybench.cli._parts import run_budget
from waybench.core import Price, Usage, UsageError
from waybench.evaluation._run_progress import RunProgress
from waybench.evaluation.tasks import find_task

PRICES = {"openai/a": Price(1.0, 2.0, 0.5)}


def test_what_a_run_may_spend() -> None:
    alicia, gtb, search = (find_task(name) for name in ("alicia", "gtb", "horizon_maze"))
    models = ["openai/a", "openai/b", "waybench/oracle"]
    assert run_budget("200k", [gtb], models, {}, {}) == (200_000, False, "", ())
    assert run_budget("5USD", [gtb], ["openai/a", "waybench/oracle"], PRICES, {}) == (5, True, "", ())
    # What climbs has a limit by default, for each model that costs something.
    found = run_budget(None, [alicia, gtb], models, {}, {})
    assert (found.amount, found.in_dollars, found.tasks) == (2_000_000, False, ("alicia",))
    assert "after 2,000,000 tokens of alicia, enough" in found.note
    assert found.note.startswith("alicia: climbs as long as the model solves an item of a level.")
    assert "--budget none" in found.note
    assert run_budget(None, [alicia], models, {}, {}).tasks == ()
    # A ladder of which an optimal player needs more has more, so that a perfect model reaches the last level.
    assert run_budget(None, [alicia], models[:1], {}, {"alicia": 1_242_534.0}).amount == 1_300_000
    assert run_budget(None, [alicia], models[:1], {}, {"alicia": 9_742.0}).amount == 1_000_000
    # So has a task with episodes of thousands of turns: as much as a random player takes for the others.
    smartplay = find_task("smartplay")
    found = run_budget(None, [smartplay, gtb], models, {}, {"smartplay": 14_912_345.0})
    assert (found.amount, found.tasks) == (2 * 15_000_000, ("smartplay",))
    assert found.note.startswith(
        "smartplay: has episodes of thousands of turns, which parameters can shorten. The run stops"
    )
    for given in (
        run_budget(None, [gtb], models, {}, {}),
        run_budget("none", [alicia], models, {}, {}),
        run_budget(None, [alicia], ["waybench/oracle"], {}, {}),
        run_budget(None, [alicia], ["python:my_module.reply"], {}, {}),  # whose tokens are not recorded
        run_budget("200k", [search], models, {}, {}),  # the search plans with it
    ):
        assert given == (None, False, "", ())


def test_the_budget_of_a_ladder_is_not_spent_by_other_tasks() -> None:
    stopped: list[str] = []
    progress = RunProgress(budget=100.0, budget_tasks=("alicia",), on_spent=lambda: stopped.append("spent"))
    ladder, other = (
        progress.add_task(f"waybench/{name}", "a/b", None, attempts=False, args={})
        for name in ("alicia", "mango_route")
    )
    other.add_reply("1-1", Usage(input_tokens=90, output_tokens=20), repeated=False)
    ladder.add_reply("501-1", Usage(input_tokens=90, output_tokens=5), repeated=False)
    assert not stopped
    ladder.add_reply("501-1", Usage(input_tokens=0, output_tokens=5), repeated=False)
    assert stopped == ["spent"]
    assert "the budget of 100 tokens of alicia is spent (100 by this command)" in progress.interrupted_text


@pytest.mark.parametrize(
    ("text", "expected"), [("5USD", "no price for openai/b"), ("much", "give dollars or tokens"), ("0", "positive")]
)
def test_what_is_no_budget(text: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        run_budget(text, [find_task("gtb")], ["openai/b"], PRICES, {})


@pytest.mark.slow
def test_a_run_stops_at_its_budget_and_goes_on(tmp_path: Path) -> None:
    with model_server(lambda messages, before: Answer("A")) as server:
        run = (
            *("run", "hanoi_3", "--limit", "4", "--model", MODEL, "--model-base-url", server.url, "--no-check"),
            *("--out", str(tmp_path), "--max-connections", "1", "--display", "none"),
        )
        first = waybench_(*run, "--budget", "20k")
        assert first.returncode == 1
        assert re.search(
            r"Stopped: the budget of 20,000 tokens is spent \(\d\d,\d{3} by this command\)\. \d of 4 episodes",
            first.stderr,
        )
        assert "Traceback" not in first.stderr + first.stdout
        paid = Counter(server.answered)
        assert paid
        # What was interrupted is repeated; nothing else went wrong.
        stopped = [one.error for one in records(tmp_path).values() if one.error]
        (header,) = (read_eval_log(info, header_only=True) for info in list_eval_logs(str(tmp_path)))
        assert header.metadata["waybench_stopped"].startswith("Stopped: the budget of 20,000 tokens is spent")
        assert stopped
        assert set(stopped) == {"the run stopped during this episode: its budget was spent"}
        last = waybench_(*run, "--budget", "none")
        assert last.returncode == 0, last.stderr
    ended = list(records(tmp_path).values())
    assert len(ended) == 4
    # What was paid for once was not asked again: as many replies as turns, but for one that was under way.
    assert 0 <= server.answered.total() - sum(len(record.turns) for record in ended) <= 1
