"""Plays each environment as text, by pictures and by tools: `python -m tests.eval.interfaces` prints the table of docs.

A server's replies are those that an embedded player gives in the same state: the same actions in each interface. So
whatever differs between the episodes is due to the interface.
"""

import json
import os
import tempfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import waybench
from tests.eval.model_server import Answer, Script, model_server
from tests.eval.play import MODEL
from waybench.core import Json, calls_in_reply
from waybench.evaluation import evaluate
from waybench.evaluation.tasks import find_task, load_task
from waybench.results import LoggedEpisode, read_logs

PLAYER = "noisy-0.1"
CHAT: dict[str, Json] = {"wording": "chat"}  # that pictures are based on where the default asks for thoughts
INTERFACES: dict[str, dict[str, Json]] = {
    "text": {},
    "image": {"wording": "image", "image_size": 128},
    "tools": {"interface": "tools"},
}


class Line(NamedTuple):
    """Some items of an environment.

    Attributes:
        title: What the table calls them.
        task: The task.
        given: Its parameters.
        has_images: Whether there are pictures.
    """

    title: str
    task: str
    given: dict[str, Json]
    has_images: bool = True


LINES = (
    Line("mazes, dimension 9", "maze/alicia", {"level": 9, "limit": 4}),
    Line("tile maps", "gtb", {"limit": 4}),
    Line("tile maps, step by step", "gtb_stepwise", {"limit": 2}),
    Line("routes in text maps, level 2", "mango_route", {"level": 2, "worlds": 2, "limit": 4, "protocol": "sound"}),
    Line("destinations in text maps, level 2", "mango_destination", {"level": 2, "worlds": 2, "limit": 4}),
    Line("depth-first search", "dfs", {"limit": 4}),
    Line("breadth-first search", "bfs", {"limit": 4}),
    Line("guess a number", "guessnum", {"limit": 4}, has_images=False),
    Line("Tower of Hanoi", "hanoi_3", {**CHAT, "limit": 1}),
    Line("Messenger, stage 2", "messenger_l2", {**CHAT, "limit": 4}),
    Line("Crafter, 15 steps", "crafter", {**CHAT, "limit": 2, "steps": 15}),
    Line("find a biome, 15 steps", "voxel_find", {**CHAT, "limit": 2, "steps": 15}),
    Line("slot machines, 10 rounds", "bandit", {"limit": 2, "steps": 10}, has_images=False),
    Line("Rock Paper Scissors, 10 rounds", "rps", {"limit": 2, "steps": 10}, has_images=False),
)


def interfaces(line: Line) -> list[str]:
    """Return the interfaces of a line."""
    return [name for name in INTERFACES if name != "image" or line.has_images]


def play(line: Line, interface: str, out: Path, replies: Iterable[str] | None = None) -> list[LoggedEpisode]:
    """Play a line and return its episodes, in the order of the items.

    Args:
        line: What to play.
        interface: How.
        out: The folder of the logs.
        replies: What a model server replies, one request after the other; by default the embedded player plays.
    """
    given = {**line.given, **INTERFACES[interface]}
    if replies is None:
        waybench.evaluate(line.task, f"waybench/{PLAYER}", out=out, **given)
    else:
        with model_server(_script(replies)) as server:
            task = partial(load_task(find_task(line.task)), **given)
            # One episode after the other, for the first messages of some items are the same.
            evaluate([task], [MODEL], out, model_base_url=server.url, limits={"max_samples": 1})
    return sorted(read_logs(out), key=lambda one: (one.record.item["index"], one.record.attempt))


def _script(replies: Iterable[str]) -> Script:
    left = iter(replies)

    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        said = calls_in_reply(next(left, "no reply is left"))
        return Answer(said.text, calls=tuple((call.name, json.dumps(call.arguments)) for call in said.calls))

    return script


def compare(line: Line, interface: str, folder: Path) -> tuple[list[LoggedEpisode], list[LoggedEpisode]]:
    """Return the episodes of a line by the embedded player, and by the server with the same replies."""
    embedded = play(line, interface, folder / "embedded")
    replies = [turn.reply for episode in embedded for turn in episode.record.turns]
    return embedded, play(line, interface, folder / "server", replies)


def begin() -> None:
    """Prepare a process."""
    os.environ.setdefault("SCRIPTED_API_KEY", "none")


def main() -> None:
    """Print the table."""
    begin()
    print("| environment | items | score | " + " | ".join(INTERFACES) + " |\n|---|---|---|" + "---|" * len(INTERFACES))
    for line in LINES:
        found = {name: measures(line, name) for name in interfaces(line)}
        (score,) = {one.score for one in found.values()}
        tokens = [f"{found[name].tokens:,.0f}" if name in found else "–" for name in INTERFACES]
        print(f"| {line.title} | {found['text'].items} | {score:.3g} | " + " | ".join(tokens) + " |", flush=True)


class Measures(NamedTuple):
    """Mean score, and mean input tokens of an episode as the server counts them."""

    items: int
    score: float
    tokens: float


def measures(line: Line, interface: str) -> Measures:
    """Play a line in both ways and return what came of it.

    Raises:
        AssertionError: If the server's episodes are not those of the embedded player.
    """
    with tempfile.TemporaryDirectory() as folder:
        embedded, served = compare(line, interface, Path(folder))
    assert [_acts(one) for one in served] == [_acts(one) for one in embedded], (line, interface)
    metric = waybench.load(served[0].record.env).scoring.metrics[0]
    scores = [value for one in served if (value := metric.of(one.record)) is not None]
    return Measures(len(served), fmean(scores), fmean(one.record.tokens[0] or 0 for one in served))


def _acts(episode: LoggedEpisode) -> tuple[Any, ...]:
    """Return everything that happened in an episode, but for texts and tokens."""
    record = episode.record
    turns = [(turn.action, turn.outcome, turn.reward, dict(turn.events)) for turn in record.turns]
    return record.instance_hash, record.attempt, turns, record.end


if __name__ == "__main__":
    main()
