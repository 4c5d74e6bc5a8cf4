"""One environment for each game of the agent protocol: a game declares how it differs, the rest is here."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from waybench.core import (
    EASIER,
    NOTHING,
    Environment,
    Instance,
    Items,
    Json,
    Limits,
    Option,
    Play,
    Playing,
    Scoring,
    TypedAction,
    Typing,
)
from waybench.envs.smartplay._game import AgentGame, AgentReply, AgentState, Rules
from waybench.envs.smartplay._measures import UNNAMED, OwnFailure, action_turns, agent_failure, ignore_turn_limit
from waybench.envs.smartplay._wording import PROMPT_STYLES, AgentWording

I = TypeVar("I", bound=Instance)  # noqa: E741
Bounds = tuple[float, float]
AnyRules = type[Rules[Any, Any]]

_COMPASS = {"north": "up", "south": "down", "west": "left", "east": "right"}


def agent_environment(
    *,
    items: Items[I],
    rules: type[Rules[I, Any]],
    history: int,
    steps: int | None,
    reward: Bounds | Callable[[int | None], Bounds],
    scoring: Scoring,
    most_steps: Callable[[I], int] | None = None,
    own_failure: OwnFailure = ignore_turn_limit,
    keys: Mapping[str, str] = NOTHING,
    playing: Mapping[str, Any] = NOTHING,
    **fields: Any,
) -> Environment[I, AgentState[I, Any], AgentReply]:
    """Return the environment of a game that is played by the agent protocol.

    Args:
        items: The items.
        rules: The game's rules and words.
        history: Past observations that are shown by default (Table 1).
        steps: Maximum steps per episode by default (Table 1); None if that depends on the instance.
        reward: Smallest and largest sum of rewards of an episode, or a function that returns both for a number of most
            steps (None if that depends on the instance).
        scoring: The metrics, and the game's own kinds of failure.
        most_steps: Instance -> most steps where the option `steps` is not given; needed if `steps` is None.
        own_failure: The kind of failure of an episode in which most replies name an action. By default the game has a
            fixed length, so that coming to its end is no failure.
        keys: Name of an action -> the key for it (see `TypedAction`); names that end in a direction have arrow keys.
        playing: Further fields of `Playing`, such as `images`.
        **fields: All other fields of the `Environment`; `thinking_players` adds thoughts to scripted players.
    """
    if most_steps is None:
        if steps is None:
            raise ValueError("steps or most_steps: give one of them")
        most_steps = lambda instance: steps  # noqa: E731
    return Environment(
        items=items,
        playing=Playing(
            play=_play_function(rules, most_steps, reward),
            options=_play_options(history, steps),
            action_turns=action_turns,
            **playing,
        ),
        scoring=replace(scoring, failures=(*scoring.failures, UNNAMED), failure=agent_failure(own_failure)),
        typing=_typing_of_actions(rules, keys),
        **fields,
    )


def _play_options(history: int, steps: int | None) -> tuple[Option, ...]:
    """Return the options of play, with the defaults of history and steps."""
    return (
        Option(
            name="protocol",
            default="paper",
            choices=("paper", "sound"),
            doc='"paper": the first action named in a reply counts, and a reply without one takes the first action, as '
            'published; "sound": a reply must name exactly one action, or the step is lost.',
        ),
        Option(
            name="wording",
            default="two_questions",
            choices=tuple(PROMPT_STYLES),
            doc="two_questions: a thought, then the action, as in the paper; code: the same with the published "
            "program's prompts and messages; one_question: only the action; chat: a growing chat instead of a history.",
        ),
        Option(
            name="history", effect=EASIER, default=history, low=0, high=10_000, doc="Number of past observations shown."
        ),
        Option(
            name="steps",
            effect=EASIER,
            default=steps,
            kind=None if steps is not None else int,
            low=1,
            high=100_000,
            doc="Maximum steps per episode" + ("." if steps is not None else "; by default as published."),
        ),
    )


def _play_function(
    make_rules: AnyRules, most_steps: Callable[[Any], int], reward: Bounds | Callable[[int | None], Bounds]
) -> Callable[[Mapping[str, Json]], Play[Any, Any, Any]]:
    """Return the function from options of play to game, wording and limits."""

    def play_of_options(options: Mapping[str, Json]) -> Play[Any, Any, Any]:
        published, style, steps = options["protocol"] == "paper", PROMPT_STYLES[options["wording"]], options["steps"]
        rules, thinks = make_rules(published=published), bool(style.think)
        history = 0 if style.chats else options["history"]  # a chat shows all past observations
        bounds = reward(steps) if callable(reward) else reward
        game: AgentGame[Any, Any] = AgentGame(rules, history, thinks=thinks, reward=bounds)
        wording: AgentWording[Any, Any] = AgentWording(rules, style, published=published)

        def turn_limit(instance: Any) -> int:
            turns_per_step = 2 if thinks else 1
            return turns_per_step * (most_steps(instance) if steps is None else steps)

        return Play(game, wording, Limits(turns=1), turns=turn_limit)

    return play_of_options


def _typing_of_actions(make_rules: AnyRules, keys: Mapping[str, str]) -> Typing[Any, Any]:
    """Return how people type actions: by the number in the manual's list, or by a key."""
    rules = make_rules(published=False)

    def typed_action(number: int, name: str) -> TypedAction:
        last_word = name.rpartition(" ")[2].lower()  # a direction, as in "Move North"
        return TypedAction(str(number), name, keys.get(name, _COMPASS.get(last_word, "")))

    def typed_actions(state: AgentState[Any, Any]) -> list[TypedAction]:
        return [typed_action(number, name) for number, name in enumerate(rules.actions(state.instance), start=1)]

    def parse_typed(text: str, state: AgentState[Any, Any]) -> AgentReply | None:
        numbers = range(len(rules.actions(state.instance)))
        return next((AgentReply(number) for number in numbers if text.strip() == str(number + 1)), None)

    return Typing(parse=parse_typed, help="Type an action's number or its name.", actions=typed_actions)
