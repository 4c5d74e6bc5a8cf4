"""Axes along an option of play, on items that stay the same: hand-overs, and the length of the context."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from waybench.core._context import CONTEXT_TOKENS
from waybench.core._errors import UsageError
from waybench.core._metrics import Axis
from waybench.core._prefix import PREFIX, RECORD, PrefixPart, read_prefix
from waybench.core._record import EpisodeRecord


def _handover(name: str, title: str, doc: str, read: Callable[[tuple[PrefixPart, ...]], float | None]) -> Axis:
    def of(record: EpisodeRecord) -> float | None:
        text = record.options.get(PREFIX)
        if not isinstance(text, str) or text.startswith(RECORD):
            return None
        try:
            return read(read_prefix(text))
        except UsageError:  # of a record that somebody has edited
            return None

    return Axis(name=name, title=title, of=of, doc=doc)


def _steps_left(parts: tuple[PrefixPart, ...]) -> float | None:
    return float(-parts[0].steps) if len(parts) == 1 and parts[0].steps < 0 else None


def _errors(parts: tuple[PrefixPart, ...]) -> float | None:
    names = [part.player for part in parts]
    return float(parts[1].steps) if names == ["oracle", "random"] and parts[1].steps > 0 else None


def _context(record: EpisodeRecord) -> float | None:
    tokens = record.options.get(CONTEXT_TOKENS)
    return tokens / 1000 if type(tokens) is int and tokens > 0 else None


OPTION_AXES: Mapping[str, Axis] = MappingProxyType(
    {
        axis.name: axis
        for axis in (
            _handover(
                "steps_left",
                "Steps left",
                "The steps of the oracle's episode that are left to the player (prefix=oracle:-N).",
                _steps_left,
            ),
            _handover(
                "random_steps",
                "Random steps",
                "The random steps between the oracle's first steps and the player's (prefix=oracle:K+random:N).",
                _errors,
            ),
            Axis(
                name="context_length",
                title="Context length (thousand tokens)",
                of=_context,
                doc="Thousands of tokens, at most, of a prompt in which an item stands among others (context_tokens).",
            ),
        )
    }
)
"""Name -> axis along an option that is no option of one environment alone."""
