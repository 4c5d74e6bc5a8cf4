"""What models write, and what they are called, is text and nothing else."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.analysis.episodes import failed, logged, played, said
from tests.report.pages import read
from waybench.analysis import LoggedEpisode
from waybench.core import Reply
from waybench.report import write_report
from waybench.report._files import slug

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
    home = read(write_report(episodes, tmp_path))
    (path,) = (tmp_path / "models").iterdir()
    page = read(path)
    assert not INVISIBLE & set(page.html + home.html)
    assert {"unparsed", "truncated", "refused"} <= set(page.words)
    for reply in REPLIES:
        if all(32 <= ord(sign) < 127 for sign in reply):
            assert page.words.count(reply) == 3  # as one piece of text, nothing in it taken for markup


def test_names_stay_text_and_files_stay_inside(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "site"
    episodes: list[LoggedEpisode] = []
    for name in NAMES:
        episodes += [logged(e.record, name, name, name) for e in played("random", (5,), mazes=2)]
        episodes.append(logged(failed(said(["x"]), name), name, name, name))
        episodes.append(logged(said(["a", "b", "c"], number=1), name + " ", name))  # not the same model
    home = write_report(episodes, out, title="".join(NAMES))
    files = {path.relative_to(out) for path in tmp_path.rglob("*") if path.is_file()}
    assert {str(file) for file in files if len(file.parts) == 1} == {"index.html", "summary.json"}
    pages = [file for file in files if len(file.parts) > 1]
    assert len([file for file in pages if file.parent == Path("models")]) == 2 * len(NAMES)
    for file in pages:
        assert file.parent in (Path("models"), Path("replays"))
        assert re.fullmatch(r"[a-z0-9][a-z0-9-]{0,70}\.html", file.name)
        assert not INVISIBLE & set(read(out / file).html)
    assert {a["href"] for a in read(home).all("a") if a["href"].startswith("models/")} == {
        str(file) for file in pages if file.parent == Path("models")
    }


@pytest.mark.usefixtures("watchdog")
def test_ten_megabytes_in_one_line_are_cut(tmp_path: Path) -> None:
    long = "<b>" + "\u202e" * 10_000_000
    error = failed(said(["x", "y"], number=1), "e" * 10_000_000)
    home = write_report([logged(said([long, long, long])), logged(error)], tmp_path)
    (path,) = (tmp_path / "models").iterdir()
    assert path.stat().st_size < 1_000_000
    assert home.stat().st_size < 200_000
    page = read(path)
    assert page.text.count("the first 20,000 of 10,000,003 characters are shown") == 3


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
    write_report([logged(named)], tmp_path)
    for path in tmp_path.rglob("*.html"):
        assert not INVISIBLE & set(read(path).html)
