"""The two environments: prompts, scores and players."""

import json
from typing import Any

import pytest

import waybench
from tests.envs.textmap import HOUSE, edge, of_edges
from waybench.core import Episode, EpisodeRecord, Item, Outcome, play_to_end, policy
from waybench.envs.textmap._instances import truncate_map
from waybench.envs.textmap._items import MapQuestion
from waybench.envs.textmap._measures import prove

ROUTE, DESTINATION = waybench.load("textmap/route"), waybench.load("textmap/destination")
PATH = (HOUSE.edges[1], HOUSE.edges[3])  # attic, down, hall, out, garden
TO_GARDEN = MapQuestion(truncate_map(HOUSE, 9), 9, "attic", "garden")
FROM_ATTIC = MapQuestion(truncate_map(HOUSE, 9), 9, "attic", "garden", PATH)
RIGHT = [("attic", "down", "hall"), ("hall", "out", "garden")]
KEYS = ("location_before", "action", "location_after")


def item(question: MapQuestion) -> Item[MapQuestion]:
    return Item(question, "it", question.level, "k", 0, prove(question))


def reply(*hops: tuple[str, str, str], keys: tuple[str, str, str] = KEYS) -> str:
    return json.dumps([dict(zip(keys, hop, strict=True)) for hop in hops])


def answered(question: MapQuestion, text: str, **options: Any) -> EpisodeRecord:
    environment = DESTINATION if question.path else ROUTE
    episode = Episode(environment, item(question), options)
    episode.step(text)
    assert episode.done
    return episode.record()


def measured(record: EpisodeRecord) -> dict[str, Any]:
    return {metric.name: metric.format_value(record) for metric in waybench.load(record.env).scoring.metrics}


@pytest.mark.parametrize("protocol", ["paper", "sound"])
def test_right_answers(protocol: str) -> None:
    for question in (TO_GARDEN, FROM_ATTIC):
        found = measured(answered(question, reply(*RIGHT), protocol=protocol))
        assert [found[name] for name in ("success", "spl", "reasoning", "parsed", "answerable")] == [1] * 5
        assert (found["difficulty"], found["invented"]) == ("easy", 0)
        assert (found["success_easy"], found["success_hard"]) == (1, None)


def test_a_detour_weighs_less() -> None:
    detour = [("attic", "down", "hall"), ("hall", "up", "attic"), ("attic", "jump", "hall"), ("hall", "out", "garden")]
    found = measured(answered(TO_GARDEN, reply(*detour)))
    assert (found["success"], found["spl"], found["reasoning"]) == (1, 0.5, 1)


def test_wrong_places_on_the_way_are_no_matter_of_success() -> None:
    found = measured(answered(TO_GARDEN, reply(("attic", "down", "cellar"), ("cellar", "out", "garden"))))
    assert (found["success"], found["reasoning"], found["invented"]) == (1, 0, 1)


@pytest.mark.parametrize(
    ("protocol", "said", "success"),
    [("paper", "go out", 1), ("sound", "go out", 0), ("sound", " OUT ", 1), ("paper", "OUT", 1)],
)
def test_moves_that_are_nearly_right(protocol: str, said: str, success: int) -> None:
    record = answered(TO_GARDEN, reply(RIGHT[0], ("hall", said, "garden")), protocol=protocol)
    assert measured(record)["success"] == success
    assert record.turns[0].outcome == (Outcome.OK if success else Outcome.ILLEGAL)


@pytest.mark.parametrize(
    ("protocol", "said", "success", "outcome"),
    [
        ("paper", "gardens", 1 - 1 / 7, "illegal"),
        ("sound", "gardens", 0, "illegal"),
        ("sound", "Garden", 1, "ok"),
        ("paper", "hall", 1 / 6, "unproductive"),  # one letter of six is at the same place
        ("sound", "hall", 0, "unproductive"),
    ],
)
def test_names_that_are_nearly_right(protocol: str, said: str, success: float, outcome: str) -> None:
    record = answered(FROM_ATTIC, reply(RIGHT[0], ("hall", "out", said)), protocol=protocol)
    assert measured(record)["success"] == pytest.approx(success)
    assert str(record.turns[0].outcome) == outcome
    assert measured(record)["strict"] == float(said == "Garden")


