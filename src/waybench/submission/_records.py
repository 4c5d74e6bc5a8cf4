"""The records of a submission: lines, simulation, coverage, and episodes for reports."""

import hashlib
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from waybench.core import (
    AGENT,
    PROBE,
    SHARD,
    DataError,
    End,
    Episode,
    EpisodeRecord,
    Json,
    LiveError,
    Outcome,
    TurnRecord,
    WaybenchError,
    check_json_bounds,
    plural,
    replay,
)
from waybench.core._designs import DESIGN, design_of_run, is_search_design
from waybench.core._errors import DEFECT
from waybench.envs import registry
from waybench.evaluation._sample import parse_probe_plan, stored_record
from waybench.evaluation.tasks._entry import missing_shards_text
from waybench.evaluation.tasks._samples import implied_samples
from waybench.results.logs import LoggedEpisode, Skipped, skipped_part
from waybench.results.logs._settings import allowed_attempts, settings_of_record
from waybench.results.results import Row, Simulated, Verifier
from waybench.submission._archive import MANIFEST, Archive, NotASubmission, checked_manifest
from waybench.submission._parameters import make_samples_again
from waybench.submission._verdict import Conduct, Finding, Findings, examine_conduct

_MOST_VALUES = 5_000_000
_LONGEST_ID = 500  # characters of a sample's id, which verification keeps in memory
_HAS_TEXTS = "texts"  # the field that says whether a line has the opening and the messages of turns
# Paths of the submitter's machine in the message of an infrastructure error.
_PATH = re.compile(r"(?<![\w/:.])(?:~|[A-Za-z]:)?(?:[/\\][\w.@+-]+){2,}[/\\]?")
Key = tuple[str, int]  # a sample's id and its epoch
_MISSING_OF_FEW = 100  # missing attempts that are counted in a run, however few records it has


class Line(NamedTuple):
    """A line of a submission.

    Attributes:
        record: The record; without texts, its opening and the messages of its turns are empty.
    """

    sample: str
    epoch: int
    record: EpisodeRecord
    has_texts: bool


def encode_record_line(sample: str, epoch: int, record: EpisodeRecord, *, confirmed: bool) -> bytes:
    """Return a record as a JSON line, with paths removed from its error, and without its texts if `confirmed`."""
    if record.error:
        record = replace(record, error=_PATH.sub("PATH", record.error))
    data = record.to_json()
    if confirmed:
        del data["opening"]
        data["turns"] = [{name: value for name, value in turn.items() if name != "message"} for turn in data["turns"]]
    line = {"sample": sample, "epoch": epoch, _HAS_TEXTS: not confirmed, "record": data}
    return json.dumps(line, sort_keys=True, separators=(",", ":")).encode("ascii") + b"\n"


def decode_record_line(line: bytes) -> Line:
    """Return the record of a line, with its sample and epoch; raise a DataError if the line is not valid."""
    check_json_bounds(line, _MOST_VALUES)
    try:
        data: Any = json.loads(line)
        record: Any
        sample, epoch, has_texts, record = data["sample"], data["epoch"], data[_HAS_TEXTS], data["record"]
        if type(sample) is not str or type(epoch) is not int or type(has_texts) is not bool or len(data) != 4:
            raise DataError("the line is not one of a submission")
        if len(sample) > _LONGEST_ID:
            raise DataError(f"the sample's id has more than {_LONGEST_ID} characters")
        if not has_texts:
            if "opening" in record or any("message" in turn for turn in record["turns"]):
                raise DataError("the line has texts, and says that it has none")
            record = {**record, "opening": []}
        return Line(sample, epoch, EpisodeRecord.from_json(record), has_texts)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise DataError(f"the line is not one of a submission: {type(error).__name__}") from None


