"""Plays environments under a limit on memory, at each of some levels and by each face: see test_memory.py."""

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import waybench
from waybench._scoring import score_line
from waybench.core import End, Episode, EpisodeRecord, Item, Json, UsageError, play_to_end, policy, replay
from waybench.ext.train.gymnasium import TextEnv
from waybench.people._play import parse_typed_line
from waybench.results import LoggedEpisode, rows
from waybench.results.results._anchors import ReferenceLookup
from waybench.results.results._measured_row import measured_row, simulate
from waybench.testing._walks import option_combinations

MIB = 1 << 20
# Beyond what the modules take. The largest, a random walk through the game of 10,000 steps, takes about 100 MiB.
ROOM = 512 * MIB
MOST_TURNS = 400  # of an episode by a face; the others replay it


def limit() -> None:
    """Take no more memory than ROOM from now on."""
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + ROOM, now + ROOM))


def _played(env: Any, item: Item[Any], options: dict[str, Json], player: str) -> EpisodeRecord:
    """Play until the end, or for some hundred turns."""
    episode: Episode[Any, Any, Any] = Episode(env, item, options)
    chosen = policy(player)
    while not episode.done and len(episode.turns) < MOST_TURNS:
        episode.step(chosen.reply(episode))
    assert episode.messages
    if not episode.done:
        episode.end(End.TURN_LIMIT, "long enough")
    return episode.record()


def _episodes(env: Any, item: Item[Any], options: dict[str, Json]) -> None:
    for player in ("random", "oracle", "noisy-0.5"):
        record = _played(env, item, options, player)
        replay(env, EpisodeRecord.from_json(json.loads(record.dumps())))


def _report(env: Any, item: Item[Any], options: dict[str, Json]) -> None:
    """What a report makes of an episode: its simulation, floor, ceiling and row."""
    logged = LoggedEpisode(model="m", task="t", record=_played(env, item, options, "oracle"))
    assert not simulate(logged).mismatch
    ReferenceLookup().scores(logged.record, measured_row(logged).group)
    assert len(rows([logged])) == 1


def _scored(env: Any, item: Item[Any], options: dict[str, Json]) -> None:
    """A line of `waybench score`, with and without an example, and with the greatest numbers as options."""
    line: dict[str, Json] = {"env": env.id, "instance": item.instance.to_json(), "replies": ["", "x"]}
    examples = {"examples": [line["instance"]]}
    for more in ({}, examples):
        assert "metrics" in score_line(json.dumps({**line, "options": options, **more}).encode(), 1)
    most = {option.name: option.high for option in env.playing.options if option.high is not None}
    for more in ({"replies": ["x"] * 300}, examples):  # some options exclude each other
        score_line(json.dumps({**line, "options": options | most, **more}).encode(), 1)


def _typed(env: Any, item: Item[Any], options: dict[str, Json]) -> None:
    episode: Episode[Any, Any, Any] = Episode(env, item, options)
    for text in ("1", "d3 l2", "north"):
        parse_typed_line(text, episode)


def _gymnasium(env: Any, item: Item[Any], options: dict[str, Json]) -> None:
    face = TextEnv(env.id, level=item.level, **options)
    face.reset(seed=1)
    face.step("x")


FACES: dict[str, Callable[[Any, Item[Any], dict[str, Json]], None]] = {
    "episodes": _episodes,
    "report": _report,
    "score": _scored,
    "play": _typed,
    "gymnasium": _gymnasium,
}


def cases(env: Any, levels: list[int]) -> Iterator[tuple[Item[Any], dict[str, Json]]]:
    """Yield the first item of each level with each way of playing at the first, and with the default one elsewhere."""
    for level in levels:
        item = env.source(level=level).item(0)
        for options in option_combinations(env) if level == levels[0] else option_combinations(env)[:1]:
            yield item, options


def main() -> None:
    """Play what is asked for, as JSON {environment: levels}, and tell of each face that needs more memory."""
    asked: dict[str, list[int]] = json.loads(sys.argv[1])
    loaded = {env_id: waybench.load(env_id) for env_id in asked}
    for env in loaded.values():
        play_to_end(env, env.source().item(0), policy("null"), dict(env.playing.check_options))
    limit()
    began = time.monotonic()
    for env_id, levels in asked.items():
        for item, options in cases(loaded[env_id], levels):
            for name, face in FACES.items():
                try:
                    face(loaded[env_id], item, options)
                except MemoryError:
                    print(f"{env_id} at level {item.level}, {options}: {name} takes more than {ROOM // MIB} MiB")
                except UsageError as error:
                    print(f"{env_id} at level {item.level}, {options}: {name}: {error}")
        print("done", env_id, round(time.monotonic() - began))


if __name__ == "__main__":
    main()
