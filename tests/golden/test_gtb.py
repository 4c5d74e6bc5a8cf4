"""Every published result of GameTraversalBenchmark that is at hand, replayed (shared/specs/gtb.md, section 10)."""

import ast
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import waybench
from tests.conftest import shared
from waybench._scoring import score_line
from waybench.core import Episode, EpisodeRecord, Item, Reply, play_to_end, policy, replay
from waybench.envs.tilemap._board import Style, board_of_map
from waybench.envs.tilemap._instance import tile_list, tour_leg_lengths
from waybench.envs.tilemap._protocols import PROTOCOLS, published_worth

Compared = Callable[[str, str, int], None]
Episodes = Episode[Any, Any, Any]

MAPS = waybench.load("tilemap/gtb")
OF = {metric.name: metric.of for metric in MAPS.scoring.metrics}
LETTERS = {
    **{"U": "move_up", "D": "move_down", "L": "move_left", "R": "move_right"},
    **{"P": "pick_object", "H": "hit_enemy", "?": "jump"},
}
# What a recorded map has under which of our names.
RECORDED = {
    **{"score": "score", "reward": "reward", "path_len": "path_length", "actions": "actions"},
    **{"gen": "generation_errors", "wrong": "wrong_actions", "top0": "top0", "top1": "top1", "top5": "top5"},
}
# The short names of the aggregate file that differ from those of the agents' files.
SHORT = {"generr10_first": "generr10_first_objective_only", "short": "stop", "wrong": "invalid_action_mid"}
SHORT |= {"off": "end_exactly", "bumper": "wall_bumper", "bumper_strict": "wall_bumper_strict"}
SHORT |= {"pick": "agent_pick_and_hit_then_oracle", "abort": "action_none_on_objective2_abort"}


def golden(*name: str) -> Path:
    return shared("WAYBENCH_GOLDEN", "golden", "gtb", *name)


def load(name: str) -> Any:
    return json.loads(golden(name).read_text(encoding="utf-8"))


def agent_files() -> list[str]:
    try:
        return sorted(path.name for path in golden().glob("agent_*.json"))
    except BaseException:  # the folder is missing: the test itself then skips or fails, and says why
        return ["agent_oracle.json"]


@cache
def items() -> dict[str, Item[Any]]:
    """Return the published maps by their names, in their order."""
    path = shared("WAYBENCH_DATA", "data", "gtb", "traversal_benchmark.json")
    made = [MAPS.item(record) for record in json.loads(path.read_text(encoding="utf-8"))]
    return {item.instance.id: item for item in made}


def reply(letters: str, agent: str) -> str:
    """Return a reply that the recorded agent may have given."""
    if letters == "!":
        return "{'action': None}" if agent.startswith("action_none") else "I cannot answer."
    return repr({"action": [LETTERS[letter] for letter in letters]})


def played(item: Item[Any], replies: list[str]) -> Episodes:
    episode: Episodes = Episode(MAPS, item)
    for text in replies:
        episode.step(text)
    assert episode.done
    back = EpisodeRecord.from_json(json.loads(episode.record().dumps()))
    replay(MAPS, back)
    return episode


def ends(record: EpisodeRecord) -> list[list[int]]:
    return [list(turn.events["at"]) for turn in record.turns if "at" in turn.events]


@pytest.mark.parametrize("name", agent_files())
def test_an_agent_on_every_map(name: str, compared: Compared) -> None:
    data = load(name)
    records: dict[str, EpisodeRecord] = {}
    for found in data["maps"]:
        record = played(items()[found["id"]], [reply(acts, data["agent"]) for acts in found["acts"]]).record()
        records[found["id"]] = record
        got = {theirs: OF[ours](record) for theirs, ours in RECORDED.items()}
        assert got == {key: pytest.approx(found[key], rel=0, abs=1e-9) for key in RECORDED}, found["id"]
        assert len(record.turns) == found["calls"]
        assert ends(record) == found["ends"]
        assert any("crashed" in turn.events for turn in record.turns) == found["aborted"]
    # The published program left the first two maps out of its means. Those of a file without some maps are not known.
    for which, ids in (("all151", [*items()]), ("ref149", [*items()][2:])):
        if which in data["aggregate"] and records.keys() >= set(ids):
            _check_aggregate([records[each] for each in ids], data["aggregate"][which])
            compared("gtb", "means of agents", 1)
    compared("gtb", "maps of agents", len(records))


