"""An environment's presentation as the report's pages use it."""

from dataclasses import replace

from waybench.core import Presentation
from waybench.envs import registry


def presentation_of(env_id: str) -> Presentation:
    """Return an environment's presentation; its title is that of the environment if it declares no other."""
    env = registry.load(env_id)
    return replace(env.presentation, title=env.presentation.title or env.title)
