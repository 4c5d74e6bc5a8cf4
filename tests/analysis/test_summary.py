"""The last table of a run, and the warnings about replies that nobody could read."""

from dataclasses import replace

import waybench
from tests.analysis.episodes import failed, logged, played, said
from waybench.core import Price, Reply, play_to_end, policy
from waybench.results import LoggedEpisode, rows
from waybench.results.estimates import overall
from waybench.results.estimates._summary import summary_table, unreadable_replies
from waybench.results.results import measure_episodes
from waybench.results.results._anchors import with_reference_bounds
from waybench.results.stats import IntervalEstimate


def table(episodes: list[LoggedEpisode], prices: dict[str, Price] | None = None) -> list[str]:
    measured, made = measure_episodes(episodes, prices=prices)
    return summary_table(with_reference_bounds((episode.record for episode in measured), made)).splitlines()


def cells(lines: list[str], model: str) -> dict[str, str]:
    """Return a line's cells by their column, each of which is aligned to the right."""
    head, (found,) = lines[0], [each for each in lines if each.startswith(f"  {model} ")]
    ends = {title: head.index(title) + len(title) for title in [each for each in head.split("  ") if each.strip()]}
    titles = {title.strip(): end for title, end in ends.items()}
    starts = dict(zip(titles, [len(model) + 2, *titles.values()], strict=False))
    return {title: found[starts[title] : end].strip() for title, end in titles.items()}


def test_a_line_for_each_model_with_what_compare_has() -> None:
    players = (("oracle", None), ("oracle", "openai/gpt"), ("null", "openai/bad"))
    episodes = [one for player, model in players for one in played(player, mazes=8, model=model)]
    lines = table(episodes, {"openai/gpt": Price(2.0, 10.0, 1.0)})
    assert lines[1] == "alicia, Mazes (AliciaBench): Score, best of 1 to 3 attempts"
    own = cells(lines, "openai/gpt")
    (total,) = (each for each in overall(rows(episodes)) if each.group.model == "openai/gpt")
    best = total.best
    assert isinstance(best, IntervalEstimate) and best.low is not None and best.high is not None
    assert own["n"] == "16" and own["levels"] == "5–7"
    assert own["score [95 %]"] == f"100.0 [{best.low:.1f}, {best.high:.1f}]"
    assert own["normalised"].startswith("100 [")
    assert (own["solved"], own["unreadable"]) == ("100 %", "0 %")
    # Sixteen episodes of one request with 1000 and 50 tokens.
    assert (own["tokens"], own["USD"]) == ("16.8k", f"{16 * (1000 * 2 + 50 * 10) / 1e6:.2f}")
    bad = cells(lines, "openai/bad")
    assert (bad["solved"], bad["unreadable"], bad["USD"]) == ("0 %", "100 %", "")
    # Models before the embedded players, and the best first.
    assert [each.split()[0] for each in lines[2:5]] == ["openai/gpt", "openai/bad", "waybench/oracle"]


def test_the_table_fits_a_terminal() -> None:
    model = "some-provider/a-model-of-many-parts-with-a-very-long-name-instruct-2026-07"
    lines = table(played("oracle", model=model), {model: Price(2.0, 10.0, 1.0)})
    assert max(map(len, lines)) <= 100
    assert any(each.startswith("  a-model") and "…" in each for each in lines)


def test_infrastructure_errors_are_named() -> None:
    episodes = played("oracle", levels=(5,), attempts=1, model="m")
    episodes[0] = replace(episodes[0], record=failed(episodes[0].record))
    lines = table(episodes)
    assert cells(lines, "m")["n"] == "2 of 3*"
    assert cells(lines, "m")["score [95 %]"] == "100.0 (66.7 to 100.0)"
    assert cells(lines, "m")["solved"] == "100 % (67 to 100)"
    assert "* m at alicia: 1 of 3 attempts without a result (1 infrastructure error)" in lines
    assert any(line.startswith("(a to b): the score if all attempts without a result were failures") for line in lines)


def test_names_that_do_not_fit_lose_the_provider_before_a_part_of_the_name() -> None:
    names = [f"some-provider/some-organisation/{name}" for name in ("a-model", "another-model")]
    prices = dict.fromkeys(names, Price(2.0, 10.0, 1.0))
    lines = table([each for name in names for each in played("oracle", model=name)], prices)
    assert {"a-model", "another-model"} <= {line.split()[0] for line in lines if line.strip()}


