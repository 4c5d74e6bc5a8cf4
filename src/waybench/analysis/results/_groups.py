"""Groups of rows: what is never pooled with anything else."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import NamedTuple

from waybench.analysis.logs import SCALARS
from waybench.core import CONTEXT_TOKENS, IMAGE_OPTIONS, PREFIX, PREFIX_REPLIES, TEMPLATE, Json, Option
from waybench.envs import registry

EXAMPLES = "examples"  # the setting that says how many in-context examples there were
# The option along which a search goes, and what stands in its place: the episodes of the search belong together.
SEARCHED: Mapping[str, tuple[str, str]] = {
    "steps_left": (PREFIX, "oracle:-N"),
    "random_steps": (PREFIX, "oracle:K+random:N"),
    "context_length": (CONTEXT_TOKENS, "N"),
}
NOT_IN_GROUPS = (TEMPLATE, PREFIX_REPLIES, *IMAGE_OPTIONS)  # other options name what is in them


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The unit of estimates: one model at one task with the same settings. Different settings are never pooled.

    Attributes:
        model: The model as the user named it.
        task: The task's name.
        env: The environment's id.
        version: The environment's version; scores of different versions are not comparable.
        options: All options of play, how the items were drawn and the model's settings, as (name, value); and the
            number of in-context examples as "examples", where there were any.
        key: The key of the set of items.
        embedded: Whether the player is one of waybench's own.
    """

    model: str
    task: str
    env: str
    version: int
    options: tuple[tuple[str, Json], ...]
    key: str
    embedded: bool = False

    @property
    def settings(self) -> dict[str, Json]:
        """Everything but the model, by name."""
        return {"task": self.task, "version": self.version, **dict(self.options), "key": self.key}

    @property
    def examples(self) -> int:
        """Number of in-context examples."""
        return dict(self.options).get(EXAMPLES, 0)

    @property
    def apart(self) -> tuple[str, ...]:
        """Those of its settings, in words, that keep its scores out of others' tables.

        These are those options that declare it (`Option.separate_tables`), a prefix, and a context.
        """
        own, names = dict(self.options), {**_apart(self.env), PREFIX: None, CONTEXT_TOKENS: None}
        return tuple(f"{name}: {own[name]}" for name, default in names.items() if own.get(name, default) != default)

    def without(self, option: str) -> "Group":
        """Return the group with one option left out."""
        return replace(self, options=tuple((name, value) for name, value in self.options if name != option))

    def without_key(self) -> "Group":
        """Return the group of any set of items."""
        return replace(self, key="")

    def to_json(self) -> dict[str, Json]:
        """Return the group as JSON values."""
        return {**asdict(self), "options": dict(self.options)}


class Cluster(NamedTuple):
    """The independent sampling unit: an instance, or what several instances share, such as a map with its questions.

    Attributes:
        name: Its name within its set and level; of an instance its SHA-256.
        key: The set's key; "" of an instance, which is the same wherever it is met.
        level: The level; 0 of an instance.
    """

    name: str
    key: str = ""
    level: int = 0


@cache  # every row asks for them
def option_defaults(env: str) -> Mapping[str, Json]:
    """Return the defaults of an environment's options, but for those that only say how many items there are."""
    return {option.name: option.default for option in declared(env) if not option.is_count}


@cache
def _apart(env: str) -> Mapping[str, Json]:
    """Return the defaults of the options that make something else of an environment."""
    return {option.name: option.default for option in declared(env) if option.separate_tables}


def option_setting(value: Json, default: Json) -> Json:
    """Return an option's value as groups have it: a plain one, and not the number 1 where another group has True."""
    if type(default) is bool and type(value) is int:
        return str(value)
    return value if isinstance(value, SCALARS) else json.dumps(value, default=str)


def declared(env: str) -> tuple[Option, ...]:
    """Return all options of an environment: of play, but for those that the name of a wording has, and of its items."""
    environment = registry.load(env)
    played = (option for option in environment.playing.options if option.name not in IMAGE_OPTIONS)
    return (*played, *environment.items.options)
