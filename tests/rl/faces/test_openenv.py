import asyncio
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
import uvicorn
from openenv.core import GenericEnvClient
from openenv.validation import Level, Verdict, run_validation
from openenv.validation.types import ProviderCapability
from scripts import ENVIRONMENTS, script, told
from starlette.exceptions import HTTPException

import waybench
from waybench.core import UsageError
from waybench.ext.train import openenv as face
from waybench.ext.train import split_of
from waybench.ext.train._episode_file import EpisodeFile
from waybench.ext.train._session import SPLITS, Session
from waybench.ext.train.openenv import _BodySizeLimit

PATIENCE = 300
PACKAGE = Path(__file__).parents[3] / "examples" / "openenv"


def serving(env: str, **settings: object) -> AbstractContextManager[str]:
    """Serve an environment from a thread, and end it."""
    return running(face.app(env, **settings))


@contextmanager
def running(application: Any) -> Iterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(application, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listener.close()
    assert not thread.is_alive()


def request(url: str, data: Any = None, **headers: str) -> tuple[int, str]:
    sent = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(sent, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.parametrize("env", ENVIRONMENTS)
def test_the_same_replies_have_the_same_rewards_and_record(env: str, tmp_path: Path) -> None:
    expected = script(env, 2, {})
    file = EpisodeFile(tmp_path / "records.jsonl")
    with serving(env, file=file) as url, GenericEnvClient(base_url=url).sync() as client:
        started = client.reset(index=2)
        assert not started.done and started.observation["messages"]
        rewards, done = [], False
        for reply in expected.replies:
            assert not done
            result = client.step({"text": reply})
            rewards.append(result.reward)
            done = result.done
        state = client.state()
    assert rewards == expected.rewards
    file.end_open_episodes()
    record = json.loads((tmp_path / "records.jsonl").read_text(encoding="utf-8"))
    assert record.pop("settings") == {"interface": "openenv"}
    if not done:  # the script ends before the episode: the player has left it
        record["end"] = record["error"] = None
    assert told(record) == json.loads(json.dumps(expected.record))
    assert done == (expected.end != "None") and str(state["end"]) == expected.end
    assert state["step_count"] == len(expected.replies)


def test_the_protocol_s_own_checks_pass() -> None:
    with serving("maze/alicia", level=9) as url:
        done = subprocess.run(
            [sys.executable, "-m", "openenv.cli", "validate", "--url", url, "--json"],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        report = json.loads(done.stdout)
    assert report["passed"] and len(report["criteria"]) >= 6
    assert all(criterion["passed"] for criterion in report["criteria"])


class ThisMachine:
    """A provider of OpenEnv's validator that measures a server which runs already, in place of one in a container."""

    name = "this machine"
    capabilities = frozenset({ProviderCapability.IMAGE_BUILD})
    supported_network_modes = frozenset({"no-network"})

    def __init__(self, url: str) -> None:
        self.base_url = url

    def build(self, root: Path, execution: object) -> str:
        return f"sha256:{0:064}"

    def start(self, spec: object) -> "ThisMachine":
        return self

    def inspect(self) -> dict[str, str]:
        return {}

    def stop(self) -> None:
        pass


def test_the_validator_passes_the_package_and_its_server(tmp_path: Path) -> None:
    assert run_validation(PACKAGE, max_level=Level.STATIC).verdict is Verdict.PASS
    # What the validator measures of a container, of a server in this process: the package, with what it should play.
    package = shutil.copytree(PACKAGE, tmp_path / "package")
    with (package / "openenv.yaml").open("a", encoding="utf-8") as file:
        file.write("  execution:\n    probe_path: runtime.json\n")
    plan = {"plan_schema_version": "1", "reset": {"episode_id": "a", "seed": 3}, "actions": [{"text": "x"}] * 2}
    (package / "runtime.json").write_text(json.dumps(plan), encoding="utf-8")
    with serving("maze/alicia") as url:
        report = run_validation(package, provider=ThisMachine(url))
    passed = {result.check_id for result in report.results if result.status.value == "pass"}
    assert passed == {
        "static.manifest",
        *(f"runtime.{name}" for name in ("startup", "observation_schema", "reward_well_formed", "state_contract")),
    }
    assert {result.status.value for result in report.results} == {"pass", "skip"}


def test_a_person_plays_on_openenv_s_page_with_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TOKEN", "a secret"), ("ENABLE_WEB_INTERFACE", "true"), ("WAYBENCH_ENV", "search/guessnum")):
        monkeypatch.setenv(name, value)
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with running(run_path(str(PACKAGE / "server" / "app.py"))["app"]) as url:
        assert request(f"{url}/web/")[0] == request(f"{url}/web/?token=another")[0] == 401
        with browser.open(f"{url}/web/?token=a%20secret", timeout=PATIENCE) as page:
            assert (page.url, page.status) == (f"{url}/web/", 200) and "gradio" in page.read().decode()
            assert "font-src 'self' data:" in page.headers["Content-Security-Policy"], "no fonts of other sites"

        def send(name: str, sent: Any, **headers: str) -> Any:
            form = {"Content-Type": "application/json", **headers}
            asked = urllib.request.Request(f"{url}/web/{name}", json.dumps(sent).encode(), form)
            with browser.open(asked, timeout=PATIENCE) as answer:
                return json.load(answer)

        for refused, status in (({}, 400), ({"Origin": "http://evil.example"}, 403)):
            with pytest.raises(urllib.error.HTTPError) as error:
                send("step", {"action": {"text": "5"}}, **refused)
            assert error.value.code == status, "before the first reset"
        assert "guess" in send("reset", {})["observation"]["text"].lower()
        assert send("step", {"action": {"text": "5"}}, Origin=url)["observation"]["text"]
        with browser.open(f"{url}/web/state", timeout=PATIENCE) as answer:
            state = json.load(answer)
        assert state.keys() == face.TextState.model_fields.keys() and state["step_count"] == 1


def test_a_page_keeps_no_records(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="leave out --web or --out"):
        face.app("maze/alicia", web=True, file=EpisodeFile(tmp_path / "records.jsonl"))


def test_tasks_are_items_of_a_split_and_a_level() -> None:
    with serving("maze/alicia", level=11) as url:
        splits = json.loads(request(f"{url}/maze-alicia/splits")[1])
        assert {"name": "validation-11", "type": "validation"} in splits
        body = json.dumps({"split": "test-9", "index": 7}).encode()
        task = json.loads(request(f"{url}/maze-alicia/task", body)[1])["task"]
        with GenericEnvClient(base_url=url).sync() as client:
            result = client.reset(split="test-9", index=7)
            assert result.observation["info"]["item"] == task["id"]
            assert client.state()["item"] == task["id"]
    environment = face.TextEnvironment("maze/alicia")
    hashes = {
        name: {environment._make_session(name, 9).source.item(index).instance.hash for index in range(40)}
        for name in ("train", "validation", "test")
    }
    assert all(len(found) == 40 for found in hashes.values())
    assert len(set.union(*hashes.values())) == 120
    assert {split["name"] for split in face.TextEnvironment("hanoi/rods").list_splits()} < {
        f"{name}-{level}" for name in hashes for level in waybench.load("hanoi/rods").items.sample_levels
    }  # one instance at each level, which is in one split
    assert split_of(environment._make_session("test", 9).source.item(3).instance) == "test"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"split": "training-9"}, "split="),
        ({"split": "train-4"}, "from 5 to 1001"),
        ({"index": -1}, "index"),
        ({"index": "x"}, "whole number"),
        ({"attempt": 0}, "attempt"),
        ({"levle": 3}, "levle"),
    ],
)
def test_a_wrong_request_is_one_clear_error(given: dict[str, object], message: str) -> None:
    with serving("maze/alicia") as url, GenericEnvClient(base_url=url).sync() as client:
        with pytest.raises(Exception, match=message) as caught:
            client.reset(**given)
        assert "Traceback" not in str(caught.value)
        assert client.reset(index=0).observation["text"]  # the session is still of use


