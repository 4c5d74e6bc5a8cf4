"""Simulating a record again, without a model."""

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from waybench.core._environment import Environment, I
from waybench.core._episode import NOT_CARRIED_OUT, Episode, Reply
from waybench.core._errors import LiveError, ReplayError
from waybench.core._game import A, End, Json, Outcome, S
from waybench.core._items import Item
from waybench.core._options import WORDING
from waybench.core._prefix import PREFIX, PREFIX_REPLIES, RECORD
from waybench.core._record import EpisodeRecord, ProbeRecord, TurnRecord
from waybench.core._template import TEMPLATE, is_template_name
from waybench.core._tool_wording import TOOLS_PREFIX

_READ_OTHERWISE = "; replies are read in another way since schema 3 of records (reasoning marks and forms of JSON)"


def replay(
    environment: Environment[I, S, A],
    record: EpisodeRecord,
    *,
    by_hand: bool = False,
    without_texts: bool = False,
    watch: Callable[[Episode[I, S, A], TurnRecord], None] | None = None,
) -> Episode[I, S, A]:
    """Simulate a record again, without a model, and check that everything it says happened did happen.

    Args:
        environment: The record's environment.
        record: The record.
        by_hand: Whether actions may have been replaced although the options name no teacher. The result of such an
            episode belongs to no player, so that it is refused by default.
        without_texts: Whether the opening and the messages of turns were left out of the record; they follow from the
            item and the replies, and the returned episode has them.
        watch: Is shown the episode before each turn, and the turn as it is recorded, which is not confirmed yet.

    Returns:
        The episode, at the record's end. In a record of schema 1 unparsed turns may be ok or illegal instead: those for
        which the protocol took an action.

    Raises:
        ReplayError: At the first difference between record and simulation.
        LiveError: If there is nothing to simulate it by.
        DataError: If the record's instance is none.
    """
    if (record.env, record.env_version) != (environment.id, environment.version):
        raise ReplayError(
            f"record of {record.env}@{record.env_version} cannot be replayed by {environment.id}@{environment.version}"
        )
    if environment.playing.not_replayable is not None and (reason := environment.playing.not_replayable(record)):
        # The instance can be read without the world, and one that is none is no better for a missing engine.
        _require_same("instance_hash", record.instance_hash, environment.items.decode(record.instance).hash)
        raise LiveError(reason)
    require_self_contained(record.options)
    computed = environment.item(record.instance)
    if strange := record.item.keys() - {"id", "level", "key", "index"}:
        raise ReplayError(f"item: the record has the unknown field {sorted(strange)[0][:40]!r}")
    place: dict[str, Json] = {"id": computed.id, "level": computed.level, **record.item}
    examples = tuple(environment.items.decode(example) for example in record.examples)
    item = Item(computed.instance, **place, proof=computed.proof, examples=examples)
    episode = Episode(
        environment, item, record.options, attempt=record.attempt, player=record.player, plays_prefix=False
    )
    if record.attempt < 1 or item.index < 0:
        raise ReplayError(f"attempt {record.attempt} at index {item.index}: attempts count from 1, items from 0")
    _require_same("options", dict(record.options), episode.options)
    _require_same("instance_hash", record.instance_hash, item.instance.hash)
    _require_same("level", item.level, computed.level)
    _require_same("proof", dict(record.proof), dict(computed.proof))
    opening = episode.record().opening
    # An older record has the default form, where a wording has messages of its own since.
    if not without_texts and record.opening != opening and record.opening != episode.default_opening:
        _require_same("opening", record.opening, opening)
    compared = [name for name in TurnRecord._fields if name != "message" or not without_texts]
    probes = list(record.probes)
    for number, turn in enumerate(record.turns):
        if episode.done:
            raise ReplayError(f"the record continues after turn {number}, where the simulation ends")
        executed = None if episode.play.guide or turn.executed is None else episode.play.game.decode(turn.executed)
        if executed is not None and not by_hand:
            raise ReplayError(f"turn {number}: something was done in place of what was said, and no teacher is named")
        _probe_again(episode, probes)
        if watch is not None:
            watch(episode, turn)
        simulated = episode.prefix_step()
        if simulated is None:
            simulated = episode.step(Reply(turn.reply, _stop_of(turn), turn.usage), executed)
        recorded, hint = (
            (_as_of_today(turn, simulated, record.schema), _READ_OTHERWISE) if record.schema < 3 else (turn, "")
        )
        for name in compared:
            _require_same(f"turn {number}: {name}", getattr(recorded, name), getattr(simulated, name), hint)
    _probe_again(episode, probes)
    if probes:
        raise ReplayError(f"probe {probes[0].name[:40]!r} of turn {probes[0].turn}: nothing is asked there")
    if record.turns and episode.prefix_step() is not None:
        raise ReplayError(f"the record ends after turn {len(record.turns)}, before its prefix does")
    # A caller may have ended an episode that was going on, and then says why; every other end is the simulation's.
    end = record.end
    if (end is End.INFRASTRUCTURE or end is End.TURN_LIMIT) and record.error and not episode.done:
        episode.end(end, record.error)
    _require_same("end", record.end, episode.end_reason)
    _require_same("error", record.error, episode.error)
    return episode


