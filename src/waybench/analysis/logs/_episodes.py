"""Episodes as the logs of one or many runs hold them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from waybench.core import LOCAL_MODELS, EpisodeRecord, Json


class Origin(NamedTuple):
    """Where results come from.

    Attributes:
        created: When the run began, as "2026-01-31 12:00 UTC".
        version: The version of waybench that ran it; "" if not known.
        command: The command that runs it again.
    """

    created: str
    version: str
    command: str


@dataclass(frozen=True, slots=True)
class LoggedEpisode:
    """One episode of a run.

    Attributes:
        model: The model as the user named it; "waybench/..." for the embedded players.
        task: The task's name, without its package.
        record: What happened.
        settings: Settings that the record itself does not hold: options of the items, and the model's settings
            (temperature, reasoning effort, ...), by name.
        log: Path of the log file it comes from.
        sample: The id of its sample there.
        run: What tells the run it belongs to from others, whose attempts are no attempts of this one; a run that was
            taken up again is the same run. "" if not known.
        search: What a search for a horizon is to find out; empty for other runs.
        attempt: The number of the attempt at the item, where it is another than the record's; 0 otherwise.
        origin: Date, version and command of its run; None if not known.
        epoch: The epoch of its sample, from 1; 0 where it comes from no log.
        reasoning: What the provider returned as reasoning, by the number of the turn from 0, as text.
    """

    model: str
    task: str
    record: EpisodeRecord
    settings: Mapping[str, Json] = field(default_factory=dict[str, Json])
    log: str = ""
    sample: str = ""
    run: str = ""
    search: Mapping[str, Json] = field(default_factory=dict[str, Json])
    attempt: int = 0
    origin: Origin | None = None
    epoch: int = 0
    reasoning: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def embedded(self) -> bool:
        """Whether the player is one of waybench's own."""
        return is_embedded(self.model)


def is_embedded(model: str) -> bool:
    """Return whether a name is that of one of waybench's own players."""
    return model.startswith("waybench/") and model.removeprefix("waybench/") not in LOCAL_MODELS


def is_human(model: str) -> bool:
    """Return whether a name is that of a person, as `waybench play` records it: "human" or "human/NAME"."""
    return re.match(r"human(/| with hints$|$)", model) is not None
