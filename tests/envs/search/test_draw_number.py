"""The drawing of guesses, read back."""

import re
from itertools import pairwise
from typing import Any

import pytest

import waybench
from tests.drawings import box, dots, drawer, inside, parts, points, steps, texts, told, written
from tests.envs.search.cases import EASY, after
from tests.envs.search.cases import number as case_of
from waybench.core import play_to_end, policy
from waybench.envs.search._number import decode, default_max_steps

draw = drawer("search/guessnum")
PLAYERS = ("random", "heuristic", "noisy-0.3", "oracle")


def marks(svg: str) -> list[tuple[str, float, float]]:
    """Return class, x and y of the guesses in their rows, in this order."""
    names = ("guess-mark", "guess-found", "guess-off")
    return sorted(((name, x, y) for name in names for x, y in dots(svg, name)), key=lambda mark: mark[2])


def values(svg: str) -> list[int]:
    """Return the guesses as they stand at the right of their rows."""
    return [int(said) for said, x, _ in written(svg, "guess-value") if x > 330]


def rows(svg: str) -> list[tuple[float, float, float]]:
    """Return x, y and length of what is shaded: first of the range, then of the rows."""
    drawn = "".join(e.get("d", "") for e in parts(svg, "guess-possible"))
    return [(float(x), float(y), float(wide)) for x, y, wide in re.findall(r"M(\d+) (\d+)h(\d+)", drawn)]


def possible(episode: Any) -> tuple[int, int]:
    """Return what is still possible by what was told."""
    case = episode.item.instance
    guesses = [t.events["guess"] for t in episode.turns if t.outcome in ("ok", "unproductive") and "guess" in t.events]
    if case.target in guesses:
        return case.target, case.target
    low = max([case.low, *(guess + 1 for guess in guesses if guess < case.target)])
    return low, min([case.high, *(guess - 1 for guess in guesses if guess > case.target)])


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize(("env", "level"), [("guessnum", 6), ("coin", 15), ("guessnum", 40)])
def test_guesses_after_each_turn(env: str, level: int, player: str) -> None:
    environment = waybench.load(f"search/{env}")
    for item in environment.source("draw", level).head(2):
        episode = play_to_end(environment, item, policy(player))
        case = item.instance
        drawings = steps(draw, episode)
        for count, svg in enumerate(drawings):
            turns = episode.turns[:count]
            guesses = [turn.events["guess"] for turn in turns]
            assert values(svg) == guesses
            marked = marks(svg)
            assert len(marked) == count
            (line,) = [e for e in parts(svg, "guess-target") if points(e)[0][1] > 100]
            middle = points(line)[0][0]
            for guess, turn, (name, x, _) in zip(guesses, turns, marked, strict=True):
                right = "guess-found" if guess == case.target else "guess-mark"
                assert name == ("guess-off" if turn.outcome == "unproductive" else right)
                assert (x > middle) - (x < middle) == (guess > case.target) - (guess < case.target)
            # Nearer guesses are nearer.
            gaps = [abs(guess - case.target) for guess in guesses]
            far = [round(abs(x - middle), 1) for _, x, _ in marked]
            assert [each for _, each in sorted(zip(gaps, far, strict=True))] == sorted(far)
            assert told(svg).startswith(f"A number from {case.low} to {case.high}, {case.target}: {count} guess")
            assert inside(svg)
        assert len({box(svg) for svg in drawings}) == 1
        for before, then in pairwise(drawings):  # rows stay where they are
            assert marks(before) == marks(then)[: len(marks(before))]


