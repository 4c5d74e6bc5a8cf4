"""Moves with distances in the frames of the compass and of the body: the same questions and answers in other words."""

import json
from itertools import pairwise
from typing import Any

import pytest

from waybench.core import Episode, Invalid, Item, play_to_end, policy, replay
from waybench.envs import registry
from waybench.envs.textmap._frame import distance_in_meters
from waybench.results import LoggedEpisode, rows
from waybench.results.comparisons._contrasts import contrast_effects

PLACES = ["hall", "yard", "shed", "loft"]
MOVES = [("hall", "north", "yard"), ("yard", "east", "shed"), ("shed", "up", "loft"), ("shed", "southwest", "hall")]
BACKS = [("yard", "south", "hall"), ("shed", "west", "yard"), ("loft", "down", "shed"), ("hall", "northeast", "shed")]
MADE_AT = (1, 3, 6, 8)
EDGES = [
    *([move[0], move[2], move[1], step, 9999, step, 9999] for step, move in zip(MADE_AT, MOVES, strict=True)),
    *([move[0], move[2], move[1], 9999, step, 9999, step] for step, move in zip(MADE_AT, BACKS, strict=True)),
]
COMMANDS = ["Init", "north", "look", "go east", "west wall", "east", "up", "down", "southwest"]  # one is blocked
STEPS = [[command, f"You see north of {number}.\n"] for number, command in enumerate(COMMANDS)]


def item(**question: Any) -> Item[Any]:
    data = {
        "map": {
            "name": "farm",
            "places": PLACES,
            "actions": sorted({edge[2] for edge in EDGES}),
            "edges": EDGES,
            "steps": STEPS,
        },
        "cutoff": 8,
        **question,
    }
    return registry.load("textmap/route").item(data)


ROUTE = item(src="yard", dst="loft")
METERS = {
    pair: distance_in_meters(ROUTE.instance.map, *pair)
    for pair in [("hall", "yard"), ("yard", "shed"), ("shed", "hall")]
}


def prompt(frame: str, **options: Any) -> str:
    (message,) = Episode(
        registry.load("textmap/route"), ROUTE, {"frame": frame, "wording": "plain", **options}
    ).messages
    return message.text


def shown(frame: str) -> list[str]:
    return [line.removeprefix("==>ACT: ") for line in prompt(frame).splitlines() if line.startswith("==>ACT")]


def parsed(frame: str, *moves: tuple[str, str, str], question: Item[Any] = ROUTE) -> Any:
    env = registry.load("textmap/route")
    episode = Episode(env, question, {"frame": frame, "protocol": "sound"})
    keys = ("location_before", "action", "location_after")
    text = json.dumps([dict(zip(keys, move, strict=True)) for move in moves])
    return episode.play.wording.parse(text, episode.state)


def test_the_walkthrough_is_told_in_the_frame() -> None:
    to_yard, to_shed, to_hall = METERS.values()
    assert shown("compass") == [
        *("Init", f"north {to_yard} meters", "look", f"east {to_shed} meters", "west wall", "east", "up", "down"),
        f"southwest {to_hall} meters",
    ]
    assert shown("body") == [
        *("Init", f"{to_yard} meters ahead", "look", f"turn right, {to_shed} meters ahead", "west wall", "ahead", "up"),
        *("down", f"turn sharp right, {to_hall} meters ahead"),
    ]


def test_no_compass_is_left_in_the_body_frame() -> None:
    text = prompt("body")
    assert "You see north" not in text and text.count("north") == 2  # that of the note, which says where it begins
    assert "turn half left, N meters ahead" in text
    assert "north" in prompt("game") and "meters" not in prompt("game")


def test_a_body_turns_as_it_goes() -> None:
    first, second = METERS["yard", "shed"], METERS["shed", "hall"]
    answer = [("yard", f"turn right, {first} meters ahead", "shed"), ("shed", "up", "loft"), ("loft", "down", "shed")]
    hops = parsed("body", *answer, ("shed", f"turn sharp right and walk {second} m", "hall"))
    assert [hop.action for hop in hops] == ["east", "up", "down", "southwest"]
    assert all(last.after == following.before for last, following in pairwise(hops))


@pytest.mark.parametrize(
    ("frame", "action", "stands_for"),
    [
        ("compass", "east", "east"),
        ("compass", "Walk {} metres east", "east"),
        ("compass", "east {}m", "east"),
        ("compass", "east 99 meters", "east 99 meters"),  # no such move: it leads nowhere
        ("compass", "fly", "fly"),
        ("body", "turn right", "east"),
        ("body", "turn right, then go straight ahead", "east"),
        ("body", "turn left, {} meters ahead", "west"),
        ("body", "turn right, 99 meters ahead", "turn right, 99 meters ahead"),
        ("body", "ahead", "north"),
    ],
)
def test_words_of_a_frame(frame: str, action: str, stands_for: str) -> None:
    (hop,) = parsed(frame, ("yard", action.format(METERS["yard", "shed"]), "shed"))
    assert hop.action == stands_for


def test_a_turn_on_the_spot_is_no_move() -> None:
    hops = parsed("body", ("yard", "turn right", "yard"), ("yard", "walk ahead", "shed"))
    assert [(hop.before, hop.action, hop.after) for hop in hops] == [("yard", "east", "shed")]
    assert isinstance(parsed("body", ("yard", "turn right", "yard")), Invalid)


@pytest.mark.parametrize(("frame", "action"), [("compass", "turn right, 3 meters ahead"), ("body", "east 3 meters")])
def test_the_other_frame_is_not_read(frame: str, action: str) -> None:
    assert isinstance(parsed(frame, ("yard", action, "shed")), Invalid)


def test_distances_are_the_same_both_ways_and_under_other_names() -> None:
    env = registry.load("textmap/route")
    original = env.source("frames", 2).item(0).instance
    assert env.items.isomorph is not None
    renamed = env.items.isomorph(original, "key", 1)
    places = original.map.places
    for first, second in [(0, 1), (2, 3), (1, 0)]:
        assert distance_in_meters(original.map, places[first], places[second]) == distance_in_meters(
            renamed.map, renamed.map.places[second], renamed.map.places[first]
        )


@pytest.mark.parametrize("kind", ["route", "destination"])
@pytest.mark.parametrize("options", [{}, {"protocol": "sound", "interface": "tools", "language": "es"}])
def test_players_do_the_same_in_all_frames(kind: str, options: dict[str, Any]) -> None:
    env = registry.load(f"textmap/{kind}")
    for question in env.source("frames", 2).head(4):
        for player in ("oracle", "walked", "reverse", "random", "constant", "noisy-0.5"):
            records = [
                play_to_end(env, question, policy(player), {**options, "frame": frame}).record()
                for frame in ("game", "compass", "body")
            ]
            assert len({str([turn.action for turn in record.turns]) for record in records}) == 1
            replay(env, records[2])


def test_the_gap_is_that_of_the_same_questions() -> None:
    env = registry.load("textmap/destination")
    logged = [
        LoggedEpisode(
            "m", "mango_destination", play_to_end(env, question, policy(player), {"frame": frame}).record(), {}
        )
        for frame, player in (("compass", "oracle"), ("body", "null"), ("game", "oracle"))
        for question in env.source("frames", 2).head(8)
    ]
    (effect,) = contrast_effects(rows(logged))
    assert (effect.contrast.base, effect.contrast.demanding) == ("compass", "body")
    assert (effect.comparison.items, effect.comparison.difference.value) == (8, 1)
