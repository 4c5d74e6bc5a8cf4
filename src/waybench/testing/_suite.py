"""All checks of the contract, by name."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from waybench.testing import _declared, _players, _records, _rules, _words
from waybench.testing._findings import Breach, breach_from_error, forbid_global_random_numbers, stop_after
from waybench.testing._walks import FOCUS, AnyEnvironment, ContractError

AnyCheck = TypeVar("AnyCheck", bound=Callable[..., None])


def _checks_by_name(*checks: AnyCheck) -> Mapping[str, AnyCheck]:
    """Return checks by the name of their function, without "check_" and with blanks for "_"."""
    return MappingProxyType({check.__name__.removeprefix("check_").replace("_", " "): check for check in checks})


ENVIRONMENT_CHECKS = _checks_by_name(
    _declared.check_names,
    _declared.check_options,
    _declared.check_languages,
    _declared.check_metrics_declared,
    _declared.check_failures_declared,
    _declared.check_presentation_declared,
    _players.check_horizon,
)
"""Name -> check of an environment's declarations."""

LEVEL_CHECKS = _checks_by_name(
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
    _rules.check_properties,
    _words.check_listed_actions,
    _words.check_wordings,
    _words.check_round_trip,
    _words.check_tools,
    _words.check_hostile,
    _words.check_ambiguous_replies,
    _words.check_secrets,
    _players.check_players,
    _players.check_same_episode,
    _rules.check_processes,
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
        ContractError: If the environment does not pass, or its code raises whatever exception; the message says where
            and what, and what to do.
    """
    if (breach := find_breach(environment, name, level, family=family)) is not None:
        where = "" if level is None else f" at level {level}"
        message = f"{environment.id}{where}, check of {name}: {breach.problem}"
        raise ContractError(message + (f" ({breach.location})" if breach.location else "")) from breach.error


def find_breach(
    environment: AnyEnvironment,
    name: str,
    level: int | None = None,
    *,
    family: Sequence[AnyEnvironment] = (),
    seconds: float | None = None,
) -> Breach | None:
    """Run one check by name, as `run_check`, and return the breach; None if there is none."""
    FOCUS.reset()
    is_general = name in ENVIRONMENT_CHECKS
    try:
        with forbid_global_random_numbers(), stop_after(seconds):
            if is_general:
                shared = {"family": family} if name == "presentation declared" else {}
                ENVIRONMENT_CHECKS[name](environment, **shared)
            else:
                level = environment.items.smallest_level if level is None else level
                LEVEL_CHECKS[name](environment, level)
    except Exception as error:  # any exception of an environment's code is a breach
        return breach_from_error(environment, name, None if is_general else level, error)
    return None


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


def find_breaches(
    environment: AnyEnvironment,
    levels: Sequence[int] = (),
    *,
    family: Sequence[AnyEnvironment] = (),
    seconds: float | None = None,
) -> list[Breach]:
    """Run every check on an environment, and return all breaches.

    Checks that fail for the same cause are one breach (`Breach.also`). The run stops after a check that takes too long,
    and after a failure of "names", since the other checks need what is missing.

    Args:
        environment: What is checked.
        levels: The levels to look at; the smallest one if empty.
        family: Other environments that share its presentation.
        seconds: Most seconds of one check, where the main thread can be interrupted; by default there is no limit.
    """
    breaches: dict[tuple[str, str], Breach] = {}
    checks: list[tuple[str, int | None]] = [(name, None) for name in ENVIRONMENT_CHECKS]
    checks += [(name, level) for level in levels or (None,) for name in LEVEL_CHECKS]
    for name, level in checks:
        if (breach := find_breach(environment, name, level, family=family, seconds=seconds)) is None:
            continue
        first = breaches.setdefault(breach.cause, breach)
        breaches[breach.cause] = first.with_also(name)
        if name == "names" or breach.is_endless:
            breaches[breach.cause] = first._replace(advice=f"{first.advice} The other checks wait for that.")
            break
    return list(breaches.values())
