"""The Gymnasium face: `gymnasium.make("waybench/maze-alicia-v1", level=7)`.

Importing this package registers every environment of the catalogue. Needs the extra `gym`.
"""

from typing import Any

import gymnasium

from waybench.envs import registry
from waybench.ext.train._session import TRAINING_KEY
from waybench.ext.train.gymnasium._text_env import LONGEST_SHARED, TextEnv, Texts, TextVectorEnv

__all__ = ["LONGEST_SHARED", "TRAINING_KEY", "TextEnv", "TextVectorEnv", "Texts", "gym_id", "register_all"]

_GYMNASIUM: Any = gymnasium  # some of its types are only partly known


def gym_id(env_id: str, version: int) -> str:
    """Return the Gymnasium id of an environment: ("maze/alicia", 1) -> "waybench/maze-alicia-v1"."""
    return f"waybench/{env_id.replace('/', '-')}-v{version}"


def register_all() -> None:
    """Register every environment of the catalogue that is not registered yet."""
    for entry in registry.entries:
        name = gym_id(entry.id, entry.version)
        if name not in gymnasium.registry:
            _GYMNASIUM.register(
                name,
                entry_point="waybench.ext.train.gymnasium:TextEnv",
                vector_entry_point="waybench.ext.train.gymnasium:TextVectorEnv",
                kwargs={"env_id": entry.id},
            )


register_all()