@pytest.mark.parametrize("player", PLAYERS)
def test_what_is_possible_is_shaded(player: str) -> None:
    environment = waybench.load("search/guessnum")
    for item in environment.source("draw", 6).head(5):
        done = play_to_end(environment, item, policy(player))
        for count in range(len(done.turns) + 1):
            episode = after("guessnum", item.instance.to_json(), *(turn.reply for turn in done.turns[:count]))
            svg = draw(item.instance, episode.turns)
            (left, *_), *_ = map(points, parts(svg, "guess-rule"))
            (start, _, wide), *below = rows(svg)
            low, high = possible(episode)
            share = (high - low) / 64
            assert wide == pytest.approx(max(284 * share, 2), abs=1)
            if wide > 2:
                assert start - left[0] == pytest.approx(284 * (low - 32) / 64, abs=1)
            # A row for each guess, and for what is possible now, if the number is not found and there is room.
            found = any(turn.events["guess"] == item.instance.target for turn in episode.turns)
            assert len(below) == min(len(episode.turns) + (not found), default_max_steps(item.instance))


def test_the_reference_is_the_teacher() -> None:
    environment = waybench.load("search/guessnum")
    episode = play_to_end(environment, environment.source("draw", 15).item(0), policy("oracle"))
    svg = draw(episode.item.instance, episode.turns)
    assert [x for x, _ in dots(svg, "guess-middle")] == [x for _, x, _ in marks(svg)]
    assert all("reference" in e.get("class", "") for e in parts(svg, "guess-middle"))


def test_numbers_out_of_range_are_beside_the_row_and_not_written() -> None:
    episode = after("guessnum", EASY, "20000", "5", "9" * 4000, "20000")
    svg = draw(episode.item.instance, episode.turns)
    low, high = sorted(x for x, _ in dots(svg, "guess-tried"))
    assert low < min(x for x, *_ in rows(svg)) and high > max(x + wide for x, _, wide in rows(svg))
    assert values(svg) == [20000, 20000]
    (one, _, y), (two, _, below) = marks(svg)
    assert (one, two, below - y) == ("guess-mark", "guess-off", 14)  # they have no rows of their own
    assert "1 excluded by earlier answers, 2 illegal" in told(svg)
    assert "9999" not in svg
    assert inside(svg)


def test_replies_without_a_number_leave_it_as_it_was() -> None:
    one, two = after("coin", EASY, "20000"), after("coin", EASY, "20000", "<script>alert()</script>", "&lt;")
    before, then = (draw(each.item.instance, each.turns) for each in (one, two))
    assert then.replace(", 2 unparsed", "").replace("2 unparsed", "") == before
    assert then != before


def test_what_a_teacher_or_a_coach_puts_in_its_place() -> None:
    taught = after("guessnum", EASY, "40", "no", teacher_guided=True)
    svg = draw(taught.item.instance, taught.turns)
    assert values(svg) == [16416, 8224]
    assert len(dots(svg, "guess-tried")) == 1
    coached = after("guessnum", EASY, "40", weak_tg_chances=1)
    svg = draw(coached.item.instance, coached.turns)
    assert (values(svg), len(dots(svg, "guess-tried"))) == ([], 1)


def test_of_many_guesses_those_around_the_last_are_shown() -> None:
    data = case_of(90, 32, 96)
    room = default_max_steps(decode(data))
    episode = after("guessnum", data, *map(str, range(32, 32 + room + 2)), max_steps=100)
    svg = draw(episode.item.instance, episode.turns)
    assert values(svg) == [32 + room, 33 + room]
    assert [said for said, x, _ in written(svg, "guess-number") if x < 30] == [
        str(room + 1),
        str(room + 2),
    ]
    assert inside(svg)
    full = draw(episode.item.instance, episode.turns[:room])
    assert values(full) == list(range(32, 32 + room))
    assert inside(full)


def test_nothing_of_a_reply_is_drawn() -> None:
    episode = after("guessnum", EASY, '7000"/><script>alert(1)</script>', "\ud800 8000 <b>", "{{ 9000 }}")
    svg = draw(episode.item.instance, episode.turns)
    assert not any(piece in svg for piece in ("script", "<b", "{{", "\ud800"))
    assert values(svg) == [7000, 8000, 9000]
    assert texts(svg, "guess-told")[0].startswith("3 guesses")
