"""The published walkthroughs, walked again as games that know where their player is, give the published maps."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from waybench.envs.textmap._place_map import NEVER, PlaceMap, load_map
from waybench.envs.textmap._prefix import PUBLISHED_STEPS, places_after_steps
from waybench.ext.author.game_maps._command import map_game

# A map with a move to where it begins, which no walk can tell from no move; and games in which an action leads to other
# places at other times, so that the published files do not say where the player is after each step.
LEFT_OUT = {"advent", "inhumane", "murdac", "zork3"}


class Replay:
    """A walkthrough as a game. It can be left only by what was typed, or by what is known to lead back."""

    done = False

    def __init__(self, place_map: PlaceMap) -> None:
        self._steps, self._places = place_map.steps, places_after_steps(place_map)
        self._backs = {(edge.source, edge.action): edge for edge in place_map.edges if edge.reverse < NEVER}
        self._at, self._away = 0, ""

    def reset(self) -> str:
        self._at, self._away = 0, ""
        return self._steps[0].observation

    def act(self, command: str) -> str:
        if self._at + 1 < len(self._places) and command == self._steps[self._at + 1].action:
            self._at += 1
            return self._steps[self._at].observation
        if command != "look":
            edge = self._backs.get((self._places[self._at], command))
            self._away = edge.target if edge and edge.reverse <= self._at else "somewhere else"
        return ""

    def place(self) -> str:
        return self._away or self._places[self._at]

    def name(self) -> str:
        return self.place()

    def save(self) -> int:
        return self._at

    def restore(self, saved: int) -> None:
        self._at, self._away = saved, ""


def test_published_maps_are_found_again(
    data_dir: Callable[..., Path], record_property: Callable[[str, object], None]
) -> None:
    same = Counter[str]()
    games = sorted(path for path in data_dir("mango").iterdir() if path.is_dir() and path.name not in LEFT_OUT)
    assert len(games) == 49
    for folder in games:
        published = load_map(folder, folder.name)
        commands = [step.action for step in published.steps[1 : PUBLISHED_STEPS + 1]]
        found = map_game(Replay(published), commands, folder.name).place_map
        theirs, ours = ({edge[:3]: edge for edge in each.edges} for each in (published, found))
        # When each was first made, and when the opposite of each inferred one, is as published without an exception.
        assert {key: edge[3:5] for key, edge in ours.items()} == {key: edge[3:5] for key, edge in theirs.items()}
        assert set(published.places) == set(found.places) and set(published.actions) == set(found.actions)
        same["moves"] += len(ours)
        # The published steps of names were set by hand, not where it is dark in each game; ours are never earlier.
        assert all(ours[key][5:7] >= theirs[key][5:7] for key in ours if theirs[key][5:7] == theirs[key][3:5])
        same["told later"] += sum(theirs[key][5:7] != theirs[key][3:5] for key in ours)
        same["told later in both"] += sum(theirs[key][5:7] == ours[key][5:7] != theirs[key][3:5] for key in ours)
    assert same["told later"] == same["told later in both"] == 17
    record_property("golden textmap moves found again by a walk", same["moves"])
