"""What tells runs of one model apart: settings, servers, and never a secret."""

import json
from pathlib import Path
from typing import Any

import inspect_ai.log as inspect_log
import pytest
from inspect_ai.model import GenerateConfig

from tests.analysis.test_logs import run
from waybench.core import UsageError
from waybench.results import by_level, read_logs, rows
from waybench.results.estimates._ledger import ledger
from waybench.results.logs._logs import logged_models
from waybench.results.logs._settings import server_name
from waybench.results.results import labels

_LOG: Any = inspect_log  # its types are not complete

SECRET = "sk-0123456789"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the log of a run of three mazes."""
    out = tmp_path_factory.mktemp("whole")
    run(out)
    (log,) = out.glob("*.eval")
    return log


def as_if(whole: Path, to: Path, model: str = "openai-api/local/llama", **spec: Any) -> None:
    """Write a log in which the header says something else."""
    log = _LOG.read_eval_log(str(whole))
    log.eval.model = model
    log.eval.task_id = log.eval.eval_id = to.stem
    for name, value in spec.items():
        setattr(log.eval, name, value)
    to.parent.mkdir(exist_ok=True)
    _LOG.write_eval_log(log, str(to))


def test_two_servers_of_one_name_are_two_groups(whole: Path, tmp_path: Path) -> None:
    addresses = (f"http://me:{SECRET}@127.0.0.1:8000/v1?key={SECRET}", "http://127.0.0.1:8001/v1/", None)
    for number, address in enumerate(addresses):
        as_if(whole, tmp_path / f"2026-01-0{number + 1}T00-00-00_alicia_{number}.eval", model_base_url=address)
    made = rows(read_logs(tmp_path))
    assert {row.exclusion_reason for row in made} == {""}
    assert len(by_level(made)) == 3
    assert {dict(row.group.options).get("server") for row in made} == {"127.0.0.1:8000", "127.0.0.1:8001", None}
    assert SECRET not in repr(made)
    assert "openai-api/local/llama (127.0.0.1:8001)" in labels(row.group for row in made).values()


def test_no_secret_is_a_setting_and_what_was_asked_is(whole: Path, tmp_path: Path) -> None:
    arguments = {
        **{"api_key": SECRET, "hf_token": SECRET, "Authorization": SECRET, "client_secret": SECRET},
        **{"default_headers": {"x": SECRET}, "proxy": f"https://u:{SECRET}@proxy.example/{SECRET}?t={SECRET}"},
        **{"extra": {"password": SECRET, "route": {"order": ["a", "b"]}}, "tokenizer": "bpe", "max_tokens": 5},
    }
    as_if(whole, tmp_path / "2026-01-01T00-00-00_alicia_a.eval", model_args=arguments)
    (settings,) = {json.dumps(dict(episode.settings)) for episode in read_logs(tmp_path)}
    assert SECRET not in settings
    found = json.loads(settings)
    assert found["model.tokenizer"] == "bpe"
    assert found["model.max_tokens"] == 5
    assert json.loads(found["model.extra"]) == {"route": {"order": ["a", "b"]}}
    assert found["model.proxy"].startswith("proxy.example #")
    assert set(found) >= {"model.extra", "model.proxy"}
    assert not {"model.api_key", "model.hf_token", "model.Authorization", "model.default_headers"} & set(found)


def test_numbers_that_json_has_not_are_settings_as_text(whole: Path, tmp_path: Path) -> None:
    arguments = {"penalty": float("nan"), "ceiling": float("inf"), "share": 0.5}
    as_if(whole, tmp_path / "logs" / "2026-01-01T00-00-00_alicia_a.eval", model_args=arguments)
    (settings,) = {json.dumps(dict(episode.settings), allow_nan=False) for episode in read_logs(tmp_path / "logs")}
    found = json.loads(settings)
    assert [found[f"model.{name}"] for name in arguments] == ["NaN", "Infinity", 0.5]


def test_what_providers_do_by_default_is_the_default(whole: Path, tmp_path: Path) -> None:
    for value in (None, "auto", "all", "last", "none"):
        config = GenerateConfig(reasoning_history=value)
        as_if(whole, tmp_path / f"2026-01-01T00-00-00_alicia_{value}.eval", model_generate_config=config)
    found = [episode.settings.get("reasoning_history") for episode in read_logs(tmp_path)]
    assert set(found) == {None, "last", "none"}


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("https://api.example.com/v1", "api.example.com"),
        ("https://API.example.com", "api.example.com"),
        ("http://user:pw@host:8000/v1/?a=b#c", "host:8000"),
        ("127.0.0.1:8000/v1", "127.0.0.1:8000"),
        ("localhost:8000", "localhost:8000"),
        ("http://[::1]:80/v1", "[::1]:80"),
    ],
)
def test_hosts(address: str, told: str) -> None:
    assert server_name(address) == told


@pytest.mark.parametrize(
    "address", ["http://[x", "http://h:99999999/", "http://h:x/", "unix:///tmp/s", "", "\udcff", "https:///", "a b"]
)
def test_odd_addresses_are_told_apart_and_never_fail(address: str) -> None:
    assert server_name(address) == server_name(address)
    assert "\n" not in server_name(address)


def test_paths_of_a_gateway_are_told_apart_without_being_shown() -> None:
    one, other = server_name("https://gate.example/azure/KEY123"), server_name("https://gate.example/openai/KEY123")
    assert one != other
    assert one.startswith("gate.example #")
    assert "KEY" not in one


def test_the_model_that_answered_is_kept(whole: Path) -> None:
    made = rows(read_logs(whole.parent))
    assert {row.answered for row in made} == {("waybench/oracle",)}
    (found,) = ledger(made)
    assert found.stand_ins == []
    assert found.answered == {"waybench/oracle": 3}


def test_names_of_models_in_folders(whole: Path, tmp_path: Path) -> None:
    for number, model in enumerate(("vendor/b", "vendor/a", "waybench/null", "vendor/a")):
        as_if(whole, tmp_path / f"2026-01-0{number + 1}T00-00-00_alicia_{number}.eval", model)
    (tmp_path / "broken.eval").write_bytes(b"x")
    problems: list[str] = []
    assert logged_models(tmp_path, on_problem=problems.append) == ["vendor/a", "vendor/b"]
    assert len(problems) == 1
    with pytest.raises(UsageError, match="no folder"):
        logged_models(tmp_path / "none")
