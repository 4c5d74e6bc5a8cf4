"""Task directories for Harbor: what they hold and where, the game's server, and the verifier."""

import importlib.util
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest
from click.testing import CliRunner

import waybench.ext.publish.harbor as harbor_package
from tests.conftest import PATIENCE, ROOT, missing
from waybench._game import GameServer
from waybench.cli import main

HARBOR = ROOT / ".venv-harbor" / "bin"
PROGRAMS = Path(harbor_package.__file__).parent


def export(*arguments: object) -> Any:
    return CliRunner().invoke(main, ["export", *map(str, arguments), "--format", "harbor"])


@pytest.fixture(scope="module")
def mazes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("harbor") / "mazes"
    # Their key is a new one each time; in smaller mazes one's way out may be the other's, too.
    done = export("alicia", "--out", out, "--count", 2, "-T", "min_dimension=15", "-T", "requests=1")
    assert done.exit_code == 0, done.output
    return out


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("harbor") / "games"
    done = export("dfs", "--out", out, "--count", 2, "--level", 6)
    assert done.exit_code == 0, done.output
    return out


def directories(out: Path) -> list[Path]:
    return sorted(path for path in out.iterdir() if path.is_dir())


def agents_files(task: Path) -> list[Path]:
    """Return what an agent's box is made of: the instruction, and the context of its image without what is ignored."""
    ignored = {"game"} if (task / "environment" / ".dockerignore").exists() else set[str]()
    context = [path for path in (task / "environment").iterdir() if path.name not in ignored]
    assert all(path.is_file() for path in context)
    return [task / "instruction.md", *context]


def test_the_agent_s_box_has_no_item_hash_token_or_waybench(mazes: Path, games: Path) -> None:
    for task in (*directories(mazes), *directories(games)):
        item = json.loads((task / "tests" / "item.json").read_text("utf-8"))
        token = task / "tests" / "token"
        answer = task / "solution" / "answer.txt"
        hidden = [item["hash"], "waybench"]
        hidden += [file.read_text("utf-8") for file in (token, answer) if file.exists()]
        for path in agents_files(task):
            text = path.read_text("utf-8")
            assert not [secret for secret in hidden if secret and secret in text], path
        if token.exists():
            assert token.read_text("utf-8") not in (task / "environment" / "game" / "item.json").read_text("utf-8")
        assert "COPY ." not in (task / "environment" / "Dockerfile").read_text("utf-8")


def test_keys_are_private_by_default_and_stay_outside(mazes: Path, tmp_path: Path) -> None:
    key = mazes.with_name("mazes.key")
    assert key.stat().st_mode & 0o077 == 0
    secret = key.read_text("ascii").strip()
    assert all(secret.encode() not in path.read_bytes() for path in mazes.rglob("*") if path.is_file())
    assert "waybench-key-1:" in (mazes / "README.md").read_text("utf-8")
    refused = export("alicia", "--out", tmp_path / "public", "--key", "public")
    assert refused.exit_code == 2 and "--network no-network" in refused.output
    done = export("graph", "--out", tmp_path / "closed", "--count", 1, "--key", "public", "--network", "no-network")
    assert done.exit_code == 0 and not (tmp_path / "closed.key").exists()


def test_what_needs_packages_needs_an_image(tmp_path: Path) -> None:
    refused = export("mango_route", "--out", tmp_path / "routes", "--count", 1)
    assert refused.exit_code == 2 and "--image" in refused.output
    assert not list(tmp_path.iterdir())


@contextmanager
def served(task: Path, record: Path) -> Iterator[str]:
    described = json.loads((task / "environment" / "game" / "item.json").read_text("utf-8"))
    server = GameServer(described, record, ("127.0.0.1", 0))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def ask(address: str, data: Any = None, token: str = "") -> tuple[int, Any]:
    body = data if data is None or isinstance(data, bytes) else json.dumps(data).encode()
    try:
        with build_opener(ProxyHandler({})).open(
            Request(address, body, {"Authorization": f"Bearer {token}"})
        ) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except HTTPError as error:
        return error.code, json.load(error)


