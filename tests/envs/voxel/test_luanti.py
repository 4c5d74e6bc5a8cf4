"""Luanti's worlds: they depend on their seed alone, and are seen and walked in as they are."""

import gc
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tests.conftest import PATIENCE, missing
from tests.drawings import drawer
from waybench.cli import main
from waybench.cli._report import build_report
from waybench.core import EpisodeRecord, LiveError, ReplayError, UsageError, play_to_end, policy, replay
from waybench.envs.voxel import FIND
from waybench.envs.voxel._game import SearchSource, level_distances, level_of, prove
from waybench.envs.voxel._look import cast_rays
from waybench.envs.voxel._wording import Raw
from waybench.envs.voxel.engines import _engines, _luanti, _server
from waybench.envs.voxel.engines._luanti import LuantiTerrain, biome_name
from waybench.envs.voxel.engines._own import LENGTHS, BlockWorld, eye_position, ray_directions
from waybench.envs.voxel.engines._server import LuantiServer
from waybench.envs.voxel.engines._terrain import ENGINES, Body
from waybench.reporting import write_report
from waybench.results import LoggedEpisode

REAL = pytest.mark.slow
LUANTI: dict[str, Any] = {"engine": "luanti", "goal": "any"}
AROUND = ((300, -300), (-300, 300), (0, 200), (200, 0), (0, -220))  # where one comes by before


@pytest.fixture
def installed() -> None:
    """Skip a test where there is no server; with CI=true it fails, for there is to be one."""
    if _server.program_path() is None:
        missing(f"no Luanti server: {_server.MISSING}")


def blocks(world: BlockWorld, x: int, z: int) -> list[str]:
    """Return the names of all blocks around a place."""
    around = product(range(x - 70, x + 70, 2), range(z - 70, z + 70, 3))
    return [world.block(a, y, b) for a, b in around for y in range(world.lowest, world.lowest + world.layers, 2)]


PLACES = {5: (1000, -300), 77: (8, 56), 1780098417356131924: (3273, 1361)}  # rainforest, tundra, permafrost and snow


@REAL
@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("seed", PLACES)
def test_a_world_depends_on_its_seed_alone(seed: int) -> None:
    """Not on the order in which one comes around in it, nor on the process; servers draw much by the time of day."""
    x, z = PLACES[seed]
    straight = blocks(LuantiTerrain(seed), x, z)
    for _ in range(2):
        around = LuantiTerrain(seed)
        for right, down in AROUND:
            around.view(Body(x + right + 0.5, 60.0, z + down + 0.5, 0))
        assert blocks(around, x, z) == straight
    assert len(set(straight)) >= 8
    assert blocks(LuantiTerrain(seed + 1), x, z) != straight


