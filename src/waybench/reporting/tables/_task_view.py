"""A task as the tables of a report show it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from waybench.core import Environment, Presentation
from waybench.results.results import Group


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task as the tables of a report show it.

    Attributes:
        env: Its environment.
        presentation: The environment's presentation.
        pages: File names of the pages of all groups' results.
    """

    env: Environment[Any, Any, Any]
    presentation: Presentation
    pages: Mapping[Group, str]
