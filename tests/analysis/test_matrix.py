"""The matrix of models by families: means, intervals and ranks from rows made by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.analysis.test_frames import row
from waybench.core._designs import Levels
from waybench.envs import registry
from waybench.results import Row, overall
from waybench.results.estimates import matrix
from waybench.results.estimates._matrix import NO_INTERVAL, TOO_FEW, FamilyScore, matrix_text
from waybench.results.estimates._mean_scores import Score, mean_score
from waybench.results.estimates._summary import summary_table
from waybench.results.references._measure import Reference, ReferenceScores
from waybench.results.results import Cluster, RunKey, family_of
from waybench.results.results._rows import ReferenceBounds
from waybench.results.stats._cells import Cell

MAZE, EXPLORE, HANOI = "maze/alicia", "maze/explore", "hanoi/rods"


def attempts(model: str, env: str, scores: list[float], level: int = 5, **more: Any) -> list[Row]:
    """Return a row for each item, with a score between a floor of 0 and a ceiling of 100 (a maze's) or 3 (Hanoi's)."""
    of = RunKey(model=model, task=env, env=env, version=1, options=(), key="k", embedded=model.startswith("waybench/"))
    metric, most = ("score", 3.0) if env == HANOI else ("score", 100.0)
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


def on_maps(model: str, env: str, scores: list[list[float]]) -> list[Row]:
    """Return a row for each item, of maps that other tasks have, too: scores by map."""
    flat = attempts(model, env, [score for of_map in scores for score in of_map])
    maps = [Cluster(f"map {number}") for number, of_map in enumerate(scores) for _ in of_map]
    return [replace(each, cluster=place) for each, place in zip(flat, maps, strict=True)]


def test_two_tasks_on_the_same_maps_tell_no_more_than_one() -> None:
    rng = np.random.default_rng(1)
    scores = (rng.random((8, 1)) + 0.2 * rng.random((8, 5)) > 0.6).astype(float).tolist()
    alone = by_model(on_maps("a", MAZE, scores))["a"].mean
    both = by_model([*on_maps("a", MAZE, scores), *on_maps("a", "maze/explore", scores)])["a"].mean
    own = by_model(
        [*on_maps("a", MAZE, scores), *attempts("a", "maze/explore", [each for some in scores for each in some])]
    )
    assert both.interval == pytest.approx(alone.interval)
    width = own["a"].mean.high - own["a"].mean.low
    assert width < 0.9 * (both.high - both.low)


def test_a_mean_has_no_interval_where_a_cell_has_none() -> None:
    assert mean_score([]) is None
    seven = Cell.from_values([100.0, 0.0, 100.0, 0.0, 0.0, 100.0, 0.0], range(7), 0, 100)
    single = Cell.from_values([10.0], ["alone"], 0, 100)
    scores = [Score(value=cell.value, low=None, high=None, cells=((cell, 1.0),)) for cell in (seven, single)]
    assert mean_score(scores) == Score(value=(seven.value + 10) / 2, low=None, high=None)
    alone = mean_score(scores[:1])
    assert alone is not None and alone.interval is not None


def test_a_cell_of_one_to_five_items_shows_the_items() -> None:
    def cell(scores: list[float]) -> FamilyScore:
        (family_score,) = by_model(attempts("a", MAZE, scores))["a"].cells.values()
        return family_score

    for scores, text in (
        ([1.0, 0.0, 1.0], "3 items: 2 solved"),
        ([1.0, 0.5, 0.0], "3 items"),
        ([1.0, 0.0, 0.0, 1.0, 1.0, 0.0], ""),
    ):
        score = cell(scores).score
        assert score is not None and score.few_items() == text
        assert (score.interval is None) == bool(text)
    (one,) = overall(attempts("a", MAZE, [1.0]))
    assert one.few_items == "1 item"
    # Every place that shows a score of few items shows them: a run's summary as well.
    assert "[3 items: 2 solved]" in summary_table(attempts("a", MAZE, [1.0, 0.0, 1.0]))
    # Eight questions about two maps are two observations.
    rows = on_maps("a", MAZE, [[1.0, 0.0, 0.0, 0.5], [1.0, 1.0, 0.0, 0.0]])
    (mapped,) = by_model(rows)["a"].cells.values()
    assert mapped.score is not None and mapped.score.few_items() == "8 items in 2 clusters"
    value = matrix(attempts("a", MAZE, [1.0, 0.0, 1.0])).to_json()[0]
    assert value["mean"]["low"] is value["mean"]["high"] is value["rank"] is None


def test_families_of_few_items_have_a_mean_with_an_interval_together() -> None:
    """The mean counts the items of all families: six in all will do, though none of them has six."""
    rng = np.random.default_rng(4)
    held, samples = 0, 150
    for _ in range(samples):
        seen, hidden = (rng.random((2, 5)) < 0.6).astype(float).tolist()
        mean = by_model([*attempts("a", MAZE, seen), *attempts("a", EXPLORE, hidden)])["a"].mean
        assert mean.interval is not None
        held += mean.low <= 60 <= mean.high
    assert held / samples >= 0.9
    three = by_model([*attempts("a", MAZE, [1.0, 0.0]), *attempts("a", EXPLORE, [1.0, 0.0, 1.0])])["a"].mean
    assert (three.interval, three.few_items()) == (None, "5 items: 3 solved")
    six = by_model([*attempts("a", MAZE, [1.0, 0.0, 1.0]), *attempts("a", EXPLORE, [1.0, 0.0, 1.0])])["a"].mean
    assert six.interval is not None


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


def on_ladder(model: str, scores: list[float], declared: Levels = range(5, 103, 2), first: int = 5) -> list[Row]:
    """Return rows of a ladder that declares its levels: by level, the score of both of its items."""
    return [
        replace(row, end="solved" if score else "failed")
        for number, score in enumerate(scores)
        for row in attempts(model, MAZE, [score] * 2, first + 2 * number, declared_levels=declared)
    ]


def maze_cells(rows: list[Row]) -> dict[str, tuple[float, tuple[str, ...]]]:
    """Return each model's score in the only family, with its notes."""
    cells = {name: cell for name, found in by_model(rows).items() for cell in found.cells.values()}
    return {name: (cell.score.value, cell.notes) for name, cell in cells.items()}


