"""Records of episodes, enough to simulate and score it again without a model."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Any, NamedTuple, Self

from waybench._version import __version__
from waybench.core._errors import DataError
from waybench.core._game import NOTHING, End, Json, Outcome
from waybench.core._json import check_json_bounds, is_object
from waybench.core._wording import Message

# 1: the outcome of an action that the protocol took for a reply that names none was that of the action
# 2: without what was cut out of replies as reasoning, which was less; overflow was truncated; fewer forms of JSON
SCHEMA = 3
_MOST_VALUES = 2_000_000  # of the part of a record that is known before the first reply, and of a turn
_MOST_SPENT = 10**15
_PROGRESS = ("player", "agent", "turns", "probes", "reasoning_returned", "reasoning_sent_back", "end", "error")
_ONLY_IF_ANY = (
    "agent",
    "probes",
    "reasoning_returned",
    "reasoning_sent_back",
)  # JSON has these fields only if there is something
REASONING_FORMS = ("text", "summary", "encrypted")
SENT_BACK = ("all", "last", "none", "some")


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens and time of a reply, and the model that gave it.

    Attributes:
        input_tokens: Tokens of the request, cached ones included.
        output_tokens: Tokens of the reply, reasoning included.
        reasoning_tokens: Those of them spent on reasoning, if the provider says so.
        cached_tokens: Input tokens that were read from a cache.
        seconds: Time of the call that was answered, without the failed tries before it.
        model: The model that answered, as the provider calls it: the requested alias may stand for another one. ""
            if the provider does not say.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    model: str = ""

    def __post_init__(self) -> None:
        """Raise a DataError if a number of tokens or seconds is below 0, or beyond 10**15."""
        numbers = (self.input_tokens, self.output_tokens, self.reasoning_tokens, self.cached_tokens, self.seconds)
        if not all(map(_is_possible_amount, numbers)):
            raise DataError("not an episode record: a number of tokens or seconds is below 0 or beyond 10**15")

    def to_json(self) -> dict[str, Json]:
        """Return the usage as JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_provider(cls, **values: Any) -> Self:
        """Return a provider's usage, with 0 in place of impossible numbers such as -1 and NaN."""
        values |= {name: 0 for name, value in values.items() if name in _NUMBERS and not _is_possible_amount(value)}
        return cls(**values)


class TurnRecord(NamedTuple):
    """One turn.

    Attributes:
        reply: The raw reply, as it came.
        reason: Why the reply was not carried out, if it was not.
        action: What was said, as a JSON value; None if the reply was not parsed and the protocol took no action for it.
        executed: What was done in place of what was said (teacher guiding); None where nothing was put in its place.
        message: The feedback to the player, also where the episode ended before it was sent.
        usage: Tokens and time, if known.
        prefix: The reference player that gave the reply before the episode was handed over (the option `prefix`); ""
            for the episode's own player.
        reasoning: What was cut out of the reply as reasoning before it was read, without its marks; "" if nothing was.
    """

    reply: str
    outcome: Outcome
    reason: str | None = None
    action: Json = None
    executed: Json = None
    reward: float = 0.0
    events: Mapping[str, Json] = NOTHING
    message: str = ""
    usage: Usage | None = None
    prefix: str = ""
    reasoning: str = ""

    @property
    def carried_out(self) -> Json:
        """The action that was carried out: `executed` if there is one, or else `action`."""
        return self.action if self.executed is None else self.executed

    def to_json(self) -> dict[str, Json]:
        """Return the turn as JSON values."""
        out: dict[str, Json] = self._asdict()
        out["outcome"], out["events"] = str(self.outcome), dict(self.events)
        out["usage"] = self.usage.to_json() if self.usage else None
        for name in ("prefix", "reasoning"):
            if not out[name]:
                del out[name]
        return out

    def dumps(self) -> str:
        """Return the turn as one line of ASCII JSON."""
        return _encode(self.to_json())

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "TurnRecord":
        """Return a turn from JSON; a wrong type or a missing field raises the error that it causes."""
        fields = _checked_fields(data, _TURN, _TURN_FIELDS)
        fields["outcome"] = Outcome(data["outcome"])
        return cls(**fields)