def _check_aggregate(records: list[EpisodeRecord], expected: dict[str, float]) -> None:
    def mean(name: str) -> float:
        return fmean(OF[name](record) or 0.0 for record in records)

    goals = sum(int(OF["objectives"](record) or 0) for record in records)
    [rmse] = MAPS.scoring.aggregates
    logs = [OF["length_log_cosh"](record) or 0.0 for record in records]
    counts = {f"top{k}_n": sum(int(OF[f"top{k}"](record) or 0) for record in records) for k in (0, 1, 5)}
    possible = fmean(200 * (OF["objectives"](record) or 0) - record.instance["path_length"] for record in records)
    got = {
        **{"GTB_Score": mean("score"), "MGE": mean("generation_errors"), "MPL": mean("path_length")},
        **{"MAT": mean("actions"), "mean_wrong_actions": mean("wrong_actions")},
        **{"mean_agent_rewards": mean("reward"), "mean_total_possible_rewards": possible},
        **{f"Top{k}": 100 * counts[f"top{k}_n"] / goals for k in (0, 1, 5)},
        **{
            "Path_Len_MSE": mean("length_mse"),
            "Path_Len_RMSE": rmse.of([mean("length_mse")]),
            "Path_Len_LogCosh": sum(logs),
        },
        **{"n_objectives": goals, **counts},
    }
    assert got == {key: pytest.approx(expected[key], rel=1e-9, abs=1e-9) for key in got}


def test_the_aggregate_file_says_the_same_as_the_agents_files(compared: Compared) -> None:
    aggregates = load("aggregate.json")
    at_hand = {name.removeprefix("agent_").removesuffix(".json"): name for name in agent_files()}
    seen = 0
    for short, expected in aggregates.items():
        digits = short.rstrip("0123456789")
        long = SHORT.get(short) or SHORT.get(digits, digits) + short[len(digits) :]
        fitting = [
            file for agent, file in at_hand.items() if agent in (short, long) or agent.startswith(f"{long}_steps")
        ]
        for file in fitting:
            assert load(file)["aggregate"]["all151"]["GTB_Score"] == expected["all151"]["GTB_Score"]
            seen += 1
    compared("gtb", "aggregates", seen)


def test_the_embedded_players_have_the_published_aggregates() -> None:
    for player, expected in (("oracle", 95.438), ("stay", 20.938)):
        scores = [OF["score"](play_to_end(MAPS, item, policy(player)).record()) for item in items().values()]
        assert fmean(value or 0.0 for value in scores) == pytest.approx(expected, abs=5e-4)


def test_the_oracle_of_sound_is_perfect_on_every_map_that_has_a_way() -> None:
    options = {"protocol": "sound"}
    perfect = 0
    for item in items().values():
        if len(item.proof["unreachable"]) < len(item.instance.objectives):
            best, silent, lost = (
                OF["score"](play_to_end(MAPS, item, policy(name), options).record())
                for name in ("oracle", "null", "random")
            )
            assert best == 100.0
            assert silent is not None and lost is not None and silent <= lost
            perfect += 1
    assert perfect == 150  # on one map the player is walled in


def test_the_reward_table(compared: Compared) -> None:
    table = load("reward_table.json")
    for rows, columns, reward, *top in table["rows"]:
        worth = published_worth(rows, columns)
        assert (worth.reward, list(worth.top)) == (reward, top), (rows, columns)
    compared("gtb", "rewards", len(table["rows"]))


def small(
    rows: int, columns: int, start: list[int], extra: dict[str, str], walkable: str, targets: int
) -> dict[str, Any]:
    """Return the record of a map of "a", with some other tiles on it."""
    drawn = [["a"] * columns for _ in range(rows)]
    for place, tile in extra.items():
        row, column = map(int, place.split(","))
        drawn[row][column] = tile
    drawn[start[0]][start[1]] = "@"
    goal = ["a", 0, 2] if targets == 2 else ["a", 0, 0]
    return {
        "environment": "\n".join(map("".join, drawn)),
        "tile_mapping": {"Grass": "a"},
        "walkable_tiles": walkable,
        "interactive_object_tiles": "['q']",
        "path_length": 4,
        "objectives": {f"target {number}": goal for number in range(targets)},
    }


