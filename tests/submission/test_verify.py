"""Honest submissions are verified, hostile files are refused, and logs are compared with their transcripts."""

import copy
import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZipFile

import jsonschema
import pytest
from click.testing import CliRunner

import waybench
from tests.submission.conftest import MODEL, TASKS
from tests.submission.tampering import read, write
from waybench.cli._app import main
from waybench.core import Episode, _workers, policy
from waybench.core._designs import ladder_design, ladder_levels
from waybench.ext.scale._executors import OrderedResults, executor_by_name
from waybench.submission import verify
from waybench.submission._archive import MANIFEST, Archive, NotASubmission
from waybench.submission._logs import verify_logs
from waybench.submission._pack import pack
from waybench.submission._records import probe_difference, submission_episodes


def fail(problem: object) -> None:
    pytest.fail(str(problem))


def run(*arguments: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def test_an_honest_submission_is_verified(submission: Path) -> None:
    verdict = verify(submission)
    assert verdict.is_verified, verdict.text()
    assert {run.task for run in verdict.runs} == set(TASKS)
    assert all(run.confirmed == run.records == run.played for run in verdict.runs)
    assert {score["kind"] for score in verdict.scores} == {"overall", "level", "horizon"}
    _, records = read(submission)
    assert "opening" not in json.dumps(records), "prompts follow from the items and are left out"


def test_a_submission_has_the_levels_that_its_ladder_declares(submission: Path, tmp_path: Path) -> None:
    def levels(path: Path) -> set[Any]:
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        of_path = submission_episodes(path, sha256, run_prefix="one", name_in_report=str, on_problem=fail)
        return {ladder_levels(episode.design) for episode in of_path if episode.task == "alicia"}

    assert levels(submission) == {range(5, 9, 2)}
    manifest, records = read(submission)
    (run,) = [run for run in manifest["runs"] if run["task"] == "alicia"]
    manifest["runs"] = [run]
    run["search"] = {}  # as older versions wrote it
    write(tmp_path / "older.zip", manifest, records)
    assert "the levels of the ladder differ" in verify(tmp_path / "older.zip").text(), "harder levels would not count"
    assert levels(tmp_path / "older.zip") == {()}
    run["search"] = ladder_design(range(5, 7, 2))
    write(tmp_path / "x.zip", manifest, records)
    assert "the levels of the ladder differ from those of the parameters" in verify(tmp_path / "x.zip").text()


@pytest.mark.slow
def test_a_verdict_follows_its_schema(submission: Path, tmp_path: Path) -> None:
    schema = json.loads((files("waybench.submission") / "verdict.schema.json").read_text())
    manifest, records = read(submission)
    del records[manifest["runs"][0]["file"]][0]
    write(tmp_path / "x.zip", manifest, records)
    for path, is_verified in ((submission, True), (tmp_path / "x.zip", False)):
        verdict = verify(path)
        assert verdict.is_verified == is_verified
        jsonschema.validate(verdict.to_json(), schema)


@pytest.mark.slow
def test_the_verdict_does_not_depend_on_who_simulates_the_records(
    submission: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Findings of copies of this process come in the order of the records, and their rows are measured alike."""
    monkeypatch.setattr(_workers, "_FORKING_FORBIDDEN", [])  # another test of this process may have drawn a chart
    manifest, records = read(submission)
    first, second, *_ = manifest["runs"]
    del records[first["file"]][1]
    records[second["file"]].append(records[second["file"]][0])
    for line in records[second["file"]]:
        line["record"]["player"] = "waybench/oracle"
    write(tmp_path / "x.zip", manifest, records)
    steps: list[tuple[int, int]] = []
    alone, spread, elsewhere = (
        verify(tmp_path / "x.zip", progress=lambda *step: steps.append(step), **by).to_json()
        for by in ({"processes": 1}, {"processes": 2}, {"workers": OrderedResults(executor_by_name("processes:2"))})
    )
    assert alone == spread == elsewhere
    assert {finding["kind"] for run in alone["runs"] for finding in run["problems"]} >= {"missing", "player"}
    total = sum(map(len, records.values()))
    assert steps == [(number, total) for number in range(1, total + 1)] * 3


@pytest.mark.slow
def test_a_file_of_items_is_read_in_copies_of_the_process(tmp_path: Path) -> None:
    """Several runs read items of the archive at the same time, each at its own position."""
    lines = [
        json.dumps(waybench.load("maze/alicia").source(level=5).item(index).instance.to_json()) for index in (0, 1)
    ]
    (tmp_path / "items.jsonl").write_text("\n".join(lines), encoding="utf-8")
    for player in ("oracle", "null", "random"):
        waybench.evaluate("alicia", f"waybench/{player}", out=tmp_path / "logs", source=str(tmp_path / "items.jsonl"))
    pack([tmp_path / "logs"], tmp_path / "x.zip", on_problem=fail)
    verdict = verify(tmp_path / "x.zip", processes=2)
    assert verdict.is_verified, verdict.text()
    assert [run.played for run in verdict.runs] == [run.records for run in verdict.runs]


@pytest.mark.slow
def test_the_same_logs_give_the_same_bytes(logs: Path, submission: Path, tmp_path: Path) -> None:
    again = pack([logs], tmp_path / "again.zip", submitter="tests", on_problem=fail)
    assert again.path.read_bytes() == submission.read_bytes()


def test_a_place_that_cannot_be_written_is_one_line(logs: Path, tmp_path: Path) -> None:
    for place, reason in ((tmp_path, "it is a folder"), (tmp_path / "no" / "x.zip", "there is no folder")):
        status, message = run("submit", logs, "--out", place)
        assert status == 2
        assert message.startswith(f"Error: cannot write {place}: {reason}")
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_a_submission_that_is_interrupted_leaves_the_older_file(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    (tmp_path / "x.zip").write_bytes(b"older")
    monkeypatch.setattr("waybench.submission._pack.canonical_json_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pack([logs], tmp_path / "x.zip", on_problem=fail)
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]
    assert (tmp_path / "x.zip").read_bytes() == b"older"


@pytest.mark.slow
def test_logs_are_verified_with_their_transcripts(logs: Path) -> None:
    verdict = verify_logs([logs], on_problem=fail)
    assert verdict.is_verified, verdict.text()
    assert verdict.sha256 == ""


def test_one_model_and_an_unknown_one(logs: Path, tmp_path: Path) -> None:
    status, output = run("submit", logs, "--model", "openai/none", "--out", tmp_path / "x.zip")
    assert status == 2
    assert output.count("\n") == 1
    assert MODEL in output


def edit_log(logs: Path, out: Path, task: str, change: Any) -> None:
    """Copy a task's log with one of its samples changed."""
    (path,) = [path for path in logs.glob("*.eval") if f"_{task.replace('_', '-')}_" in path.name]
    out.mkdir()
    with ZipFile(path) as log, ZipFile(out / path.name, "w", ZIP_DEFLATED) as copy:
        changed = False
        for name in log.namelist():
            content = log.read(name)
            if name.startswith("samples/") and not changed:
                sample = json.loads(content)
                changed = bool(change(sample))
                content = json.dumps(sample).encode()
            copy.writestr(name, content)
        assert changed


def invent_episode(sample: dict[str, Any]) -> bool:
    """Replace the replies of an episode by the oracle's, and leave the transcript as it is."""
    from waybench.core import EpisodeRecord, Item, play_to_end, policy
    from waybench.envs import registry

    head = EpisodeRecord.from_parts(sample["metadata"]["waybench"])
    environment = registry.load(head.env)
    item = Item(environment.items.decode(head.instance), **head.item, proof=head.proof)
    record = play_to_end(environment, item, policy("oracle"), dict(head.options), attempt=head.attempt).record()
    stored = sample["store"]["waybench"]
    turns = [turn.dumps() for turn in record.turns]
    if [json.loads(turn)["reply"] for turn in stored["turns"]] == [turn.reply for turn in record.turns]:
        return False
    progress = {**stored, "turns": turns, "end": str(record.end)}
    sample["store"]["waybench"] = progress
    score = sample["scores"]["episode"]
    score["metadata"] = {"waybench": progress, "metrics": environment.measure(record)}
    score["value"] = environment.scoring.headline_percent(record)
    sample["scores"]["solved"]["value"] = float(record.end == "solved")
    return True


def change_tokens(sample: dict[str, Any]) -> bool:
    turns = sample["store"]["waybench"]["turns"]
    first = json.loads(turns[0])
    first["usage"] = {**first["usage"], "output_tokens": first["usage"]["output_tokens"] + 7}
    turns[0] = json.dumps(first)
    sample["scores"]["episode"]["metadata"]["waybench"]["turns"] = turns
    return True


def change_score(sample: dict[str, Any]) -> bool:
    sample["scores"]["episode"]["value"] += 1
    return True


def change_success(sample: dict[str, Any]) -> bool:
    sample["scores"]["solved"]["value"] = 1 - sample["scores"]["solved"]["value"]
    return True


def change_metric(sample: dict[str, Any]) -> bool:
    metrics = sample["scores"]["episode"]["metadata"]["metrics"]
    name = next(iter(metrics))
    metrics[name] = (metrics[name] or 0) + 1
    return True


def change_score_of_older_log(sample: dict[str, Any]) -> bool:
    """In an older log, the value of the one score is all metrics."""
    change_metric(sample)
    score = sample["scores"]["episode"]
    score["value"] = score["metadata"].pop("metrics")
    del sample["scores"]["solved"]
    return True


def change_prompt(sample: dict[str, Any]) -> bool:
    """Ask an easier question than the record says, as far as the transcript shows it."""
    pool = sample.get("events_data", {}).get("messages") or []
    messages = [message for message in pool if message["role"] in ("user", "system")]
    messages += [message for event in sample["events"] for message in event.get("input") or []]
    for message in messages:
        message["content"] = "Say 1."
    return bool(messages)


@pytest.mark.parametrize(
    "change",
    [
        *(invent_episode, change_tokens, change_prompt),
        *(change_score, change_success, change_metric, change_score_of_older_log),
    ],
)
def test_a_log_that_differs_from_its_transcript_is_found(logs: Path, tmp_path: Path, change: Any) -> None:
    edit_log(logs, tmp_path / "changed", "guessnum", change)
    verdict = verify_logs([tmp_path / "changed"], on_problem=fail)
    assert {kind for run in verdict.runs for kind in run.counts} == {"transcript"}, verdict.text()


def test_half_of_the_samples_left_out_of_a_log(logs: Path, tmp_path: Path) -> None:
    (path,) = [path for path in logs.glob("*.eval") if "_gtb_" in path.name]
    (tmp_path / "half").mkdir()
    with ZipFile(path) as log, ZipFile(tmp_path / "half" / path.name, "w", ZIP_DEFLATED) as copy:
        names = log.namelist()
        dropped = next(name for name in names if name.startswith("samples/"))
        for name in names:
            content = log.read(name)
            if name == "summaries.json":
                kept = [each for each in json.loads(content) if f"samples/{each['id']}_epoch_1.json" != dropped]
                content = json.dumps(kept).encode()
            if name != dropped:
                copy.writestr(name, content)
    verdict = verify_logs([tmp_path / "half"], on_problem=lambda problem: None)
    kinds = {kind for run in verdict.runs for kind in run.counts}
    assert {"log", "missing"} <= kinds, verdict.text()


def test_a_private_set_needs_its_key_and_never_shows_it(tmp_path: Path) -> None:
    secret = "a key that nobody may see"
    waybench.evaluate("guessnum", MODEL, out=tmp_path / "logs", limit=2, key=secret)
    path = tmp_path / "submission.zip"
    pack([tmp_path / "logs"], path, on_problem=fail)
    with ZipFile(path) as archive:
        assert all(secret.encode() not in archive.read(name) for name in archive.namelist())
    (tmp_path / "key").write_text(secret)
    status, output = run("verify", path)
    assert status == 1
    assert "--key file:PATH" in output
    status, output = run("verify", path, "--key", f"file:{tmp_path / 'key'}", "--out", tmp_path / "verdict")
    assert status == 0, output
    assert secret not in output + (tmp_path / "verdict" / "verdict.json").read_text()
    status, output = run("verify", path, "--key", secret)
    assert status == 2


def test_items_and_wordings_of_files_are_a_part_of_it(tmp_path: Path) -> None:
    status, lines = run("generate", "guessnum", "--count", "3", "--key", "mine")
    assert status == 0
    (tmp_path / "items.jsonl").write_text(lines)
    (tmp_path / "my words.txt").write_text("A number is hidden. {rules}")
    source, wording = str(tmp_path / "items.jsonl"), f"file:{tmp_path / 'my words.txt'}"
    waybench.evaluate("guessnum", MODEL, out=tmp_path / "logs", source=source, wording=wording, protocol="sound")
    pack([tmp_path / "logs"], tmp_path / "submission.zip", on_problem=fail)
    (tmp_path / "items.jsonl").unlink()
    (tmp_path / "my words.txt").unlink()
    verdict = verify(tmp_path / "submission.zip")
    assert verdict.is_verified, verdict.text()
    assert str(tmp_path) not in json.dumps(verdict.to_json())


def test_a_language_of_a_file_is_a_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('language = "es-MX"\nbase = "es"\n[direction]\ndown = "para abajo"\n', "utf-8")
    waybench.evaluate("alicia", MODEL, out=tmp_path / "logs", max_dimension=5, limit=3, language=f"file:{path}")
    pack([tmp_path / "logs"], tmp_path / "submission.zip", on_problem=fail)
    path.unlink()
    verdict = verify(tmp_path / "submission.zip")
    assert verdict.is_verified, verdict.text()
    assert str(tmp_path) not in json.dumps(verdict.to_json())
    manifest, records = read(tmp_path / "submission.zip")
    (run_,) = manifest["runs"]
    texts = run_["parameters"]["language_texts"]
    assert texts["direction.down"] == "para abajo"
    for changed in ({**texts, "direction.down": "abajo"}, None):
        run_["parameters"]["language_texts"] = changed
        write(tmp_path / "x.zip", manifest, records)
        assert not verify(tmp_path / "x.zip").is_verified


@pytest.mark.slow
@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize("home", ["", "~"])
def test_no_file_of_this_machine_is_read_for_a_submission(
    submission: Path, tmp_path: Path, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    os.mkfifo(tmp_path / "pipe")  # whoever opens it waits for ever
    pipe = Path(home or tmp_path, "pipe")
    named = {
        "wording": f"file:{pipe}",
        "language": f"file:{pipe}",
        "prefix": f"record:{pipe}",
        "key": f"file:{pipe}",
        "tokenizer": str(pipe),
    }
    for name, value in {**named, "difficulty_index": str(pipe)}.items():
        task = "horizon_dfs" if name == "difficulty_index" else "mango_route"
        manifest, records = read(submission)
        (run,) = manifest["runs"] = [run for run in manifest["runs"] if run["task"] == task]
        run["parameters"][name] = value
        write(tmp_path / "x.zip", manifest, records)
        (found,) = verify(tmp_path / "x.zip").runs
        assert f"{name}: a submission cannot name files of this machine" in str(found.problems)
    for name in ("wording", "prefix"):
        manifest, records = read(submission)
        (run,) = manifest["runs"] = [run for run in manifest["runs"] if run["task"] == "dfs"]
        line = records[run["file"]][0]
        line["record"]["options"][name] = named[name]
        write(tmp_path / "x.zip", manifest, records)
        (found,) = verify(tmp_path / "x.zip").runs
        assert f"{name} names a file, and the record does not have its content" in str(found.problems)


def archive_of(path: Path, files: dict[str, bytes]) -> Path:
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"../evil": b"x", MANIFEST: b"{}"},
        {"/etc/passwd": b"x", MANIFEST: b"{}"},
        {"records/000-x.jsonl/../../y": b"x", MANIFEST: b"{}"},
        {MANIFEST: b"{}"},
        {MANIFEST: b"[" * 100_000},
        {MANIFEST: b"\xff\xfe"},
        {MANIFEST: b'{"format": "waybench-submission", "schema": 99}'},
        {MANIFEST: b'{"format": "waybench-submission", "schema": 1, "runs": [1]}'},
        {MANIFEST: b" " * (65 << 20)},
    ],
)
def test_hostile_archives_are_refused_with_one_line(tmp_path: Path, files: dict[str, bytes]) -> None:
    path = archive_of(tmp_path / "hostile.zip", files)
    with pytest.raises(NotASubmission):
        verify(path)
    status, output = run("verify", path, "--out", tmp_path / "verdict")
    assert status == 2
    assert output.count("\n") == 1
    assert not (tmp_path / "verdict").exists()


