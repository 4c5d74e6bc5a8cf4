"""The full screen of `waybench play`, without a terminal."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, Static

import waybench
from waybench.core import Episode
from waybench.envs import registry
from waybench.people import PlayedEpisode
from waybench.people.screen import PlayApp


def game_of(env_id: str, instance: Any = None) -> PlayedEpisode:
    environment = waybench.load(env_id)
    item = environment.source().item(0) if instance is None else environment.item(instance)
    return PlayedEpisode(Episode(environment, item), "task", {})


def run(
    game: PlayedEpisode,
    script: Callable[[PlayApp, Pilot[None]], Awaitable[None]],
    size: tuple[int, int] = (120, 40),
    *,
    hints: bool = False,
) -> None:
    async def played() -> None:
        app = PlayApp(game, hints=hints)
        async with app.run_test(size=size) as pilot:
            await script(app, pilot)

    asyncio.run(played())


def shown(app: PlayApp, name: str) -> str:
    return str(app.query_one(f"#{name}", Static).render())


def replies(game: PlayedEpisode) -> list[str]:
    return [turn.reply for turn in game.episode.turns if turn.reply]


@pytest.mark.slow
def test_arrows_build_a_plan_and_enter_sends_it(maze_501: dict[str, Any]) -> None:
    game = game_of("maze/alicia", maze_501)

    async def script(app: PlayApp, pilot: Pilot[None]) -> None:
        assert "()" in shown(app, "board") and "3 requests left" in shown(app, "status")
        await pilot.press("down", "s", "up", "backspace", "down")
        assert app.query_one(Input).value == "down, down, down"
        await pilot.press("enter")
        assert "2 requests left, steps so far: 3" in shown(app, "status")
        await pilot.press("left", "left", "down", "enter")

    run(game, script)
    assert game.episode.turns[0].action == [["down", 1]] * 3


def test_a_number_is_the_action_beside_it() -> None:
    game = game_of("hanoi/rods")

    async def script(app: PlayApp, pilot: Pilot[None]) -> None:
        assert "2 Move the top disk of rod A to the top of rod C" in shown(app, "actions")
        await pilot.press("2", "enter")

    run(game, script)
    assert replies(game) == ["Move the top disk of rod A to the top of rod C"]


@pytest.mark.slow
def test_a_key_acts_at_once_and_a_reply_can_be_typed() -> None:
    game = game_of("rps/rounds")

    async def script(app: PlayApp, pilot: Pilot[None]) -> None:
        await pilot.press("p", "r")
        await pilot.press("tab", *"Scissor", "enter")

    run(game, script)
    assert replies(game) == ["Paper", "Rock", "Scissor"]


@pytest.mark.slow
def test_what_is_not_understood_stays_to_be_mended(maze_501: dict[str, Any]) -> None:
    game = game_of("maze/alicia", maze_501)

    async def script(app: PlayApp, pilot: Pilot[None]) -> None:
        await pilot.press(*"banana", "enter")
        assert "Not understood" in shown(app, "note")
        assert app.query_one(Input).value == "banana"

    run(game, script)
    assert game.episode.turns == ()


def test_hints_only_where_asked_for(maze_501: dict[str, Any]) -> None:
    for hints, text in ((False, "Hints are off"), (True, "Hint: down 3")):
        game = game_of("maze/alicia", maze_501)

        async def script(app: PlayApp, pilot: Pilot[None], text: str = text) -> None:
            await pilot.press("f1")
            assert text in shown(app, "note")

        run(game, script, hints=hints)


@pytest.mark.parametrize("end", ["enter", "ctrl+q"])
def test_the_end_is_shown_and_left(end: str) -> None:
    environment = waybench.load("search/guessnum")
    game = game_of("search/guessnum")
    target = environment.source().item(0).instance.target

    async def script(app: PlayApp, pilot: Pilot[None]) -> None:
        await pilot.press(*str(target), "enter")
        assert "Solved." in shown(app, "status") and "Press Enter to leave" in shown(app, "note")
        await pilot.press(end)
        assert not app.is_running

    run(game, script)
    assert game.episode.done


@pytest.mark.slow  # an application for each
@pytest.mark.parametrize("env_id", [entry.id for entry in registry.built_in])
def test_every_environment_is_shown(env_id: str) -> None:
    game = game_of(env_id)

    async def script(app: PlayApp, pilot: Pilot[None]) -> None:
        assert shown(app, "board").strip()
        await pilot.press("f2")
        await pilot.resize_terminal(60, 24)
        assert shown(app, "board").strip()

    run(game, script)


def test_markup_in_messages_is_text() -> None:
    """Prompts and names have brackets, which are no colours."""
    game = game_of("hanoi/rods")

    async def script(app: PlayApp, pilot: Pilot[None]) -> None:
        assert "- A: |bottom, [2, 1, 0], top|" in shown(app, "message")

    run(game, script)


@pytest.mark.slow
def test_a_plan_is_drawn_before_it_is_sent_and_enter_is_explained(maze_501: dict[str, Any]) -> None:
    game = game_of("maze/alicia", maze_501)

    async def script(app: PlayApp, pilot: Pilot[None]) -> None:
        assert "Keys build a plan; Enter sends it as one reply." in shown(app, "note")
        before = shown(app, "board")
        assert "·" not in before and "×" not in before
        await pilot.press("down", "down", "down")
        assert shown(app, "board").count("·") == 2 and shown(app, "board").count("×") == 1
        assert "Enter sends this reply; Backspace takes the last step back." in shown(app, "note")
        await pilot.press("right", "right", "right")  # through a wall, for the drawing tells nothing
        assert shown(app, "board").count("·") == 3 and shown(app, "board").count("×") == 1  # up to the border
        await pilot.press("backspace", "backspace", "backspace", "enter")
        assert "steps so far: 3" in shown(app, "status") and "×" not in shown(app, "board")

    run(game, script)
    assert game.episode.turns[0].action == [["down", 1]] * 3


@pytest.mark.slow
@pytest.mark.parametrize("focus", [(), ("tab",)])
def test_a_pasted_reply_of_several_lines_is_one_reply(maze_501: dict[str, Any], focus: tuple[str, ...]) -> None:
    pasted = '{"movements": [\n  {"direction": "down", "cells": 3}\n]}'
    game = game_of("maze/alicia", maze_501)

    async def script(app: PlayApp, pilot: Pilot[None]) -> None:
        await pilot.press(*focus)
        app.post_message(events.Paste(pasted))
        await pilot.pause()
        assert app.query_one(Input).value == " ".join(pasted.split())
        await pilot.press("enter")

    run(game, script)
    assert game.episode.turns[0].action == [["down", 3]]


def test_a_pasted_plan_is_drawn(maze_501: dict[str, Any]) -> None:
    game = game_of("maze/alicia", maze_501)

    async def script(app: PlayApp, pilot: Pilot[None]) -> None:
        app.post_message(events.Paste("d3\nl9999 d1\n"))
        await pilot.pause()
        board = shown(app, "board")
        assert board.count("·") >= 3 and board.count("×") == 1

    run(game, script)