def test_every_reply_is_read_as_published(compared: Compared) -> None:
    cases = load("parse_cases.json")
    for case in cases:
        episode: Episodes = Episode(MAPS, MAPS.item(small(8, 8, [0, 0], {}, "['a']", 2)))
        while not episode.done:
            episode.step(case["response"])
        record = episode.record()
        names = {**RECORDED, "gen_err": "generation_errors"}
        got = {key: OF[names[key]](record) for key in case if key in names}
        assert got == {key: case[key] for key in got}, case["response"]
        assert len(record.turns) == case["calls"], case["response"]
        assert any("crashed" in turn.events for turn in record.turns) == case["aborted"], case["response"]
    compared("gtb", "replies", len(cases))


@pytest.mark.parametrize("size", [(5, 8), (8, 5), (6, 6)])
def test_every_movement_is_made_as_published(size: tuple[int, int], compared: Compared) -> None:
    cases = load("movement_cases.json")
    for case in cases:
        item = MAPS.item(small(*size, case["start"], case["extra"], case["walk"], 1))
        record = played(item, [repr({"action": case["acts"]})]).record()
        assert ends(record) == [case["end"]], case["name"]
        assert OF["reward"](record) == case["reward"], case["name"]
        assert (OF["path_length"](record), OF["actions"](record)) == (case["path"], case["nact"]), case["name"]
        assert (OF["generation_errors"](record), OF["wrong_actions"](record)) == (case["gen"], case["wrong"])
    compared("gtb", "movements", len(cases))


def test_shortest_paths(compared: Compared) -> None:
    data = load("paths.json")
    table = data if isinstance(data, list) else data["maps"]
    legs = 0
    for found in table:
        item = items()[found["id"]]
        case = item.instance
        assert (found["H"], found["W"]) == (case.height, case.width)
        listed = tile_list(case.walkable)
        on_map = {sign for row in case.rows for sign in row}
        assert set(found["walkable_list"]) == set(listed) & on_map | (set(found["walkable_list"]) - on_map)
        substring = "".join(sign for sign in sorted(on_map) if sign in case.walkable)
        assert tour_leg_lengths(case, listed) == found["legs_bfs_list"] == item.proof["legs"]
        assert tour_leg_lengths(case, substring) == found["legs_bfs_substring"]
        assert item.proof["minimum"] == found["sum_list"]
        assert case.path_length == found["stored_path_length"]
        assert board_of_map(case, Style(PROTOCOLS["paper"])).ground == found["default_tile"]
        legs += len(found["legs_bfs_list"])
    compared("gtb", "shortest paths", legs)


@pytest.mark.parametrize("name", agent_files()[:1])
def test_stored_replies_score_the_same_on_the_command_line(name: str) -> None:
    data = load(name)
    records = {record["experiment_id"]: record for record in _published()}
    for found in data["maps"][::10]:
        replies: list[Any] = [reply(acts, data["agent"]) for acts in found["acts"]]
        line = {
            "env": "tilemap/gtb",
            "instance": records[found["id"]],
            "replies": replies,
            "options": {"protocol": "paper"},
        }
        scored = score_line(json.dumps(line).encode(), 1)
        assert "error" not in scored
        got = {theirs: scored["metrics"][ours] for theirs, ours in RECORDED.items()}
        assert got == {key: pytest.approx(found[key], rel=0, abs=1e-9) for key in RECORDED}


def _published() -> list[dict[str, Any]]:
    path = shared("WAYBENCH_DATA", "data", "gtb", "traversal_benchmark.json")
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def test_a_literal_is_read_and_never_run() -> None:
    episode: Episodes = Episode(MAPS, MAPS.item(small(8, 8, [0, 0], {}, "['a']", 2)))
    turn = episode.step(Reply("{'action': __import__('os').getcwd()}"))
    assert turn.outcome == "unparsed"
    with pytest.raises(ValueError, match="malformed"):
        ast.literal_eval("__import__('os').getcwd()")
