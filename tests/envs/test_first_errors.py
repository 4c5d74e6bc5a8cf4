"""First errors of failed episodes, against searches of all states that are written here once more."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import pytest

import waybench
from waybench.core import End, Episode, EpisodeRecord, play_to_end, policy
from waybench.core._metrics import FirstError

DELTAS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
MAZES = waybench.load("maze/alicia")


def distances(goal: Hashable, around: Callable[[Any], Iterable[Any]]) -> dict[Any, int]:
    """Return the steps from each state to a goal, where each step can be taken back."""
    far, todo = {goal: 0}, deque([goal])
    while todo:
        state = todo.popleft()
        for other in around(state):
            if other not in far:
                far[other] = far[state] + 1
                todo.append(other)
    return far


def cells_of(record: EpisodeRecord) -> tuple[dict[tuple[int, int], Any], tuple[int, int], tuple[int, int]]:
    rows = record.instance["maze"]
    cells = {(x, y): sign for y, row in enumerate(rows) for x, sign in enumerate(row) if sign != 0}
    start = next(place for place, sign in cells.items() if sign == "X")
    edge = {0, len(rows) - 1}
    (goal,) = [place for place in cells if place != start and edge & set(place)]
    return cells, start, goal


def walked(record: EpisodeRecord) -> tuple[int, bool] | None:
    """Return the number of the first step that is not on a shortest path, and whether it hits a wall."""
    cells, at, goal = cells_of(record)
    far = distances(goal, lambda p: [q for dx, dy in DELTAS.values() if (q := (p[0] + dx, p[1] + dy)) in cells])
    number = 0
    for turn in record.turns:
        for direction, count in turn.action:
            for _ in range(count):
                if at == goal:
                    return None
                number += 1
                following = at[0] + DELTAS[direction][0], at[1] + DELTAS[direction][1]
                if following not in cells:
                    return number, True
                if far[following] >= far[at]:
                    return number, False
                at = following
    return (number + 1, False) if at != goal else None


@pytest.mark.parametrize("loops", [0, 0.2])
def test_mazes(loops: float) -> None:
    failed = 0
    for item in MAZES.source("first errors", 11, loops=loops).head(40):
        for rate in (0.1, 0.4):
            record = play_to_end(MAZES, item, policy(f"noisy-{rate}"), {"requests": 1}).record()
            found = MAZES.scoring.first_error_of(record)
            if record.end is End.SOLVED:
                assert found is None
                continue
            failed += 1
            expected = walked(record)
            assert found is not None and expected is not None
            assert (found.step, found.turn) == (expected[0], 0)
            assert (found.kind.name in ("wall", "count")) == expected[1]
    assert failed > 30


# # # # # # #     A corridor to the right, a junction below its end: the shortest path turns down in column 3.
MAZE = ["0000000", "X111110", "0001000", "0001110", "0001000", "0001000", "0001000"]


@pytest.mark.parametrize(
    ("plan", "step", "kind"),
    [
        ([["right", 3], ["down", 4]], 8, "stopped"),
        ([["right", 4], ["down", 5]], 4, "junction"),
        ([["right", 3], ["down", 2], ["right", 2], ["down", 1]], 6, "junction"),
        ([["right", 2], ["down", 5]], 3, "count"),
        ([["right", 3], ["down", 1], ["left", 1]], 5, "wall"),
        ([["right", 1], ["left", 1], ["right", 3]], 2, "revisit"),
        ([["up", 1]], 1, "wall"),
    ],
)
def test_kinds_of_errors_in_mazes(plan: list[list[Any]], step: int, kind: str) -> None:
    record = record_of(MAZES, {"maze": MAZE}, [{"direction": d, "cells": n} for d, n in plan])
    found = MAZES.scoring.first_error_of(record)
    assert found is not None and (found.step, found.kind.name) == (step, kind)


def record_of(env: Any, instance: Any, plan: Any) -> EpisodeRecord:
    from waybench.core import Item

    decoded = env.items.decode(instance)
    item = Item(
        id="1", level=env.items.level_of(decoded), key="test", index=0, instance=decoded, proof=env.items.prove(decoded)
    )
    episode: Episode[Any, Any, Any] = Episode(env, item, {"requests": 1})
    wording, state = episode.play.wording, episode.state
    action = episode.play.game.decode([[each["direction"], each["cells"]] for each in plan])
    episode.step(wording.render(action, state))
    return episode.record()


def test_hanoi() -> None:
    env = waybench.load("hanoi/rods")
    failed = 0
    for item in env.source("first errors", 4).head(15):
        for player in ("noisy-0.2", "random", "heuristic"):
            record = play_to_end(env, item, policy(player), {"protocol": "sound", "steps": 40}).record()
            found = env.scoring.first_error_of(record)
            if record.end is End.SOLVED:
                assert found is None
                continue
            failed += 1
            assert found is not None and found.step == disks(record), player
    assert failed > 10


def disks(record: EpisodeRecord) -> int:
    """Return the number of the first move that a search of all positions does not call a shortest way's."""
    start, goal = (tuple(record.instance[name]) for name in ("start", "goal"))

    def move(rods: tuple[int, ...], source: int, target: int) -> tuple[int, ...] | None:
        disk = next((number for number, rod in enumerate(rods) if rod == source), None)
        if disk is None or target in rods[:disk]:
            return None
        return (*rods[:disk], target, *rods[disk + 1 :])

    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    far = distances(goal, lambda rods: [after for pair in pairs if (after := move(rods, *pair))])
    at, number = start, 0
    for turn in record.turns:
        if "score" not in turn.events:
            continue
        number += 1
        following = move(at, *pairs[int(turn.action[0])]) if turn.action is not None else None
        if following is None or far[following] >= far[at]:
            return number
        at = following
    raise AssertionError("it failed without an error")


