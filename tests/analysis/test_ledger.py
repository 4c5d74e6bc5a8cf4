"""The ledger and effects of settings, of rows whose tokens and results are known."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.analysis.test_frames import row
from waybench.results import Row
from waybench.results.comparisons._comparison import effect_frame
from waybench.results.comparisons._model_effects import SettingEffect, setting_effects
from waybench.results.estimates._ledger import ledger, ledger_frame
from waybench.results.results import Cluster, RunKey

ASKED = "openai/gpt-4o"


def group(model: str = ASKED, **settings: Any) -> RunKey:
    return RunKey(model=model, task="alicia", env="maze/alicia", version=1, options=tuple(settings.items()), key="k1")


def rows_of(
    of: RunKey,
    output: Sequence[int | None],
    *,
    reasoning: Sequence[int] | None = None,
    solved: Sequence[bool] | None = None,
    replies: Sequence[str] | None = None,
    cost: float | None = None,
) -> list[Row]:
    """Return one attempt at each of some items, of so many output tokens."""
    made: list[Row] = []
    for number, tokens in enumerate(output):
        made.append(
            row(
                of,
                item=str(number),
                instance=f"{number:064x}",
                cluster=Cluster(f"{number:064x}"),
                end="solved" if solved is None or solved[number] else "failed",
                input_tokens=None if tokens is None else 1000,
                output_tokens=tokens,
                cached_tokens=None if tokens is None else 100,
                reasoning_tokens=None if tokens is None else (reasoning[number] if reasoning else 0),
                seconds=1.5,
                cost=cost,
                replies=replies[number] if replies else f"{number}",
            )
        )
    return made


def test_what_was_taken_by_hand() -> None:
    some = rows_of(group(), [1000, 3000, 0, 500], solved=[True, True, False, True], cost=0.5)
    (found,) = ledger(some)
    assert (found.attempts, found.items, found.solved, found.known, found.errors) == (4, 4, 3, 4, 0)
    assert (found.input_tokens, found.output_tokens, found.cached_tokens) == (4000, 4500, 400)
    assert (found.seconds, found.cost, found.lost_tokens) == (6.0, 2.0, None)
    # Three items for 8,500 tokens and for two dollars; not the mean of the items' own ratios.
    assert found.per_thousand is not None
    assert found.per_dollar is not None
    assert found.per_thousand.value == pytest.approx(3 / 8.5)
    assert found.per_dollar.value == pytest.approx(1.5)
    assert found.per_thousand.low is None  # of four items
    (twice,) = ledger(rows_of(group(), [1000, 3000, 0, 500] * 2, solved=[True, True, False, True] * 2, cost=0.5))
    assert twice.per_thousand is not None and twice.per_thousand.low is not None
    assert 0 <= twice.per_thousand.low < twice.per_thousand.value < (twice.per_thousand.high or 0)


def test_all_attempts_at_an_item_are_paid_for_and_it_is_solved_once() -> None:
    (one,) = rows_of(group(), [1000])
    first = row(
        group(), item=one.item, instance=one.instance, cluster=one.cluster, end="failed", replies="x", attempt=1
    )
    first = Row(**{**{name: getattr(first, name) for name in Row.__slots__}, "input_tokens": 500, "output_tokens": 500})
    second = Row(**{**{name: getattr(one, name) for name in Row.__slots__}, "attempt": 2})
    (found,) = ledger([first, second])
    assert (found.attempts, found.items, found.solved) == (2, 1, 1)
    assert found.per_thousand is not None
    assert found.per_thousand.value == pytest.approx(1 / 3)


def test_clusters_make_the_interval_of_a_ratio_wider() -> None:
    plain = rows_of(group(), [500, 1500] * 10, solved=[True, False] * 10)
    paired = [
        Row(
            **{**{name: getattr(each, name) for name in Row.__slots__}, "cluster": Cluster("map", "k1", 1 + number % 6)}
        )
        for number, each in enumerate(plain)
    ]
    (alone,), (together,) = ledger(plain), ledger(paired)
    assert alone.per_thousand is not None
    assert together.per_thousand is not None
    assert together.per_thousand.clusters == 6
    assert alone.per_thousand.clusters == 20
    assert together.per_thousand.value == alone.per_thousand.value
    assert together.per_thousand.high is not None
    assert alone.per_thousand.high is not None
    assert together.per_thousand.high > alone.per_thousand.high


def test_no_tokens_known_is_nothing_known() -> None:
    (found,) = ledger(rows_of(group(), [None, None]))
    assert (found.known, found.input_tokens, found.cost, found.per_thousand, found.per_dollar) == (0, *[None] * 4)
    assert found.reasoning is None
    (line,) = ledger_frame([found]).records()
    assert line["per_thousand"] is None
    assert line["solved"] == 2
    (part,) = ledger(rows_of(group(), [None, 1000]))
    assert (part.known, part.output_tokens, part.attempts) == (1, 1000, 2)
    assert part.per_thousand is not None
    assert (part.per_thousand.value, part.per_thousand.n) == (0.5, 1)


def test_infrastructure_errors_are_paid_for_and_count_in_nothing() -> None:
    broken = row(group(), item="9", end="infrastructure_error", error=True, input_tokens=70, output_tokens=7, cost=0.1)
    (found,) = ledger([*rows_of(group(), [1000], cost=1.0), broken])
    assert (found.episodes, found.attempts, found.errors, found.items) == (2, 1, 1, 1)
    assert (found.input_tokens, found.lost_tokens, found.lost_cost, found.cost) == (1000, 77, 0.1, 1.0)
    (alone,) = ledger([broken])
    assert (alone.attempts, alone.solved, alone.per_thousand, alone.input_tokens) == (0, 0, None, None)


def test_a_teachers_merit_is_not_the_models() -> None:
    (found,) = ledger([row(group(), guided=True, input_tokens=10, output_tokens=10, cost=1.0)])
    assert (found.solved, found.per_thousand, found.per_dollar) == (None, None, None)


def test_models_that_answered() -> None:
    some = [
        row(group(), item="1", answered=("gpt-4o-2024-08-06",)),
        row(group(), item="2", answered=("gpt-4o-2024-08-06",)),
        row(group(), item="3", answered=("gpt-4o-2024-11-20",)),
    ]
    (found,) = ledger(some)
    assert found.answered == {"gpt-4o-2024-08-06": 2, "gpt-4o-2024-11-20": 1}
    assert found.stand_ins == list(found.answered)
    assert found.to_json()["answered"] == found.answered
    for same in ("gpt-4o", ASKED):
        (found,) = ledger([row(group(), answered=(same,))])
        assert found.stand_ins == []
    (found,) = ledger([row(group("a/4o"), answered=("o",))])
    assert found.stand_ins == ["o"]
    assert ledger([row(group())])[0].answered == {}


def test_reasoning_by_effort() -> None:
    low = rows_of(group(reasoning_effort="low"), [300] * 4, reasoning=[100, 200, 300, 200])
    high = rows_of(group(reasoning_effort="high"), [900] * 4, reasoning=[800] * 4)
    means = [found.reasoning for found in ledger([*low, *high])]
    assert [mean.value for mean in means if mean] == [200, 800]


LOW, HIGH = group(reasoning_effort="low"), group(reasoning_effort="high")


def test_an_effort_that_works() -> None:
    some = [
        *rows_of(HIGH, [1000] * 12, reasoning=[600 + number for number in range(12)]),
        *rows_of(LOW, [500] * 12, reasoning=[300 + number for number in range(12)]),
    ]
    (found,) = setting_effects(some)
    assert (found.first, found.second) == (LOW, HIGH)
    assert found.change is not None
    assert found.change.value == pytest.approx((600 * 12 + 66) / (300 * 12 + 66) - 1)
    # Of 4,096 ways to flip twelve signs two are as extreme.
    assert found.p == found.adjusted == pytest.approx(2 / 4096)
    assert (found.verdict, found.counted, found.items, found.same) == ("effect", "reasoning", 12, 12)
    assert found.text.startswith("reasoning tokens differ by +")


def test_a_setting_that_changed_nothing_to_the_letter() -> None:
    some = [*rows_of(LOW, [500] * 40), *rows_of(HIGH, [500] * 40)]
    (found,) = setting_effects(some)
    assert (found.verdict, found.p, found.counted) == ("no effect", 1.0, "output")
    assert found.text == "no effect seen: identical replies on 40 of 40 items"
    assert found.values == ("reasoning effort: low", "reasoning effort: high")


def test_a_setting_whose_tokens_hardly_differ() -> None:
    tokens = [1000 + 37 * (number % 5) for number in range(40)]
    near = [count + (20 if number % 2 else -20) for number, count in enumerate(tokens)]
    other = [f"other {number}" for number in range(40)]
    (found,) = setting_effects([*rows_of(LOW, tokens), *rows_of(HIGH, near, replies=other)])
    assert (found.verdict, found.same) == ("no effect", 0)
    assert found.text == "no effect seen: output tokens differ by −0.6 to +0.6 %"
    # Of a seed it is to be expected that replies differ and their number of tokens does not.
    one, two = group(seed=1), group(seed=2)
    (seeds,) = setting_effects([*rows_of(one, tokens), *rows_of(two, near, replies=other)])
    assert seeds.verdict == "cannot tell"


def test_few_items_do_not_tell() -> None:
    for count in (1, 2, 9):
        (found,) = setting_effects([*rows_of(LOW, [500] * count), *rows_of(HIGH, [500] * count)])
        assert found.verdict == "cannot tell"
        assert found.text.startswith("cannot tell: ")
    wide = [100, 900] * 8
    (found,) = setting_effects([*rows_of(LOW, wide), *rows_of(HIGH, wide[1:] + wide[:1], replies=["x"] * 16)])
    assert found.verdict == "cannot tell"


def test_many_items_of_one_map_are_few() -> None:
    some = [*rows_of(LOW, [500] * 40), *rows_of(HIGH, [500] * 40)]
    same = [
        Row(**{**{name: getattr(each, name) for name in Row.__slots__}, "cluster": Cluster("map", "k1", 1)})
        for each in some
    ]
    (found,) = setting_effects(same)
    assert (found.items, found.clusters, found.verdict) == (40, 1, "cannot tell")


def test_without_tokens_replies_alone_tell() -> None:
    (found,) = setting_effects([*rows_of(LOW, [None] * 12), *rows_of(HIGH, [None] * 12)])
    assert (found.verdict, found.change, found.p, found.adjusted) == ("no effect", None, None, None)
    (found,) = setting_effects([*rows_of(LOW, [None] * 12), *rows_of(HIGH, [None] * 12, replies=["y"] * 12)])
    assert found.verdict == "cannot tell"
    assert found.text == "cannot tell: identical replies on 0 of 12 items"


def test_only_what_is_the_same_but_for_one_setting_is_compared() -> None:
    cold, warm = group(reasoning_effort="low", temperature=0.0), group(temperature=1.0, reasoning_effort="high")
    assert setting_effects([*rows_of(cold, [500] * 12), *rows_of(warm, [500] * 12)]) == []
    # The order in which settings are given is no difference, and neither is the server, nor the wording, a setting.
    swapped = group(temperature=0.0, reasoning_effort="high")
    (found,) = setting_effects([*rows_of(cold, [500] * 12), *rows_of(swapped, [500] * 12)])
    assert found.name == "reasoning_effort"
    for name in ("server", "wording", "examples"):
        one, two = group(**{name: "a"}), group(**{name: "b"})
        assert setting_effects([*rows_of(one, [500] * 12), *rows_of(two, [500] * 12)]) == []


def test_a_default_comes_first_and_efforts_have_an_order() -> None:
    each = [group(reasoning_effort=effort) for effort in ("high", "minimal", "medium")] + [group()]
    found = setting_effects([one for of in each for one in rows_of(of, [500] * 12)])
    values = [one.values[0].rpartition(": ")[2] for one in found]
    assert values == ["default", "default", "default", "minimal", "minimal", "medium"]
    assert {one.adjusted for one in found} == {1.0}


def test_holm_over_the_values_of_a_setting() -> None:
    each = [group(temperature=number / 2) for number in range(3)]
    tokens = [[100 + number for number in range(7)], [200 + number for number in range(7)], [100, 110] * 3 + [105]]
    found = setting_effects([one for of, some in zip(each, tokens, strict=True) for one in rows_of(of, some)])
    raw = [one.p for one in found if one.p is not None]
    assert raw[0] == pytest.approx(2 / 2**7)
    # By hand: the least of three is tripled, the next doubled, and none may be less than the one before.
    by_size = sorted(raw)
    expected = dict(zip(by_size, (3 * by_size[0], max(3 * by_size[0], 2 * by_size[1]), by_size[2]), strict=True))
    assert found[0].adjusted == pytest.approx(expected[raw[0]])


def test_hostile_names_and_settings_are_only_text() -> None:
    of = [group("vendor/<script>\u202e", reasoning_effort=value) for value in ("<b>x</b>\x1b", "\ud800", 1.5, None)]
    some = [one for each in of for one in rows_of(each, [5] * 3)]
    assert len(setting_effects(some)) == 6
    assert len(ledger_frame(ledger(some)).records()) == 4
    lines = effect_frame(SettingEffect.kind, setting_effects(some)).records()
    assert {line["verdict"] for line in lines} == {"cannot tell"}


def test_errors_and_teachers_are_in_no_effect() -> None:
    def broken(of: RunKey) -> list[Row]:
        return [row(of, item=str(number), error=True, end="infrastructure_error") for number in range(12)]

    assert setting_effects([*rows_of(LOW, [500] * 12), *broken(HIGH)]) == []
    taught = [row(of, guided=True, output_tokens=5) for of in (LOW, HIGH)]
    assert setting_effects(taught) == []
