"""The catalogue of environments."""

from waybench.core._registry import Registry
from waybench.envs._index import INDEX

__all__ = ["registry"]

registry = Registry(INDEX, group="waybench.environments")
