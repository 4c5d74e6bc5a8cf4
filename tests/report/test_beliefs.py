"""Belief probes in the report: the table "Did it know?", and what was asked in a replay."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.episodes import MAZE, item, logged
from tests.report.pages import site
from waybench.core import End, Episode, EpisodeRecord, Reply, Usage, policy
from waybench.results import LoggedEpisode
from waybench.results.comparisons._beliefs import belief_counts, belief_text, compare_beliefs, knew_at_first_error
from waybench.results.results import Row
from waybench.results.results._measured_row import measured_row
from waybench.results.stats import clustered_mean

WALL = '{"movements": [{"direction": "up", "cells": 9}]}'
HOSTILE = '<script>alert(1)</script> {"position": [99, 99]}'


def asked(number: int, answers: list[str | None], replies: list[str]) -> EpisodeRecord:
    """Return an episode with answers before its turns; None stands for the right one, "" for no answer."""
    episode: Episode[Any, Any, Any] = Episode(MAZE, item(9, number), player="vendor/model")
    for answer, reply in zip(answers, replies, strict=True):
        (belief,) = episode.beliefs
        text = belief.render(belief.expected(episode.state)) if answer is None else answer
        episode.probe(belief, Reply(text, usage=Usage(100, 4)))
        episode.step(reply)
    return episode.record()


def solution(number: int) -> str:
    return policy("oracle").reply(Episode(MAZE, item(9, number)))


def episodes() -> list[LoggedEpisode]:
    records = [
        asked(0, [None, HOSTILE, ""], [WALL, WALL, WALL]),  # knew and erred; later answers are of no matter
        asked(1, [HOSTILE, None, None], [WALL, WALL, WALL]),  # did not know
        asked(2, ["", None, None], [WALL, WALL, WALL]),  # did not know: no answer
        asked(3, [None], [solution(3)]),  # solved, so that there is no first error
    ]
    assert [record.end for record in records] == [End.TURN_LIMIT] * 3 + [End.SOLVED]
    return [logged(record) for record in records]


def test_what_players_knew_where_they_went_wrong() -> None:
    rows = [measured_row(episode) for episode in episodes()]
    (found,) = belief_counts(rows)
    assert (found.belief.name, found.asked, found.unread, found.share) == ("position", 10, 2, None)
    assert (found.knew, found.did_not_know) == (1, 2)
    right = [1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]
    assert found.known == clustered_mean(right, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3], 0.0, 1.0)
    assert [knew_at_first_error(each) for each in rows] == [True, False, False, None]
    assert rows[0].probe_tokens == (300, 12) and rows[0].input_tokens is None
    assert not belief_counts([replace(each, exclusion_reason="repeated") for each in rows])
    assert not belief_counts([measured_row(replace(e, record=replace(e.record, probes=()))) for e in episodes()])


def test_two_sides_are_compared_by_item() -> None:
    """An item counts once, however often it was asked about, and one that only one side was asked about does not."""
    lost = [WALL, WALL, WALL]

    def rows(model: str, answers: list[list[str | None]]) -> list[Row]:
        some = [logged(asked(number, own, lost), model=model) for number, own in enumerate(answers)]
        return [measured_row(episode) for episode in some]

    knows = rows("vendor/knows", [[None, None, None]] * 9)
    half = rows("vendor/half", [[None, HOSTILE, None], *[["", HOSTILE, HOSTILE]] * 7])
    (found,) = compare_beliefs(knows, half)
    first, second = found.comparison.groups
    assert (first.model, second.model, found.belief.name) == ("vendor/knows", "vendor/half", "position")
    one = found.comparison
    assert (one.items, one.first_mean.value) == (8, 1.0)
    assert one.second_mean.value == pytest.approx((2 / 3) / 8)
    assert one.difference.value == pytest.approx(1 - (2 / 3) / 8)
    assert found.verdict == "first" and "A knows more" in found.text and "at 8 items" in found.text
    (back,) = compare_beliefs(half, knows)
    assert back.verdict == "second" and back.comparison.difference.value == -one.difference.value
    assert back.comparison.adjusted_p == one.adjusted_p

    (few,) = compare_beliefs(knows[:4], half[1:4])
    assert (few.verdict, few.comparison.adjusted_p) == ("not shown", None)
    assert few.comparison.test.p == 2 / 2**3 and "p 0.25 unadjusted: no difference shown" in few.text
    assert compare_beliefs(knows, [replace(each, adaptive=True) for each in half]) == []
    assert compare_beliefs(knows, [replace(each, probes=()) for each in half]) == []


def test_an_unconfirmed_record_counts_for_nothing() -> None:
    first, *_ = episodes()
    found = measured_row(first, confirmed=False)
    assert found.probes == () and not belief_counts([found])


def test_the_table_and_the_replays(tmp_path: Path) -> None:
    made = site(tmp_path, episodes())
    words = " ".join(" ".join(made.result.words).split())
    table = words.partition("Did it know?")[2]
    assert "Knew and erred" in table and "Did not know" in table
    line = table.partition("Position")[2]
    assert line.split()[:2] == ["10", "60.0"] and line.split()[-1] != ""
    assert len(made.replays) == 4
    for page in made.replays:
        assert "Belief probe, never shown to the player again: position" in page.html
        assert "<script>alert" not in page.html
    hostile = [page for page in made.replays if "&lt;script&gt;alert(1)" in page.html]
    assert len(hostile) == 2
    # The questions are in folds of the turns before whose replies they were asked.
    first = next(page for page in made.replays if "[99, 99]" in page.html and "known" in page.html)
    sections = first.html.split('<section class="turn"')[1:]
    assert [section.count('<details class="reasoning probe">') for section in sections] == [1, 1, 1]


def test_the_terminal_and_the_page_of_the_task_have_all_models(tmp_path: Path) -> None:
    other = [replace(each, model="vendor/other") for each in episodes()[:1]]
    some = [*episodes(), *other]
    text = belief_text(measured_row(episode) for episode in some)
    head, _, first, second = text.splitlines()
    assert "belief probes" in head and head.endswith("knew and erred  did not know")
    assert first.split()[:3] == ["vendor/model,", "position", "10"] and first.split()[-3:] == ["2", "1", "2"]
    assert second.split()[:3] == ["vendor/other,", "position", "3"] and second.split()[-3:] == ["1", "1", "0"]
    assert "60.0 %" in first and belief_text([]) == ""
    made = site(tmp_path, some)
    _, *lines = made.task.table("Did it know?")
    assert [line[0] for line in lines] == ["vendor/ model", "vendor/ other"]
    assert [line[2:4] for line in lines] == [["10", "60.0 n = 10 in 4 clusters"], ["3", "33.3 n = 3 in 1 cluster"]]
    table = made.task.html.partition("Did it know?")[2].partition("</table>")[0]
    assert table.count('href="../results/') == 2


def test_nothing_is_shown_where_nothing_was_asked(tmp_path: Path) -> None:
    made = site(tmp_path, [replace(each, record=replace(each.record, probes=())) for each in episodes()])
    assert "Did it know?" not in made.result.html
    assert all("Belief probe" not in page.html for page in made.replays)
