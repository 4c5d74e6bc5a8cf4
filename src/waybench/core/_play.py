"""How an episode is played: declared options, and game, wording and limits as they determine them."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Generic, NamedTuple

from waybench.core._errors import UsageError, unknown_name_message
from waybench.core._game import A, Game, I, Json, Limits, S, Stream
from waybench.core._record import TurnRecord
from waybench.core._replies import ReplyParts, split_reasoning
from waybench.core._wording import Picture, Wording

WORDING = "wording"  # the option of every environment that chooses its texts
IMAGE, IMAGE_AND_TEXT = IMAGE_WORDINGS = ("image", "image+text")  # further wordings of environments with pictures
AGENT = "agent"  # the parameter of tasks that names what works out the replies in the model's place
SHARD = "shard"  # the parameter of tasks that names a range of the items of a fixed set
STREAM = "stream"  # the parameter of logs that says what a comparison plays until it is decided
PROBE = "probe"  # the parameter of tasks that says before which turns belief probes are asked
# Parameters of tasks beside the options of an environment: an option of such a name could not be given.
RESERVED_NAMES = frozenset(
    (
        *("source", "level", "key", "limit", "attempts", "data_dir", "isomorph", AGENT, SHARD, PROBE, STREAM),
        *("axis", "first_steps", "longest_context", "precision", "share", "budget", "prices", "most", "batch"),
        *("difficulty_index", "easiest", "hardest"),
    )
)
# Reserved names of parameters that change which items are played or what is measured, but not how items are played.
_NAMES_WITHOUT_EFFECT_ON_PLAY = frozenset(
    ("key", "limit", "data_dir", SHARD, PROBE, "budget", "prices", "most", "batch")
)
EASIER, HARDER, OTHER, NO_EFFECT = "easier", "harder", "other", "none"  # effects of options
TEMPLATE_PREFIX = "file:"  # the beginning of a value that names a file of the user's


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One setting of an environment.

    Attributes:
        name: Its key.
        default: Its value if not given; its type is the option's type. None stands for "the other options decide" or
            "no limit", and `kind` gives the type then.
        doc: One sentence on what it does.
        choices: The values it can have, if they can be listed. The option `wording` also takes "file:PATH", a template.
        image_choices: Further choices of the option `wording`, of environments with pictures. They are not among
            `choices`, so that code which goes through all wordings leaves them out.
        low: Least value of a number.
        high: Greatest value of a number.
        kind: The type, where the default is None.
        effect: The effect of a larger number, or of true, on items: `EASIER`, `HARDER`, or `OTHER` where neither holds
            for all items; `NO_EFFECT` where its value does not change how items are played.
        is_count: Whether it only sets the number of items, and does not change how they are played.
        separate_tables: Whether scores with different values of it are not comparable, so that no table mixes them.
        or_number: Whether an option that is true or false takes a whole number from `low` to `high` too, such as for
            how many steps it holds.
        number_title: What such a number is called beside results; by default the option's name.
        local: Whether a value can be the path of a file of this machine, so that servers must not let others choose it.
    """

    name: str
    default: Json
    doc: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    kind: type | None = None
    effect: str = OTHER
    is_count: bool = False
    separate_tables: bool = False
    or_number: bool = False
    number_title: str = ""
    image_choices: tuple[str, ...] = ()
    local: bool = False

    @property
    def type(self) -> type:
        """The type of its values."""
        return self.kind or type(self.default)

    @property
    def changes_play(self) -> bool:
        """Whether another value than the default changes the items or how they are played."""
        return not (self.is_count or self.effect == NO_EFFECT or self.name in _NAMES_WITHOUT_EFFECT_ON_PLAY)

    @property
    def all_choices(self) -> tuple[str, ...]:
        """The values that it can have, wordings with pictures included."""
        return (*self.choices, *self.image_choices)

    def check(self, value: Json) -> Json:
        """Return the value, converted from text if need be.

        Raises:
            UsageError: If the value is of another type, not among the choices or out of range.
        """
        if value is None and self.default is None:
            return None
        value = self._convert_to_type(value)
        is_template = self.name == WORDING and value.startswith(TEMPLATE_PREFIX)
        if self.choices and value not in self.all_choices and not is_template:
            raise UsageError(unknown_name_message(f"{self.name}", str(value), self.all_choices))
        if self.or_number and type(value) is bool:  # the bounds below are for its numbers
            return value
        if (self.low is not None and value < self.low) or (self.high is not None and value > self.high):
            low, high = (None if bound is None else f"{bound:.12g}" for bound in (self.low, self.high))
            bounds = f"up to {high}" if low is None else f"from {low} " + (f"to {high}" if high else "upwards")
            raise UsageError(f"option {self.name}={str(value)[:40]} is out of range: give a number {bounds}")
        return value

    def _convert_to_type(self, value: Json) -> Json:
        """Return a value converted from text or a number to the type of the option; raise a UsageError if unfit."""
        type_ = self.type
        if type_ is str and isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)  # a key such as 2026 that a command line has read as a number
        if type_ is not str and isinstance(value, str):
            with suppress(ValueError, RecursionError):  # the type check below refuses other text
                value = json.loads(value.strip().lower())
        if type_ is float and type(value) is int and abs(value) < 2**53:  # larger ones are not exact as floats
            value = float(value)
        if self.or_number and type(value) is int:
            return value
        is_nan = value != value
        if type(value) is not type_ or value in (math.inf, -math.inf) or is_nan:
            names = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
            what = "true, false or a whole number" if self.or_number else names[type_]
            raise UsageError(f"option {self.name}={str(value)[:40]!r}: give {what}")
        return value


