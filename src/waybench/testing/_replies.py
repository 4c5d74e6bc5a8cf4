"""Checks of what actions there are, of replies that name several, and of what no message may show."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from waybench.core import (
    INTERFACE,
    TOOLS,
    Game,
    Invalid,
    Outcome,
    Play,
    Stream,
    ToolCall,
    reply_of_calls,
)
from waybench.testing._walks import (
    ADDRESS,
    FOCUS,
    MANY,
    AnyEnvironment,
    Brief,
    ContractError,
    LazyMessage,
    first_items,
    option_combinations,
    parse_and_check_reply,
    play_with_options,
    require,
    sample_actions,
    sample_episodes,
    sample_states,
)

_WORDS = 300  # of the rules that are tried as replies
_STATES = 8
_KEY = "contract-4711-secret"  # of a private set, which no message may show
_SHORT = 6  # characters of a text of a proof, below which it can be in a message by chance
_BRACKETS = re.compile(r"[{}\[\]\n]")


def check_listed_actions(environment: AnyEnvironment, level: int) -> None:
    """Whatever action is carried out with the outcome ok is listed by `legal`, and so are the players' own.

    The actions that are tried are those of other states, those that the words of the rules are read as, and those of
    the declared tools. Games whose actions are plans, and which say how to `cut` or `perturb` these, are left out.
    """
    for options in option_combinations(environment):
        play = play_with_options(environment, options)
        if any(getattr(type(play.game), name) is not getattr(Game, name) for name in ("cut", "perturb")):
            continue
        tools = play_with_options(environment, {**options, INTERFACE: TOOLS})
        for item in first_items(environment, level, 2):
            FOCUS.look_at(item.id)
            visited = sample_states(environment, item, play.game)
            elsewhere = dict.fromkeys(action for state in visited for action in sample_actions(play.game, state, 4))
            words = dict.fromkeys(re.findall(r"\w+", play.wording.rules(item.instance)))
            for state in visited[:_STATES]:
                if play.game.terminal(state) or play.wording.thought_question(state):
                    continue
                listed = set(sample_actions(play.game, state, MANY))
                if len(play.game.legal(state)) > len(listed):
                    continue  # too many to look at
                candidates = dict.fromkeys(elsewhere)
                candidates |= dict.fromkeys(_actions_parsed_from_words(play, list(words)[:_WORDS], state))
                candidates |= dict.fromkeys(_actions_of_tools(tools, state))
                for action in candidates:
                    if type(action) is not tuple and action not in listed:
                        _require_not_carried_out(play, action, state)


def _require_not_carried_out(play: Play[Any, Any, Any], action: Any, state: Any) -> None:
    """Require that a game does not carry out an action that it does not list."""
    FOCUS.look_at(subject=play.game.legal)
    step = play.game.apply(state, action, Stream("contract", "listed"))
    require(
        step.outcome is not Outcome.OK,
        "apply carries out {} in {}, and legal does not list it",
        Brief(action),
        Brief(state),
    )


def _actions_parsed_from_words(play: Play[Any, Any, Any], words: list[str], state: Any) -> Iterator[Any]:
    """Yield the actions that single words are parsed as."""
    for word in words:
        action = parse_and_check_reply(play, word, state, LazyMessage("the reply {!r}", word))
        if not isinstance(action, Invalid):
            yield action


def _actions_of_tools(play: Play[Any, Any, Any], state: Any) -> Iterator[Any]:
    """Yield the actions of calls of tools that have one argument with listed values."""
    for tool in play.wording.tools(state):
        if len(tool.parameters) == 1:
            ((name, schema),) = tool.parameters.items()
            for value in schema.get("enum", ()):
                call = reply_of_calls("", [ToolCall(tool.name, {name: value})])
                action = parse_and_check_reply(play, call, state, LazyMessage("the call {}", call))
                if not isinstance(action, Invalid):
                    yield action


def check_ambiguous_replies(environment: AnyEnvironment, level: int) -> None:
    """A reply in plain words that names two actions is refused, where the protocol is "sound".

    Replies in JSON are left out: what is read there is the last object, as the rules of such environments say.
    """
    for options in option_combinations(environment):
        if options["protocol"] != "sound":
            continue
        play = play_with_options(environment, options)
        for item in first_items(environment, level, 1):
            FOCUS.look_at(item.id)
            for state in sample_states(environment, item, play.game)[:_STATES]:
                if play.game.terminal(state) or play.wording.thought_question(state):
                    continue
                named = [(action, play.wording.render(action, state)) for action in sample_actions(play.game, state)]
                plain = [(action, reply) for action, reply in named if not _BRACKETS.search(reply)]
                for (first, one), (second, other) in pairwise(plain[:3]):
                    _require_neither_action(
                        play, state, f"I do not know whether {one} or {other} is right.", (first, second)
                    )
                    _require_neither_action(play, state, f"{one}, {other}", (first, second))


def _require_neither_action(play: Play[Any, Any, Any], state: Any, reply: str, actions: tuple[Any, Any]) -> None:
    """Require that a reply which names two actions is parsed as neither of them."""
    action = parse_and_check_reply(play, reply, state, LazyMessage("the reply {}", Brief(reply)))
    require(
        action not in actions,
        "the reply {} names two actions, and is read as {}",
        Brief(reply),
        Brief(action),
    )


def check_secrets(environment: AnyEnvironment, level: int) -> None:
    """No message shows the key, an instance's hash, a text of its proof, or a Python object."""
    private = environment.source(_KEY, level).item(0)
    for options in option_combinations(environment):
        observe = play_with_options(environment, options).wording.observe
        for item in (*first_items(environment, level, 2), private):
            FOCUS.look_at(item.id, subject=observe)
            hidden = {"the key of its set": _KEY, "the hash of its instance": item.instance.hash[:12]}
            hidden |= {
                f"{name} of its proof": value
                for name, value in item.proof.items()
                if isinstance(value, str) and len(value) >= _SHORT
            }
            for episode in sample_episodes(environment, item, options):
                texts = [message.text for message in episode.messages if message.role != "assistant"]
                replies = " ".join(turn.reply for turn in episode.turns)
                for text in texts:
                    for name, secret in hidden.items():
                        require(secret not in text or secret in replies, "a message shows {}: {!r}", name, secret)
                    _require_no_python_object(text, episode.state, item.instance)


def _require_no_python_object(text: str, state: Any, instance: Any) -> None:
    """Require that a message does not contain the default text of a Python object, of state or instance."""
    if ADDRESS.search(text):
        raise ContractError(f"a message shows a Python object: {_excerpt_around(text, ' at 0x')}")
    for value in (state, instance):
        name = f"{type(value).__name__}("
        require(name not in text, "a message shows {!r}", _excerpt_around(text, name))


def _excerpt_around(text: str, part: str) -> str:
    """Return 80 characters of a text around a part of it."""
    start = max(0, text.find(part) - 20)
    return " ".join(text[start : start + 80].split())
