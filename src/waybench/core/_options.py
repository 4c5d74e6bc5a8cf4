"""Declared options: one mechanism for the command line, tasks, stored replies and the documentation."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from waybench.core._errors import UsageError, unknown
from waybench.core._game import Json

WORDING = "wording"  # the option that every environment has for its words
IMAGE, IMAGE_AND_TEXT = IMAGE_WORDINGS = ("image", "image+text")  # further wordings of environments with pictures
AGENT = "agent"  # the parameter of tasks that names what works out the replies in the model's place
SHARD = "shard"  # the parameter of tasks that names a range of the items of a fixed set
PROBE = "probe"  # the parameter of tasks that says before which turns belief probes are asked
TEMPLATE_PREFIX = "file:"  # what a value of it begins with that is no choice but a file of the user's


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One setting of an environment.

    Attributes:
        name: Its key.
        default: Its value if not given; its type is the option's type. None stands for "the other options decide" or
            "no limit", and then `kind` gives the type.
        doc: One sentence on what it does.
        choices: The values it can have, if they can be listed. The option `wording` also takes "file:PATH", a template.
        image_choices: Further choices of the option `wording`, which environments with pictures have. They are based
            on one of `choices`, and nothing that goes through all wordings goes through them, too.
        low: Least value of a number.
        high: Greatest value of a number.
        kind: The type, where the default is None.
        is_count: Whether it only sets the number of items, so that items are played alike whatever its value.
        separate_tables: Whether scores with different values of it are not comparable, so that no table mixes them.
        or_number: Whether an option that is true or false takes a whole number from `low` to `high` too, such as for
            how many steps it holds.
        local: Whether a value can be the path of a file of this machine, so that nobody else may choose it.
    """

    name: str
    default: Json
    doc: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    kind: type | None = None
    is_count: bool = False
    separate_tables: bool = False
    or_number: bool = False
    image_choices: tuple[str, ...] = ()
    local: bool = False

    @property
    def type(self) -> type:
        """The type of its values."""
        return self.kind or type(self.default)

    @property
    def all_choices(self) -> tuple[str, ...]:
        """The values that it can have, those with pictures included."""
        return (*self.choices, *self.image_choices)

    def check(self, value: Json) -> Json:
        """Return the value, read from text if need be.

        Raises:
            UsageError: If it is of another type, not among the choices or out of range.
        """
        if value is None and self.default is None:
            return None
        value = self._typed(value)
        if self.choices and value not in self.all_choices and not self._is_template(value):
            raise UsageError(unknown(f"{self.name}", str(value), self.all_choices))
        if self.or_number and type(value) is bool:  # the bounds are those of its numbers
            return value
        if (self.low is not None and value < self.low) or (self.high is not None and value > self.high):
            low, high = (None if bound is None else f"{bound:.12g}" for bound in (self.low, self.high))
            bounds = f"up to {high}" if low is None else f"from {low} " + (f"to {high}" if high else "upwards")
            raise UsageError(f"option {self.name}={str(value)[:40]} is out of range: give a number {bounds}")
        return value

    def _is_template(self, value: Json) -> bool:
        return self.name == WORDING and value.startswith(TEMPLATE_PREFIX)

    def _typed(self, value: Json) -> Json:
        want = self.type
        if want is str and isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)  # a key such as 2026 that a command line has read as a number
        if want is not str and isinstance(value, str):
            with suppress(ValueError, RecursionError):  # the type check below refuses it with the option's name
                value = json.loads(value.strip().lower())
        if want is float and type(value) is int and abs(value) < 2**53:
            value = float(value)
        if self.or_number and type(value) is int:
            return value
        if type(value) is not want or value in (math.inf, -math.inf) or value != value:
            names = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
            what = "true, false or a whole number" if self.or_number else names[want]
            raise UsageError(f"option {self.name}={str(value)[:40]!r}: give {what}")
        return value


_EVERYWHERE = (
    Option(name="protocol", default="sound", choices=("sound",), doc="There is one: nothing is published."),
    Option(name=WORDING, default="plain", choices=("plain",), doc="There is one."),
)


def with_common_options(options: Sequence[Option]) -> tuple[Option, ...]:
    """Return an environment's options of play, with `protocol` and `wording` where it does not declare them."""
    declared = {option.name for option in options}
    return (*(option for option in _EVERYWHERE if option.name not in declared), *options)


def resolve(options: Iterable[Option], values: Mapping[str, Json], kind: str = "option") -> dict[str, Json]:
    """Return every option's value, given or default.

    Args:
        options: The declared options.
        values: Values by name; numbers and booleans may be text.
        kind: What the options are called in an error.

    Raises:
        UsageError: For an unknown name or an unfit value.
    """
    declared = {option.name: option for option in options}
    for name in values:
        if name not in declared:
            raise UsageError(unknown(kind, str(name), declared))
    return {name: option.check(values[name]) if name in values else option.default for name, option in declared.items()}
