"""Comparisons of two players: published results, verdicts, and how often they are wrong where nothing differs."""

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import waybench
from tests.analysis.episodes import failed, logged, played
from tests.analysis.maps import answered, corridor
from tests.analysis.test_frames import group, row
from tests.envs.tilemap.maps import after
from tests.envs.tilemap.maps import said as move
from waybench.core import ILLEGAL, TURN_LIMIT, FailureKind, Metric, UsageError
from waybench.core._metrics import GENERAL_FAILURES, TRUNCATED, WRONG
from waybench.results import rows
from waybench.results.comparisons import ItemScores, item_scores, main_failure
from waybench.results.comparisons._comparison import Comparison
from waybench.results.comparisons._item_scores import most_frequent_failure
from waybench.results.comparisons._models import compare_sides
from waybench.results.comparisons._text import comparison_lines, comparisons_json, comparisons_text, verdict_sentence
from waybench.results.results import Cluster, ItemKey
from waybench.results.stats._contributions import Difference
from waybench.results.stats._intervals import holm_adjusted
from waybench.results.stats._verdicts import Verdict

SHARE = Metric(name="share", of=lambda record: None, title="Share", doc="", low=0, high=1)
LATE = FailureKind("turn_limit", "running out of guesses", "They ran out.")
NO_FAILURES: Mapping[ItemKey, Sequence[FailureKind]] = {}


def made(
    values: Iterable[float],
    model: str = "a",
    *,
    clusters: Sequence[Hashable] | None = None,
    test: str = "t",
    metric: Metric = SHARE,
    failures: Mapping[ItemKey, Sequence[FailureKind]] = NO_FAILURES,
    **settings: Any,
) -> ItemScores:
    """Return answers with given values at items 0, 1, ..."""
    listed = list(values)
    keys = [key(number, clusters[number] if clusters else number) for number in range(len(listed))]
    return ItemScores(
        model=model,
        task=test,
        test=test,
        name=test,
        settings=settings,
        metric=metric,
        values=dict(zip(keys, listed, strict=True)),
        missing=frozenset(),
        undefined=frozenset(),
        failures=failures,
        failure_kinds=(*GENERAL_FAILURES, LATE),
        attempts=dict.fromkeys(keys, 1),
        logs=frozenset({f"{model} {settings}"}),
    )


def key(number: int, cluster: Hashable = None) -> ItemKey:
    return ItemKey(0, str(number), "", Cluster(str(number if cluster is None else cluster)))


def one(first: Iterable[float], second: Iterable[float], margin: float = 0.05, **more: Any) -> Comparison:
    (found,), left = compare_sides([made(first, "a", **more)], [made(second, "b", **more)], margin)
    assert left == []
    return found


def table(both: int, first: int, second: int, neither: int) -> tuple[list[float], list[float]]:
    """Return the values of two players of which so many items are solved by both, by one alone, and by neither."""
    return (
        [1.0] * both + [1.0] * first + [0.0] * second + [0.0] * neither,
        [1.0] * both + [0.0] * first + [1.0] * second + [0.0] * neither,
    )


def test_ratings_of_the_prime_minister() -> None:
    # Agresti, Categorical Data Analysis (2nd ed. 2002), section 10.1: 1,600 voters asked twice. He has McNemar's
    # z^2 = 17.36 and for the difference 0.04 the interval 0.021 to 0.059 (Wald's).
    first, second = table(794, 150, 86, 570)
    found = one(first, second)
    assert (found.first_mean.value, found.second_mean.value) == (pytest.approx(0.59), pytest.approx(0.55))
    assert found.difference.value == pytest.approx(0.04)
    assert (found.difference.low, found.difference.high) == (
        pytest.approx(0.021, abs=5e-4),
        pytest.approx(0.059, abs=5e-4),
    )
    assert found.test.method == "mcnemar"
    # 17.36 has p = 3.1e-5 without continuity correction, which the mid-p value is near to.
    assert found.test.p == pytest.approx(stats.chi2.sf(17.36, 1), rel=0.1)
    assert found.verdict is Verdict.FIRST


