"""Extractions: true triplets, the graph and its search, scores, turns, replies, and published games."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.conftest import shared
from tests.envs.textmap import edge
from waybench.core import DataError, Episode, Item, Reply, Stream, play_to_end, policy
from waybench.envs.textmap._answers import PAPER, SOUND, Hop
from waybench.envs.textmap._extraction_items import (
    Extraction,
    TripletGraph,
    decode_extraction,
    make_extractions,
    resolve_extraction,
    score_triplets,
)
from waybench.envs.textmap._items import MapQuestion
from waybench.envs.textmap._place_map import PlaceMap, WalkthroughStep, load_map

ENV = waybench.load("textmap/extract")
PAPERS_GAMES = ("zork1", "night", "partyfoul", "plundered", "spirit", "temple")

# A hall with an attic, a garden and a slide into the cellar, from which one climbs out into the garden.
_STEPS = (
    ("Init", "Hall"),
    ("up", "Attic"),
    ("look", "Attic"),
    ("down", "Hall"),
    ("wait", "Time passes."),
    ("out", "Garden"),
    ("dig", "You find nothing."),
    ("in", "Hall"),
    ("slide", "Cellar"),
    ("climb", "Garden"),
)
HOUSE = PlaceMap(
    "house",
    ("attic", "hall", "garden", "cellar"),
    ("up", "down", "out", "in", "slide", "climb"),
    (
        edge("hall", "up", "attic", forward=1, reverse=3),
        edge("attic", "down", "hall", forward=3, reverse=1),
        edge("hall", "out", "garden", forward=5, reverse=7),
        edge("garden", "in", "hall", forward=7, reverse=5),
        edge("hall", "slide", "cellar", forward=8),
        edge("cellar", "climb", "garden", forward=9),
    ),
    tuple(WalkthroughStep(number, action, f"{observation}\n") for number, (action, observation) in enumerate(_STEPS)),
)
TRUTH = (
    Hop("hall", "up", "attic"),
    Hop("attic", "look", "attic"),
    Hop("attic", "down", "hall"),
    Hop("hall", "wait", "hall"),
    Hop("hall", "out", "garden"),
    Hop("garden", "dig", "garden"),
    Hop("garden", "in", "hall"),
    Hop("hall", "slide", "cellar"),
    Hop("cellar", "climb", "garden"),
)
ROUTE = MapQuestion(HOUSE, 9, "attic", "cellar")
DESTINATION = MapQuestion(HOUSE, 9, "hall", "garden", (HOUSE.edges[4], HOUSE.edges[5]))
TASK = Extraction(HOUSE, 9, (ROUTE, DESTINATION))


def item(task: Extraction) -> Item[Extraction]:
    return Item(task, "one", task.level, proof=ENV.items.prove(task))


def metrics(episode: Any) -> dict[str, Any]:
    record = episode.record()
    return {metric.name: metric.of(record) for metric in ENV.scoring.metrics}


def triplet(hop: Hop) -> str:
    return json.dumps({"location_before": hop.before, "action": hop.action, "location_after": hop.after})


def played(replies: list[str | Reply], **options: Any) -> Any:
    episode = Episode(ENV, item(TASK), options)
    for reply in replies:
        episode.step(reply)
    return episode


def test_true_triplets() -> None:
    assert TASK.truth == TRUTH
    assert ENV.items.prove(TASK) == {"steps": 9, "moves": 6, "questions": 2, "ceiling": 1.0}


def test_the_graph_of_triplets() -> None:
    moves = [TRUTH[0], TRUTH[1], Hop("HALL", "Out", "garden ")]
    assert TripletGraph(moves, opposites=False).edges == {("hall", "up", "attic"), ("hall", "out", "garden")}
    assert TripletGraph(moves, opposites=True).edges == {
        ("hall", "up", "attic"),
        ("attic", "down", "hall"),
        ("hall", "out", "garden"),
        ("garden", "in", "hall"),
    }
    # What is said of a move counts more than what follows from another one.
    graph = TripletGraph([TRUTH[0], Hop("attic", "down", "cellar")], opposites=True)
    assert ("attic", "down", "cellar") in graph.edges
    assert ("attic", "down", "hall") not in graph.edges


def test_the_search() -> None:
    whole = TripletGraph(TRUTH, opposites=True)
    assert whole.answer_question(ROUTE) == (TRUTH[2], TRUTH[7])
    assert whole.answer_question(DESTINATION) == (TRUTH[7], TRUTH[8])
    without = TripletGraph([TRUTH[0], TRUTH[7]], opposites=False)
    assert without.answer_question(ROUTE) == ()
    assert TripletGraph([TRUTH[0], TRUTH[7]], opposites=True).answer_question(ROUTE) == (
        Hop("attic", "down", "hall"),
        TRUTH[7],
    )
    assert without.answer_question(DESTINATION) == ()  # nothing is known of climbing
    assert without.answer_question(replace(ROUTE, source="garden")) == ()
    # Of two places that a move is said to lead to, that is taken from which it goes on.
    forked = TripletGraph([Hop("hall", "slide", "attic"), TRUTH[7], TRUTH[8]], opposites=False)
    assert forked.answer_question(DESTINATION) == (TRUTH[7], TRUTH[8])


def test_what_comes_of_triplets() -> None:
    best = score_triplets(TASK, TRUTH, "whole", SOUND)
    assert (best.success, best.triplets, best.moving, best.recall) == (1.0, 1.0, 1.0, 1.0)
    assert best.precision == 1.0  # nobody knows the opposites of sliding and climbing by their words
    assert [each.kind for each in best.questions] == ["route", "destination"]


def test_precision_counts_what_the_map_does_not_have() -> None:
    found = score_triplets(TASK, (TRUTH[0], Hop("cellar", "west", "attic")), "whole", SOUND)
    # up and down are the map's; west, and the east that follows from it, are not.
    assert found.precision == 0.5
    assert found.recall == 2 / 6
    assert found.moving == 1 / 6


def test_one_that_is_left_out_moves_all_that_follow() -> None:
    said = TRUTH[1:]
    assert score_triplets(TASK, said, "whole", PAPER).triplets == 0.0
    assert score_triplets(TASK, said, "whole", SOUND).triplets == 8 / 9
    assert score_triplets(TASK, (*TRUTH, *TRUTH), "whole", SOUND).triplets == 1.0
    assert score_triplets(TASK, (TRUTH[1],) * 9, "whole", SOUND).triplets == 1 / 9  # said nine times, it is right once
    strange = Hop("garden", "dig", "attic")
    late = score_triplets(TASK, (*[strange] * 9, *TRUTH), "whole", SOUND)
    assert late.triplets == 0.0  # as many count as there are steps


def test_similar_names_have_credit_in_paper() -> None:
    said = (*TRUTH[:8], Hop("cellar", "climb", "gardens"))
    assert score_triplets(TASK, said, "whole", SOUND).questions[1].success == 0.0
    assert score_triplets(TASK, said, "whole", PAPER).questions[1].success == pytest.approx(6 / 7)


def test_steps_are_turns() -> None:
    episode = played([triplet(hop) for hop in TRUTH[5:]])
    assert [turn.outcome for turn in episode.turns] == ["ok"] * 4
    assert episode.end_reason == "solved"
    assert episode.turns[-1].message == "That was the last step."
    found = metrics(episode)
    assert (found["success"], found["triplets"], found["parsed"], found["ceiling"]) == (1.0, 1.0, 1.0, 1.0)


def test_every_prompt_has_the_examples_and_one_step() -> None:
    episode = played([triplet(TRUTH[5])])
    [message] = episode.messages
    assert all(triplet(hop) in message.text for hop in TRUTH[:5])
    assert "NUM: 6" in message.text  # the step before, with its observation
    assert "You find nothing." in message.text
    assert "NUM: 7" in message.text
    assert "NUM: 8" not in message.text
    assert triplet(TRUTH[5]) not in message.text


def test_the_place_before_a_step() -> None:
    wrong = triplet(Hop("garden", "dig", "cellar"))
    for options, place in (
        ({}, "garden"),
        ({"protocol": "sound"}, "cellar"),
        ({"before": "own"}, "cellar"),
        ({"protocol": "sound", "before": "told"}, "garden"),
    ):
        assert f'The place before it: "{place}"' in played([wrong], **options).messages[0].text
    # What could not be read leaves the place where it was.
    assert 'The place before it: "garden"' in played(["?"], before="own").messages[0].text
    assert 'The place before it: "garden"' in played(["?", "?"], before="own").messages[0].text
    assert 'The place before it: "cellar"' in played([wrong, "?"], before="own").messages[0].text


def test_a_step_that_cannot_be_read_is_lost() -> None:
    replies: list[str | Reply] = [
        *(triplet(TRUTH[5]), "I do not know."),
        *(Reply(triplet(TRUTH[7]), "truncated"), triplet(TRUTH[8])),
    ]
    episode = played(replies)
    assert episode.done
    found = metrics(episode)
    assert (found["triplets"], found["parsed"], found["triplets_moving"]) == (0.5, 0.5, 1 / 3)
    assert (found["success"], found["success_route"], found["success_destination"]) == (0.0, 0.0, 0.0)
    assert found["recall"] == 5 / 6  # the slide is missing, and "in" follows from "out"


def test_who_says_nothing_has_no_graph() -> None:
    assert metrics(play_to_end(ENV, item(TASK), policy("null")))["recall"] == 0.0
    said_one = played([triplet(TRUTH[5]), "?", "?", "?"])
    assert metrics(said_one)["recall"] == 4 / 6  # the examples count then


def test_whole() -> None:
    episode = played(["Here they are: [" + ",".join(map(triplet, TRUTH)) + "]"], mode="whole")
    assert (episode.end_reason, metrics(episode)["success"]) == ("solved", 1.0)
    prompt = episode.record().opening[0].text
    assert "NUM: 9" in prompt
    assert "from 1 to 9" in prompt
    failed = played(["[" + ",".join(map(triplet, TRUTH))], mode="whole")
    assert failed.done
    assert (metrics(failed)["success"], metrics(failed)["parsed"]) == (0.0, 0.0)
    assert "malformed" in failed.turns[0].message


@pytest.mark.parametrize(
    "reply",
    [
        "hall, up, attic",
        '{"location_before": "hall", "action": "up"}',
        '{"location_before": "hall", "action": "up", "location_after": null}',
        '{"location_before": "hall", "action": "up", "location_after": "' + "x" * 1_001 + '"}',
        '{"location_before": "hall", "location_before": "attic", "action": "up", "location_after": "hall"}',
        "__import__('os')",
    ],
)
def test_replies_that_are_no_triplet(reply: str) -> None:
    assert played([reply]).turns[0].outcome == "unparsed"


def test_players() -> None:
    assert metrics(play_to_end(ENV, item(TASK), policy("staying")))["triplets"] == 0.25  # of digging
    assert metrics(play_to_end(ENV, item(TASK), policy("headings")))["triplets"] == 1.0  # every name is a first line
    hidden = replace(HOUSE, steps=(*HOUSE.steps[:8], WalkthroughStep(8, "slide", "It is dark.\n"), HOUSE.steps[9]))
    task = replace(TASK, map=hidden)
    assert metrics(play_to_end(ENV, item(task), policy("headings")))["triplets"] == 0.75


def test_json() -> None:
    data = json.loads(json.dumps(TASK.to_json()))
    assert decode_extraction(data) == TASK
    drawn = decode_extraction({"map": data["map"], "cutoff": 900})
    assert drawn.cutoff == 9  # the walkthrough has no more
    assert drawn == decode_extraction({"map": data["map"], "cutoff": 900})
    assert {len(question.path) > 0 for question in drawn.questions} == {True, False}
    for changes, message in (
        ({"cutoff": 5}, "from 6 to 1000"),
        ({"questions": []}, "list of 1"),
        ({"questions": ["x"]}, "record 0: give"),
        ({"questions": [{"src": "hall", "dst": "hall"}]}, "record 0: dst"),
        ({"questions": [{"src": "hall", "dst": "attic"}, {"src": "hall", "dst": "moon"}]}, "record 1: dst"),
        ({"questions": [{"src": "hall", "actions": ["north"]}]}, "no simple path"),
        ({"questions": [{"src": "hall", "dst": "cellar"}], "cutoff": 7}, "cannot be answered"),
        ({"map": {**data["map"], "steps": data["map"]["steps"][:4]}}, "ends at step 3"),
        ({"map": 3}, "map"),
    ):
        with pytest.raises(DataError, match=message):
            decode_extraction({**data, **changes})


def test_extractions() -> None:
    [found] = make_extractions(HOUSE, 7, 3, Stream("one"))
    assert found.cutoff == 7
    assert len(found.map.steps) == 9
    assert all(question.labels.difficulty(7) for question in found.questions)
    assert sum(len(question.path) == 0 for question in found.questions) == 3
    assert make_extractions(HOUSE, 5, 3, Stream("one")) == []  # all steps would be examples
    assert (
        make_extractions(replace(HOUSE, edges=(edge("cellar", "climb", "garden", forward=9),)), 7, 3, Stream("one"))
        == []
    )


def _published(game: str) -> PlaceMap:
    return load_map(shared("WAYBENCH_DATA", "data", "mango", game), game)


@pytest.mark.parametrize("game", PAPERS_GAMES)
@pytest.mark.parametrize("mode", ["steps", "whole"])
def test_the_oracle_on_the_paper_s_games(game: str, mode: str) -> None:
    [task] = make_extractions(_published(game), 70, 4, Stream("oracle", game))
    assert len(task.questions) == 8
    for protocol in ("paper", "sound"):
        episode = play_to_end(ENV, item(task), policy("oracle"), {"mode": mode, "protocol": protocol})
        found = metrics(episode)
        assert found["triplets"] == found["triplets_moving"] == found["parsed"] == 1.0
        assert found["success"] == found["ceiling"] >= 0.85
        assert found["recall"] == 1.0
        assert len(episode.turns) == (1 if mode == "whole" else task.cutoff - 5)


def test_true_triplets_of_zork1() -> None:
    [task] = make_extractions(_published("zork1"), 70, 4, Stream("zork1"))
    truth = task.truth
    assert truth[:2] == (Hop("west of house", "north", "north of house"), Hop("north of house", "north", "forest path"))
    assert truth[3] == Hop("up a tree", "get egg", "up a tree")
    assert truth[50] == Hop("altar", "pray", "forest")


def test_a_game_that_moves_the_player_by_itself_lowers_the_ceiling() -> None:
    # In zork3 one waits in room 8 and is at the scenic vista; that is a triplet of the walk, but no move of the map.
    [task] = make_extractions(_published("zork3"), 70, 4, Stream("zork3"))
    assert Hop("room 8", "wait", "scenic vista") in task.truth
    found = metrics(play_to_end(ENV, item(task), policy("oracle"), {"mode": "whole"}))
    assert found["precision"] < 1
    assert found["success"] == found["ceiling"]


def test_a_published_game_by_name() -> None:
    def locate(data_set: str, file: str) -> Path:
        return shared("WAYBENCH_DATA", "data", "mango", file)

    task = decode_extraction(resolve_extraction({"game": "905", "cutoff": 70}, locate))
    assert (task.map.name, task.cutoff) == ("905", 22)
    data = {"game": "zork1", "cutoff": 20, "questions": [{"src": "attic", "dst": "kitchen"}]}
    assert [question.target for question in decode_extraction(resolve_extraction(data, locate)).questions] == [
        "kitchen"
    ]
    with pytest.raises(DataError, match="from 6 to 70"):
        resolve_extraction({"game": "zork1", "cutoff": 71}, locate)