@pytest.mark.parametrize("method", [ZIP_BZIP2, ZIP_LZMA])
def test_methods_whose_bombs_python_decompresses_at_once_are_refused(tmp_path: Path, method: int) -> None:
    with ZipFile(tmp_path / "x.zip", "w", method) as archive:
        archive.writestr(MANIFEST, b" " * (1 << 20))
    status, output = run("verify", tmp_path / "x.zip")
    assert (status, output.count("\n")) == (2, 1)
    assert "another method than deflate" in output


def test_a_long_list_of_files_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive_of(tmp_path / "x.zip", dict.fromkeys((f"records/{number:0990}" for number in range(1_100)), b""))
    monkeypatch.setattr("zipfile.ZipInfo", None)  # it would make one for each entry
    status, output = run("verify", tmp_path / "x.zip")
    assert (status, output.count("\n")) == (2, 1)
    assert "its list of files has more than 1 MiB" in output


@pytest.mark.parametrize("runs", ["twice", "negative", "long name"])
def test_a_manifest_that_multiplies_the_work_is_refused(submission: Path, tmp_path: Path, runs: str) -> None:
    manifest, records = read(submission)
    first = manifest["runs"][0]
    match runs:
        case "twice":
            manifest["runs"].append(first)
        case "negative":
            manifest["runs"].append({**first, "file": "records/999-x.jsonl", "records": -5})
        case _:
            first["model"] = "m" * 1_001
    # `write` sets the number of records, so the manifest is replaced in the archive as it is.
    with ZipFile(tmp_path / "x.zip", "w", ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, json.dumps(manifest))
        archive.writestr(first["file"], "".join(json.dumps(line) + "\n" for line in records[first["file"]]))
    with pytest.raises(NotASubmission, match={"twice": "two runs", "negative": "negative"}.get(runs, "1,000 char")):
        verify(tmp_path / "x.zip")


