"""The TRL face: episodes as rollouts for `trl.GRPOTrainer`. Needs the extra `trl`.

    session = {"env": "search/guessnum", "level": 8}
    trainer = GRPOTrainer(
        model=...,
        reward_funcs=episode_reward,
        train_dataset=prompts(**session, count=1000),
        rollout_func=rollouts(**session),
        args=GRPOConfig(...),
    )

An episode is one sequence of tokens: the prompt, and then the model's replies and the environment's answers in turn.
`environment_factory` is the other form: each reply is a call of a tool. In the first form `env_mask` keeps the answers
out of the loss. So the prompt for a reply has to be the conversation so far: environments
that write a new prompt for each turn are refused.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any

from datasets import Dataset

from waybench.core import INTERFACE, TOOLS, ActionTool, Json, Reply, ToolCall, UsageError, reply_of_calls
from waybench.ext.train._curriculum import Curriculum
from waybench.ext.train._session import Session, SessionTurn

__all__ = ["environment_factory", "episode_reward", "prompts", "rollouts"]

_ITEM = "item"  # the field of a prompt's last message that says which item it is of

_OVER = "The episode is over."


def prompts(env: str | Curriculum, *, count: int, start: int = 0, **settings: Any) -> Dataset:
    """Return the first prompts of items, as a data set for `GRPOTrainer`.

    Args:
        env: The environment's id; or a curriculum, which has the settings. Then the prompts are of the easiest level,
            and `rollouts` takes only the items' numbers from them.
        count: The number of items.
        start: The number of the first one.
        **settings: As `waybench.ext.train.Session`, and the same for `rollouts`.

    Raises:
        UsageError: For a wrong setting, or an environment whose prompts are no growing conversation.
    """
    session = _conversation_session(env, settings)
    return Dataset.from_list([{"prompt": _prompt_of_item(session, index)} for index in range(start, start + count)])


def rollouts(
    env: str | Curriculum, *, turns: int | None = None, template: dict[str, Any] | None = None, **settings: Any
) -> Callable[[list[Any], Any], dict[str, list[Any]]]:
    """Return a `rollout_func` for `GRPOTrainer`.

    All episodes of a batch take their turns together. Each has its own attempt, so that games of chance differ. An
    episode ends early, without an error, where the tokens of `GRPOConfig.max_completion_length` are used up.

    A curriculum chooses a level for each item of a batch, which all of the item's rollouts in it have, and learns from
    all episodes at the end of the batch. It has to see all of them, so there is one training process.

    Args:
        env: The environment's id; or a curriculum, which has the settings.
        turns: Most turns of an episode; the environment's own limit if None.
        template: Further arguments for the tokenizer's `apply_chat_template`.
        **settings: As `waybench.ext.train.Session`.

    Returns:
        A function of prompts and trainer that returns `prompt_ids`, `completion_ids`, `logprobs`, `env_mask`, the sums
        of rewards as `episode_reward`, and the records as `record`.

    Raises:
        UsageError: As `prompts`.
    """
    _conversation_session(env, settings)  # says what is wrong before a model is loaded
    attempts = 0

    def roll_out(prompts: list[Any], trainer: Any) -> dict[str, list[Any]]:
        """Play an episode for each prompt, all side by side; see `rollouts`."""
        nonlocal attempts
        tokenizer = trainer.processing_class
        most_tokens = int(trainer.args.max_completion_length)
        if isinstance(env, Curriculum) and trainer.accelerator.num_processes > 1:
            raise UsageError("a curriculum has to see all episodes: train with one process")
        levels: dict[int, int] = {}
        episodes: list[_Rollout] = []
        for prompt in prompts:
            attempts += 1
            index = _item_index(prompt)
            if isinstance(env, Curriculum):
                arguments = env.settings(levels.setdefault(index, env.level()))
            else:
                arguments = {"env": env, **settings}
            session = Session(**{**arguments, "legal_actions": 0})
            turn = session.start(index, attempts, player="trl")
            episodes.append(_Rollout(session, turn, tokenizer, template or {}, most_tokens))
        while open_rollouts := [
            rollout for rollout in episodes if not rollout.over and (turns is None or rollout.replies < turns)
        ]:
            token_ids = [rollout.prompt_ids + rollout.completion_ids for rollout in open_rollouts]
            # TRL has no public function for this; its own loop of tool calls uses the same one.
            replies, logprobs = trainer._generate_single_turn(token_ids, None, {}, 1)
            for number, (rollout, reply_ids) in enumerate(zip(open_rollouts, replies, strict=True)):
                rollout.take_reply_tokens(reply_ids, None if logprobs is None else logprobs[number])
        if isinstance(env, Curriculum):
            for rollout in episodes:
                env.add(rollout.session.record())
        has_logprobs = all(rollout.logprobs is not None for rollout in episodes)
        return {
            "prompt_ids": [rollout.prompt_ids for rollout in episodes],
            "completion_ids": [rollout.completion_ids for rollout in episodes],
            "logprobs": [rollout.logprobs for rollout in episodes] if has_logprobs else None,  # type: ignore[dict-item]
            "env_mask": [rollout.mask for rollout in episodes],
            "episode_reward": [rollout.reward for rollout in episodes],
            "record": [rollout.session.record().to_json() for rollout in episodes],
        }

    return roll_out


def episode_reward(completions: Sequence[Any], *, episode_reward: Sequence[float], **_: Any) -> list[float]:
    """Return the sums of rewards that `rollouts` collected: a reward function for `GRPOTrainer`."""
    return [float(reward) for reward in episode_reward]


class _Rollout:
    """One episode as a sequence of at most `most_tokens` tokens after the prompt."""

    def __init__(
        self, session: Session, turn: SessionTurn, tokenizer: Any, template: dict[str, Any], most_tokens: int
    ) -> None:
        self.session = session
        self.reward = 0.0
        self.replies = 0
        self.over = turn.done
        self._tokenizer, self._template, self._most = tokenizer, template, most_tokens
        self._messages = turn.messages
        self.prompt_ids = list[int](
            tokenizer(self._chat_text(turn.messages, True), add_special_tokens=False)["input_ids"]
        )
        self.completion_ids: list[int] = []
        self.mask: list[int] = []
        self.logprobs: list[float] | None = []

    def take_reply_tokens(self, ids: Sequence[int], logprobs: Sequence[float] | None) -> None:
        """Play a turn with the tokens of a reply, and append the environment's answer."""
        n_free = self._most - len(self.completion_ids)
        is_cut = len(ids) > n_free
        ids = list(ids[:n_free])
        is_complete = not is_cut and bool(ids) and ids[-1] == self._tokenizer.eos_token_id
        self._append_tokens(ids, 1, logprobs)
        self.replies += 1
        text = self._tokenizer.decode(ids, skip_special_tokens=True)
        turn = self.session.reply(Reply(text, "stop" if is_complete else "truncated"))
        self.reward += turn.reward
        self.over = turn.done
        if self.over:
            return
        answer = self._tokens_between_replies(text, is_complete, turn.messages)
        if len(self.completion_ids) + len(answer) >= self._most:
            self.over = True  # no room for another reply
            return
        self._append_tokens(answer, 0, None)

    def _append_tokens(self, ids: Sequence[int], mask: int, logprobs: Sequence[float] | None) -> None:
        """Append tokens, with 1 in the mask for the model's tokens, 0 for the environment's."""
        self.completion_ids += ids
        self.mask += [mask] * len(ids)
        if mask and logprobs is None:  # the trainer gives none, so that the episode has none
            self.logprobs = None
        elif self.logprobs is not None:
            self.logprobs += [0.0] * len(ids) if logprobs is None else logprobs[: len(ids)]

    def _tokens_between_replies(self, text: str, is_complete: bool, messages: list[dict[str, str]]) -> list[int]:
        """Return the tokens that the chat template writes between a reply and the next one."""
        if messages[: len(self._messages)] != self._messages or messages[len(self._messages)]["role"] != "assistant":
            raise UsageError("the prompt is not the conversation so far: this environment cannot be one sequence")
        # The reply's tokens stay as the model wrote them. Of the template's form of the reply only the closing is
        # added: the end of a message, unless the model wrote it itself, and a line break.
        text_before = self._chat_text([*self._messages, {"role": "assistant", "content": text}], False)
        text_after = self._chat_text(messages, True)
        if not text_after.startswith(text_before):
            raise UsageError("the tokenizer's chat template rewrites earlier messages: choose another template")
        closing = text_before.rpartition(text.strip())[2] if text.strip() else ""
        end_token = str(self._tokenizer.eos_token)
        if is_complete and end_token in closing:
            closing = closing.partition(end_token)[2]
        self._messages = messages
        return list(self._tokenizer(closing + text_after[len(text_before) :], add_special_tokens=False)["input_ids"])

    def _chat_text(self, messages: list[dict[str, str]], with_reply_start: bool) -> str:
        """Return messages as text by the chat template, with or without the text before a reply."""
        settings = {"tokenize": False, "add_generation_prompt": with_reply_start, **self._template}
        return str(self._tokenizer.apply_chat_template(messages, **settings))


