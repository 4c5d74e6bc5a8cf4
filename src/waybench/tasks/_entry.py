"""A line of the list of tasks."""

from dataclasses import dataclass

from waybench.core import Option


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """One line of the list of tasks.

    Attributes:
        name: What the user types.
        envs: The environments that it plays.
        summary: One line for listings.
        options: Its parameters.
        target: "module:function" of the Inspect task.
    """

    name: str
    envs: tuple[str, ...]
    summary: str
    options: tuple[Option, ...]
    target: str
