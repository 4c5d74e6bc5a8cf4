"""The Inspect layer: episodes as samples, one solver, one scorer, embedded players as models."""

from typing import TYPE_CHECKING

from waybench._late import late_names

if TYPE_CHECKING:
    from waybench.evaluation._adaptive import PLAN
    from waybench.evaluation._engine import check_folder, evaluate, open_model
    from waybench.evaluation._progress import TaskStatus
    from waybench.evaluation._provider import check_player, declared_tools, message_shape
    from waybench.evaluation._run_journals import part_files
    from waybench.evaluation._run_progress import RunProgress
    from waybench.evaluation._sample import Chat, finished_record, fork, stored_record, to_sample
    from waybench.evaluation._solver import episode, play, reply_of, wrap_model

__all__ = [
    "PLAN",
    "Chat",
    "RunProgress",
    "TaskStatus",
    "check_folder",
    "check_player",
    "declared_tools",
    "episode",
    "evaluate",
    "finished_record",
    "fork",
    "message_shape",
    "open_model",
    "part_files",
    "play",
    "reply_of",
    "stored_record",
    "to_sample",
    "wrap_model",
]

__getattr__ = late_names(
    __name__,
    {
        "_adaptive": ("PLAN",),
        "_engine": ("check_folder", "evaluate", "open_model"),
        "_progress": ("TaskStatus",),
        "_provider": ("check_player", "declared_tools", "message_shape"),
        "_run_journals": ("part_files",),
        "_run_progress": ("RunProgress",),
        "_sample": ("Chat", "finished_record", "fork", "stored_record", "to_sample"),
        "_solver": ("episode", "play", "reply_of", "wrap_model"),
    },
)
