"""Playing episodes out: players that are no models, and records that are simulated again."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

from waybench.core._environment import PLAY_EXTENSIONS, Environment, I
from waybench.core._episode import NOT_CARRIED_OUT, AnyEpisode, Episode, Reply
from waybench.core._errors import KitError, LiveError, ReplayError, UsageError, unknown_name_message
from waybench.core._game import A, End, Json, Outcome, S
from waybench.core._items import Item
from waybench.core._parts import Player
from waybench.core._questions import Belief
from waybench.core._record import EpisodeRecord, ProbeRecord, TurnRecord
from waybench.core._texts import ENGLISH

EMBEDDED = ("null", "random", "heuristic", "oracle")
LOCAL_MODELS = ("smollm2",)  # language models that `waybench/NAME` runs on this machine: they are no reference players
_SCHEMA_HINT = "; replies are read in another way since schema 3 of records (reasoning marks and forms of JSON)"


class Policy(ABC):
    """A player that replies to an episode as a model would, but may look at the episode's true state."""

    name: str

    @abstractmethod
    def reply(self, episode: AnyEpisode) -> str:
        """Return the reply to the episode's present messages."""

    def believe(self, episode: AnyEpisode, belief: Belief[Any]) -> str:
        """Return the reply to a belief probe; by default the right answer."""
        return belief.render(belief.expected(episode.state))


class NullPolicy(Policy):
    """A player that says nothing."""

    name = "null"

    def reply(self, episode: AnyEpisode) -> str:
        """Return the empty reply."""
        return ""

    def believe(self, episode: AnyEpisode, belief: Belief[Any]) -> str:
        """Return the empty reply."""
        return ""


class ScriptedPolicy(Policy):
    """A player that chooses actions from the true state by one of the environment's scripted players.

    Args:
        name: "random", or a name in the environment's `players`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._purpose = f"player {name}"

    def action(self, episode: AnyEpisode) -> Any:
        """Return the action that this player takes in the episode's present state."""
        player: Player[Any, Any] | None = episode.environment.players.policies.get(self.name)
        stream = episode.stream(self._purpose)
        if player is not None:
            return player(episode.state, stream)
        if self.name == "random":
            legal = episode.play.game.legal(episode.state)
            if not legal:
                raise KitError(
                    "legal lists no action in a state that is not over",
                    "list one, or let terminal end the game there",
                    type(episode.play.game),
                )
            return stream.choice(legal)
        raise UsageError(
            unknown_name_message(f"player of {episode.environment.id}", self.name, episode.environment.players.policies)
        )

    def reply(self, episode: AnyEpisode) -> str:
        """Return the action as the wording renders it."""
        return episode.play.wording.render(self.action(episode), episode.state)


class NoisyPolicy(Policy):
    """A player that plays as another player does, but errs at a given rate.

    Args:
        base: The player that it imitates.
        rate: Probability of an error, for each elementary move (see `Game.perturb`).

    Raises:
        UsageError: If the rate is not in [0, 1].
    """

    def __init__(self, base: ScriptedPolicy, rate: float) -> None:
        if not 0 <= rate <= 1:
            raise UsageError(f"error rate {rate}: give a number from 0 to 1, as in noisy-0.1")
        self.base = base
        self.rate = rate
        self.name = f"noisy-{rate:g}"

    def reply(self, episode: AnyEpisode) -> str:
        """Return the base player's action with errors in it, as the wording renders it."""
        action = episode.play.game.perturb(
            episode.state, self.base.action(episode), self.rate, episode.stream(f"player {self.name}")
        )
        return episode.play.wording.render(action, episode.state)

    def believe(self, episode: AnyEpisode, belief: Belief[Any]) -> str:
        """Return the right answer to a belief probe, or null at the player's rate of error."""
        errs = episode.stream(f"belief {belief.name} of {self.name}").random() < self.rate
        return belief.render(None) if errs else super().believe(episode, belief)


def policy(name: str) -> Policy:
    """Return a player by name.

    Args:
        name: "null", "random", "heuristic", "oracle", another of the environment's players, or "noisy-RATE" for an
            oracle that errs at a rate from 0 to 1.

    Raises:
        UsageError: If a rate is no number from 0 to 1. An unknown player is refused at its first reply.
    """
    if name == "null":
        return NullPolicy()
    if name.startswith("noisy-"):
        try:
            rate = float(name.removeprefix("noisy-"))
        except ValueError:
            raise UsageError(f"player {name[:40]!r}: give the error rate from 0 to 1, as in noisy-0.1") from None
        return NoisyPolicy(ScriptedPolicy("oracle"), rate)
    return ScriptedPolicy(name)