def test_a_reply_without_an_episode_is_an_error() -> None:
    environment = face.TextEnvironment("search/guessnum")
    with pytest.raises(UsageError, match="start one"):
        environment.step(face.TextAction(text="5"))
    with serving("maze/alicia") as url:
        for path, sent, status, message in (
            ("/step", {"action": {"text": "5"}}, 409, "no episode has started: start one. Episodes are played over"),
            ("/reset", {"index": -1}, 400, "index=-1"),
            ("/reset", {"split": "x"}, 400, "split='x'"),
            ("/maze-alicia/task", {"split": "train-4", "index": 0}, 400, "from 5 to 1001"),
        ):
            found, text = request(url + path, json.dumps(sent).encode())
            assert (found, list(json.loads(text))) == (status, ["detail"]) and message in text, path
        with (
            GenericEnvClient(base_url=url).sync() as client,
            pytest.raises(Exception, match="no episode has started: start one"),
        ):
            client.step({"text": "5"})


def test_sessions_are_separate_limited_and_freed() -> None:
    with serving("maze/alicia", sessions=2) as url:
        first, second = (GenericEnvClient(base_url=url).sync() for _ in range(2))
        with first:
            with second:
                items = [
                    client.reset(index=index).observation["info"]["item"]
                    for index, client in enumerate((first, second))
                ]
                assert items[0] != items[1]
                first.step({"text": "nonsense"})
                assert (first.state()["step_count"], second.state()["step_count"]) == (1, 0)
                with (
                    pytest.raises(Exception, match=r"(?i)capacity|closed|refused|session"),
                    GenericEnvClient(base_url=url).sync() as third,
                ):
                    third.reset(index=0)
            deadline = time.monotonic() + PATIENCE
            while True:  # the server notices in its own time that the second one has left
                try:
                    with GenericEnvClient(base_url=url).sync() as fourth:
                        assert fourth.reset(index=0).observation["text"]
                    break
                except Exception:
                    assert time.monotonic() < deadline
                    time.sleep(0.2)


