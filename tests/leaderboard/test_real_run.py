"""A whole leaderboard: models run, are submitted, verified, signed, tampered with and published.

The models are waybench's own players, and a server on this machine that speaks the protocol of OpenAI. The pages are
read in Debian's Chromium.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.browser import Visits, barriers, follow, too_wide
from tests.eval.model_server import Answer, model_server
from tests.eval.play import MODEL, scripted, waybench_
from tests.leaderboard.conftest import drop_failures, rename
from tests.submission.tampering import changed_reply, read, write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed"),
]

SIZES = (5, 7)
PLAYERS = {
    "scripted": MODEL,
    "oracle": "waybench/oracle",
    "noisy": "waybench/noisy-0.3",
    "random": "waybench/random",
}
WALL = Answer('{"movements": [{"direction": "up", "cells": 1}]}')
UNSOLVED = ("509", "710")  # the mazes in which the scripted model walks against a wall


class Published(NamedTuple):
    """The leaderboard, and the folder of its submissions."""

    site: Path
    submissions: Path


def ran(*arguments: str | Path, status: int = 0) -> str:
    """Run the command in a process of its own; return what it printed."""
    done = waybench_(*map(str, arguments))
    assert done.returncode == status, f"{arguments}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """Return a leaderboard that was made with the program's own commands."""
    home = tmp_path_factory.mktemp("real")
    board, logs, site = home / "board", home / "logs", home / "site"
    own = board / "submissions"
    own.mkdir(parents=True)

    def faults(item: str, turn: int, before: int) -> Answer | None:
        return WALL if item in UNSOLVED else None

    with model_server(scripted(SIZES, faults)) as server:
        models = [text for model in PLAYERS.values() for text in ("--model", model)]
        parameters = ("-T", f"max_dimension={SIZES[-1]}", "--model-base-url", server.url)
        ran("run", "alicia", *models, "--no-check", *parameters, "--out", logs)
        assert server.answered, "the model's replies came over the network"
    for name, model in PLAYERS.items():
        ran("submit", logs, "--model", model, "--by", f"team {name}", "--out", own / f"{name}.zip")
        if model != MODEL:  # names of waybench's own players are refused
            rename(own / f"{name}.zip", f"lab/{name}")

    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", home / "key"], check=True)
    (board / "allowed_signers").write_text(f"keeper {(home / 'key.pub').read_text()}")
    (board / "leaderboard.toml").write_text('title = "Mazes"\nsigners = "allowed_signers"\n')
    honest = own / "scripted.zip"
    ran("verify", honest, "--out", home / "verdict", "--sign", home / "key")
    for suffix in ("", ".sig"):
        shutil.copy(home / "verdict" / f"verdict.json{suffix}", own / f"scripted.verdict.json{suffix}")

    drop_failures(honest, own / "dropped.zip")
    manifest, records = read(honest)
    for run in manifest["runs"]:
        changed_reply(run, records[run["file"]])
    write(own / "changed.zip", manifest, records)
    signature = ("--signature", own / "scripted.verdict.json.sig", "--signers", board / "allowed_signers")
    assert "signed by keeper" in ran("verify", honest, *signature)
    for name in ("dropped", "changed"):
        assert "not verified" in ran("verify", own / f"{name}.zip", status=1)
        assert "about another file" in ran("verify", own / f"{name}.zip", *signature, status=1)
    (own / "cut.zip").write_bytes(honest.read_bytes()[:-100])
    ran("verify", own / "cut.zip", status=2)

    ran("leaderboard", board, "--out", site)
    return Published(site, own)


def test_the_feed_tells_the_submissions_apart(published: Published) -> None:
    feed: dict[str, Any] = json.loads((published.site / "data" / "feed.json").read_text())
    statuses = {each["id"].removeprefix("submissions/"): each["status"] for each in feed["submissions"]}
    assert statuses == {**dict.fromkeys(PLAYERS, "verified"), "changed": "community"}
    # All records that "dropped" has are in "changed", too.
    assert [each["file"] for each in feed["refused"]] == ["submissions/cut.zip", "submissions/dropped.zip"]


@pytest.mark.parametrize("options", [{}, {"phone": True}, {"dark": True}, {"phone": True, "dark": True}])
def test_the_site_in_a_browser(visit: Visits, published: Published, options: dict[str, Any]) -> None:
    page = visit(published.site, **options)
    assert page.locator("h1").inner_text() == "Mazes"
    assert too_wide(page) == []
    assert barriers(page) == []
    heading = page.get_by_role("heading", name="Other options: max_dimension: 7", exact=True)
    ranking = page.locator("section", has=heading)
    row = ranking.locator("tbody tr", has_text="scripted/player").first
    follow(row.get_by_role("link", name="verified"))
    assert page.locator("h1").inner_text() == "✓ Verified"
    assert "team scripted" in page.locator("body").inner_text()
    assert too_wide(page) == []
    assert barriers(page) == []
    follow(page.get_by_role("link", name="Results and replays of"))
    follow(page.locator("a[href*='results/']").first)
    follow(page.locator("a[href*='replays/']").first)
    assert "/options/replays/" in page.url
    assert too_wide(page) == []


def test_what_was_tampered_with_leads_to_the_reason(visit: Visits, published: Published) -> None:
    for name, reason in {
        "changed": "A new simulation does not agree with the record.",
    }.items():
        page = visit(published.site)
        follow(page.locator("table.submissions").get_by_role("link", name=name, exact=True))
        assert page.locator("h1").inner_text() == "✗ Not verified"
        assert reason in page.locator("body").inner_text()
        assert too_wide(page) == []
        assert barriers(page) == []
