"""The frames of episodes and scores: what their columns hold, of rows made by hand."""

from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import pytest

from tests.analysis.episodes import failed, item, logged, played, said
from tests.analysis.maps import answered, corridor
from tests.analysis.searches import searched
from waybench.core import FailureKind
from waybench.core._metrics import FirstError
from waybench.envs import registry
from waybench.results import Row, by_level, episode_frame, overall, rows, score_frame
from waybench.results.frames import (
    FRAME_SCHEMA,
    Column,
    Frame,
    column_data,
    column_frame,
    column_json,
    column_schema,
    group_id,
)
from waybench.results.results import Cluster, RunKey
from waybench.results.results._rows import Probed
from waybench.results.stats import IntervalEstimate

MAPS = [corridor("small", 3), corridor("large", 4)]


def group(model: str = "vendor/model", env: str = "maze/alicia", **options: Any) -> RunKey:
    return RunKey(model=model, task="alicia", env=env, version=3, options=tuple(options.items()), key="k1")


def row(of: RunKey, **more: Any) -> Row:
    """Return a row with plain values in what a test does not give."""
    given: dict[str, Any] = {
        **{"level": 5, "item": "501", "instance": "ab" * 32, "cluster": Cluster("ab" * 32), "index": 0, "attempt": 1},
        **{"end": "solved", "error": False, "metrics": {}, "series": {}, "guided": False, "outcomes": {}},
        **{"input_tokens": None, "output_tokens": None, "cached_tokens": None, "reasoning_tokens": None},
        "seconds": None,
    }
    given["succeeded"] = {**given, **more}["end"] == "solved"
    return Row(group=of, **{**given, **more})


def column(frame: Frame, name: str) -> Column[Any]:
    return next(each for each in frame.schema if each.name == name)


def values(frame: Frame, name: str) -> list[Any]:
    return frame.table[name].to_pylist()


def test_what_an_episode_says() -> None:
    played_ = row(
        group(wording="ascii", temperature=0.5),
        level=7,
        item="702",
        index=1,
        cluster=Cluster("hall", "k1", 7),
        attempt=2,
        end="failed",
        outcomes={"ok": 2, "illegal": 3},
        failure="wall",
        first_error=FirstError(7, 2, FailureKind("junction", "wrong turns", "A wrong turn.")),
        probes=(Probed(1, "position", True, True), Probed(2, "position", True, True), Probed(2, "map", True, False)),
        probe_tokens=(300, 9),
        metrics={"score": 62.5, "raw_score": None},
        sizes={"score": 4.0},
        input_tokens=1000,
        output_tokens=60,
        cached_tokens=900,
        reasoning_tokens=40,
        reasoning_returned="text+summary",
        seconds=2.5,
        cost=0.0125,
        setting="Easy",
        log="file:///somebody/secret/run.eval",
        run="r1",
    )
    (found,) = episode_frame([played_]).records()
    expected = {
        **{"model": "vendor/model", "embedded": False, "task": "alicia", "env": "maze/alicia", "env_version": 3},
        **{"headline": "score", "key": "k1", "setting": "Easy", "level": 7, "item": "702", "index": 1},
        **{"instance": "ab" * 32, "cluster": "hall", "cluster_key": "k1", "cluster_level": 7, "attempt": 2},
        **{"run": "r1", "log": "run.eval", "end": "failed", "succeeded": False, "counts": True},
        "infrastructure_error": False,
        **{
            "set_aside": None,
            "not_simulated": None,
            "guided": False,
            "turns": 5,
            "action_turns": 5,
            "outcome.ok": 2,
            "outcome.illegal": 3,
            "failure": "wall",
            "first_error": "junction",
            "first_error_step": 7,
        },
        **{"probes": 3, "probes_correct": 2, "knew_at_first_error": False},
        **{"probe_input_tokens": 300, "probe_output_tokens": 9},
        **{"outcome.unparsed": 0, "outcome.unproductive": 0, "outcome.truncated": 0},
        **{"outcome.overflow": 0, "outcome.refused": 0, "refusals_in_words": 0},
        **{"metric.score": 62.5, "metric.raw_score": None, "input_tokens": 1000, "output_tokens": 60},
        **{"cached_tokens": 900, "reasoning_tokens": 40, "seconds": 2.5, "cost": 0.0125},
        **{"reasoning_returned": "text+summary", "reasoning_sent_back": None},
        **{"option.wording": "ascii", "option.temperature": 0.5},
    }
    assert {name: found[name] for name in expected} == expected
    other_metrics = {f"metric.{metric.name}" for metric in registry.load("maze/alicia").scoring.metrics} - set(expected)
    assert set(found) == set(expected) | other_metrics | {"group"}
    assert all(found[name] is None for name in other_metrics)


