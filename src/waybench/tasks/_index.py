"""The names and parameters of the tasks, without the evaluation engine."""

from dataclasses import dataclass

from waybench.core import Option
from waybench.envs.maze import ALICIA


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """One line of the list of tasks.

    Attributes:
        name: What the user types.
        env: The environment that it plays.
        summary: One line for listings.
        options: Its parameters.
        target: "module:function" of the Inspect task.
    """

    name: str
    env: str
    summary: str
    options: tuple[Option, ...]
    target: str


ALICIA_OPTIONS = (
    *ALICIA.options,
    Option(name="key", default=None, kind=str, doc="The set's key; the public set if not given."),
    Option(name="limit", default=10, low=1, doc="Mazes of each dimension."),
    Option(name="attempts", default=3, low=1, doc="Most attempts at a maze; a perfect one ends them."),
    Option(name="min_dimension", default=5, low=5, doc="The first dimension."),
    Option(name="max_dimension", default=101, low=5, high=1001, doc="The last dimension, a cap on cost."),
    *ALICIA.source_options,
)


TASKS = (
    TaskEntry(
        "alicia",
        "maze/alicia",
        "AliciaBench: ten mazes a dimension, three attempts each, dimensions 5, 7, 9, ... as far as the player gets",
        ALICIA_OPTIONS,
        "waybench.tasks._alicia:alicia",
    ),
)