class ProbeRecord(NamedTuple):
    """A question for a part of the state (`Belief`), which never entered the conversation, and its answer.

    Attributes:
        turn: The number of the turn before whose reply it was asked, from 0.
        name: The name of the belief.
        question: What was asked, after the messages that the player had before that turn.
        reply: The raw reply, as it came.
        reason: Why no answer could be read; None if one was.
        answer: The answer, as JSON values; None if none could be read.
        expected: The right answer, as JSON values.
        correct: Whether they are the same.
        share: The share of the answer that is right, where there is such a thing; None otherwise.
        usage: Tokens and time, if known; they are no part of the episode's.
    """

    turn: int
    name: str
    question: str
    reply: str
    reason: str | None = None
    answer: Json = None
    expected: Json = None
    correct: bool = False
    share: float | None = None
    usage: Usage | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the probe as JSON values."""
        out: dict[str, Json] = self._asdict()
        out["usage"] = self.usage.to_json() if self.usage else None
        return out

    def dumps(self) -> str:
        """Return the probe as one line of ASCII JSON."""
        return _encode(self.to_json())

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "ProbeRecord":
        """Return a probe from JSON; a wrong type or a missing field raises the error that it causes."""
        return cls(**_checked_fields(data, _PROBE, cls._fields))


def _is_possible_amount(spent: float) -> bool:
    """Return whether a number of tokens or seconds is from 0 to 10**15."""
    return 0 <= spent <= _MOST_SPENT


def turns_without_prefix(turns: Iterable[TurnRecord]) -> tuple[TurnRecord, ...]:
    """Return turns without those of a prefix."""
    return tuple(turn for turn in turns if not turn.prefix)


def ineffective_turns_text(turns: Iterable[TurnRecord]) -> str:
    """Return the counts of outcomes without effect as text: "2 illegal, 1 unparsed"; "" if there are none."""
    counts = Counter(str(turn.outcome) for turn in turns if turn.outcome not in (Outcome.OK, Outcome.UNPRODUCTIVE))
    return ", ".join(f"{counts[name]} {name}" for name in sorted(counts))


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRecord:
    """One episode, versioned by `schema`.

    Attributes:
        env: The environment's id.
        env_version: Its version; it is raised whenever a score can move.
        options: All options of play, defaults included.
        instance: The instance as JSON.
        instance_hash: SHA-256 of its canonical form.
        item: id, level, key and index of the item, where it came from a set.
        proof: What is known of the solution.
        examples: The instances of the in-context examples, as JSON; empty without.
        attempt: Number of this attempt at the item, from 1.
        player: Who played.
        agent: The agent that worked out the replies with the player, as NAME[:arg=value,...]; "" for the player alone,
            and then JSON has no such field.
        opening: The messages shown before the first reply.
        end: How it ended; None while it goes on.
        error: The error's text where the end is an infrastructure error.
        probes: The belief probes, in the order in which they were asked; JSON has the field only if there are any.
        reasoning_returned: In which of `REASONING_FORMS` the player's provider returned reasoning, joined by "+": the
            text itself, a summary of it, or neither, but what the provider can decrypt. "" if it returned none, or if
            nobody watched; JSON has the field only otherwise.
        reasoning_sent_back: What of it later requests repeated, one of `SENT_BACK`: "all" of it, that of the "last"
            reply that had some, "none", or "some" of it. "" where nothing could be sent back; JSON has the field only
            otherwise.
        package: The version of waybench that wrote the record.
        schema: Version of this form.
    """

    env: str
    env_version: int
    options: Mapping[str, Json]
    instance: Json
    instance_hash: str
    item: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    proof: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    examples: tuple[Json, ...] = ()
    attempt: int = 1
    player: str = ""
    agent: str = ""
    opening: tuple[Message, ...] = ()
    turns: tuple[TurnRecord, ...] = ()
    end: End | None = None
    error: str | None = None
    probes: tuple[ProbeRecord, ...] = ()
    reasoning_returned: str = ""
    reasoning_sent_back: str = ""
    package: str = field(default=__version__)
    schema: int = SCHEMA

    @property
    def own_turns(self) -> tuple[TurnRecord, ...]:
        """The turns of the episode's own player: all turns but those of a prefix."""
        return turns_without_prefix(self.turns)

    @property
    def seconds(self) -> float:
        """Time spent on the player's replies, in seconds."""
        return fsum(turn.usage.seconds for turn in self.turns if turn.usage)

    @property
    def tokens(self) -> tuple[int, int]:
        """Input and output tokens of the episode."""
        usages = [turn.usage for turn in self.turns if turn.usage]
        return sum(u.input_tokens for u in usages), sum(u.output_tokens for u in usages)

    def to_json(self) -> dict[str, Json]:
        """Return the record as JSON values."""
        out: dict[str, Json] = {name: getattr(self, name) for name in self.__slots__}
        out["options"], out["item"], out["proof"] = dict(self.options), dict(self.item), dict(self.proof)
        out["examples"] = list(self.examples)
        out["opening"] = [{"role": m.role, "text": m.text} for m in self.opening]
        out["turns"] = [turn.to_json() for turn in self.turns]
        out["probes"] = [probe.to_json() for probe in self.probes]
        for name in _ONLY_IF_ANY:
            if not out[name]:
                del out[name]
        out["end"] = None if self.end is None else str(self.end)
        return out

    def head_json(self) -> str:
        """Return the fields that are known before the first reply, as JSON; see `from_parts`."""
        head = self.to_json()
        return _encode({name: head[name] for name in head if name not in _PROGRESS})

    @classmethod
    def from_parts(cls, head: str | Sequence[str], progress: Mapping[str, Json] | None = None) -> "EpisodeRecord":
        """Return a record from its head and its progress, as logs store them.

        Args:
            head: What `head_json` returned; also as the one text of a list, as logs have it.
            progress: "player", "end", "error", "turns" and, if there are any, "probes" (each of them as one JSON text)
                and "agent"; None before the first reply.

        Raises:
            DataError: If they are no record.
        """
        progress = progress or {"turns": [], "end": None}
        try:
            [head] = [head] if isinstance(head, str) else head
            texts_by_name = {name: progress[name] for name in ("turns", "probes") if name in progress}
            for text in (head, *(text for texts in texts_by_name.values() for text in texts)):
                check_json_bounds(text, _MOST_VALUES)
            read = {name: [json.loads(text) for text in texts] for name, texts in texts_by_name.items()}
            return cls.from_json({**json.loads(head), **progress, **read})
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as problem:
            raise DataError(f"not an episode record: {type(problem).__name__} {str(problem)[:200]}") from None

    def dumps(self) -> str:
        """Return the record as one line of ASCII JSON; lone surrogates in a reply survive as escapes."""
        return _encode(self.to_json())

    @classmethod
    def from_json(cls, data: Json) -> "EpisodeRecord":
        """Return the record that `to_json` wrote, from untrusted JSON.

        Raises:
            DataError: If it is no record, or of a newer schema than this version reads.
        """
        try:
            _check_field_types(data, _RECORD)
            if data["schema"] > SCHEMA:
                raise DataError(f"record of schema {data['schema']}: this waybench reads up to {SCHEMA}; update it")
            fields = {name: value for name, value in data.items() if name in cls.__slots__}
            _check_field_types(fields.get("item", {}), _ITEM)
            fields["examples"] = tuple(data.get("examples", ()))
            fields["opening"] = tuple(_message_from_json(message) for message in data["opening"])
            fields["turns"] = tuple(TurnRecord.from_json(turn) for turn in data["turns"])
            fields["probes"] = tuple(ProbeRecord.from_json(probe) for probe in data.get("probes", ()))
            fields["end"] = None if data["end"] is None else End(data["end"])
            if not {*fields.get("reasoning_returned", "text").split("+")} <= {*REASONING_FORMS}:
                raise DataError("not an episode record: 'reasoning_returned' has an unknown form of reasoning")
            if fields.get("reasoning_sent_back", SENT_BACK[0]) not in SENT_BACK:
                raise DataError("not an episode record: 'reasoning_sent_back' is none of " + ", ".join(SENT_BACK))
            return cls(**fields)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"not an episode record: {type(error).__name__} {str(error)[:200]}") from None