@pytest.mark.parametrize("text", ["", "[]", "I do not know.", "[{}]", '[{"location_before": "attic"}]'])
def test_what_cannot_be_read_is_a_failure_in_both_protocols_and_left_out_of_the_papers_numbers(text: str) -> None:
    names = ("success", "success_easy", "spl", "spl_easy", "reasoning", "reasoning_easy")
    for question in (TO_GARDEN, FROM_ATTIC):
        metrics = {metric.name: metric for metric in (DESTINATION if question.path else ROUTE).scoring.metrics}
        headline, published = metrics["success"], metrics["mango_success"]
        assert headline.per and published.per
        for protocol in ("paper", "sound"):
            record = answered(question, text, protocol=protocol)
            found = measured(record)
            assert [found[name] for name in names] == [0] * 6
            assert [found[f"mango_{name}"] for name in names] == [None] * 6
            assert (headline.per(record), published.per(record)) == (1, 0)
            assert (found["parsed"], found["mango_left_out"], record.end) == (0, 1, "failed")
            assert metrics[published.left_out].of(record) == 1
            right = answered(question, reply(*RIGHT), protocol=protocol)
            assert (published.of(right), published.per(right), measured(right)["mango_left_out"]) == (1, 1, 0)


def test_what_cannot_be_known_is_kept_apart() -> None:
    # The cellar is dug at step 8; nothing leads out of it.
    for question, value in (
        (MapQuestion(truncate_map(HOUSE, 7), 7, "garden", "cellar"), None),
        (MapQuestion(truncate_map(HOUSE, 7), 7, "garden", "cellar", (HOUSE.edges[6],)), 1),
        (MapQuestion(HOUSE, 9, "cellar", "garden"), None),
    ):
        record = answered(question, reply(("garden", "dig", "cellar")))
        found = measured(record)
        assert (found["success"], found["answerable"], found["difficulty"]) == (value, 0, None)
        assert (found["success_easy"], found["success_hard"]) == (None, None)
        assert ROUTE.scoring.metrics[0].per and ROUTE.scoring.metrics[0].per(record) == 0


def test_hard_questions() -> None:
    hard = MapQuestion(truncate_map(HOUSE, 4), 4, "garden", "attic")  # by "in", which is known from "out" only
    assert (prove(hard)["difficulty"], prove(hard)["easy_from"]) == (None, 7)  # its name is known two steps later
    later = MapQuestion(truncate_map(HOUSE, 5), 5, "garden", "attic")
    assert prove(later) == {
        "answerable": True,
        "difficulty": "hard",
        "answerable_from": 5,
        "easy_from": 7,
        "shortest": 1,
    }


def test_all_questions_about_a_prefix_begin_with_the_same_text() -> None:
    other = MapQuestion(truncate_map(HOUSE, 9), 9, "hall", "cellar")
    for environment, questions in ((ROUTE, (TO_GARDEN, other)), (DESTINATION, (FROM_ATTIC,))):
        for wording in environment.playing.options[1].choices:
            for question in questions:
                play = environment.playing.play(environment.resolve_options({"wording": wording}))
                begin = play.wording.opening_text(question.map, 9)
                [message] = Episode(environment, item(question), {"wording": wording}).messages
                assert message.text.startswith(begin)
                assert HOUSE.steps[9].observation in begin
                record = Episode(environment, item(question), {"wording": wording}).record()
                share = measured(record)["shared"]
                assert share == pytest.approx(len(begin) / len(message.text), rel=0, abs=1e-12)


def text_of(question: MapQuestion, **options: Any) -> str:
    return Episode(DESTINATION if question.path else ROUTE, item(question), options).messages[0].text


def test_lists_tell_nothing_of_what_comes_later_in_sound() -> None:
    early = MapQuestion(truncate_map(HOUSE, 3), 3, "attic", "garden")
    assert "'cellar'" in text_of(early)
    assert "'dig'" in text_of(early)
    for prompt in (text_of(early, protocol="sound"), text_of(early, lists="seen")):
        assert "['attic', 'hall', 'garden']" in prompt.replace(
            "['hall', 'attic', 'garden']", "['attic', 'hall', 'garden']"
        )
        assert "dig" not in prompt
        assert "cellar" not in prompt
    assert "'cellar'" in text_of(early, protocol="sound", lists="all")


