"""Records: what is kept of an episode, enough to simulate and score it again without a model."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from types import UnionType

from waybench._version import __version__
from waybench.core._errors import DataError
from waybench.core._game import NOTHING, End, Json, Outcome
from waybench.core._wording import Message

SCHEMA = 1
_PROGRESS = ("player", "turns", "end", "error")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a reply cost.

    Attributes:
        input_tokens: Tokens of the request, cached ones included.
        output_tokens: Tokens of the reply, reasoning included.
        reasoning_tokens: Those of them spent on reasoning, if the provider says so.
        cached_tokens: Input tokens that were read from a cache.
        seconds: Time of the call, waits for retries included.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One turn.

    Attributes:
        reply: The raw reply, as it came.
        outcome: What the turn came to.
        reason: Why the reply was not carried out, if it was not.
        action: What was said, as a JSON value; None if the reply was not parsed.
        executed: What was done, where that differs from what was said (teacher guiding); otherwise None.
        reward: The step's reward.
        events: What happened.
        message: What the player was told, or would have been told had the episode gone on.
        usage: Tokens and time, if known.
    """

    reply: str
    outcome: Outcome
    reason: str | None = None
    action: Json = None
    executed: Json = None
    reward: float = 0.0
    events: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    message: str = ""
    usage: Usage | None = None


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
        attempt: Number of this attempt at the item, from 1.
        player: Who played.
        opening: The messages shown before the first reply.
        turns: The turns so far.
        end: How it ended; None while it goes on.
        error: The error's text where the end is an infrastructure error.
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
    attempt: int = 1
    player: str = ""
    opening: tuple[Message, ...] = ()
    turns: tuple[TurnRecord, ...] = ()
    end: End | None = None
    error: str | None = None
    package: str = field(default=__version__)
    schema: int = SCHEMA

    @property
    def seconds(self) -> float:
        """Time spent on the player's replies, in seconds."""
        return sum(turn.usage.seconds for turn in self.turns if turn.usage)

    @property
    def tokens(self) -> tuple[int, int]:
        """Input and output tokens of the episode."""
        used = [turn.usage for turn in self.turns if turn.usage]
        return sum(u.input_tokens for u in used), sum(u.output_tokens for u in used)

    def to_json(self) -> dict[str, Json]:
        """Return the record as JSON values."""
        out: dict[str, Json] = {name: getattr(self, name) for name in self.__slots__}
        out["options"], out["item"], out["proof"] = dict(self.options), dict(self.item), dict(self.proof)
        out["opening"] = [{"role": m.role, "text": m.text} for m in self.opening]
        out["turns"] = [_turn_to_json(turn) for turn in self.turns]
        out["end"] = None if self.end is None else str(self.end)
        return out

    def parts(self) -> tuple[dict[str, Json], dict[str, Json]]:
        """Return the record in two parts: what is known before the first reply, and what becomes of it."""
        head = self.to_json()
        return head, {name: head.pop(name) for name in _PROGRESS}

    def dumps(self) -> str:
        """Return the record as one line of ASCII JSON; lone surrogates in a reply survive as escapes."""
        return json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, data: Json) -> "EpisodeRecord":
        """Read a record back.

        Raises:
            DataError: If it is no record, or of a newer schema than this version reads.
        """
        try:
            _check(data, _RECORD)
            if data["schema"] > SCHEMA:
                raise DataError(f"record of schema {data['schema']}: this waybench reads up to {SCHEMA}; update it")
            known = {name: value for name, value in data.items() if name in cls.__slots__}
            _check(known.get("item", {}), _ITEM)
            known["opening"] = tuple(_message_from_json(message) for message in data["opening"])
            known["turns"] = tuple(_turn_from_json(turn) for turn in data["turns"])
            known["end"] = None if data["end"] is None else End(data["end"])
            return cls(**known)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"not an episode record: {type(error).__name__} {error}") from None


def _turn_to_json(turn: TurnRecord) -> dict[str, Json]:
    out: dict[str, Json] = {name: getattr(turn, name) for name in turn.__slots__}
    out["outcome"], out["events"] = str(turn.outcome), dict(turn.events)
    out["usage"] = asdict(turn.usage) if turn.usage else None
    return out


def _turn_from_json(data: Json) -> TurnRecord:
    _check(data, _TURN)
    known = {name: value for name, value in data.items() if name in TurnRecord.__slots__}
    known["outcome"] = Outcome(data["outcome"])
    if known.get("usage") is not None:
        _check(known["usage"], _USAGE)
        known["usage"] = Usage(**known["usage"])
    return TurnRecord(**known)


def _message_from_json(data: Json) -> Message:
    _check(data, _MESSAGE)
    return Message(data["role"], data["text"])


# Records come from files that anyone may have written, so that types are checked before anything is simulated.
_RECORD: dict[str, type | UnionType] = {
    "schema": int,
    "env": str,
    "env_version": int,
    "options": dict,
    "instance_hash": str,
    "item": dict,
    "proof": dict,
    "attempt": int,
    "player": str,
    "opening": list,
    "turns": list,
    "error": str | None,
    "package": str,
}
_ITEM: dict[str, type | UnionType] = {"id": str, "level": int, "key": str, "index": int}
_MESSAGE: dict[str, type | UnionType] = {"role": str, "text": str}
_TURN: dict[str, type | UnionType] = {
    "reply": str,
    "reason": str | None,
    "reward": int | float,
    "events": dict,
    "message": str,
}
_USAGE: dict[str, type | UnionType] = {field.name: int | float for field in fields(Usage)}


def _check(data: Json, kinds: Mapping[str, type | UnionType]) -> None:
    if not isinstance(data, dict):
        raise TypeError(f"{type(data).__name__} in place of an object")
    for name, kind in kinds.items():
        value: Json = data.get(name, _ABSENT)
        if value is not _ABSENT and (not isinstance(value, kind) or isinstance(value, bool)):
            raise TypeError(f"{name} cannot be of type {type(value).__name__}")


_ABSENT = object()
