"""`waybench textmap`: maps of places out of text games."""

import re
from pathlib import Path

import click

from waybench.contrib.game_maps._build import GameMap, map_game
from waybench.contrib.game_maps._lists import read_commands, read_names
from waybench.contrib.game_maps._story import Story
from waybench.core import UsageError, plural, prepare_folder
from waybench.envs.textmap import MOST_PATHS, NEVER, WriteResult, write_map

_FILE = click.Path(path_type=Path)
_NAME = re.compile(r"[\w-]{1,60}", re.ASCII)

_EXAMPLES = """\b
waybench textmap build 905.z5
waybench textmap build my-game.z8 --commands walk.txt
waybench textmap build 905.z5 --names 905/905.code2anno.json --out better"""


@click.group("textmap", invoke_without_command=True)
@click.pass_context
def textmap(context: click.Context) -> None:
    """Make maps from text games."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@textmap.command("build", short_help="Walk through a game and write its map.", epilog=_EXAMPLES)
@click.argument("game", type=_FILE)
@click.option(
    "--commands", type=_FILE, help="File of commands to type, one per line.  [default: jericho's walkthrough]"
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
