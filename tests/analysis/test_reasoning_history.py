"""What became of reasoning between turns keeps runs apart, whatever their settings say."""

from dataclasses import replace
from typing import Any

from tests.analysis.episodes import played
from waybench.results import LoggedEpisode, rows
from waybench.results.comparisons import item_scores
from waybench.results.comparisons._comparison import compare
from waybench.results.comparisons._text import comparison_lines
from waybench.results.estimates._ledger import ledger


def run(name: str, *sent_back: str, **settings: Any) -> list[LoggedEpisode]:
    """Return a run of three mazes of which each record says what was sent back."""
    episodes = played("noisy-0.2", (9,), attempts=1, model="vendor/model")
    assert len(episodes) == len(sent_back)
    return [
        replace(
            episode,
            run=name,
            settings=settings,
            record=replace(episode.record, reasoning_returned="text" if part else "", reasoning_sent_back=part),
        )
        for episode, part in zip(episodes, sent_back, strict=True)
    ]


def histories(*runs: list[LoggedEpisode]) -> list[object]:
    """Return the setting of each group of runs."""
    groups = dict.fromkeys(row.group for row in rows([episode for run in runs for episode in run]))
    return [dict(group.options).get("reasoning_history", "default") for group in groups]


def test_a_run_without_reasoning_of_earlier_turns_is_apart() -> None:
    kept, refused = run("one", "all", "", "all"), run("two", "none", "", "none")
    assert histories(kept, refused) == ["default", "none"]
    found = rows([*kept, *refused])
    assert all(row.is_included for row in found)  # otherwise the second run would take the place of the first
    [of_kept, of_refused] = ledger(found)
    assert (of_kept.reasoning_sent_back, of_refused.reasoning_sent_back) == ("all", "none")
    assert of_kept.reasoning_returned == "text"


def test_runs_that_nothing_tells_apart_stay_together() -> None:
    unknown = run("old", "", "", "")
    assert histories(run("one", "all", "all", ""), unknown, run("two", "some", "all", "")) == ["default"]
    assert histories(run("one", "none", "none", "none"), unknown) == ["default"]  # as by a wording without replies
    assert histories(run("one", "all", "none", "all")) == ["default"]
    [entry] = ledger(rows(run("one", "all", "none", "all")))
    assert entry.reasoning_sent_back == "all 2, none 1"


def test_what_happened_has_the_last_word_over_the_setting() -> None:
    assert histories(run("one", "all", "", "all", reasoning_history="none")) == ["default"]
    assert histories(run("one", "none", "", "none", reasoning_history="none")) == ["none"]
    assert histories(run("one", "last", "", "all", reasoning_history="last")) == ["last"]
    forced, kept = run("one", "all", "", "all", reasoning_history="none"), run("two", "all", "all", "all")
    assert histories(forced, kept) == ["default"]


def test_a_comparison_says_what_was_sent_back() -> None:
    kept, dropped = run("one", "all", "all", "all"), run("two", "none", "none", "none", reasoning_history="none")
    first, second = item_scores(rows([*kept, *dropped]))
    comparison = compare(first, second, "reasoning_history", keys=first.values)
    assert comparison is not None
    lines = list(comparison_lines(comparison))
    assert "A with reasoning history: default." in lines and "B with reasoning history: none." in lines
    assert "Reasoning of earlier turns that was sent back: A all, B none." in lines
    assert not [line for line in comparison_lines(replace(comparison, second=first)) if "sent back" in line]
