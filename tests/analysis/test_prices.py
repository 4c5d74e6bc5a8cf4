"""What episodes cost, by a table of prices, and what that comes to for each solved item."""

import json
import pickle
import re
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.analysis.episodes import detour, failed, item, logged, said
from tests.analysis.maps import answered, corridor
from tests.cli.support import one_line_error
from waybench.cli import main
from waybench.core import EpisodeRecord, Price, Usage, UsageError, load_prices
from waybench.core._tokens import _price_list_snapshot, list_price, price_table_json, read_prices
from waybench.results import Estimate, LoggedEpisode, by_level, overall
from waybench.results._tables import episode_frame
from waybench.results.results import exclude
from waybench.results.results._measured_row import measured_row

PRICE = Price(input=2.5, output=10, input_cache_read=0.25)
SHAPE = '{"provider/model": {"input": 2.5, "output": 10, "input_cache_read": 1.25}}, in dollars per million tokens'


def used(record: EpisodeRecord, *usages: Usage | None) -> EpisodeRecord:
    """Return a record of which the turns took so many tokens; the last number is that of all others too."""
    each = [*usages, *[usages[-1]] * len(record.turns)]
    turns = (turn._replace(usage=usage) for turn, usage in zip(record.turns, each, strict=False))
    return replace(record, turns=tuple(turns))


def test_what_an_episode_costs_by_hand() -> None:
    three = said(["", "hm", "?"])
    taken = used(three, Usage(1000, 100, cached_tokens=400), None, Usage(2000, 50, reasoning_tokens=30))
    # 2,600 tokens read, 400 from the cache, and 150 written, reasoning included.
    assert PRICE.episode_cost(taken) == pytest.approx((2600 * 2.5 + 400 * 0.25 + 150 * 10) / 1_000_000)
    assert measured_row(logged(taken), price=PRICE).cost == PRICE.episode_cost(taken)
    assert measured_row(logged(taken)).cost is None


def test_a_table_of_any_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "p.json").write_bytes('{"é/m": {"input": 1,\r\n"output": 2}}'.encode("utf-16"))
    assert read_prices(Path("~/p.json")) == {"é/m": Price(input=1, output=2, input_cache_read=1)}
    assert json.loads(price_table_json(["a/b"], tmp_path / "p.json"))["é/m"] == {"input": 1, "output": 2}
    (tmp_path / "p.json").write_text('{"a/b": {"input": 1, "output": 2, "input": 3}}')
    with pytest.raises(UsageError, match=r"p\.json: line 1: it has 'input' twice in one object"):
        read_prices(tmp_path / "p.json")


def test_what_nobody_counted_has_no_cost() -> None:
    for record in (said([""]), used(said([""]), Usage(seconds=2.0))):
        assert PRICE.episode_cost(record) is None
    assert Price(0, 0, 0).episode_cost(used(said([""]), Usage(10, 1))) == 0


def costs(attempts: list[tuple[EpisodeRecord, int]], price: Price | None = PRICE) -> Estimate:
    """Return the estimate of attempts, each of one reply with so many input tokens."""
    made = [measured_row(logged(used(record, Usage(tokens, 10))), price=price) for record, tokens in attempts]
    (found,) = by_level(exclude(made))
    return found


def test_cost_and_tokens_for_each_solved_item() -> None:
    solved, other = item(5, 0), item(5, 1)
    # Two attempts reach one exit, and one attempt fails elsewhere: a solved item took all three.
    lost = failed(said(["x"], level=5, number=1, attempt=2))
    nothing = replace(said(["x", "x", "x"], level=5, number=1), turns=said(["x"], level=5, number=1).turns)
    found = costs([(detour(solved, 2), 1000), (detour(solved, 4, 2), 2000), (nothing, 3000), (lost, 50_000)])
    assert (found.items, found.attempts, found.solved_items, found.errors) == (2, 3, 1, 1)
    each = [(tokens * 2.5 + 10 * 10) / 1_000_000 for tokens in (1000, 2000, 3000)]
    assert found.cost == pytest.approx(sum(each) / 3)
    assert found.per_solved_item(found.cost) == pytest.approx(sum(each))
    assert found.tokens == pytest.approx((1000 + 2000 + 3000 + 30) / 3)
    assert found.per_solved_item(found.tokens) == pytest.approx(6030)
    told = found.to_json()
    assert (told["cost_per_solved"], told["tokens_per_solved"]) == (pytest.approx(sum(each)), pytest.approx(6030))
    both = costs([(detour(solved, 2), 1000), (detour(other, 2), 1000)])
    assert both.solved_items == 2
    assert both.per_solved_item(both.tokens) == pytest.approx(1010)


