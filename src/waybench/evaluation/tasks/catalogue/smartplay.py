"""SmartPlay (arXiv:2310.01557): language models as agents in small games."""

from inspect_ai import Task, task

from waybench.evaluation.tasks._load import preset


@task
def smartplay(game: str = "smartplay", limit: int | None = None, protocol: str = "paper") -> Task:
    """Play the recorded settings: bandits, Rock Paper Scissors, Hanoi, Messenger, Crafter and the search for a biome.

    Args:
        game: All recorded settings ("smartplay"), or one of its tasks, such as hanoi_3 or messenger_l1.
        limit: Number of trials; as published by default.
        protocol: Rules of the paper ("paper"), or corrected ones ("sound").
    """
    return preset(game, limit=limit, protocol=protocol)
