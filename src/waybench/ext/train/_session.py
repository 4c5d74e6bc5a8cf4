"""One environment as conversations with rewards, and splits of its items."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

from waybench.core import (
    End,
    Environment,
    Episode,
    EpisodeRecord,
    Instance,
    Item,
    Json,
    Outcome,
    Potential,
    Reply,
    Source,
    TurnRecord,
    UsageError,
    evenly_spaced_values,
    has_images,
    unknown_name_message,
)
from waybench.core._parts import shaping_reward
from waybench.envs import registry

LARGEST_BODY = 1 << 20  # bytes of a request
IDLE = 3600.0  # seconds after which a session that nobody uses is freed

I = TypeVar("I", bound=Instance)  # noqa: E741

TRAINING_KEY = "training"

# Split -> the last digits, from 0 to 9, of the instances' hashes as numbers.
SPLITS: Mapping[str, range] = MappingProxyType({"train": range(8), "validation": range(8, 9), "test": range(9, 10)})
_STRIDE = 1 << 40  # between the indices of an item's candidates, so that items of different indices share none
_MOST_TRIES = 400  # so many candidates are all outside a split of a tenth with a probability of 1e-18

ATTEMPTS = 2**31


def split_of(instance: Instance) -> str:
    """Return the name of the split that an instance belongs to.

    The split depends on the hash alone, so that no instance is in two splits, whatever the key.
    """
    digit = int(instance.hash[:15], 16) % 10
    return next(name for name, digits in SPLITS.items() if digit in digits)


class SplitSource(Source[I]):
    """The items of a source that are in one split.

    Item i is the first of the source's items i, i + 2**40, i + 2 * 2**40, ... that is in the split, and keeps its own
    number in `Item.index`, so that it is made again from key, level and index as any other item.

    Args:
        split: The name of the split: "train", "validation" or "test".

    Raises:
        UsageError: If there is no such split.
    """

    def __init__(self, source: Source[I], split: str) -> None:
        if split not in SPLITS:
            raise UsageError(unknown_name_message("split", split, SPLITS))
        self._source = source
        self.split = split

    def item(self, index: int) -> Item[I]:
        """Return the item number `index` of the split, from 0.

        Raises:
            UsageError: If the number is not from 0 to 2**40 - 1, or the level has too few different instances.
        """
        if not 0 <= index < _STRIDE:
            raise UsageError(f"index={index}: give a number from 0 to {_STRIDE - 1}")
        for candidate in range(index, index + _MOST_TRIES * _STRIDE, _STRIDE):
            item = self._source.item(candidate)
            if split_of(item.instance) == self.split:
                return item
        raise UsageError(
            f"the split {self.split} has no items here, for there are too few different ones: choose another level"
        )


@dataclass(frozen=True, slots=True)
class SessionTurn:
    """The result of a reply, or of the start of an episode, for the player.

    Attributes:
        text: The new text: the whole prompt at the start, afterwards the answer to the reply.
        messages: The prompt for the next reply as `{"role": ..., "content": ...}`, as chat models take it, cut as the
            wording's memory says.
        reward: The reward of the reply; 0 at the start.
        terminated: Whether the game has ended.
        truncated: Whether a limit has ended the episode.
        info: "item", "level" and "key"; "legal_actions", replies that the environment would carry out, all of them or
            some, evenly chosen; after a reply its "outcome" and the "reason" why it was not carried out, with shaped
            rewards also the "game_reward"; at the end "end" and the "metrics".
    """

    text: str
    messages: list[dict[str, str]]
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    info: dict[str, Json] = field(default_factory=dict[str, Json])

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return self.terminated or self.truncated


class Session:
    """One environment at one level: an episode at a time, in texts.

    Args:
        env: The environment, or its id in the catalogue.
        key: The set that items are drawn from; by default one for training, not the public set. Instances are still
            shared where a level has few of them: `maze/alicia`, from top to bottom and with the default loops, has 20
            mazes at level 5 and 1476 at level 7, so that training there meets the public ones too. From level 9 on
            (2.8 million mazes) it does but by rare chance. `source.space` is the number where it is known.
        level: The level; the smallest by default.
        split: "train", "validation" or "test": only items of this split (`SplitSource`); all items if None.
        source_options: How items are drawn.
        source: Where items come from in place of key, level and source options, such as `waybench.core.ItemList` of
            items of one's own.
        shaping: The name of one of the environment's potentials (`Players.potentials`) that shapes the rewards; ""
            for the environment's own rewards.
        discount: The discount factor of the training, for shaped rewards.
        legal_actions: Most replies in `info["legal_actions"]`; 0 for none, which saves their time.
        **options: Options of play.

    Attributes:
        source: Where items come from.
        episode: The present episode; None before the first one.

    Raises:
        UsageError: For an unknown environment, level, split or option.
    """

    def __init__(
        self,
        env: str | Environment[Any, Any, Any],
        *,
        key: str = TRAINING_KEY,
        level: int | None = None,
        split: str | None = None,
        source_options: Mapping[str, Json] | None = None,
        source: Source[Any] | None = None,
        shaping: str = "",
        discount: float = 1.0,
        legal_actions: int = 16,
        **options: Json,
    ) -> None:
        self.environment = registry.load(env) if isinstance(env, str) else env
        self.options = self.environment.resolve_options(options)
        if has_images(self.options):
            raise UsageError(f"wording={self.options['wording']}: a session has texts only; choose another wording")
        if source is None:
            protocol = str(self.options["protocol"])
            source = self.environment.source(key, level, protocol=protocol, **(source_options or {}))
        self.source = source if split is None else SplitSource(source, split)
        self.level = self.environment.items.smallest_level if level is None else level
        self.episode: Episode[Any, Any, Any] | None = None
        self._most_legal = legal_actions
        self._discount = discount
        self._potential: Potential[Any] | None = None
        if shaping:
            potentials = {potential.name: potential for potential in self.environment.players.potentials}
            if shaping not in potentials:
                raise UsageError(unknown_name_message(f"potential of {self.environment.id}", shaping, potentials))
            self._potential = potentials[shaping]

    @property
    def grows(self) -> bool:
        """Whether each prompt is the one before, the reply as it was said, and a new message.

        Where it is not, a program that keeps one growing conversation would show other prompts than the
        environment's.
        """
        play = self.environment.play_with(self.options)
        return play.wording.memory.kind == "chat" and play.guide is None and not play.wording.rewrites

    def start(self, index: int, attempt: int = 1, player: str = "") -> SessionTurn:
        """Start an episode; an episode that is not over is dropped.

        `index` is the item's number in the set, from 0, and `attempt` the number of the attempt at the item, from 1:
        games of chance differ between attempts. `player` is the name for the record.

        Raises:
            UsageError: If there is no such item, or the attempt is below 1.
        """
        if attempt < 1:
            raise UsageError(f"attempt={attempt}: attempts are numbered from 1")
        if index < 0:
            raise UsageError(f"index={index}: items are numbered from 0")
        item = self.source.item(index)
        self.episode = Episode(self.environment, item, self.options, attempt=attempt, player=player)
        return self._session_turn(self.episode, "\n\n".join(message.text for message in self.episode.messages), 0.0, {})

    def reply(self, reply: str | Reply) -> SessionTurn:
        """Play a turn with a reply.

        Raises:
            UsageError: Before the first episode, after the end of one, or if the reply is no text.
        """
        episode = self.episode
        if episode is None or episode.done:
            problem = "no episode has started" if episode is None else "the episode is over"
            raise UsageError(f"{problem}: start one")
        if not isinstance(reply, str | Reply):  # pyright: ignore[reportUnnecessaryIsInstance]  from untyped trainers
            raise UsageError(f"the reply is of type {type(reply).__name__}: give a text")
        state_before = episode.state
        turn = episode.step(reply)
        reward = turn.reward
        info: dict[str, Json] = {"outcome": str(turn.outcome), "reason": self._reason_not_carried_out(turn)}
        if self._potential is not None:
            info["game_reward"] = reward
            has_game_ended = episode.end_reason in (End.SOLVED, End.FAILED)
            reward += shaping_reward(self._potential, state_before, episode.state, has_game_ended, self._discount)
        return self._session_turn(episode, turn.message, reward, info)

    def _reason_not_carried_out(self, turn: TurnRecord) -> str | None:
        """Return why a reply was not carried out; None if it was."""
        if turn.outcome is not Outcome.ILLEGAL or turn.reason:
            return turn.reason
        return self.environment.playing.illegal or turn.message.partition("\n")[0]

    def record(self) -> EpisodeRecord:
        """Return the record of the present episode; raise a UsageError before the first one."""
        if self.episode is None:
            raise UsageError("no episode has started: start one")
        return self.episode.record()

    def _session_turn(
        self, episode: Episode[Any, Any, Any], text: str, reward: float, info: dict[str, Json]
    ) -> SessionTurn:
        """Return the result of a turn: its text, reward and `info`, completed by the item, actions and end."""
        item, end = episode.item, episode.end_reason
        info |= {"item": item.id, "level": item.level, "key": item.key_label}
        info["legal_actions"] = self._legal_replies(episode)
        if end is not None:
            info |= {"end": str(end), "metrics": self.environment.measure(episode.record())}
        has_game_ended = end in (End.SOLVED, End.FAILED)
        messages = [{"role": message.role, "content": message.text} for message in episode.messages]
        return SessionTurn(text, messages, reward, has_game_ended, end is not None and not has_game_ended, info)

    def _legal_replies(self, episode: Episode[Any, Any, Any]) -> list[str]:
        """Return replies for legal actions, at most `legal_actions` of them, evenly chosen."""
        if not self._most_legal or episode.done:
            return []
        play, state = episode.play, episode.state
        actions = evenly_spaced_values(play.game.legal(state), self._most_legal)
        return [play.wording.render(action, state) for action in actions]


def split_play_and_source_options(
    environment: Environment[Any, Any, Any], options: Mapping[str, Json]
) -> tuple[dict[str, Json], dict[str, Json]]:
    """Divide options into options of play and options of the source; raise a UsageError for others."""
    play_names = {option.name for option in environment.play_options}
    source_names = {option.name for option in environment.items.options}
    for name in options:
        if name not in play_names | source_names:
            raise UsageError(unknown_name_message(f"option of {environment.id}", name, play_names | source_names))
    return (
        {name: value for name, value in options.items() if name in play_names},
        {name: value for name, value in options.items() if name in source_names},
    )