def _conversation_session(env: str | Curriculum, settings: dict[str, Any]) -> Session:
    """Return the session of an environment or curriculum; raise an error if its prompts do not grow."""
    if isinstance(env, Curriculum) and settings:
        raise UsageError("the curriculum has the settings: give them to Curriculum(...)")
    session = Session(**env.settings(env.levels[0])) if isinstance(env, Curriculum) else Session(env, **settings)
    if not session.grows:
        raise UsageError(
            f"{session.environment.id} shows a new prompt in each turn with these options, and a rollout of TRL is "
            "one growing conversation: choose another wording or protocol, or train with single turns"
        )
    return session


def _prompt_of_item(session: Session, index: int) -> list[dict[str, Any]]:
    """Return the first prompt of an item as messages that have the item's index."""
    messages: list[dict[str, Any]] = [{**message, _ITEM: None} for message in session.start(index).messages]
    messages[-1][_ITEM] = index
    return messages


def _item_index(prompt: Any) -> int:
    """Return the index of the item of a prompt."""
    try:
        return int(prompt[-1][_ITEM])
    except (TypeError, KeyError, IndexError, ValueError):
        raise UsageError(
            "a prompt says not which item it is of: make the data set with waybench.ext.train.trl.prompts"
        ) from None


def environment_factory(env: str, **settings: Any) -> Callable[[], Any]:
    """Return an `environment_factory` for `GRPOTrainer`: each reply is a call of a tool that the environment declares.

    This is `interface=tools`, a wording of its own whose rules say so; records name it ("tools:..."), so that it is
    never mixed with replies as text. The reward of an episode is the sum of the environment's rewards (`get_reward`).

    Args:
        env: The environment's id.
        **settings: As `waybench.ext.train.Session`; `wording` is what the form is based on.

    Raises:
        UsageError: For a wrong setting, an environment whose prompts are no growing conversation, or one that asks for
            thoughts, which no tool takes.
    """
    settings = {**settings, INTERFACE: TOOLS, "legal_actions": 0}
    session = Session(env, **settings)
    session.start(0)
    episode = session.episode
    if not session.grows or episode is None or episode.play.wording.thought_question(episode.state):
        raise UsageError(
            f"{env} shows a new prompt in each turn with these options, and tools are called in one growing "
            "conversation: choose another wording or protocol"
        )
    attempts = itertools.count(1)

    class Tools:
        """One episode at a time; every public method is a tool."""

        def __init__(self) -> None:
            self._session = Session(env, **settings)
            self._reward = 0.0

        def reset(self, item: int = 0, **row: Any) -> str:
            """Start an episode on the row's item and return its prompt."""
            self._reward = 0.0
            return self._session.start(int(item), next(attempts), player="trl").text

        def _call(self, name: str, arguments: Mapping[str, Json]) -> str:
            """Play a turn with a call of a tool, and return the environment's answer."""
            episode = self._session.episode
            if episode is None or episode.done:
                return _OVER
            turn = self._session.reply(reply_of_calls("", [ToolCall(name, arguments)]))
            self._reward += turn.reward
            return turn.text or _OVER

        def get_reward(self) -> float:
            """Return the sum of the episode's rewards."""
            return self._reward

        @property
        def record(self) -> Any:
            """The episode's record."""
            return self._session.record()

    for tool in episode.play.wording.tools(episode.state):
        setattr(Tools, tool.name, _tool_as_method(tool))
    return Tools


