"""The current episode, for embedded players, which read its true state."""

from contextvars import ContextVar
from typing import Any

from waybench.core import Episode

current_episode: ContextVar[Episode[Any, Any, Any] | None] = ContextVar("waybench_episode", default=None)
