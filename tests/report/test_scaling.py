"""Facts of models from a file, the columns of data that they become, and charts against size and date."""

import csv
import json
from datetime import date
from itertools import combinations
from math import log
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.analysis.searches import searched
from waybench.core import UsageError
from waybench.reporting import read_models, write_report
from waybench.reporting._reading import ModelFacts

FILE = """
["lab/small"]
name = "Small"
size = "7B"
date = 2023-07-18
series = "Lab"

["lab/large"]
size = 7e10
date = "2024-02"
series = "Lab"

["other/alone"]
size = "350M"

["never/run"]
size = "1.8T"
"""


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_gives_names_sizes_dates_and_series(tmp_path: Path) -> None:
    found = read_models(written(tmp_path / "models.toml", FILE))
    assert found["lab/small"] == ModelFacts(name="Small", size=7e9, released=date(2023, 7, 18), series="Lab")
    assert found["lab/large"] == ModelFacts(size=7e10, released=date(2024, 2, 1), series="Lab")
    assert (found["other/alone"].size, found["never/run"].size) == (3.5e8, 1.8e12)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('["a/b"]\nsize = 7', "a/b: size: give the number of parameters"),
        ('["a/b"]\nsize = "seven"', "a/b: size: give the number of parameters"),
        ('["a/b"]\nsize = true', "a/b: size: give the number of parameters"),
        ('["a/b"]\ndate = "2023"', "a/b: date: give a day"),
        ('["a/b"]\ndate = "2023-13"', "a/b: date: give a day"),
        ('["a/b"]\nseries = 3', "a/b: series: give text"),
        ('["a/b"]\nsizes = 3', "a/b: unknown field 'sizes'"),
        ('"a/b" = "7B"', "a/b: give a table"),
        ("[gpt-4.1]\nsize = '7B'", "gpt-4: unknown field '1'"),
        ("size = [", "is not valid TOML"),
    ],
)
def test_what_does_not_fit_is_one_line_with_file_model_and_field(tmp_path: Path, text: str, problem: str) -> None:
    path = written(tmp_path / "models.toml", text)
    with pytest.raises(UsageError) as raised:
        read_models(path)
    assert str(raised.value).startswith(str(path))
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.toml"):
        read_models(tmp_path / "none.toml")