class Contrast(NamedTuple):
    """Two values of an option of play that differ in one demand, so that the difference at the same items is its cost.

    Attributes:
        option: The option, whose name says what a value is ("condition").
        base: The value without the demand; "none" stands for that of an option which is not given.
        demanding: The value with the demand; "" for each value other than `base` that was played.
        demand: The demand, as it follows "the cost of": "reading a drawing".
        goes_with: Further options that are given only together with the demanding value.
    """

    option: str
    base: str
    demanding: str
    demand: str
    goes_with: tuple[str, ...] = ()


def number_option(
    name: str, low: int, high: int, doc: str, default: int | None = None, *, effect: str = OTHER, is_count: bool = False
) -> Option:
    """Return an option that takes a whole number from `low` to `high`, or None by default."""
    return Option(name=name, default=default, kind=int, low=low, high=high, doc=doc, effect=effect, is_count=is_count)


_COMMON_OPTIONS = (
    Option(name="protocol", default="sound", choices=("sound",), doc="There is one: nothing is published."),
    Option(name=WORDING, default="plain", choices=("plain",), doc="There is one."),
)


def with_common_options(options: Sequence[Option]) -> tuple[Option, ...]:
    """Return an environment's options of play with `protocol` and `wording` added if it has none of its own."""
    declared = {option.name for option in options}
    return (*(option for option in _COMMON_OPTIONS if option.name not in declared), *options)


def resolve(options: Iterable[Option], values: Mapping[str, Json], kind: str = "option") -> dict[str, Json]:
    """Return every option's value, given or default.

    Numbers and booleans in `values` may be text. `kind` is what messages call the options.

    Raises:
        UsageError: For an unknown name or an unfit value.
    """
    declared = {option.name: option for option in options}
    for name in values:
        if name not in declared:
            raise UsageError(unknown_name_message(kind, str(name), declared))
    return {name: option.check(values[name]) if name in values else option.default for name, option in declared.items()}


@dataclass(frozen=True, slots=True)
class Play(Generic[I, S, A]):
    """The play of an episode, as options determine it.

    Attributes:
        limits: The limits of an episode, and the cost of invalid replies.
        turns: Instance -> most turns, which replaces the limit on turns of `limits`; None where the limit does not
            depend on the instance.
        guide: (state, random stream, turns so far) -> the action of a teacher that is carried out in place of the
            player's (teacher guiding), or None to let the player play this turn. The player's reply is read and
            recorded, and the chat shows the teacher's answer in its place. None without a teacher.
        coach: (state, action, turns so far) -> the message to the player that refuses a legal action, or None to allow
            it. A refused reply counts towards no limit, so a coach must allow some action at last. None without a
            coach.
        think_tags: Marks of the player's reasoning in addition to those that waybench knows; None without.
        split_reply: (reply, think_tags) -> the answer in the reply, which the wording reads, and its reasoning.
        prefix_turns: New episode -> the turns of other players before it is handed over to its own player, as (player,
            reply); None without a prefix.
        takes_probes: Whether belief probes can be asked; False for wordings that may hide what probes ask for.
    """

    game: Game[I, S, A]
    wording: Wording[I, S, A]
    limits: Limits
    turns: Callable[[I], int] | None = None
    guide: Callable[[S, Stream, Sequence[TurnRecord]], A | None] | None = None
    coach: Callable[[S, A, Sequence[TurnRecord]], str | None] | None = None
    think_tags: str | None = None
    split_reply: Callable[[str, str | None], ReplyParts] = split_reasoning
    prefix_turns: Callable[[Any], Iterable[tuple[str, str]]] | None = None
    takes_probes: bool = True

    def most_turns(self, instance: I) -> int:
        """Return the limit on turns of an episode on an instance."""
        return self.limits.turns if self.turns is None else self.turns(instance)

    def reply_parts(self, reply: str) -> ReplyParts:
        """Return the answer and the reasoning of a reply."""
        return self.split_reply(reply, self.think_tags)

    def limits_on(self, instance: I) -> Limits:
        """Return the limits of an episode on an instance."""
        return _with_turn_limit(self.limits, self.most_turns(instance))


class PromptKinds(NamedTuple):
    """The kinds of input that a model has to accept beside the user's texts.

    Attributes:
        picture: A picture like those of the messages; None if they have none.
        has_tools: Whether the player acts by tools.
        has_system: Whether there are system messages.
        agent_with_tools: The agent around the model that gives it tools; "" without one.
        notes: What users should know of the prompts.
    """

    picture: Picture | None = None
    has_tools: bool = False
    has_system: bool = False
    agent_with_tools: str = ""
    notes: tuple[str, ...] = ()

    def __or__(self, other: "PromptKinds") -> "PromptKinds":
        """Return the kinds of input that a model has to accept for the prompts of both."""
        return PromptKinds(
            self.picture or other.picture,
            self.has_tools or other.has_tools,
            self.has_system or other.has_system,
            self.agent_with_tools or other.agent_with_tools,
            tuple(dict.fromkeys((*self.notes, *other.notes))),
        )


TEXT_PROMPTS = PromptKinds()


@lru_cache(maxsize=256)  # `replace` is slow, and many episodes have equal limits
def _with_turn_limit(limits: Limits, turns: int) -> Limits:
    """Return limits with another limit on turns, from a cache."""
    return replace(limits, turns=turns)
