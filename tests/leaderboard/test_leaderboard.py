"""Leaderboards: rows by status, hostile files, signed verdicts, private sets, and the feed."""

import copy
import json
import os
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import jsonschema
import pytest

import waybench
from tests.leaderboard.conftest import REFUSED, TASKS, drop_failures, rename, submit
from tests.submission.tampering import read, write
from tests.submission.test_verify import run
from waybench.core import key_commitment, private_key_label
from waybench.ext.publish.leaderboard._entries import Settings, Status, read_board, read_settings
from waybench.ext.publish.leaderboard._site import write_leaderboard
from waybench.submission._names import lookalike_key, model_name_problem
from waybench.submission._pack import pack
from waybench.submission._parameters import changed_options
from waybench.submission._signatures import sign_verdict as sign_verdict


def feed_of(site: Path) -> dict[str, Any]:
    return json.loads((site / "data" / "feed.json").read_text())


@pytest.mark.slow
def test_rows_are_told_apart_by_status(site: Path) -> None:
    feed = feed_of(site)
    jsonschema.validate(feed, json.loads((site / "data" / "feed.schema.json").read_text()))
    assert {each["id"].removeprefix("submissions/"): each["status"] for each in feed["submissions"]} == {
        "copy-of-good": "verified",
        "old": "withdrawn",
        "poor": "verified",
        "same-name": "verified",
        "selected": "community",
    }
    ranked = {row["model"]: row["rank"] for row in feed["rows"] if row["status"] != "community"}
    assert ranked.keys() == {
        "lab/good (copy-of-good)",
        "lab/good (same-name)",
        "lab/poor",
    }
    assert all(ranked.values())
    (community,) = [row for row in feed["rows"] if row["status"] == "community"]
    assert (community["model"], community["rank"]) == ("lab/selected", None)
    assert community["page"].startswith("community/")
    assert "lab/old" not in json.dumps(feed["rows"])


@pytest.mark.slow
def test_each_row_leads_to_its_verdict_and_its_replays(site: Path) -> None:
    feed = feed_of(site)
    page = (site / "index.html").read_text()
    for each in feed["submissions"]:
        if each["status"] != "withdrawn":
            verdict = json.loads((site / each["verdict"]).read_text())
            assert (verdict["verdict"] == "verified") == (each["status"] == "verified")
            assert each["verdict"].replace(".json", ".html") in page
    for row in feed["rows"]:
        model = (site / row["page"]).read_text()
        folder = row["page"].partition("/")[0]
        assert row["page"] in page
        results = [path for path in (site / folder / "results").iterdir() if f"results/{path.name}" in model]
        assert len(results) == len(TASKS)
        assert all("replays/" in path.read_text() for path in results)


@pytest.mark.slow
def test_hostile_files_are_refused_and_the_rest_is_not_affected(site: Path, folder: Path) -> None:
    assert {each["file"] for each in feed_of(site)["refused"]} == REFUSED
    lines = (site.parent / f"{site.name}.txt").read_text().splitlines()
    assert len(lines) == len(REFUSED) + 1, "a line for each file, and one for the site"
    assert sum(line.startswith("refused: ") for line in lines) == len(REFUSED)
    assert not list(folder.parent.rglob("evil.html"))
    assert not list(site.parent.rglob("evil.html"))
    for path in (site / "index.html", *site.glob("verdicts/*.html")):
        page = path.read_text()
        assert "<script>alert" not in page
        assert "<b>.zip" not in page
        assert "\x1b" not in page


@pytest.mark.slow
def test_what_is_refused_later_leaves_the_site(honest: Path, tmp_path: Path) -> None:
    board, out = tmp_path / "board", tmp_path / "site"
    board.mkdir()
    shutil.copy(honest / "good.zip", board / "good.zip")
    for _ in range(2):
        assert run("leaderboard", board, "--out", out)[0] == 0
        assert (out / "report" / "index.html").is_file()
        assert len(list(out.glob("verdicts/*"))) == 2
    (board / "good.toml").write_text('status = "withdrawn"\n')
    assert run("leaderboard", board, "--out", out)[0] == 0
    assert not list(out.rglob("replays/*"))
    assert not (out / "report" / "index.html").exists()
    assert not list(out.glob("verdicts/*"))