def test_few_pairs_that_differ_by_hand() -> None:
    # Nine pairs against one: both tails of Binomial(10, 1/2) from there, with half of the 10 cases of each that are as
    # extreme: 2 (1 + 10 / 2) / 1024.
    found = one(*table(5, 9, 1, 3))
    assert found.test.p == pytest.approx(12 / 1024)
    assert found.verdict is Verdict.FIRST


def test_turned_round() -> None:
    found, other = one(*table(5, 9, 1, 3)), one(*reversed(table(5, 9, 1, 3)))
    turned = found.swapped
    assert (turned.verdict, other.verdict) == (Verdict.SECOND, Verdict.SECOND)
    assert (turned.first_mean, turned.second_mean) == (other.first_mean, other.second_mean)
    for mean, wanted in ((turned.difference, other.difference), (turned.interval_90, other.interval_90)):
        assert (mean.value, mean.low, mean.high) == pytest.approx((wanted.value, wanted.low, wanted.high))
    assert turned.swapped == found


def test_darwins_maize() -> None:
    # Fisher, The Design of Experiments (1935), section 17: 15 pairs of plants, in eighths of an inch: t = 2.148 with 14
    # degrees of freedom, which is beyond 2.145, the 5 % point. Nothing bounds heights.
    apart = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert sum(apart) == 314
    difference = Difference.from_values(apart, [0] * 15, list(range(15)))
    assert difference.test == (pytest.approx(2 * stats.t.sf(2.148, 14), rel=1e-3), "t", 2.0**-14)
    mean = difference.mean()
    assert mean.low is not None and mean.high is not None
    assert mean.low > 0
    assert mean.value / (mean.high - mean.low) * 2 * stats.t.ppf(0.975, 14) == pytest.approx(2.148, abs=5e-4)


