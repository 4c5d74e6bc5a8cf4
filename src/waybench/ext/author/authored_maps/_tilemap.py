"""A world on a map of tiles, as a model writes it: story, characters, tiles, map, objectives.

The steps are those of Word2World (Nasir, James and Togelius 2024), with which the maps of GameTraversalBenchmark were
made; all words are our own.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from unicodedata import category

from waybench.core import is_array, is_object, json_excerpt, plural
from waybench.envs.tilemap._instance import Objective, TileMap, tour_leg_lengths
from waybench.ext.author.authored_maps._steps import AuthorStep, RefusedAnswer

PLAYER, ENEMY = "@", "#"
NO_TILES = "[ ] ' , \" \\"  # the records' lists of tiles are Python literals
SIGNS = frozenset(map(chr, range(33, 127))) - set(NO_TILES) - {PLAYER, ENEMY}
LONGEST_NAME = 60
LONGEST_STORY = 6000
MOST_OTHERS = 8
FEWEST_TILES, MOST_TILES = 2, 60
RARE = 12  # the cells of a kind of tile are listed for the model if they are so many or fewer

ROLE = (
    "You design a small world for a game that is played on a map of tiles, step by step. Answer each step in exactly "
    "the form that it asks for, and with nothing else."
)


@dataclass(frozen=True, slots=True)
class Draft:
    """The parts of a world that are written so far.

    Attributes:
        count: Number of objectives that the world will have.
        theme: The theme of the world; "" if the model chooses.
        others: Names of the characters beside protagonist (the player) and antagonist (the enemy).
        tiles: Names and characters of tiles, without those of the player and the enemy.
        walkable: Characters of tiles that can be walked on.
        interactive: Characters of objects and persons.
        drawn: The map, row by row.
        objectives: The objectives in the order of play.
    """

    rows: int
    columns: int
    count: int
    theme: str = ""
    story: str = ""
    protagonist: str = ""
    antagonist: str = ""
    others: tuple[str, ...] = ()
    tiles: tuple[tuple[str, str], ...] = ()
    walkable: str = ""
    interactive: str = ""
    drawn: tuple[str, ...] = ()
    objectives: tuple[Objective, ...] = ()

    def to_tile_map(self) -> TileMap:
        """Return the finished map, with the length of the shortest tour of its objectives."""
        tile_map = TileMap(
            rows=self.drawn,
            tiles=(*self.tiles, (self.protagonist, PLAYER), (self.antagonist, ENEMY)),
            walkable=repr(list(self.walkable)),
            interactive=repr(list(self.interactive)),
            objectives=self.objectives,
            path_length=0,
            story=self.story,
        )
        tile_map = replace(tile_map, path_length=sum(leg or 0 for leg in tour_leg_lengths(tile_map, self.walkable)))
        return replace(tile_map, id=tile_map.hash[:12])

    def cells_with_tile(self, sign: str) -> list[tuple[int, int]]:
        """Return the cells of a tile as (row, column)."""
        return [(r, c) for r, row in enumerate(self.drawn) for c, tile in enumerate(row) if tile == sign]


# For each of `STEPS`, the request and the check that adds the answer to the draft (see `AuthorStep`).


def _story_prompt(draft: Draft) -> str:
    theme = f" It is about: {draft.theme}." if draft.theme else ""
    return (
        f"Step 1, the story. Tell the story of the world in 150 to 400 words of plain text, without headings or lists: "
        f"a protagonist who pursues {draft.count} aims one after the other, each at a place of its own, and an "
        f"antagonist who stands against it.{theme}"
    )


def _add_story(text: str, draft: Draft) -> Draft | RefusedAnswer:
    if any(category(sign) in ("Cc", "Cs") and sign not in "\n\r\t" for sign in text):
        return RefusedAnswer(["The story has control characters: give plain text."])
    return replace(draft, story=text)


def _characters_prompt(draft: Draft) -> str:
    return (
        'Step 2, the characters. Name the characters of the story as JSON: {"protagonist": "...", "antagonist": "...", '
        f'"others": ["...", ...]}}. "others" has at most {MOST_OTHERS} names and may be empty. All names differ, and '
        f"none has more than {LONGEST_NAME} characters."
    )


def _add_characters(answer: dict[str, Any], draft: Draft) -> Draft | RefusedAnswer:
    protagonist, antagonist, others = answer["protagonist"], answer["antagonist"], answer["others"]
    if not is_array(others) or len(others) > MOST_OTHERS:
        return RefusedAnswer([f'"others" must be a list of at most {MOST_OTHERS} names.'])
    names = [protagonist, antagonist, *others]
    problems = [_name_problem(name) for name in names if not _is_valid_name(name)]
    if not problems:
        problems = [f"{json_excerpt(name)} is the name of several characters." for name in _duplicates(names)]
    new_draft = replace(draft, protagonist=protagonist, antagonist=antagonist, others=tuple(others))
    return RefusedAnswer(problems) if problems else new_draft


def _tiles_prompt(draft: Draft) -> str:
    names = ", ".join(map(json_excerpt, draft.others))
    character_sentence = f"Each of these characters has a tile of exactly its name: {names}. " if draft.others else ""
    return (
        "Step 3, the tiles. List the kinds of tiles of which the map is made, as JSON: "
        '{"tiles": {"Meadow": "m", "Brick Wall": "W", ...}, "walkable": ["m", ...], "interactive": ["k", ...]}. '
        f'"tiles" has from {FEWEST_TILES} to {MOST_TILES} names, each with one character that no other has: a letter, '
        f"a digit or another printable ASCII character, but no blank and none of {NO_TILES} @ #. "
        f"@ stands for {json_excerpt(draft.protagonist)} and # for {json_excerpt(draft.antagonist)}: leave these two "
        f"out. {character_sentence}"
        '"walkable" has the characters of the tiles that the player can walk on, "interactive" those of objects and '
        "persons that matter to the story. Other tiles, such as walls and water, stand in the way. The player will "
        f"have to step on {draft.count} places: whatever is to be reached must be a tile that can be walked on."
    )


def _add_tiles(answer: dict[str, Any], draft: Draft) -> Draft | RefusedAnswer:
    tiles = answer["tiles"]
    if not is_object(tiles) or not FEWEST_TILES <= len(tiles) <= MOST_TILES:
        return RefusedAnswer([f'"tiles" must be an object of {FEWEST_TILES} to {MOST_TILES} names.'])
    problems = [_name_problem(name) for name in tiles if not _is_valid_name(name)]
    for name, sign in tiles.items():
        if name in (draft.protagonist, draft.antagonist):
            problems.append(f"{json_excerpt(name)} has its character already: leave it out.")
        if not isinstance(sign, str) or sign not in SIGNS:
            problems.append(f"{json_excerpt(name)}: {json_excerpt(sign)} is no character that a tile can have.")
    signs = [sign for sign in tiles.values() if isinstance(sign, str)]
    problems += [f"{json_excerpt(sign)} is the character of several tiles." for sign in _duplicates(signs)]
    problems += [
        f"The character {json_excerpt(name)} has no tile of this name." for name in draft.others if name not in tiles
    ]
    for key in ("walkable", "interactive"):
        listed_signs = answer[key]
        if not is_array(listed_signs) or not all(isinstance(sign, str) and sign in signs for sign in listed_signs):
            problems.append(f'"{key}" must be a list of characters that "tiles" has.')
        elif not listed_signs and key == "walkable":
            problems.append('"walkable" is empty: the player must be able to walk on something.')
    if problems:
        return RefusedAnswer(problems)
    walkable, interactive = ("".join(dict.fromkeys(answer[key])) for key in ("walkable", "interactive"))
    return replace(draft, tiles=tuple(tiles.items()), walkable=walkable, interactive=interactive)


def _map_prompt(draft: Draft) -> str:
    return (
        f'Step 4, the map. Draw the map as JSON, one text for each row from top to bottom: {{"map": ["...", ...]}}. '
        f"It has exactly {draft.rows} rows of exactly {draft.columns} characters each: only the characters of your "
        f"tiles, exactly one @ and exactly one #. The player begins at @ and goes up, down, left and right, one tile "
        f"at a time, only over tiles that can be walked on ({' '.join(draft.walkable)}). Draw at least {draft.count} "
        "places that matter to the story on such tiles, and see to it that they can all be reached from @. Walls and "
        "other obstacles should make the ways between them longer than straight."
    )


def _add_map(answer: dict[str, Any], draft: Draft) -> Draft | RefusedAnswer:
    rows = answer["map"]
    if not is_array(rows) or not all(isinstance(row, str) for row in rows):
        return RefusedAnswer(['"map" must be a list of texts, one for each row.'])
    problems = [f"The map has {plural(len(rows), 'row')}: give {draft.rows}."] if len(rows) != draft.rows else []
    for number, row in enumerate(rows):
        if len(row) != draft.columns:
            problems.append(f"Row {number} (from 0) has {plural(len(row), 'character')}: give {draft.columns}.")
    signs = {sign for _, sign in draft.tiles} | {PLAYER, ENEMY}
    unknown_signs = dict.fromkeys(sign for row in rows for sign in row if sign not in signs)
    problems += [f"The map has the character {json_excerpt(sign)}, which is no tile." for sign in unknown_signs]
    for sign in (PLAYER, ENEMY):
        if (count := sum(row.count(sign) for row in rows)) != 1:
            problems.append(f"The map has {count} of {sign}: give exactly one.")
    if problems:
        return RefusedAnswer(problems)
    draft = replace(draft, drawn=tuple(rows))
    tile_map = draft.to_tile_map()
    n_reachable = tile_map.floor(draft.walkable).reachable_from(tile_map.start).bit_count() - 1
    if n_reachable < draft.count:
        places = plural(n_reachable, "place")
        return RefusedAnswer(
            [f"Only {places} can be reached from @: {plural(draft.count, 'objective')} cannot be placed."]
        )
    return draft


def _objectives_prompt(draft: Draft) -> str:
    cells_by_sign = {sign: cells for sign in draft.walkable if 0 < len(cells := draft.cells_with_tile(sign)) <= RARE}
    tile_texts = "; ".join(f"{sign} at " + ", ".join(map(str, cells)) for sign, cells in cells_by_sign.items())
    tile_sentence = f" The rarer tiles that can be walked on are, as (row, column): {tile_texts}." if tile_texts else ""
    return (
        f'Step 5, the objectives. List them in the order of play, as JSON: {{"objectives": {{"Fetch the lantern": '
        f'["k", 3, 7], ...}}}}. There are exactly {draft.count}, each with a name of its own of at most {LONGEST_NAME} '
        "characters, the character that the map has at its place, its row and its column, both counted from 0 at the "
        "top left. All places differ, each is on a tile that can be walked on "
        f"({' '.join(draft.walkable)}), and each can be reached from the one before, the first from @.{tile_sentence}"
    )


def _add_objectives(answer: dict[str, Any], draft: Draft) -> Draft | RefusedAnswer:
    values = answer["objectives"]
    if not is_object(values) or len(values) != draft.count:
        problem = f"has {plural(len(values), 'entry', 'entries')}" if is_object(values) else "is no object"
        return RefusedAnswer([f'"objectives" {problem}: give an object of exactly {draft.count}.'])
    problems = list[str]()
    objectives = list[Objective]()
    for name, value in values.items():
        objective_problem = _objective_problem(name, value, draft)
        if objective_problem:
            problems.append(objective_problem)
        else:
            objectives.append(Objective(name, *value))
    cells = [(objective.row, objective.column) for objective in objectives]
    problems += [
        f"Several objectives are at {_position_text(*cell)}: give each its own place." for cell in _duplicates(cells)
    ]
    if problems:
        return RefusedAnswer(problems)
    draft = replace(draft, objectives=tuple(objectives))
    unreachable = _unreachable_objectives(draft)
    return RefusedAnswer(unreachable, back="map") if unreachable else draft


def _objective_problem(name: str, value: Any, draft: Draft) -> str:
    """Return the problem of an objective, as a sentence; "" if it is a cell of the map that can be walked on."""
    if not _is_valid_name(name):
        return _name_problem(name)
    quoted_name = json_excerpt(name)
    if not is_array(value) or [type(part) for part in value] != [str, int, int]:
        return f'{quoted_name}: give ["character", row, column].'
    tile, row, column = str(value[0]), int(value[1]), int(value[2])
    if not (0 <= row < draft.rows and 0 <= column < draft.columns):
        end = _position_text(draft.rows - 1, draft.columns - 1)
        return f"{quoted_name}: {_position_text(row, column)} is outside the map, which ends at {end}."
    tile_there = draft.drawn[row][column]
    if tile_there != tile:
        nearest = min(
            draft.cells_with_tile(tile), key=lambda cell: abs(cell[0] - row) + abs(cell[1] - column), default=None
        )
        hint = f" The nearest {json_excerpt(tile)} is at {_position_text(*nearest)}." if nearest else ""
        position = _position_text(row, column)
        return f"{quoted_name}: at {position} the map has {json_excerpt(tile_there)}, not {json_excerpt(tile)}.{hint}"
    if tile not in draft.walkable:
        return f"{quoted_name}: the tile {json_excerpt(tile)} at {_position_text(row, column)} cannot be walked on."
    return ""


def _unreachable_objectives(draft: Draft) -> list[str]:
    """Return a sentence for each objective that cannot be reached from the objective before it."""
    tile_map = draft.to_tile_map()
    position = divmod(tile_map.start, tile_map.width)
    problems = list[str]()
    legs = tour_leg_lengths(tile_map, draft.walkable)
    for (name, _, row, column), leg in zip(tile_map.objectives, legs, strict=True):
        if leg is None:
            problems.append(
                f"With this map the objective {json_excerpt(name)} at {_position_text(row, column)} cannot be reached "
                f"from {_position_text(*position)}: open a way over tiles that can be walked on."
            )
        else:
            position = (row, column)
    return problems


def _is_valid_name(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable() and value == value.strip() and 0 < len(value) <= LONGEST_NAME


def _name_problem(value: Any) -> str:
    return f"{json_excerpt(value)} is no name: give 1 to {LONGEST_NAME} printable characters."


def _duplicates(values: Iterable[Any]) -> list[Any]:
    """Return the values that occur more than once."""
    return [value for value, number in Counter(values).items() if number > 1]


def _position_text(row: int, column: int) -> str:
    return f"row {row}, column {column}"


STEPS: tuple[AuthorStep[Draft], ...] = (
    AuthorStep("story", (), lambda _: LONGEST_STORY, _story_prompt, _add_story),
    AuthorStep(
        "characters", ("protagonist", "antagonist", "others"), lambda _: 4000, _characters_prompt, _add_characters
    ),
    AuthorStep("tiles", ("tiles", "walkable", "interactive"), lambda _: 12_000, _tiles_prompt, _add_tiles),
    AuthorStep("map", ("map",), lambda draft: 2000 + 2 * draft.rows * (draft.columns + 10), _map_prompt, _add_map),
    AuthorStep(
        "objectives", ("objectives",), lambda draft: 2000 + 400 * draft.count, _objectives_prompt, _add_objectives
    ),
)