def test_scores_are_drawn_against_size_and_date_with_a_line_for_each_series(tmp_path: Path) -> None:
    played = (("null", "lab/small"), ("oracle", "lab/large"), ("random", "other/alone"), ("oracle", "un/listed"))
    episodes = [each for player, model in played for each in searched(player, "dfs", count=8, model=model, level=8)]
    models = read_models(written(tmp_path / "models.toml", FILE))
    report = write_report(episodes, tmp_path / "site", models=models)
    assert report.unlisted == ("un/listed",)
    charts = {path.stem.rpartition("-")[0]: path for path in (tmp_path / "site" / "charts").glob("*-by-*.json")}
    sizes = json.loads(charts["search-dfs-g-min-level-8-by-size"].read_text(encoding="utf-8"))
    points = [(each["series"], each["label"], each["at"]) for each in sizes["data"]["values"]]
    assert sorted(points) == [("Lab", "Small", 7e9), ("Lab", "large", 7e10), ("alone", "alone", 3.5e8)]
    assert {each["label"]: each["score"] for each in sizes["data"]["values"]}["Small"] == 0.875
    assert sizes["layer"][1]["encoding"]["x"]["scale"]["type"] == "log"
    intervals = [(each["low"], each["score"], each["high"]) for each in sizes["data"]["values"] if each["interval"]]
    assert intervals and all(low <= score <= high for low, score, high in intervals)
    dates = json.loads(charts["search-dfs-g-min-level-8-by-date"].read_text(encoding="utf-8"))
    assert sorted(each["at"] for each in dates["data"]["values"]) == ["2023-07-18", "2024-02-01"]
    with (tmp_path / "site" / "data" / "scores.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    known = {(row["model"], row["model_name"], float(row["model_size"] or 0), row["model_date"]) for row in rows}
    assert known == {
        ("lab/small", "Small", 7e9, "2023-07-18"),
        ("lab/large", "", 7e10, "2024-02-01"),
        ("other/alone", "", 3.5e8, ""),
        ("un/listed", "", 0.0, ""),
    }


@pytest.mark.slow
def test_of_many_levels_the_horizon_is_drawn(tmp_path: Path) -> None:
    episodes = [
        each
        for player, model in (("noisy-0.3", "lab/small"), ("noisy-0.15", "lab/large"))
        for level in (5, 8, 13, 20, 30)
        for each in searched(player, "dfs", count=12, model=model, level=level)
    ]
    write_report(episodes, tmp_path / "site", models=read_models(written(tmp_path / "models.toml", FILE)))
    names = {path.stem.rpartition("-")[0] for path in (tmp_path / "site" / "charts").glob("*-by-size-*.json")}
    assert names == {"search-dfs-horizon-by-size"}


def test_the_trend_of_a_series_is_a_table_a_file_and_in_the_summary(tmp_path: Path) -> None:
    facts = "".join(
        f'["lab/{name}"]\nsize = "{size}"\nseries = "Lab"\n' for name, size in (("s", "1B"), ("m", "7B"), ("l", "70B"))
    )
    played = (("null", "lab/s"), ("random", "lab/m"), ("oracle", "lab/l"))
    episodes = [each for player, model in played for each in searched(player, "dfs", count=8, model=model, level=8)]
    write_report(episodes, tmp_path / "site", models=read_models(written(tmp_path / "models.toml", facts)))
    [page] = (tmp_path / "site" / "tasks").glob("*.html")
    html = page.read_text(encoding="utf-8")
    assert "Whether larger models of a series are better" in html and "larger is better" in html
    [trend] = json.loads((tmp_path / "site" / "summary.json").read_text(encoding="utf-8"))["trends"]
    assert (trend["series"], trend["models"], trend["verdict"]) == ("Lab", 3, "larger is better")
    with (tmp_path / "site" / "data" / "trends.csv").open(encoding="utf-8") as file:
        [row] = csv.DictReader(file)
    assert (row["series"], row["items"]) == ("Lab", "8")


def test_without_the_file_nothing_is_added(tmp_path: Path) -> None:
    report = write_report(searched("null", "dfs", count=2, model="m"), tmp_path / "site")
    assert report.unlisted == ()
    assert not list((tmp_path / "site" / "charts").glob("*-by-size-*"))
    assert "model_size" not in pq.read_schema(tmp_path / "site" / "data" / "scores.parquet").names


@pytest.mark.slow
def test_labels_cover_neither_each_other_nor_a_point(tmp_path: Path) -> None:
    # Twelve models of two series, whose scores are all 1: in one line, some of them at nearly the same size.
    sizes = ("7B", "7.1B", "7.2B", "8B", "8.2B", "13B", "14B", "30B", "32B", "34B", "70B", "72B")
    facts = "".join(
        f'["lab/model-{number}"]\nsize = "{size}"\nseries = "S{number % 2}"\n' for number, size in enumerate(sizes)
    )
    episodes = [
        each
        for number in range(len(sizes))
        for each in searched("oracle", "dfs", count=4, model=f"lab/model-{number}", level=5)
    ]
    write_report(episodes, tmp_path / "site", models=read_models(written(tmp_path / "models.toml", facts)))
    (path,) = (tmp_path / "site" / "charts").glob("*-by-size-*.json")
    spec = json.loads(path.read_text(encoding="utf-8"))
    values = spec["data"]["values"]
    low, high = min(each["at"] for each in values), max(each["at"] for each in values)
    texts = {
        layer["transform"][0]["filter"]: layer["mark"] for layer in spec["layer"] if layer["mark"]["type"] == "text"
    }
    boxes: list[tuple[float, float, float, float]] = []
    named = 0
    for each in values:
        x = 24 + (spec["width"] - 48) * log(each["at"] / low) / log(high / low)
        boxes.append((x - 3, -3, x + 3, 3))
        mark = texts.get(f"datum.position === {each['position']}")
        if mark is None:
            continue
        named += 1
        wide = 6 * len(each["label"])
        left = x + mark["dx"] - {"left": 0, "center": wide / 2, "right": wide}[mark["align"]]
        boxes.append((left, mark["dy"] - 6, left + wide, mark["dy"] + 6))
    assert named >= 9
    for one, other in combinations(boxes, 2):
        is_label = max(one[2] - one[0], other[2] - other[0]) > 6.1
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart or not is_label, (one, other)
