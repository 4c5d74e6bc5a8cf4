"""What Crafter adds to its published rules: words of `sound`, events, figures, players and the drawing."""

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import waybench
from tests.conftest import PATIENCE
from waybench.core import DataError, End, EpisodeRecord, Outcome, Stream, UsageError, play_to_end, policy, replay
from waybench.envs.crafter import _drawing, crafter_score
from waybench.envs.crafter._environment import unlocked_achievements
from waybench.envs.crafter._game import ACTIONS, OUTSIDE, SurvivalRules
from waybench.envs.crafter._ids import (
    ACHIEVEMENTS,
    ASLEEP,
    BEING,
    CLOCK,
    EAST_OF,
    ENERGY,
    HEALTH,
    MADE,
    NAMES,
    SIZE,
    SOUTH_OF,
    X,
    Y,
)
from waybench.envs.crafter._players import PLAYERS
from waybench.envs.crafter._world import (
    CrafterWorld,
    PlayerView,
    Wilds,
    advance_world,
    begin_world,
    being_numbers,
    create_world,
    player_numbers,
    published_seed,
)
from waybench.envs.smartplay import HUMANS

ENV: Any = waybench.load("crafter/survival")
PAPER, SOUND = SurvivalRules(published=True), SurvivalRules(published=False)
RNG = Stream("unused")
draw = ENV.presentation.draw
ONE = {"wording": "one_question"}


def changed(world: CrafterWorld, *, at: tuple[int, int] | None = None, **numbers: int) -> CrafterWorld:
    """Return a world in which the player is elsewhere, or some of its numbers are others."""
    places = {"asleep": ASLEEP, "energy": ENERGY, "health": HEALTH, "east": EAST_OF, "south": SOUTH_OF, "clock": CLOCK}
    body = np.frombuffer(world.body, np.int32).copy()
    for name, number in numbers.items():
        body[places[name]] = number
    beings = np.frombuffer(world.beings, np.int32).reshape(-1, BEING).copy()
    if at is not None:
        beings = beings[:1]
        beings[0, [X, Y]] = at
    return world._replace(body=body.tobytes(), beings=beings.tobytes())


def test_a_step_leaves_the_world_before_it_alone_and_is_always_the_same() -> None:
    world = begin_world(5)
    before = CrafterWorld(*world)
    assert advance_world(world, 1) == advance_world(world, 1) != world
    assert world == before
    assert create_world(6).land != create_world(5).land
    assert hash(world) == hash(before)


def test_the_edge_is_an_error_in_paper_alone() -> None:
    for at, east, south in (((0, 20), 0, 1), ((30, 2), 0, 1), ((63, 30), 1, 0), ((30, 63), 0, 1)):
        world = changed(begin_world(5), at=at, east=east, south=south)
        assert PAPER.observe(world) == OUTSIDE
        told = SOUND.observe(world)
        assert told.startswith("You see:\n- ")
        inside = at[0] + east < SIZE and at[1] + south < SIZE
        assert ("You face the edge of the map." in told) is not inside
        # Nothing beyond the edge is told of.
        for word, room in (("west", at[0]), ("north", at[1]), ("east", SIZE - 1 - at[0]), ("south", SIZE - 1 - at[1])):
            if room == 0:
                assert f"-{word}" not in told
                assert f"your {word}" not in told


def test_sleeping_and_death_are_paragraphs_of_their_own_in_sound() -> None:
    asleep = changed(begin_world(5), asleep=1, clock=2)
    assert PAPER.observe(asleep).startswith(
        "You took action noop.You are sleeping, and will not be able take actions until energy is full.\n\n\n\nYou see:"
    )
    assert SOUND.observe(asleep).startswith(
        "You took action noop.\n\nYou are sleeping, and will not be able to take actions until energy is full.\n\n"
        "You see:"
    )
    dead = changed(begin_world(5), health=0, clock=2)
    assert PAPER.observe(dead).startswith("You took action noop.You died.\n\n\n\nYou see:")
    assert SOUND.observe(dead).startswith("You took action noop.\n\nYou died.\n\nYou see:")
    assert PAPER.ending(dead) is End.FAILED


def test_walking_into_lava_is_told_as_the_cause() -> None:
    world = begin_world(5)
    x, y = being_numbers(world)[0][X], being_numbers(world)[0][Y]
    land = bytearray(world.land)
    land[(x + 1) * SIZE + y] = NAMES.index("lava")
    step = SOUND.step(world._replace(land=bytes(land)), ACTIONS.index("Move East"), RNG)
    assert step.events["death"] == "lava"
    assert step.reward == pytest.approx(-0.9)
    assert "You died: you walked into lava." in SOUND.observe(step.world)


