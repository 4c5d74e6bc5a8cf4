"""Games whose actions are names of one list: their rules, their wording, and the keys for people."""

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import lru_cache
from itertools import islice, permutations
from types import MappingProxyType
from typing import Any

from waybench.core._errors import DataError
from waybench.core._game import NOTHING, End, Game, GameProperties, I, Json, Outcome, S, Stream, Transition
from waybench.core._parts import Typing
from waybench.core._presentation import TypedAction
from waybench.core._replies import normalize_name
from waybench.core._texts import CHOICE_TEXTS, ENGLISH_NAME, Texts, TextTables, kit_tables, texts_in
from waybench.core._wording import ActionTool, Field, Invalid, ToolCall, View, Wording

LONGEST_REPLY = 1_000_000  # characters
_MOST_SINGLE_PATTERNS = 32  # more names are searched for together
_ENGLISH = texts_in(ENGLISH_NAME, CHOICE_TEXTS)
_KEYS = ("up", "down", "left", "right", "space")


def index_of_named_action(reply: str, actions: Sequence[str], texts: Texts = _ENGLISH) -> int | Invalid:
    """Return the index in `actions` of the one action that a reply names, or why there is none.

    A name must not be part of a longer word; marks may stand around it. Case, width, blanks, typography and a period at
    the end of the name do not matter. The reply may repeat the action's name, but must not name another action. Where a
    name contains another action's name, only the longer one counts.

    The reply is without its reasoning; reasons are in the language of `texts`.
    """
    if len(reply) > LONGEST_REPLY:
        return Invalid(texts.fill("reply.long", count=len(reply), most=LONGEST_REPLY))
    indexes = _action_names(tuple(actions)).indexes_of_named_actions(normalize_name(reply))
    if len(indexes) == 1:
        return indexes.pop()
    if not indexes:
        return Invalid(texts["actions.none"])
    return Invalid(texts["actions.several"])


class _ActionNames:
    """Finds the names of actions in a text."""

    def __init__(self, actions: Sequence[str]) -> None:
        self._index_of = {normalize_name(name).removesuffix("."): index for index, name in enumerate(actions)}
        names = sorted(self._index_of, key=len, reverse=True)
        # A pattern that begins with letters is searched for several times as fast as one that begins with an assertion.
        self._patterns = {
            name: re.compile(rf"{re.escape(name)}(?<![^\W_]{re.escape(name)})(?![^\W_])") for name in names
        }
        self._any_name = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, names))})(?![^\W_])")
        are_few = len(names) <= _MOST_SINGLE_PATTERNS
        self._are_separate = are_few and not any(_names_can_overlap(*pair) for pair in permutations(names, 2))

    def indexes_of_named_actions(self, text: str) -> set[int]:
        """Return the indexes of the actions that a text names; of several, two may be enough."""
        if not self._are_separate:
            return {self._index_of[name] for name in set(self._any_name.findall(text))}
        found_names = (name for name, pattern in self._patterns.items() if name in text and pattern.search(text))
        return {self._index_of[name] for name in islice(found_names, 2)}  # a third changes no result


def _names_can_overlap(first: str, second: str) -> bool:
    """Return whether an occurrence of a name in a text can begin within an occurrence of another one."""
    for index in range(len(first)):
        is_word_start = index == 0 or not first[index - 1].isalnum()
        shorter, longer = sorted((first[index:], second), key=len)
        is_word_end = not longer[len(shorter) : len(shorter) + 1].isalnum()
        if is_word_start and longer.startswith(shorter) and is_word_end:
            return True
    return False


@lru_cache(maxsize=64)
def _action_names(actions: tuple[str, ...]) -> _ActionNames:
    """Return the compiled patterns of some action names, from a cache."""
    return _ActionNames(actions)


class ChoiceGame(Game[I, S, str]):
    """A game without chance whose actions are names of one list, and that can only be won.

    A subclass defines `start`, `step` and `is_solved`. The reward of solving it is 1.

    Attributes:
        actions: The names of all actions.
    """

    properties = GameProperties(deterministic=True, turns=None)
    actions: Sequence[str]

    @abstractmethod
    def step(self, state: S, action: str) -> S | None:
        """Return the state after an action; None if the action is not possible."""

    @abstractmethod
    def is_solved(self, state: S) -> bool:
        """Return whether a state is solved."""

    def events(self, before: S, after: S) -> Mapping[str, Json]:
        """Return the events of a step from `before` to `after`, for metrics; none by default."""
        return NOTHING

    def states_after_each_action(self, state: S) -> list[S]:
        """Return the state after each possible action, also for a solved state."""
        return [after for action in self.actions if (after := self.step(state, action)) is not None]

    def legal(self, state: S) -> Sequence[str]:
        """Return the actions that are possible; none once it is solved."""
        if self.is_solved(state):
            return ()
        return [action for action in self.actions if self.step(state, action) is not None]

    def apply(self, state: S, action: str, rng: Stream) -> Transition[S]:
        """Carry out an action; one that is not possible is illegal and changes nothing."""
        after = None if self.is_solved(state) else self.step(state, action)
        if after is None:
            return Transition(state, outcome=Outcome.ILLEGAL)
        return Transition(after, float(self.is_solved(after)), self.events(state, after))

    def terminal(self, state: S) -> End | None:
        """Return SOLVED for a solved state."""
        return End.SOLVED if self.is_solved(state) else None

    def encode(self, action: str) -> Json:
        """Return the action's name."""
        return action

    def decode(self, action: Json) -> str:
        """Return the action that `encode` wrote; raise a DataError for anything else."""
        if not isinstance(action, str) or action not in self.actions:
            raise DataError(f"action: give one of {', '.join(self.actions)}")
        return action