def test_observations_can_be_names_alone() -> None:
    prompt = text_of(MapQuestion(truncate_map(HOUSE, 3), 3, "attic", "garden"), observations="names")
    assert "Tick" not in prompt
    assert "==>STEP NUM: 3\n==>ACT: wait\n==>OBSERVATION: garden\n" in prompt


def test_nothing_beyond_the_cutoff_is_shown() -> None:
    prompt = text_of(MapQuestion(truncate_map(HOUSE, 3), 3, "attic", "garden"))
    assert "Tick 3." in prompt
    assert "Tick 4." not in prompt


LANE = of_edges(
    "lane",
    [
        edge("gate", "north", "lane", forward=1, reverse=4),
        edge("lane", "north", "barn", forward=2),
        edge("lane", "east", "pond", forward=3, reverse=4),
        edge("pond", "west", "lane", forward=4, reverse=3),
        edge("lane", "south", "gate", reverse=1),
    ],
)


def hops(player: str, question: MapQuestion) -> list[tuple[str, ...]]:
    record = play_to_end(DESTINATION if question.path else ROUTE, item(question), policy(player)).record()
    return [tuple(hop) for hop in record.turns[0].action]


def test_players() -> None:
    back = MapQuestion(LANE, 9, "pond", "gate")
    right = [("pond", "west", "lane"), ("lane", "south", "gate")]
    assert hops("oracle", back) == right
    # Nobody has walked south, so that who knows only what was walked makes something up.
    assert hops("walked", back) == [("pond", "west", "gate")]
    assert hops("walked", MapQuestion(LANE, 9, "gate", "pond"))[-1] == ("lane", "east", "pond")
    given = MapQuestion(LANE, 9, "pond", "gate", (LANE.edges[3], LANE.edges[4]))
    assert hops("oracle", given) == hops("reverse", given) == right
    assert hops("walked", given) == [("pond", "west", "lane"), ("lane", "south", "lane")]
    # "north" is the most common action, and "lane" is as near to the other names as any.
    assert hops("constant", back)[0][1] == "north"
    assert hops("constant", given)[0][2] in LANE.places


def test_retracing_goes_the_nearer_way() -> None:
    """The walkthrough's own steps, backward by the opposite of each: down, then up again."""
    steps = [step._replace(action=action) for step, action in zip(LANE.steps, ("Init", "north", "north"), strict=False)]
    place_map = of_edges("line", [edge("a", "north", "b", forward=1), edge("b", "north", "c", forward=2)])
    place_map = type(place_map)(
        place_map.name, place_map.places, ("north", "south"), place_map.edges, (*steps, *LANE.steps[3:])
    )
    assert hops("reverse", MapQuestion(place_map, 9, "a", "c")) == [("a", "north", "b"), ("b", "north", "c")]
    assert hops("reverse", MapQuestion(place_map, 9, "c", "a")) == [("c", "south", "b"), ("b", "south", "a")]


HOSTILE = {
    "nested": "[" * 100_000,
    "nested objects": '[{"location_before":' * 50_000,
    "ten megabytes": "[" + "x" * 10_000_000 + "]",
    "ten megabytes of brackets": "[]" * 5_000_000,
    "apostrophes": "[{'location_before': 'dragon's lair', 'action': 'north', 'location_after': 'b'}]",
    "bracket in a name": '[{"location_before": "a]", "action": "north", "location_after": "b"}]',
    "null": '[{"location_before": null, "action": "north", "location_after": "b"}]',
    "python null": "[{'location_before': None, 'action': 'north', 'location_after': 'b'}]",
    "call": "[{'location_before': __import__('os').system('true'), 'action': 'n', 'location_after': 'b'}]",
    "a long name": reply(("a" * 10_000, "north", "b")),
    "many moves": reply(*[("attic", "down", "hall")] * 2_000),
    "surrogate": '[{"location_before": "\\ud800", "action": "north", "location_after": "b"}]',
}


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("protocol", ["paper", "sound"])
def test_hostile_answers(name: str, protocol: str) -> None:
    for question in (TO_GARDEN, FROM_ATTIC):
        record = answered(question, HOSTILE[name], protocol=protocol)
        [turn] = record.turns
        read = name == "surrogate" or (name == "bracket in a name" and protocol == "sound")
        assert (turn.reason is None) == read
        assert EpisodeRecord.from_json(json.loads(record.dumps())) == record
