"""Maps of the places of text games, and the command that builds them, `waybench textmap`."""

import csv
import io
import json
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import click

from waybench.core import (
    DataError,
    Json,
    UsageError,
    make_writable_folder,
    plural,
)
from waybench.data import LocalFiles
from waybench.envs.textmap._items import LABELS, RELEASED_LABELS, selected_maps
from waybench.envs.textmap._place_map import NEVER, Edge, Move, PlaceMap, Traversal, edges_of_traversals
from waybench.envs.textmap._prefix import PUBLISHED_STEPS
from waybench.envs.textmap._questions import MOST_PATHS, WriteResult, count_questions, write_map
from waybench.ext.author.game_maps._story import GameFile
from waybench.ext.author.game_maps._words import (
    PlaceId,
    TextGame,
    Visit,
    is_darkness_title,
    names_place,
    normalise_name,
    read_commands,
    read_place_names,
    walk_through,
)

MOST_STEPS = NEVER - 1  # NEVER is the number that stands for "never"
# The paper's headings; "walkthrough" is the number of steps of the whole walkthrough, which Table 3 has as #STEPS.
_COLUMNS = {
    **{"game": "GAME", "locations": "#LOCS", "edges": "#EDGES", "average_path_length": "AVG LEN PATH"},
    **{"steps": "#STEPS", "walkthrough": "WALKTHROUGH", "df_easy": "# EASY DF", "df_hard": "# HARD DF"},
    **{"rf_easy": "# EASY RF", "rf_hard": "# HARD RF"},
}
_SUMMED = ("df_easy", "df_hard", "rf_easy", "rf_hard")
_FORMATS = ("table", "json", "csv")
_MOST_SHOWN = 5_000  # steps
_COUNT_EXAMPLES = """\b
waybench textmap counts --labels paper                       # Table 6
waybench textmap counts --labels paper --prefix-steps dragon=29,zork1=50 --games dragon,zork1
waybench textmap counts my-maps --format csv"""
_FILE = click.Path(path_type=Path)
_NAME = re.compile(r"[\w-]{1,60}", re.ASCII)
_EXAMPLES = """\b
waybench textmap build 905.z5
waybench textmap build my-game.z8 --commands walk.txt
waybench textmap build 905.z5 --names 905/905.code2anno.json --out better"""


def count_titles(visits: Iterable[Visit]) -> dict[PlaceId, Counter[str]]:
    """Return how often the game used each title of each place, with the places in the order of arrival.

    A title is the name in the game's own table or, without such a name, the title that the game printed; a title that
    only says that it is dark counts where the place has no other title.
    """
    titles: dict[PlaceId, Counter[str]] = {}
    dark_titles: dict[PlaceId, Counter[str]] = defaultdict(Counter)
    for visit in visits:
        if visit.place is None:
            continue
        titles.setdefault(visit.place, Counter())
        title = normalise_name(visit.name or "") or visit.title
        if title:
            is_dark = visit.name is None and is_darkness_title(title)
            (dark_titles if is_dark else titles)[visit.place][title] += 1
    return {place_id: light_titles or dark_titles[place_id] for place_id, light_titles in titles.items()}


def name_places(titles: Mapping[PlaceId, Counter[str]], chosen_names: Mapping[str, str]) -> dict[PlaceId, str]:
    """Return one name for each place id: the chosen name, else the most frequent title.

    Of equally frequent titles the first counts. Ids with the same chosen name are one place. Without a chosen name, a
    second place of the same title has a number added: "hall (2)".

    Raises:
        DataError: If an id in `chosen_names` is not in `titles`.
    """
    ids = {str(place_id): place_id for place_id in titles}
    for text in chosen_names:
        if text not in ids:
            known_ids = ", ".join(sorted(ids)[:12]) + (", ..." if len(ids) > 12 else "")
            raise DataError(f"names: the walk reaches no place with the id {text[:40]!r}; ids are {known_ids}")
    names = {place_id: normalise_name(chosen_names[text]) for text, place_id in ids.items() if text in chosen_names}
    used_names = set(names.values())
    for place_id, title_counts in titles.items():
        if place_id not in names:
            title = title_counts.most_common(1)[0][0] if title_counts else "nameless place"
            candidates = (title if number == 1 else f"{title} ({number})" for number in count(1))
            names[place_id] = next(name for name in candidates if name not in used_names)
            used_names.add(names[place_id])
    return {place_id: names[place_id] for place_id in titles}


