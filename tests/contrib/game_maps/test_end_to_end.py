"""Games made in the test, compiled, played and mapped by the command: what is found is true of their worlds."""

import json
import os
import shutil
import subprocess
import sys
from collections import deque
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PATIENCE
from waybench.envs.textmap._place_map import NEVER, PlaceMap, load_map
from waybench.envs.textmap._questions import destination_questions, route_questions
from waybench.envs.textmap.worlds._data import DIRECTIONS, opposite_action

pytestmark = pytest.mark.slow


# Inform 6: two rooms of one title; two dark ones; ways that no opposite leads back from, because there is none (the
# roof to the foyer), because it leads elsewhere (the foyer to the pit) or because it is deadly (the tower to the roof).
INFORM = """
Constant Story "THE TOWER";
Constant Headline "^A game to be mapped.^";
Include "Parser";
Include "VerbLib";
Object foyer "Foyer" with description "A bare room.", n_to hall, e_to cave, d_to pit, in_to shed, has light;
Object hall "Hall" with description "Pillars.", s_to foyer, n_to hall_end, has light;
Object hall_end "Hall" with description "Pillars.", s_to hall, e_to tower, has light;
Object tower "Tower" with description "A stair goes up.", w_to hall_end, u_to roof, has light;
Object roof "Roof" with description "A slide begins in the east.", e_to foyer, has light,
  with d_to [; deadflag = 1; "You miss the stair."; ];
Object pit "Pit" with description "A tunnel leads west.", w_to hall, u_to shed, has light;
Object cave "Cave" with description "Stone.", w_to foyer, n_to grotto;
Object grotto "Grotto" with description "More stone.", s_to cave;
Object shed "Shed" with description "Full of tools.", out_to foyer, has light;
Object -> lamp "lamp" with name 'lamp', description "It is lit.", has light;
Object chair "chair" foyer with name 'chair', has supporter enterable;
[ Initialise; location = foyer; "^^Somebody left the door open.^"; ];
Include "Grammar";
"""
INFORM_WALK = (
    *("n", "n", "e", "u", "e", "d", "w", "go south", "sit on chair", "stand up"),
    *("e", "n", "s", "w", "in", "take lamp", "out", "e", "n", "look", "g"),
)
# Worked out by hand: when made, when the opposite is, and both again with the names known. The dark rooms are come to
# at steps 11 and 12, and told by name at 18 and 19.
INFORM_EDGES = {
    ("foyer", "north", "hall"): (1, 8, 1, 8),
    ("hall", "south", "foyer"): (8, 1, 8, 1),
    ("hall", "north", "hall (2)"): (2, NEVER, 2, NEVER),
    ("hall (2)", "south", "hall"): (NEVER, 2, NEVER, 2),
    ("hall (2)", "east", "tower"): (3, NEVER, 3, NEVER),
    ("tower", "west", "hall (2)"): (NEVER, 3, NEVER, 3),
    ("tower", "up", "roof"): (4, NEVER, 4, NEVER),
    ("roof", "east", "foyer"): (5, NEVER, 5, NEVER),
    ("foyer", "down", "pit"): (6, NEVER, 6, NEVER),
    ("pit", "west", "hall"): (7, NEVER, 7, NEVER),
    ("foyer", "east", "cave"): (11, 14, 18, 18),
    ("cave", "west", "foyer"): (14, 11, 18, 18),
    ("cave", "north", "grotto"): (12, 13, 19, 19),
    ("grotto", "south", "cave"): (13, 12, 19, 19),
    ("foyer", "in", "shed"): (15, 17, 15, 17),
    ("shed", "out", "foyer"): (17, 15, 17, 15),
}


def needed(found: object, what: str) -> None:
    """Skip a test whose tool is not here, and say so; with CI=true fail, for there it has to be."""
    if found:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} is not installed", pytrace=False)
    pytest.skip(f"{what} is not installed")


def call(*command: str | Path) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(game: Path, commands: tuple[str, ...], *options: str) -> tuple[PlaceMap, str]:
    """Make the map of a game by the command; return it, and what the command tells."""
    (game.parent / "walk.txt").write_text("\n".join(commands))
    home = game.parent / "maps"
    waybench = (sys.executable, "-m", "waybench", "textmap", "build")
    told = call(*waybench, game, "--commands", game.parent / "walk.txt", "--out", home, *options)
    place_map = load_map(home, game.stem)
    check_files(home, place_map)
    return place_map, told


def check_files(home: Path, place_map: PlaceMap) -> None:
    """Check that the lists of questions that were written are those that follow from the map."""
    lines: dict[str, list[dict[str, Any]]] = {}
    for kind in ("all2all", "all_pairs"):
        text = Path(home, f"{place_map.name}.{kind}.jsonl").read_text(encoding="utf-8")
        lines[kind] = [json.loads(line) for line in text.splitlines()]
    assert {line["id"]: (line["step_count"], line["min_step_forward_answerable"]) for line in lines["all2all"]} == {
        question.id: (question.step_count, question.labels.forward_named)
        for question in destination_questions(place_map)
    }
    assert {line["id"]: (line["num_paths"], line["min_step_total"]) for line in lines["all_pairs"]} == {
        question.id: (question.num_paths, question.labels.known) for question in route_questions(place_map)
    }


