"""Prefixes and prompts on a small map; the published ones are compared in tests/golden/test_mango.py."""

import re
from typing import Any, NamedTuple

import pytest

from waybench.core import UsageError
from waybench.envs.textmap._answers import RELEASED
from waybench.envs.textmap._place_map import NEVER, Edge, PlaceMap, WalkthroughStep
from waybench.envs.textmap._prefix import (
    PromptNames,
    all_names,
    last_step_by_published_rule,
    last_step_that_fits,
    places_after_steps,
    published_walkthrough_text,
    seen_names,
    steps_with_place_names,
    with_machine_ids,
)
from waybench.envs.textmap._wording import (
    CHAT,
    PAPER_EXAMPLES,
    PLAIN,
    TEMPLATES,
    PromptTemplate,
    opening_text,
    question_text,
)


class Ask(NamedTuple):
    source: str
    target: str
    actions: tuple[str, ...] = ()


class Words:
    """A tokenizer whose tokens are words with the blanks before them."""

    def encode(self, text: str) -> list[str]:
        return re.findall(r"\s*\S+|\s+", text)

    def decode(self, tokens: Any) -> str:
        return "".join(tokens)


def edge(source: str, action: str, target: str, forward: int = NEVER, reverse: int = NEVER) -> Edge:
    return Edge(source, target, action, forward, reverse, forward, reverse)


ACTIONS = ("Init", "down", "look", "up", "look", "down", "east", "pray", "wait", "down", "look")
MAP = PlaceMap(
    "house",
    ("hall (west)", "attic", "kitchen", "aunt's lair", "hall (east)"),
    ("up", "down", "east", "pray"),
    (
        edge("attic", "down", "kitchen", 1, NEVER),
        edge("kitchen", "up", "attic", 3, 1),
        edge("kitchen", "east", "aunt's lair", 6),
        edge("aunt's lair", "pray", "hall (west)", 7),
        edge("kitchen", "down", "hall (east)", 9),
    ),
    tuple(WalkthroughStep(number, action, f"{action} {{places}} done.\n") for number, action in enumerate(ACTIONS)),
)


def block(number: int) -> str:
    action = MAP.steps[number].action
    return f"\n==>STEP NUM: {number}\n==>ACT: {action}\n==>OBSERVATION: {action} {{places}} done.\n\n"


def test_a_prefix_ends_before_the_next_step() -> None:
    assert published_walkthrough_text(MAP.steps, 0) == block(0)
    assert published_walkthrough_text(MAP.steps, 2) == block(0) + block(1) + block(2)
    whole = "".join(map(block, range(11))).removesuffix("\n")
    assert (
        published_walkthrough_text(MAP.steps)
        == published_walkthrough_text(MAP.steps, 10)
        == published_walkthrough_text(MAP.steps, 70)
        == whole
    )


def test_a_prefix_of_so_many_tokens() -> None:
    words = Words()
    four = len(words.encode("".join(map(block, range(4))).rstrip()))
    whole = len(words.encode(published_walkthrough_text(MAP.steps) + "\n"))
    assert last_step_by_published_rule(MAP.steps, words, whole) is None
    assert last_step_by_published_rule(MAP.steps, words, whole - 1) == 9
    assert last_step_by_published_rule(MAP.steps, words, four) == 2  # step 3 is there, but so it was meant
    assert last_step_by_published_rule(MAP.steps, words, four + 3) == 3
    assert last_step_that_fits(MAP.steps, words, whole) is None
    for number in range(10):
        fits = len(words.encode(published_walkthrough_text(MAP.steps, number)))
        assert last_step_that_fits(MAP.steps, words, fits) == number
    for cut in (last_step_by_published_rule, last_step_that_fits):
        with pytest.raises(UsageError, match="5 tokens are too few for one step"):
            cut(MAP.steps, words, 5)


def test_names_that_a_reader_has_seen() -> None:
    assert all_names(MAP) == PromptNames(MAP.places, MAP.actions)
    assert seen_names(MAP, 0) == PromptNames((), ())
    assert seen_names(MAP, 1) == PromptNames(("attic", "kitchen"), ("up", "down"))
    assert seen_names(MAP, 6) == PromptNames(("attic", "kitchen", "aunt's lair"), ("up", "down", "east"))
    assert seen_names(MAP, NEVER) == all_names(MAP)


