"""The embedded players as a model provider: `--model waybench/oracle`."""

from collections.abc import Iterable
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage
from inspect_ai.tool import ToolChoice, ToolInfo

from waybench.core import EMBEDDED, LOCAL_MODELS, UsageError, policy, unknown
from waybench.envs import registry
from waybench.eval._current import current_belief, current_episode
from waybench.eval._errors import one_line_errors
from waybench.eval._local import LocalModel, check_local
from waybench.eval._tools import acts_by_tools, output_of


def check_player(name: str, envs: Iterable[str] | None = None) -> None:
    """Check that an embedded player of this name exists.

    Args:
        name: The player.
        envs: The environments that it is to play, each of which must have it; if None, some environment must.

    Raises:
        UsageError: If it does not; the message lists those that do.
    """
    ids = [entry.id for entry in registry.entries] if envs is None else list(envs)
    players = [set(registry.load(env).players.policies) for env in ids]
    known = {*EMBEDDED, *(set[str].union(*players) if envs is None else set[str].intersection(*players))}
    if name in LOCAL_MODELS:
        check_local(name)
    elif name.startswith("noisy-"):
        policy(name)
    elif name not in known:
        raise UsageError(unknown("player", name, {*known, "noisy-0.1", *LOCAL_MODELS}))


class EmbeddedPlayer(ModelAPI):
    """Plays by looking at the episode that the solver is playing, not at the messages.

    It costs nothing, uses no tokens and needs no network. A name of `LOCAL_MODELS` gives a `LocalModel` instead.
    """

    def __new__(cls, model_name: str, *args: Any, **kwargs: Any) -> Any:
        """Return a player, or a language model of this machine."""
        return LocalModel(model_name, *args, **kwargs) if model_name in LOCAL_MODELS else super().__new__(cls)

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  the base class's own signature
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        with one_line_errors():
            check_player(model_name)
            self._policy = policy(model_name)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Return the player's reply to the current episode."""
        episode = current_episode.get()
        if episode is None:
            raise RuntimeError(
                "embedded players play only waybench's tasks: choose one from `waybench list`, as waybench/TASK"
            )
        name, belief = f"waybench/{self.model_name}", current_belief.get()
        if belief is not None:
            output = ModelOutput.from_content(name, self._policy.believe(episode, belief))
        elif acts_by_tools(episode):
            output = output_of(name, self._policy.reply(episode), len(episode.turns))
        else:
            output = ModelOutput.from_content(name, self._policy.reply(episode))
        # Without usage the engine would fetch a tokenizer's file to count by.
        output.usage = ModelUsage()
        return output
