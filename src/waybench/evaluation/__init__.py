"""The Inspect layer: episodes as samples, one solver, one scorer, embedded players as models."""

from typing import TYPE_CHECKING

from waybench._late import lazy_names

if TYPE_CHECKING:
    from waybench.evaluation._engine import evaluate
    from waybench.evaluation._solver import read_reply

__all__ = ["evaluate", "read_reply"]

__getattr__ = lazy_names(__name__, {"_engine": ("evaluate",), "_solver": ("read_reply",)})
