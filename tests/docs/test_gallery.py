"""The pictures and examples of the gallery, and the results on the first page."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

import waybench
from waybench.envs import registry
from waybench.results.papers import find_paper

DOCS = Path(__file__).parents[2] / "docs"
PICTURES = sorted((DOCS / "images" / "games").glob("*.svg"))
README = (DOCS.parent / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def gallery(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(DOCS))
    import gallery

    yield gallery
    sys.modules.pop("gallery", None)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)
def test_a_picture_is_small_and_stands_alone(picture: Path) -> None:
    text = picture.read_text(encoding="utf-8")
    assert len(text) < 100_000
    assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert not re.search(r"<script|href=|url\(|@import|\bon\w+=", text)


@pytest.mark.parametrize("env_id", [entry.id for entry in registry.built_in])
def test_a_page_begins_with_picture_prompt_reply_and_verdict(env_id: str) -> None:
    name = env_id.replace("/", "-")
    beginning, _, _ = (DOCS / "environments" / f"{name}.md").read_text(encoding="utf-8").partition("\n## Rules\n")
    parts = [f"images/games/{name}.svg)", "\nPrompt:\n", "\nReply:\n", "\nVerdict: *ok*"]
    positions = [beginning.find(part) for part in parts]
    assert -1 not in positions and positions == sorted(positions)
    assert (DOCS / "images" / "games" / f"{name}.svg").is_file()


def test_the_strip_plays_its_games_to_their_ends_and_repeats_no_map(gallery: ModuleType) -> None:
    svg = gallery.strip()
    root = ElementTree.fromstring(svg)
    shown = [element.get("class", "").split() for element in root.iter() if "f" in element.get("class", "").split()]
    assert sum("l" in classes for classes in shown) == len(gallery.STRIP)  # the frames without motion
    for number, (env_id, level) in enumerate(gallery.STRIP):
        played = waybench.play(env_id, "oracle", level=level)
        assert played.solved
        assert sum(f"g{number}f" in " ".join(classes) for classes in shown) == len(played.record.turns) + 1
    assert len(set(re.findall(r"@keyframes (\w+)", svg))) == svg.count("@keyframes")


def test_a_long_text_keeps_its_beginning_and_its_end(gallery: ModuleType) -> None:
    lines = gallery.excerpt("\n".join(map(str, range(100))), 10).split("\n")
    assert (lines[0], lines[4:7], lines[-1]) == ("0", ["4", "[... 91 more lines ...]", "96"], "99")
    assert gallery.excerpt("a\nb", 10) == "a\nb"


def test_published_results_are_the_papers() -> None:
    blocks = [block for table in find_paper("gtb").tables for block in table.published]
    scores = {row.model: row.values[0] for block in blocks for row in block.rows if block.statistic == "mean"}
    for model in ("o1", "GPT-4-Turbo"):
        assert f"| *{model}* | *{scores[model]}* |" in README
    assert "| *GPT-4-0613* |  | *2.5* | *0.8* |" in README
