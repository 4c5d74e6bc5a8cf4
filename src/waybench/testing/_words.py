"""Checks of wordings, of declared tools, of replies that name several actions, and of what no message may show."""

import math
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from waybench.core import (
    INTERFACE,
    LANGUAGE,
    TOOLS,
    Episode,
    EpisodeRecord,
    Game,
    Invalid,
    Json,
    Memory,
    Outcome,
    Play,
    Stream,
    ToolCall,
    reply_of_calls,
)
from waybench.core._template import template_fields
from waybench.testing._hostile import BAD_JSON, HOSTILE_REPLIES, hostile_length, hostile_variants
from waybench.testing._walks import (
    ADDRESS,
    FOCUS,
    MANY,
    AnyEnvironment,
    AnyEpisode,
    Brief,
    ContractError,
    LazyMessage,
    first_items,
    option_combinations,
    parse_and_check_reply,
    play_with_options,
    report_as_breach,
    require,
    require_distinct,
    sample_actions,
    sample_episodes,
    sample_states,
)

_LONG_REPLY = 10_000  # characters; longer replies are tried at the hardest level only
# Characters. Of a longer reply only the parser is tested: turns and records copy it, which would test nothing but the
# memory of the machine.
_LONGEST_PLAYED = 2_000_000
_TOOL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")  # what providers take
_STATES = 8  # that are looked at in one episode


def check_wordings(environment: AnyEnvironment, level: int) -> None:
    """Every wording says something at the start and after every turn, as chat messages that end with the user's."""
    for options in option_combinations(environment):
        wording = play_with_options(environment, options).wording
        FOCUS.look_at(subject=type(wording))
        require(wording.name == options["wording"], "wording {!r} calls itself {!r}", options["wording"], wording.name)
        FOCUS.look_at(subject=type(wording))
        memory: Any = wording.memory  # authors may give something else
        require(isinstance(memory, Memory), f"memory is {memory!r}: give Memory(), which says what a prompt repeats")
        require(memory.kind in ("chat", "window", "fresh"), f"unknown memory {memory.kind!r}")
        _require_documented_fields(wording)
        for item in first_items(environment, level):
            _require_sendable_messages(
                Episode(environment, item, options), LazyMessage("{}, item {}, the opening", options, item.id)
            )
            FOCUS.look_at(item.id, subject=wording.observe)
            for episode in sample_episodes(environment, item, options):
                label = LazyMessage("{}, item {}, {}", options, item.id, episode.player)
                _require_sendable_messages(episode, LazyMessage("{}, the last turn", label))
                for number, turn in enumerate(episode.turns, start=1):
                    require(turn.message.strip(), "{}: the answer to turn {} is empty", label, number)
                    _require_no_surrogates(turn.message, LazyMessage("{}: the answer to turn {}", label, number))


def _require_documented_fields(wording: Any) -> None:
    """Require that the fields of templates have distinct names and a sentence of description."""
    for part, fields in template_fields(wording).items():
        require_distinct([field.name for field in fields], f"fields of {part}")
        for field in fields:
            is_name = field.name.isidentifier() and field.name == field.name.lower()
            require(is_name, "the field {!r} of {}: use small letters, digits and _", field.name, part)
            is_sentence = field.doc.endswith(".") and "\n" not in field.doc
            require(is_sentence, "the field {!r} of {}: say in a sentence what it is (doc)", field.name, part)


def _require_sendable_messages(episode: AnyEpisode, label: object) -> None:
    """Require that the messages of an episode have known roles and text, and end with the user's."""
    messages = episode.messages
    require(messages, "{}: there is no message", label)
    require(messages[-1].role == "user", "{}: the last message is not the user's", label)
    for message in messages:
        require(message.role in ("system", "user", "assistant"), "{}: a message has the role {!r}", label, message.role)
        if message.role != "assistant":
            require(message.text.strip(), "{}: a message of the {} is empty", label, message.role)
            _require_no_surrogates(message.text, label)


