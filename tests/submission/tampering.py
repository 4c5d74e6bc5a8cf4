"""Ways to tamper with a submission. Whoever does so also mends the digests, the manifest and the scores."""

import copy
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from waybench.submission import verify
from waybench.submission._archive import MANIFEST, RESULTS, ArchiveWriter, canonical_json_bytes

Run = dict[str, Any]
Lines = list[dict[str, Any]]


def read(path: Path) -> tuple[dict[str, Any], dict[str, Lines]]:
    """Return the manifest of a submission, and the lines of its files of records."""
    with ZipFile(path) as archive:
        manifest = json.loads(archive.read(MANIFEST))
        names = [run["file"] for run in manifest["runs"]]
        return manifest, {name: [json.loads(line) for line in archive.read(name).splitlines()] for name in names}


def write(path: Path, manifest: dict[str, Any], records: dict[str, Lines]) -> None:
    """Write a submission whose digests, numbers and scores are those of its records."""
    scores: Any = []
    for is_final in (False, True):  # the second time with the scores that the verification has computed
        writer = ArchiveWriter(path)
        files: dict[str, Any] = {}
        for run in manifest["runs"]:
            lines = [json.dumps(line, sort_keys=True).encode() + b"\n" for line in records[run["file"]]]
            run["records"] = len(lines)
            files[run["file"]] = writer.write(run["file"], iter(lines))
        files[RESULTS] = writer.write(RESULTS, iter([canonical_json_bytes({"scores": scores})]))
        manifest["files"] = {name: {"sha256": each.sha256, "bytes": each.bytes} for name, each in files.items()}
        writer.write(MANIFEST, iter([canonical_json_bytes(manifest)]))
        writer.close()
        if not is_final:
            scores = [dict(score) for score in verify(path, processes=1).scores]


def failed(lines: Lines) -> dict[str, Any]:
    """Return a line of an episode that was not solved, or the last one."""
    return next((line for line in lines if line["record"]["end"] != "solved"), lines[-1])


def solved(lines: Lines) -> dict[str, Any]:
    """Return a line of an episode that was solved, or the first one."""
    return next((line for line in lines if line["record"]["end"] == "solved"), lines[0])


def long(lines: Lines) -> dict[str, Any]:
    """Return the line with the most turns."""
    return max(lines, key=lambda line: len(line["record"]["turns"]))


def changed_reply(run: Run, lines: Lines) -> None:
    # A reply that names no action, such as a thought, changes nothing that a simulation could see.
    turn = long(lines)["record"]["turns"][-1]
    turn["reply"] = "I do not know."


def changed_action(run: Run, lines: Lines) -> None:
    turns = long(lines)["record"]["turns"]
    other = next((turn["action"] for turn in turns if turn["action"] != turns[0]["action"]), "another action")
    turns[0]["action"] = other


def changed_outcome(run: Run, lines: Lines) -> None:
    turn = long(lines)["record"]["turns"][0]
    turn["outcome"] = "ok" if turn["outcome"] != "ok" else "illegal"


def changed_reward(run: Run, lines: Lines) -> None:
    long(lines)["record"]["turns"][-1]["reward"] += 1.0


def changed_events(run: Run, lines: Lines) -> None:
    turn = long(lines)["record"]["turns"][0]
    turn["events"] = {**turn["events"], "moved": True, "bonus": 5}


def changed_end(run: Run, lines: Lines) -> None:
    record = failed(lines)["record"]
    record["end"] = "solved" if record["end"] != "solved" else "failed"


def dropped_turn(run: Run, lines: Lines) -> None:
    del long(lines)["record"]["turns"][0]


def swapped_turns(run: Run, lines: Lines) -> None:
    turns = long(lines)["record"]["turns"]
    if len(turns) > 1 and turns[0] != turns[-1]:
        turns[0], turns[-1] = turns[-1], turns[0]
    else:
        turns.append(copy.deepcopy(turns[0]))


def easier_item(run: Run, lines: Lines) -> None:
    """Play another item under the id of a failed one: its whole episode, with the place of the other."""
    donor = solved(lines)
    victim = next(line for line in lines if line["record"]["instance"] != donor["record"]["instance"])
    place, player = victim["record"]["item"], victim["record"]["player"]
    victim["record"] = {**copy.deepcopy(donor["record"]), "item": place, "player": player}
    victim["record"]["attempt"] = int(victim["sample"].rpartition("-")[2])


def changed_id(run: Run, lines: Lines) -> None:
    lines[0]["sample"] = "another-1"
    lines[0]["record"]["item"]["id"] = "another"


def changed_index(run: Run, lines: Lines) -> None:
    lines[0]["record"]["item"]["index"] += 1000


def changed_level(run: Run, lines: Lines) -> None:
    lines[0]["record"]["item"]["level"] += 2


def changed_key(run: Run, lines: Lines) -> None:
    for line in lines:
        line["record"]["item"]["key"] += "/7"


