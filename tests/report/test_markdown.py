"""The table for a README, read by a parser of Markdown."""

from html import unescape
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.analysis.episodes import detour, estimate, failed, item, logged, played
from tests.analysis.searches import searched
from waybench.reporting import write_report
from waybench.reporting.tables._markdown import escape_markdown
from waybench.results import LoggedEpisode
from waybench.results.formatting import visible

# As GitHub reads it: tables, and links that nobody marked as such.
PARSER = MarkdownIt("gfm-like")
HOSTILE = [
    *("a|b", "a\\|b", "a\\\\|b", "`x`", "``|``", "**bold**", "_x_ __y__", "~~gone~~", "$x$", "\\", "a\\"),
    *("<b>bold</b>", "<script>alert(1)</script>", "<!-- x -->", "&lt;b&gt;", "&amp;", "&#124;", "<https://e.com>"),
    *(
        "[x](http://e.com)",
        "![x](http://e.com/i.png)",
        "[x][1]",
        "[^1]",
        "[ ]",
        "http://e.com/a_b",
        "www.e.com",
        "e.com",
    ),
    *("mailto:a@b.com", "a@b.com", "ftp://e.com", "@user", "#1", ":smile:", "javascript:alert(1)"),
    *("# head", "- list", "1. list", "> quote", "---", "| --- |", "    code", "\ta", "+", "=", "* * *"),
    *("\u202egnol", "\0", "模型", "x" * 200, " x ", "gpt-5.2", "o1-mini_2024", "a*", "*a", "a_", "(no name)"),
]


def inline(text: str) -> list[Token]:
    """Return what a cell with a text is made of."""
    tokens = PARSER.parse(f"| a | b |\n| :-- | --: |\n| {text} | 1 |")
    cells = [tokens[number + 1] for number, token in enumerate(tokens) if token.type == "td_open"]
    assert len(cells) == 2
    assert cells[1].content == "1"
    return cells[0].children or []


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_is_shown_and_does_nothing(text: str) -> None:
    parts = inline(escape_markdown(text))
    assert {part.type for part in parts} <= {"text"}
    shown = "".join(part.content for part in parts)
    if len(text) < 60 and text.isprintable():
        assert shown == text.strip()
    assert "\n" not in escape_markdown(text)
    assert visible(shown) == shown
    # Within emphasis, as the names of reference players are.
    types = [part.type for part in inline(f"*{escape_markdown(text)}*")]
    assert types in (["em_open", "text", "em_close"], ["text", "em_open", "text", "em_close", "text"])


def test_a_line_break_ends_no_row() -> None:
    assert escape_markdown("a\n| b | c |\r\n\n# d") == escape_markdown("a | b | c | # d")
    assert len(escape_markdown("x" * 10_000_000)) <= 60


def tables_of(text: str) -> list[list[list[str]]]:
    """Return the tables of a Markdown text as it is shown: rows of cells."""
    tables: list[list[list[str]]] = []
    tokens = PARSER.parse(text)
    for number, token in enumerate(tokens):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type in ("th_open", "td_open"):
            tables[-1][-1].append("".join(part.content for part in tokens[number + 1].children or []))
    return tables


def table(out: Path, episodes: list[LoggedEpisode]) -> tuple[list[list[list[str]]], str]:
    write_report(episodes, out)
    """Return the tables of results and of horizons, and the text; normalised scores follow in a table of their own."""
    text = (out / "table.md").read_text(encoding="utf-8").partition("\nNormalised scores: ")[0]
    return tables_of(text), text


def test_models_by_task_with_intervals(tmp_path: Path) -> None:
    episodes = [
        *played("heuristic", (5,), model="vendor/walker"),
        *played("oracle", (5,), model="vendor/star"),
        *searched("random", "dfs", model="vendor/star"),
        *played("null", (5,)),
    ]
    ((head, *lines),), text = table(tmp_path, episodes)
    assert head == ["Model", "Depth-first search (AQA-Bench): G_min (lower is better)", "Mazes (AliciaBench): Score, %"]
    best = {each.group.model: each.best for each in estimate(episodes) if each.group.env == "maze/alicia"}
    # The best model comes first, and a reference player last.
    assert [line[0] for line in lines] == ["vendor/star", "vendor/walker", "waybench/null"]
    for name, searched_, mazes in lines:
        assert best[name] is not None
        assert best[name].low is None
        assert mazes.startswith(f"{best[name].value:.1f} (3 items")
        assert bool(searched_) == (name == "vendor/star")
    assert "*waybench/null*" in text
    assert "In italics: reference players, not models. Blank: not run. Made by waybench" in text
    assert "n/a" not in text
    assert "†" not in text


