"""Records of episodes, with all that is needed to simulate and score an episode again without a model."""

import itertools
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

# Differences of older schemas:
# 1: an action that the protocol took in place of an unreadable reply gave the turn its outcome
# 2: no field "reasoning", fewer marks of reasoning and forms of JSON were read, and the outcome overflow was truncated
SCHEMA = 3
_MOST_VALUES = 2_000_000  # JSON values in the head of a record, and in a turn
_MOST_AMOUNT = 10**15  # tokens or seconds
_FIELDS_LEFT_OUT_IF_EMPTY = ("agent", "probes", "reasoning_returned", "reasoning_sent_back")
_FIELDS_OF_PROGRESS = (
    *_FIELDS_LEFT_OUT_IF_EMPTY,
    "player",
    "turns",
    "end",
    "error",
)  # not known before the first reply
REASONING_FORMS = ("text", "summary", "encrypted")
SENT_BACK = ("all", "last", "none", "some")


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens and time of a reply, and the model that gave it.

    Attributes:
        input_tokens: Tokens of the request, cached ones included.
        output_tokens: Tokens of the reply, reasoning included.
        reasoning_tokens: Tokens of the reply that were spent on reasoning; 0 if the provider does not say.
        cached_tokens: Input tokens that were read from a cache.
        seconds: Time of the call that was answered, without failed calls before it.
        model: The provider's name of the model that answered, which can differ from the requested alias. "" if the
            provider does not say.
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
        for name in _USAGE_AMOUNTS & values.keys():
            if not _is_possible_amount(values[name]):
                values[name] = 0
        return cls(**values)


class TurnRecord(NamedTuple):
    """One turn.

    Attributes:
        reply: The raw reply, as it came.
        reason: Why the reply was not carried out; None if it was.
        action: The action in the reply, as a JSON value; None if the reply could not be read, and the protocol takes no
            action in its place.
        executed: The teacher's action that was carried out in place of the player's (teacher guiding); None without.
        message: The feedback to the player, also where the episode ended before it was sent.
        usage: Tokens and time, if known.
        prefix: The reference player that gave the reply before the episode was handed over (the option `prefix`); ""
            for the episode's own player.
        reasoning: The part of the reply that was recognised as reasoning and not read, without its marks; "" for none.
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
    """A question about a part of the state (`Belief`), which is no part of the conversation, and the answer.

    Attributes:
        turn: The number of the turn before whose reply it was asked, from 0.
        name: The name of the belief.
        question: The question, which followed the messages that the player had before that turn.
        reply: The raw reply, as it came.
        reason: Why no answer could be read; None if one was.
        answer: The answer, as JSON values; None if none could be read.
        expected: The right answer, as JSON values.
        correct: Whether the answer equals the right one.
        share: The share of the answer that is right; None for beliefs without shares.
        usage: Tokens and time, if known; the episode's own do not include them.
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


def _is_possible_amount(amount: float) -> bool:
    """Return whether a number of tokens or seconds is from 0 to 10**15."""
    return 0 <= amount <= _MOST_AMOUNT


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
        agent: The agent that worked out the replies with the player, as NAME[:arg=value,...]; "" for the player alone.
        opening: The messages shown before the first reply.
        end: How it ended; None while it goes on.
        error: The error's text where the end is an infrastructure error.
        probes: The belief probes, in the order in which they were asked.
        reasoning_returned: The forms (`REASONING_FORMS`) in which the player's provider returned reasoning, joined by
            "+": the "text" itself, a "summary", or "encrypted" data. "" if it returned none, or if that is not known.
        reasoning_sent_back: How much of this reasoning later requests repeated, one of `SENT_BACK`: "all", that of the
            "last" reply with reasoning, "none", or "some". "" where there was no reasoning to send back.
        package: The version of waybench that wrote the record.
        schema: Version of the form of records.

    JSON has no fields "agent", "probes", "reasoning_returned" and "reasoning_sent_back" where they are empty.
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
        return sum(usage.input_tokens for usage in usages), sum(usage.output_tokens for usage in usages)

    def to_json(self) -> dict[str, Json]:
        """Return the record as JSON values."""
        out: dict[str, Json] = {name: getattr(self, name) for name in self.__slots__}
        out["options"], out["item"], out["proof"] = dict(self.options), dict(self.item), dict(self.proof)
        out["examples"] = list(self.examples)
        out["opening"] = [{"role": message.role, "text": message.text} for message in self.opening]
        out["turns"] = [turn.to_json() for turn in self.turns]
        out["probes"] = [probe.to_json() for probe in self.probes]
        for name in _FIELDS_LEFT_OUT_IF_EMPTY:
            if not out[name]:
                del out[name]
        out["end"] = None if self.end is None else str(self.end)
        return out

    def head_json(self) -> str:
        """Return the fields that are known before the first reply, as JSON; see `from_parts`."""
        head = self.to_json()
        return _encode({name: head[name] for name in head if name not in _FIELDS_OF_PROGRESS})

    @classmethod
    def from_parts(cls, head: str | Sequence[str], progress: Mapping[str, Json] | None = None) -> "EpisodeRecord":
        """Return a record from its head and its progress, as logs store them.

        Args:
            head: The text of `head_json`, or a list of this one text, as logs have it.
            progress: The other fields of the record, with each turn and probe as a JSON text; None before the first
                reply.

        Raises:
            DataError: If head and progress are no record.
        """
        progress = progress or {"turns": [], "end": None}
        try:
            [head] = [head] if isinstance(head, str) else head
            texts_by_name = {name: progress[name] for name in ("turns", "probes") if name in progress}
            for text in itertools.chain([head], *texts_by_name.values()):
                check_json_bounds(text, _MOST_VALUES)
            parsed = {name: [json.loads(text) for text in texts] for name, texts in texts_by_name.items()}
            return cls.from_json({**json.loads(head), **progress, **parsed})
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise DataError(f"not an episode record: {type(error).__name__} {str(error)[:200]}") from None

    def dumps(self) -> str:
        """Return the record as one line of ASCII JSON, with lone surrogates of a reply as escapes."""
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
            for message in data["opening"]:
                _check_field_types(message, {"role": _TEXT, "text": _TEXT})
            fields["opening"] = tuple(Message(message["role"], message["text"]) for message in data["opening"])
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


# Types of the fields of a record's JSON and of its parts, by name.
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
_USAGE_AMOUNTS = _USAGE.keys() - {"model"}
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


def _check_field_types(data: Json, types_by_name: Mapping[str, tuple[type, ...]]) -> None:
    """Raise a DataError unless data is a JSON object whose fields have the given types; fields can be missing."""
    if not is_object(data):
        raise DataError(f"not an episode record: {type(data).__name__} instead of an object")
    for name, types in types_by_name.items():
        if name in data and type(data[name]) not in types:
            raise DataError(f"not an episode record: {name!r} is of type {type(data[name]).__name__}")


def _checked_fields(
    data: Mapping[str, Json], types_by_name: Mapping[str, tuple[type, ...]], names: Collection[str]
) -> dict[str, Any]:
    """Return the fields of a turn or probe that are in `names`, after a check of types, with `usage` as `Usage`."""
    _check_field_types(data, types_by_name)
    fields = {name: value for name, value in data.items() if name in names}
    if data.get("usage"):
        _check_field_types(data["usage"], _USAGE)
        fields["usage"] = Usage(**data["usage"])
    return fields
