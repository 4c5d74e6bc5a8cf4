"""The same items in several wordings, of rows whose scores are known."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
from scipy import stats

from tests.analysis.test_frames import row
from waybench.results import Row
from waybench.results.comparisons._prompts import wording_effects, wording_effects_text, wording_frame
from waybench.results.results import Cluster, RunKey


def group(wording: str | None, model: str = "vendor/model", **more: Any) -> RunKey:
    options = (*more.items(), *([("wording", wording)] if wording else []))
    return RunKey(model=model, task="alicia", env="maze/alicia", version=1, options=options, key="k1")


def scored(of: RunKey, scores: Sequence[float | None]) -> list[Row]:
    return [
        row(
            of,
            item=str(number),
            instance=f"{number:064x}",
            cluster=Cluster(f"{number:064x}"),
            metrics={"score": score},
            end="infrastructure_error" if score is None else "failed",
            error=score is None,
        )
        for number, score in enumerate(scores)
    ]


MATRIX = [100.0, 80, 60, 40, 20, 0, 50, 30]
ASCII = [80.0, 90, 40, 30, 0, 0, 20, 10]
PROSE = [100.0, 70, 60, 50, 20, 10, 50, 20]
THREE = [*scored(group("prose"), PROSE), *scored(group("ascii"), ASCII), *scored(group("matrix"), MATRIX)]


def test_three_wordings_by_hand() -> None:
    (found,) = wording_effects(THREE)
    assert [one.name for one in found.wordings] == ["matrix", "ascii", "prose"]
    assert (found.reference, found.worst, found.items, found.left_out) == ("matrix", "ascii", 8, 0)
    assert [one.mean.value for one in found.wordings] == pytest.approx([47.5, 33.75, 47.5])
    differences = [one.comparison.difference.value if one.comparison else None for one in found.wordings]
    assert differences == [None, pytest.approx(-13.75), pytest.approx(0)]
    assert found.spread == pytest.approx(13.75)
    assert found.worst_of_items.value == pytest.approx((80 + 70 + 40 + 30 + 0 + 0 + 20 + 10) / 8)
    assert found.worst_of_items.value < min(one.mean.value for one in found.wordings)
    # The differences sum to -110 and their squares to 2,700; at three items either wording has 0 or 100, so that half
    # of 3 / 8 of a pair at each bound is added to the variance of delta = 1/2 - 13.75 / 200.
    delta = 0.5 - 0.06875
    variance = (0.27 - 1.1**2 / 8) / 7 / 8 / 4 + 3 / 8 / 2 * (delta**2 + (1 - delta) ** 2) / 64
    p = 2 * stats.t.sf((0.5 - delta) * 2 * math.sqrt(delta * (1 - delta) / variance), 7)
    _, ascii_, prose = (one.comparison for one in found.wordings)
    assert ascii_ and prose
    assert ascii_.test.p == pytest.approx(p)
    assert (ascii_.adjusted_p, prose.adjusted_p) == (pytest.approx(2 * p), 1.0)
    assert (ascii_.varies, ascii_.family_size) == ("wording", 2)


def test_a_paired_interval_is_narrower_than_those_of_the_means() -> None:
    many = 10 * MATRIX
    (found,) = wording_effects([*scored(group("matrix"), many), *scored(group("ascii"), [max(0, s - 5) for s in many])])
    assert found.wordings[1].comparison
    difference, mean = found.wordings[1].comparison.difference, found.wordings[1].mean
    assert difference.low is not None
    assert difference.high is not None
    assert mean.low is not None
    assert mean.high is not None
    assert difference.high - difference.low < (mean.high - mean.low) / 1.9
    assert difference.high < 0


def test_one_wording_alone_is_nothing_to_compare() -> None:
    assert wording_effects(scored(group("matrix"), MATRIX)) == []
    assert wording_effects_text(scored(group("matrix"), MATRIX)) == ""
    assert wording_effects_text([]) == ""
    two_models = [*scored(group("matrix"), MATRIX), *scored(group("ascii", "other/model"), ASCII)]
    assert wording_effects(two_models) == []
    # Another protocol is another question, and so is another temperature.
    other = [*scored(group("matrix", protocol="paper"), MATRIX), *scored(group("ascii", protocol="sound"), ASCII)]
    assert wording_effects(other) == []
    assert wording_effects(scored(group(None), MATRIX)) == []


def test_only_items_that_were_asked_in_all_count() -> None:
    errors = [None, *ASCII[1:6]]
    (found,) = wording_effects([*scored(group("matrix"), MATRIX), *scored(group("ascii"), errors)])
    assert (found.items, found.left_out) == (5, 3)
    assert [one.errors for one in found.wordings] == [0, 1]
    assert found.wordings[0].mean.value == pytest.approx((80 + 60 + 40 + 20 + 0) / 5)
    assert found.wordings[1].mean.value == pytest.approx((90 + 40 + 30 + 0 + 0) / 5)
    nothing = [*scored(group("matrix"), MATRIX[:2]), *scored(group("ascii"), [None, None, 5.0])]
    assert wording_effects(nothing) == []


def test_the_first_that_was_run_stands_in_for_the_default() -> None:
    (found,) = wording_effects([*scored(group("prose"), PROSE), *scored(group("ascii"), ASCII)])
    assert found.reference == "ascii"
    assert found.group == group("ascii")


def test_where_lower_is_better_the_greatest_is_the_worst() -> None:
    def guessed(wording: str, errors: Sequence[float]) -> list[Row]:
        of = RunKey(
            model="m", task="guessnum", env="search/guessnum", version=1, options=(("wording", wording),), key="k"
        )
        return [
            row(one.group, item=one.item, instance=one.instance, cluster=one.cluster, metrics={"err_min": error})
            for one, error in zip(scored(of, errors), errors, strict=True)
        ]

    (found,) = wording_effects([*guessed("appendix", [0.1, 0.5, 0.0]), *guessed("code", [0.2, 0.1, 0.0])])
    assert found.worst == "appendix"
    assert found.worst_of_items.value == pytest.approx((0.2 + 0.5 + 0.0) / 3)
    assert found.spread == pytest.approx(0.1)


def test_a_teachers_merit_is_in_no_wording() -> None:
    taught = [row(group(name), metrics={"score": 5.0}, guided=True) for name in ("matrix", "ascii")]
    assert wording_effects(taught) == []


def test_the_table_for_a_terminal() -> None:
    head, rule, *lines = wording_effects_text(THREE).splitlines()
    assert head.startswith("Mazes (AliciaBench): the same items in several wordings")
    assert head.split()[-4:] == ["against", "matrix", "p", "(Holm)"]
    assert set(rule) == {"-"}
    assert [line.split("  ")[0] for line in lines] == [
        "vendor/model, matrix",
        "vendor/model, ascii",
        "vendor/model, prose",
        "vendor/model, worst wording of each item",
    ]
    assert lines[0].split()[-2:] == ["8", "47.5"]
    assert "−13.8" in lines[1]
    assert lines[1].endswith("0.35")


def test_hostile_names_do_not_steer_a_terminal() -> None:
    name = "vendor/\x1b[2J\u202e<script>"
    some = [*scored(group("matrix", name), MATRIX), *scored(group("\x1b[31m", name), ASCII)]
    table = wording_effects_text(some)
    assert "\x1b" not in table
    assert "\u202e" not in table


def test_the_frame() -> None:
    lines = wording_frame(wording_effects(THREE)).records()
    assert [line["wording"] for line in lines] == ["matrix", "ascii", "prose"]
    assert [line["worst"] for line in lines] == [False, True, False]
    assert lines[0]["difference"] is None
    assert lines[1]["difference"] == pytest.approx(-13.75)
    assert {line["worst_of_items"] for line in lines} == {31.25}
    assert wording_frame([]).records() == []
