"""The one stateful thing: an episode of one player on one instance."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic

from waybench.core._environment import Environment, I
from waybench.core._errors import ReplayError, WaybenchError
from waybench.core._game import A, End, Json, Outcome, S, Transition
from waybench.core._instance import Item
from waybench.core._random import Stream
from waybench.core._record import EpisodeRecord, TurnRecord, Usage
from waybench.core._wording import Invalid, Message


@dataclass(frozen=True, slots=True)
class Reply:
    """What a player said.

    Attributes:
        text: The raw reply.
        stop: "stop"; "truncated" if the player ran into its output limit; "refused" if it or its provider declined.
        usage: Tokens and time, if known.
    """

    text: str
    stop: str = "stop"
    usage: Usage | None = None


_NOT_CARRIED_OUT = {
    "truncated": Invalid(
        "The reply was cut off at the output limit before it was complete, so nothing of it was carried out.",
        Outcome.TRUNCATED,
    ),
    "refused": Invalid("The reply was a refusal, so nothing of it was carried out.", Outcome.REFUSED),
}


class Episode(Generic[I, S, A]):
    """Plays one instance turn by turn and keeps the record.

    Args:
        environment: What is played.
        item: The instance, with its place in a set.
        options: Options of play; missing ones get their defaults.
        attempt: Number of this attempt at the item, from 1; stochastic games differ between attempts.
        player: Name for the record.

    Raises:
        UsageError: For a wrong option.
    """

    __slots__ = (
        "_hash",
        "_history",
        "_invalid_in_a_row",
        "_opening",
        "_spent",
        "_turns",
        "attempt",
        "end_reason",
        "environment",
        "error",
        "item",
        "options",
        "play",
        "player",
        "state",
    )

    def __init__(
        self,
        environment: Environment[I, S, A],
        item: Item[I],
        options: Mapping[str, Json] | None = None,
        *,
        attempt: int = 1,
        player: str = "",
    ) -> None:
        self.environment = environment
        self.item = item
        self.options = environment.resolve_options(options or {})
        self.play = environment.play(self.options)
        self.attempt = attempt
        self.player = player
        self.state: S = self.play.game.start(item.instance)
        self.end_reason: End | None = self.play.game.terminal(self.state)
        self.error: str | None = None
        self._hash = item.instance.hash
        self._turns: list[TurnRecord] = []
        self._history: list[tuple[Message, Message]] = []
        self._invalid_in_a_row = 0
        self._spent = 0  # turns that count towards the limit
        self._opening = self._open(self.play.wording.observe(self.state, None))

    def _open(self, observation: str) -> tuple[Message, ...]:
        wording = self.play.wording
        rules = wording.rules(self.item.instance)
        if wording.rules_role == "user":
            return (Message("user", "\n\n".join(text for text in (rules, observation) if text)),)
        opening = (Message(wording.rules_role, rules), Message("user", observation))
        return tuple(message for message in opening if message.text)

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return self.end_reason is not None

    @property
    def turns(self) -> tuple[TurnRecord, ...]:
        """The turns so far."""
        return tuple(self._turns)

    @property
    def last_turn(self) -> TurnRecord | None:
        """The latest turn."""
        return self._turns[-1] if self._turns else None

    @property
    def turns_left(self) -> int:
        """How many turns are left; invalid replies do not count where the limits forgive them."""
        return self.play.limits.turns - self._spent

    @property
    def messages(self) -> list[Message]:
        """What the player is shown next, as chat turns, cut as the wording's memory says."""
        memory = self.play.wording.memory
        if not self._history or memory.kind == "chat":
            shown = self._history
        elif memory.kind == "fresh":
            return list(self._open(self._history[-1][1].text))
        else:
            shown = self._history[-memory.size :] if memory.size else []
        return [*self._opening, *(message for pair in shown for message in pair)]

    def stream(self, purpose: str) -> Stream:
        """Return the random stream of one purpose in the present turn of this attempt."""
        return Stream(self.environment.id, self._hash, "attempt", self.attempt, "turn", len(self._turns), purpose)

    def step(self, reply: Reply | str, execute: A | None = None) -> TurnRecord:
        """Take one reply.

        Args:
            reply: What the player said.
            execute: What is done in place of what was said (teacher guiding).

        Returns:
            The turn.

        Raises:
            WaybenchError: If the episode is over.
        """
        if self.done:
            raise WaybenchError(f"the episode is over ({self.end_reason}): start a new one")
        reply = Reply(reply) if isinstance(reply, str) else reply
        game, wording = self.play.game, self.play.wording
        said = _NOT_CARRIED_OUT.get(reply.stop) or wording.parse(reply.text, self.state)
        done = said if execute is None else execute
        last: Transition[S] | Invalid
        if isinstance(done, Invalid):
            last = done
            turn = TurnRecord(
                reply.text,
                done.outcome,
                reason=done.reason,
                message=wording.observe(self.state, done),
                usage=reply.usage,
            )
        else:
            last = game.apply(self.state, done, self.stream("game"))
            self.state = last.state
            turn = TurnRecord(
                reply.text,
                said.outcome if isinstance(said, Invalid) else last.outcome,
                reason=said.reason if isinstance(said, Invalid) else None,
                action=None if isinstance(said, Invalid) else game.encode(said),
                executed=None if execute is None else game.encode(execute),
                reward=last.reward,
                events=last.events,
                message=wording.observe(self.state, last),
                usage=reply.usage,
            )
        self._history.append((Message("assistant", reply.text, len(self._turns)), Message("user", turn.message)))
        self._turns.append(turn)
        self.end_reason = self._ending(isinstance(last, Invalid))
        return turn

    def _ending(self, invalid: bool) -> End | None:
        limits = self.play.limits
        self._invalid_in_a_row = self._invalid_in_a_row + 1 if invalid else 0
        self._spent += not invalid or limits.invalid == "turn"
        if not invalid and (end := self.play.game.terminal(self.state)):
            return end
        forgiven = {"turn": self._invalid_in_a_row, "retry": limits.retries, "end": 0}[limits.invalid]
        if self._invalid_in_a_row > forgiven:
            return End.INVALID_LIMIT
        return End.TURN_LIMIT if self._spent >= limits.turns else None

    def end(self, reason: End, error: str | None = None) -> None:
        """End the episode from outside.

        Args:
            reason: INFRASTRUCTURE, or TURN_LIMIT for a budget of the caller's.
            error: Why; without it the record does not replay, for nothing in it explains its end.
        """
        self.end_reason = reason
        self.error = error

    def record(self) -> EpisodeRecord:
        """Return the record of the episode so far."""
        environment, item = self.environment, self.item
        return EpisodeRecord(
            env=environment.id,
            env_version=environment.version,
            options=self.options,
            instance=item.instance.to_json(),
            instance_hash=self._hash,
            item={"id": item.id, "level": item.level, "key": item.key, "index": item.index},
            proof=item.proof,
            attempt=self.attempt,
            player=self.player,
            opening=self._opening,
            turns=self.turns,
            end=self.end_reason,
            error=self.error,
        )


