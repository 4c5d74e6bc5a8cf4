"""`waybench textmap`: maps of places out of text games, and their counts of questions."""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from waybench.core import Json, UsageError, plural, prepare_folder
from waybench.data import LocalFiles
from waybench.envs.textmap import (
    LABELS,
    MOST_PATHS,
    NEVER,
    PUBLISHED_STEPS,
    RELEASED_LABELS,
    PlaceMap,
    WriteResult,
    count_questions,
    selected_maps,
    write_map,
)
from waybench.ext.author.game_maps._build import GameMap, map_game, read_commands, read_names
from waybench.ext.author.game_maps._story import Story

# The paper's headings; "walkthrough" is the number of steps of all of it, which Table 3 has as #STEPS.
_COLUMNS = {
    **{"game": "GAME", "locations": "#LOCS", "edges": "#EDGES", "average_path_length": "AVG LEN PATH"},
    **{"steps": "#STEPS", "walkthrough": "WALKTHROUGH", "df_easy": "# EASY DF", "df_hard": "# HARD DF"},
    **{"rf_easy": "# EASY RF", "rf_hard": "# HARD RF"},
}
_SUMMED = ("df_easy", "df_hard", "rf_easy", "rf_hard")
_FORMATS = ("table", "json", "csv")

_COUNT_EXAMPLES = """\b
waybench textmap counts --labels paper                       # Table 6
waybench textmap counts --labels paper --prefix-steps 29 --games dragon
waybench textmap counts my-maps --format csv"""


@click.command("counts", short_help="Count the questions about each map.", epilog=_COUNT_EXAMPLES)
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


_FILE = click.Path(path_type=Path)
_NAME = re.compile(r"[\w-]{1,60}", re.ASCII)

_EXAMPLES = """\b
waybench textmap build 905.z5
waybench textmap build my-game.z8 --commands walk.txt
waybench textmap build 905.z5 --names 905/905.code2anno.json --out better"""


@click.group("textmap", invoke_without_command=True)
@click.pass_context
def textmap(context: click.Context) -> None:
    """Make maps from text games, and count the questions about maps."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


textmap.add_command(counts)


@textmap.command("build", short_help="Walk through a game and write its map.", epilog=_EXAMPLES)
@click.argument("game", type=_FILE)
@click.option(
    "--commands",
    type=_FILE,
    help="File of commands to type, in lines or as in 'n. take lamp. s'.  [default: jericho's walkthrough]",
)
@click.option("--names", type=_FILE, help="JSON file that maps ids of places to names, like NAME.code2anno.json.")
@click.option("--name", help="Name of the map.  [default: the name of the game's file]")
@click.option("--out", type=_FILE, help="Folder for the map's files.  [default: a new folder with the map's name]")
@click.option("--steps", type=click.IntRange(min=1), help="Number of steps to include.  [default: all]")
@click.option(
    "--paths",
    type=click.IntRange(min=0),
    default=MOST_PATHS,
    show_default=True,
    help="Maximum number of simple paths for questions.",
)
def build(
    game: Path,
    commands: Path | None,
    names: Path | None,
    name: str | None,
    out: Path | None,
    steps: int | None,
    paths: int,
) -> None:
    """Walk through a Z-machine game and write its map, in the format of the published maps.

    Each command that takes the player to another place is a move; the opposite move is tried too. Places are
    identified by their ids in the game; for games that jericho does not know, the ids come from the game's memory.
    Places with the same name get a number. To rename or merge places, edit NAME.code2anno.json and pass it with
    --names: ids with the same name become one place.

    Requires the extra: pip install 'waybench[jericho]'
    """
    chosen = _name(game, name)
    folder = Path(chosen) if out is None else out
    _check_new(folder, chosen)
    names_of_places = None if names is None else read_names(names)
    typed = None if commands is None else read_commands(commands)
    story = Story(game)
    typed = typed or story.walkthrough
    if not typed:
        raise UsageError(
            f"{game}: jericho has no walkthrough of this game; give --commands, a file with one command per line"
        )
    found = map_game(story.engine(typed), typed, chosen, steps=steps, names=names_of_places)
    prepare_folder(folder)
    _report(found, write_map(folder, found.place_map, found.codes, most_paths=paths), folder)


def _name(game: Path, name: str | None) -> str:
    chosen = game.stem if name is None else name
    if not _NAME.fullmatch(chosen):
        raise UsageError(f"{chosen[:80]!a} is not a valid map name: give --name with letters, digits, '-' and '_'")
    return chosen


def _check_new(folder: Path, name: str) -> None:
    """Check, before any work, that no file of a map of this name is there."""
    there = sorted(folder.glob(f"{name}.*")) if folder.is_dir() else []
    if there:
        raise UsageError(f"{there[0]} exists already: choose another folder with --out, or another --name")


def _report(found: GameMap, written: WriteResult, folder: Path) -> None:
    place_map = found.place_map
    walked = sum(1 for edge in place_map.edges if edge.forward < NEVER)
    moves = f"{plural(len(place_map.edges), 'move')} ({walked} walked, {len(place_map.edges) - walked} inferred)"
    click.echo(
        f"{place_map.name}: {plural(len(place_map.places), 'place')}, {moves}, {plural(place_map.last_step, 'step')}"
    )
    if found.unused:
        click.echo(
            f"the game ended at step {place_map.last_step}: "
            f"{plural(found.unused, 'command was', 'commands were')} not used"
        )
    if written.destinations is not None and written.routes is not None:
        questions = [
            f"{count.easy + count.hard} {kind} ({count.easy} easy, {count.hard} hard)"
            for kind, count in (("destinations", written.destinations), ("routes", written.routes))
        ]
        click.echo(f"questions: {', '.join(questions)}")
    for line in written.left_out:
        click.echo(line if written.destinations is None else f"{line}; raise --paths to include them")
    click.echo(f"files in {click.format_filename(folder)}: {', '.join(path.name for path in written.files)}")
