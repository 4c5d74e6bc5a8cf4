"""Groups of rows (one model at one task with the same settings), and short, distinct names for them."""

import json
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from waybench.core import (
    CONTEXT_TOKENS,
    EASIER,
    HARDER,
    LANGUAGE,
    PLAY_EXTENSIONS,
    PREFIX,
    STREAM,
    Environment,
    Json,
    Option,
)
from waybench.core._designs import SHOWN
from waybench.envs import registry
from waybench.results.formatting import one_line
from waybench.results.logs._settings import SCALARS

EXAMPLES = "examples"  # the setting that says how many in-context examples there were
REASONING_HISTORY = "reasoning_history"  # the setting of Inspect that says what reasoning is sent back
# Settings of the test beside the options of its environment; groups without them have the default.
TEST_SETTINGS = frozenset((EXAMPLES, LANGUAGE))
# The option along which a search goes, and what stands in its place: the episodes of the search belong together.
SEARCHED: Mapping[str, tuple[str, str]] = {
    "steps_left": (PREFIX, "oracle:-N"),
    "random_steps": (PREFIX, "oracle:K+random:N"),
    "context_length": (CONTEXT_TOKENS, "N"),
}
LONGEST = 60
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")  # of reasoning, rising
_ALWAYS_DISPLAYED = ("task", "version", "protocol", "key")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKey:
    """The unit of estimates: one model at one task with the same settings. Different settings are never pooled.

    Attributes:
        model: The model as the user named it.
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
    def environment(self) -> Environment[Any, Any, Any]:
        """The environment."""
        return registry.load(self.env)

    @property
    def settings(self) -> dict[str, Json]:
        """Everything but the model, by name."""
        return {"task": self.task, "version": self.version, **dict(self.options), "key": self.key}

    @property
    def examples(self) -> int:
        """Number of in-context examples."""
        return dict(self.options).get(EXAMPLES, 0)

    @property
    def separate_by(self) -> tuple[str, ...]:
        """The settings, as texts, that keep the group's scores out of others' tables.

        These are the options that declare separate tables (`Option.separate_tables`), such as a prefix, where they do
        not have their default, or where an environment compares their values (`Contrast`).
        """
        options, compared_options = dict(self.options), _compared_options(self.env)
        return tuple(
            f"{name}: {options[name]}"
            for name, default in _separating_defaults(self.env).items()
            if name in options and (options[name] != default or name in compared_options)
        )

    def guess_rates(self, axis: str) -> Mapping[float, float]:
        """Return the success rate of guessing by difficulty on an axis; empty if none is declared."""
        return self.environment.difficulty.guess_rates_on(axis, dict(self.options))

    @property
    def difficulty_options(self) -> tuple[str, ...]:
        """The options, as texts, that make the group's items easier or harder than by default (`Option.effect`)."""
        defaults = _difficulty_defaults(self.env)
        return tuple(f"{name}: {value}" for name, value in self.options if value != defaults.get(name, value))

    @property
    def is_default(self) -> bool:
        """Whether all options that keep scores out of others' tables have their defaults."""
        options, defaults = dict(self.options), _separating_defaults(self.env)
        return all(options.get(name, default) == default for name, default in defaults.items())

    def without_option(self, name: str) -> "RunKey":
        """Return the group without one option."""
        return replace(self, options=tuple((option, value) for option, value in self.options if option != name))

    def with_setting(self, name: str, value: Json) -> "RunKey":
        """Return the group with another value of one setting."""
        return replace(self, options=(*self.without_option(name).options, (name, value)))

    def without_key(self) -> "RunKey":
        """Return the group with an empty key, the same for all sets of items."""
        return replace(self, key="")

    def to_json(self) -> dict[str, Json]:
        """Return the group as JSON values."""
        return {**asdict(self), "options": dict(self.options)}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupResult:
    """A result of one group of rows."""

    group: RunKey

    def to_json(self) -> dict[str, Json]:
        """Return the result as JSON values; unknown values are null."""
        return {**asdict(self), "group": self.group.to_json()}


class Cluster(NamedTuple):
    """The independent sampling unit: an instance, or what several instances share, such as a map with its questions.

    Attributes:
        name: Its name within its set and level; of an instance its SHA-256.
        key: The set's key, that of the original set for isomorphic ones; "" of an instance, which is the same wherever
            it is met.
        level: The level; 0 of an instance.
    """

    name: str
    key: str = ""
    level: int = 0