def play_to_end(
    environment: Any, item: Item[Any], player: Policy, options: dict[str, Json] | None = None, *, attempt: int = 1
) -> AnyEpisode:
    """Return an episode that a player has played to its end."""
    episode: AnyEpisode = Episode(environment, item, options, attempt=attempt, player=player.name)
    while episode.end_reason is None:
        episode.step(player.reply(episode))
    return episode


def replay(
    environment: Environment[I, S, A],
    record: EpisodeRecord,
    *,
    by_hand: bool = False,
    without_texts: bool = False,
    watch: Callable[[Episode[I, S, A], TurnRecord], None] | None = None,
) -> Episode[I, S, A]:
    """Simulate a record again, without a model, and check that each part of the record agrees with the simulation.

    Args:
        environment: The environment that the record names.
        record: The record of an episode.
        by_hand: Whether actions may have been replaced although the options name no teacher. By default such a record
            is refused, since its result belongs to no player.
        without_texts: Whether the opening and the messages of turns were left out of the record; they follow from the
            item and the replies, and the returned episode has them.
        watch: A function that is called before each turn with the episode and the recorded turn, which has not been
            checked yet.

    Returns:
        The episode, at the record's end. Turns of older schemas are as the current one records them (`SCHEMA`).

    Raises:
        ReplayError: At the first difference between record and simulation.
        LiveError: If the record cannot be simulated here (`Playing.not_replayable`).
        DataError: If the record's instance is no instance of the environment.
    """
    if (record.env, record.env_version) != (environment.id, environment.version):
        raise ReplayError(
            f"record of {record.env}@{record.env_version} cannot be replayed by {environment.id}@{environment.version}"
        )
    if environment.playing.not_replayable is not None and (reason := environment.playing.not_replayable(record)):
        # The instance can be checked without the world or the engine that is missing.
        _require_same("instance_hash", record.instance_hash, environment.items.decode(record.instance).hash)
        raise LiveError(reason)
    require_self_contained(record.options)
    computed = environment.item(record.instance)
    if unknown_fields := record.item.keys() - {"id", "level", "key", "index"}:
        raise ReplayError(f"item: the record has the unknown field {sorted(unknown_fields)[0][:40]!r}")
    position_in_set: dict[str, Json] = {"id": computed.id, "level": computed.level, **record.item}
    examples = tuple(environment.items.decode(example) for example in record.examples)
    item = Item(computed.instance, **position_in_set, proof=computed.proof, examples=examples)
    episode = Episode(
        environment, item, record.options, attempt=record.attempt, player=record.player, plays_prefix=False
    )
    if record.attempt < 1 or item.index < 0:
        raise ReplayError(f"attempt {record.attempt} at index {item.index}: attempts count from 1, items from 0")
    # An older record lacks options that its environment has got since; it was played with their defaults.
    _require_same("options", {**episode.options, **record.options}, episode.options)
    _require_same("instance_hash", record.instance_hash, item.instance.hash)
    _require_same("level", item.level, computed.level)
    _require_same("proof", dict(record.proof), dict(computed.proof))
    opening = episode.record().opening
    # An older record can have the default form where the wording has got a form of its own since.
    if not without_texts and record.opening != opening and record.opening != episode.default_opening:
        _require_same("opening", record.opening, opening)
    probes = list(record.probes)
    for number, turn in enumerate(record.turns):
        if episode.done:
            raise ReplayError(f"the record continues after turn {number}, where the simulation ends")
        executed = None if episode.play.guide or turn.executed is None else episode.play.game.decode(turn.executed)
        if executed is not None and not by_hand:
            raise ReplayError(f"turn {number}: something was done in place of what was said, and no teacher is named")
        _replay_probes(episode, probes)
        if watch is not None:
            watch(episode, turn)
        simulated = episode.play_prefix_turn()
        if simulated is None:
            simulated = episode.step(Reply(turn.reply, _stop_reason(turn), turn.usage), executed)
        recorded, hint = (
            (_turn_in_current_schema(turn, simulated, record.schema), _SCHEMA_HINT) if record.schema < 3 else (turn, "")
        )
        if without_texts:
            recorded = recorded._replace(message=simulated.message)
        if not all(map(_is_surely_same, recorded, simulated)):
            for name, value, simulated_value in zip(TurnRecord._fields, recorded, simulated, strict=True):
                _require_same(f"turn {number}: {name}", value, simulated_value, hint)
    _replay_probes(episode, probes)
    if probes:
        raise ReplayError(f"probe {probes[0].name[:40]!r} of turn {probes[0].turn}: nothing is asked there")
    if record.turns and episode.play_prefix_turn() is not None:
        raise ReplayError(f"the record ends after turn {len(record.turns)}, before its prefix does")
    # The end of an episode that a caller ended is taken from the record, if its error says why (`Episode.end`).
    end = record.end
    if (end is End.INFRASTRUCTURE or end is End.TURN_LIMIT) and record.error and not episode.done:
        episode.end(end, record.error)
    _require_same("end", record.end, episode.end_reason)
    _require_same("error", record.error, episode.error)
    episode.reasoning_returned, episode.reasoning_sent_back = record.reasoning_returned, record.reasoning_sent_back
    return episode


