"""Whether scores measure finding one's way: replies that know nothing are no exploits, but for the known ones.

A new exploit fails here, and so does a known one that works no more. docs/validity.md lists them.
"""

from dataclasses import replace
from pathlib import Path

import pytest

import waybench
from tests.toys import DIAL, DialState, DialWording, oracle, with_wording
from waybench.core import EpisodeRecord, HorizonSpec, Invalid, Stream, level_axis, play_to_end, policy
from waybench.envs import registry
from waybench.testing._players import EXPLOITS, play_exploits, uninformed_success_rates
from waybench.testing._suite import run_check
from waybench.testing._walks import ContractError, option_combinations

SILENT = "silence at every second item"
PAGE = Path(__file__).parents[2] / "docs" / "validity.md"

# (environment, protocol, exploit) -> what it comes to at the hardest sample level.
KNOWN: dict[tuple[str, str, str], float] = {
    ("messenger/roles", "sound", "nothing"): 0.0,
}

WAYS = [
    (entry.id, options["protocol"], options["wording"])
    for entry in registry.built_in
    for options in option_combinations(waybench.load(entry.id))
]
LONG = {"crafter/survival", "maze/explore", "tilemap/stepwise", "voxel/find"}  # episodes that take long
FIRST = [way for number, way in enumerate(WAYS) if way[:2] not in [earlier[:2] for earlier in WAYS[:number]]]


def exploits_of(env_id: str, protocol: str, wording: str, level: int) -> dict[str, float]:
    environment = waybench.load(env_id)
    options = {**environment.playing.check_options, "protocol": protocol, "wording": wording}
    return dict(play_exploits(environment, level, options).exploits)


@pytest.mark.parametrize(
    ("env_id", "protocol", "wording"),
    [pytest.param(*way, marks=[pytest.mark.slow] if way[0] in LONG else []) for way in FIRST],
)
def test_only_known_exploits_work(env_id: str, protocol: str, wording: str) -> None:
    found = exploits_of(env_id, protocol, wording, waybench.load(env_id).items.sample_levels[-1])
    known = {exploit: value for (env, way, exploit), value in KNOWN.items() if (env, way) == (env_id, protocol)}
    assert found == pytest.approx(known, abs=5e-3), "mend the scoring, or enter it here and in docs/validity.md"


@pytest.mark.slow
@pytest.mark.parametrize(("env_id", "protocol", "wording"), WAYS)
def test_no_others_work_in_any_wording_or_at_the_easiest_level(env_id: str, protocol: str, wording: str) -> None:
    known = {exploit for env, way, exploit in KNOWN if (env, way) == (env_id, protocol)}
    levels = waybench.load(env_id).items.sample_levels
    is_in_first = (env_id, protocol, wording) in FIRST  # whose hardest level `test_only_known_exploits_work` plays
    for level in {levels[0]} if is_in_first and len(levels) > 1 else {levels[0], levels[-1]}:
        assert set(exploits_of(env_id, protocol, wording, level)) <= known, f"level {level}"


def test_the_page_lists_what_is_known() -> None:
    page = PAGE.read_text(encoding="utf-8")
    told = {tuple(cell.strip() for cell in line.split("|")[1:5]) for line in page.splitlines() if line.startswith("| ")}
    known = {(env, way, exploit, f"{value:g}") for (env, way, exploit), value in KNOWN.items()}
    assert known == told - {("environment", "protocol", "exploit", "score")}
    assert all(f"* {name}" in page for name in EXPLOITS)


class Gullible(DialWording):
    """Takes a claim for the deed."""

    def parse(self, reply: str, state: DialState) -> int | Invalid:
        return oracle(state, Stream("unused")) if "win" in reply else super().parse(reply, state)


def test_an_environment_that_believes_a_claim_is_found_out() -> None:
    (options, *_) = option_combinations(DIAL)
    assert play_exploits(DIAL, 7, options).exploits == {}
    found = play_exploits(with_wording(Gullible()), 7, options)
    assert found.exploits == {"a claim to have won": found.oracle}


def test_an_environment_that_leaves_silence_out_is_found_out() -> None:
    head = DIAL.scoring.metrics[0]

    def of(record: EpisodeRecord) -> float | None:
        return head.of(record) if record.turns[0].reply else None

    lenient = replace(head, of=of)
    (options, *_) = option_combinations(DIAL)
    found = play_exploits(
        replace(DIAL, scoring=replace(DIAL.scoring, metrics=(lenient, *DIAL.scoring.metrics[1:]))), 7, options
    )
    assert found.exploits == {SILENT: found.oracle}


def test_an_environment_whose_horizon_is_a_random_walks_is_found_out() -> None:
    """Two steps of three numbers: half of all walks meet the goal some time."""
    axis = level_axis("numbers", "Numbers of the dial.")
    spec = HorizonSpec(levels=(3, 6))
    lucky = replace(
        DIAL,
        difficulty=replace(DIAL.difficulty, axes=(axis,), success="the dial is at its number, some time", horizon=spec),
    )
    assert uninformed_success_rates(lucky, 3, option_combinations(lucky)[0])["random"] > 0.5
    with pytest.raises(ContractError, match="random player at level 3 in 'sound' succeeds at 78%"):
        run_check(lucky, "horizon")

    def is_short(record: EpisodeRecord) -> bool:
        return len(record.turns) == record.proof["minimum"] > 1

    run_check(replace(lucky, difficulty=replace(lucky.difficulty, competent=is_short)), "horizon")
    with pytest.raises(ContractError, match="success"):
        run_check(replace(lucky, difficulty=replace(lucky.difficulty, success="")), "horizon")


def test_a_random_maze_player_has_no_horizon_where_it_meets_most_exits() -> None:
    """The report that began this: a random walk had a 50 % horizon at dimension 13.7."""
    maze = waybench.load("maze/alicia")
    records = [play_to_end(maze, item, policy("random")).record() for item in maze.source(level=5).head(40)]
    assert all(record.end == "solved" for record in records)
    assert sum(map(maze.difficulty.is_success, records)) < 20
    with pytest.raises(ContractError, match="random player at level 5"):
        run_check(replace(maze, difficulty=replace(maze.difficulty, competent=None)), "horizon")
