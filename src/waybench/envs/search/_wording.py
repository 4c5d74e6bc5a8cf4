"""The words of both games, and teacher guiding."""

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from waybench.core import (
    ActionTool,
    Field,
    Game,
    Invalid,
    Outcome,
    Player,
    Stream,
    ToolCall,
    Transition,
    TurnRecord,
    View,
    Wording,
)
from waybench.core._replies import is_minus_sign, without_invisible_characters
from waybench.envs.search import _texts as texts
from waybench.envs.search._metrics import VALID, Algorithm
from waybench.envs.search._number import Guessing, Number
from waybench.envs.search._texts import SearchProtocol
from waybench.envs.search._walk import VisitedNodes, WalkGraph

# As many as Python converts, unless configured otherwise; a longer number ended the published program.
MAX_DIGITS = min(4300, sys.get_int_max_str_digits() or 4300)
MAX_CHARACTERS = 1_000_000
LONG = 10_000  # characters; in a longer reply, repeated words are read once

_ILLEGAL = Outcome.ILLEGAL
_NUMBER = re.compile(r"\d+")
_SEPARATORS = (".", ",", "/", ":")  # between digits they make one number of two
_NO_NUMBER = Invalid("The reply has no number.")
_TOO_LONG = Invalid(f"The number has more than {MAX_DIGITS} digits.")


def read_number(reply: str, takes_first: bool) -> int | Invalid:
    """Read the number that a reply, without its reasoning, stands for.

    With `takes_first`, it is the first run of digits of any script, without a sign before it, as published. Otherwise
    the reply must have exactly one whole number in digits 0 to 9, by itself and not as a part of a word, a fraction or
    the like; it may occur more than once.
    """
    if takes_first:
        match = _NUMBER.search(reply)
        if match is None:
            return _NO_NUMBER
        digits = match[0]
        return _TOO_LONG if len(digits) > MAX_DIGITS else int(digits)
    if len(reply) > MAX_CHARACTERS:
        return Invalid(f"The reply has {len(reply)} characters; at most {MAX_CHARACTERS} are read.")
    text = without_invisible_characters(reply)
    if len(text) > LONG:
        # A word is read in the same way wherever it stands.
        text = " ".join(dict.fromkeys(text.split()))
    numbers: set[int] = set()
    for match in _NUMBER.finditer(text):
        number = _read_whole_number(text, match)
        if isinstance(number, Invalid):
            return number
        numbers.add(number)
        if len(numbers) > 1:
            return Invalid("The reply has more than one number; reply with one number alone.")
    return numbers.pop() if numbers else _NO_NUMBER


def _read_whole_number(text: str, match: re.Match[str]) -> int | Invalid:
    """Read one run of digits with its sign; it must be a whole number that stands by itself."""
    digits, start, end = match[0], match.start(), match.end()
    if not digits.isascii():
        return Invalid("The number must be written in the digits 0 to 9.")
    if len(digits) > MAX_DIGITS:
        return _TOO_LONG
    # The two characters on each side; fewer at the ends of the text.
    second_before, before = text[max(start - 2, 0) : max(start - 1, 0)], text[max(start - 1, 0) : start]
    after, second_after = text[end : end + 1], text[end + 1 : end + 2]
    is_joined = before in _SEPARATORS and (not second_before.strip() or second_before.isdecimal())
    is_joined = is_joined or (after in _SEPARATORS and second_after.isdecimal())
    # A letter, a superscript or a fraction beside digits makes something else of them.
    if is_joined or any(character.isalnum() or character == "_" for character in (before, after)):
        return Invalid("The reply has a number that is no whole number by itself; a whole number is plain digits.")
    # A dash after a word is a hyphen, as in cave-7.
    is_negative = is_minus_sign(before) and not second_before.isalnum()
    return -int(digits) if is_negative else int(digits)