def test_what_comes_to_nothing_is_unproductive() -> None:
    world = begin_world(5)
    outcomes = {name: SOUND.step(world, number, RNG).outcome for number, name in enumerate(ACTIONS)}
    nothing = {name for name, outcome in outcomes.items() if outcome is Outcome.UNPRODUCTIVE}
    assert nothing == {name for name in ACTIONS if name.startswith(("Place", "Make"))}  # with an empty inventory


def test_history_begins_with_the_step_before_in_paper_alone() -> None:
    paper, sound = (
        ENV.playing.play(ENV.resolve_options({"protocol": protocol, **ONE})).game.start(Wilds(5))
        for protocol in ("paper", "sound")
    )
    assert paper.stored == len(paper.past) == 1
    assert paper.past[0].startswith("Player Observation Step 0:\nYou took action noop.\n\nYou see:")
    assert (sound.stored, sound.past) == (0, ())


def test_manual_has_the_list_of_actions_in_sound_alone() -> None:
    item = ENV.source().item(0)
    told = {
        protocol: play_to_end(ENV, item, policy("noop"), {"protocol": protocol, "steps": 1}).record().opening[0].text
        for protocol in ("paper", "sound")
    }
    listed = "\n\nList of all actions:\n1. Noop\n2. Move West\n"
    assert listed not in told["paper"]
    assert told["sound"].startswith(f"{told['paper']}{listed}")


def test_crafter_score() -> None:
    assert crafter_score([1.0] * 22) == pytest.approx(100)
    assert crafter_score([0.0] * 22) == 0
    # Half of them always, half never: exp(ln(101) / 2) - 1, far below the mean of 50.
    assert crafter_score([1.0] * 11 + [0.0] * 11) == pytest.approx(math.sqrt(101) - 1)
    assert crafter_score([]) == 0


def played(player: str, steps: int, index: int = 0, **options: Any) -> EpisodeRecord:
    chosen = {**ONE, "steps": steps, **options}
    return play_to_end(ENV, ENV.source().item(index), policy(player), chosen).record()


def values(record: EpisodeRecord) -> dict[str, Any]:
    return {metric.name: metric.of(record) for metric in ENV.scoring.metrics}


def test_figures_of_an_episode() -> None:
    record = played("oracle", 400)
    found = values(record)
    when = [number for number, turn in enumerate(record.turns, 1) for _ in turn.events.get("unlocked", ())]
    assert found["achievements"] == len(when) >= 18
    assert found["score"] == sum(len(record.turns) - number + 1 for number in when)
    assert sum(found[f"unlocked_{name}"] for name in ACHIEVEMENTS) == found["achievements"]
    assert found["human"] is None  # people played 10,000 steps
    assert "collect_wood" in unlocked_achievements(record)
    (curve,) = [list(one.of(record)) for one in ENV.scoring.series]
    assert (len(curve), curve[-1]) == (len(record.turns), found["achievements"])
    replay(ENV, EpisodeRecord.from_json(record.to_json()))


def test_human_scale_is_that_of_the_published_setting() -> None:
    record = play_to_end(ENV, ENV.source().item(1), policy("noop"), ONE).record()
    assert record.end is End.FAILED  # nobody lives for long who does nothing
    assert values(record)["human"] == values(record)["score"] / HUMANS["Crafter"].human == 0
    assert ENV.scoring.published_setting(record) == "Crafter"


def test_a_published_episode_has_9999_steps() -> None:
    play = ENV.playing.play(ENV.resolve_options({}))
    assert play.turns(Wilds(1)) == 2 * 9_999
    assert ENV.playing.play(ENV.resolve_options({"steps": 500, **ONE})).turns(Wilds(1)) == 500


def test_players_in_order() -> None:
    means = {
        player: sum(values(played(player, 300, index))["achievements"] for index in range(6)) / 6
        for player in ("oracle", "heuristic", "random", "noop")
    }
    assert means["oracle"] > 2 * means["heuristic"]
    assert means["heuristic"] > means["noop"] == 0
    assert means["random"] > 0


@pytest.mark.slow
def test_oracle_unlocks_18_of_22_on_most_worlds() -> None:
    made = [values(played("oracle", 3000, index))["achievements"] for index in range(20)]
    assert sum(count >= 18 for count in made) >= 15


def test_oracle_never_walks_into_lava() -> None:
    for index in range(10):
        case = ENV.source("lava").item(index).instance
        world = begin_world(case.seed)
        for _ in range(400):
            action = PLAYERS["oracle"](case, world, RNG)
            if 1 <= action <= 4:
                view = PlayerView(world)
                dx, dy = {1: (-1, 0), 2: (1, 0), 3: (0, -1), 4: (0, 1)}[action]
                assert view.ground_of((view.at[0] + dx, view.at[1] + dy)) != NAMES.index("lava")
            world = advance_world(world, action)
            if player_numbers(world)[HEALTH] <= 0:
                break


