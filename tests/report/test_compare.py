"""The pages on which two models stand side by side: what their script is given."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.episodes import SCORE, detour, failed, item, logged, played, said
from tests.analysis.maps import answered, corridor, easy
from tests.analysis.searches import searched
from tests.analysis.worlds import searched as looked_for
from tests.report.pages import Page, site
from waybench.core import Reply
from waybench.results import LoggedEpisode


def data(page: Page) -> Any:
    (text,) = page.scripts
    assert "<" not in text
    return json.loads(text)


def compared(out: Path, episodes: list[LoggedEpisode]) -> Any:
    (page,) = site(out, episodes).compared.values()
    return data(page)


def by_model(told: Any, what: str) -> dict[str, dict[str, Any]]:
    """Return numbers by model and item."""
    names = [model["name"] for model in told["models"]]
    items = [name for name, _ in told["items"]]
    return {name: dict(zip(items, own, strict=True)) for name, own in zip(names, told[what], strict=True)}


def test_each_item_has_the_best_attempt_and_its_page(tmp_path: Path) -> None:
    extras = {"a": {0: [4, 2], 1: [6]}, "b": {1: [2], 2: [2]}}
    episodes = [
        logged(detour(item(5, number), extra, attempt), model)
        for model, own in extras.items()
        for number, each in own.items()
        for attempt, extra in enumerate(each, start=1)
    ]
    episodes += [logged(said(["x", "x", "x"], level=5, number=0), "b")]
    told = compared(tmp_path, episodes)
    assert [model["name"] for model in told["models"]] == ["b", "a"]  # the best first
    assert told["items"] == [["501", 5], ["502", 5], ["503", 5]]
    score = {(m, n): SCORE.of(detour(item(5, n), min(each))) for m, own in extras.items() for n, each in own.items()}
    scores, solved = by_model(told, "scores"), by_model(told, "solved")
    assert scores["a"] == {
        "501": pytest.approx(score["a", 0], abs=1e-4),
        "502": pytest.approx(score["a", 1], abs=1e-4),
        "503": None,
    }
    assert scores["b"] == {
        "501": 0,
        "502": pytest.approx(score["b", 1], abs=1e-4),
        "503": pytest.approx(score["b", 2], abs=1e-4),
    }
    assert solved == {"a": {"501": 1, "502": 1, "503": None}, "b": {"501": 0, "502": 1, "503": 1}}
    pages = {model["name"]: model["page"].removesuffix(".html") for model in told["models"]}
    for name, own in by_model(told, "replays").items():
        for item_name, number in own.items():
            if number is not None:
                text = (tmp_path / "replays" / f"{pages[name]}-{number}.html").read_text(encoding="utf-8")
                assert f"<h1>Maze {item_name}" in text
                assert (", attempt 2</h1>" in text) == ((name, item_name) == ("a", "501"))
    assert told["words"] == {"item": "maze", "items": "mazes", "lower": False, "best": True}


@pytest.mark.slow
def test_differences_are_of_the_items_at_which_both_have_a_score(tmp_path: Path) -> None:
    maps = [corridor(f"m{places}", places) for places in (3, 4, 5, 6)]
    # An attempt that an infrastructure error ended has no score.
    mixed = answered(lambda question: "random" if easy(question) else "null", maps, model="b")
    episodes = [
        *answered("oracle", maps, model="a"),
        *(one if one.record.turns[0].reply else replace(one, record=failed(one.record)) for one in mixed),
    ]
    told = compared(tmp_path, episodes)
    scores = by_model(told, "scores")
    both = [(scores["a"][name], scores["b"][name]) for name in scores["a"] if scores["b"][name] is not None]
    assert 0 < len(both) < len(scores["a"])
    moved = sum(one - other for one, other in both) / len(both)
    assert moved > 0
    place = {model["name"]: str(number) for number, model in enumerate(told["models"])}
    count, (mean, low, high) = told["differences"][f"{place['a']} {place['b']}"]
    assert (count, mean) == (len(both), f"+{moved:.3f}")
    assert float(low.replace("−", "-").replace("±", "")) < moved < float(high)
    other_count, turned = told["differences"][f"{place['b']} {place['a']}"]
    assert (other_count, turned[0]) == (len(both), f"−{moved:.3f}")
    signs = str.maketrans("+−", "−+")
    assert turned[1:] == [high.translate(signs), low.translate(signs)]


def test_what_counts_in_no_score_is_not_compared(tmp_path: Path) -> None:
    claimed = replace(detour(item(5, 1), 0), instance_hash="0" * 64)
    episodes = [
        logged(detour(item(5, 0), 2), "a"),
        logged(failed(detour(item(5, 0), 2, 2)), "a"),
        logged(claimed, "a"),
        logged(failed(detour(item(5, 2), 2)), "a"),
        *(logged(detour(item(5, number), 2), "b") for number in range(3)),
    ]
    told = compared(tmp_path, episodes)
    assert by_model(told, "scores")["a"] == {
        "501": pytest.approx(SCORE.of(detour(item(5, 0), 2)), abs=1e-4),
        "502": None,
        "503": None,
    }
    assert by_model(told, "replays")["a"]["501"] == 1


def test_where_nothing_is_compared_there_is_no_page_and_no_link(tmp_path: Path) -> None:
    cases = {
        "alone": played("oracle", (5,)),
        "other items": [logged(detour(item(5, 0), 2), "a"), logged(detour(item(5, 1), 2), "b")],
        "teachers": searched("oracle", model="a", teacher_guided=True)
        + searched("oracle", model="b", teacher_guided=True),
        "errors": [logged(failed(detour(item(5, 0), 2)), model) for model in "ab"],
    }
    for name, episodes in cases.items():
        made = site(tmp_path / name, episodes)
        assert made.compared == {}
        assert not [page for page in made.pages if page.links("compare/") | page.links("../compare/")]


def test_each_place_has_a_page_of_its_own(tmp_path: Path) -> None:
    episodes = [
        e
        for who, model in (("oracle", "a"), ("null", "b"))
        for engine in ("own", "luanti")
        for e in looked_for(who, engine, model)
    ]
    made = site(tmp_path, [*episodes, *searched("oracle", "dfs")])
    assert set(made.compared) == set(made.tasks) - {"search-dfs"}
    linked = {link for page in made.tasks.values() for link in page.links("../compare/")}
    assert linked == {f"../compare/{name}.html" for name in made.compared}
    for name, page in made.compared.items():
        assert f"../compare/{name}.html" in made.tasks[name].links("../compare/")
        assert page.links("../tasks/") == {f"../tasks/{name}.html"}
        assert [model["name"] for model in data(page)["models"]] == ["a", "b"]


def test_settings_that_differ_are_told(tmp_path: Path) -> None:
    episodes = [*played("random", (5,), model="m"), *played("null", (5,), model="m", wording="ascii")]
    told = compared(tmp_path, episodes)
    assert {model["name"]: model["settings"] for model in told["models"]} == {
        "m (matrix)": ["wording: matrix"],
        "m (ascii)": ["wording: ascii"],
    }


def test_hostile_names_are_text_in_the_data(tmp_path: Path) -> None:
    names = ["</script><script>alert(1)</script>", "<!-- <script>", "\u2028\u202e\0", "&lt;/script&gt;", "\ud800"]
    record = said(["x", Reply("y", "refused"), "z"])
    episodes = [logged(replace(record, item={**record.item, "id": "</script>\u202e"}), name) for name in names]
    (page,) = site(tmp_path, episodes).compared.values()
    told = data(page)
    assert {model["name"] for model in told["models"]} == {
        *("</script><script>alert(1)</script>", "<!-- <script>", "⟨U+202E⟩␀", "&lt;/script&gt;", "⟨U+D800⟩"),
    }
    assert told["items"] == [["</script>⟨U+202E⟩", 9]]
    assert page.scripts[0].isascii()
    assert len(page.table("Pairwise comparisons.")) == 1 + len(told["verdicts"]) // 2 > 1