def entries_of(board: Path, settings: Settings | None = None, **options: Any) -> dict[str, tuple[str, str]]:
    entries, refused, _ = read_board(board, settings or read_settings(board), **options)
    return {entry.id: (str(entry.status), entry.signer) for entry in entries} | {
        each.file: ("refused", each.reason) for each in refused
    }


@pytest.mark.slow
def test_the_status_of_the_maintainers(honest: Path, tmp_path: Path) -> None:
    shutil.copy(honest / "good.zip", tmp_path / "x.zip")
    sha256 = read_board(tmp_path, Settings())[0][0].verdict.sha256  # pyright: ignore[reportOptionalMemberAccess]
    said = tmp_path / "x.toml"
    said.write_text(f'status = "run again"\nsha256 = "{sha256}"\n')
    assert entries_of(tmp_path) == {"x": ("run again", "")}
    said.write_text('status = "community"\n')
    assert entries_of(tmp_path) == {"x": ("community", "")}
    for wrong, why in {
        'status = "run again"\n': "give the sha256",
        f'status = "run again"\nsha256 = "{"0" * 64}"\n': "about another file",
        'status = "verified"\n': "it can be run again",
        "status = [": "cannot be read",
        'rank = "1"\n': "has 'rank'",
    }.items():
        said.write_text(wrong)
        ((status, reason),) = entries_of(tmp_path).values()
        assert status == "refused"
        assert why in reason
    said.unlink()
    said.symlink_to("/etc/hostname")
    assert entries_of(tmp_path)["x.zip"][0] == "refused"


@pytest.mark.slow
def test_run_again_does_not_hide_that_a_submission_is_not_verified(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "submissions" / "selected.zip", tmp_path / "x.zip")
    sha256 = read_board(tmp_path, Settings())[0][0].verdict.sha256  # pyright: ignore[reportOptionalMemberAccess]
    (tmp_path / "x.toml").write_text(f'status = "run again"\nsha256 = "{sha256}"\n')
    assert entries_of(tmp_path) == {"x": ("community", "")}


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """Return the folder of a leaderboard with a private set whose key is beside it."""
    board = tmp_path / "board"
    board.mkdir()
    (tmp_path / "key").write_text("5b0e9d3c7f1a48e2b6d4c8a09f3e7d15\n")
    key = (tmp_path / "key").read_text().strip()
    waybench.evaluate("guessnum", "waybench/noisy-0.3", out=tmp_path / "logs", limit=2, key=f"file:{tmp_path / 'key'}")
    pack([tmp_path / "logs"], board / "x.zip", on_problem=lambda problem: pytest.fail(str(problem)))
    rename(board / "x.zip", "lab/model")
    (board / "leaderboard.toml").write_text(
        f'[[private_sets]]\nlabel = "{private_key_label(key)}"\ncommitment = "{key_commitment(key)}"\n'
    )
    return board


