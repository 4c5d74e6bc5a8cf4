"""Simulations of recorded episodes: whether a record agrees with its environment."""

from dataclasses import replace
from typing import Any, NamedTuple

from waybench.core import DefectError, Episode, LiveError, Outcome, TurnRecord, WaybenchError, replay
from waybench.envs import registry
from waybench.results.logs import LoggedEpisode

_LONGEST = 1_000  # characters of what a reply was read as, and of why a record does not agree


class Simulated(NamedTuple):
    """The result of simulating a record again.

    Attributes:
        confirmed: Whether it agrees with the record; False also where there was no simulation.
        mismatch: Where they do not agree; "" if they do, or if there was no simulation.
        skipped: Why there was no simulation, so that the record is taken for what it says; "" if there was one.
        read: Of each turn the action that its reply was read as, in the words of a reply; "" if it was none.
        outcomes: Of each turn its outcome in the simulation, where an earlier version recorded others (see `replay`);
            empty where they are the recorded ones.
        executed: Of each turn the name of the action that was carried out, where the reply did not name it: the
            protocol's or a teacher's; "" elsewhere.
    """

    confirmed: bool
    mismatch: str = ""
    skipped: str = ""
    read: tuple[str, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    executed: tuple[str, ...] = ()


def simulate(episode: LoggedEpisode) -> Simulated:
    """Simulate an episode again from its record; `DefectError` if its environment raises at one of the replies."""
    record, env = episode.record, registry.load(episode.record.env)
    read: list[str] = []
    executed: list[str] = []

    def record_reading(again: Episode[Any, Any, Any], turn: TurnRecord) -> None:
        """Append how the simulation read a turn's reply, and the action that was carried out instead."""
        play = again.play
        action = None if turn.action is None else play.game.decode(turn.action)
        read.append("" if action is None else play.wording.render(action, again.state)[:_LONGEST])
        is_replaced = turn.executed is not None and turn.executed != turn.action
        done = play.game.decode(turn.executed) if is_replaced else action if turn.outcome is Outcome.UNPARSED else None
        executed.append("" if done is None else play.wording.action_name(done, again.state)[:_LONGEST])

    try:
        turns = replay(env, record, watch=record_reading).turns
    except LiveError as reason:  # nothing of it is drawn, for anything may stand in it
        return Simulated(confirmed=False, skipped=str(reason))
    except DefectError:  # no reply, whatever it is, makes an environment raise
        raise
    except Exception as error:  # a record is data from outside; whatever a simulation trips over, it does not agree
        message = str(error) if isinstance(error, WaybenchError) else f"{type(error).__name__} {error}"
        return Simulated(confirmed=False, mismatch=message[:_LONGEST] or "it does not replay")
    outcomes = tuple(turn.outcome for turn in turns)
    recorded = tuple(turn.outcome for turn in record.turns)
    return Simulated(
        confirmed=True,
        read=tuple(read),
        outcomes=outcomes if outcomes != recorded else (),
        executed=tuple(executed) if any(executed) else (),
    )


def with_outcomes(episode: LoggedEpisode, simulated: Simulated) -> LoggedEpisode:
    """Return an episode with its outcomes replaced by those of a simulation, where they differ."""
    if not simulated.outcomes:
        return episode
    turns = zip(episode.record.turns, simulated.outcomes, strict=True)
    judged = tuple(turn._replace(outcome=outcome) for turn, outcome in turns)
    return replace(episode, record=replace(episode.record, turns=judged))
