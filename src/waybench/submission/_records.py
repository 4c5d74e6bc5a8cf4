"""Verifies the records of a submission one by one: each is simulated again."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from waybench.analysis.logs import LoggedEpisode, Skipped, of_record
from waybench.analysis.results import Row, Simulated, Verifier
from waybench.core import End, WaybenchError
from waybench.envs import registry
from waybench.submission._lines import Line, read_line, with_texts
from waybench.submission._odd import Conduct, conduct_of
from waybench.submission._verdict import Finding

Key = tuple[str, int]  # a sample's id and its epoch


class CheckedRecord(NamedTuple):
    """What a line of a submission is worth.

    Attributes:
        key: The sample's id and its epoch; None for a line that cannot be read.
        problems: What does not agree.
        level: The item's level; None unless a simulation confirms the record.
        row: Its row; None if it cannot be measured.
        conduct: What may look odd beside other records; None if it cannot be measured.
    """

    key: Key | None
    problems: Sequence[Finding]
    level: int | None = None
    row: Row | None = None
    conduct: Conduct | None = None

    @property
    def confirmed(self) -> bool:
        """Whether a simulation confirms the record."""
        return self.level is not None


class RecordChecker:
    """Simulates records again; what it works out of an item serves all records of the item."""

    def __init__(self) -> None:
        self._unmeasured: list[Skipped] = []
        self._verifier = Verifier({}, self._unmeasured.append)

    def check(self, number: int, line: bytes, run: dict[str, Any], *, against_oracle: bool) -> CheckedRecord:
        """Check a line.

        Args:
            number: Its number in its file, from 1.
            line: The line.
            run: The run, as the manifest has it.
            against_oracle: Whether its replies are compared with the oracle's.
        """
        try:
            read = read_line(line)
        except WaybenchError as error:
            return CheckedRecord(None, [Finding("record", str(error), f"line {number}")])
        return self._checked(read, run, against_oracle)

    def _checked(self, line: Line, run: dict[str, Any], against_oracle: bool) -> CheckedRecord:
        record, sample, key = line.record, line.sample, (line.sample, line.epoch)
        problems: list[Finding] = []
        if record.player != run["model"]:
            problems.append(Finding("player", f"played by {record.player[:80]!r}", sample))
        if record.end in (None, End.INFRASTRUCTURE):
            problems.append(Finding("unfinished", (record.error or "it has no end")[:200], sample))
        again: Simulated | None = None
        try:
            environment = registry.load(record.env)
            if record.env_version != environment.version:
                text = f"{record.env}@{record.env_version}; here it is @{environment.version}"
                return CheckedRecord(key, [*problems, Finding("version", text, sample)])
            if not line.has_texts:  # what makes the texts again simulates the record, too
                record, outcomes = with_texts(line)
                again = Simulated(confirmed=True, outcomes=outcomes)
        except Exception as error:  # a record is data from outside; whatever it trips over, it is not confirmed
            message = str(error) if isinstance(error, WaybenchError) else f"{type(error).__name__} {error}"
            return CheckedRecord(key, [*problems, Finding("record", message, sample)])
        episode = LoggedEpisode(
            model=run["model"],
            task=run["task"],
            record=record,
            settings=of_record(record, run["settings"]),
            sample=sample,
            run=run["file"],
            search=run["search"],
            epoch=line.epoch,
        )
        self._unmeasured.clear()
        found = self._verifier.verify(episode, again)
        if found is None:
            text = self._unmeasured[0].error if self._unmeasured else "it cannot be measured"
            return CheckedRecord(key, [*problems, Finding("record", text, sample)])
        if found.simulated.skipped:
            problems.append(Finding("not simulated", found.simulated.skipped, sample))
        elif found.simulated.mismatch:
            problems.append(Finding("record", found.simulated.mismatch, sample))
        level = int(record.item["level"]) if found.simulated.confirmed else None
        return CheckedRecord(key, problems, level, found.row, conduct_of(episode, against_oracle=against_oracle))