def test_a_long_line_of_many_chunks_is_one_line(tmp_path: Path) -> None:
    lines = [b"a" * 3_000_000, b"", b"b", b"c" * 1_048_576, b"d"]
    name = "records/000-x.jsonl"
    for end in (b"", b"\n"):
        path = archive_of(tmp_path / "x.zip", {MANIFEST: b"{}", name: b"\n".join(lines) + end})
        with path.open("rb", buffering=0) as stream:
            assert list(Archive(stream).read_lines(name)) == lines


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"no archive")
    status, message = run("verify", tmp_path / "x.zip")
    assert status == 2
    assert message.startswith(f"Error: {tmp_path / 'x.zip'}: it is no ZIP file (")
    assert message.endswith("; give a file that `waybench submit` wrote, or a folder of logs\n")
    assert run("verify", tmp_path / "nowhere.zip")[0] == 2


def test_a_file_that_understates_its_size_is_refused(submission: Path, tmp_path: Path) -> None:
    content = bytearray(submission.read_bytes())
    # The directory of the archive, and each file's own header, state the size 4 bytes after the compressed size.
    place = content.index(b"PK\x01\x02")
    content[place + 24 : place + 28] = (10).to_bytes(4, "little")
    (tmp_path / "x.zip").write_bytes(bytes(content))
    try:
        verdict = verify(tmp_path / "x.zip")
    except NotASubmission:
        return
    assert not verdict.is_verified


