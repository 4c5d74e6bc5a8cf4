"""Programs outside waybench that an environment can use."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Program:
    """A program that an environment can use and that is installed separately; `waybench doctor` looks for it.

    Attributes:
        name: Its name, as in the option that chooses it.
        purpose: What it is for.
        find: Returns where it is, such as a path; None if it is not installed. Starts nothing.
        advice: What to do if it is not installed.
    """

    name: str
    purpose: str
    find: Callable[[], str | None]
    advice: str
