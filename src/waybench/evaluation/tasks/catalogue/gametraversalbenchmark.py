"""GameTraversalBenchmark (arXiv:2410.07765): plans over maps of two-dimensional games."""

from inspect_ai import Task, task

from waybench.evaluation.tasks._load import preset


@task
def gametraversalbenchmark(game: str = "gtb", limit: int | None = None, protocol: str = "paper") -> Task:
    """Plan a path over a tile map, objective by objective.

    Args:
        game: A plan for each objective ("gtb"), one move at a time ("gtb_stepwise"), or plans with a prediction of the
            map after them ("gtb_state").
        limit: Number of maps; 20 by default.
        protocol: Rules of the paper ("paper"), or corrected ones ("sound").
    """
    return preset(game, limit=limit, protocol=protocol)
