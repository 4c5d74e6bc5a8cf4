"""AliciaBench: mazes of growing dimension, by the description of its author."""

from inspect_ai import Task, task

from waybench.evaluation.tasks._load import preset


@task
def aliciabench(max_dimension: int = 101, protocol: str = "paper") -> Task:
    """Ten mazes per dimension, three attempts each, dimensions 5, 7, 9, ... until the player fails.

    Args:
        max_dimension: Last dimension; it limits the cost.
        protocol: Rules of the paper ("paper"), or corrected ones ("sound").
    """
    return preset("alicia", max_dimension=max_dimension, protocol=protocol)
