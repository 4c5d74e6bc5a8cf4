"""The page of one attempt: what was said, what it was read as, and what it came to."""

import re
from dataclasses import replace
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.analysis.episodes import detour, failed, item, logged, played, said
from tests.analysis.maps import answered, corridor
from tests.analysis.searches import answered as asked
from tests.analysis.searches import items
from tests.report.pages import Page, site, unpacked
from waybench.core import Episode, EpisodeRecord, Message, Reply, play_to_end, policy
from waybench.reporting import _format
from waybench.reporting._episode import split_at_repeats
from waybench.results import LoggedEpisode

WALL = '{"movements": [{"direction": "up", "cells": 9}]}'


def replay(out: Path, record: EpisodeRecord) -> Page:
    (page,) = site(out, [logged(record)]).replays
    return page


def said_in(page: Page, kind: str) -> list[str]:
    """Return what messages of a kind say, as HTML, once the page's script has filled in what repeats."""
    fold = "<pre tabindex=0></pre>"
    texts = unpacked(page.scripts[0])["repeated"] if page.scripts else []
    assert page.html.count(fold) == len(texts)
    html = "".join(
        f"{part}{f'<pre tabindex=0>{escape(text)}</pre>' if text is not None else ''}"
        for part, text in zip_longest(page.html.split(fold), texts)
    )
    return [part.split("</div>")[0] for part in html.split(f'<div class="said {kind}">')[1:]]


def texts(page: Page, kind: str) -> list[str]:
    return ["\n".join(word.strip() for word in Page(part).words if word.strip()) for part in said_in(page, kind)]


def test_all_that_was_said_in_its_order(tmp_path: Path) -> None:
    record = said(["hm", WALL, Reply("I refuse", "refused")])
    page = replay(tmp_path, record)
    prompts, replies, answers = (texts(page, kind) for kind in ("prompt", "reply", "answer"))
    assert len(prompts) == len(record.opening)
    for told, message in zip(prompts, record.opening, strict=True):
        assert message.text.strip() in told
    heads = [" ".join(text.splitlines()[:2]) for text in replies]
    assert heads == [f"Model, turn {turn}" for turn in ("1 unparsed", "2 illegal", "3 refused")]
    for text, turn in zip(replies, record.turns, strict=True):
        assert turn.reply in text
        assert (turn.reason or "") in text
    heads = [text.splitlines()[0] for text in answers]
    assert heads == ["Environment", "Environment", "Environment (not sent, the attempt was over)"]
    shown = [line for line in record.turns[0].message.splitlines() if line.strip()]
    assert [line for line in answers[0].splitlines() if line in shown] == shown
    places = [page.html.index(text) for text in ("Model, turn 1 ", "Model, turn 2 ", "Model, turn 3 ")]
    assert places == sorted(places)


def test_turns_before_a_hand_over_say_who_played_them(tmp_path: Path) -> None:
    env = waybench.load("search/dfs")
    options = {"prefix": "oracle:2+random:1"}
    record = play_to_end(env, env.source(level=8).item(0), policy("heuristic"), options).record()
    page = replay(tmp_path, record)
    heads = [" ".join(text.splitlines()[:1]) for text in texts(page, "reply")]
    assert [head.partition(", turn")[0] for head in heads[:4]] == [
        "By the player oracle, before the hand-over",
        "By the player oracle, before the hand-over",
        "By the player random, before the hand-over",
        "Model",
    ]
    assert "waybench play search/dfs --level 8 --index 0 -T prefix=oracle:2+random:1" in page.text
    (results,) = site(tmp_path / "again", [logged(record)]).results
    assert "oracle:2+random:1" in results.text


def test_an_attempt_with_a_prompt_of_its_own_shows_it(tmp_path: Path) -> None:
    first, second = detour(item(), 2), detour(item(), 4, 2)
    own = (Message("system", "Only the second attempt was told this."), *second.opening)
    told = replace(second, opening=own)
    made = site(tmp_path, [logged(first), logged(told)])
    plain, other = made.replays
    assert "Only the second attempt was told this." not in plain.text
    assert "Only the second attempt was told this." in other.text
    for page in made.replays:
        assert first.opening[0].text.strip()[:200] in page.text
    assert [head for head in re.findall(r"<h2>([^<]*)", other.html) if "rompt" in head] == [
        "System prompt",
        "Prompt",
    ]


