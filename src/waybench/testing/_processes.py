"""The check that another process draws and plays the same: Python orders sets anew in each process."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from types import ModuleType
from typing import Any

from waybench.core import Item
from waybench.testing._walks import (
    FOCUS,
    AnyEnvironment,
    ContractError,
    first_items_across_levels,
    require,
    sample_records,
)

_ABSENT = 3  # exit status of a process that does not have the environment
_SCRIPT = f"""
import contextlib, importlib, json, sys
name, path, attribute, level, levels = json.loads(sys.argv[1])
with contextlib.redirect_stdout(sys.stderr):
    try:
        module = importlib.import_module(name)
    except ImportError:
        sys.exit({_ABSENT})
    if module.__file__ != path:
        sys.exit({_ABSENT})
    from waybench.testing._processes import item_line
    from waybench.testing._walks import sample_records
    environment = getattr(module, attribute)
    records = [*sample_records(environment, level)]
    records += [item_line(environment.source(level=level).item(0)) for level in levels]
print(*records, sep="\\n")
"""


def check_processes(environment: AnyEnvironment, level: int) -> None:
    """Another process, in which sets have another order, draws the same items and plays the same episodes.

    An environment that is no global name of a module is not looked at.
    """
    if (place := _module_attribute_of(environment)) is None:
        return
    records, levels = [*sample_records(environment, level)], list[int]()
    with suppress(ContractError):  # the check of levels has it
        for item in first_items_across_levels(environment):
            records.append(item_line(item))
            levels.append(item.level)
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, json.dumps([*place, level, levels])],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
    )
    if done.returncode == _ABSENT:
        return
    errors = done.stderr.decode("utf-8", "replace").strip().splitlines()
    require(done.returncode == 0, "another process ended with {}", errors[-1] if errors else done.returncode)
    for here, there in zip(records, done.stdout.decode().splitlines(), strict=True):
        if here != there:
            first, second = json.loads(here), json.loads(there)
            id_ = first["item"]["id"]
            FOCUS.look_at(id_)
            part = next((name for name in first if first[name] != second.get(name)), "")
            FOCUS.look_at(subject=environment.items.make_source if part == "instance" else None)
            require(False, "item {}: {} differs in another process, where sets have another order", id_, part)


def item_line(item: Item[Any]) -> str:
    """Return an item as a JSON line with the first fields of a record."""
    return json.dumps({"item": {"id": item.id}, "instance": item.instance.to_json()})


def _module_attribute_of(environment: AnyEnvironment) -> tuple[str, str, str] | None:
    """Return (module, file, name) of an environment that is a global name of a module; None otherwise."""
    for name, module in sorted(sys.modules.items()):
        path: object = vars(module).get("__file__") if type(module) is ModuleType else None
        if isinstance(path, str) and name != "__main__":
            for attribute, value in vars(module).items():
                if value is environment:
                    return name, path, attribute
    return None