@cache  # every row asks for them
def option_defaults(env: str) -> Mapping[str, Json]:
    """Return the defaults of an environment's options, without those that only say how many items there are."""
    return {option.name: option.default for option in environment_options(env) if not option.is_count}


@cache
def _separating_defaults(env: str) -> Mapping[str, Json]:
    """Return the defaults of an environment's options whose scores have tables of their own."""
    options = (*environment_options(env), *registry.load(env).extension_options)
    return {option.name: option.default for option in options if option.separate_tables}


@cache
def _difficulty_defaults(env: str) -> Mapping[str, Json]:
    """Return the defaults of an environment's options that make its items easier or harder."""
    options = (*environment_options(env), *registry.load(env).extension_options)
    return {option.name: option.default for option in options if option.effect in (EASIER, HARDER)}


@cache
def _compared_options(env: str) -> frozenset[str]:
    """Return the names of the options whose values an environment declares to be compared."""
    return frozenset(contrast.option for contrast in registry.load(env).scoring.contrasts)


@cache  # every row asks for each of its options
def is_derived_option(name: str) -> bool:
    """Return whether a recorded option only holds content that another option names, so that groups omit it."""
    return any(name in extension.content for extension in PLAY_EXTENSIONS)


def hashable_setting(value: Json, default: Json) -> Json:
    """Return an option's value in the form in which groups are compared: a scalar.

    A whole number given for a Boolean option becomes text, since 1 == True.
    """
    if type(default) is bool and type(value) is int:
        return str(value)
    return value if isinstance(value, SCALARS) else json.dumps(value, default=str)


def environment_options(env: str) -> tuple[Option, ...]:
    """Return all options of an environment, of play and of items, without derived ones."""
    environment = registry.load(env)
    play_options = (option for option in environment.playing.options if not is_derived_option(option.name))
    return (*play_options, *environment.items.options)


class Family(NamedTuple):
    """Environments that are shown together.

    Attributes:
        name: The family's name: mostly the first part of the environments' ids.
    """

    name: str
    title: str


def family_of(env_id: str) -> Family:
    """Return an environment's family."""
    env = registry.load(env_id)
    return Family(env.presentation.family or env_id.partition("/")[0], env.presentation.title or env.title)


def labels(groups: Iterable[RunKey]) -> dict[RunKey, str]:
    """Return a label for each group: the model's name, and those settings in which groups of one name differ.

    Settings that are left to their default (None) are not named, nor is a "no" where all others are "yes".
    """
    all_groups = list(dict.fromkeys(groups))
    by_group: dict[RunKey, str] = {}
    for group in all_groups:
        rivals = [other for other in all_groups if (other.model, other.env) == (group.model, group.env)]
        settings = ", ".join(
            _short_setting_text(name, value, group.env)
            for name, value in _distinguishing_items(group, rivals)
            if _is_setting_named(name, value, rivals)
        )
        name = one_line(group.model, LONGEST) or "(no name)"
        by_group[group] = f"{name} ({one_line(settings, LONGEST)})" if settings else name
    return by_group


def name_with_agent(model: str, agent: str) -> str:
    """Return a model's label with the agent around it, as in `labels`."""
    name = one_line(model, LONGEST) or "(no name)"
    return f"{name} ({one_line(agent, LONGEST)})" if agent else name


def short_labels(groups: Iterable[RunKey]) -> dict[RunKey, str]:
    """Return labels without the providers' names; with them where groups would have the same label."""
    names = labels(groups)
    short = {group: re.sub(r"\A[^ ]*/(?=.)", "", name) for group, name in names.items()}
    return short if len(set(short.values())) == len(short) and all(short.values()) else names


def _is_setting_named(name: str, value: Json, groups: Iterable[RunKey]) -> bool:
    """Return whether a label names a setting: not a default, nor "no" where the others have "yes"."""
    if value is False:
        return any(rival.settings.get(name) is None for rival in groups)
    return value is not None


def distinguishing_settings(group: RunKey, groups: Iterable[RunKey]) -> list[str]:
    """Return as texts those of a group's settings that are not the same in all of some groups."""
    return [setting_text(name, value, group.env) for name, value in _distinguishing_items(group, groups)]


def _distinguishing_items(group: RunKey, groups: Iterable[RunKey]) -> list[tuple[str, Json]]:
    """Return name and value of those of a group's settings that are not the same in all of some groups."""
    others = [other.settings for other in groups]
    return [
        (name, value)
        for name, value in group.settings.items()
        if _differs_from_any(value, [settings.get(name) for settings in others])
    ]