def test_numbers() -> None:
    env = waybench.load("search/guessnum")
    seen: set[str] = set()
    for item in env.source("first errors", 5).head(30):
        for player in ("noisy-0.6", "random"):
            record = play_to_end(env, item, policy(player), {"protocol": "sound", "max_steps": 6}).record()
            found = env.scoring.first_error_of(record)
            if record.end is End.SOLVED:
                assert found is None
                continue
            possible = range(record.instance["min"], record.instance["max"] + 1)
            for number, turn in enumerate(record.turns, start=1):
                guess = turn.action
                below = [each for each in possible if each < guess]
                above = [each for each in possible if each > guess]
                if guess not in possible or abs(len(below) - len(above)) > 1:
                    assert found is not None
                    assert (found.step, found.turn) == (number, number - 1)
                    assert found.kind.name == ("uneven" if guess in possible else "forgot")
                    seen.add(found.kind.name)
                    break
                possible = (
                    range(below[0], guess) if record.instance["target"] < guess else range(guess + 1, above[-1] + 1)
                )
    assert seen == {"uneven", "forgot"}


@pytest.mark.parametrize(
    ("env_id", "kinds"), [("search/dfs", {"turned_back", "way_back"}), ("search/bfs", {"level", "revisit"})]
)
def test_walks(env_id: str, kinds: set[str]) -> None:
    env = waybench.load(env_id)
    seen: set[str] = set()
    for item in env.source("first errors", 8).head(40):
        for player in ("random", "heuristic"):
            record = play_to_end(env, item, policy(player), {"protocol": "sound"}).record()
            found = env.scoring.first_error_of(record)
            if record.end is End.SOLVED:
                assert found is None
                continue
            assert found is not None
            assert found.step == (depth if env_id == "search/dfs" else breadth)(record)
            seen.add(found.kind.name)
    assert seen == kinds


def graph(record: EpisodeRecord) -> Mapping[int, set[int]]:
    ways: dict[int, set[int]] = {node: set() for node in record.instance["nodes"]}
    for u, v in record.instance["edges"]:
        ways[u].add(v)
        ways[v].add(u)
    return ways


def depth(record: EpisodeRecord) -> int:
    ways, stack, visited = graph(record), [0], {0}
    for number, turn in enumerate(record.turns, start=1):
        new = ways[stack[-1]] - visited
        if turn.action not in (new or set(stack[-2:-1])):
            return number
        if new:
            stack.append(turn.action)
        else:
            stack.pop()
        visited.add(turn.action)
    raise AssertionError("it failed without an error")


def breadth(record: EpisodeRecord) -> int:
    ways, visited = graph(record), {0}
    far = distances(0, ways.__getitem__)
    for number, turn in enumerate(record.turns, start=1):
        least = min(far[node] for node in ways if node not in visited)
        if turn.action in visited or far[turn.action] > least:
            return number
        visited.add(turn.action)
    raise AssertionError("it failed without an error")