def _require_no_surrogates(text: str, label: object) -> None:
    """Require that a text, which may quote a reply, can be sent as UTF-8; `label` begins the error message."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ContractError(f"{label}: it repeats a lone surrogate, which cannot be sent: {text[:80]!r}") from None


def check_round_trip(environment: AnyEnvironment, level: int) -> None:
    """Every legal action, rendered in every wording, is read back as itself; so are the oracle's and perturbed ones."""
    for options in option_combinations(environment):
        play = play_with_options(environment, options)
        for item in first_items(environment, level):
            FOCUS.look_at(item.id)
            for number, state in enumerate(sample_states(environment, item, play.game)):
                if play.game.terminal(state):
                    continue
                rng = Stream("contract", "round trip", number)
                best = environment.players.policies["oracle"](state, rng)
                FOCUS.look_at(subject=play.wording.render)
                for action in [*sample_actions(play.game, state, MANY), best, play.game.perturb(state, best, 0.5, rng)]:
                    reply = play.wording.render(action, state)
                    parsed = parse_and_check_reply(
                        play, reply, state, LazyMessage("{}: the reply {}", options, Brief(reply))
                    )
                    parts = map(Brief, (action, reply, parsed))
                    require(parsed == action, "{}: {} reads {}, comes back {}", options, *parts)


def check_hostile(environment: AnyEnvironment, level: int) -> None:
    """Garbage and hostile replies are refused with a reason or carried out, but never raise and never hang.

    The replies are `HOSTILE_REPLIES` and variants of a good reply in the environment's own format, damaged in many
    ways. Replies of more than 10,000 characters are left out at all sample levels but the hardest one.
    """
    longest = _LONG_REPLY if level in environment.items.sample_levels[:-1] else math.inf
    item = first_items(environment, level, 1)[0]
    FOCUS.look_at(item.id)
    # One combination of options for each wording and language; of several protocols the first one.
    options_by_wording = {
        (options["wording"], options.get(LANGUAGE)): options for options in reversed(option_combinations(environment))
    }
    plays = [(options, play_with_options(environment, options)) for options in options_by_wording.values()]
    for name, make_reply in HOSTILE_REPLIES.items():
        if hostile_length(name) <= longest:
            reply = make_reply()
            for options, play in plays:
                _require_reply_survived(environment, item, options, play, f"hostile reply ({name})", reply)
    for options, play in plays:
        state = play.game.start(item.instance)
        good_reply = play.wording.render(sample_actions(play.game, state)[0], state)
        for name, reply in hostile_variants(good_reply):
            if len(reply) <= longest:
                _require_reply_survived(environment, item, options, play, f"good reply {name}", reply)


def _require_reply_survived(
    environment: AnyEnvironment, item: Any, options: dict[str, Any], play: Play[Any, Any, Any], label: str, reply: str
) -> None:
    """Require that a hostile reply is parsed or refused, played and recorded without an exception.

    Of a reply of more than two million characters only the parsing is checked.
    """
    what = LazyMessage("{}, {}", options, label)
    episode: AnyEpisode = Episode(environment, item, options)
    action = parse_and_check_reply(play, reply, episode.state, what)
    is_refused = isinstance(action, Invalid)
    with report_as_breach(what):
        if not is_refused:
            decoded = play.game.decode(play.game.encode(action))
            require(decoded == action, "{}: the action does not survive encoding", what)
        if len(reply) > _LONGEST_PLAYED:
            return
        turn = episode.step(reply)
        _require_no_surrogates(turn.message, what)
        # Not the other way round: the rules of a protocol can call an action unparsed that `parse` has read.
        agrees = turn.outcome is Outcome.UNPARSED or not is_refused
        require(agrees, "{}: the turn is {}, parse gave {}", what, turn.outcome, Brief(action))
        require(is_refused == (turn.action is None), "{}: a refused turn has an action, or another one has none", what)
        EpisodeRecord.from_json(episode.record().to_json())
        episode.record().dumps().encode("ascii")


