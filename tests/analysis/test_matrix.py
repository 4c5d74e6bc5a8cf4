"""The matrix of models by families: means, intervals and ranks from rows made by hand."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.analysis.test_frames import row
from waybench.envs import registry
from waybench.results import Row
from waybench.results.estimates import matrix
from waybench.results.estimates._matrix import Score, matrix_text, mean_score, surely_above
from waybench.results.results import Cluster, Group, family_of
from waybench.results.results._rows import ReferenceBounds

MAZE, HANOI = "maze/alicia", "hanoi/rods"


def attempts(model: str, env: str, scores: list[float], level: int = 5, **more: Any) -> list[Row]:
    """Return a row for each item, with a score between a floor of 0 and a ceiling of 100 (a maze's) or 3 (Hanoi's)."""
    of = Group(model=model, task=env, env=env, version=1, options=(), key="k", embedded=model.startswith("waybench/"))
    metric, most = ("score", 100.0) if env == MAZE else ("score", 3.0)
    return [
        row(
            of,
            level=level,
            item=f"{level}-{number}",
            instance=f"{env}{level}{number}",
            cluster=Cluster(f"{env}{level}{number}"),
            index=number,
            end="solved" if score == 1 else "failed",
            metrics={**dict.fromkeys(each.name for each in registry.load(env).scoring.metrics), metric: most * score},
            series={each.name: () for each in registry.load(env).scoring.series},
            anchors=ReferenceBounds(0.0, {}, most),
            **more,
        )
        for number, score in enumerate(scores)
    ]


def by_model(rows: list[Row]) -> dict[str, Any]:
    return {each.model: each for each in matrix(rows).rows}


def test_a_mean_of_scores_by_hand() -> None:
    found = mean_score([Score(value=50, low=47, high=54), Score(value=70, low=66, high=78)])
    assert found is not None
    # Distances of 3 and 4 below, of 4 and 8 above, over two scores.
    assert (found.value, found.low, found.high) == (60, 60 - 2.5, pytest.approx(60 + math.sqrt(80) / 2))
    assert mean_score([]) is None
    assert mean_score([found, Score(value=10, low=None, high=None)]) == Score(value=35, low=None, high=None)


def test_no_two_families_have_the_same_name() -> None:
    families = {family_of(entry.id) for entry in registry.built_in}
    assert len({family.name for family in families}) == len(families)


def test_the_summary_has_partly_seen_mazes_beside_the_others() -> None:
    seen, hidden = attempts("a", MAZE, [1, 0.5, 1, 0.5]), attempts("a", "maze/explore", [0, 1, 0, 1])
    [told] = matrix([*seen, *hidden]).to_json()
    assert {name: cell["items"] for name, cell in told["cells"].items()} == {"maze": 4, "maze/explore": 4}
    assert told["cells"]["maze"]["score"]["value"] == 75


def test_cells_and_means() -> None:
    rows = [*attempts("a", MAZE, [1, 1, 0.5, 0.5]), *attempts("a", HANOI, [1, 0, 0, 0], level=3)]
    found = by_model([*rows, *attempts("b", MAZE, [0.2, 0, 0.2, 0])])
    assert {family.name: cell.score.value for family, cell in found["a"].cells.items()} == {"maze": 75, "hanoi": 25}
    assert found["a"].mean.value == 50
    assert found["a"].families == 2
    # Their means are over different families: they are not ranked against each other.
    assert (found["a"].rank, found["b"].rank) == (None, None)
    assert [family.name for family in found["b"].cells] == ["maze"]


def test_items_of_a_search_are_not_in_it() -> None:
    rows = attempts("a", MAZE, [0.5, 0.4, 0.6])
    alone = matrix(rows)
    assert matrix([*rows, *attempts("a", MAZE, [1.0] * 5, level=31, adaptive=True)]) == alone
    assert matrix(attempts("a", MAZE, [1.0] * 5, adaptive=True)).rows == ()


def test_levels_that_a_ladder_did_not_reach_count_as_0() -> None:
    climbed = [row for level in (5, 7) for row in attempts("a", MAZE, [0.5, 0.7], level)]
    found = by_model([*climbed, *attempts("b", MAZE, [0.0, 0.0])])
    (cell,) = found["b"].cells.values()
    assert (cell.score.value, cell.notes) == (0, ("harder levels count as 0",))
    (cell,) = found["a"].cells.values()
    assert (cell.score.value, cell.notes) == (pytest.approx(60), ())
    # Not so where the other levels were merely not run.
    found = by_model([*climbed, *attempts("b", MAZE, [0.5, 0.5], 7)])
    (cell,) = found["b"].cells.values()
    assert cell.notes == ("level 7 only",)


def test_rank_intervals() -> None:
    good, same, poor = ([base, base + 0.1, base - 0.1] * 12 for base in (0.8, 0.78, 0.2))
    rows = [*attempts("good", MAZE, good), *attempts("same", MAZE, same), *attempts("poor", MAZE, poor)]
    found = by_model([*rows, *attempts("waybench/oracle", MAZE, [1.0] * 36)])
    assert {name: each.rank for name, each in found.items()} == {
        "good": (1, 2),
        "same": (1, 2),
        "poor": (3, 3),
        "waybench/oracle": None,
    }
    assert list(found) == ["good", "same", "poor", "waybench/oracle"]


def test_equal_models_near_the_ceiling_are_rarely_ranked() -> None:
    # At ten mazes that are mostly solved, with a small detour or none. 14 % of tables told some of three models apart
    # when intervals came from the spread of these scores alone.
    rng = np.random.default_rng(8)
    apart = 0
    for _ in range(100):
        solvable = rng.beta(8, 0.5, 10)
        solved = rng.random((3, 10)) < solvable
        scores = np.where(solved, np.where(rng.random((3, 10)) < 0.7, 1, rng.uniform(0.9, 1, (3, 10))), 0)
        rows = [each for model, own in zip("abc", scores.tolist(), strict=True) for each in attempts(model, MAZE, own)]
        apart += any(each.rank != (1, 3) for each in matrix(rows).rows)
    assert apart <= 5


def test_rank_intervals_are_simultaneous() -> None:
    one, other = Score(value=60, low=55, high=65), Score(value=52, low=47, high=57)
    assert surely_above(one, other, 1.0)  # 8 against hypot(5, 5) = 7.07
    # With three models there are three pairs.
    quantile = stats.norm.isf(0.025 / 3) / stats.norm.isf(0.025)
    assert not surely_above(one, other, float(quantile))
    assert not surely_above(other, one, 0.0)
    assert not surely_above(one, Score(value=0, low=None, high=None), 1.0)


def test_the_text() -> None:
    rows = [*attempts("vendor/model", MAZE, [1, 1, 0.5, 0.5]), *attempts("vendor/model", HANOI, [1, 0, 0, 0], level=3)]
    text = matrix_text(matrix([*rows, *attempts("waybench/null", MAZE, [0.0] * 4)]))
    lines = [line.split() for line in text.splitlines()]
    heading = next(line for line in lines if "Mazes" in line)
    assert heading[0] == "mean"
    model = next(line for line in lines if line[:1] == ["vendor/model"])
    assert model[1] == "50"
    assert model[-2:] in (["25", "75"], ["75", "25"])
    assert next(line for line in lines if line[:1] == ["null"])[-1] in ("0", "0*")
    assert max(map(len, matrix_text(matrix(rows), 36).splitlines())) <= 36


def test_the_text_says_why_a_score_or_an_interval_is_missing() -> None:
    unknown = [
        replace(each, anchors=ReferenceBounds(0.0, {}, None)) for each in attempts("a", HANOI, [1, 0, 0, 0], level=3)
    ]
    text = matrix_text(matrix([*attempts("a", MAZE, [0.5] * 4), *unknown]))
    (said,) = (" ".join(part.split()) for part in text.split("\n\n") if "no normalised" in part)
    assert "– no normalised score: Tower of Hanoi (best possible score not known)." in said
    assert "No interval: a single item or cluster, or the same score in all, in some family." in said
    whole = matrix_text(matrix(attempts("a", MAZE, [1, 1, 0.5, 0.5])))
    assert "no normalised score" not in whole and "No interval" not in whole


def test_as_json() -> None:
    found = matrix(attempts("a", MAZE, [1, 0.5])).to_json()
    assert found[0]["model"] == "a"
    assert found[0]["cells"]["maze"]["score"]["value"] == 75  # pyright: ignore


def test_a_cell_without_a_score_says_why() -> None:
    def why(*anchors: ReferenceBounds | None) -> str:
        rows = [
            replace(each, anchors=own)
            for each, own in zip(attempts("a", MAZE, [1.0] * len(anchors)), anchors, strict=True)
        ]
        (cell,) = by_model(rows)["a"].cells.values()
        assert cell.score is None
        return cell.why_none

    known = ReferenceBounds(0.0, {}, 100.0)
    assert why(known, None) == "floor and ceiling not measured"
    assert why(known, ReferenceBounds(0.0, {}, None)) == "best possible score not known"
    assert why(known) == "too few items"
    assert why(*[ReferenceBounds(50.0, {}, 50.0)] * 9) == "floor and ceiling cannot be distinguished"
    unread = [replace(each, metrics=dict.fromkeys(each.metrics)) for each in attempts("a", MAZE, [1.0] * 9)]
    (cell,) = by_model(unread)["a"].cells.values()
    assert (cell.score, cell.why_none) == (None, "no reply that counts")
    (cell,) = by_model(attempts("a", MAZE, [1.0] * 3))["a"].cells.values()
    assert (cell.score is not None, cell.why_none) == (True, "")