def test_a_private_set_from_its_commitment_to_the_reveal(private: Path, tmp_path: Path) -> None:
    key, out = (tmp_path / "key").read_text().strip(), tmp_path / "site"
    assert entries_of(private) == {"x": ("community", "")}
    assert run("leaderboard", private, "--out", out, "--key-file", tmp_path / "key")[0] == 0
    feed = feed_of(out)
    assert feed["submissions"][0]["status"] == "verified"
    assert feed["private_sets"] == [{"set": private_key_label(key), "commitment": key_commitment(key), "key": None}]
    assert all(key.encode() not in path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert key_commitment(key) in (out / "index.html").read_text()
    shutil.copy(tmp_path / "key", private / "revealed.txt")
    with (private / "leaderboard.toml").open("a") as stream:
        stream.write('key_file = "revealed.txt"\n')
    assert run("leaderboard", private, "--out", out)[0] == 0
    assert feed_of(out)["submissions"][0]["status"] == "verified"
    assert key in (out / "index.html").read_text(), "it is public now"
    (private / "revealed.txt").write_text("another key\n")
    status, output = run("leaderboard", private, "--out", out)
    assert (status, output.count("\n")) == (2, 1)
    (tmp_path / "other").write_text("a key without a commitment\n")
    status, output = run("leaderboard", private, "--out", out, "--key-file", tmp_path / "other")
    assert (status, output.count("\n")) == (2, 1)


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed")
def test_a_signed_verdict_stands_for_what_cannot_be_checked_here(private: Path, tmp_path: Path) -> None:
    for name in ("signer", "stranger"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(tmp_path / name)]
        subprocess.run(command, check=True)
    (private / "allowed_signers").write_text(f"keeper {(tmp_path / 'signer.pub').read_text()}")
    toml = private / "leaderboard.toml"
    toml.write_text('signers = "allowed_signers"\n' + toml.read_text())
    assert entries_of(private) == {"x": ("community", "")}
    for name in ("stranger", "signer"):
        key = ("--key-file", tmp_path / "key", "--sign", tmp_path / name)
        assert run("verify", private / "x.zip", "--out", tmp_path / "verdict", *key)[0] == 0
        for suffix in ("", ".sig"):
            shutil.copy(tmp_path / "verdict" / f"verdict.json{suffix}", private / f"x.verdict.json{suffix}")
        if name == "stranger":
            ((status, reason),) = entries_of(private).values()
            assert status == "refused"
            assert "no allowed signer" in reason
    assert entries_of(private) == {"x": ("verified", "keeper")}
    assert run("leaderboard", private, "--out", tmp_path / "site")[0] == 0
    (page,) = [path.read_text() for path in (tmp_path / "site" / "verdicts").glob("*.html")]
    body = page.partition("<body>")[2]
    assert '<h1><span class="good">✓ Verified by keeper</span></h1>' in body
    assert "<title>Verified by keeper: x.zip</title>" in page
    assert "is a private set" in body, "the page still says what is not checked here"
    assert 'class="bad"' not in body
    assert "not verified" not in body.lower()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed")
def test_a_signed_verdict_never_stands_for_a_check_that_failed(honest: Path, tmp_path: Path) -> None:
    board = tmp_path / "board"
    board.mkdir()
    drop_failures(honest / "poor.zip", board / "x.zip")
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(tmp_path / "signer")], check=True
    )
    (board / "allowed_signers").write_text(f"keeper {(tmp_path / 'signer.pub').read_text()}")
    (board / "leaderboard.toml").write_text('signers = "allowed_signers"\n')
    assert run("verify", board / "x.zip", "--out", tmp_path)[0] == 1
    wrong = board / "x.verdict.json"
    wrong.write_text(json.dumps({**json.loads((tmp_path / "verdict.json").read_text()), "verdict": "verified"}))
    sign_verdict(wrong, tmp_path / "signer")
    assert entries_of(board) == {"x": ("community", "")}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed")
