"""Pictures in messages: what they show, their bytes, models that take none, and a whole run that is played by sight."""

import base64
import hashlib
import json
import subprocess
import sys
from collections import deque
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.conftest import PATIENCE
from tests.eval.model_server import Answer, model_server, prompt_tokens
from tests.eval.play import waybench_
from tests.png import Pixels, decoded, from_data_uri
from waybench._episodes import Prompt
from waybench.core import Episode, Picture, PromptKinds, UsageError, play_to_end, policy, replay
from waybench.evaluation._agents import picture_png
from waybench.evaluation._engine import open_model
from waybench.evaluation._preflight import check_models, refuse_text_only_models
from waybench.evaluation._sample import Chat
from waybench.ext.train import Session
from waybench.results import read_logs
from waybench.results.comparisons._prompts import wording_effects
from waybench.results.logs import Skipped
from waybench.results.logs._settings import run_infos
from waybench.results.results._measured_row import measured_row
from waybench.submission._logs import log_findings

MAZES = waybench.load("maze/alicia")
MODEL = "openai-api/scripted/player"
WALL, PATH, PLAYER = (59, 66, 82), (255, 255, 255), (213, 94, 0)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRIPTED_API_KEY", "sk-0123456789abcdef")


def opening(level: int, **options: Any) -> Picture:
    item = MAZES.source(level=level).item(0)
    picture = Episode(MAZES, item, {"wording": "image", **options}).messages[-1].picture
    assert picture is not None
    return picture


def matrix(pixels: Pixels, size: int, margin: float = 0.0) -> list[list[int | str]]:
    """Return the cells that a picture shows, by the colour in the middle of each."""
    signs: dict[tuple[int, int, int], int | str] = {WALL: 0, PATH: 1, PLAYER: "X"}
    whole = size + margin + (0.1 if margin else 0)
    middles = [(margin + number + 0.5) / whole for number in range(size)]
    return [[signs[pixels.at(x, y)] for x in middles] for y in middles]


@pytest.mark.slow
@pytest.mark.parametrize("level", [5, 21])
@pytest.mark.parametrize("grid", [False, True])
def test_a_picture_shows_the_matrix_of_the_text_and_nothing_else(level: int, grid: bool) -> None:
    item = MAZES.source(level=level).item(0)
    by_text = Episode(MAZES, item, {"wording": "matrix"})
    by_sight = Episode(MAZES, item, {"wording": "image", "image_grid": grid, "image_size": 384})
    for reply in ("", '{"movements": [{"direction": "down", "cells": 1}]}', "nonsense"):
        if reply:
            by_text.step(reply)
            by_sight.step(reply)
        said = by_text.messages[-1].text.partition("<Maze map>\n")[2].partition("\n")[0]
        assert said.count("X") == 1
        assert said not in by_sight.messages[-1].text
        if by_text.done:
            assert by_sight.messages[-1].picture is None
            continue
        picture = by_sight.messages[-1].picture
        assert picture is not None
        shown = matrix(decoded(picture_png(picture)), level, 1.3 if grid else 0.0)
        assert shown == json.loads(said.replace("X", '"X"'))


def test_size_and_grid_are_options_of_pictures_alone() -> None:
    pixels = decoded(picture_png(opening(5, image_size=100)))
    assert (pixels.width, pixels.height) == (100, 100)
    assert picture_png(opening(5)) != picture_png(opening(5, image_grid=True))
    text = MAZES.resolve_options({"image_size": 100, "image_grid": True})
    assert text == MAZES.resolve_options({})
    assert not any(name.startswith("image") for name in text)
    with pytest.raises(UsageError, match="image_size=63 is out of range: give a number from 64 to 4096"):
        opening(5, image_size=63)
    with pytest.raises(UsageError, match="image"):
        MAZES.resolve_options({"wording": "imagee"})


@pytest.mark.slow
def test_the_same_picture_has_the_same_bytes_in_another_process() -> None:
    program = (
        "import hashlib\nfrom tests.eval.test_images import opening, picture_png\n"
        "print(hashlib.sha256(picture_png(opening(9, image_grid=True))).hexdigest())"
    )
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert other.stdout.strip() == hashlib.sha256(picture_png(opening(9, image_grid=True))).hexdigest(), other.stderr


