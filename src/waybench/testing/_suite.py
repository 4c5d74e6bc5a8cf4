"""All checks of the contract, by name."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from waybench.testing._declared import (
    check_failures_declared,
    check_metrics_declared,
    check_names,
    check_options,
    check_pictures,
    check_presentation,
    check_presentation_declared,
)
from waybench.testing._players import check_horizon, check_players, check_same_episode
from waybench.testing._records import (
    check_action_turns,
    check_beliefs,
    check_failures,
    check_metrics,
    check_prefix,
    check_replay,
    check_tampering,
)
from waybench.testing._rules import (
    check_action_codec,
    check_apply,
    check_bad_data,
    check_facts,
    check_instances,
    check_isomorphs,
    check_keys,
    check_levels,
    check_source,
    check_start,
    check_terminal,
)
from waybench.testing._walks import AnyEnvironment, ContractError
from waybench.testing._words import check_hostile, check_round_trip, check_tools, check_wordings

ENVIRONMENT_CHECKS: Mapping[str, Callable[..., None]] = MappingProxyType(
    {
        "names": check_names,
        "options": check_options,
        "metrics declared": check_metrics_declared,
        "failures declared": check_failures_declared,
        "presentation declared": check_presentation_declared,
        "horizon": check_horizon,
    }
)
"""Name -> check of what an environment says of itself."""

LEVEL_CHECKS: Mapping[str, Callable[[AnyEnvironment, int], None]] = MappingProxyType(
    {
        "source": check_source,
        "keys": check_keys,
        "levels": check_levels,
        "instances": check_instances,
        "bad data": check_bad_data,
        "isomorphs": check_isomorphs,
        "start": check_start,
        "apply": check_apply,
        "terminal": check_terminal,
        "action codec": check_action_codec,
        "facts": check_facts,
        "wordings": check_wordings,
        "round trip": check_round_trip,
        "tools": check_tools,
        "hostile": check_hostile,
        "players": check_players,
        "same episode": check_same_episode,
        "replay": check_replay,
        "tampering": check_tampering,
        "prefix": check_prefix,
        "action turns": check_action_turns,
        "metrics": check_metrics,
        "failures": check_failures,
        "beliefs": check_beliefs,
        "presentation": check_presentation,
        "pictures": check_pictures,
    }
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
            shared = {"family": family} if ENVIRONMENT_CHECKS[name] is check_presentation_declared else {}
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