def test_large_bodies_and_other_hosts_are_refused() -> None:
    with serving("maze/alicia") as url:
        assert request(f"{url}/health")[0] == 200
        assert request(f"{url}/health", Host="elsewhere.example")[0] == 400
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=PATIENCE)
        connection.putrequest("POST", "/step")
        connection.putheader("Content-Length", str(face.LARGEST_BODY + 1))
        connection.endheaders()  # nothing of the body is waited for
        answer = connection.getresponse()
        assert answer.status == 413 and b"bytes" in answer.read()
        connection.close()
        assert request(f"{url}/health")[0] == 200


def test_pages_of_other_sites_and_whoever_has_no_token_are_refused() -> None:
    with serving("maze/alicia", token="a secret") as url:
        mine = {"Authorization": "Bearer a secret"}
        assert request(f"{url}/health")[0] == 200, "containers ask before anybody has a token"
        for path in (
            "/schema",
            "/metadata",
            "/maze-alicia/splits",
            "/list_environments",
            "/docs",
            "/openapi.json",
            "/x",
        ):
            assert request(url + path)[0] == request(url + path, Authorization="Bearer b")[0] == 401, path
            assert request(url + path, Origin="http://evil.example", **mine)[0] == 403, path
        assert request(f"{url}/reset", b"{}", Origin="null", **mine)[0] == 403
        assert request(f"{url}/metadata", Origin=url, **mine)[0] == 200
        for headers in ({}, {**mine, "Origin": "http://localhost:3000"}, {"Authorization": "Bearer "}):
            with pytest.raises(Exception, match=r"HTTP 403|reject"):
                GenericEnvClient(base_url=url, headers=headers).sync().connect()
        with GenericEnvClient(base_url=url, headers=mine).sync() as client:
            assert client.reset(index=0).observation["text"]


