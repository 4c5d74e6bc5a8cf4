"""Graphs as lists of edges: difficulty does not depend on the length, and tokens are counted."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any, cast

import networkx as nx
import pytest

import waybench
from tests.conftest import ROOT, missing
from tests.drawings import dots, drawer, inside, texts
from waybench.core import DataError, Episode, Reply, UsageError
from waybench.envs.graph import PATHS
from waybench.envs.graph._game import GraphQuestion

LEVELS = (1, 2, 8, 32)


def text_of(item: Any) -> str:
    (message,) = Episode(PATHS, item).record().opening
    return message.text


def read(item: Any) -> tuple[Any, int, int]:
    """Return the graph that the prompt's text has, and the two nodes that its question names."""
    text = text_of(item)
    edges = [tuple(map(int, line)) for line in re.findall(r"^(\d{6}) (\d{6})$", text, re.MULTILINE)]
    graph = cast(Any, nx.Graph())
    graph.add_edges_from(edges)
    assert graph.number_of_edges() == len(edges), "an edge stands there once"
    ends = re.search(r"from node (\d+) to node (\d+)", text)
    assert ends is not None
    return graph, int(ends[1]), int(ends[2])


def played(item: Any, reply: str) -> Any:
    episode = Episode(PATHS, item)
    episode.step(Reply(reply))
    return episode.record()


@pytest.mark.slow
@pytest.mark.parametrize("distance", [2, 4, 7])
def test_a_longer_list_changes_nothing_about_the_part_that_matters(distance: int) -> None:
    for index in range(3):
        parts: list[Any] = []
        for level in LEVELS:
            graph, start, goal = read(PATHS.source(level=level, distance=distance).item(index))
            paths = list(nx.all_simple_paths(graph, start, goal))
            assert sorted(map(len, paths)) == [distance + 1, distance + 3]
            part = graph.subgraph(nx.node_connected_component(graph, start))
            assert {degree for node, degree in part.degree() if node in {*paths[0], *paths[1]}} == {3}
            parts.append((start, goal, sorted(tuple(sorted(edge)) for edge in part.edges)))
            others = [graph.subgraph(each) for each in nx.connected_components(graph)]
            assert all(nx.is_isomorphic(part, other) for other in others[:20]), "no component stands out"
            assert {len(other) for other in others} == {len(part)}
        assert parts == parts[:1] * len(LEVELS)


def test_reachability_is_true_for_half_of_the_items_and_nothing_tells_which() -> None:
    source = PATHS.source(level=1, question="reachable")
    found: list[bool] = []
    for item in source.head(400):
        instance = item.instance
        found.append(instance.reachable)
        if item.index < 40:
            graph, start, goal = read(item)
            assert nx.has_path(graph, start, goal) is instance.reachable
            assert graph.degree(start) == graph.degree(goal) == 3
    assert 160 <= sum(found) <= 240


