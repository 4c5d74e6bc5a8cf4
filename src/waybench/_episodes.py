"""Episodes: listing environments, playing one item, scoring stored replies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from waybench._scoring import episode_of_line, find_environment
from waybench.core import (
    End,
    Entry,
    EpisodeRecord,
    Json,
    Message,
    Policy,
    UsageError,
    play_to_end,
    policy,
    unknown_name_message,
)
from waybench.core._environment import AnyEnvironment
from waybench.core._episode import AnyEpisode
from waybench.envs import registry


class Prompt(str):
    """The prompt for a reply: the new text, and the whole conversation.

    Attributes:
        messages: The conversation so far as `{"role": ..., "content": ...}`, as chat models take it. Where the
            environment itself repeats the history, it is one message in every turn.
        pictures: The pictures of the new messages as SVG; empty for a wording without pictures.
    """

    messages: list[dict[str, str]]
    pictures: list[str]

    def __new__(cls, messages: Sequence[Message]) -> "Prompt":
        """Return the prompt of a conversation: the text since the last reply."""
        reply_indices = [index for index, message in enumerate(messages) if message.role == "assistant"]
        new_messages = messages[reply_indices[-1] + 1 :] if reply_indices else messages
        prompt = super().__new__(cls, "\n\n".join(message.text for message in new_messages))
        prompt.messages = [{"role": message.role, "content": message.text} for message in messages]
        prompt.pictures = [message.picture.svg for message in new_messages if message.picture is not None]
        return prompt


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """One episode with its numbers.

    Attributes:
        record: The record, enough to simulate and score the episode again.
        metrics: Metric -> value, the headline metric first; None where a metric is not defined for the episode.
        series: Series -> one value for each step.
    """

    record: EpisodeRecord
    metrics: Mapping[str, float | None]
    series: Mapping[str, tuple[float, ...]]

    @property
    def score(self) -> float | None:
        """The value of the headline metric."""
        return next(iter(self.metrics.values()))

    @property
    def end(self) -> End | None:
        """The end of the episode; None if the replies ran out before it."""
        return self.record.end

    @property
    def solved(self) -> bool:
        """Whether the episode ended as solved."""
        return self.record.end is End.SOLVED

    def __repr__(self) -> str:
        metrics = ", ".join(f"{name}={value:g}" for name, value in self.metrics.items() if value is not None)
        return f"<EpisodeResult {self.record.env}: {self.end or 'unfinished'}, {metrics}>"


class _FunctionPlayer(Policy):
    """A function of text to text as a player."""

    def __init__(self, function: Callable[[Prompt], str]) -> None:
        self.name = getattr(function, "__name__", type(function).__name__)
        self._function = function

    def reply(self, episode: AnyEpisode) -> str:
        """Return the function's reply to the prompt."""
        reply = cast(object, self._function(Prompt(episode.messages)))
        if not isinstance(reply, str):
            raise UsageError(f"the player returned {type(reply).__name__}: return the reply as a string")
        return reply


def list_environments() -> list[Entry]:
    """Return all environments, those of installed packages included.

    Returns:
        Their entries, sorted by id, each with `id`, `version` and `summary`. `load` takes the id.
    """
    return list(registry.entries)


def load(env_id: str) -> AnyEnvironment:
    """Load an environment by its registered id, or by the name of a task that plays no other environment.

    Args:
        env_id: An id such as ``"maze/alicia"``, ``"maze/alicia@1"`` to insist on a version, or the name of a family or
            task, such as ``"alicia"``. What a task fixes is the default of the environment's options then.

    Raises:
        waybench.core.UsageError: If no environment has this name or version, or the task plays several; the message
            says what can be named.
    """
    return find_environment(env_id)


def play(
    env: str | AnyEnvironment,
    player: str | Policy | Callable[[Prompt], str] = "oracle",
    *,
    level: int | None = None,
    key: str | None = None,
    index: int = 0,
    attempt: int = 1,
    **options: Json,
) -> EpisodeResult:
    """Play one item to its end.

    Args:
        env: The environment, or its name as `load` takes it.
        player: A function that returns a reply to a `Prompt` (a text), a `waybench.core.Policy`, or the name of a
            reference player: ``"null"``, ``"random"``, ``"heuristic"``, ``"oracle"``, ``"noisy-0.1"``.
        level: The level; the environment's smallest if None.
        key: The key of the set that the item is from; the public set if None.
        index: The item's number in the set, from 0.
        attempt: The number of the attempt at the item, from 1.
        **options: Options of play (``protocol``, ``wording``, ...) and source options of the environment.

    Returns:
        The episode's record and metrics.

    Raises:
        waybench.core.UsageError: For an unknown environment, player, level or option.
    """
    environment = find_environment(env) if isinstance(env, str) else env
    source_names = {option.name for option in environment.items.options}
    names = {option.name for option in environment.play_options} | source_names
    for name in options:
        if name not in names:
            raise UsageError(unknown_name_message(f"option of {environment.id}", name, names))
    source_options = {name: options[name] for name in options if name in source_names}
    play_options = environment.resolve_options({name: options[name] for name in options if name not in source_names})
    source = environment.source(key, level, protocol=str(play_options["protocol"]), **source_options)
    if isinstance(player, str):
        player = policy(player)
    elif not isinstance(player, Policy):
        player = _FunctionPlayer(player)
    return result_of_episode(play_to_end(environment, source.item(index), player, play_options, attempt=attempt))


def score(line: Mapping[str, Json]) -> EpisodeResult:
    """Score stored replies, or a stored record, without a model.

    Args:
        line: An object as `waybench score` reads it: ``"env"``, ``"instance"`` and ``"replies"``, and if need be
            ``"options"``, ``"examples"`` and ``"attempt"``; or an episode's record as JSON, which is simulated again.

    Returns:
        The episode's record and metrics. Its end is None if the replies ran out before the episode's end.

    Raises:
        waybench.core.WaybenchError: If the object is neither, or if a record does not agree with its simulation.
    """
    return result_of_episode(episode_of_line(dict(line)))


def result_of_episode(episode: AnyEpisode) -> EpisodeResult:
    """Return an episode with its metrics; they are None after an infrastructure error."""
    record, environment = episode.record(), episode.environment
    if record.end is End.INFRASTRUCTURE:
        return EpisodeResult(record, {metric.name: None for metric in environment.scoring.metrics}, {})
    return EpisodeResult(
        record,
        environment.measure(record),
        {series.name: tuple(series.of(record)) for series in environment.scoring.series},
    )
