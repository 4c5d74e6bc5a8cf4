"""An item among others in one prompt of a given length."""

import re
from dataclasses import replace
from typing import Any

import pytest

from waybench.core import Episode, Item, UsageError, play_to_end, policy, replay
from waybench.core._tokens import CharacterTokens
from waybench.envs import registry
from waybench.evaluation._provider import action_request_arguments
from waybench.results import LoggedEpisode, rows
from waybench.results.comparisons._contrasts import contrast_effects, contrast_text

ENVS = ("maze/alicia", "textmap/route", "textmap/destination")
LEVELS = {"maze/alicia": 9}


def item(env: str, index: int = 0) -> Item[Any]:
    return registry.load(env).source(level=LEVELS.get(env, 2)).item(index)


def prompt(env: str, one: Item[Any], **options: Any) -> str:
    return "\n\n".join(message.text for message in Episode(registry.load(env), one, options).messages)


def tasks(text: str) -> list[str]:
    """Return the texts of the tasks, read as a player would."""
    body = text.partition("# Task 1\n\n")[2].rpartition("\n\nNow do task")[0]
    return re.split(r"\n\n# Task [0-9]+\n\n", body)


def test_these_environments_have_it_among_items() -> None:
    assert {entry.id for entry in registry.built_in if registry.load(entry.id).playing.takes_context} == set(ENVS)


@pytest.mark.parametrize("env", ENVS)
@pytest.mark.parametrize("tokens", [8_000, 40_000])
def test_the_item_stands_among_others_of_its_level(env: str, tokens: int) -> None:
    one = item(env)
    alone, text = prompt(env, one), prompt(env, one, context_tokens=tokens)
    found = tasks(text)
    match = re.fullmatch(r"Below are (\d+) tasks, .* Do task (\d+) only, .*", text.partition("\n")[0])
    assert match is not None
    assert int(match[1]) == len(found) == len(set(found)) > 1
    assert found[int(match[2]) - 1] == alone and found.count(alone) == 1
    assert text.endswith(f"Now do task {match[2]} only.")
    # As many as have room: the largest of them would not go into what is left, by four letters for a token.
    assert tokens - max(map(len, found)) / 4 - 5 < len(text) / 4 <= tokens


def test_prompts_of_other_lengths_differ_in_the_number_of_the_others_alone() -> None:
    for index in range(6):
        one = item("maze/alicia", index)
        shares = list[float]()
        short, long = (tasks(prompt("maze/alicia", one, context_tokens=tokens)) for tokens in (5_000, 50_000))
        assert set(short) < set(long)
        shares = [texts.index(prompt("maze/alicia", one)) / len(texts) for texts in (short, long)]
        assert abs(shares[0] - shares[1]) <= 1 / len(short)


def test_the_item_is_never_one_of_the_others() -> None:
    """There are 20 mazes of dimension 5."""
    one = registry.load("maze/alicia").source(level=5).item(0)
    found = tasks(prompt("maze/alicia", one, context_tokens=60_000))
    assert found.count(prompt("maze/alicia", one)) == 1 and 10 < len(set(found)) <= 20 < len(found)