def test_scores_over_different_levels_are_marked() -> None:
    said = "alicia: each score is over the model's own levels"
    both = [*played("oracle", levels=(5, 7), model="a"), *played("null", levels=(5, 7), model="b")]
    assert [line for line in table(both) if line.startswith(said)]
    same = [*played("oracle", levels=(5,), model="a"), *played("null", levels=(5,), model="b")]
    assert not [line for line in table(same) if line.startswith(said)]


def test_an_item_with_several_episodes_is_one_item() -> None:
    hanoi = waybench.load("hanoi/rods")
    item = hanoi.source(level=3).item(0)
    records = [play_to_end(hanoi, item, policy("oracle"), attempt=attempt).record() for attempt in (1, 2)]
    lines = table([logged(record, "m", "hanoi_3") for record in records])
    assert cells(lines, "m")["n"] == "1"
    assert "n: different items; an item has several episodes here" in lines


def test_a_search_has_no_mean_score() -> None:
    measured, made = measure_episodes(played("oracle", model="m"))
    text = summary_table(made, searched={row.group for row in made})
    assert "score" not in text.lower()
    assert "100.0" not in text and len(measured) == 6


def test_steps_without_a_named_action() -> None:
    hanoi = waybench.load("hanoi/rods")
    item = hanoi.source(level=3).item(0)
    record = play_to_end(hanoi, item, policy("null"), {"protocol": "paper"}).record()
    assert cells(table([logged(record, "m", "hanoi_3")]), "m")["unnamed"] == "100 %"


def test_many_unreadable_replies_are_explained() -> None:
    hostile = "no\nplan \x1b[31m<b>"
    good = said(['{"movements": []}'])
    bad = [logged(said([hostile], number=number), "m") for number in range(3)]
    cut = logged(said([Reply("", "truncated")], number=3), "m")
    episodes = [*bad, cut, logged(good, "other")]
    measured, made = measure_episodes([replace(each, record=replace(each.record, end="failed")) for each in episodes])
    (found,) = unreadable_replies(measured, made)
    assert (found.group.model, found.count, found.replies, found.with_reason) == ("m", 4, 4, 3)
    assert found.reason == bad[0].record.turns[0].reason
    first, reason, example = found.text.splitlines()
    assert first == "warning: 100 % of the replies of m at alicia, Mazes (AliciaBench), could not be read."
    assert reason == f"  Most frequent reason (3 of 4): {found.reason}"
    assert example == "  Example: no plan ␛[31m<b>"


def test_a_few_unreadable_replies_and_embedded_players_are_no_warning() -> None:
    episodes = [*played("oracle", model="m"), logged(said(["?"]), "m"), *played("null")]
    measured, made = measure_episodes(episodes)
    assert unreadable_replies(measured, made) == []


REFUSING = (
    "I can\u2019t help with that.",
    "I'm sorry, but as an AI language model I do not\nplay games.",
    "I CANNOT ASSIST.",
)
OTHER = (
    "I cannot go north, there is a wall.",
    "Sorry, wrong turn: let me go back.",
    "",
    "?",
    f"{'so ' * 300}I can't help",
)


def test_refusals_in_words_are_counted_and_move_no_score() -> None:
    episodes = [logged(said([text], number=number), "m") for number, text in enumerate((*REFUSING, *OTHER))]
    flagged = logged(said([Reply(REFUSING[0], "refused")], number=20), "m")
    _, made = measure_episodes(
        [replace(each, record=replace(each.record, end="failed")) for each in (*episodes, flagged)]
    )
    assert [row.refusals_in_words for row in made] == [1] * len(REFUSING) + [0] * (len(OTHER) + 1)
    assert all(row.outcomes == {"unparsed": 1} for row in made[:-1]) and made[-1].outcomes == {"refused": 1}
    assert {row.metrics["score"] for row in made} == {0.0}
    text = summary_table(made)
    assert "m at alicia: 3 of 9 replies refuse in words, without their provider's mark; they are unparsed" in text
    assert "refuse in words" not in summary_table(made[len(REFUSING) :])