def parts(svg: str, name: str) -> list[Any]:
    return [element for element in ElementTree.fromstring(svg).iter() if name in element.get("class", "").split()]


def test_drawing_shows_the_way_and_the_status() -> None:
    record = played("oracle", 250)
    svg = draw(ENV.source().item(0).instance, record.turns)
    (trail,) = parts(svg, "tiles-trail")
    points = [tuple(int(float(part)) for part in point.split()) for point in trail.get("d")[1:].split("L")]
    places = [tuple(turn.events["at"]) for turn in record.turns]
    assert points[-1] == places[-1]
    assert set(points) == {(32, 32), *places}
    told = " ".join(element.text or "" for element in parts(svg, "crafter-status"))
    unlocked = [name for turn in record.turns for name in turn.events.get("unlocked", ())]
    assert f"{len(unlocked)} of 22 achievements" in told
    for name in unlocked:
        assert name.replace("_", " ") in told
    assert "Step 250" in told
    ground = {"water", "grass", "sand", "lava", "coal", "table", "cow", "zombie"}
    assert ground <= {element.text for element in parts(svg, "crafter-status")}, "a legend of colours and letters"
    bare = draw(Wilds(5))
    assert not parts(bare, "tiles-trail")
    assert parts(bare, "crafter-being")


def test_frames_are_drawn_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    done = play_to_end(ENV, ENV.source().item(0), policy("oracle"), {**ONE, "steps": 150})
    instance, turns, counts = done.item.instance, done.turns, range(0, 151, 10)
    apart = [draw(instance, turns[:count]) for count in counts]
    steps: list[int] = []

    def counted(world: CrafterWorld, action: int) -> CrafterWorld:
        steps.append(action)
        return advance_world(world, action)

    monkeypatch.setattr(_drawing, "advance_world", counted)
    draw_frames = ENV.presentation.draw_frames
    assert draw_frames is not None
    assert list(draw_frames(instance, turns, counts)) == apart
    assert len(steps) == len(turns)


def test_drawing_reuses_the_map() -> None:
    whole, again = draw(Wilds(5), board_id="m"), draw(Wilds(5), board_id="m", reuse=True)
    assert '<use href="#m"/>' in again
    assert len(again) < len(whole) / 2


@pytest.mark.parametrize("data", [None, {}, {"seed": -1}, {"seed": 2**31 - 1}, {"seed": True}, {"seed": 1, "x": 2}])
def test_bad_instances(data: Any) -> None:
    with pytest.raises(DataError, match="seed"):
        ENV.items.decode(data)


def test_there_is_one_level() -> None:
    with pytest.raises(UsageError, match="one level"):
        ENV.source(level=2)


def test_worlds_of_a_key_differ() -> None:
    seeds = {ENV.source().item(index).instance.seed for index in range(200)}
    assert len(seeds) == 200
    assert seeds.isdisjoint(ENV.source("other").item(index).instance.seed for index in range(200))


def test_published_seed_is_pythons_hash() -> None:
    for seed, episode in ((0, 1), (1, 1), (7, 3), (123_456_789, 12)):
        assert published_seed(seed, episode) == hash((seed, episode)) % (2**31 - 1)


def test_loading_the_environment_imports_neither_numpy_nor_numba() -> None:
    code = (
        "import sys, waybench; waybench.load('crafter/survival').source().item(0);"
        "print(sorted({'numpy', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_achievements_are_counted_in_the_order_of_their_names() -> None:
    assert list(ACHIEVEMENTS) == sorted(ACHIEVEMENTS)
    assert len(ACHIEVEMENTS) == 22
    assert MADE == 16


@pytest.mark.slow
def test_what_makes_worlds_is_compiled_once_for_all_constants(tmp_path: Path) -> None:
    program = (
        "import numpy\n"
        "from waybench.envs.crafter import _terrain as terrain\n"
        "land = numpy.zeros(terrain.ids.SIZE**2, numpy.uint8)\n"
        "terrain.generate_world(1, numpy.zeros(6 * len(land)), land, land.copy())\n"
        "names = 'opensimplex_noise', '_vertex_contribution', '_noise_layer', '_write_land'\n"
        "compiled = [getattr(terrain, name) for name in names]\n"
        "print(*(len(each.signatures) for each in compiled))\n"
    )
    cold = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=cold, check=True, timeout=PATIENCE
    )
    assert done.stdout.split() == ["1", "1", "1", "1"]