def test_a_game_in_inform(tmp_path: Path) -> None:
    needed(shutil.which("inform6"), "inform6 (Debian: inform6-compiler, inform6-library)")
    needed(find_spec("jericho"), "jericho (the extra [jericho])")
    (tmp_path / "tower.inf").write_text(INFORM)
    call("inform6", "-v5", tmp_path / "tower.inf", tmp_path / "tower.z5")
    place_map, told = build(tmp_path / "tower.z5", INFORM_WALK)
    assert {(edge.source, edge.action, edge.target): edge[3:] for edge in place_map.edges} == INFORM_EDGES
    assert told.startswith("tower: 9 places, 16 moves (14 walked, 2 inferred), 21 steps\n")
    actions = [step.action for step in place_map.steps]
    assert actions[:3] == ["Init", "north", "north"] and actions[8] == "south" and actions[-1] == "again"
    assert place_map.steps[1].observation == "\n\nHall\nPillars.\n\n"  # neither prompt nor status line


def test_a_deadly_step_ends_the_walk(tmp_path: Path) -> None:
    needed(shutil.which("inform6"), "inform6 (Debian: inform6-compiler, inform6-library)")
    needed(find_spec("jericho"), "jericho (the extra [jericho])")
    (tmp_path / "tower.inf").write_text(INFORM)
    call("inform6", "-v8", tmp_path / "tower.inf", tmp_path / "tower.z8")
    place_map, told = build(tmp_path / "tower.z8", ("n", "n", "e", "u", "d", "n", "n"))
    assert "the game ended at step 5: 2 commands were not used\n" in told
    assert "You have died" in place_map.steps[-1].observation
    assert {(edge.source, edge.action) for edge in place_map.edges if edge.forward < NEVER} == {
        *(("foyer", "north"), ("hall", "north"), ("hall (2)", "east"), ("tower", "up")),
    }


class Truth:
    """The world of a game that TextWorld made, as its maker tells it.

    Attributes:
        ways: For each room its ways: direction, then the room there and the door in between, if there is one.
        start: The room where the player begins.
    """

    def __init__(self, path: Path) -> None:
        told = json.loads(path.read_text())
        names = {code: facts["name"] for code, facts in told["infos"]}
        facts = [(fact["name"], *(each["name"] for each in fact["arguments"])) for fact in told["world"]]
        doors = {(fact[1], fact[3]): names[fact[2]] for fact in facts if fact[0] == "link"}
        self.ways: dict[str, dict[str, tuple[str, str | None]]] = {}
        for relation, *rest in facts:
            way, _, of = relation.partition("_")
            if of == "of" and way in DIRECTIONS:
                there, here = rest
                back = opposite_action(way)
                assert back is not None
                self.ways.setdefault(names[here], {})[way] = names[there], doors.get((here, there))
                self.ways.setdefault(names[there], {})[back] = names[here], doors.get((there, here))
        self.start = next(names[fact[2]] for fact in facts if fact[:2] == ("at", "P"))

    def tour(self) -> tuple[str, ...]:
        """Return commands that come to every room, each time the nearest new one."""
        here, seen, commands = self.start, {self.start}, list[str]()
        while len(seen) < len(self.ways):
            came: dict[str, tuple[str, ...]] = {here: ()}
            queue = deque([here])
            while (room := queue.popleft()) in seen:
                for way, (there, door) in self.ways[room].items():
                    if there not in came:
                        came[there] = (*came[room], *([f"open {door}"] if door else []), f"go {way}")
                        queue.append(there)
            commands += came[room]
            seen.add(room)
            here = room
        return tuple(commands)


@pytest.mark.parametrize(
    "kind",
    [
        ("tw-coin_collector", "--level", "12"),
        ("custom", "--world-size", "10", "--nb-objects", "10", "--quest-length", "3"),
    ],
    ids=lambda kind: kind[0],
)
def test_a_game_of_textworld(kind: tuple[str, ...], tmp_path: Path) -> None:
    maker = Path(sys.executable).with_name("tw-make")
    needed(maker.exists() and find_spec("jericho"), "textworld (the extra [textworld])")
    call(maker, *kind, "--seed", "3", "--output", tmp_path / "house.z8")
    truth = Truth(tmp_path / "house.json")
    place_map, _ = build(tmp_path / "house.z8", truth.tour())
    true = {(here, way, there) for here, ways in truth.ways.items() for way, (there, _) in ways.items()}
    found = {(edge.source, edge.action, edge.target) for edge in place_map.edges}
    assert found <= true
    # Every room was come to; and each way that was gone leads back, so that both directions are found.
    assert set(place_map.places) == truth.ways.keys()
    assert {(there, str(opposite_action(way)), here) for here, way, there in found} == found
    assert len(found) >= 2 * (len(truth.ways) - 1)
    assert any(edge.forward == NEVER for edge in place_map.edges)
    assert all(edge[3:5] == edge[5:7] for edge in place_map.edges)
