"""The play of an episode: what options of play mean, with those that every environment has."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from waybench.core._context import CONTEXT_TOKENS, Others, in_context, take_context, without_context
from waybench.core._errors import UsageError
from waybench.core._game import A, Game, I, Json, Limits, S
from waybench.core._images import IMAGE_OPTIONS, has_images, without_images
from waybench.core._options import IMAGE_WORDINGS, WORDING, resolve
from waybench.core._picture import Picture
from waybench.core._prefix import PREFIX, PREFIX_REPLIES, take_prefix
from waybench.core._random import Stream
from waybench.core._reasoning import THINK_TAGS, ReplyParts, split_reasoning, take_think_tags
from waybench.core._record import TurnRecord
from waybench.core._template import TEMPLATE, resolve_template, stored_template, without_template
from waybench.core._tool_wording import (
    TOOLS_PREFIX,
    ToolWording,
    is_tool_name,
    read_calls,
    take_interface,
    with_tools,
    without_tools,
    write_calls,
)
from waybench.core._wording import Wording

if TYPE_CHECKING:
    from waybench.core._environment import Environment


@dataclass(frozen=True, slots=True)
class Play(Generic[I, S, A]):
    """The play of an episode, as options determine it.

    Attributes:
        game: The rules.
        wording: The words.
        limits: What ends an episode from outside.
        turns: Instance -> most turns, where that depends on the instance; it has the last word over the limits'.
        guide: (state, random stream, turns so far) -> the action of a teacher that is carried out in place of whatever
            the player says (teacher guiding); None to let the player play this turn by itself. The player's reply is
            read and recorded, and in the chat the teacher's answer stands in its place.
        coach: (state, action, turns so far) -> why a legal action is refused, the message to the player; None
            to let it pass. A refused reply costs nothing, so a coach has to give in at some time.
        think_tags: Marks of the player's reasoning in addition to those that waybench knows; None without.
    """

    game: Game[I, S, A]
    wording: Wording[I, S, A]
    limits: Limits
    turns: Callable[[I], int] | None = None
    guide: Callable[[S, Stream, Sequence[TurnRecord]], A | None] | None = None
    coach: Callable[[S, A, Sequence[TurnRecord]], str | None] | None = None
    think_tags: str | None = None

    def most_turns(self, instance: I) -> int:
        """Return the most turns of an episode on an instance."""
        return self.limits.turns if self.turns is None else self.turns(instance)

    def parts_of(self, reply: str) -> ReplyParts:
        """Return a reply's answer, as the wording reads it, and its reasoning; of calls of tools, beside them."""
        if not isinstance(self.wording, ToolWording):
            return split_reasoning(reply, self.think_tags)
        said = read_calls(reply)
        answer, reasoning = split_reasoning(said.text, self.think_tags)
        return ReplyParts(reply if said.calls or not reasoning else write_calls(answer, ()), reasoning)

    def limits_on(self, instance: I) -> Limits:
        """Return the limits of an episode on an instance."""
        return _with_turns(self.limits, self.most_turns(instance))


class PromptKinds(NamedTuple):
    """What a model has to take beside texts of the user.

    Attributes:
        picture: A picture like those of the messages; None if they have none.
        has_tools: Whether the player acts by tools.
        has_system: Whether there are system messages.
    """

    picture: Picture | None = None
    has_tools: bool = False
    has_system: bool = False

    def __or__(self, other: "PromptKinds") -> "PromptKinds":
        """Return what a model has to take for both."""
        return PromptKinds(
            self.picture or other.picture, self.has_tools or other.has_tools, self.has_system or other.has_system
        )


TEXT_PROMPTS = PromptKinds()


@lru_cache(maxsize=256)  # most episodes have those of another one, and `replace` takes long
def _with_turns(limits: Limits, turns: int) -> Limits:
    return replace(limits, turns=turns)


def resolve_play_options(environment: "Environment[Any, Any, Any]", values: Mapping[str, Json]) -> dict[str, Json]:
    """Return all options of play of an environment with their values (`Environment.resolve_options`)."""
    given = dict(values)
    by_tools = take_interface(given)
    prefix, replies = take_prefix(environment, given), given.pop(PREFIX_REPLIES, None)
    think_tags = take_think_tags(given)
    context = take_context(given, allowed=environment.takes_context)
    stored = given.pop(TEMPLATE, None)
    resolved = resolve(environment.options, given)
    template = resolve_template(environment.options, resolved, stored)
    if without_template(resolved)[WORDING] not in IMAGE_WORDINGS:
        resolved = {name: value for name, value in resolved.items() if name not in IMAGE_OPTIONS}
    if template is not None:
        environment.play_with(resolved)
    if by_tools:
        if has_images(resolved):
            raise UsageError("interface=tools: results of tools are texts; choose a wording without pictures")
        resolved[WORDING] = f"{TOOLS_PREFIX}{resolved[WORDING]}"
    if context and has_images(resolved):
        raise UsageError(f"{CONTEXT_TOKENS}={context[CONTEXT_TOKENS]}: texts only; choose a wording without pictures")
    resolved |= context | think_tags
    if prefix is None:
        return resolved
    return {**resolved, PREFIX: prefix, **({} if replies is None else {PREFIX_REPLIES: replies})}


def play_with_options(environment: "Environment[Any, Any, Any]", options: Mapping[str, Json]) -> Play[Any, Any, Any]:
    """Return how an episode is played with resolved options (`Environment.play_with`)."""
    if THINK_TAGS in options:
        others = {name: value for name, value in options.items() if name != THINK_TAGS}
        return replace(environment.play_with(others), think_tags=options[THINK_TAGS])
    if CONTEXT_TOKENS in options:
        played = environment.play_with(without_context(options))
        others = Others(environment.id, partial(_other_of_its_level, environment))
        # One turn: later messages would say again what had to be found.
        limits = replace(played.limits, turns=1)
        return replace(played, wording=in_context(options, played.wording, others), limits=limits, turns=None)
    if is_tool_name(options[WORDING]):
        played = environment.play_with(without_tools(options))
        return replace(played, wording=with_tools(played.wording))
    if TEMPLATE in options:
        own = next(option for option in environment.options if option.name == WORDING)
        template = stored_template(options[TEMPLATE], str(options[WORDING]), own)
        played = environment.play_with(without_template(options))
        return replace(played, wording=template.around(played.wording))
    if environment.images is not None and has_images(options):
        played = environment.play(without_images(options))
        return replace(played, wording=environment.images.around(played.wording, options))
    return environment.play(options)


def _other_of_its_level(environment: "Environment[Any, Any, Any]", instance: Any, key: str) -> Any:
    options = resolve(environment.source_options, {})
    return environment.make_source(key, environment.level_of(instance), options).item(0).instance


def wording_name(environment: "Environment[Any, Any, Any]", options: Mapping[str, Json]) -> str:
    """Return the name of a wording with its options, so that pictures of another size are another wording.

    Args:
        environment: The environment.
        options: Resolved options of play.

    Returns:
        Such as "matrix", or "image (image_size=512)" where an option of pictures has not its default.
    """
    defaults = {option.name: option.default for option in environment.options if option.name in IMAGE_OPTIONS}
    changed = [f"{name}={options[name]}" for name in defaults if options.get(name, defaults[name]) != defaults[name]]
    return f"{options[WORDING]} ({', '.join(changed)})" if changed else str(options[WORDING])