def test_versions_of_an_environment_are_never_mixed(
    honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from waybench.envs import registry

    board, out = tmp_path / "board", tmp_path / "site"
    board.mkdir()
    shutil.copy(honest / "good.zip", board / "x.zip")
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(tmp_path / "signer")], check=True
    )
    (board / "allowed_signers").write_text(f"keeper {(tmp_path / 'signer.pub').read_text()}")
    (board / "leaderboard.toml").write_text('signers = "allowed_signers"\n')
    assert run("verify", board / "x.zip", "--out", tmp_path / "v", "--sign", tmp_path / "signer")[0] == 0
    for suffix in ("", ".sig"):
        shutil.copy(tmp_path / "v" / f"verdict.json{suffix}", board / f"x.verdict.json{suffix}")
    load, env = registry.load, "search/dfs"
    newer = replace(load(env), version=load(env).version + 1)
    monkeypatch.setattr(registry, "load", lambda name: newer if name == env else load(name))
    settings = read_settings(board)
    entries, refused, _ = read_board(board, settings)
    assert [(entry.status, entry.signer) for entry in entries] == [(Status.VERIFIED, "keeper")]
    write_leaderboard(out, settings, entries, refused)
    feed = feed_of(out)
    jsonschema.validate(feed, json.loads((files("waybench.ext.publish.leaderboard") / "feed.schema.json").read_text()))
    (row,) = feed["rows"]
    assert [cell["items"] for cell in row["cells"].values()] == [4], "the matrix has the current versions only"
    assert not list((out / "report").rglob("*dfs*"))
    (earlier,) = feed["earlier"]
    assert (earlier["env"], earlier["version"]) == (env, newer.version - 1)
    verdict = json.loads((tmp_path / "v" / "verdict.json").read_text())
    (signed,) = [each for each in verdict["scores"] if each["kind"] == "overall" and each["group"]["env"] == env]
    assert earlier["value"] == signed["metrics"][signed["headline"]]["value"]
    (board / "x.verdict.json.sig").unlink()
    entries, *_ = read_board(board, settings)
    assert [(entry.status, list(entry.earlier)) for entry in entries] == [(Status.COMMUNITY, [])]