def _replay_probes(episode: Episode[I, S, A], probes: list[ProbeRecord]) -> None:
    """Answer the probes recorded in this turn, compare them, and remove them from `probes`."""
    number = len(episode.turns)
    while probes and probes[0].turn == number:
        recorded = probes.pop(0)
        what = f"probe {recorded.name[:40]!r} of turn {number}"
        belief = next((belief for belief in episode.beliefs if belief.name == recorded.name), None)
        if belief is None or any((probe.turn, probe.name) == (number, recorded.name) for probe in episode.probes):
            raise ReplayError(f"{what}: it is not asked there, or twice")
        simulated = episode.probe(belief, Reply(recorded.reply, usage=recorded.usage))
        for name in ProbeRecord._fields:
            _require_same(f"{what}: {name}", getattr(recorded, name), getattr(simulated, name))


def require_self_contained(options: Mapping[str, Json]) -> None:
    """Raise a ReplayError if a record's options name a file of this machine in place of its content."""
    for extension in PLAY_EXTENSIONS:
        if extension.names_file is not None and (name := extension.names_file(options)):
            raise ReplayError(f"options: {name} names a file, and the record does not have its content")


def _turn_in_current_schema(turn: TurnRecord, simulated: TurnRecord, schema: int) -> TurnRecord:
    """Return a turn of an older schema as the current one records it (see `SCHEMA`)."""
    if turn.outcome is Outcome.TRUNCATED and simulated.outcome is Outcome.OVERFLOW:
        turn = turn._replace(outcome=simulated.outcome)
    has_protocol_action = simulated.outcome is Outcome.UNPARSED and simulated.action is not None
    has_action_outcome = turn.outcome in (Outcome.OK, Outcome.ILLEGAL, Outcome.UNPRODUCTIVE)
    if schema < 2 and has_protocol_action and has_action_outcome:
        turn = turn._replace(outcome=simulated.outcome)
    return turn._replace(reasoning=simulated.reasoning)


def _stop_reason(turn: TurnRecord) -> str:
    """Return the stop reason of a recorded reply, from its outcome."""
    # Before schema 3 the outcome of overflow was truncated.
    if turn.reason == ENGLISH["stop.overflow"] and turn.outcome is Outcome.TRUNCATED:
        return "overflow"
    return str(turn.outcome) if turn.outcome in NOT_CARRIED_OUT else "stop"


def _require_same(name: str, recorded: Json, simulated: Json, hint: str = "") -> None:
    """Raise a ReplayError if a recorded value differs from the simulated one."""
    # Compared as text, since 4.0 and 4, or true and 1, are equal in Python and differ in JSON.
    if not _is_surely_same(recorded, simulated) and _canonical_json(recorded) != _canonical_json(simulated):
        raise ReplayError(
            f"{name}: the record has {str(recorded)[:120]!r}, the simulation {str(simulated)[:120]!r}{hint}"
        )


def _is_surely_same(recorded: Any, simulated: Any) -> bool:
    """Return whether two values surely have equal JSON; False says nothing. A fast check before `_canonical_json`."""
    if recorded is simulated:
        return True
    kind = cast(type[object], type(recorded))
    if kind is list or kind is tuple:
        return (
            type(simulated) in (list, tuple)
            and len(recorded) == len(simulated)
            and all(map(_is_surely_same, recorded, simulated))
        )
    if kind is dict:
        return (
            type(simulated) in (dict, MappingProxyType)
            and recorded.keys() == simulated.keys()
            and all(type(name) is str and _is_surely_same(value, simulated[name]) for name, value in recorded.items())
        )
    if kind is float:  # by `repr`, since 0.0 and -0.0 are equal
        return type(simulated) is float and repr(recorded) == repr(simulated)
    return kind is type(simulated) and kind in (str, int, bool) and recorded == simulated


def _canonical_json(value: Json) -> str:
    """Return a value as JSON with sorted keys, for comparisons."""
    # Tuples of a simulation and lists of a record that was read from JSON give the same text.
    return json.dumps(value, sort_keys=True, default=dict)
