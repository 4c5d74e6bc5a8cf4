"""Prompts, messages, parsing and legality of AQA-Bench against the published program's, and its defects."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.golden.aqa import (
    OPTIONS,
    RANGES,
    Env,
    Played,
    answers,
    dataset,
    golden,
    instance,
    load,
    part_of,
    play,
    transcript,
    with_examples,
)
from waybench.core import End, Episode, Invalid, Item, Outcome, Stream, split_reasoning
from waybench.envs.search._number import Number

Compared = Callable[[str, str, int], None]
ENVS = ("guessnum", "coin", "dfs", "cavedfs", "bfs", "cavebfs")


# Parsing and legality


def read(environment: Env, item: Item[Any], reply: str) -> int | list[Any]:
    """Return what the published reader makes of a reply to the first message, as a golden file writes it."""
    episode = play(environment, item, {}, [reply])
    (turn,) = episode.turns
    game = episode.play.game
    state = game.start(item.instance)
    parsed = episode.play.wording.parse(reply, state)
    if turn.reasoning:  # the published program read reasoning, too; an episode leaves it out before anything is read
        assert turn.action == episode.play.wording.parse(split_reasoning(reply).answer, state) != parsed
    elif isinstance(parsed, Invalid):
        assert (turn.outcome, turn.action) == (Outcome.UNPARSED, None)
    else:
        assert turn.action == parsed
    if isinstance(parsed, Invalid):
        return ["F", turn.reply]
    return ["V", parsed] if game.apply(state, parsed, Stream()).outcome is Outcome.ILLEGAL else parsed


@pytest.mark.parametrize("env", ["guessnum", "coin"])
@pytest.mark.parametrize("mode", ["easy", "hard"])
def test_numbers_are_read_as_published(env: str, mode: str, compared: Compared) -> None:
    data = part_of(golden("parse.json"), f"guessnum_{mode}")
    assert (data["min"], data["max"]) == RANGES[mode]
    environment = load(env)
    item = environment.item(instance({"target": 33333 if mode == "hard" else 31313}, mode))
    for raw, expected in data["rows"]:
        assert read(environment, item, raw) == expected
    compared("aqa", "rows", len(data["rows"]))


@pytest.mark.parametrize("env", ["dfs", "cavedfs", "bfs", "cavebfs"])
def test_nodes_are_read_as_published(env: str, compared: Compared) -> None:
    data = part_of(golden("parse.json"), "graph")
    environment = load(env)
    edges = [[0, node] for node in data["valid"]] + [[data["valid"][0], node] for node in (2, 3, 5, 6)]
    item = environment.item({"nodes": list(range(8)), "edges": edges})
    for raw, expected in data["rows"]:
        # The rows are of a walker. Breadth first, the node that one starts from can be visited again.
        revisit = expected == ["V", 0] and env.endswith("bfs")
        assert read(environment, item, raw) == (0 if revisit else expected)
    compared("aqa", "rows", len(data["rows"]))


@pytest.mark.parametrize("env", ["dfs", "cavedfs", "bfs", "cavebfs"])
def test_nodes_that_can_be_visited(env: str, compared: Compared) -> None:
    data = part_of(part_of(golden("parse.json"), "valid_nodes_after"), "dfs" if env.endswith("dfs") else "bfs")
    environment = load(env)
    size = len(data["adjacency"])
    item = environment.item({"nodes": list(range(size)), "edges": data["edges"]})
    game = environment.playing.play(environment.resolve_options({})).game
    assert {str(node): list(some) for node, some in enumerate(item.instance.graph.neighbours)} == data["adjacency"]
    for walk, valid in data["rows"]:
        state = game.start(item.instance)
        for node in walk:
            state = game.apply(state, node, Stream()).state
        taken = [n for n in range(size) if game.apply(state, n, Stream()).outcome is not Outcome.ILLEGAL]
        assert taken == valid
        assert sorted(game.legal(state)) == ([] if game.terminal(state) else valid)  # nothing is legal once it is over
    compared("aqa", "rows", len(data["rows"]))


# Words


def opening(env: str, mode: str, case: int = 0, **options: Any) -> Played:
    environment = load(env)
    return Episode(environment, environment.item(instance(dataset(env, mode)[case], mode)), {**OPTIONS, **options})


@pytest.mark.parametrize("mode", ["easy", "hard"])
@pytest.mark.parametrize("env", ENVS)
def test_the_program_s_prompts(env: str, mode: str, compared: Compared) -> None:
    first = opening(env, mode).messages[0]
    assert (first.role, first.text) == ("system", part_of(part_of(golden("prompts.json"), env), f"code_{mode}"))
    compared("aqa", "rows", 1)


@pytest.mark.parametrize("env", ENVS)
def test_the_prompts_of_appendix_d(env: str, compared: Compared) -> None:
    printed = " ".join(part_of(part_of(golden("prompts.json"), env), "paper_lines_as_extracted"))
    printed = printed.replace("{min}", "32").replace("{max}", "32800")
    text = opening(env, "easy", wording="appendix").messages[0].text
    assert " ".join(text.split()) == " ".join(printed.split())
    compared("aqa", "rows", 1)


WAYS = {"lower_guess_40": ["40"], "higher_guess_32000": ["32000"], "invalid": ["?"]}  # message -> how to be told it


@pytest.mark.parametrize("env", ENVS)
def test_each_message(env: str, compared: Compared) -> None:
    published = part_of(part_of(golden("prompts.json"), env), "messages")
    number = env in ("guessnum", "coin")
    optimal = part_of(golden(f"episodes_{env}_easy.json")["free"], "optimal")["episodes"]
    steps = int(published.get("done", "0").split()[-1])
    walk: dict[str, Any] = next((one for one in optimal if len(one["replies"]) == steps), optimal[0])
    ways = {
        **WAYS,
        "right": optimal[0]["replies"][-1:],
        "done": walk["replies"],
        # Breadth first, that is the node one starts from; depth first, one goes back to it too early.
        "weak_tg": ["40"] if number else ["0"] if env.endswith("bfs") else [optimal[0]["replies"][0], "0"],
    }
    for name, text in published.items():
        case = walk["case"] if name == "done" else 0
        episode = opening(env, "easy", case, weak_tg_chances=int(name == "weak_tg"))
        if name.startswith("first"):
            assert episode.messages[-1].text == text
            continue
        for reply in ways[name]:
            episode.step(reply)
        assert episode.turns[-1].message == text
    compared("aqa", "rows", len(published))


# Defects of the published program


def test_five_thousand_digits_are_an_invalid_reply_and_end_nothing(compared: Compared) -> None:
    assert part_of(golden("defects.json"), "digits_5000")[0] == "ValueError"
    for env in ENVS:
        episode = opening(env, "easy")
        turn = episode.step("1" * 5000)
        assert (turn.outcome, episode.done) == (Outcome.UNPARSED, False)
    compared("aqa", "rows", 1)


def test_a_lucky_guess_that_is_refused_does_not_end_the_episode(compared: Compared) -> None:
    published = part_of(golden("defects.json"), "weak_tg_lucky_guess")
    episode = opening("guessnum", "easy", weak_tg_chances=1)
    assert dataset("guessnum", "easy")[0]["target"] == published["target"]
    turn = episode.step(published["reply"])
    assert [episode.messages[1].text, turn.message] == published["messages"]
    assert not episode.done
    episode.step(published["reply"])
    assert (answers(episode.record()), episode.end_reason) == ([published["target"]], End.SOLVED)
    compared("aqa", "rows", 1)


def test_examples_are_shown_as_by_the_one_wrapper_that_sent_them(compared: Compared) -> None:
    data = {"env": "guessnum", "mode": "easy"}
    episode = with_examples(data, 0, [798, 799], False, [])
    assert transcript(episode) == part_of(golden("defects.json"), "llama3_ice2_first_request")
    compared("aqa", "rows", 1)


def test_the_optimal_number_of_steps_of_every_target(compared: Compared) -> None:
    published = golden("defects.json")
    environment = load("guessnum")
    low, high = RANGES["easy"]
    steps = Counter(environment.items.prove(Number(target, low, high))["minimum"] for target in range(low, high + 1))
    expected = part_of(published, "guessnum_easy_optimal_steps_over_all_targets")
    assert {str(key): value for key, value in steps.items()} == expected
    low, high = RANGES["hard"]
    assert environment.items.prove(Number(low, low, high))["minimum"] == part_of(
        published, "guessnum_hard_optimal_steps_target_min"
    )
    compared("aqa", "rows", len(steps) + 1)
