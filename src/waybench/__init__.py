"""waybench: how well does a language model find its way?

The package is lazy: importing it loads neither numpy nor the evaluation engine. The parts are

* `waybench.core`: games, wordings, episodes, records, policies, metrics (standard library only);
* `waybench.envs`: the catalogue of environments;
* `waybench.eval`, `waybench.tasks`: the Inspect layer and the task names that users type;
* `waybench.analysis`, `waybench.report`: logs to estimates to a site;
* `waybench.testing`: contract tests for environments of your own.
"""

from typing import TYPE_CHECKING, Any

from waybench._version import __version__

if TYPE_CHECKING:
    from waybench.core import Environment

__all__ = ["__version__", "load"]


def load(env_id: str) -> "Environment[Any, Any, Any]":
    """Load an environment by its registered id.

    Args:
        env_id: An id such as ``"maze/alicia"``, or ``"maze/alicia@1"`` to insist on a version.

    Returns:
        The environment.

    Raises:
        waybench.core.UsageError: If no environment has this id or version; the message lists those that exist.
    """
    from waybench.envs import registry

    return registry.load(env_id)
