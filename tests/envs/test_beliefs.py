"""What belief probes ask for, against the state as it follows from the texts that they were shown."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import waybench
from waybench.core import Episode, EpisodeRecord, Item, policy

PLAYERS = ("oracle", "noisy-0.3", "random")


def probed(env: Any, item: Item[Any], player: str, **options: Any) -> EpisodeRecord:
    """Return the record of at most 60 turns, with a right answer to each question before each turn."""
    who = policy(player)
    episode: Episode[Any, Any, Any] = Episode(env, item, options, player=player)
    while not episode.done and len(episode.turns) < 60:
        for belief in episode.beliefs:
            assert episode.probe(belief, belief.render(belief.expected(episode.state))).correct
        episode.step(who.reply(episode))
    return episode.record()


def expected(record: EpisodeRecord, name: str) -> list[Any]:
    """Return the right answers before each turn, which has to be asked for."""
    found = [probe.expected for probe in record.probes if probe.name == name]
    assert [probe.turn for probe in record.probes if probe.name == name] == list(range(len(record.turns)))
    return found


def shown(record: EpisodeRecord) -> list[str]:
    """Return what the player was shown last before each turn."""
    return [record.opening[-1].text, *(turn.message for turn in record.turns[:-1])]


def range_left(record: EpisodeRecord) -> list[Any]:
    low, high = map(int, re.findall(r"between (\d+) and (\d+)", record.opening[0].text)[-1])
    found: list[Any] = []
    for message in shown(record):
        if match := re.search(r"is (bigger|smaller) than (\d+)", message):
            guess = int(match[2])
            low, high = (max(low, guess + 1), high) if match[1] == "bigger" else (low, min(high, guess - 1))
        found.append([low, high])
    return found


def visits(record: EpisodeRecord) -> list[tuple[int, list[int]]]:
    """Return the present node before each turn, and the nodes that the last message with any names as adjacent."""
    at, found = 0, list[tuple[int, list[int]]]()
    for number, message in enumerate(shown(record)):
        listed = re.search(r"Adjacent (?:nodes|caves): ([\d, ]+)\.", message)
        if number and listed:
            at = record.turns[number - 1].action
        found.append((at, [int(node) for node in listed[1].split(", ")] if listed else found[-1][1]))
    return found


def atlas_places(record: EpisodeRecord) -> list[Any]:
    return [re.findall(r"^(\w+)\. Exits:", message, re.MULTILINE)[-1] for message in shown(record)]


def ways_back(record: EpisodeRecord) -> list[Any]:
    """Return the moves back to the start by the listed passages, found by trying more and more moves."""
    ways: dict[str, set[str]] = {}
    for place, other, one_way in re.findall(r"^(\w+): \w+ to (\w+)( \(one-way\))?$", shown(record)[0], re.MULTILINE):
        ways.setdefault(place, set()).add(other)
        if not one_way:
            ways.setdefault(other, set()).add(place)
    start, found = atlas_places(record)[0], list[Any]()
    for place in atlas_places(record):
        reached, moves = {place}, 0
        while start not in reached:
            reached, moves = reached.union(*(ways[one] for one in reached if one in ways)), moves + 1
        found.append(moves)
    return found


def first_exits(record: EpisodeRecord) -> list[Any]:
    listed = re.findall(r"Exits: (.+)\.", shown(record)[0])[-1].split(", ")
    return [listed] * len(record.turns)


def stack(record: EpisodeRecord) -> list[Any]:
    ways: dict[int, list[int]] = {0: [0]}
    found: list[Any] = []
    before = 0
    for at, _ in visits(record):
        if at not in ways:
            ways[at] = [*ways[before], at]
        found.append(ways[at])
        before = at
    return found


def queue(record: EpisodeRecord) -> list[Any]:
    visited: set[int] = set()
    named: list[int] = []
    found: list[Any] = []
    for at, adjacent in visits(record):
        visited.add(at)
        named += [node for node in adjacent if node not in named]
        found.append([node for node in named if node not in visited])
    return found


def rods(record: EpisodeRecord) -> list[Any]:
    found: list[Any] = []
    for message in (record.opening[-1].text, *(turn.message for turn in record.turns[:-1])):
        drawn = re.findall(r"- [ABC]: \|bottom, (\[[\d, ]*\]), top\|", message)[-3:]
        # The question for the action, after the thought, shows no rods again.
        found.append([json.loads(rod) for rod in drawn] if drawn else found[-1])
    return found


def cell(record: EpisodeRecord) -> list[Any]:
    start = re.findall(r"located at position \[(\d+),(\d+)\]|I am at \[(\d+),(\d+)\]", record.opening[-1].text)[-1]
    at = [int(part) for part in start if part]
    found: list[Any] = []
    for number, message in enumerate(shown(record)):
        if number and (places := re.findall(r"(?:now at position|I am at) \[(\d+),(\d+)\]", message)):
            at = [int(part) for part in places[-1]]
        found.append(at)
    return found


def seen(record: EpisodeRecord) -> list[Any]:
    """Return the maps that the drawings in the messages add up to."""
    size, window = record.item["level"], record.options["window"]
    cells: dict[tuple[int, int], str] = {}
    found: list[Any] = []
    for message, (x, y) in zip(shown(record), cell(record), strict=True):
        drawing = message.rpartition("The view:\n")[2].split("\n")
        assert len(drawing) == window
        for row, line in enumerate(drawing, start=y - window // 2):
            for column, sign in enumerate(line, start=x - window // 2):
                cells[column, row] = "." if sign == "X" else sign
        rows = [[cells.get((column, row), "?") for column in range(size)] for row in range(size)]
        rows[y][x] = "X"
        found.append(["".join(row) for row in rows])
    return found


def place(record: EpisodeRecord) -> list[Any]:
    return [
        [int(part) for part in re.findall(r"The agent is at \((\d+), (\d+)\)", message)[-1]]
        for message in shown(record)
    ]


def target(record: EpisodeRecord) -> list[Any]:
    paper = r"The target is \[.+?, (\d+), (\d+)\]"
    sound = r"The target is the tile .+? at \((\d+), (\d+)\)"
    return [
        [int(part) for part in re.findall(paper if record.options["protocol"] == "paper" else sound, message)[-1]]
        for message in shown(record)
    ]


Derive = Callable[[EpisodeRecord], list[Any]]
SEARCHES: Mapping[str, Mapping[str, Derive]] = {
    "search/guessnum": {"range": range_left},
    "search/coin": {"range": range_left},
    "search/dfs": {"stack": stack},
    "search/cavedfs": {"stack": stack},
    "search/bfs": {"queue": queue},
    "search/cavebfs": {"queue": queue},
}
CASES: list[tuple[str, Mapping[str, Any], Mapping[str, Derive]]] = [
    *((env, {"protocol": protocol}, which) for env, which in SEARCHES.items() for protocol in ("paper", "sound")),
    ("search/dfs", {"wording": "image"}, {"stack": stack}),
    ("hanoi/rods", {}, {"rods": rods}),
    ("hanoi/rods", {"protocol": "sound", "wording": "chat"}, {"rods": rods}),
    ("maze/alicia", {"requests": 5}, {"position": cell}),
    ("maze/alicia", {"requests": 5, "wording": "coordinates"}, {"position": cell}),
    ("atlas/world", {}, {"place": atlas_places, "exits": first_exits, "way_back": ways_back}),
    ("maze/explore", {}, {"position": cell, "map": seen}),
    ("maze/explore", {"window": 3}, {"position": cell, "map": seen}),
    ("maze/explore", {"memory": "window"}, {"position": cell}),
    *(
        ("tilemap/gtb", {"protocol": protocol}, {"position": place, "target": target})
        for protocol in ("paper", "sound")
    ),
    ("tilemap/stepwise", {}, {"position": place, "target": target}),
]


@pytest.mark.parametrize(("name", "options", "beliefs"), CASES, ids=lambda value: value if type(value) is str else "")
def test_right_answers_follow_from_what_was_shown(
    name: str, options: Mapping[str, Any], beliefs: Mapping[str, Derive]
) -> None:
    env, different = waybench.load(name), 0
    for level in env.items.sample_levels[:2]:
        for item in env.source("beliefs", level).head(3):
            for player in PLAYERS:
                record = probed(env, item, player, **options)
                if "image" in str(options.get("wording")):  # the picture has what the text leaves out
                    texts = probed(env, item, player)
                    assert [turn.action for turn in texts.turns] == [turn.action for turn in record.turns]
                    derived = {belief: derive(texts) for belief, derive in beliefs.items()}
                else:
                    derived = {belief: derive(record) for belief, derive in beliefs.items()}
                assert {probe.name for probe in record.probes} == set(beliefs)
                for belief, answers in derived.items():
                    assert expected(record, belief) == answers, (level, item.id, player, belief)
                    different += len({json.dumps(answer) for answer in answers})
    assert different > 20  # the state moved


def test_environments_whose_state_is_not_asked_for() -> None:
    from waybench.envs import registry

    asked = {entry.id for entry in registry.built_in if registry.load(entry.id).probes}
    assert asked == {name for name, _, _ in CASES} | {"tilemap/state"}
