"""Maps to be extracted from a text."""

from waybench.envs.textmap.extract._environment import EXTRACT
from waybench.envs.textmap.extract._game import ExtractionState
from waybench.envs.textmap.extract._instance import EXAMPLES, Extraction, extractions
from waybench.envs.textmap.extract._triplet_graph import PlayerTriplets, triplet_scores

__all__ = ["EXAMPLES", "EXTRACT", "Extraction", "ExtractionState", "PlayerTriplets", "extractions", "triplet_scores"]