def record_with_texts(line: Line) -> tuple[EpisodeRecord, tuple[Outcome, ...]]:
    """Return a line's record with its texts, which are made by a simulation if they were left out.

    Returns:
        The record, and the outcomes of its turns in the simulation if they differ from the recorded ones (`replay`);
        otherwise, and without a simulation, no outcomes.

    Raises:
        WaybenchError: If the simulation does not agree with the record, or is not possible.
    """
    if line.has_texts:
        return line.record, ()
    record = line.record
    try:
        again = replay(registry.load(record.env), record, without_texts=True)
    except LiveError as error:
        raise DataError(f"its texts were left out, but it cannot be simulated here: {error}") from None
    turns = tuple(
        turn._replace(message=simulated.message) for turn, simulated in zip(record.turns, again.turns, strict=True)
    )
    outcomes = tuple(turn.outcome for turn in again.turns)
    recorded_outcomes = tuple(turn.outcome for turn in record.turns)
    complete_record = replace(record, opening=again.record().opening, turns=turns)
    return complete_record, outcomes if outcomes != recorded_outcomes else ()


def comparable_header(record: EpisodeRecord) -> dict[str, Json]:
    """Return the fields of a record that follow from its item and options, without opening and versions."""
    header: dict[str, Json] = json.loads(record.head_json())
    return {name: value for name, value in header.items() if name not in ("package", "schema", "opening")}


class CheckedRecord(NamedTuple):
    """The result of checking a line of a submission.

    Attributes:
        key: The sample's id and its epoch; None for a line that cannot be read.
        level: The item's level; None unless a simulation confirms the record.
        row: The record's row; None if the record cannot be measured.
        conduct: What may look odd beside other records; None if the record cannot be measured.
    """

    key: Key | None
    problems: Sequence[Finding]
    level: int | None = None
    row: Row | None = None
    conduct: Conduct | None = None


class RecordChecker:
    """Simulates records again; what it computes of an item is used for all records of the item."""

    def __init__(self) -> None:
        self._unmeasured: list[Skipped] = []
        self._verifier = Verifier({}, self._unmeasured.append)

    def check_line(self, number: int, line: bytes, run: dict[str, Any], against_oracle: bool) -> CheckedRecord:
        """Check a line of a run's file by a new simulation, and with `against_oracle` its replies with the oracle's."""
        try:
            decoded = decode_record_line(line)
        except WaybenchError as error:
            return CheckedRecord(None, [Finding("record", str(error), f"line {number}")])
        record, sample, key = decoded.record, decoded.sample, (decoded.sample, decoded.epoch)
        problems: list[Finding] = []
        if record.player != run["model"]:
            problems.append(Finding("player", f"played by {record.player[:80]!r}", sample))
        if record.agent != (agent := str(run["parameters"].get(AGENT) or "")):
            text = f"replies of the {_agent_text(record.agent)}; the parameters say {_agent_text(agent)}"
            problems.append(Finding("agent", text, sample))
        if record.end in (None, End.INFRASTRUCTURE):
            problems.append(_finding_or_defect("unfinished", (record.error or "it has no end")[:200], sample))
        again: Simulated | None = None
        try:
            environment = registry.load(record.env)
            if record.env_version != environment.version:
                text = f"{record.env}@{record.env_version}; here it is @{environment.version}"
                return CheckedRecord(key, [*problems, Finding("version", text, sample)])
            if not decoded.has_texts:  # making the texts simulates the record, so that no other simulation is needed
                record, outcomes = record_with_texts(decoded)
                again = Simulated(confirmed=True, outcomes=outcomes)
        except Exception as error:  # a record is data from outside: with any error, it is not confirmed
            message = str(error) if isinstance(error, WaybenchError) else f"{type(error).__name__} {error}"
            return CheckedRecord(key, [*problems, _finding_or_defect("record", message, sample)])
        episode = LoggedEpisode(
            model=run["model"],
            task=run["task"],
            record=record,
            settings=settings_of_record(record, run["settings"]),
            sample=sample,
            run=run["file"],
            design=run["search"],
            epoch=decoded.epoch,
            most_attempts=allowed_attempts(run["parameters"]),
        )
        self._unmeasured.clear()
        verified = self._verifier.verify(episode, again)
        if verified is None:
            text = self._unmeasured[0].error if self._unmeasured else "it cannot be measured"
            return CheckedRecord(key, list(dict.fromkeys([*problems, _finding_or_defect("record", text, sample)])))
        simulated = verified.simulated
        if simulated.skipped:
            problems.append(Finding("not simulated", simulated.skipped, sample))
        elif simulated.mismatch:
            problems.append(Finding("record", simulated.mismatch, sample))
        elif text := probe_difference(record, run["parameters"].get(PROBE)):
            problems.append(Finding("probes", text, sample))
        level = int(record.item["level"]) if simulated.confirmed else None
        return CheckedRecord(
            key, problems, level, verified.row, examine_conduct(episode, against_oracle=against_oracle)
        )