@REAL
@pytest.mark.usefixtures("installed")
def test_the_order_of_chunks_matters_to_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the test above would fail if chunks were generated as they are come by."""

    def as_asked(world: Any, column: int, row: int) -> Iterator[tuple[int, int]]:
        if (column, row) not in world._generated:
            world._generated.add((column, row))
            yield column, row

    straight = blocks(LuantiTerrain(5), 1000, -300)
    monkeypatch.setattr(LuantiTerrain, "_in_generation_order", as_asked)
    around = LuantiTerrain(5)
    for right, down in AROUND:
        around.view(Body(1000 + right + 0.5, 60.0, down - 300 + 0.5, 0))
    assert blocks(around, 1000, -300) != straight


def solid_hits(world: Any, body: Body) -> list[tuple[str, float]]:
    """Return what our own rays hit among the blocks that fill their places; plants and snow do not."""
    hits, distances = np.empty(len(LENGTHS), dtype=np.int64), np.empty(len(LENGTHS))
    eye = eye_position(body) - (0, world.lowest, 0)
    with world._lock:
        world._ready(body.x, body.z, 66.0)
        kept = world._pool * world._solid[world._pool]
        cast_rays(
            kept, world._tags, 0, world.bedrock, world.water, eye, ray_directions(body.yaw), LENGTHS, hits, distances
        )
    return [(world._name(int(hit)), float(away)) for hit, away in zip(hits, distances, strict=True)]


@REAL
@pytest.mark.usefixtures("installed")
def test_the_servers_rays_hit_what_ours_hit() -> None:
    """Wherever they hit a block that fills its place, or nothing; ours see the blocks that were copied."""
    compared = 0
    for seed, (x, z) in ((5, (1000, -300)), (77, (-40, 610)), (12, (333, 333))):
        world = LuantiTerrain(seed)
        for yaw in range(-180, 180, 60):
            body = world.stand(x, z)._replace(yaw=yaw)
            raw: Raw = world.view(body)
            filled = {name for number, name in enumerate(world._names) if world._solid[number]} | {"air"}
            for hit, away, mine in zip(raw.rays, raw.distances, solid_hits(world, body), strict=True):
                if raw.blocks[hit] in filled:
                    assert mine[0] == raw.blocks[hit]
                    assert mine[1] == pytest.approx(away, abs=0.002)
                    compared += 1
    assert compared > 3000


@REAL
@pytest.mark.usefixtures("installed")
def test_the_ground_is_where_the_noise_says() -> None:
    """For all but the places where the roots of a tree take the ground's place."""
    world, same = LuantiTerrain(77), 0
    for x, z in product(range(0, 120, 5), range(0, 120, 5)):
        height = world.ground(x, z)
        column = [world.block(x, y, z) for y in range(height - 1, height + 2)]
        assert column[0] not in ("air", "water")
        same += column[1] not in ("air", "water") and world.block(x, height, z) not in ("water", "air")
    assert same >= 0.95 * 24 * 24


@REAL
@pytest.mark.usefixtures("installed")
def test_searches_begin_where_their_level_says(capfd: pytest.CaptureFixture[str]) -> None:
    for level in (1, 2):
        for item in SearchSource("luanti", level, LUANTI).head(3):
            search = item.instance
            low, high = level_distances(level)
            assert low <= item.proof["distance"] < high
            assert (level_of(search), prove(search)) == (level, item.proof)
            world: Any = _engines.open_charted_world("luanti", search.seed)
            assert world.biome(item.proof["x"], item.proof["z"]) in search.goals
            assert world.stand(search.x, search.z).y == world.ground(search.x, search.z) + 1
            nearer = world.nearest(search.x, search.z, search.goals, int(item.proof["distance"]) - 1)
            assert nearer is None
    assert SearchSource("luanti", 1, LUANTI).item(0) == SearchSource("luanti", 1, LUANTI).item(0)
    assert capfd.readouterr().out == ""  # what the server says is for us, not for the terminal


@REAL
@pytest.mark.usefixtures("installed")
def test_the_nearest_goal_is_the_nearest() -> None:
    world = LuantiTerrain(77)
    for goal in ("ocean", "beach"):
        goals = ENGINES["luanti"].matching_biomes(goal)
        near = world.nearest(100, -200, goals, 2048)
        assert near is not None
        assert near.away == pytest.approx(math.hypot(near.x - 100, near.z + 200))
        reach = int(near.away) // 4 + 2
        cells = product(range(25 - reach, 25 + reach), range(-50 - reach, -50 + reach))
        away = [math.hypot(a * 4 + 2 - 100, b * 4 + 2 + 200) for a, b in cells if world.biome(a * 4, b * 4) in goals]
        assert min(away) == pytest.approx(near.away)


