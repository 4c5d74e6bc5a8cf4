"""The Inspect layer: episodes as samples, one solver, one scorer, embedded players as models."""

from typing import TYPE_CHECKING

from waybench._late import late_names

if TYPE_CHECKING:
    from waybench.evaluation._adaptive import (
        AdaptiveSampleSource,
        Ladder,
        OptionItems,
        Stratum,
        Tokens,
        episode_tokens,
        option_strata,
        strata,
    )
    from waybench.evaluation._agents import agent_sandbox
    from waybench.evaluation._engine import check_folder, evaluate, open_model
    from waybench.evaluation._function import FunctionModel, one_line_errors
    from waybench.evaluation._provider import EmbeddedPlayer, check_player, declared, message_shape
    from waybench.evaluation._run_journals import part_files
    from waybench.evaluation._run_progress import RunProgress
    from waybench.evaluation._sample import Chat, finished_record, forked, read_plan, stored_record, to_sample
    from waybench.evaluation._search import PLAN, HorizonSearch
    from waybench.evaluation._solver import by_level, episode, play, reply_of, wrap_model
    from waybench.evaluation._task_status import TaskStatus

__all__ = [
    "PLAN",
    "AdaptiveSampleSource",
    "Chat",
    "EmbeddedPlayer",
    "FunctionModel",
    "HorizonSearch",
    "Ladder",
    "OptionItems",
    "RunProgress",
    "Stratum",
    "TaskStatus",
    "Tokens",
    "agent_sandbox",
    "by_level",
    "check_folder",
    "check_player",
    "declared",
    "episode",
    "episode_tokens",
    "evaluate",
    "finished_record",
    "forked",
    "message_shape",
    "one_line_errors",
    "open_model",
    "option_strata",
    "part_files",
    "play",
    "read_plan",
    "reply_of",
    "stored_record",
    "strata",
    "to_sample",
    "wrap_model",
]

__getattr__ = late_names(
    __name__,
    {
        "_adaptive": (
            "AdaptiveSampleSource",
            "Ladder",
            "OptionItems",
            "Stratum",
            "Tokens",
            "episode_tokens",
            "option_strata",
            "strata",
        ),
        "_agents": ("agent_sandbox",),
        "_engine": (
            "check_folder",
            "evaluate",
            "open_model",
        ),
        "_function": (
            "FunctionModel",
            "one_line_errors",
        ),
        "_provider": (
            "EmbeddedPlayer",
            "check_player",
            "declared",
            "message_shape",
        ),
        "_run_journals": ("part_files",),
        "_run_progress": ("RunProgress",),
        "_sample": (
            "Chat",
            "finished_record",
            "forked",
            "read_plan",
            "stored_record",
            "to_sample",
        ),
        "_search": (
            "PLAN",
            "HorizonSearch",
        ),
        "_solver": (
            "by_level",
            "episode",
            "play",
            "reply_of",
            "wrap_model",
        ),
        "_task_status": ("TaskStatus",),
    },
)