def _agent_text(agent: str) -> str:
    """Return an agent's name as text, or that there is none."""
    return f"agent {agent[:80]!r}" if agent else "model without an agent"


def probe_difference(record: EpisodeRecord, probe_option: Json) -> str:
    """Return how the belief probes of a confirmed record differ from those that its task asks; "" if they do not.

    `probe_option` is the task's parameter. A simulation confirms stored answers, but finds none that were left out.
    """
    stored = Counter((probe.turn, probe.name) for probe in record.probes)
    if probe_option is None:
        return "it has belief probes, and the task announces none" if stored else ""
    plan, expected = parse_probe_plan(str(probe_option)), Counter[tuple[int, str]]()

    def count_announced_probes(again: Episode[Any, Any, Any], turn: TurnRecord) -> None:
        """Count the belief probes that the task asks before a turn."""
        number = len(again.turns)
        if not turn.prefix and plan.asks_before(number):
            expected.update((number, belief.name) for belief in again.beliefs)

    replay(registry.load(record.env), record, watch=count_announced_probes)
    for turn, name in sorted({*stored, *expected}):
        # A limit may have ended the episode between a probe and the reply to its turn.
        is_after_last_turn = turn == len(record.turns) and stored[turn, name] == 1
        if stored[turn, name] != expected[turn, name] and not is_after_last_turn:
            return f"probe {name} before turn {turn + 1}: {stored[turn, name]} stored, {expected[turn, name]} announced"
    return ""


def _finding_or_defect(kind: str, text: str, sample: str) -> Finding:
    """Return a finding of this kind, or of the kind "defect" if its text names a defect."""
    return Finding("defect" if DEFECT in text else kind, text, sample)


class Coverage(NamedTuple):
    """How a run's records cover the items that its task plays.

    Attributes:
        played: Number of episodes that the task plays; None if it is not known.
        problems: Missing and unexpected records, and records of other items.
    """

    played: int | None
    problems: Findings