def test_a_prompt_that_nothing_confirms_is_shown_and_takes_nothing_from_others(tmp_path: Path) -> None:
    episodes = answered("oracle", [corridor("m", 5, words=500)], most=3)
    record = episodes[1].record
    (message, *rest) = record.opening
    changed = message._replace(text=message.text.replace("STEP NUM: 0", "STEP NUM: 0 OF ANOTHER TALE"))
    assert changed != message
    mixed = [episodes[0], replace(episodes[1], record=replace(record, opening=(changed, *rest))), episodes[2]]
    made = site(tmp_path, mixed)
    told = ["".join(texts(page, "prompt")).count("STEP NUM: 0 OF ANOTHER TALE") for page in made.replays]
    assert told == [0, 1, 0]
    assert ["see the results page" in page.text for page in made.replays] == [True, False, True]
    # Nothing of the others is lost: what is on their pages and what is on that of the results is the whole prompt.
    (opening,) = (part for part in said_in(made.result, "prompt") if "ANOTHER TALE" not in part)
    (there,) = re.findall(r"<pre tabindex=0>(.*?)</pre>", opening, re.DOTALL)
    assert "ANOTHER TALE" not in made.result.text
    for page, episode in ((made.replays[0], mixed[0]), (made.replays[2], mixed[2])):
        (shown,) = re.findall(r"<pre>(.*?)</pre>", said_in(page, "prompt")[0], re.DOTALL)
        whole = "".join(Page(f"<pre>{there}{shown}</pre>").words)
        assert whole == episode.record.opening[0].text


@pytest.mark.parametrize("attempt", ["error", "aside", "mismatch", "no turns", "no prompt"])
def test_attempts_that_count_in_nothing_have_pages(tmp_path: Path, attempt: str) -> None:
    good = detour(item(), 2)
    records = {
        "error": [failed(said([WALL, "x", "y"]), "Timeout <b>")],
        "aside": [detour(item(), 0), detour(item(), 2, 2)],
        "mismatch": [replace(good, instance_hash="0" * 64)],
        "no turns": [failed(said(["x"]))],
        "no prompt": [replace(good, opening=())],
    }[attempt]
    made = site(tmp_path, [logged(record) for record in records])
    page = made.replays[-1]
    assert len(made.replays) == len(records)
    assert "Action read from" not in page.text or attempt == "error"
    if attempt == "error":
        assert "Excluded from scores: Timeout <b>" in page.text
        assert "Ended: infrastructure error." in page.text
        # The last answer was sent, for the attempt was not over.
        assert "not sent" not in page.text
        assert len(texts(page, "reply")) == 2
    elif attempt == "aside":
        assert "Excluded: after a perfect attempt." in page.text
        assert page.all("svg")
    elif attempt == "mismatch":
        assert "This episode is excluded: its record, shown below, does not agree with the re-simulation" in page.text
        assert "Excluded:" not in page.text
        assert not page.all("svg")
    elif attempt == "no turns":
        assert "There is no reply." in page.text
        assert unpacked(page.scripts[0])["turns"] == [0]
    else:
        assert "does not agree" in page.text
        assert not texts(page, "prompt")
    assert made.result.links("../replays/") == {f"../replays/{path.name}" for path in (tmp_path / "replays").iterdir()}


def test_what_is_drawn_and_what_is_not(tmp_path: Path) -> None:
    drawn = site(tmp_path / "a", played("noisy-0.3", (9,), mazes=1)).replays[0]
    data = unpacked(drawn.scripts[0])
    assert len(data["frames"]) == len(data["turns"]) > 1
    assert "Re-simulated from the record." in drawn.text
    assert "Show a shortest path" in drawn.text
    claimed = replace(said(["a", "b"]), instance_hash="0" * 64)  # what is not confirmed is not drawn
    plain = site(tmp_path / "b", [logged(claimed)]).replays[0]
    assert not plain.all("svg")
    data = unpacked(plain.scripts[0])
    turns = [a for _, a in plain.elements if "data-turn" in a]
    assert (data["frames"], data["turns"]) == ([], list(range(len(turns) + 1)))
    assert "Show a" not in plain.text


def test_a_reply_that_was_overruled_says_by_what(tmp_path: Path) -> None:
    record = asked("guessnum", items("guessnum", 1)[0], ["0"] * 3, teacher_guided=True)
    replaced = [turn for turn in record.turns if turn.executed is not None and turn.executed != turn.action]
    assert replaced
    page = replay(tmp_path, record)
    assert page.text.count("Carried out in its place:") == len(replaced)
    assert f"Carried out in its place: {replaced[0].executed}" in page.text


def test_an_answer_that_only_repeats_is_not_shown_again(tmp_path: Path) -> None:
    environment = waybench.load("maze/alicia")
    record = said(["hm", "hm", "hm"])
    long = [turn.message for turn in record.turns]
    page = replay(tmp_path, record)
    repeats = sum(
        one == other and len(one) > 200 for one, other in zip(long, [record.opening[-1].text, *long], strict=False)
    )
    assert page.text.count("(The same as before.)") == repeats
    assert environment.id == record.env


def test_long_replies_share_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waybench.reporting._episode.REPLIES_OF_A_PAGE", 6_000)
    page = replay(tmp_path, said(["a" * 5_000, "b" * 1_999, "c" * 2_001]))
    assert page.text.count("Cut here: the first 2,000 of 5,000 characters are shown.") == 1
    assert page.text.count("Cut here: the first 2,000 of 2,001 characters are shown.") == 1
    assert page.text.count("Cut here") == 2
    assert "b" * 1_999 in page.text


