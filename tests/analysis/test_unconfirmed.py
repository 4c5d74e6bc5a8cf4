"""Episodes whose records do not agree with a new simulation: excluded, marked, and the worst possible in bounds."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import waybench
from waybench.core import End, EpisodeRecord, UsageError
from waybench.results import LoggedEpisode, overall
from waybench.results.comparisons import item_scores
from waybench.results.comparisons._models import compare_sides
from waybench.results.comparisons._text import comparisons_text
from waybench.results.estimates._summary import summary_table
from waybench.results.results import UNCONFIRMED, rows

COUNT = 12


def played(model: str, player: str, forged: int = 0) -> list[LoggedEpisode]:
    """Return episodes at mazes; the first are records of failures that were changed to say that they are solved."""
    episodes: list[LoggedEpisode] = []
    for index in range(COUNT):
        record = waybench.play("maze/alicia", player if index >= forged else "null", level=9, index=index).record
        record = replace(
            record,
            player=model,
            turns=tuple(turn._replace(reward=0.0) for turn in record.turns[:1]) if index < forged else record.turns,
        )
        if index < forged:
            record = replace(record, end=End.SOLVED)
        episodes.append(
            LoggedEpisode(model=model, task="alicia", record=record, log=f"{model}.eval", sample=str(index))
        )
    return episodes


def test_they_are_excluded_and_the_worst_in_the_bounds() -> None:
    found = rows(played("changed", "oracle", forged=3), confirm=True)
    assert [row.exclusion_reason for row in found].count(UNCONFIRMED) == 3
    (total,) = overall(found)
    assert (total.items, total.unconfirmed) == (COUNT - 3, 3)
    assert total.best is not None and total.best.value == 100
    assert total.bounds == (75.0, 75.0)
    text = summary_table(found)
    assert f" {COUNT - 3} of {COUNT}*! " in text
    assert "100.0 (75.0 to 75.0)" in text
    assert "! changed at alicia: excluded 3 episodes that new simulation does not confirm; with the worst score" in text
    assert "* changed at alicia: 3 of 12 attempts without a result (3 excluded)" in text


def test_without_simulation_a_forged_record_would_count() -> None:
    assert not any(row.exclusion_reason for row in rows(played("changed", "oracle", forged=3)))


def test_honest_episodes_have_no_mark() -> None:
    found = rows(played("honest", "random"), confirm=True)
    (total,) = overall(found)
    assert total.unconfirmed == 0 and total.bounds is None
    assert "!" not in summary_table(found)


def test_without_any_other_there_is_nothing_to_compare() -> None:
    forged = rows(played("changed", "oracle", forged=COUNT), confirm=True)
    for metric in ("", "solved"):
        with pytest.raises(UsageError, match=r"^there are no episodes with results: none of the records re-simulates"):
            item_scores(forged, metric)


def test_a_verdict_that_rests_on_them_depends_on_them() -> None:
    sides = [
        item_scores(rows(episodes, confirm=True))
        for episodes in (played("changed", "oracle", forged=8), played("honest", "oracle"))
    ]
    (one,), _ = compare_sides(*sides)
    assert one.items == COUNT - 8
    assert one.difference.value == 0
    assert one.bounds and all(str(bound) != str(one.verdict_of_scores) for bound in one.bounds)
    assert "8 items with attempts that do not replay" in comparisons_text([one], [], 0.05, ("", ""))
    assert sides[0][0].unconfirmed and not sides[1][0].unconfirmed


def test_compare_simulates_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from click.testing import CliRunner

    from waybench.cli import main

    for name, forged in (("ada", 4), ("bob", 0)):
        lines = [json.dumps(one.record.to_json()) for one in played(f"human/{name}", "oracle", forged)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
        assert all(EpisodeRecord.from_json(json.loads(line)) for line in lines)
    out = tmp_path / "out.json"
    result = CliRunner().invoke(
        main, ["compare", str(tmp_path / "ada.jsonl"), str(tmp_path / "bob.jsonl"), "--json", str(out)]
    )
    assert result.exit_code == 0, result.output
    assert "4 items with attempts that do not replay" in result.stdout
    (one,) = json.loads(out.read_text())["comparisons"]
    assert (one["first"]["unconfirmed"], one["second"]["unconfirmed"], one["items"]) == (4, 0, COUNT - 4)