def test_where_nothing_is_solved_or_known_there_is_no_number() -> None:
    none = costs([(said(["x"] * 3), 1000)])
    assert none.solved_items == 0
    assert none.tokens == 3 * 1010
    assert none.cost is not None
    assert (none.per_solved_item(none.tokens), none.per_solved_item(none.cost)) == (None, None)
    (bare,) = by_level([measured_row(logged(detour(item(), 2)), price=PRICE)])
    assert (bare.solved_items, bare.cost, bare.tokens, bare.per_solved_item(bare.cost)) == (1, None, None, None)
    assert (bare.to_json()["cost"], bare.to_json()["cost_per_solved"]) == (None, None)
    unpriced = costs([(detour(item(), 2), 1000)], None)
    assert (unpriced.cost, unpriced.per_solved_item(unpriced.tokens)) == (None, 1010)


def test_an_item_that_is_solved_twice_is_one() -> None:
    episodes = [episode for _ in range(2) for episode in answered("oracle", [corridor("m", 3)], most=2)]
    repeated = [replace(episode, run=f"run {number // 2}") for number, episode in enumerate(episodes)]
    (found,) = overall(exclude(measured_row(episode) for episode in repeated))
    assert (found.items, found.attempts, found.solved_items) == (2, 2, 2)


def test_with_a_teacher_nothing_is_solved_by_the_player() -> None:
    from tests.analysis.searches import searched

    guided = searched("oracle", teacher_guided=True)
    assert {str(episode.record.end) for episode in guided} == {"solved"}
    (found,) = overall(exclude(measured_row(episode) for episode in guided))
    assert (found.solved_items, found.per_solved_item(1.0)) == (0, None)


def test_errors_and_what_does_not_replay_are_in_no_mean() -> None:
    good, dear = used(detour(item(), 2), Usage(1000, 10)), Usage(1_000_000, 10)
    episodes: list[tuple[LoggedEpisode, bool]] = [
        (logged(good), True),
        (logged(used(detour(item(5, 1), 2), dear)), False),
        (logged(failed(used(said(["x", "y"], level=5, number=2), dear))), True),
    ]
    made = exclude(measured_row(episode, confirmed=confirmed, price=PRICE) for episode, confirmed in episodes)
    (found,) = by_level(made)
    assert found.cost == PRICE.episode_cost(good)
    assert found.tokens == 1010
    costs = [each["cost"] for each in episode_frame(made).records()]
    assert [cost is None for cost in costs] == [False, False, False]  # each episode has its own


def test_a_table_of_prices(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    given = {
        "a/b": {"input": 2.5, "output": 10, "input_cache_read": 1.25, "input_cache_write": 3.75},
        "c": {"input": 0, "output": 0.5},
        "": {"input": 1e-9, "output": 1_000_000},
    }
    path.write_text(json.dumps(given), encoding="utf-8")
    assert read_prices(path) == {"a/b": Price(2.5, 10, 1.25), "c": Price(0, 0.5, 0), "": Price(1e-9, 1e6, 1e-9)}
    path.write_text("{}")
    assert read_prices(path) == {}


def failure(folder: Path, path: Path) -> str:
    """Return what `waybench report` says of a file of prices, on one line."""
    return one_line_error(CliRunner().invoke(main, ["report", str(folder), "--prices", str(path)]))


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "{",
            '{"a": {"input": NaN, "output": 1}}',
            "nothing",
            "[" * 100_000,
            '{"a": {"input": 1, "output": 1}} x',
        ),
        *("[]", "3", "null", '"a"'),
    ],
)
def test_what_is_no_table_is_told_in_a_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(text, encoding="utf-8")
    told = failure(tmp_path, path)
    assert told.startswith(f"Error: {path}") and " not " in told
    assert told.endswith(f"it should be {SHAPE}\n")


def test_bytes_that_are_no_text_are_told_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_bytes(b'{"\xff": {}}')
    assert f"{path} is not UTF-8 (byte 0xff at position 2, line 1)" in failure(tmp_path, path)