class _NumberReplyWording(Wording[Any, Any, int]):
    """The common part of both wordings: the reply is a number, and the rules are in the system prompt."""

    rules_role = "system"
    tool: ActionTool  # with one whole number as its argument

    def __init__(self, story: texts.SearchTexts, edition: str, protocol: SearchProtocol) -> None:
        self.name = edition
        self.reads_truncated = protocol.reads_truncated
        self.closing_answer = protocol.closing_answer
        self._story = story
        self._prompt = story.prompts[edition]
        self._takes_first = protocol.first_number
        self.rewrites = protocol.normalised_history

    def parse(self, reply: str, state: object) -> int | Invalid:
        """Read the number in a reply; the game decides whether it is legal."""
        return read_number(reply, self._takes_first)

    def remember(self, reply: str, parsed: int | Invalid) -> str:
        """Return the reply as the chat keeps it: as published, the number alone."""
        return str(parsed) if self.rewrites and isinstance(parsed, int) else reply

    def render(self, action: int, state: object) -> str:
        return str(action)

    def tools(self, state: object) -> tuple[ActionTool, ...]:
        return (self.tool,)

    def parse_call(self, call: ToolCall, state: object) -> int:
        (number,) = call.arguments.values()
        return number

    def render_call(self, action: int, state: object) -> ToolCall:
        (name,) = self.tool.parameters
        return ToolCall(self.tool.name, {name: action})


class NumberWording(_NumberReplyWording):
    """Guessing a number, plain or from a witch's chest."""

    tool = ActionTool("guess", "Guess a number.", {"number": {"type": "integer", "description": "The guess."}})

    def __init__(self, story: texts.SearchTexts, edition: str, protocol: SearchProtocol) -> None:
        super().__init__(story, edition, protocol)
        answers = {"right": texts.RIGHT, "bigger": texts.BIGGER, "smaller": texts.SMALLER}
        # The texts before and after the guess: formatting is the larger part of a message.
        self._answers = {
            relation: text.replace("{thing}", story.thing).split("{guess}") for relation, text in answers.items()
        }
        self.rule_fields = (
            Field[Number]("min", "The least number of the range.", lambda case: str(case.low)),
            Field[Number]("max", "The greatest number of the range.", lambda case: str(case.high)),
        )
        self.fields = (
            Field("min", "The least number of the range.", lambda view: str(view.state.case.low)),
            Field("max", "The greatest number of the range.", lambda view: str(view.state.case.high)),
            Field[View[Guessing]](
                "guess", "The last guess, if it was a valid one.", lambda view: _last_guess_text(view.last)
            ),
            Field(
                "answer",
                '"bigger", "smaller" or "right", after a valid guess.',
                lambda view: _relation_to_last_guess(view.state, view.last),
            ),
        )

    def rules(self, instance: Number) -> str:
        return self._prompt.format(min=instance.low, max=instance.high)

    def observe(self, state: Guessing, last: Transition[Guessing] | Invalid | None, turn: int) -> str:
        """Return whether the number is bigger, smaller or right, or that the reply was invalid."""
        if last is None:
            return texts.START
        case = state.case
        if isinstance(last, Invalid) or last.outcome is _ILLEGAL:
            return texts.INVALID_NUMBER.format(min=case.low, max=case.high)
        guess = last.events["guess"]
        before, after = self._answers[_target_relation(guess, case.target)]
        return f"{before}{guess}{after}"

    def refuse(self, state: Guessing) -> str:
        """Return the coach's message."""
        return texts.COACH_NUMBER.format(min=state.case.low, max=state.case.high)


def _last_guess_text(last: Transition[Guessing] | Invalid | None) -> str:
    """Return the last guess; "" if there was no valid one."""
    if last is None or isinstance(last, Invalid) or last.outcome is _ILLEGAL:
        return ""
    return str(last.events["guess"])


def _relation_to_last_guess(state: Guessing, last: Transition[Guessing] | Invalid | None) -> str:
    """Return "bigger", "smaller" or "right" for the last guess; "" if there was no valid one."""
    guess = _last_guess_text(last)
    return _target_relation(int(guess), state.case.target) if guess else ""


def _target_relation(guess: int, target: int) -> str:
    """Return "right", "bigger" or "smaller": how the target relates to a guess."""
    return "right" if guess == target else "bigger" if guess < target else "smaller"