def test_a_report_of_what_is_not_verified_takes_nothing_with_it(
    private: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: Any, **options: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr("waybench.ext.publish.leaderboard._site.write_report", fail)
    out, settings = tmp_path / "site", read_settings(private)
    entries, refused, _ = read_board(private, settings)
    board = write_leaderboard(out, settings, entries, refused)
    assert [each.error for each in board.skipped] == ["no report can be made of these submissions: ZeroDivisionError"]
    assert feed_of(out)["rows"] == []
    assert feed_of(out)["submissions"][0]["status"] == "community"


@pytest.mark.parametrize("name", ["mine.json", "mine", "mine.ZIP", "deeper/mine.zip.bak"])
def test_a_submission_of_another_name_is_not_passed_over(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    with ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", "{}")
    (tmp_path / "notes.json").write_text("{}")
    code, text = run("leaderboard", tmp_path, "--out", tmp_path / "site")
    assert code == 0
    assert f"refused: {name}: a submission's name ends in .zip: rename it to mine" in text
    assert "(0 submissions, 1 refused)" in text


def test_settings_that_notepad_has_saved(tmp_path: Path) -> None:
    (tmp_path / "leaderboard.toml").write_bytes('title = "Überblick"\r\n'.encode("utf-8-sig"))
    assert read_settings(tmp_path).title == "Überblick"


def test_an_empty_folder_and_none(tmp_path: Path) -> None:
    status, output = run("leaderboard", tmp_path)
    assert status == 0, output
    assert "No submission is verified yet" in (tmp_path / "site" / "index.html").read_text()
    status, output = run("leaderboard", tmp_path / "nowhere")
    assert (status, output.count("\n")) == (2, 1)


@pytest.mark.slow
def test_easier_items_are_not_ranked_beside_the_declared_presets(tmp_path: Path) -> None:
    """A random player with more steps, with the oracle's first steps, and with many attempts, beside honest models."""
    board, tasks = tmp_path / "board", {"dfs": {"limit": 6}}
    board.mkdir()
    for name, player, options in (
        ("good", "noisy-0.1", {}),
        ("poor", "noisy-0.8", {"max_steps": None}),
        ("steps", "random", {"max_steps": 500}),
        ("handover", "random", {"prefix": "oracle:-2"}),
        ("attempts", "random", {"attempts": 3}),
    ):
        submit(tmp_path / name, f"waybench/{player}", board / f"{name}.zip", f"lab/{name}", tasks=tasks, **options)
    entries, refused, _ = read_board(board, Settings())
    assert [str(entry.status) for entry in entries] == ["verified"] * 5
    write_leaderboard(tmp_path / "site", Settings(), entries, refused)
    feed = feed_of(tmp_path / "site")
    jsonschema.validate(feed, json.loads((tmp_path / "site" / "data" / "feed.schema.json").read_text()))
    rows = {row["model"]: (row["options"], bool(row["rank"]), row["page"].partition("/")[0]) for row in feed["rows"]}
    assert rows == {
        "lab/good": ([], True, "report"),
        "lab/poor": ([], True, "report"),
        "lab/attempts": (["attempts: 3"], False, "options"),
        "lab/steps": (["max_steps: 500 (more is easier)"], False, "options"),
        "lab/handover": (["prefix: oracle:-2 (more is easier)"], False, "options"),
    }
    page = (tmp_path / "site" / "index.html").read_text()
    assert page.index("Ranking") < page.index("Other options: max_steps: 500")
    summary = json.loads((tmp_path / "site" / "options" / "summary.json").read_text())
    assert {row["model"]: row["rank"] for row in summary["matrix"]} == dict.fromkeys(
        ("lab/attempts", "lab/handover", "lab/steps")
    ), "not among themselves, either"


@pytest.mark.parametrize(
    ("task", "parameters", "expected"),
    [
        ("alicia", {"loops": 0.5, "limit": 9, "key": "private-00000000"}, ("loops: 0.5 (more is easier)",)),
        ("alicia", {"loops": 0.05, "attempts": 3, "think_tags": "<a> </a>"}, ()),
        ("gtb", {"enemies": 1, "skip": 7}, ("enemies: 1 (more is harder)", "skip: 7")),
        ("dfs", {"protocol": "sound", "shard": "1/2", "wording": "appendix", "sets": 3}, ("protocol: sound",)),
        ("dfs", {"agent": "react", "interface": "tools", "until": "x" * 99}, None),
        ("no such task", {}, ("task: no such task",)),
    ],
)
def test_options_of_a_run_that_are_not_a_preset_s(task: str, parameters: Any, expected: Any) -> None:
    words = changed_options(task, parameters)
    assert words == (("agent: react", "interface: tools", f"until: {'x' * 60}…") if expected is None else expected)
    assert changed_options("dfs", {}, 2) == ("epochs: 2 (more are easier)",)


@pytest.mark.slow
def test_one_set_of_records_makes_one_row(tmp_path: Path) -> None:
    """Sybils: a ZIP with a byte more, the lines in another order, another name, half of the lines; and plagiarism."""
    tasks = {"dfs": {"limit": 6}}
    submit(tmp_path / "logs", "waybench/noisy-0.3", tmp_path / "a.zip", "lab/model", tasks=tasks)
    manifest, records = read(tmp_path / "a.zip")
    (tmp_path / "byte.zip").write_bytes((tmp_path / "a.zip").read_bytes() + b"\0")
    (lines,) = records.values()
    for name, model, chosen in (
        ("name", "lab/another", lines),
        ("order", "lab/model", lines[::-1]),
        ("half", "lab/third", lines[:3]),
    ):
        write(tmp_path / f"{name}.zip", manifest, {file: chosen for file in records})
        rename(tmp_path / f"{name}.zip", model)
    changed = copy.deepcopy(lines)
    for line in changed:
        for turn in line["record"]["turns"]:
            turn["usage"] = {"seconds": 2.0, "output_tokens": 7}
            turn["reply"] += " \u200b."
    write(tmp_path / "times.zip", manifest, {file: changed for file in records})
    rename(tmp_path / "times.zip", "lab/plagiarist")
    entries, refused, _ = read_board(tmp_path, Settings())
    assert {file: reason.partition(" (")[0] for file, reason in refused} == {
        f"{name}.zip": "the same records as a.zip" for name in ("byte", "name", "order", "half")
    }
    notes = {entry.id: entry.note for entry in entries}
    assert notes == {
        "a": "lab/plagiarist of times gave the same replies in 6 of 6 episodes.",
        "times": "lab/model of a gave the same replies in 6 of 6 episodes.",
    }
    write_leaderboard(tmp_path / "site", Settings(), entries, refused)
    assert all(text in (tmp_path / "site" / "index.html").read_text() for text in notes.values())


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("waybench/oracle", "own players"),
        ("waybench/noisy-0.1", "own players"),
        ("", "no name"),
        ("lab/go\u200bod", "U+200B"),
        ("lab/good\u00a0", "U+00A0"),
        ("lab/g\u043eod", "CYRILLIC SMALL LETTER O"),
        ("lab/go\u03bfd", "GREEK"),
        ("lab/\uff47ood", "FULLWIDTH"),
        ("lab/\U0001d420ood", "MATHEMATICAL"),
        ("lab/good\u202e", "U+202E"),
        ("lab/g\u0131ve", "DOTLESS"),
        ("lab/good\n", "U+000A"),
        ("lab/good\ufe0f", "U+FE0F"),
    ],
)
def test_names_that_can_be_taken_for_others_are_refused(name: str, problem: str) -> None:
    assert problem in model_name_problem(name)


