import pytest

from waybench.ext.author.game_maps._words import expand_command, is_movement, opposite_actions


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("n", "north"),
        ("SW", "southwest"),
        ("u", "up"),
        ("go north", "north"),
        ("walk  nw", "northwest"),
        ("go in", "in"),
        ("go n e", "go n e"),
        ("go stump", "go stump"),
        ("z", "wait"),
        ("g", "again"),
        ("l", "look"),
        ("x lamp", "examine lamp"),
        ("n lamp", "n lamp"),
        ("Open Door", "open door"),
        ("", ""),
    ],
)
def test_commands_are_told_in_full(typed: str, told: str) -> None:
    assert expand_command(typed) == told


@pytest.mark.parametrize(
    ("action", "backs"),
    [
        ("north", ("south",)),
        ("up", ("down",)),
        ("fore", ("aft",)),
        ("in", ("out", "exit")),
        ("out", ("in", "enter")),
        ("enter", ("exit", "out")),
        ("exit", ("enter", "in")),
        ("enter car", ("exit car", "exit", "out")),
        ("board boat", ("leave boat", "exit", "out")),
        ("climb rope", ("descend rope", "down")),
        ("in the beginning", ()),
        ("pray", ()),
        ("push button", ()),
        ("", ()),
    ],
)
def test_what_may_lead_back(action: str, backs: tuple[str, ...]) -> None:
    assert opposite_actions(action) == backs
    assert is_movement(action) == bool(backs)