def test_parameters_that_would_draw_for_days_are_refused_before_anything_is_drawn(
    submission: Path, tmp_path: Path
) -> None:
    for parameters in ({"limit": 1_000_000}, {"min_dimension": 100_001, "max_dimension": 100_001}):
        manifest, records = read(submission)
        (run,) = [run for run in manifest["runs"] if run["task"] == "alicia"]
        run["parameters"] |= parameters
        write(tmp_path / "x.zip", {**manifest, "runs": [run]}, records)
        verdict = verify(tmp_path / "x.zip")
        assert "task" in verdict.runs[0].counts


@pytest.mark.slow
def test_hostile_texts_are_escaped_on_the_page(submission: Path, tmp_path: Path) -> None:
    manifest, records = read(submission)
    manifest |= {"submitter": "<script>alert(1)</script>", "about": "\x1b[2J<img src=x onerror=alert(1)>"}
    write(tmp_path / "x.zip", manifest, records)
    status, _ = run("verify", tmp_path / "x.zip", "--out", tmp_path / "verdict")
    page = (tmp_path / "verdict" / "verdict.html").read_text()
    assert status == 0
    assert "<script" not in page
    assert "<img" not in page
    assert "\x1b" not in page


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed")
def test_a_verdict_is_signed_and_checked(submission: Path, tmp_path: Path) -> None:
    key, other, signers = tmp_path / "key", tmp_path / "other", tmp_path / "signers"
    for each in (key, other):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", each], check=True)
    signers.write_text(f"board@example.org {key.with_suffix('.pub').read_text()}")
    file = tmp_path / "submission.zip"
    shutil.copy(submission, file)
    assert run("verify", file, "--out", tmp_path / "v", "--sign", key)[0] == 0
    signature = tmp_path / "v" / "verdict.json.sig"
    check = ("verify", file, "--signature", signature, "--signers", signers)
    assert run(*check) == (0, f"{signature}: signed by board@example.org; the verdict on this file is: verified\n")
    with file.open("ab") as stream:
        stream.write(os.urandom(1))
    assert run(*check)[0] == 1
    shutil.copy(submission, file)
    verdict = tmp_path / "v" / "verdict.json"
    honest = verdict.read_text()
    verdict.write_text(honest.replace("verified", "verified "))
    assert run(*check)[0] == 1
    verdict.write_text(honest)
    assert run(*check)[0] == 0
    signers.write_text(f"board@example.org {other.with_suffix('.pub').read_text()}")
    assert run(*check)[0] == 1
    assert run("verify", file, "--out", tmp_path / "v", "--sign", tmp_path / "no key")[0] == 2