@pytest.mark.slow
def test_what_is_missing_is_marked(tmp_path: Path) -> None:
    episodes = [
        *played("oracle", (5, 7, 9), model="a/far"),
        *played("oracle", (5,), model="b/near"),
        *played("null", (7,), model="b/near"),
        logged(failed(detour(item(5), 2)), model="c/broken"),
        logged(detour(item(5), 0), model="d/half"),
        logged(failed(detour(item(5, 1), 2)), model="d/half"),
    ]
    ((_, *lines), _), text = table(tmp_path, episodes)  # the other one is of horizons
    shown = {name: cell for name, cell in lines}
    assert shown["a/far"].startswith("100.0 (")
    assert shown["b/near"].endswith("†")  # of a ladder of three steps it has climbed one
    assert shown["b/near"].startswith("33.3 (")
    assert shown["c/broken"] == "n/a (n = 0 of 1; 0.0 to 100.0) *"
    assert shown["d/half"].endswith("*‡")  # it was not asked to go further
    assert "†: stopped at a level" in text
    assert "n/a: infrastructure errors only" in text
    assert "\\*: n = … of …: some attempts have no result" in text


def test_settings_are_rows_of_their_own(tmp_path: Path) -> None:
    sound = played("oracle", (5,), mazes=1, model="m", protocol="sound")
    episodes = [
        *played("oracle", (5,), mazes=1, model="m"),
        *sound,
        *searched("random", "dfs", model="m", protocol="sound"),
        *searched("random", "dfs", model="other"),
    ]
    ((head, *lines),), _ = table(tmp_path / "protocols", episodes)
    assert [column.partition(" (")[0] for column in head] == ["Model", "Depth-first search", "Mazes"]
    # What was searched with one protocol stands beside the mazes of the same one.
    cells = {name: [bool(cell) for cell in line] for name, *line in lines}
    assert cells == {"m (protocol: sound)": [True, True], "m (protocol: paper)": [False, True]} | {
        "other (protocol: paper)": [True, False]
    }
    # A maze's wording says nothing of a search, which has other ones.
    episodes = [
        *played("oracle", (5,), mazes=1, model="m"),
        *played("null", (5,), mazes=1, model="m", wording="ascii"),
        *searched("random", "dfs", model="m"),
    ]
    ((_, *lines),), _ = table(tmp_path / "wordings", episodes)
    assert {name: [bool(cell) for cell in line] for name, *line in lines} == {
        "m (wording: matrix)": [True, True],
        "m (wording: ascii)": [False, True],
    }


def test_many_tasks_are_several_tables(tmp_path: Path) -> None:
    envs = ("guessnum", "coin", "dfs", "bfs", "cavedfs", "cavebfs")
    episodes = [each for env in envs for each in searched("random", env, count=1, model="a|b")]
    episodes += played("random", (5,), mazes=1, model="a|b")
    (first, second), _ = table(tmp_path, episodes)
    assert [len(line) for line in first] == [7, 7]
    assert [len(line) for line in second] == [2, 2]
    assert first[1][0] == second[1][0] == "a|b"
    assert second[0][1].startswith("Mazes")


@pytest.mark.slow
def test_hostile_models(tmp_path: Path) -> None:
    names = [name for name in HOSTILE if name != "\0"]
    tables, text = table(tmp_path, [each for name in names for each in played("null", (5,), mazes=1, model=name)])
    shown = {line[0] for part in tables for line in part[1:]}
    assert len(shown) == sum(len(part) - 1 for part in tables) == len(names)
    assert {name for name in names if len(name) < 60 and name.isprintable() and name == name.strip()} <= shown
    html = PARSER.render(text)
    assert "<a " not in html
    assert "<img" not in html
    assert "<script" not in html
    assert "<code" not in html
    assert unescape(html).count("<b>bold</b>") == 1  # as text
