"""Commitments to runs: what is fixed before a run, so that nobody can choose its limit or ladder afterwards."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from waybench._version import __version__
from waybench.core import SHARD, Json, UsageError, is_object, read_json_file
from waybench.envs import registry
from waybench.evaluation.tasks import find_task, resolve_key
from waybench.submission._parameters import items_digest, portable_parameters

FORMAT = "waybench-run-commitment"
_SCHEMA = 1
_LARGEST = 1 << 20  # bytes
# Parameters that say where and for how much a task runs, and not what it plays.
_FREE = frozenset(("data_dir", "budget", "prices", SHARD))


def run_commitment(task: str, parameters: Mapping[str, Any], model: str, epochs: int = 1) -> dict[str, Json]:
    """Return a commitment to a run: task, items, options, model and versions.

    Raises:
        UsageError: For an unknown task or parameter, or a file that cannot be read.
    """
    entry = find_task(task)
    values = portable_parameters(entry.name, resolve_key(entry.resolve(parameters)), [], items_digest)
    return {
        "format": FORMAT,
        "schema": _SCHEMA,
        "waybench": __version__,
        "environments": {env: registry.load(env).version for env in entry.envs},
        **_committed_fields(entry.name, values, model, epochs),
    }


def _committed_fields(task: str, parameters: Mapping[str, Json], model: str, epochs: int) -> dict[str, Json]:
    """Return the fields in which a commitment and its run must agree; parameters at their defaults are left out."""
    defaults = {option.name: option.default for option in find_task(task).options}
    chosen = {
        name: value for name, value in sorted(parameters.items()) if name not in _FREE and value != defaults.get(name)
    }
    return {"model": model, "task": task, "parameters": chosen, "epochs": epochs}


def is_commitment_to_run(
    committed: Mapping[str, Any], model: str, task: str, parameters: Mapping[str, Json], epochs: int
) -> bool:
    """Return whether a commitment is one to this run, with the environment versions that are installed."""
    try:
        identity = _committed_fields(task, parameters, model, epochs)
        versions = {env: registry.load(env).version for env in find_task(task).envs}
    except UsageError:
        return False
    return committed.get("environments") == versions and all(committed.get(name) == identity[name] for name in identity)


def read_run_commitment(path: Path) -> dict[str, Any]:
    """Return the commitment in a file that `waybench commit TASK` wrote.

    Raises:
        WaybenchError: If it is none.
    """
    data = read_json_file(path, _LARGEST, "a commitment to a run")
    if not is_object(data) or data.get("format") != FORMAT or data.get("schema") != _SCHEMA:
        raise UsageError(f"{path.name}: this is no commitment to a run: give what `waybench commit TASK` wrote")
    return data
