"""Atlas: one world, met in ten ways. Read `_world` and `_game` first."""

from typing import TYPE_CHECKING

from waybench._late import lazy_names

if TYPE_CHECKING:
    from waybench.envs.atlas._environment import WORLD

__all__ = ["WORLD"]

# Tasks name its conditions and levels without the environment's code.
__getattr__ = lazy_names(__name__, {"_environment": ("WORLD",)})