def test_the_place_of_the_item_is_drawn() -> None:
    places = set[int]()
    for index in range(12):
        one = item("maze/alicia", index)
        found = tasks(prompt("maze/alicia", one, context_tokens=10_000))
        places.add(3 * found.index(prompt("maze/alicia", one)) // len(found))
    assert places == {0, 1, 2}, "in each third of the prompt"


@pytest.mark.parametrize("env", ENVS)
@pytest.mark.parametrize("wording", [{}, {"interface": "tools"}])
def test_an_episode_has_one_turn_and_is_replayed(env: str, wording: dict[str, Any]) -> None:
    environment, options = registry.load(env), {**wording, "context_tokens": 9_000}
    solved = play_to_end(environment, item(env), policy("oracle"), options).record()
    assert (str(solved.end), len(solved.turns)) == ("solved", 1)
    assert solved.options["context_tokens"] == 9_000 and solved.options["context_tokenizer"] == "characters"
    replay(environment, solved)
    failed = play_to_end(environment, item(env), policy("null"), options).record()
    assert (environment.difficulty.is_success(failed), len(failed.turns)) == (False, 1)


def test_items_that_are_answered_by_tools_offer_them() -> None:
    episodes = {
        interface: Episode(
            registry.load("maze/alicia"), item("maze/alicia"), {"interface": interface, "context_tokens": 9_000}
        )
        for interface in ("text", "tools")
    }
    assert {interface: episode.play.wording.acts_by_tools for interface, episode in episodes.items()} == {
        "text": False,
        "tools": True,
    }
    assert action_request_arguments(episodes["tools"])["tools"] and not action_request_arguments(episodes["text"])


def test_without_it_records_are_as_they_were() -> None:
    record = play_to_end(registry.load("maze/alicia"), item("maze/alicia"), policy("oracle")).record()
    assert not [name for name in record.options if "context" in name]


def test_tokens_are_counted_by_the_tokenizer_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Letters(CharacterTokens):
        def encode(self, text: str, /) -> list[str]:
            return list(text)

    class Library:
        @staticmethod
        def get_encoding(name: str) -> Letters:
            assert name == "letters"
            return Letters()

    monkeypatch.setattr("waybench.core._tokens.import_module", lambda name: {"tiktoken": Library}[name])
    given = {"context_tokens": 20_000, "context_tokenizer": "tiktoken/letters"}
    text = prompt("maze/alicia", item("maze/alicia"), **given)
    assert 20_000 - 1_300 < len(text) <= 20_000


@pytest.mark.parametrize(
    ("env", "options", "why"),
    [
        ("maze/alicia", {"context_tokens": 200}, r"an item of this level takes \d+; give more"),
        ("maze/alicia", {"context_tokens": 99}, "out of range"),
        ("maze/alicia", {"context_tokens": 10**9}, "out of range"),
        ("maze/alicia", {"context_tokens": "many"}, "a whole number"),
        ("maze/alicia", {"context_tokenizer": "characters"}, "give context_tokens, too"),
        ("maze/alicia", {"context_tokens": 5_000, "context_tokenizer": "/etc/passwd"}, "characters or tiktoken"),
        ("maze/alicia", {"context_tokens": 5_000, "wording": "image"}, "a wording without pictures"),
        ("maze/alicia", {"context_tokens": 5_000, "prefix": "oracle:1"}, "only one turn"),
        ("search/dfs", {"context_tokens": 5_000, "context_text": "items"}, "cannot stand among others; give prose"),
        ("search/dfs", {"context_tokens": 100}, r"an item of this level takes \d+; give more"),
        ("search/dfs", {"context_text": "prose"}, "give context_tokens, too"),
    ],
)
def test_what_does_not_fit_is_refused(env: str, options: dict[str, Any], why: str) -> None:
    environment = registry.load(env)
    with pytest.raises(UsageError, match=why) as raised:
        Episode(environment, environment.source(level=LEVELS.get(env)).item(0), options)
    assert "\n" not in str(raised.value)


TASK = re.compile(r"=== TASK ===\n\n(.*)\n\n=== END OF THE TASK ===", re.DOTALL)
IDS = [entry.id for entry in registry.built_in]


def within_prose(
    env: str, one: Item[Any], tokens: int, player: str = "oracle", **options: Any
) -> Episode[Any, Any, Any]:
    environment = registry.load(env)
    context = {"context_tokens": tokens, "context_text": "prose"}
    return play_to_end(environment, one, policy(player), {**environment.playing.check_options, **options, **context})


@pytest.mark.parametrize("env", IDS)
def test_every_environment_can_be_asked_within_prose(env: str) -> None:
    environment = registry.load(env)
    one = environment.source().item(0)
    alone = play_to_end(environment, one, policy("oracle"), dict(environment.playing.check_options))
    episode = within_prose(env, one, 8_000)
    rules = episode.play.wording.rules(one.instance)
    task = TASK.search(rules)
    assert task is not None and task[1] == alone.play.wording.rules(one.instance)
    assert 7_800 * 4 < len(rules) <= 8_000 * 4
    assert "=== TASK ===" in "".join(message.text for message in episode.messages)
    found, expected = episode.record(), alone.record()
    # The game, the turns and the scores are those of the item alone; only what is read differs.
    assert [turn.reply for turn in found.turns] == [turn.reply for turn in expected.turns]
    assert [turn.outcome for turn in found.turns] == [turn.outcome for turn in expected.turns]
    headline = environment.scoring.metrics[0].name
    assert environment.measure(found)[headline] == environment.measure(expected)[headline]
    assert (found.options["context_tokens"], found.options["context_text"]) == (8_000, "prose")
    replay(environment, found)


def test_more_prose_is_the_same_prose_and_more() -> None:
    one = registry.load("search/dfs").source(level=7).item(0)
    short, long = (TASK.split(within_prose("search/dfs", one, tokens).messages[0].text) for tokens in (4_000, 16_000))
    sentences = [set(re.split(r"(?<=\.)\s+", f"{parts[0]}{parts[2]}".strip())) for parts in (short, long)]
    assert sentences[0] < sentences[1]
    assert abs(len(short[0]) / len("".join(short)) - len(long[0]) / len("".join(long))) < 0.05


def test_prose_goes_with_turns_pictures_prefixes_examples_and_languages() -> None:
    environment = registry.load("search/dfs")
    one = environment.source(level=7).item(0)
    longer = replace(one, examples=(environment.source(level=7).item(1).instance,))
    for item_, options in [
        (one, {"wording": "image"}),
        (one, {"prefix": "oracle:1"}),
        (longer, {"interface": "tools"}),
    ]:
        replay(environment, within_prose("search/dfs", item_, 3_000, **options).record())
    text = within_prose("maze/alicia", item("maze/alicia"), 3_000, language="es").messages[0].text
    assert "=== TAREA ===" in text and "=== TASK ===" not in text


def test_the_gap_to_the_item_alone() -> None:
    environment = registry.load("search/dfs")
    items = environment.source("context", 7).head(8)
    logged = [
        LoggedEpisode("m", "dfs", play_to_end(environment, one, policy(player), options).record(), {})
        for options, player in (
            ({}, "oracle"),
            ({"context_tokens": 1_000}, "oracle"),
            ({"context_tokens": 12_000}, "null"),
        )
        for one in items
    ]
    effects = contrast_effects(rows(logged))
    assert [effect.contrast.demanding for effect in effects] == [
        "1000 (prose, characters)",
        "12000 (prose, characters)",
    ]
    assert {effect.contrast.base for effect in effects} == {"none"}
    differences = [effect.comparison.difference.value for effect in effects]
    assert differences[0] == 0 and differences[1] != 0 and effects[1].comparison.items == 8
    assert "text around the item" in contrast_text(rows(logged))


def test_without_contexts_there_is_no_such_contrast() -> None:
    environment = registry.load("search/dfs")
    one = environment.source("context", 7).item(0)
    logged = [LoggedEpisode("m", "dfs", play_to_end(environment, one, policy("oracle"), {}).record(), {})]
    assert contrast_effects(rows(logged)) == []