def test_the_simplified_walkthrough_names_the_place() -> None:
    places = ["attic", "kitchen", "kitchen", "attic", "attic", "kitchen", "aunt's lair", "hall (west)", "kitchen"]
    assert list(places_after_steps(MAP)) == [
        *places,
        "hall (east)",
        "hall (east)",
    ]  # the game itself led back to the kitchen
    assert published_walkthrough_text(steps_with_place_names(MAP), 1) == (
        "\n==>STEP NUM: 0\n==>ACT: Init\n==>OBSERVATION: attic\n\n"
        "\n==>STEP NUM: 1\n==>ACT: down\n==>OBSERVATION: kitchen\n\n"
    )
    assert len(steps_with_place_names(MAP, 4)) == 5
    with pytest.raises(UsageError, match="no move"):
        places_after_steps(PlaceMap("house", MAP.places, (), (), MAP.steps))


def test_of_several_ends_the_one_from_which_the_way_goes_on() -> None:
    edges = (edge("a", "go", "b", 1), edge("b", "back", "a", 2), edge("a", "go", "c", 3), edge("c", "back", "a", 4))
    edges += (edge("b", "up", "d", 6),)
    steps = tuple(
        WalkthroughStep(number, text, "") for number, text in enumerate(["", "go", "back", "go", "back", "Go ", "up"])
    )
    assert places_after_steps(PlaceMap("x", ("a", "b", "c", "d"), ("go",), edges, steps)) == (
        "a",
        "b",
        "a",
        "c",
        "a",
        "b",
        "d",
    )


def test_names_with_machine_ids() -> None:
    ids = {place: f"obj{number}" for number, place in enumerate(MAP.places)}
    marked = with_machine_ids(MAP, ids)
    assert marked.places == ("hall (obj0)", "attic (obj1)", "kitchen (obj2)", "aunt's lair (obj3)", "hall (obj4)")
    assert marked.edges[3][:3] == ("aunt's lair (obj3)", "hall (obj0)", "pray")
    assert marked.steps is MAP.steps
    with pytest.raises(UsageError, match="'attic' has no id"):
        with_machine_ids(MAP, {"hall (west)": "1"})
    with pytest.raises(UsageError, match="same name"):
        with_machine_ids(MAP, dict.fromkeys(MAP.places, "1"))


ROUTE = Ask("attic", "aunt's lair")
DESTINATION = Ask("attic", "aunt's lair", ("down", "east"))


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_an_opening_tells_the_same_whatever_is_asked(template: PromptTemplate) -> None:
    beginning = opening_text(template, published_walkthrough_text(MAP.steps, 6), seen_names(MAP, 6))
    assert published_walkthrough_text(MAP.steps, 6) in beginning  # braces in a game's text are left alone
    assert "lair" in beginning and "hall" not in beginning
    for question in (ROUTE, DESTINATION):
        text = question_text(template, question)
        assert text.endswith(template.lead)
        assert question.source in text
        assert ("aunt's lair" in text) == (question is ROUTE)  # the answer is not shown
        assert all(key in text for key in template.keys)
        assert "{" not in text.replace("[{'", "").replace('[{"', "")


def test_the_templates_of_the_examples() -> None:
    assert opening_text(PAPER_EXAMPLES, "...", PromptNames(("a", "b c"), ("up",))) == (
        "...\n\nThe allowed actions are: up\nThe list of places are: a, b c\n"
    )
    ends = (
        "\nDescribe the trajectory in a Python list of Python dictionaries with keys 'prev_node', 'node' and 'action'."
        "\nStart your response with '['."
    )
    assert question_text(PAPER_EXAMPLES, ROUTE) == "How can you go from attic to aunt's lair?" + ends
    starts = "Starting from attic, perform a list of actions [down, east], where are you now?"
    assert question_text(PAPER_EXAMPLES, DESTINATION) == starts + ends


def test_names_are_quoted() -> None:
    assert '["down", "east"]' in question_text(PLAIN, DESTINATION)
    assert '"aunt\'s lair"' in question_text(PLAIN, ROUTE)
    assert question_text(PLAIN, Ask('at "y2"', "attic")).startswith(r'Which moves lead from "at \"y2\"" to "attic"?')
    assert "['down', 'east']" in question_text(CHAT, DESTINATION)
    assert CHAT.keys == PLAIN.keys == RELEASED
