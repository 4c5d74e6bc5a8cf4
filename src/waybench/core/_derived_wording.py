"""What wordings that are made from another one have in common."""

from collections.abc import Sequence
from typing import Generic

from waybench.core._calls import ActionTool, ToolCall
from waybench.core._game import A, I, S, Transition
from waybench.core._picture import Picture
from waybench.core._wording import Invalid, Message, Wording


class DerivedWording(Wording[I, S, A], Generic[I, S, A]):
    """A wording that does as another one does, but for what a subclass changes.

    Args:
        base: The other wording.
        name: The name of this one.
    """

    def __init__(self, base: Wording[I, S, A], name: str) -> None:
        self.name = name
        self.memory, self.rules_role = base.memory, base.rules_role
        self.reads_truncated, self.closing_answer = base.reads_truncated, base.closing_answer
        self.rewrites, self.call_rules = base.rewrites, base.call_rules
        self.rule_fields, self.fields = base.rule_fields, base.fields
        self._base = base

    def rules(self, instance: I) -> str:
        """Return what the base wording returns."""
        return self._base.rules(instance)

    def observe(self, state: S, last: Transition[S] | Invalid | None, turn: int) -> str:
        """Return what the base wording returns."""
        return self._base.observe(state, last, turn)

    def picture(self, state: S, last: Transition[S] | Invalid | None, turn: int) -> Picture | None:
        """Return what the base wording returns."""
        return self._base.picture(state, last, turn)

    def prompt(self, rules: str, examples: Sequence[tuple[str, str]], observation: str) -> tuple[Message, ...]:
        """Return the messages as the base wording divides them."""
        return self._base.prompt(rules, examples, observation)

    def recall(self, state: S) -> int:
        """Return what the base wording returns."""
        return self._base.recall(state)

    def thought_question(self, state: S) -> str:
        """Return what the base wording returns."""
        return self._base.thought_question(state)

    def takes_truncated(self, state: S) -> bool:
        """Return what the base wording returns."""
        return self._base.takes_truncated(state)

    def parse(self, reply: str, state: S) -> A | Invalid:
        """Read a reply as the base wording does."""
        return self._base.parse(reply, state)

    def understands(self, reply: str, state: S) -> bool:
        """Return what the base wording returns."""
        return self._base.understands(reply, state)

    def remember(self, reply: str, parsed: A | Invalid) -> str:
        """Return what the base wording returns."""
        return self._base.remember(reply, parsed)

    def render(self, action: A, state: S) -> str:
        """Return a reply as the base wording does."""
        return self._base.render(action, state)

    def action_name(self, action: A, state: S) -> str:
        """Return what the base wording returns."""
        return self._base.action_name(action, state)

    def tools(self, state: S) -> Sequence[ActionTool]:
        """Return the tools that the base wording declares."""
        return self._base.tools(state)

    def parse_call(self, call: ToolCall, state: S) -> A | Invalid:
        """Read a call as the base wording does."""
        return self._base.parse_call(call, state)

    def render_call(self, action: A, state: S) -> ToolCall:
        """Return a call as the base wording does."""
        return self._base.render_call(action, state)
