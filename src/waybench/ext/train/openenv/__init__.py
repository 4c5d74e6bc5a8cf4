"""The OpenEnv face: any environment of the catalogue behind OpenEnv's protocol. Needs the extra `openenv`.

    waybench serve openenv maze/alicia --level 9

A split of OpenEnv's task API is a split of this package and a level, as "train-9"; an index is an item's number in it.
"""

from waybench.ext.train._session import LARGEST_BODY
from waybench.ext.train.openenv._server import TextAction, TextEnvironment, TextObservation, TextState, app

__all__ = ["LARGEST_BODY", "TextAction", "TextEnvironment", "TextObservation", "TextState", "app"]
