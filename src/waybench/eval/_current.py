"""The current episode and belief probe, for embedded players, which read the true state."""

from contextvars import ContextVar
from typing import Any

from waybench.core import Belief, Episode

current_episode: ContextVar[Episode[Any, Any, Any] | None] = ContextVar("waybench_episode", default=None)

current_belief: ContextVar[Belief[Any] | None] = ContextVar("waybench_belief", default=None)
"""What the present request asks in a belief probe; None for a request for the next reply of the episode."""
