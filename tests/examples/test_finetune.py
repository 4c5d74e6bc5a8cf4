"""The tables of the fine-tuning example: transfer, and linear probes on hidden states. Training itself needs torch."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[2] / "examples"


def script(name: str, folder: str = "finetune") -> Any:
    """Return a script of an example as a module."""
    spec = spec_from_file_location(name, FOLDER / folder / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def records(task: str, solved: list[bool]) -> list[dict[str, Any]]:
    return [
        {"task": task, "instance_hash": f"{task}{number}", "end": "solved" if done else None}
        for number, done in enumerate(solved)
    ]


def test_the_table_of_transfer_pairs_items() -> None:
    before = [*records("seen", [False] * 10), *records("search/dfs", [True] * 8)]
    after = [*records("seen", [True] * 5 + [False] * 5), *records("search/dfs", [True] * 8), *records("new", [True])]
    _, _, seen, other, unpaired = script("transfer").transfer_table(after, before).splitlines()
    assert seen.startswith("| seen | 10 | 0 % (0 to ") and "| 50 % (" in seen and "| 50 (" in seen
    assert "| 8 | 100 % (" in other and "| 0 (no interval) |" in other
    assert unpaired == "| new | 0 |  |  |  |"


def test_a_linear_probe_finds_what_is_there_and_nothing_else() -> None:
    probe, rng = script("linear_probe").probe, np.random.default_rng(1)
    items = np.repeat(np.arange(60), 2)
    states = rng.normal(size=(120, 16))
    there = states @ rng.normal(size=16) + 3
    assert float(probe(states, there, items).split()[0]) > 0.95
    assert float(probe(states, rng.normal(size=120), items).split()[0]) < 0.3
    assert probe(states, np.ones(120), items) == "–"