@REAL
@pytest.mark.usefixtures("installed")
def test_an_episode_replays_and_never_ends_in_a_wall() -> None:
    item = SearchSource("luanti", 1, LUANTI).item(1)
    options = {"wording": "one_question", "steps": 60}
    for player in ("oracle", "random"):
        record = play_to_end(FIND, item, policy(player), options).record()
        back = EpisodeRecord.from_json(json.loads(record.dumps()))
        _engines._luanti_world.cache_clear()  # a new server
        assert replay(FIND, back).record() == back
        world: Any = _engines.open_charted_world("luanti", item.instance.seed)
        for turn in back.turns:
            x, y, z = (math.floor(each) for each in turn.events["at"])
            assert not world._solid[world._names.index(world.block(x, y, z))]
            assert turn.events["biome"] in ENGINES["luanti"].biomes
        if player == "oracle":
            assert str(back.end) == "solved"
            drawing = drawer("voxel/find")(item.instance, replay(FIND, back).turns)
            assert ENGINES["luanti"].biomes[world.biome(item.proof["x"], item.proof["z"])] in drawing


@REAL
@pytest.mark.usefixtures("installed")
def test_a_server_ends_with_its_world_and_listens_to_this_machine_alone() -> None:
    world = LuantiTerrain(3)
    process, folder = world._server._process, world._server._log.parent
    assert folder.exists()
    inodes = {os.readlink(link) for link in Path(f"/proc/{process.pid}/fd").iterdir() if link.is_symlink()}
    lines = [line.split() for line in Path(f"/proc/{process.pid}/net/udp").read_text().splitlines()[1:]]
    mine = [line[1] for line in lines if f"socket:[{line[9]}]" in inodes]
    assert mine
    assert all(address.startswith("0100007F:") for address in mine)  # 127.0.0.1
    del world
    gc.collect()
    assert process.poll() is not None
    assert not folder.exists()


