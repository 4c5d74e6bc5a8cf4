"""Minigames: which steps, which actions, the paper's prompt, replies, and published games."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.conftest import shared
from tests.envs.textmap import edge
from waybench.core import AnswerState, DataError, Invalid, Item, Stream, UsageError, play_to_end, policy
from waybench.envs.textmap._minigame_game import Minigame, decode_minigame, resolve_minigame, sample_minigames
from waybench.envs.textmap._place_map import NEVER, PlaceMap, WalkthroughStep, load_map
from waybench.envs.textmap._prefix import published_walkthrough_text
from waybench.envs.textmap.worlds._data import opposite_action
from waybench.envs.textmap.worlds._items import draw_world
from waybench.envs.textmap.worlds._play import WorldEngine

ENV = waybench.load("textmap/minigame")

# The forest of the paper's Example 9. "Altar" is shown as reached before, as the example has it.
_STEPS = (
    ("Init", "Altar"),
    ("east", "Forest Path"),
    ("up", "Up a Tree\nOn the branch is a jewelled egg."),
    ("take egg", "Taken."),
    ("down", "Forest Path"),
    ("south", "North of House"),
    ("north", "Forest Path"),
    ("south", "North of House"),
)
FOREST = PlaceMap(
    "forest",
    ("Altar", "Forest Path", "Up a Tree", "North of House"),
    ("east", "up", "down", "south", "north", "west"),
    (
        edge("Altar", "east", "Forest Path", forward=1),
        edge("Forest Path", "south", "North of House", forward=5, reverse=6),
        edge("North of House", "north", "Forest Path", forward=6, reverse=5),
        edge("Forest Path", "up", "Up a Tree", forward=2, reverse=4),
        edge("Up a Tree", "down", "Forest Path", forward=4, reverse=2),
        edge("Forest Path", "west", "Altar", reverse=1),
    ),
    tuple(WalkthroughStep(number, action, f"{observation}\n") for number, (action, observation) in enumerate(_STEPS)),
)
LISTED = (
    *("up", "take on egg", "put down egg", "go around forest", "throw egg at tree", "open egg with all"),
    *("north", "south", "west", "east"),
)
GAME = Minigame(FOREST, 6, FOREST.edges[1], LISTED)
EXAMPLE_9 = (
    "Small local map info: if you want to go to North of House, you should go south; if you want to go to Up a Tree, "
    "you should go up; if you want to go to Altar, you should go west.\n"
    "Consider what you should do next, and choose one appropriate action from the valid actions list: "
    "[up, take on egg, put down egg, go around forest, throw egg at tree, open egg with all, north, south, west, "
    "east]\nPlease just tell me the selected action without any extra words."
)


def item(game: Minigame) -> Item[Minigame]:
    return Item(game, "one", game.level, proof=ENV.items.prove(game))


def prompt(game: Minigame, **options: Any) -> str:
    return str(ENV.playing.play(ENV.resolve_options(options)).wording.rules(game))


def read(reply: str, protocol: str, actions: tuple[str, ...] = LISTED) -> str | Invalid:
    wording = ENV.playing.play(ENV.resolve_options({"protocol": protocol})).wording
    found: str | Invalid = wording.parse(reply, AnswerState(replace(GAME, actions=actions)))
    return found


def metrics(game: Minigame, player: str, **options: Any) -> dict[str, float | None]:
    record = play_to_end(ENV, item(game), policy(player), options).record()
    return {metric.name: metric.of(record) for metric in ENV.scoring.metrics}


def test_the_prompt_is_example_9() -> None:
    assert prompt(GAME, local_map=True) == f"{published_walkthrough_text(FOREST.steps, 6)}\n{EXAMPLE_9}"
    assert prompt(GAME) == prompt(GAME, local_map=True).replace(EXAMPLE_9.splitlines(keepends=True)[0], "")


def test_example_9_is_the_paper_s(paper: Callable[[str], str]) -> None:
    def squeezed(text: str) -> str:
        return re.sub(r"\s+", "", text)  # the paper breaks lines where its column ends

    assert squeezed(EXAMPLE_9) in squeezed(paper("mango.txt"))


@pytest.mark.parametrize("wording", ["printed", "plain"])
def test_the_prompt_has_nothing_of_what_comes_later(wording: str) -> None:
    observation = prompt(replace(GAME, cutoff=3, move=FOREST.edges[4]), wording=wording, local_map=True)
    assert "NUM: 3" in observation
    assert "NUM: 4" not in observation
    assert "North of House" not in observation


def test_the_local_map_has_what_a_reader_can_know() -> None:
    assert [(move.action, move.target) for move in replace(GAME, cutoff=3).nearby_moves] == [
        ("up", "Up a Tree"),
        ("west", "Altar"),
    ]
    dark = replace(FOREST, edges=(*FOREST.edges[:3], edge("Forest Path", "up", "Up a Tree", 2, 4, later=9)))
    assert [move.action for move in Minigame(dark, 6, dark.edges[1], LISTED).nearby_moves] == ["south"]
    unknown = replace(GAME, cutoff=0, move=FOREST.edges[0])
    assert unknown.nearby_moves == []
    assert "map info" not in prompt(unknown, local_map=True)
    assert "ways from here: nothing\n" in prompt(unknown, local_map=True, wording="plain")


def test_the_steps_are_those_that_lead_elsewhere() -> None:
    found = sample_minigames(FOREST, 99, 99, Stream("all"))
    assert sorted((game.step, game.move.source, game.move.action) for game in found) == [
        (1, "Altar", "east"),
        (2, "Forest Path", "up"),
        (4, "Up a Tree", "down"),
        (5, "Forest Path", "south"),
        (6, "North of House", "north"),
        (7, "Forest Path", "south"),
    ]
    assert sorted(game.step for game in sample_minigames(FOREST, 5, 99, Stream("all"))) == [1, 2, 4, 5]
    assert sorted(game.step for game in found if game.is_known) == [4, 6, 7]
    assert [game.step for game in found if game.was_walked] == [7]
    assert sorted(game.step for game in sample_minigames(FOREST, 99, 99, Stream("all"), moves="known")) == [4, 6, 7]
    assert sample_minigames(FOREST, 99, 2, Stream("all")) == found[:2]
    assert all(len(game.map.steps) == game.step + 1 for game in found)


def test_a_map_without_moves_has_no_minigame() -> None:
    still = replace(FOREST, edges=tuple(each._replace(forward=NEVER) for each in FOREST.edges if each.reverse < NEVER))
    assert sample_minigames(still, 9, 9, Stream("none")) == []


def test_a_list_depends_on_the_step_alone() -> None:
    first, other = ({game.step: game.actions for game in sample_minigames(FOREST, 9, 9, Stream(key))} for key in "ab")
    assert first == other
    assert {len(actions) for actions in first.values()} == {10}
    assert {len(game.actions) for game in sample_minigames(FOREST, 9, 9, Stream("a"), choices=5)} == {5}
    assert all({"south", "up", "west"} <= set(first[step]) for step in (2, 5, 7))  # all that leads away
    assert "take egg" in first[4]


@pytest.mark.parametrize("reply", ["south", " SOUTH\n", '"south"', "`South`.", "**south**", "‘sou\u00adth’…"])  # noqa: RUF001
@pytest.mark.parametrize("protocol", ["paper", "sound"])
def test_a_reply_that_is_an_action(reply: str, protocol: str) -> None:
    assert read(reply, protocol) == "south"


@pytest.mark.parametrize(
    ("reply", "sound"),
    [
        ("go south", "south"),
        ("I would go south, for south is new.", "south"),
        ("north or south", None),
        ("northeast", None),
        ("south-east", None),
        ("southern", None),
        ("throw egg at tree", "throw egg at tree"),
        ("I throw egg at tree now", "throw egg at tree"),
        ("open egg", None),
        ("", None),
        ("\ud800", None),
        ("south " * 20_000, None),
        ("e" + "\u0301\u0327" * 45_000, None),
    ],
)
def test_a_reply_that_says_more(reply: str, sound: str | None) -> None:
    assert read(reply, "sound") == sound if sound else isinstance(read(reply, "sound"), Invalid)
    whole = reply if reply in LISTED else None
    assert read(reply, "paper") == whole if whole else isinstance(read(reply, "paper"), Invalid)


def test_the_longer_of_two_names_is_meant() -> None:
    actions = ("open egg", "open egg with all", "south")
    assert read("I will open egg with all.", "sound", actions) == "open egg with all"
    assert isinstance(read("open egg, then open egg with all", "sound", actions), Invalid)


def test_metrics() -> None:
    right = metrics(GAME, "oracle")
    assert (right["success"], right["success_known"], right["success_new"]) == (1.0, 1.0, None)
    assert (right["chance"], right["moving"], right["visited"], right["arrives"]) == (0.1, 1.0, 1.0, 1.0)
    back = metrics(GAME, "reverse")  # the last move was north
    assert back["success"] == 1.0
    new = metrics(replace(GAME, cutoff=0, move=FOREST.edges[0], actions=("east", "up")), "oracle")
    assert (new["success_known"], new["success_new"], new["visited"], new["known"]) == (None, 1.0, 0.0, 0.0)
    silent = metrics(GAME, "null")
    assert (silent["success"], silent["parsed"], silent["moving"]) == (0.0, 0.0, None)


def test_another_move_to_the_same_place_arrives() -> None:
    two_ways = replace(FOREST, edges=(*FOREST.edges, edge("Forest Path", "roll", "North of House", reverse=5)))
    game = Minigame(two_ways, 6, two_ways.edges[1], ("south", "roll"))
    rules = ENV.playing.play(ENV.resolve_options({})).game
    events = rules.apply(rules.start(game), "roll", Stream("one")).events
    assert (events["success"], events["arrives"], events["moving"]) == (0.0, True, True)


def test_players_use_what_a_reader_knows() -> None:
    said = {name: ENV.players.policies[name](AnswerState(GAME), Stream("one")) for name in ENV.players.policies}
    assert said["straight"] == "north"
    assert said["nearby"] in ("south", "up", "west")
    assert said["explorer"] in ("north", "east", "go around forest")  # the other ways are known
    later = AnswerState(
        replace(GAME, map=replace(FOREST, steps=(*FOREST.steps[:-1], WalkthroughStep(7, "east", "Clearing\n"))))
    )
    assert said["explorer"] == ENV.players.policies["explorer"](later, Stream("one"))


def test_json() -> None:
    data = GAME.to_json()
    assert decode_minigame(data) == GAME
    assert decode_minigame({"map": data["map"], "step": 7}).move == GAME.move
    for changes, message in (
        ({"step": 3}, "makes no move"),
        ({"step": 8}, "from 1 to 7"),
        ({"actions": ["up", "west"]}, "is missing"),
        ({"actions": ["south"]}, "1 of them"),
        ({"actions": ["south", "South."]}, "two of them"),
        ({"actions": ["south", "?"]}, "two of them"),
        ({"actions": ["south", "a\nb"]}, "is not an action on one line"),
        ({"actions": "south"}, "list of names"),
        ({"map": None}, "map"),
    ):
        with pytest.raises(DataError, match=message):
            decode_minigame({**data, **changes})


@pytest.mark.parametrize("level", [1, 3])
def test_worlds_list_what_their_game_understands(level: int) -> None:
    options = {option.name: option.default for option in ENV.items.options}
    for index, found in enumerate(ENV.source("worlds", level).head(30)):
        game = found.instance
        place_map, world = draw_world("worlds", level, options, index // 10, 0)
        assert place_map.steps[: game.step + 1] == game.map.steps
        play = WorldEngine(world)
        now = play.begin().after
        for step in game.map.steps[1 : game.step]:
            now = play.act(now, step.action).after
        assert {way.action for way in world.exits if way.source == now.place} <= set(game.actions)
        assert all(play.act(now, action).understood for action in game.actions)
        assert len(game.actions) >= 10


def test_the_right_action_has_no_place_of_its_own() -> None:
    games = [found.instance for found in ENV.source("places", 3).head(400)]
    at = Counter(game.actions.index(game.move.action) for game in games)
    assert all(15 <= at[place] <= 70 for place in range(10))
    for game in games:  # the right one is never the only way
        assert sum(opposite_action(action) is not None for action in game.actions if action != game.move.action) >= 3


def test_known_moves_only() -> None:
    assert all(found.instance.is_known for found in ENV.source("known", 2, moves="known").head(20))


# Table 14: answerable minigames.
_TABLE_14 = {
    **{"hhgg": 0, "huntdark": 0, "trinity": 0, "spellbrkr": 1, "lostpig": 1, "seastalker": 2, "sorcerer": 5},
    **{"zork1": 18, "spirit": 14, "afflicted": 12, "ludicorp": 13, "omniquest": 11, "deephome": 10, "zork2": 9},
}


def _published() -> Path:
    return shared("WAYBENCH_DATA", "data", "mango")


def test_minigames_of_the_published_games() -> None:
    counts: dict[str, tuple[int, int]] = {}
    for folder in sorted(_published().iterdir()):
        place_map = load_map(folder, folder.name)
        games = sample_minigames(place_map, 70, 999, Stream("published"))
        counts[folder.name] = len(games), sum(game.is_known for game in games)
        for game in games:
            assert game.step <= 70
            assert game.move.action in game.actions
            assert len(game.actions) >= 10
            away = {each.action for each in place_map.edges if each.source == game.move.source != each.target}
            assert away <= set(game.actions)
    assert len(counts) == 53
    assert all(count > 0 for count, _ in counts.values())
    assert sum(count for count, _ in counts.values()) == 1512
    assert {game: known for game, (_, known) in counts.items() if known == 0} == {
        "hhgg": 0,
        "huntdark": 0,
        "trinity": 0,
    }
    assert all(counts[game][1] >= answerable for game, answerable in _TABLE_14.items())


def test_a_published_game_by_name() -> None:
    def locate(data_set: str, file: str) -> Path:
        return _published() / file

    data = resolve_minigame({"game": "zork1", "step": 12}, locate)
    game = decode_minigame(data)
    assert (game.map.name, game.cutoff, game.move[:3]) == ("zork1", 11, ("kitchen", "living room", "west"))
    place_map = load_map(_published() / "zork1", "zork1")
    assert game in sample_minigames(place_map, 70, 99, Stream("any"))
    assert resolve_minigame(data, locate) is data
    with pytest.raises(DataError, match="from 1 to 70"):
        resolve_minigame({"game": "zork1", "step": 71}, locate)
    with pytest.raises(DataError, match="makes no move"):
        resolve_minigame({"game": "zork1", "step": 4}, locate)
    with pytest.raises((DataError, UsageError), match="name of a published game"):
        resolve_minigame({"game": "../zork1", "step": 4}, locate)