HARDER_ALONE = ("harder levels count as 0",)


def test_a_ladder_counts_0_up_to_the_end_that_it_declares_whoever_else_is_there() -> None:
    # "a" stops by choice, and its mean is above that of "b" where levels count up to the hardest that another ran.
    a, b = on_ladder("a", [1.0, 0.5, 0.3]), on_ladder("b", [1.0, 1.0, 1.0, 1.0, 0.8, 0.0])
    alone = maze_cells([*a, *b])
    assert alone == {
        "a": (pytest.approx(60), ("levels 5 to 9 only",)),
        "b": (pytest.approx(100 * 4.8 / 49), HARDER_ALONE),
    }
    c = on_ladder("c", [1.0] * 40 + [0.0])
    with_third = maze_cells([*a, *b, *c])
    assert with_third == {**alone, "c": (pytest.approx(100 * 40 / 49), HARDER_ALONE)}
    assert [row.model for row in matrix([*a, *b]).rows] == ["a", "b"]
    assert [row.model for row in matrix([*a, *b, *c]).rows] == ["c", "a", "b"]
    assert maze_cells(b) == {"b": alone["b"]}
    # To its last level: nothing is beyond it.
    assert maze_cells(on_ladder("d", [1.0, 0.0], range(5, 9, 2))) == {"d": (pytest.approx(50), ())}


def test_ladders_that_declare_other_ends_are_measured_by_their_own() -> None:
    far, near = on_ladder("far", [1.0, 0.0]), on_ladder("near", [1.0, 0.0], (5, 7, 9, 11))
    assert maze_cells([*far, *near]) == {
        "far": (pytest.approx(100 / 49), HARDER_ALONE),
        "near": (pytest.approx(25), (*HARDER_ALONE, "levels 5 to 11 only")),
    }
    through = on_ladder("near", [1.0, 1.0, 1.0, 0.0], (5, 7, 9, 11))
    assert maze_cells([*far, *through])["near"] == (pytest.approx(75), ("levels 5 to 11 only",))
    # A ladder that begins later than it declares, by choice, has not ended.
    later = on_ladder("later", [1.0, 0.0], first=9)
    assert maze_cells(later) == {"later": (pytest.approx(50), ("levels 9 to 11 only",))}
    # Two runs of one model, of which the later one goes on.
    both = [*on_ladder("near", [1.0, 1.0], (5, 7)), *on_ladder("near", [1.0, 0.0], (5, 7, 9, 11, 13, 15), first=9)]
    assert maze_cells(both)["near"] == (pytest.approx(50), HARDER_ALONE)


