"""Where games come from."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.envs.messenger.games import ENV, KINDS, ROLES
from waybench.core import DataError, UsageError
from waybench.core._items import item_set_hash
from waybench.envs.messenger._items import NAMES, PublishedGames
from waybench.envs.messenger._world import CASTS, NUMBERS, PUBLISHED, Case

AROUND = {(5, 3), (3, 5), (7, 5), (5, 7)}
CORNERS = {(2, 2), (7, 2), (2, 7), (7, 7)}
SPREAD = {(2, 1), (8, 1), (5, 4), (1, 6), (9, 6), (5, 9)}  # (row, column) in the specification, (column, row) here


def games(level: int, count: int = 2000, **options: Any) -> list[Case]:
    return [item.instance for item in ENV.source("test", level, **options).head(count)]


def named(text: str, name: str) -> bool:
    return any(each in text for each in NAMES[name])


def share(values: list[bool]) -> float:
    return sum(values) / len(values)


def test_stage_1_is_drawn_as_published() -> None:
    made = games(1)
    for game in made:
        assert (game.x, game.y) == (5, 5)
        cells = {(actor.x, actor.y) for actor in game.actors}
        assert len(cells) == 3 and cells < AROUND
        assert {actor.kind for actor in game.actors} == {"immovable"}
        assert len(game.sentences) == 3
    assert 0.17 < share([game.carries for game in made]) < 0.23
    assert len({tuple((actor.x, actor.y) for actor in game.actors) for game in made}) == 24


def test_stage_2_is_drawn_as_published() -> None:
    made = games(2)
    starts = Counter(tuple((actor.x, actor.y) for actor in game.actors) for game in made)
    kinds = Counter(tuple(actor.kind for actor in game.actors) for game in made)
    assert (len(starts), len(kinds)) == (24, 27)
    assert min(starts.values()) > 45 and min(kinds.values()) > 40  # 83 and 74 on average
    for game in made:
        assert {(actor.x, actor.y) for actor in game.actors} | {(game.x, game.y)} == CORNERS
        assert not game.carries and len(game.sentences) == 3


def test_stage_3_is_drawn_as_published() -> None:
    made = games(3, 4000)
    starts = {(*((actor.x, actor.y) for actor in game.actors), (game.x, game.y)) for game in made}
    assert len(starts) > 700  # of 720
    assert len({tuple(actor.kind for actor in game.actors) for game in made}) == 18
    for game in made:
        enemy, message, goal, like_message, like_goal = game.actors
        assert {(actor.x, actor.y) for actor in game.actors} | {(game.x, game.y)} == SPREAD
        assert (like_message.name, like_goal.name) == (message.name, goal.name)
        assert {enemy.kind, message.kind, goal.kind} == set(KINDS)
        assert like_message.kind not in (message.kind, like_goal.kind) and like_goal.kind != goal.kind
        assert len(game.sentences) == 6 and not game.carries
        told = Counter(actor.name for actor in game.actors for text in game.sentences if named(text, actor.name))
        # Enemy: its own sentence and the distraction. The others: their own and their decoy's, each counted twice.
        assert told == {enemy.name: 2, message.name: 4, goal.name: 4}


def test_any_three_entities_of_the_cast_meet() -> None:
    for cast in CASTS:
        made = games(2, 500, cast=cast)
        assert {actor.name for game in made for actor in game.actors} == set(CASTS[cast])
        assert all(len({actor.name for actor in game.actors}) == 3 for game in made)


def test_own_sentences_name_every_actor() -> None:
    for level in (1, 2, 3):
        for game in games(level, 200, cast="both"):
            assert all(any(named(text, actor.name) for text in game.sentences) for actor in game.actors)


@pytest.mark.parametrize("size", [8, 9, 10, 17, 100])
def test_boards_of_other_sizes_begin_alike(size: int) -> None:
    for level in (1, 2, 3):
        for game in games(level, 50, size=size, **({"decoys": 4} if level == 3 else {})):
            assert (
                ENV.items.decode(json.loads(json.dumps(game.to_json()))) == game
            )  # all cells differ and are on the board
            cells = [(game.x, game.y), *((actor.x, actor.y) for actor in game.actors)]
            gaps = [max(abs(x - u), abs(y - v)) for x, y in cells for u, v in cells if (x, y) != (u, v)]
            assert min(gaps) >= 2  # nothing touches at the start


@pytest.mark.parametrize("decoys", [2, 3, 4])
def test_further_decoys_move_like_nothing_that_looks_like_them(decoys: int) -> None:
    for game in games(3, 100, decoys=decoys):
        assert len(game.actors) == 3 + decoys and len(game.sentences) == 4 + decoys
        looks = Counter((actor.name, actor.kind) for actor in game.actors)
        assert max(looks.values()) == 1


def test_published_board_and_decoys() -> None:
    assert all(game.published for level in (1, 2, 3) for game in games(level, 5))
    assert not any(game.published for game in (*games(2, 2, size=12), *games(3, 2, decoys=3)))


def test_options_make_other_games() -> None:
    hashes = {
        item_set_hash(ENV.source("test", 3, **options).head(5))
        for options in ({}, {"size": 12}, {"decoys": 3}, {"cast": "further"}, {"cast": "both"})
    }
    assert len(hashes) == 5


@pytest.mark.parametrize(
    ("level", "pinned"),
    [
        (1, "9fe2985f0320364140f3f42700fe43ecf3db87d691d2238fe737810bc95d9eb8"),
        (2, "5daa2e0bfd79e0f2c64d1b6b54718286733a1b95f23f6a8e3379335109f74bbd"),
        (3, "f3360266651e006c71bc62ceac68d2c865684efbc468f104aa979c83fc2dfbc0"),
    ],
)
def test_public_set_is_pinned(level: int, pinned: str) -> None:
    assert item_set_hash(ENV.source(level=level).head(100)) == pinned


def test_what_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="give a stage, 1, 2 or 3"):
        ENV.source(level=4)
    with pytest.raises(UsageError, match="remove it, or choose stage 3"):
        ENV.source(level=2, decoys=2)


@pytest.mark.parametrize(
    "spoil",
    [
        {"stage": 4},
        {"stage": True},
        {"size": 7},
        {"size": 101},
        {"sentences": []},
        {"sentences": ["two\nlines"]},
        {"sentences": [" "]},
        {"sentences": ["x" * 1001]},
        {"sentences": ["x"] * 21},
        {"agent": {"x": 10, "y": 5, "carries": False}},
        {"agent": {"x": True, "y": 5, "carries": False}},
        {"agent": {"x": 5, "y": 5, "carries": 0}},
        {"agent": {"x": 2, "y": 1, "carries": False}},
        {"actors": []},
        {"more": 1},
    ],
)
def test_spoilt_games_are_refused(spoil: dict[str, Any]) -> None:
    game = next(game for game in games(3, 50) if (game.x, game.y) != (2, 1))
    with pytest.raises(DataError, match="instance"):
        ENV.items.decode({**game.to_json(), **spoil})


@pytest.mark.parametrize(
    ("number", "spoil"),
    [
        (0, {"role": "decoy"}),
        (0, {"name": "dragon"}),
        (0, {"kind": "random"}),
        (0, {"x": -1}),
        (0, {"x": 1.0}),
        (3, {"name": "tree"}),
        (1, {"more": 1}),
    ],
)
def test_spoilt_actors_are_refused(number: int, spoil: dict[str, Any]) -> None:
    data = games(3, 1)[0].to_json()
    data["actors"][number].update(spoil)
    with pytest.raises(DataError, match="instance"):
        ENV.items.decode(data)


# The published sentences


@pytest.fixture
def files(data_dir: Callable[..., Path]) -> tuple[Path, Path]:
    return data_dir("smartplay", "text_test.json"), data_dir("smartplay", "games.json")


@pytest.mark.parametrize("level", [1, 2, 3])
def test_published_games(files: tuple[Path, Path], level: int) -> None:
    texts, listed = (json.loads(path.read_text(encoding="utf-8")) for path in files)
    made = [item.instance for item in PublishedGames(*files, "key", level).head(1000)]
    triples = {tuple(actor.name for actor in game.actors[:3]) for game in made}
    assert triples == set(map(tuple, listed["test"])) and len(triples) == 32
    for game in made:
        assert ENV.items.decode(json.loads(json.dumps(game.to_json()))) == game
        wanted = [
            {
                text
                for kind in (("immovable", "unknown") if level == 1 else (actor.kind, "unknown"))
                for text in texts[actor.name][role][kind]
            }
            for actor, role in zip(game.actors, (*ROLES, "enemy", "enemy"), strict=False)
        ]
        left = list(game.sentences)
        for possible in wanted:
            left.remove(next(text for text in left if text in possible))
        if level == 3:
            (distraction,) = left
            enemy = game.actors[0]
            others = [kind for kind in KINDS if kind != enemy.kind]
            assert any(distraction in texts[enemy.name][role][kind] for role in ROLES[1:] for kind in others)
        else:
            assert not left


def test_published_and_own_games_of_one_key_differ(files: tuple[Path, Path]) -> None:
    source = PublishedGames(*files, "key", 2)
    assert source.item(3) == PublishedGames(*files, "key", 2).item(3)
    assert source.item(3).instance.hash != ENV.source("key", 2).item(3).instance.hash
    assert PublishedGames(*files, "key", 3, size=12, decoys=4).item(0).instance.size == 12


def made_files(tmp_path: Path, texts: Any = None, listed: Any = None) -> tuple[Path, Path]:
    if texts is None:
        one = {role: {kind: [f"{role} {kind}"] for kind in (*KINDS, "unknown")} for role in ROLES}
        texts = dict.fromkeys(PUBLISHED, one)
    paths = tmp_path / "texts.json", tmp_path / "games.json"
    for path, data in zip(
        paths, (texts, {"test": [["ship", "bird", "fish"]]} if listed is None else listed), strict=True
    ):
        path.write_text(json.dumps(data), encoding="utf-8")
    return paths


def test_files_of_the_published_form(tmp_path: Path) -> None:
    source = PublishedGames(*made_files(tmp_path), "key", 2)
    assert [actor.name for actor in source.item(0).instance.actors] == ["ship", "bird", "fish"]


@pytest.mark.parametrize(
    ("texts", "listed"),
    [
        ([], None),
        ({"ship": {}}, None),
        (None, {"test": []}),
        (None, {"train": [["ship", "bird", "fish"]]}),
        (None, {"test": [["ship", "bird", "bird"]]}),
        (None, {"test": [["ship", "bird", "tree"]]}),
        (None, {"test": [["ship", "bird"]]}),
        (None, [1]),
    ],
)
def test_other_files_are_refused_in_a_line(tmp_path: Path, texts: Any, listed: Any) -> None:
    with pytest.raises(DataError) as error:
        PublishedGames(*made_files(tmp_path, texts, listed), "key", 2)
    assert "\n" not in str(error.value)


def test_missing_and_broken_files_are_refused(tmp_path: Path) -> None:
    texts, listed = made_files(tmp_path)
    with pytest.raises(UsageError, match="cannot read"):
        PublishedGames(tmp_path / "none", listed, "key", 1)
    listed.write_text("{")
    with pytest.raises(DataError, match="not JSON"):
        PublishedGames(texts, listed, "key", 1)


def test_missing_sentences_are_named(tmp_path: Path) -> None:
    empty = {role: {kind: [] for kind in (*KINDS, "unknown")} for role in ROLES}
    for level in (1, 2, 3):
        source = PublishedGames(*made_files(tmp_path, dict.fromkeys(PUBLISHED, empty)), "key", level)
        with pytest.raises(DataError, match="the sentences have none of ship as enemy"):
            source.item(0)


def test_numbers_are_the_published_ones() -> None:
    assert (NUMBERS["airplane"], NUMBERS["dog"], NUMBERS["ship"], NUMBERS["sword"]) == (2, 4, 9, 13)