def all_own_turns(record: EpisodeRecord) -> Sequence[TurnRecord]:
    """Return all turns of a record's own player, for environments in which every reply has to name an action."""
    return record.own_turns


_TEXT, _NUMBER = (str,), (int, float)
_ITEM: dict[str, tuple[type, ...]] = {"id": _TEXT, "level": (int,), "key": _TEXT, "index": (int,)}
_USAGE: dict[str, tuple[type, ...]] = {
    "input_tokens": (int,),
    "output_tokens": (int,),
    "reasoning_tokens": (int,),
    "cached_tokens": (int,),
    "seconds": _NUMBER,
    "model": _TEXT,
}
_NUMBERS = _USAGE.keys() - {"model"}
_TURN: dict[str, tuple[type, ...]] = {
    "reply": _TEXT,
    "outcome": _TEXT,
    "reason": (str, type(None)),
    "reward": _NUMBER,
    "events": (dict,),
    "message": _TEXT,
    "prefix": _TEXT,
    "reasoning": _TEXT,
}
_TURN_FIELDS = frozenset(TurnRecord._fields)
_PROBE: dict[str, tuple[type, ...]] = {
    "turn": (int,),
    "name": _TEXT,
    "question": _TEXT,
    "reply": _TEXT,
    "reason": (str, type(None)),
    "correct": (bool,),
    "share": (int, float, type(None)),
}
_RECORD: dict[str, tuple[type, ...]] = {
    "schema": (int,),
    "env": _TEXT,
    "env_version": (int,),
    "options": (dict,),
    "instance_hash": _TEXT,
    "item": (dict,),
    "proof": (dict,),
    "examples": (list,),
    "attempt": (int,),
    "player": _TEXT,
    "opening": (list,),
    "turns": (list,),
    "agent": _TEXT,
    "probes": (list,),
    "reasoning_returned": _TEXT,
    "reasoning_sent_back": _TEXT,
    "error": (str, type(None)),
    "package": _TEXT,
}


def _check_field_types(data: Json, kinds: Mapping[str, tuple[type, ...]]) -> None:
    """Raise a DataError unless data is an object whose fields have the right types."""
    if not is_object(data):
        raise DataError(f"not an episode record: {type(data).__name__} instead of an object")
    for name, types in kinds.items():
        if name in data and type(data[name]) not in types:
            raise DataError(f"not an episode record: {name!r} is of type {type(data[name]).__name__}")


def _checked_fields(
    data: Mapping[str, Json], kinds: Mapping[str, tuple[type, ...]], names: Collection[str]
) -> dict[str, Any]:
    """Return the fields of a turn or a probe after a check of their types, with `usage` as `Usage`."""
    _check_field_types(data, kinds)
    fields = {name: value for name, value in data.items() if name in names}
    if data.get("usage"):
        _check_field_types(data["usage"], _USAGE)
        fields["usage"] = Usage(**data["usage"])
    return fields


def _message_from_json(data: Json) -> Message:
    _check_field_types(data, {"role": _TEXT, "text": _TEXT})
    return Message(data["role"], data["text"])