@pytest.mark.parametrize("level", [1, 2, 16, 300])
def test_the_level_is_the_most_tokens_and_no_component_more_would_fit(level: int) -> None:
    item = PATHS.source(level=level).item(0)
    tokens = -(-len(text_of(item)) // 4)
    assert item.instance.tokens == tokens
    assert 1000 * level - 30 * len("123456 123456\n") / 4 < tokens <= 1000 * level


def test_a_tokenizer_of_ones_choice_counts_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    import tiktoken

    encodings: dict[str, Any] = {}
    # A tokenizer of tiktoken's that needs no file from elsewhere: each byte of a digit is a token, as all others are.
    encodings["digits"] = tiktoken.Encoding(
        "digits",
        pat_str=r"\d|[^\d]",
        mergeable_ranks={bytes([byte]): byte for byte in range(256)},
        special_tokens={},
    )
    monkeypatch.setattr(tiktoken, "get_encoding", encodings.__getitem__)
    for level in (4, 40):
        item = PATHS.source(level=level, tokenizer="tiktoken/digits").item(1)
        counted = len(text_of(item).encode())
        assert (item.instance.tokens, item.instance.tokenizer) == (counted, "tiktoken/digits")
        assert 1000 * level - 2 * 30 * 14 < counted <= 1000 * level
    with pytest.raises(UsageError, match="give characters, tiktoken/ENCODING, or the path"):
        PATHS.source(level=4, tokenizer="missing.json")
    with pytest.raises(UsageError, match="too few tokens"):
        PATHS.source(level=1, tokenizer="tiktoken/digits", distance=10).item(0)


def test_a_vocabulary_that_cannot_be_fetched_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # nobody listens at this port
    with pytest.raises(
        UsageError, match=r"^tokenizer='tiktoken/p50k_base': tiktoken cannot fetch its vocabulary"
    ) as it:
        PATHS.source(level=4, tokenizer="tiktoken/p50k_base")
    assert "copy tiktoken's cache ($TIKTOKEN_CACHE_DIR) to this machine" in str(it.value)
    assert "\n" not in str(it.value)


_BY_FILE = """
import json, sys
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
import waybench
from waybench.core import Episode

own = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
own.pre_tokenizer = pre_tokenizers.Split(Regex(r"\\d{1,3}|\\D"), "isolated")
own.save(sys.argv[1])
environment = waybench.load("graph/paths")
item = environment.source(level=4, tokenizer=sys.argv[1]).item(1)
(message,) = Episode(environment, item).record().opening
print(json.dumps([item.instance.to_json(), message.text]))
"""


@pytest.mark.slow
def test_a_tokenizer_json_counts_exactly(tmp_path: Path) -> None:
    python = ROOT / ".venv-train" / "bin" / "python"
    if not python.is_file():
        missing(".venv-train is not there: run `make faces`")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    path = tmp_path / "tokenizer.json"
    done = subprocess.run([python, "-c", _BY_FILE, path], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    instance, text = json.loads(done.stdout)
    counted = len(re.findall(r"\d{1,3}|\D", text))  # groups of three digits, as models read numbers
    assert instance["tokens"] == counted and 3_800 < counted <= 4_000
    assert re.fullmatch(r"tokenizer\.json#[0-9a-f]{8}", instance["tokenizer"])
    assert str(tmp_path) not in done.stdout


def test_a_million_tokens() -> None:
    item = PATHS.source(level=1024).item(0)
    episode = Episode(PATHS, item)
    assert len(episode.record().opening[0].text) > 4_095_000
    assert len(json.dumps(item.instance.to_json())) < 300, "a record does not hold the edges twice"
    assert waybench.play("graph/paths", "oracle", level=256, index=2).metrics["success"] == 1


def test_how_answers_are_judged() -> None:
    item = PATHS.source(level=2).item(3)
    graph, start, goal = read(item)
    short, long = sorted(nx.all_simple_paths(graph, start, goal), key=len)
    (other,) = set(graph[start]) - {short[1], long[1]}
    for path, success, is_path, invented, excess, kind in [
        (short, 1, 1, 0, 0, None),
        (long, 0, 1, 0, 2, "longer"),
        ([start, other, *short], 0, 1, 0, 2, "longer"),
        ([start, goal], 0, 0, 1, None, "invented"),
        (short[:-1], 0, 0, 0, None, "other_ends"),
        (short[::-1], 0, 0, 0, None, "other_ends"),
        ([start], 0, 0, 0, None, "other_ends"),
        ([], 0, 0, 0, None, "other_ends"),
        ([start, 7, goal], 0, 0, 2, None, "invented"),
    ]:
        record = played(item, f'I think so: {{"path": {json.dumps(path)}}}')
        values = {metric.name: metric.of(record) for metric in PATHS.scoring.metrics}
        assert values == {
            "success": success,
            "is_path": is_path,
            "invented": invented,
            "excess": excess,
            "unparsed": 0,
        }, path
        failure = PATHS.scoring.failure_of(record)
        assert (failure and failure.name) == kind


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "no JSON object"),
        ('{"path": "a"}', "not a list of nodes"),
        ('{"path": [1, 2.0]}', "2.0, which is no node"),
        ('{"path": [true]}', "which is no node"),
        ('{"path": [99999999999999999999]}', "which is no node"),
        ('{"path": [1], "path": [2]}', "twice"),
        (json.dumps({"path": [1] * 10_001}), "at most 10,000 are read"),
        ('{"path": ' + "[" * 5000 + "]" * 5000 + "}", "brackets within each other"),
    ],
)
def test_replies_that_are_no_path(reply: str, reason: str) -> None:
    (turn,) = played(PATHS.source(level=1).item(0), reply).turns
    assert turn.outcome == "unparsed"
    assert reason in str(turn.reason)


def test_instances_from_outside() -> None:
    good: Any = PATHS.source(level=1).item(0).instance.to_json()
    assert PATHS.item(good).instance == GraphQuestion(**good)
    for wrong in [
        {"tokens": good["tokens"] + 1},
        {"components": good["components"] + 1},
        {"components": 10**9},
        {"components": True},
        {"distance": 1},
        {"seed": "x" * 32},
        {"question": "cycle"},
        {"reachable": False},
        {"tokenizer": 3},
        {"more": 1},
    ]:
        with pytest.raises(DataError, match="graph: "):
            PATHS.item({**good, **wrong})


def test_noise_spoils_paths_and_the_random_walk_seldom_succeeds() -> None:
    rates = {
        player: sum(
            waybench.play("graph/paths", player, level=1, index=index).metrics["success"] or 0 for index in range(60)
        )
        for player in ("oracle", "heuristic", "random", "noisy-0.5")
    }
    assert rates["oracle"] == 60
    assert 15 <= rates["heuristic"] <= 45
    assert rates["random"] <= 6
    assert 1 <= rates["noisy-0.5"] <= 40


def test_the_drawing_has_the_path_of_the_answer_and_edges_that_do_not_exist() -> None:
    item = PATHS.source(level=1, question="path").item(0)
    start, second, *_, goal = item.instance.shortest_path
    draw = drawer("graph/paths")
    for path, steps, invented in (((start, second), 1, 0), ((start, goal), 0, 1), ((start, 1), 0, 0)):
        episode = Episode(PATHS, item)
        episode.step(f'{{"path": [{path[0]}, {path[1]}]}}')
        svg = draw(item.instance, episode.turns)
        assert (len(dots(svg, "textmap-way")), len(dots(svg, "textmap-wrong"))) == (steps, invented)
        assert {str(start), str(goal)} <= set(texts(svg, "textmap-name"))
        assert inside(svg)