def tool_prompts(*, count: int, start: int = 0) -> Dataset:
    """Return rows for `environment_factory`, one for each of `count` items from number `start` on.

    The environment writes the prompt when it starts.
    """
    empty_prompt = [{"role": "user", "content": ""}]
    return Dataset.from_list([{"prompt": empty_prompt, "item": index} for index in range(start, start + count)])


def _tool_as_method(tool: ActionTool) -> Callable[..., str]:
    """Return a method for a tool, with annotations and docstring from which the trainer reads its schema."""

    def method(self: Any, **arguments: Any) -> str:
        return self._call(tool.name, arguments)

    types = {name: _type_of_schema(schema) for name, schema in tool.parameters.items()}
    parameters = [Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind) for name, kind in types.items()]
    self_parameter = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    method.__name__ = method.__qualname__ = tool.name
    method.__annotations__ = {**types, "return": str}
    method.__signature__ = Signature([self_parameter, *parameters], return_annotation=str)  # pyright: ignore[reportFunctionMemberAccess]
    lines = [f"    {name}: {_description_of_schema(schema)}" for name, schema in tool.parameters.items()]
    method.__doc__ = "\n".join((tool.doc, "", "Args:", *lines))
    return method


def _type_of_schema(schema: Mapping[str, Json]) -> Any:
    """Return the Python type of a JSON schema."""
    match schema["type"]:
        case "array":
            return list[_type_of_schema(schema["items"])]
        case "object":
            return dict[str, Any]
        case "integer":
            return int
        case _:  # no enumeration: the allowed texts can differ between items, and are in the rules
            return str


def _description_of_schema(schema: Mapping[str, Json]) -> str:
    """Return a schema's description, with the fields of objects, which annotations do not have."""
    fields: Mapping[str, Json] = schema.get("items", schema).get("properties", {})
    if not fields:
        return str(schema["description"])
    descriptions = "; ".join(f'"{name}" ({field["type"]}): {field["description"]}' for name, field in fields.items())
    return f"{schema['description']} Each is an object with {descriptions}"
