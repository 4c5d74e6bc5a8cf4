"""MANGO (arXiv:2403.19913): questions about maps of text games, told by their walkthroughs."""

from inspect_ai import Task, task

from waybench.evaluation.tasks._load import preset


@task
def mango(game: str = "mango_route", limit: int = 10, protocol: str = "paper") -> Task:
    """Find the way on a map of which only the walkthrough of a text game tells.

    Args:
        game: What is asked: mango_route, mango_destination, mango_minigames or mango_extract.
        limit: Questions about each map.
        protocol: Rules of the paper ("paper"), or corrected ones ("sound").
    """
    return preset(game, limit=limit, protocol=protocol)
