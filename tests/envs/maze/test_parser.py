"""Reading movements out of replies, on generated replies, sound and spoilt."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.envs.maze.mazes import MAZE_501, after
from waybench.core import Invalid, Stream, split_reasoning
from waybench.envs.maze._game import MazeGame, Movement, MovePlan, start
from waybench.envs.maze._wording import REPRESENTATIONS, MazeWording

WORDING = MazeWording(REPRESENTATIONS["matrix"], exit_hint=False)
STATE = start(MAZE_501.instance)

DIRECTIONS = st.sampled_from(["up", "down", "left", "right"])
MOVEMENTS = st.builds(Movement, DIRECTIONS, st.integers(1, 10**18 - 1))
PLANS = st.lists(MOVEMENTS, max_size=12).map(tuple)
# Prose in which no object begins and no reasoning ends.
PROSE = st.text().filter(lambda text: "{" not in text and "<" not in text)


def read(text: str) -> MovePlan | Invalid:
    return WORDING.parse(text, STATE)


@given(PLANS)
def test_what_is_rendered_is_read(plan: MovePlan) -> None:
    assert read(WORDING.render(plan, STATE)) == plan


@given(PLANS, PROSE, PROSE)
def test_prose_around_it(plan: MovePlan, before: str, after_: str) -> None:
    assert read(f"{before}{WORDING.render(plan, STATE)}{after_}") == plan


@given(PLANS, PROSE, st.sampled_from(["json", "JSON", "", "python"]), st.booleans())
def test_in_a_fence(plan: MovePlan, before: str, language: str, closed: bool) -> None:
    fence = f"```{language}\n{WORDING.render(plan, STATE)}\n" + "```" * closed
    assert read(f"{before}\n{fence}") == plan


@given(
    PLANS, PLANS, st.text().filter(lambda text: "<" not in text), st.sampled_from(["think", "thinking", "reasoning"])
)
def test_after_reasoning(plan: MovePlan, thought: MovePlan, text: str, tag: str) -> None:
    thoughts = f"{text}{WORDING.render(thought, STATE)}"
    for reply in (f"<{tag}>{thoughts}</{tag}>\n", f"{thoughts}</{tag}>"):
        assert read(split_reasoning(reply + WORDING.render(plan, STATE)).answer) == plan


@given(PLANS, PLANS, PROSE)
def test_the_last_plan_counts(first: MovePlan, last: MovePlan, between: str) -> None:
    assert read(f"{WORDING.render(first, STATE)}{between}{WORDING.render(last, STATE)}") == last


@given(PLANS, st.randoms(use_true_random=False))
def test_any_letter_case(plan: MovePlan, chance: object) -> None:
    listed = [
        {"direction": "".join(chance.choice([c.lower(), c.upper()]) for c in direction), "cells": cells}
        for direction, cells in plan
    ]
    assert read(json.dumps({"movements": listed})) == plan


@given(PLANS, st.sampled_from([None, 0, 1, 4]), st.booleans(), st.permutations(["direction", "cells", "why"]))
def test_any_layout_of_json(plan: MovePlan, indent: int | None, sort: bool, order: list[str]) -> None:
    values = [{"direction": direction, "cells": cells, "why": ["{", {"a": None}]} for direction, cells in plan]
    listed = [{key: value[key] for key in order} for value in values]
    text = json.dumps({"reasoning": "<b>{", "movements": listed, "sure": True}, indent=indent, sort_keys=sort)
    assert read(text) == plan


@given(PLANS, st.integers(1, 17), st.integers(1, 9))
def test_whole_numbers_in_other_forms(plan: MovePlan, exponent: int, digit: int) -> None:
    text = f'{{"movements": [{{"direction": "up", "cells": {digit}e{exponent}}}, {{"direction": "up", "cells": 2.0}}]}}'
    assert read(text) == (Movement("up", digit * 10**exponent), Movement("up", 2))


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    assert isinstance(read(text), tuple | Invalid)


def carried_out(text: str) -> None:
    """Check that a reply is refused with a reason or carried out, whatever it is."""
    found = read(text)
    if isinstance(found, Invalid):
        assert found.reason.isprintable()
        assert 0 < len(found.reason) < 200
        return
    assert all(way in ("up", "down", "left", "right") and type(cells) is int and cells >= 1 for way, cells in found)
    game = MazeGame(3)
    assert game.decode(json.loads(json.dumps(game.encode(found)))) == found
    step = game.apply(STATE, found, Stream())
    assert 0 <= step.state.at < 25
    assert MAZE_501.instance.lattice.cells[step.state.at]


@given(st.text(alphabet='{}[]",: direction cells movements up 0123456789.eE+-\\ntru/<>think'))
def test_text_of_the_letters_of_json(text: str) -> None:
    carried_out(text)


@given(
    PLANS.filter(len), st.lists(st.tuples(st.integers(0, 10_000), st.text(max_size=3), st.integers(0, 3)), max_size=6)
)
def test_mutated_json(plan: MovePlan, changes: list[tuple[int, str, int]]) -> None:
    text = WORDING.render(plan, STATE)
    for place, inserted, removed in changes:
        at = place % (len(text) + 1)
        text = text[:at] + inserted + text[at + removed :]
    carried_out(text)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["up", "movements"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["direction", "cells", "a"]), inner),
    max_leaves=8,
)


@given(VALUES, st.booleans())
def test_any_value_for_the_movements(value: object, in_list: bool) -> None:
    carried_out(json.dumps({"movements": [value] if in_list else value}))


@given(st.lists(st.tuples(DIRECTIONS, st.integers(1, 6)), max_size=6))
def test_a_reply_is_one_turn_of_one_outcome(movements: list[tuple[str, int]]) -> None:
    turn = after(WORDING.render(tuple(Movement(*each) for each in movements), STATE)).turns[0]
    assert turn.outcome in ("ok", "illegal", "unproductive")
    assert ("illegal" in turn.events) == (turn.outcome == "illegal")
    carried = turn.events["movements"]
    if turn.outcome == "illegal":
        assert carried == turn.events["illegal"]["movement"] - 1
    if turn.reward == 0:
        assert turn.events["moved"] == sum(cells for _, cells in movements[:carried])


@pytest.mark.parametrize("direction", ["UP", "Up", "uP", "ＵＰ", "ｕｐ", "up\u200b", "u\u00adp", "\u00a0up"])  # noqa: RUF001
def test_case_width_and_typography_do_not_matter(direction: str) -> None:
    assert read(f'{{"movements": [{{"direction": "{direction}", "cells": 1}}]}}') == (Movement("up", 1),)


@pytest.mark.parametrize("direction", ["ᴜp", "Up\u0307", "u\u0440", "u\u200cp"])  # noqa: RUF001
def test_letters_that_only_look_alike(direction: str) -> None:
    assert isinstance(read(json.dumps({"movements": [{"direction": direction, "cells": 1}]})), Invalid)
