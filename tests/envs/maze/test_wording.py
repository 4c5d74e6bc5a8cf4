"""The words of the maze: the published prompt, its representations, and the answers."""

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.envs.maze.mazes import ALICIA, CORRIDOR, MAZE_501, after, open_cells, reply
from waybench.core import Episode
from waybench.envs.maze._wording import REPRESENTATIONS

PUBLISHED = "aliciabench.txt"


def published_prompt(text: str) -> str:
    return text[text.index("I need to navigate through a maze") :].partition("Return only the JSON.")[0] + (
        "Return only the JSON."
    )


def opening(item: object = MAZE_501, **options: object) -> str:
    messages = Episode(ALICIA, item, options).messages
    assert [message.role for message in messages] == ["user"]
    return messages[0].text


def test_the_published_prompt_character_for_character(paper: Callable[[str], str]) -> None:
    assert opening() == published_prompt(paper(PUBLISHED))


def test_the_published_maze_is_501(paper: Callable[[str], str]) -> None:
    text = paper(PUBLISHED)
    printed = re.search(r"this is for example maze 501:\n((?:\[.*\],?\n?)+)", text)
    assert printed
    rows = [re.findall(r"[01X]", line) for line in printed[1].splitlines() if line.startswith("[")]
    assert "\n".join("".join(row) for row in rows[:5]) == MAZE_501.instance.canonical()
    assert "minimum number of steps is 6" in text


def test_the_sound_protocol_adds_where_the_exit_is(paper: Callable[[str], str]) -> None:
    sentence = " The exit is located at position [1,4]."
    published = published_prompt(paper(PUBLISHED))
    at = published.index("\nHelp me move")
    assert opening(protocol="sound") == published[:at] + sentence + published[at:]


@pytest.mark.parametrize(
    ("protocol", "hint", "told"),
    [
        ("paper", None, False),
        ("paper", False, False),
        ("paper", True, True),
        ("sound", None, True),
        ("sound", True, True),
        ("sound", False, False),
    ],
)
def test_exit_hint(protocol: str, hint: bool | None, told: bool) -> None:
    text = opening(protocol=protocol, exit_hint=hint)
    assert ("The exit is located" in text) == told


def map_of(text: str) -> str:
    found = re.findall(r"<Maze map>\n(.*?)\n</Maze map>", text, re.DOTALL)
    assert len(found) == 1
    return found[0]


def read_matrix(text: str) -> tuple[set[tuple[int, int]], tuple[int, int]]:
    rows = json.loads(text.replace("X", '"X"'))
    cells = {(x, y) for y, row in enumerate(rows) for x, cell in enumerate(row) if cell != 0}
    return cells, next((x, y) for y, row in enumerate(rows) for x, cell in enumerate(row) if cell == "X")


def read_ascii(text: str) -> tuple[set[tuple[int, int]], tuple[int, int]]:
    signs = {(x, y): sign for y, row in enumerate(text.split("\n")) for x, sign in enumerate(row)}
    assert set(signs.values()) == {"#", ".", "X"}
    (at,) = (place for place, sign in signs.items() if sign == "X")
    return {place for place, sign in signs.items() if sign != "#"}, at


def places(text: str) -> list[tuple[int, int]]:
    return [(int(x), int(y)) for x, y in re.findall(r"\[(\d+),(\d+)\]", text)]


def read_coordinates(text: str) -> tuple[set[tuple[int, int]], tuple[int, int]]:
    size, paths, at = text.split("\n")
    width, height = re.fullmatch(r"Size: (\d+) x (\d+)", size).groups()
    assert width == height
    assert places(paths) == sorted(places(paths), key=lambda place: place[::-1])
    return set(places(paths)), places(at)[0]


def read_prose(text: str) -> tuple[set[tuple[int, int]], tuple[int, int]]:
    first, *lines = text.split("\n")
    steps = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
    cells = {places(line)[0] for line in lines}
    for line in lines:
        (x, y), *near = places(line)
        ways = re.findall(r"(up|down|left|right) to", line)
        assert near == [(x + steps[way][0], y + steps[way][1]) for way in ways]
        assert set(near) == cells & {(x + dx, y + dy) for dx, dy in steps.values()}
    return cells, places(first)[-1]


READERS = {"matrix": read_matrix, "ascii": read_ascii, "coordinates": read_coordinates, "prose": read_prose}


def test_every_representation_has_a_reader() -> None:
    assert set(READERS) == set(REPRESENTATIONS)


@pytest.mark.parametrize("wording", REPRESENTATIONS)
@given(size=st.sampled_from([5, 7, 9, 21]), index=st.integers(0, 9), sides=st.sampled_from(["any", "left-top"]))
def test_every_representation_tells_the_whole_maze(wording: str, size: int, index: int, sides: str) -> None:
    item = ALICIA.source("words", size, sides=sides).item(index)
    text = opening(item, wording=wording)
    start = item.instance.lattice.position(item.instance.entrance)
    assert READERS[wording](map_of(text)) == (open_cells(item.instance), start)
    assert f"The entrance is located at position [{start[0]},{start[1]}]" in text
    assert text.startswith("I need to navigate through a maze")
    assert text.endswith("Return only the JSON.")


@pytest.mark.parametrize("wording", REPRESENTATIONS)
def test_the_map_is_kept_up_to_date(wording: str) -> None:
    episode = after(reply(("down", 1), ("left", 2)), wording=wording)
    assert READERS[wording](map_of(episode.messages[-1].text)) == (open_cells(MAZE_501.instance), (1, 1))


