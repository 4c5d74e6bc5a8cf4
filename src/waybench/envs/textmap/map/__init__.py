"""Maps of places: loading, paths and traversals."""

from typing import TYPE_CHECKING

from waybench._late import late_names
from waybench.envs.textmap.map._in_instances import (
    LATEST_CUTOFF,
    LONGEST_NAME,
    Locate,
    MapInstance,
    cut,
    map_name,
    published_map,
    read_map,
    read_number,
    read_place,
    read_texts,
    resolve_game,
    size_class,
)
from waybench.envs.textmap.map._labels import (
    DIFFICULTIES,
    Difficulty,
    Labels,
    Rule,
    edge_labels,
    path_labels,
    reached,
    route_difficulty,
)
from waybench.envs.textmap.map._load import load_map, normalize_action, walkthrough_text
from waybench.envs.textmap.map._place_map import NEVER, Edge, PlaceMap, Step
from waybench.envs.textmap.map._prefix import (
    PUBLISHED_STEPS,
    Names,
    all_names,
    fitting_cut,
    named_by_ids,
    published_cut,
    published_steps,
    seen_names,
    simplified,
    track,
    walkthrough,
    with_ids,
)
from waybench.envs.textmap.map._rename import Renaming, renaming
from waybench.envs.textmap.map._shares import MetricFunction, event, share
from waybench.envs.textmap.map._similar import LONGEST, distance, similarity
from waybench.envs.textmap.map._traversals import Move, Traversal, edges_of_traversals

if TYPE_CHECKING:
    from waybench.envs.textmap.map._kernel import Ints
    from waybench.envs.textmap.map._paths import BUDGET, Choice, Paths
    from waybench.envs.textmap.map._routes import Routes, routes

__all__ = [
    "BUDGET",
    "DIFFICULTIES",
    "LATEST_CUTOFF",
    "LONGEST",
    "LONGEST_NAME",
    "NEVER",
    "PUBLISHED_STEPS",
    "Choice",
    "Difficulty",
    "Edge",
    "Ints",
    "Labels",
    "Locate",
    "MapInstance",
    "MetricFunction",
    "Move",
    "Names",
    "Paths",
    "PlaceMap",
    "Renaming",
    "Routes",
    "Rule",
    "Step",
    "Traversal",
    "all_names",
    "cut",
    "distance",
    "edge_labels",
    "edges_of_traversals",
    "event",
    "fitting_cut",
    "load_map",
    "map_name",
    "named_by_ids",
    "normalize_action",
    "path_labels",
    "published_cut",
    "published_map",
    "published_steps",
    "reached",
    "read_map",
    "read_number",
    "read_place",
    "read_texts",
    "renaming",
    "resolve_game",
    "route_difficulty",
    "routes",
    "seen_names",
    "share",
    "similarity",
    "simplified",
    "size_class",
    "track",
    "walkthrough",
    "walkthrough_text",
    "with_ids",
]

# They need numpy or numba, which is loaded where there is something to compute.
__getattr__ = late_names(
    __name__,
    {
        "_kernel": ("Ints",),
        "_paths": ("BUDGET", "Choice", "Paths"),
        "_routes": ("Routes", "routes"),
    },
)