@dataclass(frozen=True, slots=True)
class GameMap:
    """The map of a game.

    Attributes:
        place_map: The map, with the whole walkthrough.
        codes: For each place of the map its ids in the game, as text.
        unused: Number of commands that were not typed, because the game was over.
    """

    place_map: PlaceMap
    codes: Mapping[str, tuple[str, ...]]
    unused: int


def map_game(
    engine: TextGame,
    commands: Sequence[str],
    name: str,
    *,
    steps: int | None = None,
    names: Mapping[str, str] | None = None,
) -> GameMap:
    """Play a game by a list of commands and return the map of the places that it reaches.

    A command after which the player is at another place is a move. After each move the opposite action is tried; if it
    leads back, the map has it as a move that can be inferred.

    The map has the moves up to step `steps`; all if None. `names` has the name to use for some ids of places, as text;
    ids with the same name are one place.

    Raises:
        UsageError: If there are too many commands, or none of them leads from one place to another.
        DataError: If a name is given to an id that was not reached.
    """
    if len(commands) > MOST_STEPS:
        raise UsageError(f"{len(commands):,} commands are too many: give at most {MOST_STEPS:,}")
    visits, unused = walk_through(engine, commands)
    titles = count_titles(visits)
    name_by_id = name_places(titles, names or {})
    titles_by_name: dict[str, set[str]] = {}
    for place_id, place_name in name_by_id.items():
        titles_by_name.setdefault(place_name, {place_name}).update(titles[place_id])
    for visit in visits:
        if visit.place is not None and visit.title and not is_darkness_title(visit.title):
            titles_by_name[name_by_id[visit.place]].add(visit.title)
    edges = _map_edges(visits if steps is None else visits[: steps + 1], name_by_id, titles_by_name)
    if not edges:
        raise UsageError("no command led from one place to another: give commands that walk through the game")
    places = tuple(sorted({end for edge in edges for end in (edge.source, edge.target)}))
    codes = {place: tuple(str(code) for code, name_of in name_by_id.items() if name_of == place) for place in places}
    actions = tuple(sorted({edge.action for edge in edges}))
    return GameMap(PlaceMap(name, places, actions, edges, tuple(visit.step for visit in visits)), codes, unused)


def _map_edges(
    visits: Sequence[Visit], names: Mapping[PlaceId, str], titles_by_name: Mapping[str, Collection[str]]
) -> tuple[Edge, ...]:
    """Return the edges of the map that a walk has found.

    A stay is a run of visits at one place. `names` maps the ids of places to names, and `titles_by_name` each name to
    the titles by which a reader knows the place.
    """
    stay_names: list[str | None] = []
    arrival_steps: list[int] = []
    naming_steps: list[int] = []
    traversals: list[Traversal] = []
    inferred_moves: dict[Move, int] = {}
    reversible_moves: set[Move] = set()
    for visit in visits:
        place_name = None if visit.place is None else names[visit.place]
        if not stay_names or place_name != stay_names[-1]:
            place_before = stay_names[-1] if stay_names else None
            if place_before is not None and place_name is not None and visit.action:
                move = (place_before, visit.action, place_name)
                traversals.append(Traversal(visit.step.number, move, (len(stay_names) - 1, len(stay_names))))
                # A move that did not lead back, as through a door that fell shut, may lead back another time.
                backs = (back for back, end in visit.backs if end is not None and names.get(end) == place_before)
                if move not in reversible_moves and (back := next(backs, None)) is not None:
                    inferred_moves[place_name, back, place_before] = len(traversals) - 1
                    reversible_moves.add(move)
            stay_names.append(place_name)
            arrival_steps.append(visit.step.number)
            naming_steps.append(NEVER)
        if place_name is not None and names_place(visit.step.observation, titles_by_name[place_name]):
            naming_steps[-1] = min(naming_steps[-1], visit.step.number)
    return edges_of_traversals(traversals, _naming_steps(stay_names, arrival_steps, naming_steps), inferred_moves)


