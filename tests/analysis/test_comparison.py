"""One comparison: whatever differs, groups are matched, paired, tested and adjusted by the same code."""

import re
from pathlib import Path

import pytest

import waybench
from tests.analysis.test_contrasts import made
from tests.analysis.test_frames import row
from tests.analysis.test_wordings import ASCII, MATRIX, group, scored
from waybench.results.comparisons import item_scores
from waybench.results.comparisons._comparison import adjust_comparisons, compare
from waybench.results.comparisons._item_scores import MODEL, match_groups
from waybench.results.comparisons._models import compare_pairs
from waybench.results.comparisons._prompts import wording_effects

SOURCE = Path(waybench.__file__).parent


def test_p_values_are_adjusted_within_a_family_and_in_their_order() -> None:
    # Of n items that all differ alike, McNemar's test has the mid-p value 2^-n.
    counts = {"a": 6, "b": 8, "c": 7}
    found = [
        compare(made([1.0] * count), made([0.0] * count, "b"), MODEL, family=family)
        for family, some in (("one", "ab"), ("two", "c"))
        for count in (counts[name] for name in some)
    ]
    ordered = [found[0], found[2], found[1]]  # families need not stand together
    first, alone, second = adjust_comparisons([each for each in ordered if each])
    assert [each.test.p for each in (first, second, alone)] == pytest.approx([1 / 64, 1 / 256, 1 / 128])
    assert [each.adjusted_p for each in (first, second, alone)] == pytest.approx([1 / 64, 2 / 256, 1 / 128])
    assert [each.family_size for each in (first, second, alone)] == [2, 2, 1]


def test_the_same_scores_have_the_same_difference_whatever_varies() -> None:
    by_model = [*scored(group("matrix", "a"), ASCII), *scored(group("matrix", "b"), MATRIX)]
    first, second = item_scores(by_model)
    (models,) = compare_pairs([(first, second)])
    (wordings,) = wording_effects([*scored(group("ascii"), ASCII), *scored(group("matrix"), MATRIX)])
    _, ascii_ = wordings.wordings
    assert ascii_.comparison
    assert (models.varies, ascii_.comparison.varies) == (MODEL, "wording")
    assert models.difference == ascii_.comparison.difference
    assert models.difference.value == pytest.approx(-13.75)
    assert models.test == ascii_.comparison.test
    assert models.swapped.difference.value == pytest.approx(13.75)


def test_groups_are_matched_that_differ_in_one_thing() -> None:
    cold, warm = group("matrix", temperature=0.0), group("matrix", temperature=1.0)
    other, worded = group("matrix", "other/model", temperature=0.0), group("ascii", temperature=0.0)
    groups = [cold, warm, other, worded]
    # How a model was run is its own matter, and so it is no reason not to compare it.
    assert match_groups(groups) == [[cold, warm, other], [worded]]
    assert [some for some in match_groups(groups, "temperature") if len(some) > 1] == [[cold, warm]]
    assert [some for some in match_groups(groups, "wording") if len(some) > 1] == [[cold, worded]]


def test_without_a_common_item_there_is_no_comparison() -> None:
    alone = item_scores([row(group("matrix"), item="1", instance="1" * 64, metrics={"score": 1.0})])
    other = item_scores([row(group("matrix", "b"), item="2", instance="2" * 64, metrics={"score": 1.0})])
    assert compare(alone[0], other[0], MODEL) is None
    assert compare_pairs([(alone[0], other[0])]) == []


@pytest.mark.parametrize("name", ["Difference", "adjust_p_values", "conclude"])
def test_items_and_models_are_compared_by_the_same_functions(name: str) -> None:
    users = [
        path.name
        for package in ("results", "reporting", "cli")
        for path in sorted((SOURCE / package).rglob("*.py"))
        if path.parent.name != "stats"
        and re.search(rf"import [^\n]*\b{name}\b|^    {name},$", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    trends = ["_trends.py"] if name == "adjust_p_values" else []  # which have a test of their own
    assert users == ["_comparison.py", *trends, "_model_pairs.py"]
