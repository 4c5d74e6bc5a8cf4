"""Places of logs: a path, or the URL of a folder."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from waybench.cli._options import argument
from waybench.core import UsageError
from waybench.data import cache_dir
from waybench.scale import is_url, local_copy

DEFAULT_OUT = Path("waybench-out")  # of `waybench run`


class LogPlace(click.Path):
    """A parameter's type: a folder or file by its path, or a folder by URL, which is copied to this machine.

    Args:
        **settings: Arguments of `click.Path`.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(path_type=Path, **settings)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; of a URL, that of its copy, in which only what is new or has changed is fetched."""
        if isinstance(value, str) and is_url(value):
            value = local_copy(value, cache_dir())
        return super().convert(value, param, ctx)


def log_places(metavar: str) -> Any:
    """Declare an argument of any number of places, by default the folder that `waybench run` writes.

    Args:
        metavar: What the help calls a place.
    """
    return argument(f"[{metavar}]...", type=LogPlace(), default=(str(DEFAULT_OUT),))


def check_there(folders: Iterable[Path], advice: str = "") -> None:
    """Refuse a place that is not there, before anything is written: the site may be inside it.

    Args:
        folders: The folders, and files of records.
        advice: What else the user can do.

    Raises:
        UsageError: If one of them is not there.
    """
    for folder in folders:
        if not os.path.exists(folder):
            raise UsageError(
                f"no folder {folder}: give the folder that `waybench run --out` wrote, or a file of records{advice}"
            )


def is_copy(path: Path) -> bool:
    """Return whether a path is that of a copy of a folder by URL."""
    return path.is_relative_to(cache_dir() / "folders")


def refuse_copy(path: Path) -> None:
    """Refuse a folder by URL as the place of what a command writes.

    Raises:
        UsageError: If the path is that of its copy.
    """
    if is_copy(path):
        raise UsageError("the logs are at a URL: say with --out in which folder of this machine the site goes")
