"""Trains linear probes on hidden states that `waybench run --states` has stored.

    waybench run alicia --model hf/local -M model_path=model --states states.jsonl --layers 0,2,4,6
    python linear_probe.py states.jsonl

A probe is a ridge regression from the states of a layer to a label, tested on items that it was not trained on. Its R2
is 0 where it predicts no better than the mean, and 1 where it knows the label. It needs the extra `eval` of waybench.
"""

import argparse
import json
import operator
from base64 import b64decode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from waybench.results.stats import clustered_mean

FOLDS = 5
PENALTIES = (1.0, 10.0, 100.0, 1000.0)


def ridge(inputs: Any, values: Any, penalty: float) -> Any:
    """Return the weights of a ridge regression on centred inputs and values."""
    return np.linalg.solve(inputs.T @ inputs + penalty * np.eye(inputs.shape[1]), inputs.T @ values)


def predict(train: Any, values: Any, test: Any, groups: Any) -> Any:
    """Return predictions for other items; the penalty is chosen on a fifth of the items of the training data."""
    held_out = np.isin(groups, np.unique(groups)[::FOLDS])

    def fitted(rows: Any, penalty: float, at: Any) -> Any:
        centre, spread = train[rows].mean(0), train[rows].std(0) + 1e-6
        mean = values[rows].mean()
        weights = ridge((train[rows] - centre) / spread, values[rows] - mean, penalty)
        return mean + (at - centre) / spread @ weights

    errors = [np.square(fitted(~held_out, penalty, train[held_out]) - values[held_out]).mean() for penalty in PENALTIES]
    return fitted(np.ones(len(values), dtype=bool), PENALTIES[int(np.argmin(errors))], test)


def probe(states: Any, values: Any, items: Any) -> str:
    """Return R2 of a linear probe at items that it was not trained on, with its 95 % interval over items."""
    known = ~np.isnan(values)
    states, values, items = states[known], values[known], items[known]
    if len(np.unique(items)) < 2 * FOLDS or values.std() < 1e-9:
        return "–"
    order = np.random.default_rng(1).permutation(np.unique(items))
    predicted = np.empty(len(values))
    for fold in range(FOLDS):
        test = np.isin(items, order[fold::FOLDS])
        predicted[test] = predict(states[~test], values[~test], states[test], items[~test])
    skill = 1 - np.square(predicted - values) / values.var()
    mean = clustered_mean(skill.tolist(), items.tolist(), None, 1)
    assert mean is not None
    return f"{mean.value:.2f}" if mean.low is None else f"{mean.value:.2f} ({mean.low:.2f} to {mean.high:.2f})"


def read_turns(path: Path, model: str | None = None) -> list[dict[str, Any]]:
    """Return the turns of a model: of several lines for one turn the last, of a resumed run."""
    turns = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    models = sorted({turn["model"] for turn in turns})
    if model is None and len(models) > 1:
        raise SystemExit(f"choose a model with --model: {', '.join(models)}")
    key = operator.itemgetter("env", "item", "attempt", "turn")
    return [*{key(turn): turn for turn in turns if model in (None, turn["model"])}.values()]


def probe_table(turns: Sequence[Mapping[str, Any]]) -> str:
    """Return the skill of probes in Markdown: a row for each label, a column for each layer."""
    items = np.array([turn["item"] for turn in turns])
    states = {
        layer: np.stack([np.frombuffer(b64decode(turn["states"][layer]), "<f4") for turn in turns]).astype(float)
        for layer in turns[0]["states"]
    }
    lines = [f"| label | {' | '.join(f'layer {layer}' for layer in states)} |", f"|---|{'---|' * len(states)}"]
    for name in dict.fromkeys(name for turn in turns for name in turn["labels"]):
        values = np.array([turn["labels"].get(name, np.nan) for turn in turns])
        lines.append(f"| {name} | {' | '.join(probe(of_layer, values, items) for of_layer in states.values())} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("states", type=Path, help="File of `waybench run --states`.")
    parser.add_argument("--model", help="Model, where the file has several.")
    args = parser.parse_args()
    print(probe_table(read_turns(args.states, args.model)))


if __name__ == "__main__":
    main()
