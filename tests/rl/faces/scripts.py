"""What every face is told: the same replies, and what an `Episode` says to them."""

from dataclasses import dataclass
from typing import Any

from waybench.core import Episode, policy
from waybench.envs import registry
from waybench.ext.train import Session

ENVIRONMENTS = [entry.id for entry in registry.built_in]
HOSTILE = ("", "\x00\ud800 <script>", "1" * 5000, '```json\n{"movements": [[[[')


@dataclass(frozen=True)
class Script:
    """Replies to one item, and what follows from them."""

    env: str
    options: dict[str, Any]
    index: int
    replies: list[str]
    rewards: list[float]
    end: str
    record: dict[str, Any]


def growing(env: str) -> dict[str, Any]:
    """Return options under which an environment is one conversation; its first ones if there are none."""
    protocols, wording = (
        next(option for option in registry.load(env).playing.options if option.name == name)
        for name in ("protocol", "wording")
    )
    for protocol in protocols.choices:
        for name in wording.choices or (wording.default,):
            options = {"protocol": protocol, "wording": name}
            if Session(env, **options).grows:
                return options
    return {}


def script(env: str, index: int, options: dict[str, Any], hostile: bool = True) -> Script:
    """Play an item: some hostile replies where these are not the end, then the oracle with errors."""
    session = Session(env, **options)
    player = policy("noisy-0.1")
    replies: list[str] = []
    episode: Episode[Any, Any, Any] | None = None
    for rubbish in (HOSTILE, ()) if hostile else ((),):
        replies = [reply.encode("utf-8", "replace").decode() for reply in rubbish]
        session.start(index)
        episode = session.episode
        assert episode is not None
        for reply in replies:
            if not episode.done:
                episode.step(reply)
        if not episode.done:
            break
    assert episode is not None
    while not episode.done and len(replies) < 60:
        replies.append(player.reply(episode))
        episode.step(replies[-1])
    turns = episode.turns
    return Script(
        env,
        options,
        index,
        replies[: len(turns)],
        [turn.reward for turn in turns],
        str(episode.end_reason),
        told(episode.record().to_json()),
    )


def told(record: Any) -> dict[str, Any]:
    """Return a record without the player's name and what a model's replies cost."""
    return {
        **{name: value for name, value in record.items() if name != "player"},
        "turns": [{name: value for name, value in turn.items() if name != "usage"} for turn in record["turns"]],
    }
