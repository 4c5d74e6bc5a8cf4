"""Route and destination questions about maps of places."""

from typing import TYPE_CHECKING

from waybench._late import late_names
from waybench.envs.textmap.questions._answers import (
    MOST_HOPS,
    PAPER,
    RELEASED,
    RULES,
    SOUND,
    Hop,
    Question,
    Rules,
    Trajectory,
    destinations,
    move_index,
    sound_answer,
    success,
    trajectory,
)
from waybench.envs.textmap.questions._choice import LONGEST, choose
from waybench.envs.textmap.questions._datasets import selected_maps
from waybench.envs.textmap.questions._difficulty import map_variables, name_scores
from waybench.envs.textmap.questions._environment import DESTINATION, ROUTE
from waybench.envs.textmap.questions._game import (
    TrajectoryAnswers,
    places_renamed,
    read_hops,
    renamed_question,
    shortest_way,
)
from waybench.envs.textmap.questions._instance import LABELS, RELEASED_LABELS, MapQuestion, destination_on, route_on
from waybench.envs.textmap.questions._map_environment import (
    listed_names,
    lists_option,
    map_environment,
    prefix_option,
    protocol_option,
    questions_option,
)
from waybench.envs.textmap.questions._measures import NO_PLACE
from waybench.envs.textmap.questions._wording import hop_schema
from waybench.envs.textmap.questions._write import MOST_PATHS, WriteResult, write_map

if TYPE_CHECKING:
    from waybench.envs.textmap.questions._questions import count_questions

__all__ = [
    "DESTINATION",
    "LABELS",
    "LONGEST",
    "MOST_HOPS",
    "MOST_PATHS",
    "NO_PLACE",
    "PAPER",
    "RELEASED",
    "RELEASED_LABELS",
    "ROUTE",
    "RULES",
    "SOUND",
    "Hop",
    "MapQuestion",
    "Question",
    "Rules",
    "Trajectory",
    "TrajectoryAnswers",
    "WriteResult",
    "choose",
    "count_questions",
    "destination_on",
    "destinations",
    "hop_schema",
    "listed_names",
    "lists_option",
    "map_environment",
    "map_variables",
    "move_index",
    "name_scores",
    "places_renamed",
    "prefix_option",
    "protocol_option",
    "questions_option",
    "read_hops",
    "renamed_question",
    "route_on",
    "selected_maps",
    "shortest_way",
    "sound_answer",
    "success",
    "trajectory",
    "write_map",
]

# They need numpy or numba, which is loaded where there is something to compute.
__getattr__ = late_names(
    __name__,
    {"_questions": ("count_questions",)},
)
