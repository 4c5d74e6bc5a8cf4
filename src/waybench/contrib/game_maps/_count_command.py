"""`waybench textmap counts`: how many questions each map has, as in MANGO's Tables 3 and 5 to 8."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from waybench.core import Json, UsageError
from waybench.data import LocalFiles
from waybench.envs.textmap import PUBLISHED_STEPS, PlaceMap
from waybench.envs.textmap.questions import LABELS, RELEASED_LABELS, selected_maps

# The paper's headings; "walkthrough" is the number of steps of all of it, which Table 3 has as #STEPS.
_COLUMNS = {
    **{"game": "GAME", "locations": "#LOCS", "edges": "#EDGES", "average_path_length": "AVG LEN PATH"},
    **{"steps": "#STEPS", "walkthrough": "WALKTHROUGH", "df_easy": "# EASY DF", "df_hard": "# HARD DF"},
    **{"rf_easy": "# EASY RF", "rf_hard": "# HARD RF"},
}
_SUMMED = ("df_easy", "df_hard", "rf_easy", "rf_hard")
_FORMATS = ("table", "json", "csv")

_EXAMPLES = """\b
waybench textmap counts --labels paper                       # Table 6
waybench textmap counts --labels paper --prefix-steps 29 --games dragon
waybench textmap counts my-maps --format csv"""


@click.command("counts", short_help="Count the questions about each map.", epilog=_EXAMPLES)
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--data-dir", type=click.Path(path_type=Path), help="Folder of the published data.")
@click.option("--games", help="Names of maps, separated by commas.  [default: all]")
@click.option(
    "--prefix-steps",
    type=click.IntRange(1, 5_000),
    help=f"Steps of the walkthrough that are shown.  [default: {PUBLISHED_STEPS} of a published game, otherwise all]",
)
@click.option(
    "--labels",
    type=click.Choice(tuple(LABELS)),
    default=RELEASED_LABELS,
    show_default=True,
    help="Rule for when a move is known and which routes are easy: that of the published data, or of Tables 5 to 8.",
)
@click.option(
    "--format", "form", type=click.Choice(_FORMATS), default="table", show_default=True, help="Format of the counts."
)
def counts(
    folder: Path | None, data_dir: Path | None, games: str | None, prefix_steps: int | None, labels: str, form: str
) -> None:
    """Count locations, moves and questions of each map: destinations (DF) and routes (RF), easy and hard.

    FOLDER has maps as `waybench textmap build` writes them; without it the published maps are counted. As in the
    paper, the last step of a published walkthrough is never shown.
    """
    if folder is not None and data_dir is not None:
        raise UsageError("--data-dir: for published maps; give it or FOLDER")
    if folder is None and (prefix_steps or 0) > PUBLISHED_STEPS:
        raise UsageError(f"--prefix-steps {prefix_steps}: the published maps end at step {PUBLISHED_STEPS}")
    source = "published" if folder is None else str(folder)
    maps = selected_maps({"source": source, "games": games}, LocalFiles(data_dir))
    rows = [_row(place_map, prefix_steps, labels, published=folder is None) for place_map in maps]
    click.echo(_FORMATTED[form](rows), nl=False)


def _row(place_map: PlaceMap, steps: int | None, labels: str, *, published: bool) -> dict[str, Json]:
    from waybench.envs.textmap.questions import count_questions  # numpy is loaded where there is something to count

    last = place_map.last_step - 1 if published else place_map.last_step
    shown = PUBLISHED_STEPS if published and steps is None else steps
    found = count_questions(place_map, last if shown is None else min(shown, last), LABELS[labels])
    return {
        "game": place_map.name,
        "locations": found.places,
        "edges": found.edges,
        "average_path_length": round(found.average_length, 2),
        "steps": found.steps,
        "walkthrough": place_map.last_step,
        "df_easy": found.destination_easy,
        "df_hard": found.destination_hard,
        "rf_easy": found.route_easy,
        "rf_hard": found.route_hard,
    }


def _as_json(rows: Sequence[dict[str, Json]]) -> str:
    return json.dumps(rows, indent=1) + "\n"


def _as_csv(rows: Iterable[dict[str, Json]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(_COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _as_table(rows: Sequence[dict[str, Json]]) -> str:
    lines = [list(_COLUMNS.values()), *([_cell(row[name]) for name in _COLUMNS] for row in rows)]
    if len(rows) > 1:
        total = {name: f"{sum(row[name] for row in rows):,}" for name in _SUMMED}
        lines.append([total.get(name, "total" if name == "game" else "") for name in _COLUMNS])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(
            cell.ljust(width) if not at else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        + "\n"
        for line in lines
    )


def _cell(value: Json) -> str:
    return f"{value:.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


_FORMATTED = {"table": _as_table, "json": _as_json, "csv": _as_csv}