class ChoiceWording(Wording[I, S, str]):
    """The words of a game whose actions are names of one list.

    The rules end with the list. A reply names one action, with or without other text (`index_of_named_action`); with
    `interface=tools` the action is the argument of a call. Templates can use the fields {actions}, {mistake} and the
    one that shows the state.

    Args:
        actions: The names of all actions.
        rules: The rules, without the list of actions.
        show: State -> its text, which is the same in all languages.
        shown: A noun for this text, one word in lower case ("position"): the name of its field in templates, and its
            heading.
        impossible: The message after an action that is not possible; by default a general sentence.
        texts: The texts in other languages than English: language -> name -> text, with the names "rules", "heading"
            (which ends with a colon), "impossible" if that is given, and "action.NAME" for each action.

    Attributes:
        tables: All texts by language, for `Playing.texts`.
    """

    def __init__(
        self,
        actions: Sequence[str],
        rules: str,
        show: Callable[[S], str],
        *,
        shown: str = "position",
        impossible: str = "",
        texts: TextTables = MappingProxyType({}),
    ) -> None:
        self._show, self._shown = show, shown
        english = {"rules": rules, "heading": f"The {shown}:", **{f"action.{name}": name for name in actions}}
        english |= {"impossible": impossible} if impossible else {}
        self.tables: TextTables = kit_tables(CHOICE_TEXTS, english, texts)
        self._actions = tuple(actions)
        self._set_texts(texts_in(ENGLISH_NAME, self.tables))

    def _set_texts(self, texts: Texts) -> None:
        """Set the texts of a language, with the fields of templates and the tool that depend on them."""
        self.texts = texts
        self._names = tuple(texts[f"action.{action}"] for action in self._actions)
        argument = {"type": "string", "enum": list(self._names), "description": texts["tool.argument"]}
        self._tool = ActionTool("act", texts["tool.description"], {"action": argument})
        self.rule_fields = (
            Field[I](
                "actions", "The names of all actions, with commas between them.", lambda instance: self._action_list
            ),
        )
        self.fields = (
            Field[View[S]](self._shown, f"The {self._shown} now.", lambda view: self._show(view.state)),
            Field[View[S]]("mistake", "Why the last reply had no effect.", lambda view: self._mistake_text(view.last)),
        )

    def in_language(self, texts: Texts) -> "ChoiceWording[I, S]":
        """Return the same wording with other texts."""
        wording = copy(self)
        wording._set_texts(texts)
        return wording

    @property
    def _action_list(self) -> str:
        """The names of all actions in the language, with commas between them."""
        return ", ".join(self._names)

    def _mistake_text(self, last: Transition[S] | Invalid | None) -> str:
        """Return why the last reply had no effect; "" if it had one."""
        if isinstance(last, Invalid):
            return last.reason
        return self.texts["impossible"] if last is not None and last.outcome is Outcome.ILLEGAL else ""

    def rules(self, instance: I) -> str:
        """Return the rules and the list of actions."""
        return f"{self.texts['rules']}\n{self.texts.fill('actions.list', actions=self._action_list)}"

    def observe(self, state: S, last: Transition[S] | Invalid | None, turn: int) -> str:
        """Return why the last reply had no effect, if it had none, and the text of the state."""
        mistake = self._mistake_text(last)
        return "\n".join([*([mistake] if mistake else []), self.texts["heading"], self._show(state)])

    def parse(self, reply: str, state: S) -> str | Invalid:
        """Return the one action that a reply names, or why there is none."""
        index = index_of_named_action(reply, self._names, self.texts)
        return index if isinstance(index, Invalid) else self._actions[index]

    def render(self, action: str, state: S) -> str:
        """Return the action's name in the language."""
        return self.texts[f"action.{action}"]

    def tools(self, state: S) -> Sequence[ActionTool]:
        """Return the tool that takes an action."""
        return (self._tool,)

    def parse_call(self, call: ToolCall, state: S) -> str:
        """Return the action of a call."""
        return self._actions[self._names.index(call.arguments["action"])]

    def render_call(self, action: str, state: S) -> ToolCall:
        """Return the call for an action."""
        return ToolCall(self._tool.name, {"action": self.render(action, state)})


def choice_typing(actions: Sequence[str]) -> Typing[Any, str]:
    """Return the `Typing` of a game whose actions have names: what a person types, and the keys.

    The actions "up", "down", "left", "right" and "space" have the keys of these names, and actions of one character the
    key of this character. The next nine actions have the keys 1 to 9, further ones have none.
    """
    digits = map(str, range(1, 10))
    key_of: dict[str, str] = {}
    for action in actions:
        has_own_key = action in _KEYS or len(action) == 1
        key_of[action] = action if has_own_key else next(digits, "")
    typed_actions = [TypedAction(action, key=key_of[action]) for action in actions]
    return Typing(
        parse=lambda text, state: action if (action := normalize_name(text)) in key_of else None,
        format=lambda action: (action,),
        help=f"Type one of {', '.join(actions)}.",
        actions=lambda state: typed_actions,
    )