class WalkWording(_NumberReplyWording):
    """Visiting nodes or caves."""

    def __init__(self, story: texts.SearchTexts, edition: str, protocol: SearchProtocol) -> None:
        super().__init__(story, edition, protocol)
        number = {"type": "integer", "description": f"Number of the {story.thing}."}
        self.tool = ActionTool("visit", f"Visit a {story.thing}.", {story.thing: number})
        self.rule_fields = (
            Field[WalkGraph](
                "nodes",
                "Number of nodes, which the published prompts do not mention.",
                lambda terrain: str(terrain.graph.size),
            ),
        )
        self.fields = (
            Field[View[VisitedNodes]]("current", "The node that was visited last.", lambda view: str(view.state.at)),
            Field[View[VisitedNodes]]("adjacent", "Its neighbours.", lambda view: _neighbour_list_text(view.state)),
            Field(
                "visited",
                "The visited nodes, in the order of their first visits.",
                lambda view: ", ".join(map(str, view.state.order)),
            ),
        )

    def rules(self, instance: WalkGraph) -> str:
        """Return the system prompt, which calls only graphs without cycles non-cyclic."""
        return self._prompt.replace(" non-cyclic", "") if instance.graph.cycle_count else self._prompt

    def observe(self, state: VisitedNodes, last: Transition[VisitedNodes] | Invalid | None, turn: int) -> str:
        """Return the neighbours of the node visited last, that the reply was invalid, or that all nodes are visited."""
        story = self._story
        if last is not None and (isinstance(last, Invalid) or last.outcome is _ILLEGAL):
            return texts.INVALID_NODE.format(thing=story.thing, beside=story.beside)
        if len(state.order) == state.graph.size:
            return texts.DONE.format(end=story.end, steps=turn)
        return texts.ADJACENT.format(places=story.places, listed=_neighbour_list_text(state))

    def refuse(self, state: VisitedNodes) -> str:
        """Return the coach's message."""
        story = self._story
        algorithm = "depth" if story.beside == "current" else "breadth"
        return texts.COACH_NODE.format(algorithm=algorithm, thing=story.thing, beside=story.beside)


def _neighbour_list_text(state: VisitedNodes) -> str:
    """Return the neighbours of the node visited last, with commas between them."""
    return ", ".join(map(str, state.graph.neighbours[state.at]))


_UNUSED_RANDOMNESS = Stream("search", "coach")  # the games do not draw from it


@dataclass(frozen=True, slots=True)
class Teacher:
    """Carries out the optimal policy's answers, in the whole episode or in its first steps.

    Attributes:
        player: The optimal policy.
        steps: Number of the teacher's steps; None for the whole episode. The step that would reach the goal is left to
            the player, so that there is always a free step to be scored.
    """

    game: Game[Any, Any, int]
    player: Player[Any, int]
    steps: int | None

    def __call__(self, state: Any, rng: Stream, turns: Sequence[TurnRecord]) -> int | None:
        """Return the teacher's answer; None if the player plays freely."""
        action = self.player(state, rng)
        if self.steps is None:
            return action
        # A teacher that has stopped does not begin again, wherever the player has gone.
        if len(turns) >= self.steps or (turns and turns[-1].executed is None):
            return None
        return action if self.game.terminal(self.game.apply(state, action, rng).state) is None else None


@dataclass(frozen=True, slots=True)
class Coach:
    """Refuses actions that do not follow the algorithm, up to a number in a row; then no action is checked any more.

    The published program also ended an episode, with no answer, at a refused reply that happened to be the target.
    Here such a reply is refused like any other.

    Attributes:
        game: The rules; illegal actions are left to the game.
        algorithm: State -> the algorithm with which answers are compared.
        refuse: State -> the message to the player.
        chances: Most refusals in a row.
    """

    game: Game[Any, Any, int]
    algorithm: Callable[[Any], Algorithm]
    refuse: Callable[[Any], str]
    chances: int

    def __call__(self, state: Any, action: int, turns: Sequence[TurnRecord]) -> str | None:
        """Return why an action is refused; None to let it pass."""
        algorithm, n_refused = self.algorithm(state), 0
        for turn in turns:
            if "coached" in turn.events:
                n_refused += 1
            elif turn.outcome in VALID:
                if n_refused >= self.chances:
                    return None
                algorithm.add_answer(turn.action)
                n_refused = 0
        if n_refused >= self.chances or self.game.apply(state, action, _UNUSED_RANDOMNESS).outcome is Outcome.ILLEGAL:
            return None
        return None if algorithm.is_next_answer(action) else self.refuse(state)