def test_older_logs_declare_nothing_and_count_0_up_to_where_another_model_went() -> None:
    old, other = on_ladder("old", [1.0, 0.0], ()), on_ladder("other", [1.0] * 8, ())
    assert maze_cells([*old, *other]) == {"old": (pytest.approx(12.5), HARDER_ALONE), "other": (100, ())}
    assert maze_cells(old) == {"old": (50, ())}
    # What another model's log declares is the end of the task for the older one, too.
    declaring = on_ladder("other", [1.0] * 8)
    assert maze_cells([*old, *declaring])["old"] == (pytest.approx(100 / 49), HARDER_ALONE)
    # A run that was begun with an older version and went on with this one.
    resumed = [*on_ladder("a", [1.0, 1.0], ()), *on_ladder("a", [1.0, 0.0], first=9)]
    assert maze_cells(resumed) == {"a": (pytest.approx(100 * 3 / 49), HARDER_ALONE)}


def test_rank_intervals() -> None:
    rng = np.random.default_rng(2)
    base = rng.uniform(0.4, 0.9, 36)
    noise = rng.normal(0, 0.1, (3, 36))
    good, same, poor = (np.clip(base + shift + noise[number], 0, 1) for number, shift in enumerate((0, 0, -0.3)))
    rows = [*attempts("good", MAZE, good.tolist()), *attempts("same", MAZE, same.tolist())]
    rows += attempts("poor", MAZE, poor.tolist())
    found = by_model([*rows, *attempts("waybench/oracle", MAZE, [1.0] * 36)])
    assert {name: each.rank for name, each in found.items()} == {
        "good": (1, 2),
        "same": (1, 2),
        "poor": (3, 3),
        "waybench/oracle": None,
    }
    assert list(found)[-2:] == ["poor", "waybench/oracle"]


def test_no_third_model_enters_the_order_of_two() -> None:
    """A model that ran further gives two others levels that count as 0, but changes no pair of theirs."""
    rng = np.random.default_rng(3)
    one, other = rng.uniform(0.4, 0.6, 12), rng.uniform(0.4, 0.6, 12)
    ladder = [*attempts("a", MAZE, one.tolist()), *attempts("b", MAZE, other.tolist())]
    alone = by_model(ladder)
    assert (alone["a"].rank, alone["b"].rank) == ((1, 2), (1, 2))
    further = [row for level in (5, 7, 9) for row in attempts("c", MAZE, rng.uniform(0.4, 0.6, 12).tolist(), level)]
    failed = attempts("a", MAZE, [0.0] * 12, 7)
    with_third = by_model([*ladder, *failed, *further])
    # Of "a" and "b" only the level that both ran is compared.
    # "c" is better than "a", at the level where that failed; "b", which did not run it, is apart from neither.
    assert {name: row.rank for name, row in with_third.items()} == {"a": (2, 3), "b": (1, 3), "c": (1, 2)}
    assert with_third["a"].mean.value < alone["a"].mean.value


def test_a_pair_needs_six_common_clusters() -> None:
    rows = [*attempts("a", MAZE, [1.0] * 5), *attempts("b", MAZE, [0.0] * 5)]
    assert {(each.rank, each.why_no_rank) for each in matrix(rows).rows} == {(None, TOO_FEW)}
    # Of two families with six mazes each there is a pair; with five mazes in one of them there is none.
    for count, rank in ((6, (1, 1)), (5, (1, 2))):
        rows = [*attempts("a", MAZE, [1.0] * 6), *attempts("b", MAZE, [0.0] * 6)]
        rows += [*attempts("a", EXPLORE, [1.0] * count), *attempts("b", EXPLORE, [0.0] * count)]
        assert by_model(rows)["a"].rank == rank
    rows = [*attempts("a", MAZE, [1.0] * 8), *attempts("b", MAZE, [0.0] * 8)]
    assert [each.rank for each in matrix(rows).rows] == [(1, 1), (2, 2)]


@pytest.mark.slow
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


def test_scores_of_different_ranges_are_not_compared() -> None:
    """An option can change the best score possible: such scores are on two scales."""
    short = attempts("a", HANOI, [0.5, 1.0] * 5)
    longer = [replace(row, anchors=ReferenceBounds(0.0, {}, 1.5)) for row in attempts("b", HANOI, [0.1, 0.2] * 5)]
    assert {row.rank for row in matrix([*short, *longer]).rows} == {(1, 2)}


