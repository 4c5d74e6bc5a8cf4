"""The Inspect layer: episodes as samples, one solver, one scorer, embedded players as models."""

from waybench.llm._authors import Authored, OpenAuthor, open_author, write_world
from waybench.llm._engine import check_folder, evaluate
from waybench.llm._errors import one_line_errors
from waybench.llm._ladder import Ladder
from waybench.llm._provider import EmbeddedPlayer, check_player
from waybench.llm._sample import open_episode, stored_record, to_sample
from waybench.llm._search import HorizonSearch
from waybench.llm._solver import by_level, episode, play
from waybench.llm._strata import Stratum, strata

__all__ = [
    "Authored",
    "EmbeddedPlayer",
    "HorizonSearch",
    "Ladder",
    "OpenAuthor",
    "Stratum",
    "by_level",
    "check_folder",
    "check_player",
    "episode",
    "evaluate",
    "one_line_errors",
    "open_author",
    "open_episode",
    "play",
    "stored_record",
    "strata",
    "to_sample",
    "write_world",
]