def test_other_names_are_none_of_its_business() -> None:
    for name in (
        "openai/gpt-5",
        "hf/org/Model_7b:free",
        "a b (c)",
        "labor/M\u00fcller",
        "\u667a\u8c31/glm-5",
        "waybench/smollm2",
    ):
        assert model_name_problem(name) == ""
    assert (
        lookalike_key("lab/Good-1O")
        == lookalike_key("lab/good-l0")
        == lookalike_key("lab/good_10")
        != lookalike_key("lab/good-2")
    )


def git(folder: Path, *arguments: object) -> None:
    names = ["-c", "user.name=keeper", "-c", "user.email=k@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", folder, *names, *map(str, arguments)], check=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("ssh-keygen") and shutil.which("git")), reason="OpenSSH or git is not installed")
def test_rows_that_were_committed_to_before_the_run_are_marked_and_come_first(tmp_path: Path) -> None:
    board, tasks = tmp_path / "board", {"dfs": {"limit": 6}}
    (board / "commitments").mkdir(parents=True)
    for name, player in (("first", "noisy-0.8"), ("second", "noisy-0.1")):
        submit(tmp_path / name, f"waybench/{player}", board / f"{name}.zip", f"lab/{name}", tasks=tasks)
    manifest, records = read(board / "first.zip")
    manifest["runs"][0]["created"] = f"{datetime.now(UTC) + timedelta(hours=5):%Y-%m-%d %H:%M UTC}"
    write(board / "first.zip", manifest, records)
    for signer in ("keeper", "stranger"):
        key = tmp_path / signer
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key], check=True)
    (board / "allowed_signers").write_text(f"keeper {(tmp_path / 'keeper.pub').read_text()}")
    (board / "leaderboard.toml").write_text('signers = "allowed_signers"\n')
    git(board, "init", "-q")

    def statuses() -> dict[str, str]:
        return {name: status for name, (status, _) in entries_of(board).items()}

    def add(name: str, signer: str, *options: str, model: str = "lab/first") -> None:
        path = board / "commitments" / f"{name}.json"
        status, output = run("commit", "dfs", "--model", model, "-T", "limit=6", *options, "--out", path)
        assert status == 0, output
        git(board, "add", path)
        signing = ["-c", "gpg.format=ssh", "-c", f"user.signingkey={tmp_path / signer}"] if signer else []
        git(board, *signing, "commit", "-q", *(["-S"] if signer else []), "-m", name)

    add("unsigned", "")
    add("by-a-stranger", "stranger")
    add("another-limit", "keeper", "-T", "limit=60")
    add("another-option", "keeper", "-T", "max_steps=9")
    add("after-the-run", "keeper", model="lab/second")
    assert statuses() == {"first": "verified", "second": "verified"}
    add("before-the-run", "keeper", "-T", "protocol=paper")  # the default
    assert statuses() == {"first": "committed", "second": "verified"}
    settings = read_settings(board)
    write_leaderboard(tmp_path / "site", settings, *read_board(board, settings))
    feed = feed_of(tmp_path / "site")
    jsonschema.validate(feed, json.loads((tmp_path / "site" / "data" / "feed.schema.json").read_text()))
    assert {row["model"]: (row["status"], bool(row["rank"])) for row in feed["rows"]} == {
        "lab/first": ("committed", True),
        "lab/second": ("verified", True),
    }
    page = (tmp_path / "site" / "index.html").read_text().partition("<h2")[2]
    assert page.index("Committed before the run") < page.index("lab/first") < page.index("lab/second"), (
        "by status first"
    )
    committed = {facts["file"].removesuffix(".json"): facts for facts in feed["commitments"]}
    results = {name: facts["submissions"] or facts["problem"][-12:] for name, facts in committed.items()}
    assert results == {
        **dict.fromkeys(("unsigned", "by-a-stranger"), "has added it"),
        **dict.fromkeys(("another-limit", "another-option", "after-the-run"), ""),
        "before-the-run": ["first"],
    }
    assert (committed["another-limit"]["model"], committed["another-limit"]["options"]) == ("lab/first", "limit=60")
    assert "3 of 4 commitments to runs have no result" in (tmp_path / "site" / "index.html").read_text()
    path = board / "commitments" / "before-the-run.json"
    path.write_text(path.read_text() + " ")
    assert statuses() == {"first": "verified", "second": "verified"}, "it was changed"


