"""The contract, over every environment of the registry and each of its sample levels."""

import pytest

import waybench
from waybench.envs import registry
from waybench.testing._suite import ENVIRONMENT_CHECKS, LEVEL_CHECKS, run_check
from waybench.testing._walks import count_reachable_states

IDS = [entry.id for entry in registry.built_in]
# The first level runs the same lines as larger ones, which are among the slow tests. An episode of the first kind is
# long, and a start in the second makes a world.
LONG = {"crafter/survival", "voxel/find"}
PROCESSES = "processes"  # a check that starts other processes, which takes a second
IN_ALL = {"start", "apply", "replay", "tampering", "metrics"}  # checks that the fast tests make of those, too
PLACES = [
    pytest.param(
        env_id,
        level,
        name,
        marks=[pytest.mark.slow]
        if level != levels[0] or name == PROCESSES or (env_id in LONG and name not in IN_ALL)
        else [],
    )
    for env_id in IDS
    for levels in [waybench.load(env_id).items.sample_levels]
    for level in levels
    for name in LEVEL_CHECKS
]

MOST = 2_000
# States that can be reached from the start of the first public item of the smallest level. A change of the rules
# shows here; MOST + 1 stands for "more than that".
REACHABLE = {
    # What was seen and how it went is part of the state, so that hardly two ways lead to the same one.
    "atlas/world": 767,  # the walks of at most six moves, each to a neighbour or to nowhere, that end at the goal
    "bandit/arms": MOST + 1,
    "crafter/survival": MOST + 1,
    "graph/paths": 2,  # the question, and that a path of one edge is wrong
    "hanoi/rods": MOST + 1,
    "rps/rounds": MOST + 1,
    "sokoban/rooms": 228,  # the cells of the player and of two boxes, as far as pushes lead
    "maze/alicia": 16,  # the way in, and the steps from a cell but the exit to the next: where one is and faces
    "maze/explore": 36,  # the cells, what was seen and the cell before
    "messenger/roles": MOST + 1,  # every place within reach, the last two observations, and how many there were
    # Nodes 0-1, 0-2, 0-3, 2-4: where one is, where one was before, and the order of the first visits.
    "search/bfs": 317,
    "search/cavebfs": 317,
    "search/cavedfs": 119,
    "search/dfs": 119,
    # The second of nine numbers: two ends below it, eight above, and the state in which it is found.
    "search/coin": 17,
    "search/guessnum": 17,
    # The question, and whether the answer was right.
    "textmap/destination": 3,
    # The places that sixteen triplets can end at.
    "textmap/extract": MOST + 1,
    "textmap/minigame": 3,
    "textmap/route": 3,
    # Where one stands before which of five objectives, how many were reached, and how far the last plan ended.
    "tilemap/gtb": 171,
    "tilemap/state": 171,
    "tilemap/stepwise": MOST + 1,  # and how many single actions were taken
    "voxel/find": MOST + 1,  # every place that chance leads to
}


@pytest.mark.parametrize("name", ENVIRONMENT_CHECKS)
@pytest.mark.parametrize("env_id", IDS)
def test_what_it_says_of_itself(env_id: str, name: str) -> None:
    environment = waybench.load(env_id)
    name_of_family = env_id.partition("/")[0]
    family = [waybench.load(each) for each in IDS if each != env_id and each.partition("/")[0] == name_of_family]
    run_check(environment, name, family=family)


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize(("env_id", "level", "name"), PLACES)
def test_contract(env_id: str, level: int, name: str) -> None:
    run_check(waybench.load(env_id), name, level)


@pytest.mark.parametrize("env_id", IDS)
def test_number_of_reachable_states(env_id: str) -> None:
    environment = waybench.load(env_id)
    game = environment.playing.play(environment.resolve_options({})).game
    found = count_reachable_states(game, environment.source().item(0).instance, max_states=MOST)
    if env_id not in REACHABLE:
        pytest.fail(f'add the line "{env_id}": {found}, to REACHABLE, once you know that the number is right')
    assert found == REACHABLE[env_id]


def test_no_number_is_left_of_an_environment_that_is_gone() -> None:
    assert set(REACHABLE) <= set(IDS)


@pytest.mark.parametrize("entry", registry.built_in, ids=lambda entry: entry.id)
def test_catalogue_line(entry: object) -> None:
    environment = waybench.load(f"{entry.id}@{entry.version}")
    assert (environment.id, environment.version) == (entry.id, entry.version)
    assert entry.summary
    assert "\n" not in entry.summary