def harbor(program: str, *arguments: object, home: Path) -> str:
    """Run a program of Harbor's environment, without its telemetry; return what it prints."""
    if not (HARBOR / program).is_file():
        missing(f"{HARBOR.parent.name} is not there: run `make faces` with Python 3.12 or 3.13")
    settings = {"HOME": str(home), "HARBOR_TELEMETRY": "off", "PYTHONPATH": str(Path(__file__).parent)}
    command = [str(HARBOR / program), *map(str, arguments)]
    environment = {**os.environ, **settings}
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def program(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, PROGRAMS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def verified(task: Path, tmp_path: Path, answer: bytes | None = None, record: Path | None = None) -> float | None:
    """Run a verifier; return its reward, or None if it ends with an error and writes none."""
    verifier = program("_verify")
    out = tmp_path / "verifier"
    verifier.HERE, verifier.OUT = task / "tests", out
    verifier.ANSWER, verifier.RECORD = tmp_path / "answer.txt", record or tmp_path / "no-record.json"
    verifier.ANSWER.unlink(missing_ok=True)
    if answer is not None:
        verifier.ANSWER.write_bytes(answer)
    (out / "reward.json").unlink(missing_ok=True)
    status = verifier.main()
    assert (status == 0) == (out / "reward.json").exists()
    if status:
        return None
    reward = json.loads((out / "reward.json").read_text("utf-8"))
    assert set(reward) == {"reward"}
    return reward["reward"]


def test_answers_are_verified(mazes: Path, tmp_path: Path) -> None:
    task, other = directories(mazes)
    solution = (task / "solution" / "answer.txt").read_bytes()
    assert verified(task, tmp_path, solution) == 1.0
    wrong = (other / "solution" / "answer.txt").read_bytes()
    for answer in (None, b"", b"\xff\xfe\x00", b"[" * 3_000_000, *([wrong] if wrong != solution else [])):
        reward = verified(task, tmp_path, answer)
        assert reward is not None and reward < 1
    assert verified(task, tmp_path, b"") == verified(task, tmp_path, None) == 0


def test_a_game_is_played_by_its_client_and_verified(games: Path, tmp_path: Path) -> None:
    task, other = directories(games)
    token, record, client = (task / "tests" / "token").read_text("utf-8"), tmp_path / "record.json", program("_client")
    with served(task, record) as address:
        assert ask(f"{address}/health")[0] == 200
        assert verified(task, tmp_path, record=record) == 0  # nobody has replied
        client.ADDRESSES = ("http://127.0.0.1:1", address)
        assert client.request_text("/look").strip()
        replies = [json.loads(line) for line in (task / "solution" / "replies.txt").read_text("utf-8").splitlines()]
        for reply in replies[:-1]:
            client.request_text("/act", {"reply": reply})
        part = verified(task, tmp_path, record=record)
        assert part is not None and 0 < part < 1  # what there is of a killed agent counts
        assert "game is over" in client.request_text("/act", {"reply": replies[-1]})
        assert "game is over" in client.request_text("/act", {"reply": "more"})
        assert ask(f"{address}/record")[0] == ask(f"{address}/record", token="0" * 32)[0] == 403
        assert ask(f"{address}/record", token=token) == (200, json.loads(record.read_text("utf-8")))
    assert verified(task, tmp_path, record=record) == 1.0
    assert verified(other, tmp_path, record=record) is None
    assert verified(task, tmp_path) is None
    data = json.loads(record.read_text("utf-8"))
    for change in ({"instance_hash": "0" * 64}, {"options": {}}, {"turns": data["turns"][::-1]}, {"schema": "x"}):
        record.write_text(json.dumps({**data, **change}), "utf-8")
        assert verified(task, tmp_path, record=record) is None, change
    record.write_text("{", "utf-8")
    assert verified(task, tmp_path, record=record) is None


def test_the_game_speaks_the_model_context_protocol(games: Path, tmp_path: Path) -> None:
    task = directories(games)[0]

    with served(task, tmp_path / "record.json") as address:

        def call(method: str, **parameters: Any) -> Any:
            request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
            return ask(f"{address}/mcp", request)[1]

        assert call("initialize", protocolVersion="2025-03-26")["result"]["protocolVersion"] == "2025-03-26"
        assert ask(f"{address}/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}) == (202, None)
        assert [tool["name"] for tool in call("tools/list")["result"]["tools"]] == ["look", "act"]
        looked = call("tools/call", name="look", arguments={})["result"]
        assert not looked["isError"] and looked["content"][0]["text"] == ask(f"{address}/look")[1]["text"]
        assert call("tools/call", name="act", arguments={"reply": "0"})["result"]["content"]
        assert call("tools/call", name="reset")["result"]["isError"]
        assert call("resources/list")["error"]["code"] == -32601
        for body in (b"{", b"[" * 100_000, b"", {"reply": 3}, []):
            assert ask(f"{address}/act", body)[0] == 400
        assert ask(f"{address}/episodes")[0] == 404


@pytest.mark.slow
def test_harbor_s_own_loader_takes_the_directories(mazes: Path, games: Path, tmp_path: Path) -> None:
    script = """
import json, sys
from pathlib import Path
from harbor.models.task.task import Task
from harbor.publisher.packager import Packager
found = []
for path in map(Path, sys.argv[1:]):
    task = Task(path)
    digest, _ = Packager.compute_content_hash(path)
    found.append([Task.is_valid_dir(path), task.name, task.config.verifier.environment_mode.value, f"sha256:{digest}"])
print(json.dumps(found))
"""
    tasks = [*directories(mazes), *directories(games)]
    found = json.loads(harbor("python", "-c", script, *tasks, home=tmp_path))
    listed = (mazes / "dataset.toml").read_text("utf-8") + (games / "dataset.toml").read_text("utf-8")
    for task, (is_valid, name, mode, digest) in zip(tasks, found, strict=True):
        assert (is_valid, name, mode) == (True, f"waybench/{task.name}", "separate") and digest in listed


@pytest.mark.slow
def test_in_harbor_s_own_trials_the_oracle_has_one_and_silence_nothing(
    mazes: Path, games: Path, tmp_path: Path
) -> None:
    for tool in ("bwrap", "nsenter"):
        if shutil.which(tool) is None:
            missing(f"{tool} is not installed: apt-get install bubblewrap util-linux")
    probe = ["bwrap", "--unshare-net", "--bind", "/", "/", "true"]
    if os.geteuid() or subprocess.run(probe, capture_output=True, timeout=PATIENCE).returncode:
        pytest.skip("this user may not make namespaces here, which stand in for Docker")
    tasks = [directories(mazes)[0], directories(games)[0]]
    job = {
        "job_name": "trials",
        "jobs_dir": str(tmp_path),
        "n_concurrent_trials": 2,
        "environment": {"import_path": "bubblewrap_boxes:Boxes"},
        "agents": [{"name": "oracle"}, {"name": "nop"}],
        "tasks": [{"path": str(task)} for task in tasks],
    }
    config = tmp_path / "job.json"
    config.write_text(json.dumps(job), "utf-8")
    harbor("harbor", "run", "--config", config, "--yes", "--quiet", home=tmp_path)
    rewards: dict[tuple[str, str], Any] = {}
    for path in (tmp_path / "trials").glob("*/result.json"):
        result = json.loads(path.read_text("utf-8"))
        assert result["exception_info"] is None, result["exception_info"]
        rewards[result["task_name"], result["agent_info"]["name"]] = result["verifier_result"]["rewards"]
        record = json.loads((path.parent / "verifier" / "record.json").read_text("utf-8"))
        assert bool(record["turns"]) == (result["agent_info"]["name"] == "oracle")
    assert rewards == {
        (f"waybench/{task.name}", agent): {"reward": reward}
        for task in tasks
        for agent, reward in (("oracle", 1.0), ("nop", 0.0))
    }