def test_what_does_not_count_says_why() -> None:
    found = episode_frame(
        [
            row(group(), exclusion_reason="repeated"),
            row(group(), end="infrastructure_error", error=True),
            row(group(), end="", error=True, log="C:\\logs\\x.eval"),
        ]
    )
    assert values(found, "counts") == [False, False, False]
    assert values(found, "set_aside") == ["repeated", None, None]
    assert values(found, "infrastructure_error") == [False, True, True]
    assert values(found, "end") == ["solved", "infrastructure_error", None]
    assert values(found, "log") == [None, None, "x.eval"]
    assert values(found, "run") == [None, None, None]


def test_shares_have_what_they_are_counted_of() -> None:
    route = group(env="textmap/route")
    found = episode_frame([row(route, metrics={"success": 1.0}, sizes={"success": 2.0}), row(route, metrics={})])
    assert values(found, "metric.success") == [1.0, None]
    assert values(found, "size.success") == [2.0, None]
    assert "size.shared" not in {each.name for each in found.schema}  # which is a mean


def test_several_environments_have_all_metrics_and_each_meaning() -> None:
    found = episode_frame(
        [row(group(), metrics={"score": 100.0}), row(group(env="bandit/arms", arms=3), metrics={"score": 17.0})]
    )
    assert values(found, "metric.score") == [100.0, 17.0]
    assert values(found, "option.arms") == [None, 3]
    assert values(found, "metric.raw_score") == [None, None]
    score = column(found, "metric.score")
    meanings = {each.env: each for each in score.meanings}
    assert set(meanings) == {"maze/alicia", "bandit/arms"}
    for env, meaning in meanings.items():
        metric = registry.load(env).scoring.metrics[0]
        assert (meaning.title, meaning.unit, meaning.doc) == (metric.title, metric.unit, metric.doc)
        assert metric.doc in score.description
    assert score.unit == ""  # a per cent in one of them only
    assert column(found, "metric.raw_score").unit == "%"


@pytest.mark.parametrize(
    ("given", "kind", "shown"),
    [
        ([True, None, False], "bool", [True, None, False]),
        ([1, None, 2**62], "int64", [1, None, 2**62]),
        ([1, 2.5, None], "float64", [1.0, 2.5, None]),
        (["a", None], "string", ["a", None]),
        ([True, 2, "x"], "string", ["true", "2", "x"]),
        ([True, 2], "string", ["true", "2"]),
        ([1, 2**63], "string", ["1", "9223372036854775808"]),
        ([1.0, float("inf")], "string", ["1.0", "Infinity"]),
        ([None, None], "string", [None, None]),
    ],
)
def test_settings_are_of_one_type(given: list[Any], kind: str, shown: list[Any]) -> None:
    found = episode_frame([row(group(temperature=value)) for value in given])
    assert column(found, "option.temperature").kind == kind
    assert values(found, "option.temperature") == shown
    assert [type(value) for value in values(found, "option.temperature")] == [type(value) for value in shown]


def test_declared_options_have_their_declared_type() -> None:
    found = episode_frame([row(group(exit_hint=None, requests=3, loops=0.0, wording="matrix"))])
    kinds = {name: column(found, f"option.{name}").kind for name in ("exit_hint", "requests", "loops", "wording")}
    assert kinds == {"exit_hint": "bool", "requests": "int64", "loops": "float64", "wording": "string"}
    forged = episode_frame([row(group(requests=3)), row(group(requests="many"))])
    assert column(forged, "option.requests").kind == "string"
    assert values(forged, "option.requests") == ["3", "many"]