def test_routes() -> None:
    env = waybench.load("textmap/route")
    failed = 0
    for item in env.source("first errors", 3).head(40):
        for player in ("noisy-0.3", "random"):
            record = play_to_end(env, item, policy(player), {"protocol": "sound"}).record()
            found = env.scoring.first_error_of(record)
            if record.end is End.SOLVED:
                assert found is None
                continue
            failed += 1
            assert found is not None and (found.step, found.kind.name) == route(item, record)
    assert failed > 20


def route(item: Any, record: EpisodeRecord) -> tuple[int, str]:
    """Return the first move off the shortest routes; moves have one way only, so all routes are tried."""
    question = item.instance
    ways = {(edge.source, edge.action.lower()): edge.target for edge in question.map.edges}
    back: dict[str, set[str]] = {}
    for (source, _), target in ways.items():
        back.setdefault(target, set()).add(source)
    far = distances(question.target, lambda place: back.get(place, ()))
    at = question.source
    hops = record.turns[-1].action
    for number, (_, action, _) in enumerate(hops, start=1):
        following = ways.get((at, action.lower()))
        if following is None:
            return number, "no_move"
        if far.get(following, 999) >= far[at]:
            return number, "direction"
        at = following
    return len(hops) + 1, "stopped"


@pytest.mark.parametrize("env_id", ["tilemap/gtb", "tilemap/stepwise"])
def test_tile_maps(env_id: str) -> None:
    env = waybench.load(env_id)
    failed = 0
    for item in env.source().head(12):
        for player in ("noisy-0.1", "random", "heuristic"):
            record = play_to_end(env, item, policy(player), {"protocol": "sound"}).record()
            found = env.scoring.first_error_of(record)
            if record.end is End.SOLVED:
                assert found is None
                continue
            failed += 1
            assert found is not None and (found.step, found.kind.name) == tour(record)
    assert failed > 15


def tour(record: EpisodeRecord) -> tuple[int, str]:
    """Return the first move off a shortest tour of the objectives."""
    case, number = record.instance, 0
    deltas = {f"move_{name}": delta for name, delta in DELTAS.items()}
    signs = {*case["walkable_tiles"], "@"}
    cells = {
        (x, y): sign
        for y, line in enumerate(case["environment"].split("\n"))
        for x, sign in enumerate(line)
        if sign in signs
    }
    at = next(place for place, sign in cells.items() if sign == "@")
    for turn in record.turns:
        _, (_, row, column) = case["objectives"][turn.events["goal"]]
        goal = column, row
        far = distances(goal, lambda p: [q for dx, dy in DELTAS.values() if (q := (p[0] + dx, p[1] + dy)) in cells])
        for name in turn.action:
            number += 1
            following = at[0] + deltas[name][0], at[1] + deltas[name][1]
            if following not in far:
                return number, "blocked"
            if far[following] >= far[at]:
                return number, "direction" if far[at] else "passed"
            at = following
        if turn.events["final"] and at != goal:
            return number + 1, "stopped"
    raise AssertionError("it failed without an error")


def test_a_reply_that_cannot_be_read_is_the_first_error_where_it_is_not_forgiven() -> None:
    item = MAZES.source().item(0)
    episode: Episode[Any, Any, Any] = Episode(MAZES, item, {"requests": 1})
    episode.step("I do not know.")
    assert MAZES.scoring.first_error_of(episode.record()) == FirstError(1, 0, MAZES.scoring.first_errors.all_kinds[-1])  # type: ignore[union-attr]
    assert MAZES.scoring.first_errors is not None and MAZES.scoring.first_errors.all_kinds[-1].name == "unparsed"
    # In a search it is forgiven, and no step.
    search = waybench.load("search/guessnum")
    forgiven: Episode[Any, Any, Any] = Episode(search, search.source("first errors", 5).item(0), {"max_steps": 1})
    low = forgiven.record().instance["min"]
    forgiven.step("I do not know.")
    assert not forgiven.done
    forgiven.step(str(low))
    found = search.scoring.first_error_of(forgiven.record())
    assert found is not None and (found.step, found.turn, found.kind.name) == (1, 1, "uneven")