@pytest.mark.parametrize(
    "given",
    [
        *("1", "null", "[]", "{}", '{"input": 1}', '{"output": 1}', '{"input": "1", "output": 1}'),
        *('{"input": true, "output": 1}', '{"input": -0.1, "output": 1}', '{"input": null, "output": 1}'),
        '{"input": 1e999, "output": 1}',
        *(f'{{"input": 1{"0" * 400}, "output": 1}}', '{"input": 1, "output": 1, "input_cache_read": "half"}'),
        *('{"input": 1, "output": 1, "cached": 2}', '{"Input": 1, "output": 1}', '{"input": [1], "output": 1}'),
    ],
)
def test_prices_that_are_none_are_told_in_a_line(tmp_path: Path, given: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(f'{{"fine": {{"input": 1, "output": 1}}, "vendor/m\\n\\u001b": {given}}}', encoding="utf-8")
    told = failure(tmp_path, path)
    assert told == f"Error: {path}: the prices of 'vendor/m\\n\\x1b' are invalid: they should be as in {SHAPE}\n"


def test_a_file_that_is_not_there_is_told_in_a_line(tmp_path: Path) -> None:
    missing = tmp_path / "none.json"
    assert failure(tmp_path, missing) == (
        f"Error: cannot read {missing}: No such file or directory; give a price table, see `waybench prices`\n"
    )
    assert ": Is a directory" in failure(tmp_path, tmp_path)


def test_a_table_to_fill_in(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text(price_table_json(["vendor/a", "vendor/b"]), encoding="utf-8")
    assert read_prices(path) == {}  # nothing is known before it is filled in
    given = json.loads(path.read_text(encoding="utf-8"))
    assert given == {
        name: {"input": None, "output": None, "input_cache_read": None} for name in ("vendor/a", "vendor/b")
    }
    given["vendor/a"] |= {"input": 1.5, "output": 2}
    path.write_text(json.dumps(given), encoding="utf-8")
    assert read_prices(path) == {"vendor/a": Price(1.5, 2, 1.5)}
    again = json.loads(price_table_json(["vendor/a", "vendor/c"], path))
    assert again["vendor/a"] == given["vendor/a"]
    assert list(again) == ["vendor/a", "vendor/c", "vendor/b"]
    given["vendor/b"]["input"] = 1
    path.write_text(json.dumps(given), encoding="utf-8")
    with pytest.raises(UsageError, match="vendor/b"):
        read_prices(path)


def test_the_command_prints_a_table(tmp_path: Path) -> None:
    told = one_line_error(CliRunner().invoke(main, ["prices", str(tmp_path)]))
    assert "no model to price" in told and "embedded players, which cost nothing" in told
    one_line_error(CliRunner().invoke(main, ["prices", str(tmp_path / "none")]))
    one_line_error(CliRunner().invoke(main, ["prices", str(tmp_path), "--prices", str(tmp_path / "none.json")]))


# As the providers publish them; a list of another date may have others.
LISTED = {
    "openai/gpt-4o": Price(2.5, 10, 1.25),
    "openai/gpt-4o-mini-2024-07-18": Price(0.15, 0.6, 0.075),
    "azureai/gpt-4o": Price(2.5, 10, 1.25),
    "anthropic/claude-sonnet-4-5": Price(3, 15, 0.3),
    "openrouter/openai/gpt-4o": Price(2.5, 10, 1.25),
    "openai-api/deepseek/deepseek-chat": Price(0.27, 1.1, 0.07),
}


def test_hosted_models_have_list_prices_and_others_have_none() -> None:
    prices = load_prices()
    assert {model: prices.get(model) for model in LISTED} == LISTED
    local = ("openai-api/local/gpt-4o", "hf/gpt-4o", "vllm/gpt-4o", "ollama/llama3", "mockllm/model", "m", "openai/x-1")
    free = ("waybench/oracle", "waybench/smollm2", "python:my.gpt-4o", "human/Ada")
    assert not any(model in prices for model in (*local, *free))
    assert prices.models_without_price([*LISTED, *local, *free]) == list(local)
    assert prices.source_note(local) == ""
    assert re.fullmatch(
        r"prices: genai-prices [\d.]+, list prices, the newest of 20\d\d-\d\d-\d\d", prices.source_note(LISTED)
    )
    again = pickle.loads(pickle.dumps(prices))
    assert again == prices and again["openai/gpt-4o"] == LISTED["openai/gpt-4o"]


def test_a_user_s_prices_go_before_the_list(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"openai/gpt-4o": {"input": 1, "output": 2}, "a/b": {"input": 3, "output": 4}}')
    prices = load_prices(path, ["5/6", "a/b=7/8.5/0.5"])
    wanted = {"openai/gpt-4o": Price(1, 2, 1), "a/b": Price(7, 8.5, 0.5), "openai/o3-mini": Price(5, 6, 5)}
    assert {model: prices.get(model) for model in wanted} == wanted
    assert prices.source_note(wanted) == "" and "waybench/oracle" not in prices
    for text in ("5", "5/", "a/b=", "1.2.3/4", "-1/2", "5/x", "1/2/3/4"):
        with pytest.raises(UsageError, match="dollars per million tokens"):
            load_prices(None, [text])


def test_list_prices_need_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **settings: object) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    list_price.cache_clear()
    _price_list_snapshot.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "genai_prices"]:
        monkeypatch.delitem(sys.modules, name)
    assert load_prices()["openai/gpt-4o"].input > 0