def _probe_again(episode: Episode[I, S, A], left: list[ProbeRecord]) -> None:
    """Take the recorded answers to the questions of the present turn, and remove them from those that are left."""
    number = len(episode.turns)
    while left and left[0].turn == number:
        recorded = left.pop(0)
        what = f"probe {recorded.name[:40]!r} of turn {number}"
        belief = next((each for each in episode.beliefs if each.name == recorded.name), None)
        if belief is None or any((each.turn, each.name) == (number, recorded.name) for each in episode.probes):
            raise ReplayError(f"{what}: it is not asked there, or twice")
        simulated = episode.probe(belief, Reply(recorded.reply, usage=recorded.usage))
        for name in ProbeRecord._fields:
            _require_same(f"{what}: {name}", getattr(recorded, name), getattr(simulated, name))


def require_self_contained(options: Mapping[str, Json]) -> None:
    """Raise an error if a record's options name files of this machine; they have to have what is in a file.

    Raises:
        ReplayError: If they do.
    """
    wording = str(options.get(WORDING)).removeprefix(TOOLS_PREFIX)
    named = [
        name
        for name, is_file, content in (
            (WORDING, is_template_name(wording), TEMPLATE),
            (PREFIX, str(options.get(PREFIX)).startswith(RECORD), PREFIX_REPLIES),
        )
        if is_file and content not in options
    ]
    if named:
        raise ReplayError(f"options: {named[0]} names a file, and the record does not have its content")


def _as_of_today(turn: TurnRecord, simulated: TurnRecord, schema: int) -> TurnRecord:
    """Return a turn of an older schema as today's has it, where only the schema differs (see `SCHEMA`)."""
    if turn.outcome is Outcome.TRUNCATED and simulated.outcome is Outcome.OVERFLOW:
        turn = turn._replace(outcome=simulated.outcome)
    by_protocol = simulated.outcome is Outcome.UNPARSED and simulated.action is not None
    was_applied = turn.outcome in (Outcome.OK, Outcome.ILLEGAL, Outcome.UNPRODUCTIVE)
    if schema < 2 and by_protocol and was_applied:
        turn = turn._replace(outcome=simulated.outcome)
    return turn._replace(reasoning=simulated.reasoning)


def _stop_of(turn: TurnRecord) -> str:
    """Return why a recorded reply stopped, as its outcome says; before schema 3, its reason tells overflow."""
    if turn.reason == NOT_CARRIED_OUT["overflow"].reason and turn.outcome is Outcome.TRUNCATED:
        return "overflow"
    return str(turn.outcome) if turn.outcome in NOT_CARRIED_OUT else "stop"


def _require_same(name: str, recorded: Json, simulated: Json, hint: str = "") -> None:
    # As text, for 4.0 and 4, or true and 1, are equal and not the same.
    if not _is_surely_same(recorded, simulated) and _plain(recorded) != _plain(simulated):
        raise ReplayError(
            f"{name}: the record has {str(recorded)[:120]!r}, the simulation {str(simulated)[:120]!r}{hint}"
        )


def _is_surely_same(recorded: Any, simulated: Any) -> bool:
    """Return True for most values that are the same as text, in a fraction of the time."""
    if recorded is simulated:
        return True
    kind = cast(type[object], type(recorded))
    if kind is list or kind is tuple:
        return (
            type(simulated) in (list, tuple)
            and len(recorded) == len(simulated)
            and all(map(_is_surely_same, recorded, simulated))
        )
    return kind is type(simulated) and kind in (str, int, bool) and recorded == simulated


def _plain(value: Json) -> str:
    # A record that has been through JSON has lists where the simulation has tuples.
    return json.dumps(value, sort_keys=True, default=dict)