@pytest.mark.parametrize("env", ENVIRONMENTS)
def test_nothing_that_is_answered_has_the_instance_or_the_solution(env: str) -> None:
    """What a client gets of an episode that it leaves at once, plays badly and starts again, on a public set."""
    public = waybench.load(env).items.public_key
    session = Session(env, key=public)
    shown = session.start(0).text
    record = session.record()
    parts = [record.instance, *record.proof.values()]
    texts = [json.dumps(part, separators=form) for part in parts for form in ((", ", ": "), (",", ":"))]
    hidden = [record.instance_hash, *(text for text in texts if len(text) > 24 and text not in shown)]
    environment = face.TextEnvironment(env, key=public)
    answers: list[str] = []
    for replies in ([], ["no answer"], ["no answer"] * 200):
        answers.append(environment.reset(index=0).model_dump_json())
        for reply in replies:
            observation = environment.step(face.TextAction(text=reply))
            answers += [observation.model_dump_json(), environment.state.model_dump_json()]
            if observation.done:
                break
        answers.append(environment.state.model_dump_json())
    answers.append(environment.get_metadata().model_dump_json())
    for split in SPLITS:
        with suppress(UsageError):  # a level of few items has none in some splits
            answers.append(json.dumps(environment.get_task(f"{split}-{environment._level}", 0)))
    legal = json.dumps(environment.reset(index=0).info["legal_actions"])  # which are replies, not what is right
    assert [text for text in hidden if text not in legal and any(text in answer for answer in answers)] == []
    assert not any(f'"{name}"' in answer for name in ("proof", "instance", "record") for answer in answers)


def test_an_item_that_was_left_counts_as_failed_and_once(tmp_path: Path) -> None:
    out = tmp_path / "records.jsonl"
    expected = script("maze/alicia", 0, {}, hostile=False)
    file = EpisodeFile(out)
    environment = face.TextEnvironment("maze/alicia", file=file)
    environment.reset(index=0)
    environment.reset(index=0)  # the first one is left
    for reply in expected.replies:
        environment.step(face.TextAction(text=reply))
    assert environment.state.end == "solved" and not environment.state.counts
    environment.reset(index=1)
    environment.close()
    assert [json.loads(line)["end"] for line in out.read_text(encoding="utf-8").splitlines()] == ["turn_limit"] * 2


def test_a_body_without_a_length_is_read_to_the_limit_only() -> None:
    read = 0

    async def endless() -> dict[str, Any]:
        nonlocal read
        read += 1
        return {"type": "http.request", "body": b"x" * 65536, "more_body": True}

    async def reader(scope: Any, receive: Any, send: Any) -> None:
        while True:
            await receive()

    with pytest.raises(HTTPException) as refused:
        asyncio.run(_BodySizeLimit(reader)({"type": "http", "headers": []}, endless, endless))
    assert refused.value.status_code == 413
    assert read == face.LARGEST_BODY // 65536 + 1


def test_the_command_serves_until_it_is_stopped_and_asks_for_a_token(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "waybench", "serve", "openenv", "guessnum", "-T", "protocol=sound"]
    command += ["--port", str(port), "--out", str(tmp_path / "records.jsonl")]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert process.stdout is not None
        assert (
            process.stdout.readline() == f"serve: search/guessnum at http://127.0.0.1:{port} (press Ctrl-C to stop)\n"
        )
        name, _, token = process.stdout.readline().strip().partition(": ")
        assert name == "token"
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                assert request(f"http://127.0.0.1:{port}/health")[0] == 200
                break
            except urllib.error.URLError:
                assert time.monotonic() < deadline and process.poll() is None
                time.sleep(0.1)
        with pytest.raises(Exception, match=r"HTTP 403|reject"):
            GenericEnvClient(base_url=f"http://127.0.0.1:{port}").sync().connect()
        headers = {"Authorization": f"Bearer {token}"}
        with GenericEnvClient(base_url=f"http://127.0.0.1:{port}", headers=headers).sync() as client:
            client.reset(index=1)
            assert client.state()["counts"] is True
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 128 + signal.SIGTERM
        record = json.loads((tmp_path / "records.jsonl").read_text(encoding="utf-8"))
        assert (record["end"], record["options"]["protocol"]) == ("turn_limit", "sound")
    finally:
        process.kill()
        process.wait()
