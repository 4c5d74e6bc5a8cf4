"""The belief probes of a replay: questions, their answers and the right ones."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from waybench.analysis.results import grouped
from waybench.core import Json, ProbeRecord
from waybench.envs import registry
from waybench.reporting._episode_store import Played
from waybench.reporting._format import LONGEST_UNSENT, REPLIES_OF_A_PAGE, Excerpt, each_of, excerpt


@dataclass(frozen=True, slots=True)
class Probe:
    """A belief probe.

    Attributes:
        title: What was asked for.
        verdict: "known", "wrong" or "no answer".
        question: The question.
        reply: The reply.
        expected: The right answer.
        reason: Why no answer could be read; "" if one was.
    """

    title: str
    verdict: str
    question: str
    reply: Excerpt
    expected: Excerpt
    reason: str = ""


def probes(played: Played) -> dict[int, list[Probe]]:
    """Return the belief probes of an episode by the number of the turn, from 0, before whose reply they were asked."""
    record = played.episode.record
    titles = {belief.name: belief.title for belief in registry.load(record.env).probes}
    longest = each_of(REPLIES_OF_A_PAGE, max(len(record.probes), 1), LONGEST_UNSENT)

    def shown(probe: ProbeRecord) -> Probe:
        return Probe(
            titles.get(probe.name, probe.name[:40]),
            "known" if probe.correct else "wrong" if probe.reason is None else "no answer",
            probe.question[:LONGEST_UNSENT],
            excerpt(probe.reply, longest),
            excerpt(_text(probe.expected), longest),
            (probe.reason or "")[:LONGEST_UNSENT],
        )

    by_turn = grouped(record.probes, lambda probe: probe.turn)
    return {turn: [shown(probe) for probe in own] for turn, own in by_turn.items()}


def _text(value: Json) -> str:
    """Return a value as text: a drawing row by row, anything else as JSON."""
    rows = cast(Sequence[Json], value if isinstance(value, list | tuple) else ())
    if rows and all(isinstance(row, str) for row in rows):
        return "\n".join(rows)
    return json.dumps(value, default=str)