def test_lengths_of_texts_by_hand() -> None:
    assert _format.characters_per_text(3_000_000, 3, 20_000) == 20_000
    assert _format.characters_per_text(3_000_000, 1000, 20_000) == 3_000
    assert _format.characters_per_text(3_000_000, 1_000_000, 20_000) == 1_000
    assert _format.characters_per_text(3_000_000, 0, 20_000) == 20_000
    assert _format.excerpt_with_end("abcdef", 6) == ("abcdef", 6, "")
    cut = _format.excerpt_with_end("0123456789abcdef", 12)
    assert cut == ("0123456789", 16, "ef")
    assert cut.cut


def test_page_names_what_it_belongs_to(tmp_path: Path) -> None:
    episodes = [
        *played("null", (5,), mazes=1, model="vendor/m"),
        *played("oracle", (5,), mazes=1, model="vendor/m", wording="ascii"),
    ]
    made = site(tmp_path, episodes)
    assert [re.findall(r"<h1>([^<]*)</h1>", page.html) for page in made.replays].count(["Maze 501, attempt 3"]) == 1
    assert [re.findall(r"<h1>([^<]*)</h1>", page.html) for page in made.replays].count(["Maze 501"]) == 1
    for page in made.replays:
        (crumbs,) = re.findall(r'<nav aria-label="Site">(.*?)</nav>', page.html)
        links = re.findall(r'href="([^"]+)"', crumbs)
        assert links[0] == "../index.html"
        assert re.fullmatch(r"\.\./models/[^#]+\.html", links[1])
        assert re.fullmatch(r"\.\./results/[^#]+\.html#i5-1", links[2])


def test_games_are_followed_step_by_step(tmp_path: Path) -> None:
    environment = waybench.load("hanoi/rods")
    play = play_to_end(
        environment, environment.source("rods", 3).item(0), policy("oracle"), {"wording": "one_question"}
    )
    page = site(tmp_path, [LoggedEpisode("m", "hanoi", play.record())]).replays[0]
    data: Any = unpacked(page.scripts[0])
    assert len(data["frames"]) == len(play.turns) + 1
    assert "Show the goal" in page.text


def test_a_history_that_prompts_repeat_is_divided_from_what_is_new() -> None:
    lines = [f"Step {number}: you see a tree and some grass in the east, and nothing else.\n" for number in range(8)]
    history = "".join(lines)
    new = "Now you see a cow."
    assert split_at_repeats(history, history + new) == ([("", history)], new)
    # The oldest line has left the window.
    assert split_at_repeats(history, "".join(lines[1:]) + new) == ([("", "".join(lines[1:]))], new)
    assert split_at_repeats("".join(lines[:1]), lines[0] + new) == ([], lines[0] + new), "short ones are shown again"
    assert split_at_repeats("something else", history + new) == ([], history + new)
    assert split_at_repeats(history, history) == ([], history), "then nothing would be new"
    rows = [f"#{'.#' * 20}{number}#\n" for number in range(9)]
    old, now = ("".join(("No.\n", *shown, "Go on.\n")) for shown in (rows, [rows[0].replace(".", "X"), *rows[1:]]))
    assert split_at_repeats(old, now) == ([], now), "a map is shown whole or not at all"
    # A message with paragraphs is divided between them, and what is before the repeated ones stays in sight.
    step = "Step 3:\nYou took action Move North.\n\n"
    seen = "You see:\n" + "- a ball in the east, and a robot in the west\n" * 6 + "\n"
    assert split_at_repeats(f"2 steps:\n\nold\n\n{step}{seen}now\n", f"3 steps:\n\n{step}{seen}then\n") == (
        [("3 steps:\n\n", step + seen)],
        "then\n",
    )
    # Each observation is folded where the window shows two, and only their headings are new.
    other = seen.replace("ball", "key")
    assert split_at_repeats(f"{seen}Now:\n\n{other}Go on.\n", f"Step 3:\n\n{seen}Then:\n\n{other}Go.\n") == (
        [("Step 3:\n\n", seen), ("Then:\n\n", other)],
        "Go.\n",
    )


def test_a_history_is_folded_though_requests_for_an_action_come_between(tmp_path: Path) -> None:
    environment = waybench.load("messenger/roles")
    play = play_to_end(environment, environment.source("level-2", 2).item(0), policy("oracle"), {"history": 6})
    page = site(tmp_path, [LoggedEpisode("m", "messenger_l2", play.record())]).replays[0]
    folded = [part.split("</details>")[0] for part in said_in(page, "answer") if "As before" in part]
    assert len(folded) >= 3
    assert all("Player Observation Step" in part and "current step observation" not in part for part in folded[1:])
    assert "Action read from the reply: <code>...</code>" not in page.html


def test_reasoning_in_a_reply_is_shown_as_such_and_not_as_the_answer(tmp_path: Path) -> None:
    environment = waybench.load("search/guessnum")
    play: Episode[Any, Any, Any] = Episode(environment, environment.source().item(0))
    play.step("<think>About 145 of them lie behind it.</think>4128")
    play.step("512")
    first, second = said_in(site(tmp_path, [LoggedEpisode("m", "guessnum", play.record())]).replays[0], "reply")
    assert "About 145 of them lie behind it." in first[first.index("Reasoning") :]
    assert "<code>145</code>" not in first
    assert "Reasoning" not in second