def _naming_steps(stay_names: Sequence[str | None], arrivals: Sequence[int], naming_steps: Sequence[int]) -> list[int]:
    """Return for each stay the step at which its place is named: during the stay, else in the next stay there.

    A place that is not named after an arrival counts as named at the arrival, for a question has to have some step.
    """
    steps_by_name: dict[str | None, list[int]] = {}
    for name, step in zip(stay_names, naming_steps, strict=True):
        if step < NEVER:
            steps_by_name.setdefault(name, []).append(step)

    def next_naming_step(name: str | None, arrival: int) -> int:
        """Return the first step from an arrival on at which a place is named; the arrival without any."""
        steps_here = steps_by_name.get(name, [])
        position = bisect_left(steps_here, arrival)
        return steps_here[position] if position < len(steps_here) else arrival

    return [
        next_naming_step(name, arrival) if step == NEVER else step
        for name, arrival, step in zip(stay_names, arrivals, naming_steps, strict=True)
    ]


@click.command("counts", short_help="Count the questions about each map.", epilog=_COUNT_EXAMPLES)
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--data-dir", type=click.Path(path_type=Path), help="Folder of the published data.")
@click.option("--games", help="Names of maps, separated by commas.  [default: all]")
@click.option(
    "--prefix-steps",
    metavar="STEPS|GAME=STEPS,...",
    help="Steps of the walkthrough that are shown, of all games or of games that are named.  [default: "
    f"{PUBLISHED_STEPS} of a published game, otherwise all]",
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
    folder: Path | None, data_dir: Path | None, games: str | None, prefix_steps: str | None, labels: str, form: str
) -> None:
    """Count locations, moves and questions of each map: destinations (DF) and routes (RF), easy and hard.

    FOLDER has maps as `waybench textmap build` writes them; without it the published maps are counted. As in the
    paper, the last step of a published walkthrough is never shown.
    """
    if folder is not None and data_dir is not None:
        raise UsageError("--data-dir: for published maps; give it or FOLDER")
    steps_of = _parse_prefix_steps(prefix_steps or "")
    if folder is None and (longest := max(steps_of.values(), default=0)) > PUBLISHED_STEPS:
        raise UsageError(f"--prefix-steps {longest}: the published maps end at step {PUBLISHED_STEPS}")
    source = "published" if folder is None else str(folder)
    maps = list(selected_maps({"source": source, "games": games}, LocalFiles(data_dir)))
    if games is None and (unknown := steps_of.keys() - {place_map.name for place_map in maps} - {""}):
        raise UsageError(f"--prefix-steps: there is no map {', '.join(sorted(unknown))[:200]}")
    rows = [
        _count_row(place_map, steps_of.get(place_map.name, steps_of.get("")), labels, published=folder is None)
        for place_map in maps
    ]
    click.echo(_FORMATTED[form](rows), nl=False)


def _parse_prefix_steps(text: str) -> dict[str, int]:
    """Return the number of prefix steps by the name of the game; "" stands for all games."""
    steps_of: dict[str, int] = {}
    for part in text.split(",") if text else ():
        game, _, steps = part.rpartition("=")
        if not re.fullmatch("[0-9]{1,4}", steps) or not 1 <= int(steps) <= _MOST_SHOWN or game in steps_of:
            raise UsageError(
                f"--prefix-steps {part[:60]!r}: give a number from 1 to {_MOST_SHOWN:,}, or one for each of several "
                "games, as zork1=50,dragon=29"
            )
        steps_of[game] = int(steps)
    return steps_of


