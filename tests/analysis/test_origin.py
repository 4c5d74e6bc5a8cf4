"""Date, version and command of a run, from its log's header."""

import shlex
from types import SimpleNamespace

import pytest
from inspect_ai.model import GenerateConfig

from waybench.results.logs._settings import read_origin, run_command


def test_the_command_that_runs_a_task_again() -> None:
    args = {"max_dimension": 13, "wording": "a b", "key": "a private key", "api_key": "x", "exit_hint": None}
    found = run_command("vendor/m", "alicia", args)
    assert found == "waybench run alicia --model vendor/m -T max_dimension=13 -T 'wording=a b' -T exit_hint=null"


@pytest.mark.parametrize(
    ("server", "shown"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("https://[::1]:8000/", "https://[::1]:8000/"),
        ("https://***@host/v1?token=***", "URL"),
        ("https://gateway.example/a-key/v1", "URL"),
        ("gateway.example", "URL"),
    ],
)
def test_the_command_names_the_server_without_what_may_be_a_secret(server: str, shown: str) -> None:
    found = run_command("vendor/m", "alicia", {"limit": 3}, server=server)
    assert shlex.split(found) == [
        *("waybench", "run", "alicia", "--model", "vendor/m"),
        *("--model-base-url", shown, "-T", "limit=3"),
    ]


def test_what_a_header_says_of_its_run() -> None:
    spec = SimpleNamespace(
        created="2026-11-22T22:58:17+01:00",
        task="waybench/alicia",
        task_args={"protocol": "paper", "max_dimension": 13},
        task_args_passed={"max_dimension": 13},
        packages={"waybench": "0.1.0"},
        model="vendor/m",
        model_base_url="http://127.0.0.1:8000/v1",
        model_generate_config=GenerateConfig(temperature=0.5, max_retries=3),
    )
    plan = SimpleNamespace(config=GenerateConfig(max_tokens=500, top_p=0.9, system_message="Think first."))
    found = read_origin(SimpleNamespace(eval=spec, plan=plan))
    assert found.created == "2026-11-22 21:58 UTC"
    assert found.version == "0.1.0"
    # Defaults are left out, and settings that only say how requests are sent.
    assert found.command == (
        "waybench run alicia --model vendor/m --model-base-url http://127.0.0.1:8000/v1 -T max_dimension=13 "
        "--temperature 0.5 --max-tokens 500 "
        "-G 'system_message=Think first.' -G top_p=0.9"
    )
