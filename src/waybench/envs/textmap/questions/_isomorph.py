"""Isomorphic questions: the same question on the same map, with other names for the places."""

from dataclasses import replace

from waybench.envs.textmap.map import MapInstance, Renaming, renaming
from waybench.envs.textmap.questions._instance import MapQuestion
from waybench.envs.textmap.worlds import draw_name


def places_renamed(instance: MapInstance, key: str, number: int) -> Renaming:
    """Return the new names of a map's places, the same for all questions about it in an isomorphic set.

    Args:
        instance: What is asked about the map.
        key: The key of its set.
        number: The number of the isomorphic set, from 1.
    """
    return renaming(instance.map.places, draw_name, key, instance.map.name, number)


def renamed_question(question: MapQuestion, key: str, number: int) -> MapQuestion:
    """Return a question with new names for all places, in the walkthrough, too. Moves and steps stay.

    Args:
        question: The question.
        key: The key of its set.
        number: The number of the isomorphic set, from 1.
    """
    names = places_renamed(question, key, number)
    return replace(
        question,
        map=names.map(question.map),
        source=names.place(question.source),
        target=names.place(question.target),
        path=tuple(map(names.edge, question.path)),
    )
