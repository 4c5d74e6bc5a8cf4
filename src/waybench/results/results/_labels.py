"""Short, distinct names for models with settings that are shown together."""

import re
from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import NamedTuple

from waybench.core import Json
from waybench.envs import registry
from waybench.results.formatting import one_line
from waybench.results.logs import SHOWN
from waybench.results.results._rows import EXAMPLES, Group, declared

LONGEST = 60
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


class Family(NamedTuple):
    """Environments that are shown together.

    Attributes:
        name: Its name, which no other family has: mostly the first part of their ids.
        title: Its title.
    """

    name: str
    title: str


def family_of(env_id: str) -> Family:
    """Return an environment's family; its title is that of the environment if its presentation declares no other."""
    env = registry.load(env_id)
    return Family(env.presentation.family or env_id.partition("/")[0], env.presentation.title or env.title)


def labels(groups: Iterable[Group]) -> dict[Group, str]:
    """Return a label for each group: the model's name, and those settings in which groups of one name differ.

    Settings that are left to their default (None) are not named, nor is a "no" where all others are "yes".
    """
    listed = list(dict.fromkeys(groups))
    found: dict[Group, str] = {}
    for group in listed:
        rivals = [other for other in listed if (other.model, other.env) == (group.model, group.env)]
        settings = ", ".join(
            _brief(name, value) for name, value in _differing(group, rivals) if _said(name, value, rivals)
        )
        name = one_line(group.model, LONGEST) or "(no name)"
        found[group] = f"{name} ({one_line(settings, LONGEST)})" if settings else name
    return found


def short_labels(groups: Iterable[Group]) -> dict[Group, str]:
    """Return labels of groups without the providers' names, where the rest tells all groups apart."""
    names = labels(groups)
    short = {group: re.sub(r"\A[^ ]*/(?=.)", "", name) for group, name in names.items()}
    return short if len(set(short.values())) == len(short) and all(short.values()) else names


def _said(name: str, value: Json, rivals: Iterable[Group]) -> bool:
    if value is False:
        return any(rival.settings.get(name) is None for rival in rivals)
    return value is not None


def differing(group: Group, among: Iterable[Group]) -> list[str]:
    """Return those of a group's settings, in words, that are not the same for all of some groups."""
    return [setting(name, value) for name, value in _differing(group, among)]


def _differing(group: Group, among: Iterable[Group]) -> list[tuple[str, Json]]:
    others = [other.settings for other in among]
    return [
        (name, value)
        for name, value in group.settings.items()
        if any(repr(other.get(name)) != repr(value) for other in others)
    ]


_ALWAYS = ("task", "version", "protocol", "key")


def chosen(group: Group) -> list[str]:
    """Return those of a group's settings, in few words, that are not left to their default.

    Unlike `differing` it depends on no other group.
    """
    return [_brief(name, value) for name, value in chosen_settings(group).items()]


def chosen_settings(group: Group) -> dict[str, Json]:
    """Return a group's settings that are not the default, and the key of a set that is not public."""
    own = registry.load(group.env)
    defaults: dict[str, Json] = {option.name: option.default for option in declared(group.env)}
    settings = {name: value for name, value in group.options if value != defaults.get(name)}
    return settings | ({} if group.key == own.items.public_key else {"key": group.key})


def named_settings(group: Group) -> dict[str, Json]:
    """Return the settings that pages name: task, version, protocol and key, and those that are not the default."""
    always = {name: group.settings[name] for name in _ALWAYS if name in group.settings}
    return always | chosen_settings(group)


def model_settings(group: Group) -> dict[str, Json]:
    """Return a group's settings of the model: its temperature, its server, ..."""
    others = {option.name for option in declared(group.env)} | {EXAMPLES, *SHOWN}
    return {name: value for name, value in group.options if name not in others}


def rest(group: Group, name: str) -> Hashable:
    """Return what groups that differ in one setting alone have in common, whatever order the others are in."""
    others = frozenset((key, repr(value)) for key, value in group.options if key != name and value is not None)
    return replace(group, options=()), others


def _brief(name: str, value: Json) -> str:
    """Return a setting in as few words as tell it apart: "matrix", "exit hint", "no exit hint", "requests: 5"."""
    if isinstance(value, bool):
        return f"{'' if value else 'no '}{name.replace('_', ' ')}"
    return value if isinstance(value, str) else setting(name, value)


def setting(name: str, value: Json) -> str:
    """Return a setting in words: "exit hint: yes", "wording: matrix"."""
    shown = "default" if value is None else {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
    return f"{name.replace('_', ' ')}: {shown}"


def setting_names(groups: Iterable[Group]) -> list[str]:
    """Return the names of all settings of some groups."""
    return list(dict.fromkeys(name for group in groups for name in group.settings))


def settings_order(group: Group, names: Iterable[str]) -> tuple[tuple[int, float, str], ...]:
    """Return what groups of one model are sorted by: their settings, numbers as numbers, a word's default first.

    Args:
        group: The group.
        names: The names of the settings of all groups that are sorted together (`setting_names`).
    """
    defaults = {option.name: option.default for option in declared(group.env) if isinstance(option.default, str)}
    values = {name: value for name, value in group.settings.items() if value != defaults.get(name)}
    return tuple(setting_order(values.get(name)) for name in names)


def setting_order(value: Json) -> tuple[int, float, str]:
    """Return what values of a setting are sorted by: the default, numbers, efforts, and other texts."""
    if value is None:
        return 0, 0.0, ""
    if isinstance(value, int | float):
        return 1, float(value), ""
    return (2, float(_EFFORTS.index(value)), "") if value in _EFFORTS else (3, 0.0, str(value))