def coverage_of_run(
    run: dict[str, Any],
    archive: Archive,
    read_line_of: Callable[[Key], bytes],
    recorded_samples: Collection[Key],
    *,
    shards: Mapping[str, int],
    levels: Collection[int],
    keys: Mapping[str, str],
    data_dir: str | None,
) -> Coverage:
    """Compare a run's records with the items that its task plays; `run` is the run's entry in the manifest.

    `shards` has the number of records of each shard of the run's items in the submission, "" for no shard. `levels` are
    those of records that a simulation confirms, and `keys` are those of private sets by their labels.
    """
    problems = Findings()
    if run["subset"]:
        problems.add("missing", f"the run was restricted to some samples: {run['subset'][:100]}")
    unmatched = dict.fromkeys(recorded_samples)
    played = 0

    def find_record(sample: str) -> EpisodeRecord | None:
        key = (sample, 1)
        return decode_record_line(read_line_of(key)).record if key in recorded_samples else None

    with tempfile.TemporaryDirectory(prefix="waybench-verify-") as folder:
        try:
            implied = make_samples_again(
                run["task"],
                run["parameters"],
                keys=keys,
                items=lambda name: archive.read_content(f"items/{name}.jsonl"),
                folder=Path(folder),
                data_dir=data_dir,
                records=sum(shards.values()),
                levels=levels,
            )
            shard = run["parameters"].get(SHARD)
            if shard is not None and (missing_shards := missing_shards_text(str(shard), shards)):
                problems.add("missing", missing_shards)
            for sample in implied_samples(implied, run["model"], find_record):
                name = str(sample.id)
                metadata: Mapping[str, Any] = sample.metadata or {}
                expected_header = comparable_header(stored_record(metadata, {}))
                for epoch in range(1, run["epochs"] + 1):
                    played += 1
                    key = (name, epoch)
                    if key not in unmatched:
                        problems.add("missing", "there is no record of this attempt", name)
                        continue
                    del unmatched[key]
                    header = comparable_header(decode_record_line(read_line_of(key)).record)
                    for field in sorted({*header, *expected_header}):
                        texts = {json.dumps(part.get(field), sort_keys=True) for part in (header, expected_header)}
                        if len(texts) > 1:
                            problems.add("item", f"{field} differs from that of the item made again", name)
                            break
                design = design_of_run(json.loads(metadata.get(DESIGN, "{}")))
                if design != run["search"]:
                    is_search = is_search_design(run["search"] or design)
                    subject = "settings of the search" if is_search else "levels of the ladder"
                    problems.add("task", f"the {subject} differ from those of the parameters")
                    break
                # Parameters from outside may name any number of items: a missing half is enough.
                if played > 2 * len(recorded_samples) + _MISSING_OF_FEW:
                    problems.add("missing", f"more than half of the {plural(played, 'episode')} or more")
                    return Coverage(None, problems)
        except WaybenchError as error:
            problems.add("task", str(error))
            return Coverage(None, problems)
        except Exception as error:  # parameters are data from outside
            problems.add("task", f"the items cannot be made again: {type(error).__name__} {str(error)[:100]}")
            return Coverage(None, problems)
    for name, _ in sorted(unmatched):
        problems.add("unexpected", "the task does not play this attempt with these results", name)
    return Coverage(played, problems)


def submission_episodes(
    path: Path,
    sha256: str,
    *,
    run_prefix: str,
    name_in_report: Callable[[str], str],
    on_problem: Callable[[Skipped], None],
    is_wanted: Callable[[Mapping[str, Any]], bool] = lambda manifest_run: True,
) -> Iterator[LoggedEpisode]:
    """Yield the episodes of a submission, each attempt once.

    `sha256` is that of the file that was verified. `run_prefix` begins the names of its runs, to distinguish them from
    those of other submissions. `on_problem` receives each record that cannot be read, and `is_wanted` returns whether
    the episodes of a run of the manifest are yielded.

    Raises:
        NotASubmission: If the file is no submission, or not the file that was verified.
    """
    with path.open("rb", buffering=0) as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() != sha256:
            raise NotASubmission(f"{path.name} changed after it was verified")
        stream.seek(0)
        archive = Archive(stream)
        for manifest_run in checked_manifest(archive.read_json(MANIFEST)[0])["runs"]:
            if manifest_run["file"] not in archive.names or not is_wanted(manifest_run):
                continue
            yielded: set[Key] = set()
            # No more lines than the verification has read: a file of 4 GiB can have any number.
            for line in islice(archive.read_lines(manifest_run["file"]), manifest_run["records"]):
                try:
                    decoded = decode_record_line(line)
                    key = decoded.sample, decoded.epoch
                    if key in yielded:
                        continue
                    yielded.add(key)
                    record, _ = record_with_texts(decoded)
                    settings = settings_of_record(record, manifest_run["settings"])
                except Exception as error:  # one invalid record must not end the report
                    on_problem(skipped_part(path.name, error, ""))
                    continue
                yield LoggedEpisode(
                    model=name_in_report(manifest_run["model"]),
                    task=manifest_run["task"],
                    record=record,
                    settings=settings,
                    log=path.name,
                    sample=decoded.sample,
                    run=f"{run_prefix}/{manifest_run['file']}",
                    design=manifest_run["search"],
                    epoch=decoded.epoch,
                    most_attempts=allowed_attempts(manifest_run["parameters"]),
                )