@REAL
@pytest.mark.usefixtures("installed")
def test_a_server_ends_when_this_process_is_killed() -> None:
    code = (
        "import os, signal\n"
        "from waybench.envs.voxel.engines._server import LuantiServer\n"
        "server = LuantiServer(1)\n"
        "print(server._process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    pid = int(done.stdout)
    for _ in range(20 * PATIENCE):
        try:
            state = Path(f"/proc/{pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):  # the latter if it ends while it is read
            return
        if state.rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("the server goes on")


def test_biomes_have_one_sea_and_one_beach() -> None:
    names = {
        ("desert_ocean", False): "ocean",
        ("desert_ocean", True): "beach",
        ("tundra_beach", True): "beach",
        ("grassland_dunes", True): "dunes",
        ("savanna_shore", False): "shore",
        ("rainforest_swamp", False): "swamp",
        ("taiga_under", True): "taiga",
        ("cold_desert", True): "cold desert",
        ("tundra_highland", True): "tundra highland",
    }
    assert {(name, dry): biome_name(name, dry) for name, dry in names} == names
    engine = ENGINES["luanti"]
    assert set(names.values()) <= set(engine.biomes)
    assert engine.matching_biomes("desert") == ("desert", "sandstone desert", "cold desert")
    assert all(engine.matching_biomes(goal) for goal in engine.goal_words())


def test_no_two_neighbours_have_one_colour() -> None:
    for column, row in product((-3, 2), (5, -4)):
        near = [(column + i, row + j) for i, j in product((-1, 0, 1), repeat=2)]
        colours = [_luanti._chunk_colour(*each) for each in near]
        assert colours.count(_luanti._chunk_colour(column, row)) == 1


Fake = Callable[[str], None]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    """Return a function that makes a program of a script, and puts it in the place of the server."""

    def put(script: str) -> None:
        path = tmp_path / "minetestserver"
        path.write_text(f"#!{sys.executable}\nimport json, sys, time\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
        _server.program_path.cache_clear()

    yield put
    _server.program_path.cache_clear()


def test_a_server_that_ends_at_once_is_tried_again_and_told_of(fake: Fake, tmp_path: Path) -> None:
    told = tmp_path / "told"
    fake(
        f"open({str(told)!r}, 'a').write('x')\n"
        "sys.stderr.write('first\\n2026: ERROR[Main]: Game specified is invalid\\nlast\\n')\n"
    )
    with pytest.raises(RuntimeError, match=r"has ended: 2026: ERROR\[Main\]: Game specified is invalid$"):
        LuantiServer(1)
    assert told.read_text() == "xxx"


def test_a_server_that_cannot_answer_says_why(fake: Fake) -> None:
    fake(
        "print('noise')\n"
        "print('waybench {\"version\": 1}', flush=True)\n"
        "for line in sys.stdin:\n"
        "    if 'rays' in line:\n"
        "        print('waybench ' + json.dumps({'error': 'bad rays'}), flush=True)\n"
    )
    server = LuantiServer(1)
    assert server.about == {"version": 1}
    with pytest.raises(RuntimeError, match=r"^Luanti's server: bad rays$"):
        server.ask("rays", eye=[])


@REAL
@pytest.mark.usefixtures("installed")
def test_a_server_that_was_killed_is_replaced() -> None:
    world: Any = _engines.open_charted_world("luanti", 9)
    body = world.stand(0, 0)
    world._server._process.kill()
    for told in ("by signal 9", "ended unexpectedly"):
        with pytest.raises(RuntimeError, match=told):
            world.view(body._replace(x=500.0))
    again: Any = _engines.open_charted_world("luanti", 9)
    assert again is not world
    assert again.stand(0, 0) == body


@REAL
@pytest.mark.usefixtures("installed")
def test_an_interrupted_question_is_not_answered_later(monkeypatch: pytest.MonkeyPatch) -> None:
    world = LuantiTerrain(9)

    def interrupted(timeout: float) -> bytes:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(world._server._answers, "get", interrupted)
        with pytest.raises(KeyboardInterrupt):
            world.ground(0, 0)
    with pytest.raises(RuntimeError, match="ended unexpectedly"):
        world.ground(0, 0)


@REAL
@pytest.mark.usefixtures("installed")
def test_there_is_a_wall_at_the_end_of_the_map() -> None:
    world = LuantiTerrain(9)
    assert world.block(30_100, 50, 0) == "stone"
    assert world.block(31_500, 50, -31_500) == "stone"
    assert world.block(29_000, 120, 0) == "air"


@REAL
@pytest.mark.usefixtures("installed")
def test_nothing_hidden_is_told_of() -> None:
    world = LuantiTerrain(77)
    world.view(world.stand(8, 56))
    kinds = {kind for _, kind in world._nodes.values()}
    hidden = [
        number
        for number, (name, _) in world._nodes.items()
        if name.startswith(("fireflies:hidden", "butterflies:hidden"))
    ]
    assert kinds == {"air", "thin", "solid", "liquid"}
    assert len(hidden) >= 2
    assert {world._block_number(number) for number in hidden} == {world.air}


def test_folders_of_killed_processes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    names = {number: tmp_path / f"waybench-luanti-{number}-x" for number in (gone.pid, os.getpid())}
    other = tmp_path / "waybench-luanti-mine-x"
    for folder in (*names.values(), other):
        folder.mkdir()
    _server._remove_left_folders()
    assert [folder.exists() for folder in (*names.values(), other)] == [False, True, True]


def test_a_server_that_never_answers_is_stopped(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    fake("print('waybench {}', flush=True)\nfor line in sys.stdin: pass")
    server = LuantiServer(1)
    monkeypatch.setattr(_server, "_PATIENCE", 0.2)
    with pytest.raises(RuntimeError, match="did not answer within"):
        server.ask("columns")
    assert server._process.poll() is not None


def test_another_games_biomes_are_refused(fake: Fake) -> None:
    about = {"version": {"string": "5.9"}, "nodes": [], "biomes": [[1, "mushroom_caves"]]}
    fake(f"for line in sys.stdin: print('waybench ' + {json.dumps(about)!r}, flush=True)")
    with pytest.raises(RuntimeError, match=r"5\.9 has biomes that are not minetest_game's: mushroom caves"):
        LuantiTerrain(1)


@pytest.fixture
def no_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Hide the server from this process."""
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    monkeypatch.setattr(_server, "_FOLDERS", ())
    _server.program_path.cache_clear()
    yield
    _server.program_path.cache_clear()


@pytest.mark.usefixtures("no_server")
def test_one_line_says_what_to_install() -> None:
    with pytest.raises(UsageError, match="install Debian's package minetest-server"):
        SearchSource("k", 1, LUANTI).item(0)
    done = CliRunner().invoke(main, ["play", "voxel/find", "-S", "engine=luanti"])
    assert done.exit_code == 2
    assert "minetest-server" in done.output
    assert "Traceback" not in done.output


def as_if_in_luanti(record: EpisodeRecord) -> EpisodeRecord:
    """Return a record of our own engine as a server would have given it: no world is needed to read it."""
    instance = {**record.instance, "engine": "luanti", "goal": "forest", "x": 0, "z": 0}
    return replace(record, instance=instance, instance_hash=FIND.items.decode(instance).hash)


@pytest.mark.usefixtures("no_server")
def test_records_count_as_recorded_where_the_engine_is_missing(tmp_path: Path) -> None:
    items = FIND.source("missing", 1).head(2)
    options = {"wording": "one_question", "steps": 30}
    found, lost = (
        play_to_end(FIND, items[i], policy(who), options).record() for i, who in enumerate(("oracle", "null"))
    )
    lost = replace(lost, options={**lost.options, "protocol": "sound"})
    records = [as_if_in_luanti(found), as_if_in_luanti(lost)]
    broken = replace(records[0], instance_hash="0" * 64)
    with pytest.raises(LiveError, match="its engine, luanti, is not installed here"):
        replay(FIND, records[0])
    with pytest.raises(ReplayError, match="instance_hash"):  # what can be checked without a world still is
        replay(FIND, broken)
    settings = {"engine": "luanti"}
    episodes = [LoggedEpisode(model="m", task="t", record=one, settings=settings) for one in (*records, broken)]
    report = write_report(episodes, tmp_path)
    assert (report.unconfirmed, report.not_simulated) == (1, {"its engine, luanti, is not installed here": 2})
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert sum(each["not_simulated"] for each in summary["overall"]) == 2
    assert sum(each["unconfirmed"] for each in summary["overall"]) == 1
    scores = [each["best"]["value"] for each in summary["overall"] if each["best"] is not None]
    assert sum(scores) == sum(FIND.scoring.metrics[0].of(record) or 0 for record in records)
    cases = (("results", 2, "not re-simulated"), ("replays", 2, "ot re-simulated"), ("tasks", 1, "not be re-simulated"))
    for path, count, words in cases:
        pages = [page.read_text(encoding="utf-8") for page in (tmp_path / path).glob("*.html")]
        assert sum(words in page for page in pages) == count
    home = report.index.read_text(encoding="utf-8")
    assert "re-simulated except 2 (its engine, luanti, is not installed here), whose recorded values are used" in home


@pytest.mark.usefixtures("no_server")
def test_the_terminal_tells_a_missing_engine_from_a_mismatch(tmp_path: Path) -> None:
    record = as_if_in_luanti(play_to_end(FIND, FIND.source("k", 1).item(0), policy("oracle"), {"steps": 30}).record())
    line = {**record.to_json(), "task": "t", "settings": {"engine": "luanti"}}
    (tmp_path / "records.jsonl").write_text(json.dumps(line))
    lines: list[str] = []
    build_report((tmp_path,), tmp_path / "site", "t", tell=lines.append)
    (line,) = lines
    assert line.startswith("note: 1 of 1 episode could not be re-simulated")
    assert "its engine, luanti, is not installed here" in line
