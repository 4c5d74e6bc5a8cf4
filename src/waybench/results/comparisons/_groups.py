"""Which groups of results are compared: those that differ in one thing and have all else in common."""

from collections.abc import Iterable
from typing import NamedTuple

from waybench.envs import registry
from waybench.results.results import EXAMPLES, Group, grouped, rest

MODEL = "model"  # what varies, where it is not an option


class ComparisonKey(NamedTuple):
    """What models must have in common to be compared.

    Attributes:
        env: The environment's id.
        version: Its version.
        key: The key of the set of items.
        options: The options of play and of the items, as (name, `repr` of the value), sorted.
    """

    env: str
    version: int
    key: str
    options: tuple[tuple[str, str], ...]


def comparison_key(group: Group) -> ComparisonKey:
    """Return what models must have in common with a group to be compared with it.

    How a model was run, its temperature and the like, is the model's own matter, and so is the task's name.
    """
    env = registry.load(group.env)
    names = {option.name for option in (*env.playing.options, *env.items.options)} | {EXAMPLES}
    options = sorted((name, repr(value)) for name, value in group.options if name in names)
    return ComparisonKey(group.env, group.version, group.key, tuple(options))


def matched(groups: Iterable[Group], varies: str = MODEL) -> list[list[Group]]:
    """Return lists of groups that differ in one thing only, in order of first appearance.

    Args:
        groups: The groups. One that differs from no other in this thing alone is a list of its own.
        varies: `MODEL`, or the name of an option.
    """
    return list(grouped(groups, comparison_key if varies == MODEL else lambda group: rest(group, varies)).values())


def without_option(groups: Iterable[Group], option: str) -> dict[Group, Group]:
    """Return groups that have an option, each with the one that lacks it and has all else in common.

    Groups without such a reference are left out.
    """
    references: dict[Group, Group] = {}
    for alike in matched(groups, option):
        without = [group for group in alike if not dict(group.options).get(option)]
        references |= {group: without[0] for group in alike if without and group not in without}
    return references
