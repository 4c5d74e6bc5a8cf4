"""AQA-Bench (arXiv:2402.09404): the sequential reasoning of six interactive games."""

from inspect_ai import Task, task

from waybench.evaluation.tasks._load import preset


@task
def aqabench(game: str = "aqa", limit: int | None = None, protocol: str = "paper") -> Task:
    """Guess a number or a number of coins, and traverse trees, depth first and breadth first.

    Args:
        game: All six games ("aqa"), or one: guessnum, coin, dfs, cavedfs, bfs or cavebfs.
        limit: Items of each game; 20 by default.
        protocol: Rules of the paper ("paper"), or corrected ones ("sound").
    """
    return preset(game, limit=limit, protocol=protocol)