def test_groups_have_a_name_of_their_own() -> None:
    same, other = group(temperature=0.5), group(temperature=0.7)
    found = episode_frame([row(same), row(group(temperature=0.5)), row(other)])
    first, second, third = values(found, "group")
    assert first == second != third
    assert first == group_id(same)
    assert len(first) == 12
    assert group_id(group(temperature=1)) == group_id(group(temperature=1.0))  # which are one group


def test_every_column_is_described_and_named_once() -> None:
    episodes = [*played("oracle", (5,), mazes=1), *answered("oracle", MAPS)]
    made = rows(episodes)
    frames = [episode_frame(made), score_frame([*by_level(made), *overall(made)])]
    for frame in frames:
        names = [each.name for each in frame.schema]
        assert len(names) == len(set(names))
        assert all(each.doc.endswith(".") for each in frame.schema)
        assert frame.table.column_names == names
    described = column_frame(frames).records()
    assert {(each["frame"], each["column"]) for each in described} == {
        (frame.name, each.name) for frame in frames for each in frame.schema
    }
    assert all(each["description"] and each["type"] in {"string", "int64", "float64", "bool"} for each in described)
    told = [each for each in described if each["frame"] == "episodes"]
    (score,) = [each for each in told if each["column"] == "metric.score"]
    metric = registry.load("maze/alicia").scoring.metrics[0]
    expected = {
        **{"type": "float64", "unit": "%", "env": "maze/alicia", "title": "Score", "low": 0.0, "high": 100.0},
        **{"better": "higher", "values": None, "default": None},
    }
    assert {name: score[name] for name in expected} == expected
    assert metric.doc in score["description"]
    (wording,) = [each for each in told if each["column"] == "option.wording" and each["env"] == "maze/alicia"]
    assert wording["values"] == "matrix, ascii, coordinates, prose, image, image+text"
    assert wording["default"] == '"matrix"'
    (difficulty,) = [each for each in told if each["column"] == "metric.difficulty"]
    assert difficulty["values"] == "0 easy, 1 hard"


def test_scores_are_the_estimates() -> None:
    made = rows([*played("random", (5, 7)), logged(failed(said(["x"], level=9)), model="vendor/broken")])
    estimates = [*by_level(made), *overall(made)]
    found = score_frame(estimates).records()
    for estimate in estimates:
        own = {
            (each["statistic"], each["metric"]): each
            for each in found
            if (each["group"], each["level"]) == (group_id(estimate.group), estimate.level)
        }
        best = own["best", "score"]
        assert best["value"] == (estimate.best.value if estimate.best else None)
        assert (best["items"], best["missing"], best["errors"]) == (estimate.items, estimate.missing, estimate.errors)
        for metric in registry.load("maze/alicia").scoring.metrics:
            mean, score = estimate.metrics.get(metric.name), own["single", metric.name]
            wanted = (mean.value, mean.low, mean.high, mean.n, mean.clusters) if mean else (None,) * 5
            assert tuple(score[name] for name in ("value", "low", "high", "n", "clusters")) == wanted
            assert (score["title"], score["unit"], score["better"]) == (metric.title, metric.unit, metric.better)
        assert own["solved", "solved"]["value"] == (estimate.solved.value if estimate.solved else None)
        assert own["mean", "input_tokens"]["value"] == estimate.input_tokens
        shares = [own["share", f"outcome.{name}"]["value"] for name in estimate.outcomes]
        assert shares == list(estimate.outcomes.values())
    assert {each["level"] for each in found} == {5, 7, 9, None}


