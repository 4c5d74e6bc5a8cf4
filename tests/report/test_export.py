"""What a report has for programs: read back with other readers, and compared with rows made by hand."""

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from tests.analysis.episodes import detour, failed, item, logged, played, said
from tests.analysis.maps import answered, corridor
from tests.analysis.searches import searched
from tests.analysis.test_agents import played as gambled
from tests.analysis.test_frames import group, row
from waybench._version import __version__
from waybench.reporting import write_report
from waybench.reporting._exports import SUMMARY_SCHEMA, frame_files, safe_csv_text, summary_schema
from waybench.results import by_level, episode_frame, overall, rows, score_frame
from waybench.results.frames import FRAME_SCHEMA, Column, Frame, column_data

WIDE = ("\uff1d", "\uff0b", "\uff0d", "\uff20")  # = + - @ as they are typed in Chinese or Japanese
HOSTILE = [
    *("=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "'=1", *(f"{sign}1" for sign in WIDE)),
    *('=HYPERLINK("http://x","y")', "=cmd|' /C calc'!A0", 'a"b,c;d', "a\nb", "a\r\nb", "\u202egnol", "\0", "\ud800"),
    *("", " ", "null", "NaN", "1.0", "true", "模型", "<script>", "x" * 10_000),
]


def table_of(frame: Frame) -> Any:
    return pq.read_table(io.BytesIO(frame_files(frame).parquet))


def lines_of(frame: Frame) -> list[list[str]]:
    return list(csv.reader(io.StringIO(frame_files(frame).csv.decode("utf-8"), newline="")))


def of(name: str, kind: type, values: list[Any]) -> Frame:
    return Frame("frame", "A frame.", column_data([Column(name, kind, "A column.", lambda value: value)], values))


def test_parquet_has_the_rows_and_their_types() -> None:
    made = [
        row(group(requests=3, temperature=0.5), metrics={"score": 62.5}, outcomes={"ok": 2}, input_tokens=2**40),
        row(group(requests=4), metrics={"score": None}, end="", error=True, guided=True, index=7),
    ]
    table = table_of(episode_frame(made))
    expected = {
        "model": (pa.string(), ["vendor/model", "vendor/model"]),
        "embedded": (pa.bool_(), [False, False]),
        "env_version": (pa.int64(), [3, 3]),
        "level": (pa.int64(), [5, 5]),
        "index": (pa.int64(), [0, 7]),
        "counts": (pa.bool_(), [True, False]),
        "guided": (pa.bool_(), [False, True]),
        "end": (pa.string(), ["solved", None]),
        "turns": (pa.int64(), [2, 0]),
        "outcome.ok": (pa.int64(), [2, 0]),
        "metric.score": (pa.float64(), [62.5, None]),
        "metric.raw_score": (pa.float64(), [None, None]),
        "input_tokens": (pa.int64(), [2**40, None]),
        "seconds": (pa.float64(), [None, None]),
        "option.requests": (pa.int64(), [3, 4]),
        "option.temperature": (pa.float64(), [0.5, None]),
    }
    found = {name: (table.schema.field(name).type, table[name].to_pylist()) for name in expected}
    assert found == expected
    assert table.column_names == [fact.name for fact in episode_frame(made).schema]


def test_parquet_says_what_it_is() -> None:
    schema = table_of(episode_frame([row(group(requests=3))])).schema
    about = {name.decode(): value.decode() for name, value in schema.metadata.items()}
    assert about["waybench.frame"] == "episodes"
    assert about["waybench.version"] == __version__
    assert about["waybench.schema"] == str(FRAME_SCHEMA) == "2"
    told = json.loads(about["waybench.columns"])
    assert list(told) == schema.names
    assert told["metric.raw_score"]["unit"] == "%"
    for name in schema.names:
        described = {key.decode(): value.decode() for key, value in schema.field(name).metadata.items()}
        assert {key: described[key] for key in ("description", "unit")} == told[name]
        assert described["description"]


def test_what_is_not_known_is_null_and_never_nan() -> None:
    found = table_of(of("x", float, [1.5, math.nan, None]))["x"]
    assert found.to_pylist() == [1.5, None, None]
    assert found.null_count == 2
    # As a record would have it that somebody has changed.
    assert table_of(of("x", int, [1, "a", None, 2**70, True]))["x"].to_pylist() == [1, None, None, None, None]
    assert table_of(of("x", str, ["a", 5, None, "\ud800"]))["x"].to_pylist() == ["a", "5", None, "\\ud800"]


def test_a_real_frame_has_no_nan() -> None:
    made = rows([*played("random", (5, 7)), logged(failed(said(["x"]))), *answered("oracle", [corridor("a", 3)])])
    for frame in (episode_frame(made), score_frame([*by_level(made), *overall(made)])):
        table = table_of(frame)
        assert table.num_rows == len(frame.records())
        for column in table.columns:
            if column.type == pa.float64():
                assert not any(value is not None and math.isnan(value) for value in column.to_pylist())
        # And what is read back is what the records say.
        assert table.to_pylist() == frame.records()


def test_many_rows_come_in_pieces() -> None:
    numbers = list(range(25_001))
    found = frame_files(of("x", int, numbers))
    assert pq.read_table(io.BytesIO(found.parquet))["x"].to_pylist() == numbers
    assert pyarrow.csv.read_csv(io.BytesIO(found.csv))["x"].to_pylist() == numbers


def test_hostile_texts_in_parquet_are_as_they_were() -> None:
    assert table_of(of("x", str, HOSTILE))["x"].to_pylist() == [
        "\\ud800" if text == "\ud800" else text for text in HOSTILE
    ]


def test_no_cell_of_the_csv_is_a_formula() -> None:
    (head, *lines) = lines_of(of("=name", str, HOSTILE))
    assert head == ["'=name"]
    assert len(lines) == len(HOSTILE)
    for (shown,), text in zip(lines, HOSTILE, strict=True):
        assert not shown.startswith(("=", "+", "-", "@", "\t", "\r", "\n", *WIDE))
        # One apostrophe taken away is what was there.
        if text.isprintable():
            assert shown.removeprefix("'") == text
    assert safe_csv_text("plain") == "plain"
    assert safe_csv_text("a=b") == "a=b"
    assert safe_csv_text("'a") == "''a"


def test_numbers_of_the_csv_are_numbers() -> None:
    lines = [(-1.5, -1, True, ""), (0.1, None, False, None), (None, 0, None, "-1"), (1e300, 2**62, True, "1")]
    columns: list[Column[Any]] = [
        Column("a", float, "A.", lambda line: line[0]),
        Column("b", int, "B.", lambda line: line[1]),
        Column("c", bool, "C.", lambda line: line[2]),
        Column("d", str, "D.", lambda line: line[3]),
    ]
    frame = Frame("frame", "A frame.", column_data(columns, lines))
    text = frame_files(frame).csv.decode()
    # An empty text is told from null by its quotation marks.
    assert text.splitlines() == [
        '"a","b","c","d"',
        '-1.5,-1,true,""',
        "0.1,,false,",
        ',0,,"\'-1"',
        '1e+300,4611686018427387904,true,"1"',
    ]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    hostile = "=2+5|<b>`x`[y](http://e.com)\n\u202e"
    episodes = [
        *played("random", (5, 7)),
        *played("oracle", (5,), mazes=2, model=hostile),
        *searched("random", "dfs", examples=2),
        *searched("random", "dfs"),
        *searched("oracle", "dfs", teacher_guided=True),
        *searched("oracle", "bfs", key="other"),
        *searched("oracle", "bfs"),
        *(
            each
            for model in ("a/one", "b/two")
            for each in answered("oracle", [corridor(f"map {n}", 3 + n) for n in range(6)], model=model)
        ),
        *gambled("thompson", "a/one"),
        *played("oracle", (5,), mazes=2, model="a/worded"),
        *played("oracle", (5,), mazes=2, model="a/worded", wording="ascii"),
        *(replace(each, settings={"seed": 1}) for each in played("oracle", (5,), mazes=2, model="a/worded")),
        logged(failed(detour(item(9), 2)), model="vendor/broken"),
    ]
    write_report(episodes, out, title="A title")
    return out


def test_a_site_has_the_frames(site: Path) -> None:
    names = {path.name for path in (site / "data").iterdir()}
    assert names == {
        *(f"{name}.{kind}" for name in ("episodes", "scores", "horizons") for kind in ("parquet", "csv")),
        *("columns.csv", "index.html"),
        "summary.schema.json",
        *(
            f"{name}.{kind}"
            for name in ("ledger", "budgets", "effects", "wordings", "languages", "contrasts", "twins", "isomorphs")
            for kind in ("parquet", "csv")
        ),
    }
    episodes = pq.read_table(site / "data" / "episodes.parquet")
    summary = json.loads((site / "summary.json").read_text())
    assert sum(episodes["counts"].to_pylist()) == sum(total["attempts"] for total in summary["overall"])
    scores = pq.read_table(site / "data" / "scores.parquet").to_pylist()
    best = {(each["group"], each["level"]): each["value"] for each in scores if each["statistic"] == "best"}
    assert len(best) == len(summary["levels"]) + len(summary["overall"])
    assert sorted(map(str, best.values())) == sorted(
        str(each["best"]["value"] if each["best"] else None) for each in (*summary["levels"], *summary["overall"])
    )
    assert set(episodes["group"].to_pylist()) == {name for name, _ in best}


def test_csv_and_parquet_of_a_site_are_the_same(site: Path) -> None:
    for name in ("episodes", "scores", "horizons"):
        table = pq.read_table(site / "data" / f"{name}.parquet")
        kinds = pyarrow.csv.ConvertOptions(
            column_types={field.name: field.type for field in table.schema},
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        )
        parsing = pyarrow.csv.ParseOptions(newlines_in_values=True)
        found = pyarrow.csv.read_csv(site / "data" / f"{name}.csv", convert_options=kinds, parse_options=parsing)
        assert found.column_names == table.column_names
        for column in table.column_names:
            wanted = table[column].to_pylist()
            if table[column].type == pa.string():
                wanted = [None if value is None else safe_csv_text(value) for value in wanted]
            assert found[column].to_pylist() == wanted


def test_the_page_of_the_data_describes_every_column(site: Path) -> None:
    page = (site / "data" / "index.html").read_text(encoding="utf-8")
    for name in ("episodes", "scores", "horizons"):
        for column in pq.read_schema(site / "data" / f"{name}.parquet").names:
            assert f'<th scope="row" class="code">{column}</th>' in page
    for name in (
        "data/episodes.parquet",
        "data/scores.csv",
        "data/columns.csv",
        "data/summary.schema.json",
        "table.md",
    ):
        assert f'href="../{name}"' in page
        assert (site / name).is_file()


def test_columns_are_described_in_a_file(site: Path) -> None:
    with (site / "data" / "columns.csv").open(encoding="utf-8", newline="") as file:
        told = list(csv.DictReader(file))
    described = {(each["frame"], each["column"]) for each in told}
    for name in ("episodes", "scores", "horizons"):
        assert {column for frame, column in described if frame == name} == set(
            pq.read_schema(site / "data" / f"{name}.parquet").names
        )
    assert all(each["description"] for each in told)


def keys_without_words(schema: dict[str, Any], part: dict[str, Any], data: Any, where: str = "") -> list[str]:
    """Return keys of JSON values that a schema says nothing of, and properties that it does not describe."""
    part = {**part, **schema["$defs"].get(part.get("$ref", "").rpartition("/")[2], {})}
    for each in part.get("anyOf", ()):
        if each.get("type") != "null":
            part = {**part, **each, **schema["$defs"].get(each.get("$ref", "").rpartition("/")[2], {})}
    found: list[str] = []
    if isinstance(data, dict):
        for key, value in data.items():
            own = part.get("properties", {}).get(key, part.get("additionalProperties"))
            if own is None:
                found.append(f"{where}.{key}")
            else:
                found += keys_without_words(schema, own, value, f"{where}.{key}")
    elif isinstance(data, list):
        found += [one for each in data for one in keys_without_words(schema, part["items"], each, f"{where}[]")]
    return found


def test_a_real_summary_is_as_its_schema_says(site: Path) -> None:
    schema = json.loads((site / "data" / "summary.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["properties"]["schema"]["const"] == SUMMARY_SCHEMA
    summary = json.loads((site / "summary.json").read_text())
    jsonschema.validate(summary, schema)
    for part in ("levels", "overall", "changes", "spreads", "repeats", "pairs", "agents", "regressions", "horizons"):
        assert summary[part], f"nothing of {part} is tested"
    for part in ("wordings", "ledger", "effects", "comparisons", "failures"):
        assert summary[part], f"nothing of {part} is tested"
    # Others' keys are allowed for versions to come, but none of ours is there without a word.
    assert keys_without_words(schema, schema, summary) == []
    for wrong in ({"schema": 1}, {"levels": [{}]}, {"confidence": 95}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**summary, **wrong}, schema)


def test_everything_in_the_schema_is_described() -> None:
    schema = summary_schema()
    for name, part in schema["$defs"].items():
        assert part["description"], name
        for key, own in part["properties"].items():
            assert own.get("description") or "$ref" in own, f"{name}.{key}"
        assert sorted(part["required"]) == sorted(part["properties"])


EFFECTS = {
    "twin": "group twin level metric mean twin_mean difference p adjusted items verdict",
    "isomorphs": "group metric items mean isomorphic_mean difference p adjusted verdict sets same agreement worst",
    "agent_effect": "group agent metric items mean bare_mean difference p adjusted tokens costs gain_per_dollar "
    "gain_per_million_tokens",
    "effect": "first second name items clusters same counted change p adjusted verdict told",
    "contrasts": "group demand values reference metric items mean demanding_mean difference p adjusted verdict "
    "ratio ratio_low ratio_high",
    "languages": "group language reference metric items mean reference_mean difference p adjusted verdict",
    "wordings": "metric wordings reference worst spread worst_of_items items left_out",
}


def test_the_schema_of_effects_is_read_from_their_columns() -> None:
    schema = summary_schema()["$defs"]
    for name, keys in EFFECTS.items():
        assert set(schema[name]["properties"]) == set(keys.split()), name
    twin, agents, effect = (schema[name]["properties"] for name in ("twin", "agent_effect", "effect"))
    assert twin["group"]["$ref"] == "#/$defs/group" and twin["mean"]["$ref"] == "#/$defs/mean"
    assert (twin["p"]["type"], twin["items"]["type"], twin["items"]["minimum"]) == ("number", "integer", 1)
    assert twin["verdict"]["enum"] == ["first", "second", "tied", "not_shown", "too_few", "depends"]
    assert agents["tokens"]["anyOf"] == [{"type": "array"}, {"type": "null"}]
    assert (agents["tokens"]["minItems"], agents["tokens"]["items"]) == (2, {"type": "number"})
    assert effect["change"]["anyOf"] == [{"$ref": "#/$defs/mean"}, {"type": "null"}]
    (each,) = [schema["wordings"]["properties"]["wordings"]["items"]]
    assert set(each["required"]) == {"group", "name", "mean", "difference", "p", "adjusted", "errors"}


@pytest.mark.slow
def test_a_later_report_leaves_no_chart_behind(tmp_path: Path) -> None:
    write_report([*played("random", (5, 7)), *searched("random", "dfs")], tmp_path)
    before = {path.name for path in (tmp_path / "charts").iterdir()}
    (tmp_path / "charts" / "mine.svg").write_text("not of a report")
    write_report(played("random", (5, 7)), tmp_path)
    after = {path.name for path in (tmp_path / "charts").iterdir()}
    assert "mine.svg" in after
    assert after - {"mine.svg"} < before
    assert not [name for name in after if name.startswith("search-")]


def test_names_of_any_kind_stay_in_their_cells(tmp_path: Path) -> None:
    record = said(["a", "b", "c"])
    hostile = replace(record, item={**record.item, "id": "=1\n\ud800", "key": "@x"})
    model = "\ud800=cmd|'/C calc'!A0"
    write_report([logged(hostile, model=model, task="+t", log="/somebody/secret/=log.eval")], tmp_path)
    (found,) = pq.read_table(tmp_path / "data" / "episodes.parquet").to_pylist()
    assert (found["item"], found["key"], found["task"], found["log"]) == ("=1\n\\ud800", "@x", "+t", "=log.eval")
    assert found["model"] == "\\ud800=cmd|'/C calc'!A0"
    text = (tmp_path / "data" / "episodes.csv").read_bytes().decode()
    (line,) = csv.DictReader(io.StringIO(text, newline=""))
    assert (line["item"], line["key"], line["task"], line["log"]) == ("'=1\n\\ud800", "'@x", "'+t", "'=log.eval")
    assert "/somebody/secret" not in text
