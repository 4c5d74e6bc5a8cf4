"""Prints the table of transfer: what a model solves before and after training, set by set, on the same items.

    python transfer.py untrained.jsonl finetuned.jsonl

It reads records of `evaluate.py` and needs the extra `eval` of waybench.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from waybench.results.stats import clustered_mean


def interval(values: Sequence[float], clusters: Sequence[str], low: float) -> str:
    """Return a mean of values up to 1 with its 95 % interval, clustered by item, in percent."""
    mean = clustered_mean(values, clusters, low, 1)
    assert mean is not None
    ends = "no interval" if mean.low is None or mean.high is None else f"{100 * mean.low:.0f} to {100 * mean.high:.0f}"
    return f"{100 * mean.value:.0f} % ({ends})"


def transfer_table(after: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of transfer in Markdown: what is solved before and after training, and the paired difference."""

    def solved(records: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], float]:
        return {(record["task"], record["instance_hash"]): float(record["end"] == "solved") for record in records}

    first, second = solved(before), solved(after)
    lines = ["| set | items | before | after | gain, in points |", "|---|---|---|---|---|"]
    for name in dict.fromkeys(task for task, _ in second):
        keys = [key for key in second if key[0] == name and key in first]
        clusters = [key[1] for key in keys]
        cells = [interval([side[key] for key in keys], clusters, 0) for side in (first, second)] if keys else ["", ""]
        gain = interval([second[key] - first[key] for key in keys], clusters, -1) if keys else ""
        lines.append(f"| {name} | {len(keys)} | {cells[0]} | {cells[1]} | {gain.replace(' %', '')} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="Records of the model before training.")
    parser.add_argument("after", type=Path, help="Records of the model after it.")
    args = parser.parse_args()
    before, after = (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in (args.before, args.after)
    )
    print(transfer_table(after, before))


if __name__ == "__main__":
    main()
