"""Scores of tasks that are not ours, in logs of real evaluations."""

from pathlib import Path

import pytest

from tests.analysis.foreign import BROKEN, CUT, REFUSED, RIGHT, WRONG, ask, dated, rescored
from waybench.results import read_logs
from waybench.results.comparisons import ItemScores
from waybench.results.comparisons._models import compare_sides, foreign_scores
from waybench.results.comparisons._text import comparisons_text
from waybench.results.logs._logs import NoEpisodesError
from waybench.results.stats._verdicts import Verdict

Told = dict[str, float]


def values(answers: ItemScores) -> Told:
    return {key.item: value for key, value in answers.values.items()}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two models: the one solves all but two, the other half of the items."""
    out = tmp_path_factory.mktemp("foreign")
    ask(out, "good", lambda number: {3: WRONG, 4: CUT, 7: BROKEN}.get(number, RIGHT))
    ask(out, "poor", lambda number: RIGHT if number % 2 else (REFUSED if number == 8 else CUT), epochs=2)
    return out


@pytest.mark.slow
def test_scores_by_sample_and_what_is_missing(asked: Path) -> None:
    good, poor = foreign_scores(asked)
    assert (good.model, good.task, good.metric.name) == ("mockllm/good", "sums", "match")
    assert values(good) == {f"q{n}": float(n not in (3, 4)) for n in range(12) if n != 7}
    # An error is missing, and no 0.
    assert {key.item for key in good.missing} == {"q7"}
    assert values(poor) == {f"q{n}": float(n % 2) for n in range(12)}
    assert set(poor.attempts.values()) == {2}
    kinds = {key.item: [kind.name for kind in some] for key, some in good.failures.items() if some}
    assert kinds == {"q3": ["wrong"], "q4": ["truncated"]}
    assert {key.item: [kind.name for kind in some] for key, some in poor.failures.items()}["q8"] == ["refused"] * 2


def test_compared_sample_by_sample(asked: Path) -> None:
    good, poor = foreign_scores(asked)
    (found,), left = compare_sides([good], [poor])
    assert left == []
    assert (found.difference.n, found.metric.low, found.metric.high) == (11, 0, 1)
    # Of the eleven that both have, the good one alone solves 0, 2, 6, 8 and 10; the poor one alone 3.
    assert found.difference.value == pytest.approx((5 - 1) / 11)
    assert (found.test.method, found.test.p) == ("mcnemar", pytest.approx(2 * (1 + 6 / 2) / 2**6))
    assert found.verdict is Verdict.NOT_SHOWN
    text = comparisons_text([found], left, 0.05, ("", ""))
    assert "Excluded: 1 item missing due to infrastructure errors (A 1, B 0)." in text
    assert "A: mockllm/good\nB: mockllm/poor" in text
    assert "Both fail by truncated replies (A 1 of 2, B 10 of 12 failures)." in text


def test_they_are_no_episodes_of_ours(asked: Path) -> None:
    with pytest.raises(NoEpisodesError):
        list(read_logs(asked))


def test_of_several_runs_the_last_one_that_ended_well_counts(tmp_path: Path) -> None:
    ask(tmp_path, "m", lambda number: WRONG, count=3)
    dated(next(tmp_path.glob("*.eval")), "2026-01-01T00:00:00+00:00")
    ask(tmp_path, "m", lambda number: BROKEN if number == 1 else RIGHT, count=3)
    (found,) = foreign_scores(tmp_path)
    assert values(found) == {"q0": 1.0, "q1": 0.0, "q2": 1.0}
    assert found.missing == frozenset()
    assert len(found.logs) == 2


def test_other_settings_are_other_answers(tmp_path: Path) -> None:
    for temperature in (0.0, 1.0):
        ask(tmp_path, "m", lambda number: RIGHT, count=2, temperature=temperature)
    assert {one.settings["temperature"] for one in foreign_scores(tmp_path)} == {0.0, 1.0}


def test_one_id_and_another_input_is_told(tmp_path: Path) -> None:
    ask(tmp_path / "a", "m", lambda number: RIGHT, count=3)
    ask(tmp_path / "b", "m", lambda number: RIGHT, count=3, words="Please:")
    (found,), _ = compare_sides(foreign_scores(tmp_path / "a"), foreign_scores(tmp_path / "b"))
    assert found.n_inputs_differing == 3
    assert "3 of 3 samples have the same id but different inputs" in comparisons_text([found], [], 0.05, ("a", "b"))


def test_whatever_stands_in_a_score(tmp_path: Path) -> None:
    ask(tmp_path / "whole", "m", lambda number: RIGHT)
    (whole,) = tmp_path.glob("whole/*.eval")
    odd = ["C", "I", "P", "N", "yes", "0.25", float("nan"), float("inf"), "\x1b[31mgreat", True, "c", -3]
    parts = [{"a": number / 20, "b": "?"} for number in range(12)]
    rescored(
        whole,
        tmp_path / "odd" / "2026-01-01T00-00-00_sums_x.eval",
        {"odd": odd, "parts": parts},
        model="m\x1b[2J\nB: x",
    )
    found = {one.metric.name: one for one in foreign_scores(tmp_path / "odd")}
    assert set(found) == {"odd", "parts/a", "parts/b"}
    wanted = {"q0": 1.0, "q1": 0.0, "q2": 0.5, "q3": 0.0, "q4": 1.0, "q5": 0.25, "q9": 1.0, "q11": -3.0}
    assert values(found["odd"]) == wanted
    # What is no number is not 0 either.
    assert {key.item for key in found["odd"].undefined} == {"q6", "q7", "q8", "q10"}
    assert not found["parts/b"].values
    compared, left = compare_sides(list(found.values()), list(found.values()))
    assert {one.metric.name for one in compared} == {"odd", "parts/a"}
    assert {one.metric.name: (one.metric.low, one.metric.high) for one in compared} == {
        "odd": (None, None),
        "parts/a": (0, 1),
    }
    text = comparisons_text(compared, left, 0.05, ("", ""))
    assert "\x1b" not in text
    assert not [line for line in text.splitlines() if line.startswith("B: x")]
