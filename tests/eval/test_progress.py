"""The progress of a run: counts, time left, what is taken over."""

import json
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

from tests.eval.model_server import Answer, model_server
from tests.eval.play import records
from waybench.core import PROGRESS_FILE, Outcome, Price, TurnRecord, Usage
from waybench.evaluation import evaluate
from waybench.evaluation._progress import EarlierLog, EpisodeLengths, TaskProgress
from waybench.evaluation._run_progress import RunProgress
from waybench.evaluation._solver import provider_error_text
from waybench.evaluation.tasks import find_task, load_task


class Clock:
    """A clock that stands still until it is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def usage(seconds: float = 0.0) -> Usage:
    return Usage(input_tokens=1000, output_tokens=10, seconds=seconds)


def task(total: int | None = 10, **given: object) -> tuple[TaskProgress, Clock, list[str]]:
    clock, notes = Clock(), list[str]()
    progress = TaskProgress("waybench/alicia", "m", total, clock=clock, note=notes.append, **given)  # type: ignore[arg-type]
    progress.start(EarlierLog())
    return progress, clock, notes


def test_the_time_left_follows_from_the_rate_of_requests() -> None:
    progress, clock, _ = task()
    progress.begin_episode("1-1", 1, limit=4)
    assert progress.status().seconds_left is None
    clock.now = 5
    progress.add_reply("1-1", usage(5), repeated=False)
    first = progress.status()
    # No episode is finished: all ten may take four turns, of which one is done, at 5 s each.
    assert (first.seconds_left, first.is_upper_bound, first.state_text) == (39 * 5, True, "≤ 3 min 15 s")
    clock.now = 10
    progress.add_reply("1-1", usage(5), repeated=False)
    progress.end_episode("1-1")
    second = progress.status()
    assert (second.seconds_left, second.is_upper_bound) == (9 * 2 * 5, False)
    assert second.text == "1 of 10 items, 2 requests, 2k input and 20 output tokens, about 1 min 30 s left"


def test_what_a_journal_answers_is_no_request_and_takes_no_time() -> None:
    progress, clock, _ = task(total=2)
    progress.begin_episode("1-1", 1, limit=100)
    for _ in range(50):
        progress.add_reply("1-1", usage(), repeated=True)
    clock.now = 100
    progress.add_reply("1-1", usage(2), repeated=False)
    status = progress.status()
    assert (status.requests, status.repeated, status.input_tokens) == (1, 50, 1000)
    assert status.seconds_left == (100 + 49) * 2


def test_a_ladder_has_no_total() -> None:
    progress, _, _ = task(total=None)
    for sample, level in (("501-1", 5), ("501-2", 5), ("702-1", 7)):
        progress.begin_episode(sample, level, limit=1)
        progress.add_reply(sample, usage(), repeated=False)
        progress.end_episode(sample)
    status = progress.status()
    assert (status.done_text, status.total, status.seconds_left) == ("level 7, 2 items", None, None)


def test_the_time_left_of_a_ladder_follows_from_its_last_level() -> None:
    progress, clock, _ = task(total=None, levels=(5, 7, 9, 11))
    requests = iter(range(1, 100))

    def play(level: int, count: int) -> None:
        for _ in range(count):
            number = next(requests)
            progress.begin_episode(f"{number}-1", level, limit=1)
            clock.now = 2.0 * number
            progress.add_reply(f"{number}-1", usage(2), repeated=False)
            progress.end_episode(f"{number}-1")

    play(5, 6)
    assert progress.status().seconds_left is None  # one level says nothing of the next
    play(7, 2)
    status = progress.status()
    # Six requests a level, 2 s each: four more at level 7, and twice six at 9 and 11.
    assert (status.seconds_left, status.last_level) == ((4 + 12) * 2, 11)
    assert status.state_text == "up to level 11: 32 s"
    assert status.text.endswith("about 32 s left if it climbs to level 11")


def test_the_check_s_reply_gives_a_first_estimate_of_the_time() -> None:
    run = RunProgress(most_requests=600)
    run.estimate_longest_run({"openai/a": 1.5}, {"openai/a": 10})
    (line,) = run.opening
    assert line.startswith(
        "openai/a: the check was answered in 1.5 s. At that speed, 10 at a time, 600 requests take about 1 min 30 s;"
    )
    unknown = RunProgress()
    unknown.estimate_longest_run({"openai/a": 1.5}, {"openai/a": 10})
    assert unknown.opening == []


def test_errors_are_counted_until_they_are_repaired_and_named_once() -> None:
    progress, _, notes = task()
    for sample in ("1-1", "2-1"):
        progress.begin_episode(sample, 1, limit=1)
        progress.end_episode(sample, "RateLimitError: slow down")
    assert (progress.status().errors, progress.status().done) == (2, 0)
    assert notes == ["alicia with m: an infrastructure error ended an episode: RateLimitError: slow down"]
    progress.begin_episode("1-1", 1, limit=1)
    progress.end_episode("1-1")
    assert (progress.status().errors, progress.status().done) == (1, 1)
    progress.finish(complete=False)
    assert progress.status().state_text == "unfinished"


def test_what_is_taken_over_is_said_once() -> None:
    notes: list[str] = []
    progress = TaskProgress("alicia", "m", 60, note=notes.append)
    earlier = EarlierLog(frozenset(f"{number}-1" for number in range(37)), level=5)
    progress.start(earlier, [111, 39, 0])
    progress.finish(complete=False)
    progress.start(earlier, [111, 39])  # the engine repeats what failed
    assert notes == [
        "alicia with m continues: 37 of 60 items finished before; 2 episodes from turn 112, 40; "
        "150 replies taken over without a request"
    ]
    assert (progress.status().done, progress.status().before) == (37, 37)


def test_dollars_need_prices() -> None:
    assert task()[0].status().cost is None
    progress, _, _ = task(price=Price(2.0, 10.0, 1.0))
    progress.begin_episode("1-1", 1, limit=1)
    progress.add_reply("1-1", usage(), repeated=False)
    assert progress.status().cost == pytest.approx((1000 * 2 + 10 * 10) / 1e6)


def test_tasks_that_differ_in_a_parameter_are_told_apart() -> None:
    run = RunProgress()
    for args in ({"limit": 2, "key": "k"}, {"limit": 3, "key": "k"}):
        run.add_task("waybench/alicia", "m", None, attempts=False, args=args)
    assert [each.label for each in run.tasks] == ["alicia limit=2", "alicia limit=3"]
    assert run.find_task("waybench/alicia", "m", {"limit": 3, "key": "k"}) is run.tasks[1]
    assert run.find_task("waybench/alicia", "m", {"limit": 4, "key": "k"}) is None


def test_a_run_counts_what_it_does_and_writes_it_to_a_file(tmp_path: Path) -> None:
    make = partial(load_task(find_task("hanoi_3")), limit=2)
    first, again = RunProgress(), RunProgress()
    assert evaluate([make], ["waybench/random"], tmp_path, progress=first) == []
    (status,) = first.statuses()
    assert status.requests == sum(len(record.turns) for record in records(tmp_path).values()) > 0
    assert (status.state, status.done, status.total, status.before) == ("finished", 2, 2, 0)
    assert evaluate([make], ["waybench/random"], tmp_path, progress=again) == []
    (resumed,) = again.statuses()
    assert (resumed.state, resumed.done, resumed.before, resumed.requests) == ("finished", 2, 2, 0)
    written = json.loads((tmp_path / PROGRESS_FILE).read_text())
    assert (written["state"], written["tasks"][0]["done_text"]) == ("finished", "2 of 2")


@pytest.mark.slow
def test_events_of_embedded_players_alone_are_not_recorded_while_they_play(tmp_path: Path) -> None:
    make = partial(load_task(find_task("hanoi_3")), limit=1)
    assert evaluate([make], ["waybench/random"], tmp_path / "own") == []
    evaluate([make], ["waybench/random", "mockllm/model"], tmp_path / "both")
    recorded = {
        folder: {read_eval_log(info, header_only=True).eval.config.log_realtime for info in list_eval_logs(str(folder))}
        for folder in tmp_path.iterdir()
    }
    assert recorded == {tmp_path / "own": {False}, tmp_path / "both": {True}}


def test_an_error_is_recorded_in_the_providers_words() -> None:
    try:
        try:
            raise ValueError("Error code: 400 - no such thing")
        except ValueError as error:
            raise RuntimeError("\nRequest:\n{...}\n\nValueError('Error code: 400')") from error
    except RuntimeError as error:
        assert provider_error_text(error) == "ValueError: Error code: 400 - no such thing"
    assert provider_error_text(RuntimeError("another")) == "RuntimeError: another"


def _status_of_a_run(url: str, out: Path) -> tuple[int, int, int, str]:
    progress = RunProgress()
    evaluate(
        [partial(load_task(find_task("hanoi_3")), limit=1, steps=1, wording="one_question")],
        ["openai-api/scripted/player"],
        out,
        model_base_url=url,
        progress=progress,
    )
    (status,) = progress.statuses()
    return status.requests, status.retries, status.errors, status.text


@pytest.mark.slow
def test_retries_through_a_server_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRIPTED_API_KEY", "none")
    refusals = 2  # of each request, before it is answered

    def script(messages: list[dict[str, object]], before: int) -> Answer:
        return Answer("A") if before >= refusals else Answer(status=429)

    # In a process of its own: the engine leaves it to the end of the process to close its connections.
    with model_server(script) as server, ProcessPoolExecutor(1, get_context("spawn")) as pool:
        *counts, text = pool.submit(_status_of_a_run, server.url, tmp_path).result()
    assert counts == [1, refusals, 0]
    assert server.asked.total() == refusals + 1
    assert "2 retries" in text


def test_episodes_that_go_on_count_in_the_time_left() -> None:
    progress, clock, _ = task(total=4)
    for number in range(4):
        progress.begin_episode(f"{number}-1", 1, limit=20)
    for turn in range(10):
        for number in range(4):
            if turn < 2 or number:  # one of them ends after two turns
                clock.now += 1
                progress.add_reply(f"{number}-1", usage(1), repeated=False)
        if turn == 1:
            progress.end_episode("0-1")
    status = progress.status()
    # Nothing is known of what follows turn 10: each of the three may take ten more, at 1 s each, and not two in all.
    assert (status.seconds_left, status.is_upper_bound) == (30, True)


def test_the_lengths_of_episodes_are_those_of_kaplan_and_meier() -> None:
    # Their survival function by hand: 6 at risk at 2, one ends: 5/6; 3 at risk at 5, two end: 5/6 * 1/3 = 5/18.
    lengths = EpisodeLengths({2: 1, 5: 2}, [3, 4, 8])
    mean = 2 * 1 + 3 * 5 / 6 + (10 - 5) * 5 / 18
    assert lengths.expected_turns_left(0, 10) == (pytest.approx(mean), pytest.approx(2 * 5 / 18))
    assert lengths.expected_turns_left(8, 10) == (pytest.approx(2), pytest.approx(2))
    assert EpisodeLengths({6: 3}, [5]).expected_turns_left(5, 100) == (pytest.approx(1), 0)


@pytest.mark.parametrize(("model", "is_warned"), [("openai/a", True), ("waybench/random", False)])
def test_unreadable_replies_are_named_with_their_game_after_twenty(model: str, is_warned: bool) -> None:
    notes: list[str] = []
    progress = TaskProgress("waybench/smartplay", model, 10, note=notes.append)
    good, bad = TurnRecord("1", Outcome.OK), TurnRecord("I would\ngo north", Outcome.UNPARSED, "No action is named.")
    for number in range(20):
        progress.count_unreadable_reply("Bandit", good)
        assert notes == []
        progress.count_unreadable_reply("Crafter", bad if number % 3 == 0 else good)
    assert notes == (
        [
            f"warning: smartplay, Crafter, with {model}: 7 of the first 20 replies could not be read; 7 of them: "
            "No action is named. Example: I would go north"
        ]
        if is_warned
        else []
    )
    status = progress.status()
    assert (status.unreadable, status.action_replies, status.unreadable_text) == (7, 40, "18 %")
    assert "18 % of the replies unreadable" in status.use_text
    progress.count_unreadable_reply("Crafter", bad)
    assert len(notes) == is_warned