@pytest.mark.slow
def test_equal_models_in_several_wordings_are_rarely_ranked() -> None:
    """The same items in other words are no more items: 24 % of such tables told equal models apart."""
    rng = np.random.default_rng(9)
    apart = 0
    for _ in range(40):
        rows: list[Row] = []
        for model in "abc":
            same = rng.random(20) < 0.6
            for wording in range(4):
                own = np.where(rng.random(20) < 0.8, same, rng.random(20) < 0.6).astype(float).tolist()
                options = (("wording", str(wording)),)
                rows += [
                    replace(each, group=replace(each.group, options=options)) for each in attempts(model, MAZE, own)
                ]
        apart += any(each.rank != (1, 3) for each in matrix(rows).rows)
    assert apart <= 3


def test_the_text() -> None:
    rows = [*attempts("vendor/model", MAZE, [1, 1, 0.5, 0.5]), *attempts("vendor/model", HANOI, [1, 0, 0, 0], level=3)]
    text = matrix_text(matrix([*rows, *attempts("waybench/null", MAZE, [0.0] * 4)]))
    lines = [line.split() for line in text.splitlines()]
    heading = next(line for line in lines if "Mazes" in line)
    assert heading[0] == "mean"
    model = next(line for line in lines if line[:1] == ["vendor/model"])
    assert model[1] == "50"
    assert model[-2:] in (["25†", "75†"], ["75†", "25†"])
    assert next(line for line in lines if line[:1] == ["null"])[-1] in ("0†", "0*")
    assert "† 4 items: Mazes, Tower of Hanoi." in " ".join(text.split())
    # A mean of eight items in all has an interval, which a cell of four has not.
    assert model[2].startswith("(")
    assert max(map(len, matrix_text(matrix(rows), 36).splitlines())) <= 36


def test_the_text_says_why_a_score_or_an_interval_is_missing() -> None:
    unknown = [
        replace(each, anchors=ReferenceBounds(0.0, {}, None)) for each in attempts("a", HANOI, [1, 0, 0, 0], level=3)
    ]
    text = matrix_text(matrix([*attempts("a", MAZE, [0.5] * 4), *unknown]))
    (said,) = (" ".join(part.split()) for part in text.split("\n\n") if "no normalised" in part)
    assert "– no normalised score: Tower of Hanoi (best possible score not known)." in said
    assert f"No interval and no rank: {NO_INTERVAL}." in said
    whole = matrix_text(matrix(attempts("a", MAZE, [1, 1, 0.5, 0.5, 0, 0])))
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
    assert why(known._replace(was_played=True)) == "too few items"
    assert why(*[ReferenceBounds(50.0, {}, 50.0)] * 9) == "floor too close to the ceiling"
    unread = [replace(each, metrics=dict.fromkeys(each.metrics)) for each in attempts("a", MAZE, [1.0] * 9)]
    (cell,) = by_model(unread)["a"].cells.values()
    assert (cell.score, cell.why_none) == (None, "no reply that counts")
    (cell,) = by_model(attempts("a", MAZE, [1.0] * 3))["a"].cells.values()
    assert (cell.score is not None, cell.why_none) == (True, "")


def test_a_task_that_is_wholly_below_the_floor_counts_as_0_and_others_enter_as_they_are() -> None:
    def with_floor(rows: list[Row], floor: float) -> list[Row]:
        return [replace(each, anchors=ReferenceBounds(floor, {}, 100.0)) for each in rows]

    below = with_floor(attempts("a", MAZE, [0.0, 0.2] * 10), 50.0)
    near = with_floor(attempts("a", "maze/explore", [0.0, 0.9] * 3), 50.0)
    found = by_model([*below, *near])["a"]
    cells = {family.name: cell for family, cell in found.cells.items()}
    assert cells["maze"].notes == ("below the floor: counts as 0",)
    assert cells["maze"].score.value == 0
    assert found.mean.value == pytest.approx((0 + -10) / 2)
    alone = by_model(near)["a"].mean
    assert alone.value == pytest.approx(-10)  # not cut at 0
    assert alone.interval_text(" to ") == f"−10 to {alone.high:.0f}"
    counted = by_model(below)["a"].mean
    estimated = next(iter(overall(below))).rescaled
    assert estimated is not None and estimated.mean.low is not None and estimated.mean.high is not None
    assert counted.value == 0
    # With its own distances to the ends.
    ends = (100 * (end - estimated.mean.value) for end in (estimated.mean.low, estimated.mean.high))
    assert (counted.low, counted.high) == tuple(map(pytest.approx, ends))