def test_holms_procedure() -> None:
    # Four tests: 4 x 0.005, 3 x 0.01, then 2 x 0.03, which the last one, 0.04, cannot go below.
    assert holm_adjusted([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_adjusted_over_all_comparisons() -> None:
    first, second = table(5, 8, 1, 3)  # mid-p 2 (1 + 9 / 2) / 512
    tests = "wxyz"
    found, _ = compare_sides([made(first, "a", test=t) for t in tests], [made(second, "b", test=t) for t in tests])
    assert [each.adjusted_p for each in found] == pytest.approx([4 * 11 / 512] * 4)
    assert {each.verdict for each in found} == {Verdict.NOT_SHOWN}
    # The interval is that of one comparison alone: it does not contain 0, and says why that is not enough.
    low, high = found[0].difference.low, found[0].difference.high
    assert low is not None and high is not None and low > 0
    wanted = f"no difference shown (alone +{low:.3f} to +{high:.3f}, but this is one of 4 comparisons)"
    assert verdict_sentence(found[0]) == wanted


def test_only_tests_that_can_show_a_difference_are_adjusted() -> None:
    # 13 tasks of five items, all solved by one alone, and three of 20: only the latter can be significant.
    small, large = ([1.0] * 5, [0.0] * 5), table(5, 9, 1, 5)
    sides = [small] * 13 + [large] * 3
    comparisons, _ = compare_sides(
        [made(first, "a", test=str(n)) for n, (first, _) in enumerate(sides)],
        [made(second, "b", test=str(n)) for n, (_, second) in enumerate(sides)],
    )
    assert [each.adjusted_p for each in comparisons] == [None] * 13 + [pytest.approx(3 * 12 / 1024)] * 3
    assert [each.verdict for each in comparisons] == [Verdict.TOO_FEW] * 13 + [Verdict.FIRST] * 3
    assert {each.family_size for each in comparisons} == {3}
    text = comparisons_text(comparisons, [], 0.05, ("", ""))
    (row, _) = (line.split() for line in text.splitlines() if line.startswith(("0: Share", "15: Share")))
    assert row[-3:] == ["0.0352", "A", "better"]
    few = "; ".join(f"{number}, +1.000 (5 items, p 0.0625 unadjusted)" for number in range(13))
    assert f"Too few items to tell: {few}." in text
    assert "Holm: the p value, adjusted for 3 comparisons of 16, those that can show a difference" in text
    assert verdict_sentence(comparisons[0]).startswith("too few to tell (")
    told = comparisons_json(comparisons, [], 0.05)["comparisons"]
    assert [told[n]["p_holm"] for n in (0, 15)] == [None, pytest.approx(3 * 12 / 1024)]  # pyright: ignore


def test_two_values_that_are_not_the_bounds_are_graded() -> None:
    # Ten times 0 against 0.1: of the player with 0 it is not known that it never has 1.
    graded = Difference.from_values([0.0] * 10, [0.1] * 10, list(range(10)), 0, 1).test
    assert graded.method == "t"
    assert graded.p > 0.3
    binary = Difference.from_values([0.0] * 10, [1.0] * 10, list(range(10)), 0, 1).test
    assert binary == (pytest.approx(1 / 1024), "mcnemar", 2.0**-10)


def test_the_text_says_what_is_not_in_a_test_of_few_graded_scores() -> None:
    rng = np.random.default_rng(6)
    few, many = (rng.uniform(0.3, 0.6, (2, size)).tolist() for size in (20, 60))
    omitted = "rare extreme scores that did not occur here are not in this test"
    assert omitted in next(comparison_lines(one(*few)))
    assert omitted not in next(comparison_lines(one(*many)))
    assert omitted not in next(comparison_lines(one([0.0, *few[0]], [0.1, *few[1]])))
    assert omitted not in next(comparison_lines(one(*table(5, 9, 1, 3))))


def test_bounds_that_no_player_comes_near_do_not_count() -> None:
    crafter = waybench.load("crafter/survival").scoring.metrics[0]
    assert crafter.far_bounds
    first, second = [262.0, 240, 301, 225, 290, 251, 270, 236], [20.0, 3, 41, 9, 60, 12, 0, 31]
    found = one(first, second, metric=replace(crafter, low=0, high=1320))
    assert found.test.p == pytest.approx(stats.ttest_rel(first, second).pvalue, abs=2**-7)
    assert (found.verdict, found.margin) == (Verdict.FIRST, None)


def test_clusters_are_what_a_test_counts() -> None:
    clusters = [number // 5 for number in range(40)]
    values = [float(cluster % 4 != 0) for cluster in clusters]
    found = one(values, [0.0] * 40, clusters=clusters)
    # Eight maps are all solved or not at all: six pairs differ, all in one direction.
    assert found.test == (pytest.approx(1 / 64), "mcnemar", 1 / 64)
    assert found.difference.clusters == 8


def test_all_alike_has_a_width() -> None:
    solved = one([1.0] * 10, [1.0] * 10)
    # A whole pair at either bound is added: the variance of delta = 1/2 is 1/2 / 10^2, and Wilson's interval of as many
    # trials as give it is 1/2 +- t / sqrt(N + t^2) / 2.
    trials, quantile = 0.25 / (0.5 / 100), stats.t.ppf(0.975, 9)
    assert solved.difference.high == pytest.approx(quantile / (trials + quantile**2) ** 0.5)
    assert (solved.test.p, solved.difference.low) == (1, pytest.approx(-(solved.difference.high or 0)))
    # Alike between the bounds, nothing says how others would differ.
    assert one([0.5] * 10, [0.5] * 10).difference.low is None
    assert one([3.0] * 10, [3.0] * 10, metric=replace(SHARE, high=None)).difference.low is None


@pytest.mark.parametrize(
    ("first", "second", "margin", "verdict"),
    [
        ([1.0] * 100, [1.0] * 100, 0.05, Verdict.TIED),
        # The interval, +-0.048, is within the margin, but of 49 items up to 3 / 49 may be others.
        ([1.0] * 49, [1.0] * 49, 0.05, Verdict.TOO_FEW),
        ([1.0] * 20, [1.0] * 20, 0.05, Verdict.TOO_FEW),
        ([1.0] * 24, [1.0] * 20 + [0.0] * 4, 0.05, Verdict.TOO_FEW),  # four differ: mid-p 1 / 16 at least
        ([1.0] * 20, [1.0] * 20, 0.2, Verdict.TIED),
        ([1.0] * 5, [0.0] * 5, 0.05, Verdict.TOO_FEW),
        ([0.9] * 5, [0.2] * 5, 0.05, Verdict.TOO_FEW),
        ([1.0] * 6, [0.0] * 6, 0.05, Verdict.FIRST),
        ([0.0] * 6, [1.0] * 6, 0.05, Verdict.SECOND),
        ([1.0, 0.0] * 10, [0.0, 1.0] * 10, 0.05, Verdict.NOT_SHOWN),
    ],
)
def test_verdicts(first: list[float], second: list[float], margin: float, verdict: Verdict) -> None:
    assert one(first, second, margin).verdict is verdict


def test_a_tie_takes_many_clusters_and_not_only_many_items() -> None:
    # 50 maps of ten questions each, at which one in a hundred results differs, to either side. One map in twenty may be
    # another story altogether, and is in none of 50 maps in 8 % of samples.
    rng = np.random.default_rng(3)
    mine, theirs = (rng.random((2, 500)) > 0.005).astype(float)
    maps = [number // 10 for number in range(500)]
    alone = one(mine, theirs)
    assert (alone.within_margin, alone.verdict) == (True, Verdict.TIED)
    clustered = one(mine, theirs, clusters=maps)
    assert (clustered.within_margin, clustered.verdict) == (True, Verdict.NOT_SHOWN)
    assert "a tie within ±0.050 takes 60 clusters" in verdict_sentence(clustered)
    assert one(mine, theirs, clusters=[number // 5 for number in range(500)]).verdict is Verdict.TIED


def test_ties_are_rarely_shown_where_maps_differ() -> None:
    # At one map in ten, one player solves half of the questions more: a difference of 0.05, as great as the margin.
    rng = np.random.default_rng(9)
    maps = np.repeat(np.arange(10), 50)
    tied = 0
    for _ in range(100):
        better = (rng.random(10) < 0.1)[maps] * 0.5
        chance = rng.random(500)
        mine, theirs = (chance < better + 0.01) * 1.0, ((chance > 0.98) & (better == 0)) * 1.0
        tied += one(mine, theirs, clusters=maps.tolist()).verdict is Verdict.TIED
    assert tied <= 10


def test_a_lower_value_can_be_the_better_one() -> None:
    lower = replace(SHARE, better="lower")
    found = one([1.0] * 6, [0.0] * 6, metric=lower)
    assert found.verdict is Verdict.SECOND
    assert verdict_sentence(found).startswith("B is better: A − B is +1.000 (")
    neither = one([1.0] * 6, [0.0] * 6, metric=replace(SHARE, better=""))
    assert verdict_sentence(neither).startswith("A is higher: ")


def test_what_a_verdict_says() -> None:
    tied = one([1.0] * 100, [1.0] * 100)
    assert verdict_sentence(tied) == "tied within ±0.050 (90 % interval −0.023 to +0.023)"
    open_ = one([1.0, 0.0] * 10, [0.0, 1.0] * 10)
    assert verdict_sentence(open_).startswith("no difference shown (could be −0.4")
    close = one([1.0] * 49, [1.0] * 49)
    assert "a tie within ±0.050 takes 60 items" in verdict_sentence(close)
    unbounded = one([3.0] * 9, [3.0] * 9, metric=replace(SHARE, high=None))
    assert (unbounded.margin, unbounded.verdict) == (None, Verdict.NOT_SHOWN)
    assert verdict_sentence(unbounded) == "no difference shown (the size is unknown)"


def test_which_answers_belong_together() -> None:
    def pairs(first: list[ItemScores], second: list[ItemScores]) -> tuple[set[tuple[Any, ...]], int]:
        found, left = compare_sides(first, second)
        named = {(c.first.model, c.first.settings.get("t"), c.second.model, c.second.settings.get("t")) for c in found}
        return named, len(left)

    ones = [1.0] * 8
    # Two folders with the same models; a model with two settings against another; one that has no match.
    both = [made(ones, "m"), made(ones, "n")]
    assert pairs(both, list(both)) == ({("m", None, "m", None), ("n", None, "n", None)}, 0)
    warm = [made(ones, "m", t=0), made(ones, "m", t=1)]
    assert pairs(warm, [made(ones, "n", t=1)]) == ({("m", 1, "n", 1)}, 1)
    assert pairs([made(ones, "m", t=0)], [made(ones, "n", t=1)]) == ({("m", 0, "n", 1)}, 0)
    assert pairs(warm, [made(ones, "n", t=5)]) == (set(), 3)
    assert pairs([made(ones, "m", test="x")], [made(ones, "n", test="y")]) == (set(), 2)


def test_nothing_in_common() -> None:
    other = made([1.0] * 3, "b")
    other = replace(other, values={key(n + 10): 1.0 for n in range(3)})
    found, (left,) = compare_sides([made([1.0] * 3)], [other])
    assert found == []
    assert left.why == "no items in common"


def test_what_is_left_out_is_counted() -> None:
    first = replace(made([1.0] * 8), missing=frozenset({key(20)}), undefined=frozenset({key(21)}))
    second = replace(made([0.0] * 10, "b"), missing=frozenset({key(21)}), undefined=frozenset({key(20), key(30)}))
    found, left = compare_sides([first], [second])
    assert found[0].difference.n == 8
    text = comparisons_text(found, left, 0.05, ("", "out"))
    assert "B: b in out" in text
    assert "Excluded: 3 items that only B was given." in text
    assert "Excluded: 2 items missing due to infrastructure errors (A 1, B 1)." in text
    assert "Excluded: 2 items without a value, for example because no answer could be read (A 1, B 1)." in text
    assert "inf" not in text.replace("infrastructure", "")


def test_how_each_fails() -> None:
    def fails(*kinds: tuple[FailureKind, int]) -> dict[ItemKey, list[FailureKind]]:
        listed = [kind for kind, count in kinds for _ in range(count)]
        return {key(number): [kind] for number, kind in enumerate(listed)}

    illegal = fails((ILLEGAL, 12), (TURN_LIMIT, 8))
    length = fails((TRUNCATED, 9), (WRONG, 5))

    def told(first: dict[ItemKey, list[FailureKind]], second: dict[ItemKey, list[FailureKind]]) -> str:
        sides = [made([1.0, 0.0] * 20, "a", failures=first), made([0.0, 1.0] * 20, "b", failures=second)]
        found, left = compare_sides(sides[:1], sides[1:])
        return comparisons_text(found, left, 0.05, ("", ""))

    assert "A fails by illegal moves (12 of 20 failures), B by truncated replies (9 of 14 failures)." in told(
        illegal, length
    )
    assert "A fails in none of 40 attempts, B by truncated replies (9 of 14 failures)." in told({}, length)
    assert "Both fail by truncated replies (A 9 of 14, B 9 of 14 failures)." in told(length, length)
    assert "fail" not in told({}, {})
    # A game of a fixed length always ends so.
    always = fails((TURN_LIMIT, 40))
    assert "fail" not in told(always, always)
    # One that is to be solved in time fails so, which its environment says.
    late = fails((LATE, 40))
    assert "Both fail by running out of guesses (A 40 of 40, B 40 of 40 failures)." in told(late, late)
    assert most_frequent_failure([], GENERAL_FAILURES) is None
    assert most_frequent_failure([WRONG, ILLEGAL], GENERAL_FAILURES) == (ILLEGAL, 1)


def test_what_does_not_count_has_not_failed() -> None:
    lost = {"end": "failed", "failure": "wall"}
    kind = main_failure(row(group(), **lost))
    assert kind is not None
    assert (kind.name, kind.title) == ("wall", "movements into walls")
    assert main_failure(row(group(), end="turn_limit")) is None  # where that is no failure
    for more in ({"error": True}, {"exclusion_reason": "repeated"}, {"guided": True}):
        assert main_failure(row(group(), **lost, **more)) is None


def test_an_environments_kinds_are_told_apart() -> None:
    def maps(model: str, *replies: str) -> list[ItemScores]:
        return item_scores(rows([logged(after(*replies).record(), model, "gtb")]))

    def told(first: list[ItemScores], second: list[ItemScores]) -> tuple[str, Any]:
        found, left = compare_sides(first, second)
        return comparisons_text(found, left, 0.05, ("", "")), comparisons_json(found, left, 0.05)["comparisons"][0]

    short, against = maps("a", *[move("move_right")] * 2), maps("b", *[move("move_up")] * 2)
    text, listed = told(short, against)
    assert "A fails by plans that end elsewhere (1 of 1 failure), B by moves into obstacles (1 of 1 failure)." in text
    assert [listed[side]["failures"] for side in ("first", "second")] == [{"strategic": 1}, {"blocked": 1}]
    text, listed = told(maps("a", *[move("jump")] * 2), maps("b", *["I cannot answer."] * 20))
    assert "A fails by names that are not actions (1 of 1 failure), B by unreadable replies (1 of 1" in text
    assert [listed[side]["failures"] for side in ("first", "second")] == [{"wrong_name": 1}, {"unparsed": 1}]
    assert (
        "Both fail by plans that end elsewhere (A 1 of 1, B 1 of 1 failures)."
        in told(short, maps("b", *[move("move_right")] * 2))[0]
    )


def test_real_episodes() -> None:
    good = played("oracle", levels=(5, 7), mazes=4, attempts=1, model="a")
    poor = played("null", levels=(5,), mazes=4, attempts=1, model="b")
    poor[0] = replace(poor[0], record=failed(poor[0].record))
    first, second = item_scores(rows(good)), item_scores(rows(poor))
    (found,), left = compare_sides(first, second)
    assert left == []
    assert (found.difference.n, found.difference.value, found.name) == (3, 100, "Mazes (AliciaBench)")
    assert found.verdict is Verdict.TOO_FEW
    text = comparisons_text([found], left, 0.05, ("", ""))
    assert "Excluded: 4 items that only A was given, level 7." in text
    assert "Excluded: 1 item missing due to infrastructure errors (A 0, B 1)." in text
    assert "A fails in none of 3 attempts, B by unreadable replies (3 of 3 failures)." in text
    told = json.loads(json.dumps(comparisons_json([found], left, 0.05), allow_nan=False))
    (listed,) = told["comparisons"]
    assert (listed["verdict"], listed["items"], listed["second"]["missing"]) == ("too_few", 3, 1)
    assert (listed["first"]["only"], listed["second"]["failures"]) == (4, {"unparsed": 3})
    assert told["schema"] == 1


def test_questions_about_maps_are_clustered_and_unread_answers_are_failures() -> None:
    maps = [corridor(f"m{places}", places) for places in (3, 4, 5)]
    first = item_scores(rows(answered("oracle", maps, model="a")))
    second = item_scores(
        rows(answered(lambda q: "oracle" if "room 0" in (q.source, q.target) else "", maps, model="b"))
    )
    (found,), _ = compare_sides(first, second)
    read, unread = 2 * (2 + 3 + 4), 2 * (1 + 3 + 6)
    assert (found.difference.n, found.difference.clusters) == (read + unread, 3)
    assert not found.second.undefined
    assert found.difference.value == pytest.approx(unread / (read + unread))


def test_other_metrics() -> None:
    made_rows = rows(played("oracle", levels=(5,), mazes=2, model="a"))
    (solved,) = item_scores(made_rows, "solved")
    assert set(solved.values.values()) == {1.0}
    assert item_scores(made_rows, "raw_score")[0].metric.unit == "%"
    with pytest.raises(UsageError, match="unknown metric 'scor': did you mean 'score'"):
        item_scores(made_rows, "scor")
    assert item_scores(made_rows, "nothing", needed=False) == []


def test_attempts_are_averaged_and_their_number_does_not_matter() -> None:
    def tries(model: str, *solved: bool) -> list[Any]:
        found: list[Any] = []
        for number, ok in enumerate(solved, start=1):
            episode = played("oracle" if ok else "null", levels=(5,), mazes=1, attempts=1, model=model)[0]
            found.append(replace(episode, record=replace(episode.record, attempt=number)))
        return found

    first, second = item_scores(rows([*tries("a", False, True), *tries("b", False)]))
    # What is expected of one attempt: the one before the perfect one.
    assert list(first.values.values()) == list(second.values.values()) == [0.0]


def test_names_are_harmless() -> None:
    nasty = "m\x1b[2J\nB: tied\u202e"
    first = item_scores(rows(played("null", levels=(5,), mazes=1, attempts=1, model=nasty)))
    found, left = compare_sides(first, [replace(one, model="b") for one in first])
    text = comparisons_text(found, [*left], 0.05, ("", ""))
    assert not {"\x1b", "\u202e"} & set(text)
    assert [line for line in text.splitlines() if line.startswith("B: ")] == ["B: b"]


Draw = Callable[[np.random.Generator], tuple[list[float], list[float], list[int]]]


def solved(count: int, share: float, agree: float = 0.5, size: int = 1) -> Draw:
    """Return a function that draws two equal players: items in clusters, which make them alike with a chance."""

    def draw(rng: np.random.Generator) -> tuple[list[float], list[float], list[int]]:
        clusters = [number // size for number in range(count)]
        shift = rng.normal(0, 0.2 if size > 1 else 0, (2, count))[:, clusters]
        mine, theirs = (rng.random((2, count)) < np.clip(share + shift, 0, 1)).astype(float)
        together = rng.random(count) < agree
        if size == 1:
            theirs = np.where(together, mine, theirs)
        return mine.tolist(), theirs.tolist(), clusters

    return draw


def graded(count: int, levels: int) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[list[float], list[float], list[int]]:
        mine, theirs = rng.integers(0, levels, (2, count)) / (levels - 1)
        return mine.tolist(), theirs.tolist(), list(range(count))

    return draw


EQUAL: dict[str, Draw] = {
    "few": solved(8, 0.5),
    "twenty": solved(20, 0.7),
    "nearly all right": solved(40, 0.97),
    "all right": solved(30, 1.0),
    "all wrong": solved(30, 0.0),
    "maps": solved(60, 0.5, size=6),
    "few maps": solved(60, 0.6, size=10),
    "ties": graded(15, 3),
    "graded": graded(25, 20),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EQUAL)
def test_equal_players_are_seldom_told_apart(name: str) -> None:
    rng = np.random.default_rng([11, list(EQUAL).index(name)])
    runs = 500
    wrong = tied = held = 0
    for _ in range(runs):
        mine, theirs, clusters = EQUAL[name](rng)
        found = one(mine, theirs, clusters=clusters)
        wrong += found.verdict in (Verdict.FIRST, Verdict.SECOND)
        tied += found.verdict is Verdict.TIED
        low, high = found.difference.low, found.difference.high
        held += low is not None and high is not None and low <= 0 <= high
    # Three standard errors of a share of 0.05, and of 0.95, of so many runs.
    assert wrong / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5
    assert held / runs >= 0.95 - 3 * (0.05 * 0.95 / runs) ** 0.5
    # A margin of 0.05 takes 60 items.
    assert tied == 0 or name == "maps"


@pytest.mark.slow
def test_of_many_families_seldom_one_is_told_apart() -> None:
    rng = np.random.default_rng(12)
    runs, families, wrong = 150, 8, 0
    for _ in range(runs):
        first, second = [], []
        for family in range(families):
            mine, theirs, _ = EQUAL["graded" if family % 2 else "twenty"](rng)
            first.append(made(mine, "a", test=str(family)))
            second.append(made(theirs, "b", test=str(family)))
        found, _ = compare_sides(first, second)
        wrong += any(each.verdict in (Verdict.FIRST, Verdict.SECOND) for each in found)
    assert wrong / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"), [(0.02, 0.0), (0.1, 0.02), (0.3, 0.1), (0.9, 0.0), (0.5, 0.05), (0.0, 0.0)]
)
@pytest.mark.parametrize("count", [10, 30, 60])
def test_intervals_of_pairs_hold_the_difference(count: int, first: float, second: float) -> None:
    rng = np.random.default_rng([13, count, int(1000 * first), int(1000 * second)])
    runs, held, tied = 1000, 0, 0
    for _ in range(runs):
        drawn = rng.random(count)
        mine = (drawn < first).astype(float)
        theirs = ((drawn >= first) & (drawn < first + second)).astype(float)
        difference = Difference.from_values(mine.tolist(), theirs.tolist(), list(range(count)), 0, 1)
        mean, narrow = difference.mean(), difference.mean(0.9)
        assert mean.low is not None and mean.high is not None
        assert narrow.high is not None and narrow.low is not None
        held += mean.low <= first - second <= mean.high
        tied += narrow.low >= -0.05 and narrow.high <= 0.05 and count >= 60
    assert held / runs >= 0.95 - 3 * (0.05 * 0.95 / runs) ** 0.5
    # Players who differ by more than the margin are seldom called tied.
    assert tied / runs <= 0.07 or first - second < 0.05


def test_a_true_tie_is_found() -> None:
    assert one(*table(354, 7, 5, 34)).verdict is Verdict.TIED