def check_tools(environment: AnyEnvironment, level: int) -> None:
    """With `interface=tools` each action is a call that is read as this action, and malformed calls are refused."""
    item = first_items(environment, level, 1)[0]
    FOCUS.look_at(item.id)
    for options in option_combinations(environment):
        play = play_with_options(environment, {**options, INTERFACE: TOOLS})
        game, wording, label = play.game, play.wording, LazyMessage("{}", options)
        action_states = [
            state
            for state in sample_states(environment, item, game)
            if not game.terminal(state) and not wording.thought_question(state)
        ]
        for state in action_states[:_STATES]:
            FOCUS.look_at(item.id, subject=wording.tools)
            tools = wording.tools(state)
            require(bool(tools), "{}: there is no tool", label)
            for tool in tools:
                require(
                    _TOOL_NAME.fullmatch(tool.name) is not None and bool(tool.doc), "{}: tool {!r}", label, tool.name
                )
                for name, schema in tool.parameters.items():
                    require(bool(schema.get("description")), "{}: {} of {} has no description", label, name, tool.name)
                    _check_schema(schema, LazyMessage("{}: {} of {}", options, name, tool.name))
                    for bad_value in BAD_JSON:
                        _require_call_survived(wording, ToolCall(tool.name, {name: bad_value}), state, label)
            for action in sample_actions(game, state):
                reply = wording.render(action, state)
                FOCUS.look_at(reply=reply)
                parsed = wording.parse(reply, state)
                problem = LazyMessage("the call {} is read as {}, not {}", reply, Brief(parsed), Brief(action))
                require(parsed == action, "{}: {}", label, problem)


def _check_schema(schema: Mapping[str, Json], label: LazyMessage) -> None:
    """Require that a JSON schema has known types, and that its objects require all their properties, at any depth."""
    kind = schema.get("type")
    require(kind in ("string", "integer", "array", "object"), "{}: the type {!r} is not known", label, kind)
    if kind == "array":
        _check_schema(schema["items"], label)
    if kind == "object":
        require(list(schema["required"]) == list(schema["properties"]), "{}: not all properties are required", label)
        for inner in schema["properties"].values():
            _check_schema(inner, label)


def _require_call_survived(wording: Any, call: ToolCall, state: Any, label: LazyMessage) -> None:
    """Require that a malformed tool call is parsed, or refused with a reason."""
    reply = reply_of_calls("", [call])
    with report_as_breach(LazyMessage("{}: the call {}", label, reply[:80])):
        action = wording.parse(reply, state)
    if isinstance(action, Invalid):
        require(bool(action.reason), "{}: a call is refused without a reason", label)


_MOST_RULE_WORDS = 300  # words of the rules that are tried as replies
_PRIVATE_KEY = "contract-4711-secret"  # of a set, which no message may show
_LEAST_SECRET = 6  # characters of a text of a proof; a shorter one can be in a message by chance
_STRUCTURED = re.compile(r"[{}\[\]\n]")  # in replies that are no plain words


def check_listed_actions(environment: AnyEnvironment, level: int) -> None:
    """Whatever action is carried out with the outcome ok is listed by `legal`.

    The actions that are tried are those of other states, those that the words of the rules are read as, and those of
    the declared tools. Games whose actions are plans, and which say how to `cut` or `perturb` these, are left out.
    """
    for options in option_combinations(environment):
        play = play_with_options(environment, options)
        if any(getattr(type(play.game), name) is not getattr(Game, name) for name in ("cut", "perturb")):
            continue
        play_with_tools = play_with_options(environment, {**options, INTERFACE: TOOLS})
        for item in first_items(environment, level, 2):
            FOCUS.look_at(item.id)
            states = sample_states(environment, item, play.game)
            actions_of_states = dict.fromkeys(
                action for state in states for action in sample_actions(play.game, state, 4)
            )
            words = list(dict.fromkeys(re.findall(r"\w+", play.wording.rules(item.instance))))[:_MOST_RULE_WORDS]
            for state in states[:_STATES]:
                if play.game.terminal(state) or play.wording.thought_question(state):
                    continue
                listed = set(sample_actions(play.game, state, MANY))
                if len(play.game.legal(state)) > len(listed):
                    continue  # too many to look at all of them
                candidates = dict.fromkeys(actions_of_states)
                candidates |= dict.fromkeys(_actions_parsed_from_words(play, words, state))
                candidates |= dict.fromkeys(_actions_of_tools(play_with_tools, state))
                for action in candidates:
                    is_plan = type(action) is tuple
                    if not is_plan and action not in listed:
                        _require_not_carried_out(play, action, state)


