"""Competent success, which horizons count: the goal is reached in about as many answers as the algorithm needs.

The bounds do not depend on the option `max_steps`: with enough steps, a random player reaches every goal. Over the
levels of the search for a horizon, a random walk stays within its bound in under 5 % of graphs, random guesses in under
8 % of ranges. Of the smallest graphs it is a fifth: a tenth of them is visited in the fewest steps possible by chance.
"""

from waybench.core import EpisodeRecord
from waybench.envs.search._answers import BREADTH, DEPTH, NUMBERS


def number_is_competent(record: EpisodeRecord) -> bool:
    """Return whether there were at most one and a half times as many guesses as the range has bits.

    Any bisection is within this bound.
    """
    case, answers = NUMBERS.read(record)
    return answers.valid <= max(1.5 * case.level, case.level + 1)


def depth_is_competent(record: EpisodeRecord) -> bool:
    """Return whether there were at most 2 (n - 1) steps: each edge of a depth-first search's tree there and back."""
    case, answers = DEPTH.read(record)
    return answers.valid <= 2 * (case.graph.size - 1)


def breadth_is_competent(record: EpisodeRecord) -> bool:
    """Return whether there were at most one and a half times as many steps as a breadth-first search needs."""
    case, answers = BREADTH.read(record)
    return answers.valid <= 1.5 * (case.graph.size - 1)
