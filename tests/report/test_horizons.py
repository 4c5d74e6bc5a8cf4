"""How far models reach, as the pages, the files and the charts have it: what `analysis` says."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import waybench
from tests.analysis.episodes import logged, played
from tests.analysis.searches import searched
from tests.analysis.test_horizon import climbed
from tests.report.pages import Page, Site, site
from waybench.core import play_to_end, policy
from waybench.reporting._write import write_report
from waybench.reporting.charts._success import MOST_POINTS, WIDE, Binned, Player, bin_difficulties, success_spec
from waybench.reporting.tables._matrix import horizon_matrix
from waybench.results import rows
from waybench.results.estimates import matrix
from waybench.results.formatting import p_text
from waybench.results.horizons import Horizon, horizons
from waybench.results.horizons._horizons import ALTERNATIVES, axis_items, headline_horizons, success_curves
from waybench.results.horizons._references import DifficultyBin, SuccessCurve
from waybench.results.horizons._text import difficulty_text, horizon_context, horizon_parts, success_text
from waybench.results.stats._horizon_ratios import horizon_ratio

SUCCESS = (
    "Success, regardless of the score: the exit is reached within one and a half times the steps of a shortest path."
)
REFERENCES = (
    "50 % horizon of players that know nothing of an item: a random player and the best constant reply: below 5."
)
KNOWN_NOTHING = "a random player and the best constant reply: below 5"
FAR, NEAR, LOST = "vendor/far", "vendor/near", "vendor/lost"
EPISODES = [
    *climbed("noisy-0.1", (5, 9, 17, 33), NEAR),
    *climbed("noisy-0.02", (5, 9, 17, 33), FAR),
    *climbed("null", (5, 9), LOST),
    *played("oracle", (5, 7), requests=1),
    *searched("random", "dfs", model=NEAR),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return site(tmp_path_factory.mktemp("site"), EPISODES)


@pytest.fixture(scope="module")
def curves() -> list[SuccessCurve]:
    return [each for each in success_curves(rows(EPISODES)) if each.group.env == "maze/alicia"]


def told(horizon: Horizon) -> str:
    return " ".join(part for part in horizon_parts(horizon) if part)


def times(curve: SuccessCurve) -> str:
    """What the table says of how many times as far as the furthest model a model reaches."""
    if curve.ratio is None:
        return "–"
    value, low, high, *_ = curve.ratio
    both = f"{low:.2g} – {high:.2g}" if low is not None and high is not None else ""
    one = (
        "" if both else f"at least {low:.2g}" if low is not None else f"at most {high:.2g}" if high is not None else ""
    )
    p = "" if curve.p_adjusted is None else f"p {p_text(curve.p_adjusted)}"
    return " ".join(filter(None, ("?" if value is None else f"{value:.2g}", both or one, p)))


def by_model(table: list[list[str]]) -> dict[str, list[str]]:
    return {row[0].replace("/ ", "/"): row[1:] for row in table[1:]}


def test_the_first_page_has_a_horizon_for_every_row(made: Site, curves: list[SuccessCurve]) -> None:
    found = {
        group.model: told(half) for group, half in headline_horizons(h for c in curves for h in c.horizons).items()
    }
    assert set(found) == {FAR, NEAR, LOST, "waybench/oracle"}
    table = made.scores.table("Models.")
    at = table[0].index("Horizon")
    shown = {(row[0].replace("/ ", "/"), row[1].split()[0]): row[at] for row in table[1:]}
    assert shown == {
        **{(model, "Mazes"): f"{found[model]} dimension" for model in (FAR, NEAR, LOST)},
        (NEAR, "Depth-first"): "–",  # all cases have as many nodes
    }
    assert shown[LOST, "Mazes"].startswith("below 5")
    references = made.scores.table("Reference players, not models.")
    assert references[1][references[0].index("Horizon")] == "above 7 dimension"


def test_without_any_horizon_there_is_no_column(tmp_path: Path) -> None:
    page = site(tmp_path, played("random", (5,), model="m"))
    assert "Horizon" not in page.scores.table("Models.")[0]
    assert "Horizons" not in page.models[0].text
    assert "Horizons" not in (tmp_path / "table.md").read_text()


def test_the_page_of_a_task_says_what_the_analysis_does(made: Site, curves: list[SuccessCurve]) -> None:
    page = made.tasks["maze-alicia"]
    for axis in ("dimension", "minimum steps", "junctions"):
        own = [each for each in curves if each.axis == axis.split()[0]]
        table = by_model(page.table(f"Horizons, by {axis}."))
        chance = {"Random player", "Best constant reply"}
        assert set(table) - {"Reference players, not models"} - chance == {each.group.model for each in own}
        for each in own:
            half, most = each.horizons
            cells = table[each.group.model]
            assert cells[:4] == [told(half), told(most), str(half.items), str(half.trials)]
            assert len(cells) == (6 if axis == "dimension" else 4)
            if axis == "dimension":
                assert cells[4] == times(each)
    *models, chance, constant = by_model(page.table("Horizons, by dimension.")).items()
    names = [FAR, NEAR, LOST, "Reference players, not models", "waybench/oracle"]  # who reaches farthest first
    assert [name for name, _ in models] == names
    assert chance == ("Random player", ["below 5", "below 5", "", "", "", ""])
    assert constant == ("Best constant reply", ["below 5", "below 5", "", "", "", ""])


def test_horizons_under_other_assumptions(made: Site, curves: list[SuccessCurve]) -> None:
    page = made.tasks["maze-alicia"]
    table = page.table("The 50 % horizon without guesses, with one more assumption changed at a time")
    assert [head.lower() for head in table[0][2:]] == list(ALTERNATIVES)
    (near,) = [each.horizons[0] for each in curves if (each.group.model, each.axis) == (NEAR, "dimension")]
    cells = by_model(table)[NEAR]
    others = [near.sensitivity[name] for name in ALTERNATIVES]
    assert all(other is not None for other in others)
    assert cells == [told(near), *(difficulty_text(other or 0) for other in others)]
    least, greatest = min(other or 0 for other in others), max(other or 0 for other in others)
    moved = by_model(page.table("Horizons, by dimension."))[NEAR][-1]
    assert moved == f"{difficulty_text(least)} to {difficulty_text(greatest)}"
    assert by_model(table)["waybench/oracle"][1:] == ["above 7"] * len(ALTERNATIVES)


def page_of(made: Site, model: str) -> Page:
    (page,) = [each for each in made.models if f"<h1>{model.replace('/', '/<wbr>')}</h1>" in each.html]
    return page


def test_the_page_of_a_model_has_all_of_its_horizons(made: Site, curves: list[SuccessCurve]) -> None:
    table = page_of(made, FAR).table("Horizons.")
    own = [each for each in curves if each.group.model == FAR]
    again = f"{success_text(own[0].group.environment)} "  # what counts as success is in the first row of a task
    assert [row[1:4] for row in table[1:]] == [
        [f"{title} {horizon_context(each.horizons[0]).removeprefix(said)}", *map(told, each.horizons)]
        for title, said, each in zip(("Dimension", "Minimum steps", "Junctions"), ("", again, again), own, strict=True)
    ]
    assert {row[0] for row in table[1:]} == {"Mazes (AliciaBench)"}


def test_files_have_the_same_horizons(made: Site) -> None:
    found = horizons(rows(EPISODES))
    summary = json.loads((made.folder / "summary.json").read_text())["horizons"]
    added = {"page", "ratio_to_leader"}
    assert [{key: value for key, value in each.items() if key not in added} for each in summary] == json.loads(
        json.dumps([each.to_json() for each in found])
    )
    page = {each["group"]["model"]: each["page"] for each in summary if each["axis"] == "dimension"}
    ratios = {
        each["group"]["model"]: each["ratio_to_leader"]
        for each in summary
        if each["axis"] == "dimension" and each["share"] == 0.5
    }
    assert ratios[FAR] is None and {one["leader"] for name, one in ratios.items() if name != FAR} == {page[FAR]}
    (expected,) = [
        horizon_ratio(near.main_fit, far.main_fit)
        for near in axis_items(rows(EPISODES))
        for far in axis_items(rows(EPISODES))
        if (near.group.model, far.group.model) == (NEAR, FAR) and near.axis.name == far.axis.name == "dimension"
    ]
    assert [ratios[NEAR][name] for name in ("value", "low", "high")] == [*expected[:3]]
    assert 0 < ratios[NEAR]["value"] < 1
    assert all((made.folder / each["page"]).is_file() for each in summary)
    frame = pq.read_table(made.folder / "data" / "horizons.parquet").to_pylist()
    names = "axis", "share", "value", "low", "high", "side", "mark", "easiest", "hardest", "items", "clusters"
    assert [tuple(each[name] for name in names) for each in frame] == [
        tuple(getattr(each, name) for name in names) for each in found
    ]
    assert [(each["model"], each["attempts"]) for each in frame] == [(one.group.model, one.trials) for one in found]
    first = next(number for number, one in enumerate(found) if one.sensitivity and one.group.model == NEAR)
    assert frame[first]["under.axis_linear"] == found[first].sensitivity["axis: linear"]
    text = (made.folder / "table.md").read_text()
    (head,) = [line for line in text.splitlines() if "dimension |" in line]
    assert head == "| Model | Mazes (AliciaBench): dimension |"
    half = next(one for one in found if one.group.model == NEAR and one.axis == "dimension")
    place, ends, mark = horizon_parts(half)
    assert mark == "not clearly above a random player's", "six mazes of each dimension are too few"
    assert f"| vendor/near | {place} ({ends}, {mark}) |" in text


def test_every_axis_has_its_chart(made: Site, curves: list[SuccessCurve]) -> None:
    labels = [svg["aria-label"] for svg in made.tasks["maze-alicia"].all("svg")]
    for axis in ("dimension", "minimum steps", "junctions"):
        assert sum(label.startswith(f"Success by {axis} ") for label in labels) == 2  # a wide one and a narrow one
    # The observed shares and the horizons are told to who hovers over their marks.
    html = made.tasks["maze-alicia"].html
    (near,) = [each for each in curves if (each.group.model, each.axis) == (NEAR, "dimension")]
    for place in near.bins:
        assert f"<title>near, dimension {place.at:g}: {100 * place.solved:.0f} % of 6 mazes</title>" in html
    assert f"<title>near: 50 % horizon, dimension {difficulty_text(near.horizons[0].value or 0)} (" in html


def test_a_panel_draws_the_curve_and_its_band(curves: list[SuccessCurve]) -> None:
    own = [each for each in curves if each.axis == "dimension"]
    players = [Player(each.group.model, each.group.embedded, number, each) for number, each in enumerate(own)]
    spec = success_spec(players, "Dimension", ("maze", "mazes"), WIDE)
    assert len(spec["concat"]) == len(own) == 4
    for number, (panel, each) in enumerate(zip(spec["concat"], own, strict=True)):
        (band,) = [layer for layer in panel["layer"] if layer["mark"]["type"] == "area"]
        assert (band["data"], band["transform"]) == ({"name": "curves"}, [{"filter": f"datum.series == {number}"}])
        shown = [point for point in spec["datasets"]["curves"] if point["series"] == number]
        assert shown == [pytest.approx({**point._asdict(), "series": number}, abs=1e-8) for point in each.line]
        marks = [layer for layer in panel["layer"] if layer["mark"].get("shape") == "diamond"]
        within = [(one.value, one.share) for one in each.horizons if one.value is not None]
        assert [(m["at"], m["rate"]) for layer in marks for m in layer["data"]["values"]] == within
    assert '"var(--c-reference)"' in json.dumps(spec["concat"][-1])
    assert '"var(--c-reference)"' not in json.dumps(spec["concat"][:-1])


def test_neighbouring_difficulties_are_put_together() -> None:
    few = [DifficultyBin(5.0, 1.0, 3, 3), DifficultyBin(7.0, 0.5, 4, 6)]
    assert bin_difficulties(few) == [Binned(5, 1, 3, 5, 5), Binned(7, 0.5, 4, 7, 7)]
    many = [DifficultyBin(float(at), float(at % 2), 1 + at % 3, 5) for at in range(1, 101)]
    found = bin_difficulties(many)
    assert len(found) <= MOST_POINTS
    items = sum(place.items for place in many)
    assert sum(each.items for each in found) == items
    assert max(each.items for each in found) < 1.5 * items / MOST_POINTS
    solved = sum(place.solved * place.items for place in many)
    assert sum(each.solved * each.items for each in found) == pytest.approx(solved)
    assert [each.least for each in found[1:]] == [each.greatest + 1 for each in found[:-1]]
    assert all(each.least <= each.at <= each.greatest for each in found)


def test_a_model_at_one_level_has_no_horizon_and_is_not_said_to_be_not_run() -> None:
    bandit = waybench.load("bandit/arms")  # which has no axis
    record = play_to_end(bandit, bandit.source().item(0), policy("oracle")).record()
    played_rows = rows([*climbed("noisy-0.1", (5, 9), NEAR), *climbed("null", (5,), LOST), logged(record, NEAR)])
    groups = {row.group: "page.html" for row in played_rows}
    models = {group.model: "model.html" for group in groups}
    table = horizon_matrix(matrix(played_rows), headline_horizons(horizons(played_rows)), {}, groups, models)
    assert table is not None
    cells = {row.head.text: row.cells[0] for group in table.groups for row in group.rows}
    assert cells.keys() == {NEAR, LOST}
    assert [note.text for note in cells[LOST].notes][:1] == ["one difficulty only"]
    assert cells[LOST].text == "–"


def test_of_several_horizons_of_a_model_the_first_page_has_one_within_the_levels_tested() -> None:
    played_rows = rows(climbed("noisy-0.1", (5, 9, 17, 33), NEAR))
    ((group, within),) = headline_horizons(horizons(played_rows)).items()
    ladder = replace(group, task="ladder")
    above = replace(within, group=ladder, value=None, high=None, side="beyond", trials=within.trials + 100)
    pages, models = {group: "search.html", ladder: "ladder.html"}, {NEAR: "model.html"}
    table = horizon_matrix(matrix(played_rows), {ladder: above, group: within}, {}, pages, models)
    assert table is not None
    (cell,) = (row.cells[0] for one in table.groups for row in one.rows)
    assert (cell.text, cell.link) == (horizon_parts(within).value, "results/search.html")


def test_a_search_along_an_option_counts_each_item_once_and_its_horizon_is_on_the_first_page(tmp_path: Path) -> None:
    episodes = [
        replace(
            each,
            design={"axis": "steps_left"},
            record=replace(each.record, item={**each.record.item, "id": f"{each.record.item['id']}-{steps}"}),
        )
        for steps in (1, 2, 3, 4)
        for each in searched("noisy-0.3", "dfs", count=2, model=NEAR, prefix=f"oracle:-{steps}")
    ]
    found = headline_horizons(horizons(rows(episodes)))
    assert [(each.axis, each.items, each.trials) for each in found.values()] == [("steps_left", 2, 8)]
    home = write_report(episodes, tmp_path).index.read_text(encoding="utf-8")
    assert "50 % horizons" in home and "steps left" in home
    (task,) = (tmp_path / "tasks").glob("*.html")
    assert "2 cases, with one or more values of steps left at each case" in task.read_text(encoding="utf-8")