def test_scores_of_curves_and_clusters() -> None:
    guided = rows(searched("random", teacher_guided=True))
    (estimate,) = by_level(guided)
    curve = estimate.curves["follows"]
    found = score_frame([estimate]).records()
    steps = [(each["step"], each["value"]) for each in found if each["statistic"] == "step"]
    assert steps == [(number, mean.value) for number, mean in enumerate(curve.steps, start=1)]
    (average,) = [each for each in found if each["statistic"] == "curve"]
    assert (average["metric"], average["value"], average["guided"]) == ("follows", curve.average.value, True)
    assert not [each for each in found if each["statistic"] == "solved"]  # it would be the teacher's merit
    maps = overall(rows(answered("oracle", MAPS)))
    macro = [each for each in score_frame(maps).records() if each["statistic"] == "clusters"]
    assert {each["metric"]: each["value"] for each in macro} == {name: m.value for name, m in maps[0].macro.items()}


def test_no_rows() -> None:
    assert episode_frame([]).records() == []
    assert score_frame([]).records() == []


def test_an_item_of_a_real_episode() -> None:
    (found,) = episode_frame(rows([logged(said(["hm", "hm", "hm"], level=5, number=2))])).records()
    assert (found["item"], found["index"], found["level"]) == (item(5, 2).id, 2, 5)
    assert (found["turns"], found["outcome.unparsed"], found["end"]) == (3, 3, "turn_limit")


def test_the_table_has_the_declared_schema_whatever_a_record_says() -> None:
    forged = row(group(model="vendor/\ud800"), level=2**70, seconds=float("nan"), cost="free")
    found = episode_frame([row(group(), seconds=1.5), forged])
    assert [(field.name, str(field.type)) for field in found.table.schema] == [
        (fact.name, fact.kind.replace("float64", "double")) for fact in found.schema
    ]
    assert values(found, "model") == ["vendor/model", "vendor/\\ud800"]
    assert values(found, "level") == [5, None]
    assert values(found, "seconds") == [1.5, None]
    assert values(found, "cost") == [None, None]
    field = found.table.schema.field("seconds")
    assert field.metadata == {b"description": column(found, "seconds").doc.encode(), b"unit": b"s"}
    about = found.table.schema.metadata
    assert (about[b"waybench.frame"], about[b"waybench.schema"]) == (b"episodes", str(FRAME_SCHEMA).encode())


def test_many_rows_are_chunks_of_one_table() -> None:
    rows_ = [row(group(temperature=float(number % 2)), index=number) for number in range(10_001)]
    found = episode_frame(rows_).table
    assert [len(batch) for batch in found.to_batches()] == [10_000, 1]
    assert found["index"].to_pylist() == list(range(10_001))
    assert found["option.temperature"].to_pylist() == [float(number % 2) for number in range(10_001)]


def test_one_column_is_read_as_frame_json_and_schema() -> None:
    columns: list[Column[Any]] = [
        Column("mean", IntervalEstimate, "A mean.", "first", null=True),
        Column("low", float, "Its lower end.", "first.low", only="frame"),
        Column("sets", list, "Sets.", schema={"items": {"type": "integer"}}),
        Column("adjusted_p", float, "A p value.", "p", key="p"),
        Column("shown", str, "Not in data.", only="table"),
    ]
    mean = IntervalEstimate(0.5, 0.25, 0.75, 4, 2)
    records = [SimpleNamespace(first=mean, sets=(1, 2), p=0.5), SimpleNamespace(first=None, sets=(), p=1.0)]
    frame = Frame("frame", "A frame.", column_data(columns, records))
    assert [one.name for one in frame.schema] == ["mean", "mean_low", "mean_high", "low", "sets", "adjusted_p"]
    assert list(frame.records()[0].values()) == [0.5, 0.25, 0.75, 0.25, "1 2", 0.5]
    assert list(frame.records()[1].values()) == [None, None, None, None, "", 1.0]
    assert column_json(columns, records[0]) == {"mean": asdict(mean), "sets": [1, 2], "p": 0.5}
    schema = column_schema("A record.", columns)
    assert schema["required"] == ["mean", "sets", "p"]
    assert schema["properties"]["mean"]["anyOf"] == [{"$ref": "#/$defs/mean"}, {"type": "null"}]
    assert schema["properties"]["sets"] == {"description": "Sets.", "type": "array", "items": {"type": "integer"}}
