"""Maps to be extracted from a text."""

from waybench.envs.textmap.extract._environment import EXTRACT
from waybench.envs.textmap.extract._game import ExtractionState, PlayerTriplets, triplet_scores
from waybench.envs.textmap.extract._instance import EXAMPLES, Extraction, extractions

__all__ = ["EXAMPLES", "EXTRACT", "Extraction", "ExtractionState", "PlayerTriplets", "extractions", "triplet_scores"]