def test_two_models_below_the_floor_do_not_differ() -> None:
    def rows(model: str, scores: list[float], floor: float) -> list[Row]:
        return [replace(each, anchors=ReferenceBounds(floor, {}, 100.0)) for each in attempts(model, MAZE, scores)]

    first, second = [0.0, 0.05] * 10, [0.2, 0.3] * 10

    def ranks(floor: float) -> list[tuple[int, int]]:
        return [row.rank for row in matrix([*rows("a", first, floor), *rows("b", second, floor)]).rows]

    assert ranks(0.0) == [(1, 1), (2, 2)]
    assert ranks(60.0) == [(1, 2), (1, 2)]


def test_errors_of_a_floor_that_tasks_share_are_shared() -> None:
    def rows(env: str, name: str) -> list[Row]:
        scores = ReferenceScores(
            silence=Reference(20.0, 8.0, 1000),
            random=None,
            constant=None,
            reply="",
            ceiling=Reference(100.0),
            name=name,
        )
        return [replace(each, anchors=scores) for each in attempts("a", env, [0.2, 0.3] * 200)]

    shared = by_model([*rows(MAZE, "one"), *rows("maze/explore", "one")])["a"].mean
    apart = by_model([*rows(MAZE, "one"), *rows("maze/explore", "other")])["a"].mean
    alone = by_model(rows(MAZE, "one"))["a"].mean
    assert apart.high - apart.value < 0.75 * (alone.high - alone.value) < shared.high - shared.value


@pytest.mark.parametrize("option", [("max_steps", 500), ("prefix", "oracle:-2"), ("max_retries", 9)])
def test_a_model_with_easier_items_is_never_ranked_beside_others(option: tuple[str, Any]) -> None:
    dfs, scores = "search/dfs", [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]

    def results(model: str, solved: list[float], *options: tuple[str, Any]) -> list[Row]:
        of_model = attempts(model, dfs, solved)
        return [replace(each, group=replace(each.group, options=options)) for each in of_model]

    easy, hard = [results(name, [1.0] * 7, option) for name in ("easy", "easy too")], results("a", scores)
    rows = by_model([*hard, *results("b", scores[::-1]), *easy[0], *easy[1]])
    assert list(rows) == ["a", "b", "easy", "easy too"], "rows with other options come after the others"
    assert rows["easy"].options == (f"{option[0]}: {option[1]}",) and rows["a"].options == ()
    alone = by_model([*hard, *easy[0]])
    assert alone["a"].rank is None and alone["easy"].rank is None
    both = by_model([*hard, *easy[0], *results("easy", [0.0] * 7)])
    assert both["easy"].options and both["easy"].rank is None, "not by a second, honest run, either"
    (default,) = {results("c", scores, (option[0], None if option[0] != "max_retries" else 3))[0].group}
    assert default.difficulty_options == ()


def test_a_model_is_no_mean_of_itself_and_its_agents() -> None:
    bare, agent = attempts("m", MAZE, [0.0, 1.0] * 6), attempts("m", MAZE, [1.0] * 12)
    agent = [replace(each, group=replace(each.group, options=(("agent", "vote"),))) for each in agent]
    assert by_model([*bare, *agent])["m"] == by_model(bare)["m"]
    alone = by_model(agent)["m"]  # where there is nothing else, the agent's results are the model's
    assert alone.mean.value == 100 and len(alone.cells[family_of(MAZE)].groups) == 1


def test_the_floor_is_that_of_the_attempts_that_are_allowed() -> None:
    # Of a random player the best of one attempt scores 10, that of three 40; the ceiling is 100.
    found = {count: Reference(mean, 0.0, 2000) for count, mean in ((1, 10.0), (3, 40.0))}
    nothing = Reference(0.0, 0.0, 2000)
    ceiling = Reference(100.0, 0.0, 2000)
    anchors = ReferenceScores(
        silence=nothing, random=found[1], constant=nothing, reply="x", ceiling=ceiling, best_random=found, name="n"
    )
    rows = [replace(each, anchors=anchors) for each in attempts("m", MAZE, [0.7] * 12)]
    floors = {}
    for allowed in (0, 1, 3):
        (total,) = overall([replace(each, most_attempts=allowed) for each in rows])
        assert total.rescaled is not None
        floors[allowed] = total.rescaled.floor
    assert floors == {0: 10.0, 1: 10.0, 3: 40.0}