def test_text_and_picture_are_parts_of_one_message_which_is_made_once() -> None:
    episode = Episode(MAZES, MAZES.source().item(0), {"wording": "image+text"})
    chat = Chat()
    (first,) = chat.messages(episode)
    assert not isinstance(first.content, str)
    assert [part.type for part in first.content] == ["text", "image"]
    assert first.text == episode.messages[0].text
    assert "[[0,0,0,X,0],[0," in first.text
    episode.step("nonsense")
    again = chat.messages(episode)
    assert again[0] is first
    assert [isinstance(message.content, str) for message in again] == [False, True, False]
    assert isinstance(Chat(with_pictures=False).messages(episode)[0].content, str)


def test_the_same_replies_have_the_same_record_but_for_words() -> None:
    item = MAZES.source(level=9).item(0)
    for player in ("oracle", "random", "noisy-0.3"):
        played = [
            play_to_end(MAZES, item, policy(player), {"wording": name}) for name in ("matrix", "image", "image+text")
        ]
        turns = [[turn._replace(message="") for turn in episode.turns] for episode in played]
        assert turns[0] == turns[1] == turns[2]
        record = played[1].record()
        assert "<svg" not in record.dumps()
        assert replay(MAZES, record).messages == played[1].messages


def test_examples_have_no_pictures() -> None:
    first, second = MAZES.source().head(2)
    item = replace(first, examples=(second.instance,))
    with pytest.raises(UsageError, match="solved examples have no pictures"):
        Episode(MAZES, item, {"wording": "image"})


def test_what_takes_texts_only_refuses_pictures() -> None:
    with pytest.raises(UsageError, match="results of tools are texts"):
        MAZES.resolve_options({"wording": "image", "interface": "tools"})
    with pytest.raises(UsageError, match="wording=image: a session has texts only"):
        Session(MAZES, wording="image")

    class TextModel:
        api = None

        def __str__(self) -> str:
            return "hf/local"

    models: Any = [TextModel()]
    with pytest.raises(UsageError, match="model 'hf/local' takes no pictures: choose a model that reads images"):
        refuse_text_only_models(models)


def test_a_function_has_the_pictures_of_new_messages() -> None:
    found: list[list[str]] = []

    def reply(prompt: Prompt) -> str:
        found.append(prompt.pictures)
        return '{"movements": [{"direction": "down", "cells": 1}]}' if len(found) == 1 else "nonsense"

    waybench.play("maze/alicia", reply, wording="image", requests=2)
    assert [len(pictures) for pictures in found] == [1, 1]
    assert found[0][0].startswith("<svg") and found[0] != found[1]
    found.clear()
    waybench.play("maze/alicia", reply, requests=2)
    assert found == [[], []]


def sees(messages: list[dict[str, Any]]) -> bool:
    return any(isinstance(message["content"], list) for message in messages)


def test_a_model_that_takes_no_pictures_is_refused_before_the_run() -> None:
    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        return Answer("no images, please", status=400) if sees(messages) else Answer("OK")

    with model_server(script) as server, pytest.raises(UsageError) as caught:
        check_models([open_model(MODEL, server.url, {})], 60, prompts=PromptKinds(opening(5)))
    assert str(caught.value).startswith(f"model '{MODEL}': takes no picture of 768 pixels (Error code: 400")
    assert "no images, please" in str(caught.value)
    assert "choose a model that reads images, or a wording without pictures" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert server.asked.total() == 2


@pytest.mark.slow
def test_a_picture_beyond_the_providers_limit_is_refused_before_the_run() -> None:
    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        large = sees(messages) and from_data_uri(messages[-1]["content"][1]["image_url"]["url"]).width > 1000
        return Answer("image too large", status=413) if large else Answer("OK")

    with model_server(script) as server:
        check_models([open_model(MODEL, server.url, {})], 60, prompts=PromptKinds(opening(5)))
        with pytest.raises(
            UsageError, match=r"takes no picture of 1024 pixels .*image too large.* a smaller image_size"
        ):
            check_models([open_model(MODEL, server.url, {})], 60, prompts=PromptKinds(opening(5, image_size=1024)))


