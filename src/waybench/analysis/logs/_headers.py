"""Reading what episodes need of finished logs of ours without Inspect, which takes seconds to import."""

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

from waybench.analysis.logs._guard import checked_parts
from waybench.core import Json, is_object

_HEADER, _SUMMARIES = "header.json", "summaries.json"  # of a log whose run has ended
_VERSION = 2  # of Inspect's format
_TEXTS = "task", "task_id", "model", "created"
_OBJECTS = "task_args", "task_args_passed", "model_args", "model_generate_config", "config", "packages"
_UTC = "+00:00"  # how a date ends that Inspect leaves as it is
# Settings whose values Inspect leaves as they are if they have this type; a log with others is read by Inspect.
_GENERATION: Mapping[str, type] = {
    **dict.fromkeys(("max_retries", "timeout", "max_connections", "max_tokens", "seed"), int),
    **dict.fromkeys(("temperature", "top_p"), float),
    "reasoning_effort": str,
}
_LIMITS: Mapping[str, type] = {
    **dict.fromkeys(("token_limit", "message_limit", "turn_limit"), int),
    "token_limit_type": str,
    "cost_limit": float,
}


class Summary(NamedTuple):
    """The summary of a sample of ours."""

    id: str | int
    epoch: int
    completed: bool
    error: str | None
    limit: str | None
    metadata: Mapping[str, Any]
    scores: Mapping[str, Any] = {}
    input: str = ""


class _Generation(NamedTuple):
    """Generation settings, none of which is None."""

    values: Mapping[str, Json]

    def model_dump(self, *, exclude_none: bool) -> dict[str, Json]:
        """Return them."""
        return dict(self.values)


def simple_log(location: str, key: str) -> tuple[Any, list[Summary]] | None:
    """Read the header of a log, as far as episodes need it, and the summaries of its samples.

    Args:
        location: The log, as Inspect calls it.
        key: What the metadata of a sample of ours has.

    Returns:
        What Inspect would make of these parts: an object with `eval` and `plan`, and the summaries; None if the log is
        of another form than Inspect writes today, is not finished, or has a sample that is not ours. Inspect itself has
        to read it then.

    Raises:
        DataError: If a part is larger or deeper than what is read (`check_parts`).
    """
    if not location.endswith(".eval"):
        return None
    _add_compression()
    parts = dict(checked_parts(location, (_HEADER, _SUMMARIES)))
    if len(parts) < 2:
        return None
    try:
        header, listed = (json.loads(parts[name]) for name in (_HEADER, _SUMMARIES))
    except (ValueError, RecursionError):
        return None
    if not isinstance(listed, list) or not listed:
        return None
    made = _header(header)
    summaries = [_summary(each, key) for each in cast(list[Json], listed)]
    return None if made is None or None in summaries else (made, [each for each in summaries if each])


def listed_logs(folder: Path) -> list[str] | None:
    """Return the logs in a folder, in any depth, as Inspect calls them; None if Inspect itself has to look for them."""
    if os.sep != "/":
        return None
    found: list[str] = []
    for root, folders, files in os.walk(folder.absolute()):
        if any(os.path.islink(os.path.join(root, name)) for name in folders):
            return None
        if any(name.endswith(".json") and name[:1].isdigit() for name in files):  # older logs, and others
            return None
        found += [f"file://{root}/{name}" for name in files if name.endswith(".eval")]
    return found


def _add_compression() -> None:
    """Teach `zipfile` the compression in which Inspect writes, as Inspect itself does."""
    if sys.version_info < (3, 14):
        with suppress(ImportError):  # then a log cannot be read here, and Inspect says why
            import_module("zipfile_zstd")


def _header(data: Any) -> Any:
    if not is_object(data) or data.get("version") != _VERSION:
        return None
    spec, plan = data.get("eval"), data.get("plan")
    if not is_object(spec) or not is_object(plan):
        return None
    texts, objects = ({name: spec.get(name) for name in names} for names in (_TEXTS, _OBJECTS))
    if not all(isinstance(text, str) for text in texts.values()) or not str(texts["created"]).endswith(_UTC):
        return None
    address, configs = spec.get("model_base_url"), (spec.get("model_generate_config"), plan.get("config"))
    if not all(map(is_object, objects.values())) or spec.get("model_roles") or not isinstance(address, str | None):
        return None
    generation = [each for each in configs if is_object(each) and _are_typed(each, _GENERATION)]
    if len(generation) < len(configs):
        return None
    config, packages = cast(dict[str, Json], objects["config"]), cast(dict[str, Json], objects["packages"])
    limits = {name: config.get(name) for name in _LIMITS}
    if not _are_typed(limits, _LIMITS):
        return None
    if not all(isinstance(version, str) for version in packages.values()):
        return None
    made, run = (_Generation({name: value for name, value in each.items() if value is not None}) for each in generation)
    shown = {**texts, **objects, "model_generate_config": made, "config": SimpleNamespace(**limits)}
    return SimpleNamespace(
        eval=SimpleNamespace(**shown, model_base_url=address, model_roles=None), plan=SimpleNamespace(config=run)
    )


def _are_typed(values: Mapping[str, Json], types: Mapping[str, type]) -> bool:
    return all(value is None or (name in types and type(value) is types[name]) for name, value in values.items())


def _summary(data: Any, key: str) -> Summary | None:
    if not is_object(data):
        return None
    metadata, epoch, name, completed = (data.get(field) for field in ("metadata", "epoch", "id", "completed"))
    error, limit = data.get("error"), data.get("limit")
    if not is_object(metadata) or key not in metadata or type(epoch) is not int or type(completed) is not bool:
        return None
    if (
        not isinstance(name, str | int)
        or isinstance(name, bool)
        or not isinstance(error, str | None)
        or not isinstance(limit, str | None)
    ):
        return None
    return Summary(name, epoch, completed, error, limit, metadata)