def changed_key_everywhere(run: Run, lines: Lines) -> None:
    changed_key(run, lines)
    run["parameters"]["key"] = lines[0]["record"]["item"]["key"]


def changed_player(run: Run, lines: Lines) -> None:
    lines[0]["record"]["player"] = "openai/best"


def changed_options(run: Run, lines: Lines) -> None:
    options = lines[0]["record"]["options"]
    name = next(name for name, value in options.items() if type(value) in (int, bool, str))
    value = options[name]
    other = "paper" if value == "sound" else "sound"
    options[name] = value + 1 if type(value) is int else not value if type(value) is bool else other


def changed_version(run: Run, lines: Lines) -> None:
    lines[0]["record"]["env_version"] += 1


def changed_attempt(run: Run, lines: Lines) -> None:
    lines[0]["record"]["attempt"] += 1


def dropped_failure(run: Run, lines: Lines) -> None:
    lines.remove(failed(lines))


def half_of_the_set(run: Run, lines: Lines) -> None:
    del lines[len(lines) // 2 :]


def duplicated_success(run: Run, lines: Lines) -> None:
    lines.append(copy.deepcopy(solved(lines)))


def success_as_new_attempt(run: Run, lines: Lines) -> None:
    line = copy.deepcopy(solved(lines))
    number = 1 + max(each["record"]["attempt"] for each in lines)
    line["sample"] = f"{line['record']['item']['id']}-{number}"
    line["record"]["attempt"] = number
    lines.append(line)


def failure_called_infrastructure(run: Run, lines: Lines) -> None:
    record = failed(lines)["record"]
    record["end"], record["error"] = "infrastructure", "ConnectionError: the server was down"
    record["turns"] = record["turns"][:-1]


def cut_short(run: Run, lines: Lines) -> None:
    for line in lines[len(lines) // 2 :]:
        line["record"]["end"], line["record"]["error"] = "infrastructure", "stopped by a limit: interruption"
        line["record"]["turns"] = []


def hidden_subset(run: Run, lines: Lines) -> None:
    """Say that the task has fewer items than the records show."""
    run["parameters"]["limit"] = 1
    run["parameters"]["max_dimension"] = run["parameters"].get("max_dimension") and 5


def changed_loops(run: Run, lines: Lines) -> None:
    """Say that items were drawn by other options than they were, so that scores are shown as those of others."""
    run["settings"]["loops" if "loops" in run["settings"] else "cycles"] = 3


def dropped_item_options(run: Run, lines: Lines) -> None:
    for name in [name for name in run["settings"] if name in run["parameters"]]:
        del run["settings"][name]


def invented_agent(run: Run, lines: Lines) -> None:
    run["settings"]["agent"] = "react"


def dropped_agent(run: Run, lines: Lines) -> None:
    run["parameters"]["agent"] = "react"


def invented_agent_everywhere(run: Run, lines: Lines) -> None:
    run["parameters"]["agent"] = run["settings"]["agent"] = "react"


def agent_of_one_record(run: Run, lines: Lines) -> None:
    lines[-1]["record"]["agent"] = "react"


def invented_search(run: Run, lines: Lines) -> None:
    run["search"] = {} if run["search"] else {"axis": "difficulty"}


def changed_date(run: Run, lines: Lines) -> None:
    run["created"] = "yesterday"


def future_date(run: Run, lines: Lines) -> None:
    run["created"] = "2999-01-01 00:00 UTC"


def changed_program(run: Run, lines: Lines) -> None:
    run["version"] = "<b>newest</b>"


KINDS: dict[str, Callable[[Run, Lines], None]] = {
    function.__name__.replace("_", " "): function
    for function in (
        *(changed_reply, changed_action, changed_outcome, changed_reward, changed_events, changed_end),
        *(dropped_turn, swapped_turns, easier_item, changed_id, changed_index, changed_level, changed_key),
        *(changed_key_everywhere, changed_player, changed_options, changed_version, changed_attempt),
        *(dropped_failure, half_of_the_set, duplicated_success, success_as_new_attempt),
        *(failure_called_infrastructure, cut_short, hidden_subset),
        *(changed_loops, dropped_item_options, invented_agent, dropped_agent, invented_search),
        *(invented_agent_everywhere, agent_of_one_record),
        *(changed_date, future_date, changed_program),
    )
}


def tampered(path: Path, out: Path, task: str, kind: str) -> set[str]:
    """Tamper with the run of a task, and return the kinds of problems that the verification finds."""
    manifest, records = read(path)
    (run,) = [run for run in manifest["runs"] if run["task"] == task]
    before = hashlib.sha256(json.dumps([run, records[run["file"]]], sort_keys=True).encode()).digest()
    KINDS[kind](run, records[run["file"]])
    after = hashlib.sha256(json.dumps([run, records[run["file"]]], sort_keys=True).encode()).digest()
    assert before != after, "nothing was changed"
    write(out, {**manifest, "runs": [run]}, records)
    verdict = verify(out, processes=1)
    return {*verdict.counts, *(kind for run in verdict.runs for kind in run.counts)}