def test_a_run_that_is_there_twice_is_found(submission: Path, tmp_path: Path) -> None:
    """Under other settings and another date; and an episode that is the beginning of another one."""
    manifest, records = read(submission)
    (honest,) = [run for run in manifest["runs"] if run["task"] == "guessnum"]
    lines = records[honest["file"]]
    lines += [copy.deepcopy(line) for line in lines]  # to have five episodes
    for number, line in enumerate(lines):
        line["record"]["player"] = "lab/model"
        line["record"]["attempt"], line["sample"] = 1 + number // 4, f"{line['record']['item']['id']}-{1 + number // 4}"
        for turn in line["record"]["turns"]:
            turn["usage"] = {"seconds": 1.0 + number / 7, "output_tokens": 9}
    honest |= {"model": "lab/model", "parameters": {**honest["parameters"], "attempts": 2}}
    again = {**honest, "file": "records/001-again.jsonl", "settings": {**honest["settings"], "temperature": 1.0}}
    records[again["file"]] = lines
    path = tmp_path / "x.zip"
    write(path, {**manifest, "runs": [honest]}, records)
    assert not verify(path).odd or "repeated" not in verify(path).text()
    write(path, {**manifest, "runs": [honest, again]}, records)
    verdict = verify(path)
    assert [run.counts.get("repeated", 0) for run in verdict.runs] == [0, 1]
    assert f"records of {honest['file']} are in records/001-again.jsonl, too" in verdict.text()
    assert "have the same replies in 8 of 8 episodes" in verdict.text()
    records[again["file"]] = [copy.deepcopy(line) for line in lines]
    for line in records[again["file"]]:  # the times are changed, and the last reply is dropped
        record = line["record"]
        del record["turns"][3:]
        for turn in record["turns"]:
            turn["usage"]["seconds"] += 0.1
        if len(record["turns"]) == 3:
            record["end"], record["error"] = "turn_limit", "a budget"
    write(path, {**manifest, "runs": [honest, again]}, records)
    assert "and the beginnings of" in verify(path).text()


def test_probes_that_were_left_out_are_found() -> None:
    environment = waybench.load("search/guessnum")
    item = environment.source("public", 6).item(1)
    episode: Episode[Any, Any, Any] = Episode(environment, item, {}, player="lab/model")
    player = policy("noisy-0.5")
    while not episode.done:
        for belief in episode.beliefs if len(episode.turns) % 2 else ():
            episode.probe(belief, "[0, 99]")
        episode.step(player.reply(episode))
    record = episode.record()
    assert record.probes and not all(probe.correct for probe in record.probes)
    assert probe_difference(record, "every:2") == ""
    for plan, probes in (
        (None, record.probes),
        ("every:2", ()),
        ("every:2", record.probes[1:]),
        ("every:1", record.probes),
        ("2", record.probes),
    ):
        assert probe_difference(replace(record, probes=probes), plan), (plan, probes)
