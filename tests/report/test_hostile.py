"""What models write, and what they are called, is text and nothing else."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.analysis.episodes import failed, logged, played, said
from tests.report.pages import FOLDERS, site
from waybench.core import Reply
from waybench.reporting._files import slug
from waybench.results import LoggedEpisode
from waybench.results.formatting import one_line

REPLIES = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "[click](javascript:alert(1)) <a href='javascript:alert(1)'>x</a>",
    "</pre></details></article></main><h1>owned</h1>",
    "<!-- comment <![CDATA[ ]]> --!>",
    "{{ 7 * 7 }}{% raw %}{{ self }}",
    "&lt;b&gt; &amp;amp; &#0; &nbsp;",
    "<svg><animate onbegin=alert(1)>",
    "<style>*{display:none}</style>",
    "\u202eevil\u202c \u2066x\u2069 \u200b\ufeff",
    "\0\x01\x1b[2J\x7f\x85\u2028",
    "\ud800 lone \udfff",
    '{"movements": [{"direction": "<script>alert(1)</script>", "cells": 1}]}',
]
NAMES = [
    "../../etc/passwd",
    "..\\..\\windows\\system32",
    "/absolute",
    "<b>bold</b>",
    '"><script>alert(1)</script>',
    "x" * 300,
    "模型/тест/é",
    "\u202egnol/\0\n\ttab",
    "con",
    "",
    ".",
    "{{ 7 * 7 }}",
    "\ud800",
    "a/b?c#d&e=%2e%2e%2f",
]
INVISIBLE = {*map(chr, range(32)), "\x7f", "\x85", "\u2028", *"\u202e\u202c\u2066\u2069\u200b\ufeff"} - {"\n", "\t"}


def test_replies_are_shown_as_text(tmp_path: Path) -> None:
    episodes = [
        logged(said([reply, Reply(reply, "truncated"), Reply(reply, "refused")], number=number))
        for number, reply in enumerate(REPLIES)
    ]
    made = site(tmp_path, episodes)
    assert len(made.replays) == len(REPLIES)
    for page in made.pages:
        assert not INVISIBLE & set(page.html)
    for page in (made.result, *made.replays):
        assert {"truncated", "refused"} <= {word.strip() for word in page.words}
    for reply in REPLIES:
        if all(32 <= ord(sign) < 127 for sign in reply):
            found = [page.words.count(reply) for page in made.replays]
            assert sorted(found) == [0] * (len(REPLIES) - 1) + [3]  # as one piece of text, nothing in it is markup
            assert not [page for page in (made.home, made.task, made.result, *made.models) if reply in page.words]


@pytest.mark.slow
def test_names_stay_text_and_files_stay_inside(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "site"
    episodes: list[LoggedEpisode] = []
    for name in NAMES:
        episodes += [logged(e.record, name, name, name) for e in played("random", (5,), mazes=2)]
        episodes.append(logged(failed(said(["x"]), name), name, name, name))
        episodes.append(logged(said(["a", "b", "c"], number=1), name + " ", name))  # not the same model
    made = site(out, episodes, "".join(NAMES))
    files = {path.relative_to(out) for path in tmp_path.rglob("*") if path.is_file()}
    assert {str(file) for file in files if len(file.parts) == 1} == {"index.html", "summary.json", "table.md"}
    pages = [file for file in files if len(file.parts) > 1 and file.parts[0] not in ("assets", "charts", "data")]
    assert len(made.models) == len(made.results) == 2 * len(NAMES)
    assert len(made.replays) == len(episodes)
    for file in pages:
        assert str(file.parent) in FOLDERS
        assert re.fullmatch(r"[a-z0-9][a-z0-9-]{0,75}\.html", file.name)
    for page in made.pages:
        assert not INVISIBLE & set(page.html)
        assert "49" not in [word for words in page.words for word in words.split()]
    assert made.home.links("models/") == {str(file) for file in pages if str(file.parent) == "models"}
    assert made.scores.links("../results/") == {f"../{file}" for file in pages if str(file.parent) == "results"}


@pytest.mark.slow
def test_names_stay_text_in_what_tables_are_sorted_by(tmp_path: Path) -> None:
    quotes = [
        '"onmouseover="alert(1)',
        "' onfocus='alert(1)",
        "`><script>",
        "&quot;><script>alert(1)</script>",
        "a\n\tb",
    ]
    names = [*NAMES, *quotes]
    made = site(tmp_path, [logged(said(["a", "b", "c"]), name, name) for name in names])
    cells = [a for _, a in made.scores.elements if "data-order" in a]
    heads = [a for a in made.scores.all("th") if a.get("scope") == "row"]
    assert [set(head) for head in heads] == [{"scope", "data-order"}] * len(names)
    assert sorted(head["data-order"] for head in heads) == sorted(one_line(name, 80) for name in names)
    assert all(set(cell) <= {"scope", "class", "data-order", "data-label", "style"} for cell in cells)
    (table,) = made.scores.all("table")[:1]
    assert (table["data-search"], table["data-choose"]) == ("Models", "Family")
    assert sum("data-family" in a for a in made.scores.all("tr")) == len(names)
    assert not INVISIBLE & set("".join(cell["data-order"] for cell in cells))
    # A number is sorted by a number, and what is none by nothing.
    numbers = [
        cell["data-order"] for cell in made.scores.all("td") if "data-order" in cell and cell.get("class") != "name"
    ]
    assert all(re.fullmatch(r"(\d+(\.\d+)?(e-\d+)?)?", number) for number in numbers)


@pytest.mark.slow
@pytest.mark.usefixtures("watchdog")
def test_ten_megabytes_in_one_line_are_cut(tmp_path: Path) -> None:
    long = "<b>" + "\u202e" * 10_000_000
    error = failed(said(["x", "y"], number=1), "e" * 10_000_000)
    made = site(tmp_path, [logged(said([long, long, long])), logged(error)])
    for folder, size in (("models", 200_000), ("tasks", 200_000), ("results", 200_000), ("replays", 1_000_000)):
        assert all(path.stat().st_size < size for path in (tmp_path / folder).iterdir())
    assert (tmp_path / "index.html").stat().st_size < 200_000
    first, second = (page.text for page in made.replays)
    assert first.count("the first 20,000 of 10,000,003 characters are shown") == 3
    assert "e" * 295 + "…" + "e" * 295 in second


def test_slugs() -> None:
    assert slug("OpenAI/GPT-5.2 (high)-alicia", "a").startswith("openai-gpt-5-2-high-alicia-")
    assert slug("x", "a") != slug("x", "b")
    assert slug("x", "a") == slug("x", "a")
    assert len({slug(name, name) for name in NAMES}) == len(NAMES)
    for name in NAMES:
        made = slug(name, name)
        assert made.isascii()
        assert 8 <= len(made) <= 69
        assert not set(made) - set("abcdefghijklmnopqrstuvwxyz0123456789-")
        assert not made.startswith("-")


def test_items_and_keys_of_any_name(tmp_path: Path) -> None:
    record = said(["a", "b", "c"])
    named = replace(record, item={**record.item, "id": "<b>../x\u202e" * 50, "key": "<i>\0"}, player="<u>")
    for page in site(tmp_path, [logged(named)]).pages:
        assert not INVISIBLE & set(page.html)
