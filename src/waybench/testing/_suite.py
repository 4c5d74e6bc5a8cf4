"""All checks of the contract, by name."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from waybench.testing import _declared, _players, _records, _rules, _words
from waybench.testing._walks import AnyEnvironment, ContractError

AnyCheck = TypeVar("AnyCheck", bound=Callable[..., None])


def _by_name(*checks: AnyCheck) -> Mapping[str, AnyCheck]:
    return MappingProxyType({check.__name__.removeprefix("check_").replace("_", " "): check for check in checks})


ENVIRONMENT_CHECKS = _by_name(
    _declared.check_names,
    _declared.check_options,
    _declared.check_metrics_declared,
    _declared.check_failures_declared,
    _declared.check_presentation_declared,
    _players.check_horizon,
)
"""Name -> check of what an environment says of itself."""

LEVEL_CHECKS = _by_name(
    _rules.check_source,
    _rules.check_keys,
    _rules.check_levels,
    _rules.check_instances,
    _rules.check_bad_data,
    _rules.check_isomorphs,
    _rules.check_start,
    _rules.check_apply,
    _rules.check_terminal,
    _rules.check_action_codec,
    _rules.check_facts,
    _words.check_wordings,
    _words.check_round_trip,
    _words.check_tools,
    _words.check_hostile,
    _players.check_players,
    _players.check_same_episode,
    _records.check_replay,
    _records.check_tampering,
    _records.check_prefix,
    _records.check_action_turns,
    _records.check_metrics,
    _records.check_failures,
    _records.check_beliefs,
    _declared.check_presentation,
    _declared.check_pictures,
)
"""Name -> check of an environment at one level; a test runner can make one test of each."""


def run_check(
    environment: AnyEnvironment, name: str, level: int | None = None, *, family: Sequence[AnyEnvironment] = ()
) -> None:
    """Run one check by name.

    Args:
        environment: What is checked.
        name: A name in `ENVIRONMENT_CHECKS` or `LEVEL_CHECKS`.
        level: The level, for a name in `LEVEL_CHECKS`; the smallest one if None.
        family: Other environments that share its presentation, for "presentation declared".

    Raises:
        ContractError: If the environment does not pass; the message says where and what.
    """
    try:
        if name in ENVIRONMENT_CHECKS:
            shared = {"family": family} if name == "presentation declared" else {}
            ENVIRONMENT_CHECKS[name](environment, **shared)
            return
        level = environment.items.smallest_level if level is None else level
        LEVEL_CHECKS[name](environment, level)
    except ContractError as error:
        where = "" if level is None else f" at level {level}"
        raise ContractError(f"{environment.id}{where}, check of {name}: {error}") from error


def check_environment(
    environment: AnyEnvironment, level: int | None = None, *, family: Sequence[AnyEnvironment] = ()
) -> None:
    """Run every check on an environment.

    Args:
        environment: What is checked.
        level: The level to look at; all sample levels if None.
        family: Other environments that share its presentation.

    Raises:
        ContractError: At the first check that the environment does not pass; the message says where and what.
    """
    for name in ENVIRONMENT_CHECKS:
        run_check(environment, name, family=family)
    for checked_level in environment.items.sample_levels if level is None else (level,):
        for name in LEVEL_CHECKS:
            run_check(environment, name, checked_level)
