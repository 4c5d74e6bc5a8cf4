"""Maps to be extracted from a text."""

from waybench.envs.textmap.extract._environment import EXTRACT
from waybench.envs.textmap.extract._instance import EXAMPLES, Extraction, extractions
from waybench.envs.textmap.extract._triplet_graph import Said, said_right, same, wanted

__all__ = [
    "EXAMPLES",
    "EXTRACT",
    "Extraction",
    "Said",
    "extractions",
    "said_right",
    "same",
    "wanted",
]