def by_sight(messages: list[dict[str, Any]], before: int) -> Answer:
    """Find the way out of a maze of dimension 5 or 7 from the pixels of the last picture alone."""
    if not sees(messages) or "maze" not in messages[0]["content"][0]["text"]:
        return Answer("OK")  # the check before the run
    pixels = from_data_uri(messages[-1]["content"][1]["image_url"]["url"])
    size = _size(pixels)
    cells = {(x, y): cell for y, row in enumerate(matrix(pixels, size)) for x, cell in enumerate(row)}
    start = next(place for place, cell in cells.items() if cell == "X")
    edge = {0, size - 1}
    goal = next(p for p, cell in cells.items() if cell == 1 and (p[0] in edge or p[1] in edge))
    ways, queue = {start: ""}, deque([start])
    while queue:
        x, y = queue.popleft()
        for sign, place in {"r": (x + 1, y), "l": (x - 1, y), "d": (x, y + 1), "u": (x, y - 1)}.items():
            if cells.get(place) and place not in ways:
                ways[place] = ways[x, y] + sign
                queue.append(place)
    names = {"r": "right", "l": "left", "d": "down", "u": "up"}
    plan = [{"direction": names[sign], "cells": len(list(run))} for sign, run in groupby(ways[goal])]
    return Answer(json.dumps({"movements": plan}))


def _size(pixels: Pixels) -> int:
    """Return the dimension: the first row has one opening, the entrance, and the dot does not reach its upper edge."""
    first = [pixels.at((number + 0.5) / pixels.width, 1 / pixels.height) for number in range(pixels.width)]
    return round(pixels.width / first.count(PATH))


@pytest.mark.slow
def test_a_run_that_is_played_by_sight(tmp_path: Path) -> None:
    found: dict[str, Any] = {}
    with model_server(by_sight) as server:
        for wording in ("image", "image+text"):
            run = waybench_(
                *("run", "alicia", "--model", MODEL, "--model-base-url", server.url, "--out", str(tmp_path / wording)),
                *("--limit", "2", "--attempts", "1", "--max-retries", "0", "--rerun", "0", "-T", "max_dimension=7"),
                *("-T", f"wording={wording}", "-T", "image_size=256"),
            )
            assert run.returncode == 0, run.stderr
        requests = [sent for sent in map(json.loads, server.answered) if sees(sent)]
    for wording in ("image", "image+text"):
        found[wording] = list(read_logs(tmp_path / wording))
    for episodes in found.values():
        assert [(episode.record.end, len(episode.record.turns)) for episode in episodes] == [("solved", 1)] * 4
        for episode in episodes:
            record = episode.record
            assert replay(MAZES, record).record().opening == record.opening
            assert record.options["image_size"] == 256
            # The ledger has what the provider counts: the picture's tokens, too.
            sent = next(
                each for each in requests if each[0]["content"][0]["text"].strip() == record.opening[0].text.strip()
            )
            assert record.tokens[0] == prompt_tokens(sent)
            assert record.tokens[0] > 256 * 256 // 750
    # Logs keep no pixels, and what was sent is what the simulation makes again.
    assert b"iVBORw0KGgo" not in b"".join(path.read_bytes() for path in tmp_path.rglob("*.eval"))
    assert base64.b64encode(b"\x89PNG\r\n\x1a\n").startswith(b"iVBORw0KGg")
    problems: list[Skipped] = []
    findings = [finding for info in run_infos(tmp_path) for finding in log_findings(info, problems.append)]
    assert not findings and not problems
    rows = [measured_row(episode) for episodes in found.values() for episode in episodes]
    assert {dict(one.group.options)["wording"] for one in rows} == {
        "image (image_size=256)",
        "image+text (image_size=256)",
    }
    (effect,) = wording_effects(rows)
    assert [one.name for one in effect.wordings] == ["image (image_size=256)", "image+text (image_size=256)"]
    assert effect.items == 4
