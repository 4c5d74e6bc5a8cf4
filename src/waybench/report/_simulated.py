"""Episodes, simulated again from their records."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from waybench.analysis import LoggedEpisode
from waybench.core import Environment, Episode, EpisodeRecord, Instance, LiveError, TurnRecord, WaybenchError, replay
from waybench.envs import registry
from waybench.report._format import LONGEST_READ, LONGEST_UNSENT


class Simulated(NamedTuple):
    """What a new simulation confirms of a record.

    Attributes:
        instance: The instance; None if the record has none, or none that can be drawn.
        turns: The turns; none if record and simulation do not agree, or if the world cannot be simulated again.
        mismatch: Where they do not agree; "" if they do.
        read: Of each turn the action that its reply was read as, in the words of a reply; "" if it was none.
    """

    instance: Instance | None
    turns: tuple[TurnRecord, ...]
    mismatch: str
    read: tuple[str, ...] = ()


def simulate(episodes: Iterable[LoggedEpisode]) -> list[Simulated]:
    """Simulate episodes again from their records, in the given order."""
    instances: dict[str, Instance] = {}
    found: list[Simulated] = []
    for episode in episodes:
        again = _simulate(registry.load(episode.record.env), episode.record)
        if again.instance is not None and not again.mismatch:
            # Attempts at one instance share it: boards take more memory than what is done on them.
            again = again._replace(instance=instances.setdefault(episode.record.instance_hash, again.instance))
        found.append(again)
    return found


def _simulate(env: Environment[Any, Any, Any], record: EpisodeRecord) -> Simulated:
    """Return instance and turns of a record as a new simulation confirms them, and where it does not."""
    read: list[str] = []

    def reading(episode: Episode[Any, Any, Any], turn: TurnRecord) -> None:
        play = episode.play
        given = None if turn.action is None else play.game.decode(turn.action)
        read.append("" if given is None else play.wording.render(given, episode.state)[:LONGEST_READ])

    try:
        episode = replay(env, record, watch=reading)
        return Simulated(episode.item.instance, episode.turns, "", tuple(read))
    except LiveError:  # nothing of it is drawn, for anything may stand in it
        return Simulated(None, (), "")
    except Exception as error:  # a record is data from outside; whatever a simulation trips over, it does not agree
        told = str(error) if isinstance(error, WaybenchError) else f"{type(error).__name__} {error}"
    try:
        return Simulated(env.decode(record.instance), (), told[:LONGEST_UNSENT])
    except Exception:
        return Simulated(None, (), told[:LONGEST_UNSENT])
