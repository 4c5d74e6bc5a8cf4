"""The drawing, read back."""

import re
from typing import Any

import pytest

import waybench
from tests.drawings import box, dots, drawer, inside, number, parts, steps, texts, told, written
from waybench.core import Episode, play_to_end, policy
from waybench.envs.bandit._environment import MOST_ROOM, ROOM

ARMS = waybench.load("bandit/arms")
draw = drawer("bandit/arms")
PLAYERS = ("random", "heuristic", "noisy-0.3", "oracle")


def played(player: str, level: int, number: int = 0, wording: str = "one_question", **options: Any) -> Any:
    play = {"wording": wording, "steps": options.pop("steps", 50)}
    return play_to_end(ARMS, ARMS.source("draw", level, **options).item(number), policy(player), play)


def pulls(episode: Any) -> list[tuple[int, bool, bool]]:
    """Return machine, whether it paid and whether it was the best one, of each pull."""
    made = [turn for turn in episode.turns if "score" in turn.events]
    return [(turn.action[0], turn.reward > 0, turn.events["optimal"]) for turn in made]


def columns(svg: str, arms: int) -> dict[str, list[str]]:
    """Return the rows of the table by their names."""
    cells = sorted(written(svg, "arms-name") + written(svg, "arms-ground"), key=lambda each: each[1])
    names = {y: said for said, _, y in written(svg, "arms-text") if said in ("machine", "pulls", "payoff", "mean")}
    found = {name: [said for said, _, at in cells if at == y] for y, name in names.items()}
    assert all(len(row) == arms for row in found.values())
    return found


def cells(svg: str, arms: int) -> list[tuple[int, bool, bool]]:
    """Return the same of each cell of the strip, from left to right, by the row that it stands on."""
    lines = [y for _, y in dots(svg, "arms-rule")][-arms:]
    under = {x for x, _ in dots(svg, "arms-known")}
    both = [(x, y, name == "arms-paid") for name in ("arms-paid", "arms-lost") for x, y in dots(svg, name)]
    return [(lines.index(y), paid, x in under) for x, y, paid in sorted(both)]


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize("level", [2, 5, 10])
def test_the_machines_after_each_turn(level: int, player: str) -> None:
    episode = played(player, level)
    drawings = steps(draw, episode)
    for count, svg in enumerate(drawings):
        made = pulls(episode)[:count]
        assert cells(svg, level) == made
        table = columns(svg, level)
        assert table["machine"] == [str(arm + 1) for arm in range(level)]
        mine = [[paid for pulled, paid, _ in made if pulled == arm] for arm in range(level)]
        assert table["pulls"] == [str(len(some)) for some in mine]
        means = [2 * sum(some) / len(some) - 1 if some else None for some in mine]
        assert [None if cell == "–" else float(cell) for cell in table["mean"]] == [
            mean if mean is None else pytest.approx(mean, abs=0.051) for mean in means
        ]
        drawn = "".join(e.get("d", "") for e in parts(svg, "arms-share"))
        bars = [float(high) / 110 for high in re.findall(r"v-([\d.]+)", drawn)]
        assert bars == [pytest.approx(sum(some) / len(some), abs=0.015) for some in mine if some]
        assert f"{count} pull" in told(svg) and f"{sum(paid for _, paid, _ in made)} paid" in told(svg)
        assert inside(svg)
    assert len({box(svg) for svg in drawings}) == 1
    assert len({tuple(e.get("d") for e in parts(svg, "arms-rule")) for svg in drawings}) == 1


@pytest.mark.parametrize("options", [{}, {"payoffs": "unequal"}, {"setting": "low_low"}, {"drift": 0.2}])
def test_the_reference_is_what_is_not_told(options: dict[str, Any]) -> None:
    level = 2 if "setting" in options else 4
    episode = played("random", level, **options)
    bandit = episode.item.instance
    svg = draw(bandit, episode.turns)
    heights = [y for _, y in dots(svg, "arms-chance")]
    top, middle, _ = sorted(y for _, y in dots(svg, "arms-rule")[:3])
    assert [1 - (y - top) / (2 * (middle - top)) for y in heights] == [
        pytest.approx(chance, abs=0.001) for chance, _ in bandit.arms
    ]
    (ground,) = parts(svg, "arms-best")
    (best,) = texts(svg, "arms-ground")
    worth = [(2 * chance - 1) * payoff for chance, payoff in bandit.arms]
    assert int(best) - 1 == worth.index(max(worth)) == episode.item.proof["best"] - 1
    assert ("payoff" in columns(svg, level)) == ("payoffs" in options)
    for name in ("arms-chance", "arms-best", "arms-known"):
        assert all("reference" in e.get("class", "").split() for e in parts(svg, name))
    middle_of = number(ground, "x") + number(ground, "width") / 2
    assert written(svg, "arms-ground")[0][1] == pytest.approx(middle_of, abs=0.2)
    assert sum(best for *_, best in cells(svg, level)) == episode.turns[-1].events["score"]


def test_thoughts_are_no_pulls_and_lost_replies_are_counted() -> None:
    thinking = played("heuristic", 3, wording="two_questions", steps=7)
    assert len(thinking.turns) == 14
    svg = draw(thinking.item.instance, thinking.turns)
    assert cells(svg, 3) == pulls(thinking)
    assert len(pulls(thinking)) == 7
    item = ARMS.source("draw", 3).item(0)
    made: Episode[Any, Any, Any] = Episode(ARMS, item, {"wording": "one_question", "protocol": "sound"})
    for reply in ("Pull slot machine 2.", "<script>alert(1)</script>", "Pull slot machine 2. Pull slot machine 3."):
        made.step(reply)
    svg = draw(item.instance, made.turns)
    assert [arm for arm, *_ in cells(svg, 3)] == [1]
    assert "2 unparsed" in told(svg)
    assert "script" not in svg


def test_long_episodes_have_narrower_cells_and_then_only_the_last_ones() -> None:
    episode = played("random", 2, steps=60)
    svg = draw(episode.item.instance, episode.turns)
    short = draw(episode.item.instance, episode.turns[:ROOM])
    assert cells(svg, 2) == pulls(episode)
    assert box(svg) == box(short)
    assert number(parts(svg, "arms-paid")[0], "stroke-width") < number(parts(short, "arms-paid")[0], "stroke-width")
    many = [*episode.turns] * (MOST_ROOM // 60 + 1)
    svg = draw(episode.item.instance, many)
    assert len(cells(svg, 2)) == len(many) - MOST_ROOM
    assert {str(MOST_ROOM + 1), str(2 * MOST_ROOM)} <= set(texts(svg, "arms-text"))
    assert f"{len(many)} pulls" in told(svg)
    assert inside(svg)


def test_many_machines() -> None:
    episode = played("thompson", 50)
    svg = draw(episode.item.instance, episode.turns)
    assert cells(svg, 50) == pulls(episode)
    assert inside(svg)