def _require_not_carried_out(play: Play[Any, Any, Any], action: Any, state: Any) -> None:
    """Require that a game does not carry out an action that it does not list."""
    FOCUS.look_at(subject=play.game.legal)
    outcome = play.game.apply(state, action, Stream("contract", "listed")).outcome
    unlisted = "apply carries out {} in {}, and legal does not list it"
    require(outcome is not Outcome.OK, unlisted, Brief(action), Brief(state))


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
                replies = [(action, play.wording.render(action, state)) for action in sample_actions(play.game, state)]
                plain_replies = [(action, reply) for action, reply in replies if not _STRUCTURED.search(reply)]
                for (action, reply), (next_action, next_reply) in pairwise(plain_replies[:3]):
                    for ambiguous in (
                        f"I do not know whether {reply} or {next_reply} is right.",
                        f"{reply}, {next_reply}",
                    ):
                        _require_neither_action(play, state, ambiguous, (action, next_action))


def _require_neither_action(play: Play[Any, Any, Any], state: Any, reply: str, actions: tuple[Any, Any]) -> None:
    """Require that a reply which names two actions is parsed as neither of them."""
    action = parse_and_check_reply(play, reply, state, LazyMessage("the reply {}", Brief(reply)))
    ambiguous = "the reply {} names two actions, and is read as {}"
    require(action not in actions, ambiguous, Brief(reply), Brief(action))


def check_secrets(environment: AnyEnvironment, level: int) -> None:
    """No message shows the key, an instance's hash, a text of its proof, or a Python object."""
    private_item = environment.source(_PRIVATE_KEY, level).item(0)
    for options in option_combinations(environment):
        observe = play_with_options(environment, options).wording.observe
        for item in (*first_items(environment, level, 2), private_item):
            FOCUS.look_at(item.id, subject=observe)
            secrets = {"the key of its set": _PRIVATE_KEY, "the hash of its instance": item.instance.hash[:12]}
            secrets |= {
                f"{name} of its proof": value
                for name, value in item.proof.items()
                if isinstance(value, str) and len(value) >= _LEAST_SECRET
            }
            for episode in sample_episodes(environment, item, options):
                replies = " ".join(turn.reply for turn in episode.turns)
                for message in episode.messages:
                    if message.role == "assistant":
                        continue
                    for name, secret in secrets.items():  # a message may repeat what the player said
                        is_shown = secret in message.text and secret not in replies
                        require(not is_shown, "a message shows {}: {!r}", name, secret)
                    _require_no_python_object(message.text, episode.state, item.instance)


def _require_no_python_object(text: str, state: Any, instance: Any) -> None:
    """Require that a message does not contain the default text of a Python object, of state or instance."""
    if ADDRESS.search(text):
        raise ContractError(f"a message shows a Python object: {_excerpt_around(text, ' at 0x')}")
    for value in (state, instance):
        name = f"{type(value).__name__}("
        require(name not in text, "a message shows {!r}", _excerpt_around(text, name))


def _excerpt_around(text: str, part: str) -> str:
    """Return 80 characters of a text, from 20 before a part of it, on one line."""
    start = max(0, text.find(part) - 20)
    return " ".join(text[start : start + 80].split())