@pytest.mark.parametrize(
    "arguments", [("dfs",), ("dfs", "--model", "lab/x", "--new"), ("no-task", "--model", "x"), ("--model", "lab/x")]
)
def test_a_wrong_commitment_is_one_line(arguments: tuple[str, ...]) -> None:
    status, output = run("commit", *arguments)
    assert (status, output.count("\n")) == (2, 1), output


def test_a_verification_that_takes_too_long_ends(tmp_path: Path) -> None:
    submit(tmp_path / "logs", "waybench/random", tmp_path / "x.zip", "lab/x", tasks={"dfs": {"limit": 2}})
    status, output = run("verify", tmp_path / "x.zip", "--time-limit", "0")
    assert status == 2 and "its verification takes longer than 0 minutes" in output and output.count("\n") == 1


@pytest.mark.parametrize(
    "content",
    [
        {"model": "lab/\ud800\u202e", "task": "<script>alert(1)</script>", "parameters": {"\udcff" * 9: "\x1b[2J"}},
        {"model": ["lab"], "task": {"x": 1}, "parameters": [1]},
        {"model": None, "parameters": {"x": "y" * 100_000}},
        {"schema": 2},
        None,
    ],
)
def test_a_hostile_commitment_is_a_row_that_says_why_it_does_not_count(content: Any, tmp_path: Path) -> None:
    folder = tmp_path / "commitments"
    folder.mkdir()
    if content is None:
        os.mkfifo(folder / "x.json")
    else:
        (folder / "x.json").write_text(json.dumps({"format": "waybench-run-commitment", "schema": 1, **content}))
    write_leaderboard(tmp_path / "site", Settings(), *read_board(tmp_path, Settings()))
    feed, page = feed_of(tmp_path / "site"), (tmp_path / "site" / "index.html").read_text()
    jsonschema.validate(feed, json.loads((tmp_path / "site" / "data" / "feed.schema.json").read_text()))
    (facts,) = feed["commitments"]
    assert facts["problem"] and facts["problem"] in page and (facts["time"], facts["submissions"]) == (None, [])
    assert not any(text in page for text in ("<script>alert", "\u202e", "\x1b"))
