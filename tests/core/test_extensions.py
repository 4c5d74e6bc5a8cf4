"""Extensions of play: a package of its own can add one, and nothing else has to know about it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

import waybench
from waybench.core import (
    PLAY_EXTENSIONS,
    Environment,
    Episode,
    EpisodeRecord,
    Invalid,
    Json,
    Option,
    Play,
    PlayExtension,
    ReplayError,
    Transition,
    UsageError,
    play_to_end,
    policy,
    replay,
)
from waybench.core._wording import DerivedWording
from waybench.evaluation.tasks import find_task

HINT = Option(name="hint", default=None, kind=str, doc="A line below each observation. By default none.")


class WithHint(DerivedWording[Any, Any, Any]):
    """A wording whose observations end with a line."""

    def __init__(self, base: Any, hint: str) -> None:
        super().__init__(base, base.name)
        self._hint = hint

    def observe(self, state: Any, last: Transition[Any] | Invalid | None, turn: int) -> str:
        return f"{super().observe(state, last, turn)}\n{self._hint}"


def resolve_hint(environment: Environment[Any, Any, Any], resolve_others: Any, values: dict[str, Json]) -> Any:
    hint = HINT.check(values.pop("hint", None))
    options = resolve_others(values)
    return options if hint is None else options | {"hint": hint}


def wrap_hint(environment: Environment[Any, Any, Any], options: Mapping[str, Json]) -> Play[Any, Any, Any] | None:
    if "hint" not in options:
        return None
    play = environment.play_with({name: value for name, value in options.items() if name != "hint"})
    return replace(play, wording=WithHint(play.wording, str(options["hint"])))


@pytest.fixture
def _hints() -> Iterator[None]:
    PLAY_EXTENSIONS.append(PlayExtension(name="hint", options=(HINT,), resolve=resolve_hint, wrap=wrap_hint))
    yield
    PLAY_EXTENSIONS.pop()


@pytest.mark.usefixtures("_hints")
@pytest.mark.parametrize("others", [{}, {"interface": "tools"}, {"prefix": "oracle:1"}, {"wording": "image"}])
def test_another_package_can_add_an_extension(others: dict[str, Json]) -> None:
    environment = waybench.load("search/dfs")
    item = environment.source("hints").item(0)
    episode = play_to_end(environment, item, policy("oracle"), {**others, "hint": "Take care."})
    assert all(turn.message.endswith("\nTake care.") for turn in episode.turns)
    record = EpisodeRecord.from_json(json.loads(episode.record().dumps()))
    assert record.options["hint"] == "Take care."
    assert replay(environment, record).record() == episode.record()
    with pytest.raises(ReplayError, match="opening"):
        replay(environment, replace(record, options={**record.options, "hint": "Go on."}))


@pytest.mark.usefixtures("_hints")
def test_an_added_option_is_one_of_every_environment_and_task() -> None:
    assert HINT in waybench.load("maze/alicia").play_options
    with pytest.raises(UsageError, match="hint"):
        waybench.load("maze/alicia").resolve_options({"hint": True})
    result = waybench.play("maze/alicia", hint="Take care.")
    assert "hint" not in waybench.play("maze/alicia").record.options
    assert result.record.turns[0].message.endswith("\nTake care.")


def test_without_the_extension_its_option_is_unknown() -> None:
    environment = waybench.load("search/dfs")
    with pytest.raises(UsageError, match="unknown option 'hint'"):
        Episode(environment, environment.source().item(0), {"hint": "Take care."})


def test_an_option_of_extensions_changes_nothing_unless_it_is_given() -> None:
    environment = waybench.load("search/dfs")
    assert environment.resolve_options({}).keys() == {
        option.name for option in environment.playing.options if not option.name.startswith("image")
    }
    names = [option.name for option in find_task("dfs").options]
    assert {option.name for option in environment.extension_options} <= set(names)