def test_the_entrance_shows_as_a_path_once_it_is_left() -> None:
    episode = after(reply(("down", 1)))
    assert map_of(episode.messages[-1].text) == "[[0,0,0,1,0],[0,1,1,X,0],[0,1,0,1,0],[0,1,1,1,0],[0,1,0,0,0]]"


AGAIN = "Give me directions from where I am now to the exit. Return only the JSON, in the same format as before."


def told(text: str, item: object = MAZE_501, **options: object) -> str:
    """Return what is said before the map, having checked that the map and the request for JSON follow."""
    answer = after(text, item=item, **options).messages[-1].text
    said, board, rest = re.fullmatch(r"(.*?)\n<Maze map>\n(.*)\n</Maze map>\n(.*)", answer, re.DOTALL).groups()
    assert board
    assert rest == AGAIN
    return said


def test_answer_to_a_wall() -> None:
    assert told(reply(("down", 1), ("LEFT", 2), ("left", 7), ("down", 1))) == (
        "Movement 3 (direction: left, cells: 7) is not viable: it goes through a wall. "
        "I have made only the movements before it, and I am now at position [1,1]."
    )


def test_answer_to_leaving_the_maze() -> None:
    assert told(reply(("up", 1))) == (
        "Movement 1 (direction: up, cells: 1) is not viable: it leaves the maze. "
        "I have not moved, and I am now at position [3,0]."
    )


def test_answer_to_a_billion_cells() -> None:
    assert told(reply(("down", 10**9))).startswith("Movement 1 (direction: down, cells: 1000000000) is not viable: it")


def test_answer_to_not_being_there_yet() -> None:
    wanted = "I have made all the movements, but I have not reached the exit yet. I am now at position [3,2]."
    assert told(reply(("down", 2))) == wanted


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", 'The reply has no JSON object with the key "movements".'),
        ("[]", 'The reply has no JSON object with the key "movements".'),
        ('[{"direction": "up", "cells": 1}]', 'The reply has no JSON object with the key "movements".'),
        ('{"movements": [}', 'The last JSON object with "movements" is malformed.'),
        ('{"movements": {}}', '"movements" must be a list of objects, not an object.'),
        ('{"movements": null}', '"movements" must be a list of objects, not null.'),
        ('{"movements": "up"}', '"movements" must be a list of objects, not "up".'),
        ('{"movements": [], "movements": []}', 'The JSON object has the key "movements" twice.'),
        ('{"movements": [], "a": 1, "a": 2}', 'The JSON object has the key "a" twice.'),
        ('{"movements": ["up"]}', 'Movement 1: it must be an object with "direction" and "cells".'),
        ('{"movements": [{"direction": "up"}]}', 'Movement 1: it must be an object with "direction" and "cells".'),
        ('{"movements": [{"cells": 1}]}', 'Movement 1: it must be an object with "direction" and "cells".'),
        (
            '{"movements": [{"direction": "up", "cells": 1, "cells": 2}]}',
            'Movement 1: it has the key "cells" twice.',
        ),
        (
            reply(("down", 1), ("north", 1)),
            'Movement 2: the direction must be up, down, right or left, not "north".',
        ),
        (
            '{"movements": [{"direction": 1, "cells": 1}]}',
            "Movement 1: the direction must be up, down, right or left, not 1.",
        ),
        (
            '{"movements": [{"direction": "u p", "cells": 1}]}',
            'Movement 1: the direction must be up, down, right or left, not "u p".',
        ),
        (
            '{"movements": [{"direction": ["up"], "cells": 1}]}',
            "Movement 1: the direction must be up, down, right or left, not a list.",
        ),
        (reply(("up", 0)), "Movement 1: cells must be a whole number of at least 1, not 0."),
        (reply(("up", -1)), "Movement 1: cells must be a whole number of at least 1, not -1."),
        (reply(("up", 1.5)), "Movement 1: cells must be a whole number of at least 1, not 1.5."),
        (reply(("up", "true")), "Movement 1: cells must be a whole number of at least 1, not true."),
        (reply(("up", "null")), "Movement 1: cells must be a whole number of at least 1, not null."),
        (reply(("up", '"2"')), 'Movement 1: cells must be a whole number of at least 1, not "2".'),
        (reply(("up", "[2]")), "Movement 1: cells must be a whole number of at least 1, not a list."),
        (reply(("up", "1e400")), "Movement 1: cells must be a whole number of at least 1, not Infinity."),
        (
            reply(("up", "9" * 30)),
            "Movement 1: cells must be a whole number of at least 1, not a number of more than 18 digits.",
        ),
        (reply(("up", "NaN")), 'The last JSON object with "movements" is malformed.'),
    ],
)
def test_answer_to_what_cannot_be_read(text: str, wrong: str) -> None:
    assert told(text) == f"I could not follow your directions, so I have not moved. {wrong}"
    turn = after(text).turns[0]
    assert (turn.outcome, turn.reason) == ("unparsed", wrong)


def test_the_answer_to_the_last_request_is_kept_too() -> None:
    episode = after("", "", reply(("down", 3), ("left", 2), ("down", 1)))
    assert episode.turns[-1].message == "I have reached the exit at [1,4]."


def test_the_conversation_grows() -> None:
    episode = after("one", "two")
    assert [message.role for message in episode.messages] == ["user", "assistant", "user", "assistant", "user"]
    assert [message.text for message in episode.messages[1::2]] == ["one", "two"]


@pytest.mark.parametrize("wording", REPRESENTATIONS)
def test_what_is_said_is_the_same_in_every_representation(wording: str) -> None:
    assert told(reply(("up", 1)), wording=wording) == told(reply(("up", 1)))
    assert told(reply(("right", 1)), CORRIDOR, wording=wording) == told(reply(("right", 1)), CORRIDOR)
