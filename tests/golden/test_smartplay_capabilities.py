"""SmartPlay's normalised and capability scores, as published (shared/specs/smartplay.md, section 9)."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import shared
from waybench.envs.smartplay import RECORDED
from waybench.envs.smartplay._capabilities import CAPABILITIES, capability_degrees, capability_scores

Compared = Callable[[str, str, int], None]


def load(name: str) -> Any:
    return json.loads(shared("WAYBENCH_GOLDEN", "golden", "smartplay", name).read_text(encoding="utf-8"))


def test_every_recorded_setting_has_degrees() -> None:
    for setting in RECORDED:
        assert dict(capability_degrees(setting)).keys() == set(CAPABILITIES), setting


def test_degrees(compared: Compared) -> None:
    table = load("manuals.json")["challenges"]
    for setting, wanted in table.items():
        assert dict(capability_degrees(setting)) == wanted, setting
    compared("smartplay", "degrees", sum(map(len, table.values())))
    with pytest.raises(KeyError):
        capability_degrees("Chess")


@pytest.mark.parametrize(
    ("formula", "field", "without"),
    [
        ("code", "capability_code_degree_minus_1", ()),
        ("paper", "capability_paper_formula_degree", ()),
        ("paper", "capability_paper_formula_without_L1", ("MessengerL1",)),
    ],
)
def test_capability_scores(formula: str, field: str, without: tuple[str, ...], compared: Compared) -> None:
    count = 0
    for player, record in load("evaluation.json")["evaluation"].items():
        scores = {setting: value for setting, value in record["normalized"].items() if setting not in without}
        found = {each.name: each for each in capability_scores(scores, formula)}
        assert found.keys() == set(CAPABILITIES) == record[field].keys(), player
        for name, wanted in record[field].items():
            assert found[name].value == pytest.approx(wanted, rel=0, abs=1e-12), (player, name)
            assert set(found[name].missing) <= {*without, *(set(RECORDED) - set(scores))}
            count += 1
    compared("smartplay", f"capability scores by {field}", count)


def test_missing_games_are_stated() -> None:
    wanted = load("evaluation.json").get("capability_bandit08_rps05")
    if wanted is None:
        pytest.skip("the golden files at hand have no scores of two games alone")
    scores = {"BanditTwoArmedHighLowFixed": 0.8, "RockPaperScissorBasic": 0.5}
    for found in capability_scores(scores, "code"):
        assert found.value == (None if wanted[found.name] is None else pytest.approx(wanted[found.name]))
        assert found.missing
        assert not set(found.missing) & set(scores)
        assert set(found.games) <= set(scores)
    assert all(set(each.missing) == set(RECORDED) - set(scores) for each in capability_scores(scores, "paper"))
