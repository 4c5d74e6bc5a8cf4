"""An episode that a person plays, and what a person types in place of a reply."""

from collections.abc import Mapping, Sequence
from typing import Any

from waybench.core import Board, Episode, EpisodeRecord, Json, Metric, Reply, TypedAction, Usage, UsageError, plural

LONGEST = 100_000  # characters of a reply


def typed_actions(episode: Episode[Any, Any, Any]) -> Sequence[TypedAction]:
    """Return the actions that a person can choose from now; empty where the environment lists none."""
    listed = episode.environment.typing.actions
    return () if listed is None or episode.done else listed(episode.state)


def reply_for(typed: str, episode: Episode[Any, Any, Any]) -> str | None:
    """Return the reply that a typed line stands for.

    What a list of actions shows comes first: a number of it is the action that it is beside, whatever the protocol
    would read in the number. A line that the wording understands is a reply as it is. So is one with a brace, even if
    it turns out to be malformed: that costs a person what it costs a model. Any other line is for the environment's
    `parse_typed`, if it has one.

    Args:
        typed: The line.
        episode: The episode it is for.

    Returns:
        The reply; None if the line is neither, and the person should try again at no cost.
    """
    wording, parse_typed, state = episode.play.wording, episode.environment.typing.parse, episode.state
    if len(typed) > LONGEST:
        return None
    if parse_typed is not None and any(typed.strip() == action.typed for action in typed_actions(episode)):
        action = parse_typed(typed, state)
        if action is not None:
            return wording.render(action, state)
    if "{" in typed or wording.understands(typed, state):
        return typed
    action = None if parse_typed is None else parse_typed(typed, state)
    return None if action is None else wording.render(action, state)


LONGEST_NAME = 60  # characters of a player's
_REPLIES = "Type the reply."


class PlayedEpisode:
    """An episode with a person in a model's place.

    Requests for a thought are answered with an empty reply, before the person sees anything.

    Args:
        episode: The episode.
        task: The name of the task, for the record.
        settings: How the item was generated, likewise.

    Attributes:
        episode: The episode.
        message: The last message to the player; at the start, the whole prompt.
    """

    def __init__(self, episode: Episode[Any, Any, Any], task: str, settings: Mapping[str, Json]) -> None:
        self.episode = episode
        self._task, self._settings = task, settings
        self._thoughts = 0  # before each action
        self.message = self._without_thoughts(self.prompt)

    @property
    def title(self) -> str:
        """The environment, the level and the item."""
        item = self.episode.item
        return f"{self.episode.environment.id}, level {item.level}, item {item.id} of key {item.key_label}"

    @property
    def prompt(self) -> str:
        """Everything that a model receives now, as text."""
        return "\n\n".join(message.text for message in self.episode.messages)

    @property
    def help(self) -> str:
        """What a person can type."""
        return self.episode.environment.typing.help or _REPLIES

    @property
    def actions(self) -> Sequence[TypedAction]:
        """The actions that a person can choose from now."""
        return typed_actions(self.episode)

    @property
    def board(self) -> Board | None:
        """What a person sees of the state; None if the environment has no board."""
        board = self.episode.environment.presentation.board
        return None if board is None else board(self.episode.state, self.episode.turns)

    @property
    def status(self) -> str:
        """How many requests for an action are left, and the steps so far."""
        left = -(-self.episode.turns_left // (1 + self._thoughts))
        shown = [f"{plural(left, 'request')} left"]
        shown += [f"steps so far: {value:g}" for metric, value in self.measured() if metric.name == "steps"]
        return ", ".join(shown)

    def take(self, typed: str, seconds: float | None = None) -> bool:
        """Carry out what a person has typed.

        Args:
            typed: A line, or several.
            seconds: How long the person took.

        Returns:
            False if it is not understood: then it costs nothing, and the person can try again.
        """
        reply = self.reply_for(typed)
        if reply is None:
            return False
        self.send(reply, seconds)
        return True

    def reply_for(self, typed: str) -> str | None:
        """Return the reply that a typed text stands for; None if it is not understood, or the episode is over."""
        return None if self.episode.done else reply_for(typed, self.episode)

    def send(self, reply: str, seconds: float | None = None) -> None:
        """Take a reply as it is."""
        turn = self.episode.step(Reply(reply, usage=None if seconds is None else Usage(seconds=seconds)))
        self.message = self._without_thoughts(turn.message)

    def _without_thoughts(self, message: str) -> str:
        """Answer requests for a thought with nothing; return a message with the request for an action instead."""
        episode, self._thoughts = self.episode, 0
        while question := episode.play.wording.thought_question(episode.state):
            message = message.removesuffix(question).rstrip()
            if episode.done:
                break
            self._thoughts += 1
            message = f"{message}\n\n{episode.step(Reply('')).message}"
        return message

    def hint(self) -> str:
        """Return the oracle's next action as a person types it."""
        environment, state = self.episode.environment, self.episode.state
        action = environment.players.policies["oracle"](state, self.episode.stream("player oracle"))
        if environment.typing.format is not None:
            return f"Hint: {environment.typing.format(action)[0]}"
        return f"Hint: {self.episode.play.wording.render(action, state)}"

    def measured(self) -> list[tuple[Metric, float]]:
        """Return the metrics that have a value now."""
        record = self.episode.record()
        values = [(metric, metric.of(record)) for metric in self.episode.environment.scoring.metrics]
        return [(metric, value) for metric, value in values if value is not None]

    def result(self) -> list[str]:
        """Return how the episode ended, and the values of its metrics, as lines."""
        end = self.episode.end_reason
        found = ["Stopped before the end." if end is None else f"{str(end).replace('_', ' ').capitalize()}."]
        values = self.values()
        width = max((len(title) for title, _ in values), default=0)
        return [*found, *(f"  {title:<{width}}  {value}" for title, value in values)]

    def values(self) -> list[tuple[str, str]]:
        """Return titles and values of the metrics, the headline metric first."""
        return [
            (metric.title, f"{metric.labels[int(value)] if metric.labels else f'{value:g}'} {metric.unit}".rstrip())
            for metric, value in self.measured()
        ]

    def solution(self) -> str:
        """Return a shortest solution in a sentence; "" where none is known."""
        solution, format_typed = self.episode.item.proof.get("solution"), self.episode.environment.typing.format
        if not solution or format_typed is None:
            return ""
        return f"A shortest solution: {', '.join(format_typed(self.episode.play.game.decode(solution)))}"

    def record(self) -> dict[str, Json]:
        """Return the record so far as `waybench report` reads it."""
        record: EpisodeRecord = self.episode.record()
        return {**record.to_json(), "task": self._task, "settings": dict(self._settings)}


def player_name(name: str, *, hints: bool = False) -> str:
    """Return what a record calls a person.

    Raises:
        UsageError: If the name is none that a table can show.
    """
    name = name.strip()
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise UsageError(f"--player {name[:40]!a}: give a name of at most {LONGEST_NAME} printable characters")
    return f"human{f'/{name}' if name else ''}{' with hints' if hints else ''}"