def _count_row(place_map: PlaceMap, steps: int | None, labels: str, *, published: bool) -> dict[str, Json]:
    """Return the counts of a map's questions as a row of the table."""
    last_step = place_map.last_step - 1 if published else place_map.last_step
    prefix_steps = PUBLISHED_STEPS if published and steps is None else steps
    n_shown = last_step if prefix_steps is None else min(prefix_steps, last_step)
    question_counts = count_questions(place_map, n_shown, LABELS[labels])
    return {
        "game": place_map.name,
        "locations": question_counts.places,
        "edges": question_counts.edges,
        "average_path_length": round(question_counts.average_length, 2),
        "steps": question_counts.steps,
        "walkthrough": place_map.last_step,
        "df_easy": question_counts.destination_easy,
        "df_hard": question_counts.destination_hard,
        "rf_easy": question_counts.route_easy,
        "rf_hard": question_counts.route_hard,
    }


def _rows_to_csv(rows: Iterable[dict[str, Json]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(_COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _rows_to_text_table(rows: Sequence[dict[str, Json]]) -> str:
    """Return the rows of counts as aligned text, with a line of totals if there are several."""
    lines = [list(_COLUMNS.values()), *([_format_count(row[name]) for name in _COLUMNS] for row in rows)]
    if len(rows) > 1:
        total = {name: f"{sum(row[name] for row in rows):,}" for name in _SUMMED}
        lines.append([total.get(name, "total" if name == "game" else "") for name in _COLUMNS])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded_rows = ([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])] for name, *cells in lines)
    return "".join("  ".join(row) + "\n" for row in padded_rows)


def _format_count(value: Json) -> str:
    return f"{value:.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


_FORMATTED: Mapping[str, Callable[[Sequence[dict[str, Json]]], str]] = {
    "table": _rows_to_text_table,
    "json": lambda rows: json.dumps(rows, indent=1) + "\n",
    "csv": _rows_to_csv,
}


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
    map_name = game.stem if name is None else name
    if not _NAME.fullmatch(map_name):
        raise UsageError(f"{map_name[:80]!a} is not a valid map name: give --name with letters, digits, '-' and '_'")
    folder = Path(map_name) if out is None else out
    if existing_files := sorted(folder.glob(f"{map_name}.*")) if folder.is_dir() else []:  # before any work
        raise UsageError(f"{existing_files[0]} exists already: choose another folder with --out, or another --name")
    names_of_places = None if names is None else read_place_names(names)
    command_list = None if commands is None else read_commands(commands)
    story = GameFile(game)
    command_list = command_list or story.walkthrough
    if not command_list:
        raise UsageError(
            f"{game}: jericho has no walkthrough of this game; give --commands, a file with one command per line"
        )
    game_map = map_game(story.open_game(command_list), command_list, map_name, steps=steps, names=names_of_places)
    make_writable_folder(folder)
    _print_summary(game_map, write_map(folder, game_map.place_map, game_map.codes, most_paths=paths), folder)


def _print_summary(game_map: GameMap, written: WriteResult, folder: Path) -> None:
    """Print the numbers of places, moves and questions of a map, and its files."""
    place_map = game_map.place_map
    n_walked = sum(1 for edge in place_map.edges if edge.forward < NEVER)
    moves = f"{plural(len(place_map.edges), 'move')} ({n_walked} walked, {len(place_map.edges) - n_walked} inferred)"
    click.echo(
        f"{place_map.name}: {plural(len(place_map.places), 'place')}, {moves}, {plural(place_map.last_step, 'step')}"
    )
    if game_map.unused:
        click.echo(
            f"the game ended at step {place_map.last_step}: "
            f"{plural(game_map.unused, 'command was', 'commands were')} not used"
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
