"""The drawing, read back."""

from typing import Any

import pytest

import waybench
from tests.drawings import box, dots, drawer, inside, parts, steps, texts, told, written
from waybench.core import Episode, play_to_end, policy
from waybench.envs.rps._environment import ROOM

ROUNDS = waybench.load("rps/rounds")
draw = drawer("rps/rounds")
PLAYERS = ("random", "heuristic", "noisy-0.3", "oracle")
LETTERS = "RPS"


def played(player: str, level: int, item: int = 0, wording: str = "one_question", **options: Any) -> Any:
    play = {"wording": wording, "steps": options.pop("steps", 50)}
    return play_to_end(ROUNDS, ROUNDS.source("draw", level, **options).item(item), policy(player), play)


def made(episode: Any) -> list[Any]:
    return [turn for turn in episode.turns if "score" in turn.events]


def strip(svg: str) -> list[tuple[str, str, str, str]]:
    """Return the player's letter, the opponent's, the result and the best one's of each round."""
    letters = [each for name in ("rounds-name", "rounds-ground") for each in written(svg, name) if each[0] in LETTERS]
    results = [(y, x, name) for name in ("won", "lost", "tied") for x, y in dots(svg, f"rounds-{name}")]
    found: list[tuple[str, str, str, str]] = []
    for y, x, result in sorted(results):
        column = sorted((at, said) for said, place, at in letters if place == x and y - 40 < at < y + 40)
        mine, theirs, best = [said for _, said in column]
        found.append((mine, theirs, result, best))
    return found


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize("level", [1, 2, 3])
def test_the_rounds_after_each_turn(level: int, player: str) -> None:
    episode = played(player, level)
    drawings = steps(draw, episode)
    for count, svg in enumerate(drawings):
        turns = episode.turns[:count]
        drawn = strip(svg)
        assert [LETTERS.index(mine) for mine, *_ in drawn] == [turn.action[0] for turn in turns]
        assert [LETTERS.index(theirs) for _, theirs, *_ in drawn] == [turn.events["theirs"] for turn in turns]
        signs = {"won": 1, "tied": 0, "lost": -1}
        assert [signs[result] for *_, result, _ in drawn] == [(t.reward > 0) - (t.reward < 0) for t in turns]
        # The best choice is what the rules say of it: the player's own where that was the best.
        assert [mine == best for mine, *_, best in drawn] == [turn.events["optimal"] for turn in turns]
        counts = [e.text for e in parts(svg, "rounds-name") if e.get("text-anchor") == "end"]
        mine, theirs = [turn.action[0] for turn in turns], [turn.events["theirs"] for turn in turns]
        assert counts == [str(some.count(choice)) for choice in range(3) for some in (mine, theirs)]
        for result, sign in signs.items():
            assert f"{sum((t.reward > 0) - (t.reward < 0) == sign for t in turns)} {result}" in told(svg)
        assert inside(svg)
    assert len({box(svg) for svg in drawings}) == 1
    first = strip(drawings[-1])
    assert all(strip(svg) == first[:count] for count, svg in enumerate(drawings))


@pytest.mark.parametrize(("level", "options"), [(1, {}), (2, {"opponent": "cycle"}), (2, {"opponent": "copy_last"})])
def test_the_reference_is_what_the_opponent_is_about_to_do(level: int, options: dict[str, Any]) -> None:
    episode = played("random", level, **options)
    match = episode.item.instance
    for count in range(len(episode.turns) + 1):
        svg = draw(match, episode.turns[:count])
        start = max(x for x, _ in dots(svg, "rounds-rule"))
        found = [(x - start) / 100 for x, _ in dots(svg, "rounds-chance")]
        wanted = list(match.chances)
        if level == 2 and count:
            last = episode.turns[count - 1]
            plan = last.action[0] if options["opponent"] == "copy_last" else (last.events["theirs"] + 1) % 3
            wanted = [(1 - match.rate) * chance + match.rate * (choice == plan) for choice, chance in enumerate(wanted)]
        assert found == [pytest.approx(chance, abs=0.002) for chance in wanted]
        if count < len(episode.turns):
            best = strip(draw(match, episode.turns[: count + 1]))[-1][-1]
            worth = [
                match.wins[mine] * wanted[(mine + 2) % 3] - match.wins[(mine + 1) % 3] * wanted[(mine + 1) % 3]
                for mine in range(3)
            ]
            assert LETTERS[worth.index(max(worth))] == best
    assert all("reference" in e.get("class", "").split() for e in parts(svg, "rounds-chance"))


def test_wins_are_those_of_the_match() -> None:
    match = ROUNDS.source("draw", 1, setting="different_score").item(0).instance
    assert [text for text in texts(draw(match), "rounds-text") if text[0] == "+"] == [f"+{win:g}" for win in match.wins]


def test_thoughts_are_no_rounds_and_lost_replies_are_counted() -> None:
    thinking = played("heuristic", 2, wording="two_questions", steps=7)
    assert len(thinking.turns) == 14
    assert len(strip(draw(thinking.item.instance, thinking.turns))) == len(made(thinking)) == 7
    item = ROUNDS.source("draw", 1).item(0)
    episode: Episode[Any, Any, Any] = Episode(ROUNDS, item, {"wording": "one_question", "protocol": "sound"})
    for reply in ("Paper", "<script>alert(1)</script>", "Rock or Paper"):
        episode.step(reply)
    svg = draw(item.instance, episode.turns)
    assert [mine for mine, *_ in strip(svg)] == ["P"]
    assert "2 unparsed" in told(svg)
    assert "script" not in svg


def test_long_episodes_have_narrower_rounds_and_then_only_the_last_ones() -> None:
    episode = played("random", 1, steps=2 * ROOM + 7)
    match, turns = episode.item.instance, episode.turns
    for count, shown in ((ROOM, turns[:ROOM]), (ROOM + 3, turns[: ROOM + 3]), (len(turns), turns[-7:])):
        svg = draw(match, turns[:count])
        assert [LETTERS.index(mine) for mine, *_ in strip(svg)] == [turn.action[0] for turn in shown]
        assert box(svg) == box(draw(match))
        assert f"{count} rounds" in told(svg)
        assert inside(svg)
    assert str(2 * ROOM + 1) in texts(draw(match, turns), "rounds-text")
