"""The files of an export, YAML, and the declaration of a benchmark on the Hub."""

import json
import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from waybench.core import Json, UsageError, is_array, is_object, make_writable_folder


class FileText(NamedTuple):
    """A file of an export: its path within the export, with slashes, and its content."""

    path: str
    text: str


def write_files(folder: Path, files: Iterable[FileText]) -> list[Path]:
    """Write files below a folder and return their paths.

    Raises:
        UsageError: If the folder cannot be written, or a path would leave it.
    """
    make_writable_folder(folder)
    paths: list[Path] = []
    for name, text in files:
        parts = PurePosixPath(name).parts
        if not parts or ".." in parts or name.startswith("/"):
            raise UsageError(f"cannot write {name[:120]!r}: the path leaves the folder of the export")
        path = folder.joinpath(*parts)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(f"cannot write {str(path)!r}: {error.strerror}") from None
        paths.append(path)
    return paths


def yaml(value: Json, indent: int = 0) -> str:
    """Return data as YAML: mappings and lists in blocks, and every other value as JSON, of which YAML is a superset."""
    pad = "  " * indent
    if is_object(value) and value:
        return "\n".join(
            f"{pad}{name}:\n{yaml(part, indent + 1)}"
            if isinstance(part, dict | list) and part
            else f"{pad}{name}: {json.dumps(part)}"
            for name, part in value.items()
        )
    if is_array(value) and value:
        return "\n".join(f"{pad}- {yaml(part, indent + 1).lstrip()}" for part in value)
    return pad + json.dumps(value)


def without_none(**fields: Json) -> dict[str, Json]:
    """Return the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def as_path_part(text: str) -> str:
    """Return a text as part of a path on every system: other characters than letters, digits and ._- become "-"."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", text).strip(".-")[:100] or "unknown"


def check_dataset_name(dataset: str) -> None:
    """Raise a UsageError unless a text is the name of a data set on the Hub, "owner/name"."""
    owner, slash, name = dataset.partition("/")
    if not slash or as_path_part(owner) != owner or as_path_part(name) != name:
        raise UsageError(f"--dataset {dataset[:80]!r}: give the data set on the Hub as owner/name")


def benchmark_file(tasks: Iterable[str], *, split: str = "") -> FileText:
    """Return `eval.yaml` of the benchmark's data set: its tasks, which leaderboards list.

    Inspect's own `hf/` tasks cannot play episodes of several turns: `waybench run TASK` does.

    `split` is the split of the data set with the tasks' items, where each task is a config; "" if it has no items.
    """
    split_field = {"split": split} if split else {}
    benchmark = {
        "name": "waybench",
        "description": "How well a language model finds its way.",
        "evaluation_framework": "waybench",
        "tasks": [{"id": task, **({"config": task} if split else {}), **split_field} for task in sorted(tasks)],
    }
    return FileText("eval.yaml", yaml(benchmark) + "\n")