def _differs_from_any(value: Json, values: list[Json]) -> bool:
    """Return whether some of the values differ from one, as 1, 1.0 and True do from each other."""
    if isinstance(value, str | int | None):  # most are: a report has as many comparisons as pairs of groups
        return values.count(value) < len(values) or len({*map(type, values)}) > 1
    text = repr(value)
    return any(repr(other) != text for other in values)


def changed_setting_labels(group: RunKey) -> list[str]:
    """Return short texts of a group's settings that are not left to their default.

    Unlike `distinguishing_settings` it depends on no other group.
    """
    return [_short_setting_text(name, value, group.env) for name, value in changed_settings(group).items()]


def changed_settings(group: RunKey) -> dict[str, Json]:
    """Return a group's settings that are not the default, and its key unless that is public."""
    env = group.environment
    defaults: dict[str, Json] = {option.name: option.default for option in environment_options(group.env)}
    settings = {name: value for name, value in group.options if value != defaults.get(name)}
    return settings | ({} if group.key == env.items.public_key else {"key": group.key})


def displayed_settings(group: RunKey) -> dict[str, Json]:
    """Return the settings that pages show: task, version, protocol, key, and those that are not the default."""
    settings = group.settings
    return {name: settings[name] for name in _ALWAYS_DISPLAYED if name in settings} | changed_settings(group)


def model_settings(group: RunKey) -> dict[str, Json]:
    """Return a group's settings of the model: its temperature, its server, ..."""
    test_settings = {option.name for option in environment_options(group.env)} | {*TEST_SETTINGS, *SHOWN}
    return {name: value for name, value in group.options if name not in test_settings}


def key_without_settings(group: RunKey, *names: str) -> Hashable:
    """Return a key of a group that ignores some settings and the order of the others."""
    others = frozenset((key, repr(value)) for key, value in group.options if key not in names and value is not None)
    return replace(group, options=()), others


def _short_setting_text(name: str, value: Json, env: str) -> str:
    """Return a setting as a short text: "matrix", "exit hint", "no exit hint", "requests: 5"."""
    if isinstance(value, bool):
        return f"{'' if value else 'no '}{name.replace('_', ' ')}"
    is_plain = isinstance(value, str) and not _number_title(name, value, env)
    return str(value) if is_plain else setting_text(name, value, env)


@cache
def _number_titles_by_option(env: str) -> Mapping[str, str]:
    """Return the titles for numbers of options that are otherwise true or false, by option."""
    return {option.name: option.number_title for option in environment_options(env) if option.number_title}


def _number_title(name: str, value: Json, env: str) -> str:
    """Return the title of a number that is given for a Boolean option; "" where it has none."""
    return _number_titles_by_option(env).get(name, "") if env and isinstance(value, str) and value.isdigit() else ""


def setting_text(name: str, value: Json, env: str = "") -> str:
    """Return a setting as text: "exit hint: yes", "wording: matrix"."""
    if name == STREAM:  # the mark of scores that have no rank, since results decided when to stop
        return f"stopped by a comparison of {value}"
    name = _number_title(name, value, env) or name
    text = "default" if value is None else "yes" if value is True else "no" if value is False else str(value)
    return f"{name.replace('_', ' ')}: {text}"


def setting_names(groups: Iterable[RunKey]) -> list[str]:
    """Return the names of all settings of some groups."""
    return list(dict.fromkeys(name for group in groups for name in group.settings))


def settings_sort_key(group: RunKey, names: Iterable[str]) -> tuple[tuple[int, float, str], ...]:
    """Return a sort key of a group among those of one model, by its settings.

    Args:
        group: The group.
        names: The names of the settings of all groups that are sorted together (`setting_names`).
    """
    defaults = {
        option.name: option.default for option in environment_options(group.env) if isinstance(option.default, str)
    }
    values = {name: value for name, value in group.settings.items() if value != defaults.get(name)}
    return tuple(setting_sort_key(values.get(name)) for name in names)


def setting_sort_key(value: Json) -> tuple[int, float, str]:
    """Return a sort key of a setting's value: the default first, then numbers, efforts, and other texts."""
    if value is None:
        return 0, 0.0, ""
    if isinstance(value, int | float):
        return 1, float(value), ""
    return (2, float(_EFFORTS.index(value)), "") if value in _EFFORTS else (3, 0.0, str(value))
