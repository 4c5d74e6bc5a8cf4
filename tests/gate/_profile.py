"""Predictions of profiles: what a model is expected to score where it was not run."""

import numpy as np

from tests.gate._bank import bank
from tests.gate._rate import Rate
from tests.gate._tables import names, solved
from waybench.results import Row
from waybench.results.estimates import matrix
from waybench.results.estimates._profiles import model_profiles
from waybench.results.results import family_of

TASKS = (("graph/paths", 1), ("maze/alicia", 17), ("search/bfs", 15), ("messenger/roles", 3), ("textmap/extract", 1))
MODELS, ITEMS = 6, 20


def predictions(runs: int, seed: int = 10) -> Rate:
    """Return how often the 90 % interval of a predicted score holds the score of the run that was left out."""
    rng, hits = np.random.default_rng(seed), 0
    for run in range(runs):
        general = rng.normal(0, 1, MODELS)
        rows: list[Row] = []
        for env, level in TASKS:
            items, easy = bank(env, level, ITEMS), rng.normal(0, 0.5, ITEMS)
            for number, model in enumerate(names(MODELS)):
                ability = general[number] + rng.normal(0, 0.5)
                rows += items.rows_of(model, solved(rng, 1 / (1 + np.exp(-(ability + easy)))))
        model, env = names(MODELS)[0], TASKS[run % len(TASKS)][0]
        is_left_out = [(row.group.model, row.group.env) == (model, env) for row in rows]
        family = family_of(env)
        (measured,) = [row.cells[family].score for row in matrix(rows).rows if row.model == model]
        predicted_from = [row for row, left_out in zip(rows, is_left_out, strict=True) if not left_out]
        (prediction,) = [
            row.cells[family].predicted for row in model_profiles(predicted_from).rows if row.model == model
        ]
        assert measured is not None and prediction is not None
        hits += prediction.low <= measured.value <= prediction.high
    return Rate(hits, runs)