def replay(environment: Environment[I, S, A], record: EpisodeRecord) -> Episode[I, S, A]:
    """Simulate a record again, without a model, and check that everything it says happened did happen.

    Args:
        environment: The record's environment.
        record: The record.

    Returns:
        The episode, at the record's end.

    Raises:
        ReplayError: At the first difference between record and simulation.
        DataError: If the record's instance is none.
    """
    if (record.env, record.env_version) != (environment.id, environment.version):
        raise ReplayError(
            f"record of {record.env}@{record.env_version} cannot be replayed by {environment.id}@{environment.version}"
        )
    found = environment.item(record.instance)
    if strange := record.item.keys() - {"id", "level", "key", "index"}:
        raise ReplayError(f"item: the record has {sorted(strange)[0][:40]!r}, which no item has")
    place: dict[str, Json] = {"id": found.id, "level": found.level, **record.item}
    item = Item(found.instance, **place, proof=found.proof)
    episode = Episode(environment, item, record.options, attempt=record.attempt, player=record.player)
    if record.attempt < 1 or item.index < 0:
        raise ReplayError(f"attempt {record.attempt} at index {item.index}: attempts count from 1, items from 0")
    _same("instance_hash", record.instance_hash, item.instance.hash)
    _same("level", item.level, found.level)
    _same("proof", dict(record.proof), dict(found.proof))
    _same("opening", record.opening, episode.record().opening)
    for number, turn in enumerate(record.turns):
        if episode.done:
            raise ReplayError(f"the record goes on after turn {number}, where the simulation ends")
        execute = None if turn.executed is None else episode.play.game.decode(turn.executed)
        stop = turn.outcome if turn.outcome in _NOT_CARRIED_OUT else "stop"
        again = episode.step(Reply(turn.reply, str(stop), turn.usage), execute)
        for name in TurnRecord.__slots__:
            _same(f"turn {number}: {name}", getattr(turn, name), getattr(again, name))
    # A caller may have ended an episode that was going on, and then says why; every other end is the simulation's.
    end = record.end
    if (end is End.INFRASTRUCTURE or end is End.TURN_LIMIT) and record.error and not episode.done:
        episode.end(end, record.error)
    _same("end", record.end, episode.end_reason)
    _same("error", record.error, episode.error)
    return episode


def _same(what: str, recorded: Json, simulated: Json) -> None:
    if recorded != simulated and _plain(recorded) != _plain(simulated):
        raise ReplayError(f"{what}: the record has {str(recorded)[:120]!r}, the simulation {str(simulated)[:120]!r}")


def _plain(value: Json) -> str:
    # A record that has been through JSON has lists where the simulation has tuples.
    return json.dumps(value, sort_keys=True, default=dict)
