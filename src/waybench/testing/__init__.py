"""Contract tests for environments, for any test runner.

An environment of one's own is checked in one line, at all its sample levels or at one:

    from waybench.testing import check_environment

    def test_contract():
        check_environment(MY_ENVIRONMENT)

or with one test for each check, so that a report names what is broken:

    @pytest.mark.parametrize("name", LEVEL_CHECKS)
    def test_contract(name):
        run_check(MY_ENVIRONMENT, name, level=5)

`play_exploits` plays replies that know nothing, such as a list of all answers, and returns those that are exploits.

A check passes in silence or raises `ContractError`, whose message says what to mend. `find_breaches` runs all of them
and returns everything that is wrong, with item, reply, line and advice, as `waybench check` prints it.
"""

from waybench.testing._findings import Breach
from waybench.testing._hostile import BAD_JSON, HOSTILE_REPLIES, hostile_variants
from waybench.testing._players import EXPLOITS, Exploited, play_exploits
from waybench.testing._suite import (
    ENVIRONMENT_CHECKS,
    LEVEL_CHECKS,
    check_environment,
    find_breach,
    find_breaches,
    run_check,
)
from waybench.testing._walks import (
    ContractError,
    StumblingPolicy,
    count_reachable_states,
    option_combinations,
    sample_records,
)

__all__ = [
    "BAD_JSON",
    "ENVIRONMENT_CHECKS",
    "EXPLOITS",
    "HOSTILE_REPLIES",
    "LEVEL_CHECKS",
    "Breach",
    "ContractError",
    "Exploited",
    "StumblingPolicy",
    "check_environment",
    "count_reachable_states",
    "find_breach",
    "find_breaches",
    "hostile_variants",
    "option_combinations",
    "play_exploits",
    "run_check",
    "sample_records",
]
