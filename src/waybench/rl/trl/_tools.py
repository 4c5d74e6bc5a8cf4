"""Episodes as tools: the model replies by calling one, and its results are the environment's answers."""

import itertools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from datasets import Dataset

from waybench.core import UsageError
from waybench.envs import registry
from waybench.rl._session import Session

_RULES = (
    "{rules}\n\nReply by calling the tool act with your reply, one call for each turn. Text outside of it is not read."
)


def environment_factory(env: str, **settings: Any) -> Callable[[], Any]:
    """Return an `environment_factory` for `GRPOTrainer`: each reply is a call of the tool `act`.

    This form is a wording of its own, whose rules say so; records name it ("file:tools-..."), so that it is never mixed
    with replies as text. The reward of an episode is the sum of the environment's rewards (`get_reward`).

    Args:
        env: The environment's id.
        **settings: As `waybench.rl.Session`; `wording` is what the form is based on.

    Raises:
        UsageError: For a wrong setting, or an environment whose prompts are no growing conversation.
    """
    settings = {**settings, "wording": _wording(env, settings.get("wording")), "legal_actions": 0}
    if not Session(env, **settings).grows:
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

        def act(self, reply: str) -> str:
            """Reply to the environment.

            Args:
                reply: The reply, in the form that the rules ask for.
            """
            episode = self._session.episode
            if episode is None or episode.done:
                return "The episode is over."
            turn = self._session.reply(str(reply))
            self._reward += turn.reward
            return turn.text or "The episode is over."

        def get_reward(self) -> float:
            """Return the sum of the episode's rewards."""
            return self._reward

        @property
        def record(self) -> Any:
            """The episode's record."""
            return self._session.record()

    return Tools


def tool_prompts(*, count: int, start: int = 0) -> Dataset:
    """Return rows for `environment_factory`, one for each item; the environment writes the prompt when it starts.

    Args:
        count: The number of items.
        start: The number of the first one.
    """
    empty = [{"role": "user", "content": ""}]
    return Dataset.from_list([{"prompt": empty, "item": index} for index in range(start, start + count)])


def _wording(env: str, base: Any) -> str:
    """Return the name of the file with the wording; its content, not its place, is what records name."""
    own = next(option for option in registry.load(env).options if option.name == "wording")
    if base is not None and (not isinstance(base, str) or base not in (own.choices or (own.default,))):
        raise UsageError(f"wording={str(base)[:60]!r}: the tool form is based on a wording of {env}'s own")
    folder = Path(tempfile.mkdtemp(prefix="waybench-tools-"))
    path = folder / "tools.toml"
    path.write_text(f"base = {json.dumps(base or own.default)}\nrules = {json.dumps(_RULES)}\n", encoding="utf-8")
    return f"file:{path}"
