"""Differences between the published and the corrected rules, as named switches."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Protocol:
    """One reading of the rules.

    Attributes:
        first_number: A reply stands for the first number in it, whatever else it says; otherwise it must hold exactly
            one number.
        reads_truncated: A reply that was cut off at the output limit is still read.
        normalised_history: The chat shows the number that was read in place of the player's own words.
        closing_answer: An in-context example ends with an empty answer to its last message; otherwise that message
            and the first one of what follows are one.
        whole_range: Errors are divided by the number of possible targets; otherwise by one less.
        any_bisection: ACC takes both middles of an even number of candidates; otherwise the teacher's alone.
        charges_quitting: What was left undone of the interactions costs 1 each in both sums; otherwise the invalid
            reply that ends an episode costs 1 in Err_sum and nothing in G_sum.
    """

    first_number: bool
    reads_truncated: bool
    normalised_history: bool
    closing_answer: bool
    whole_range: bool
    any_bisection: bool
    charges_quitting: bool


PROTOCOLS = {
    "paper": Protocol(
        first_number=True,
        reads_truncated=True,
        normalised_history=True,
        closing_answer=True,
        whole_range=False,
        any_bisection=False,
        charges_quitting=False,
    ),
    "sound": Protocol(
        first_number=False,
        reads_truncated=False,
        normalised_history=False,
        closing_answer=False,
        whole_range=True,
        any_bisection=True,
        charges_quitting=True,
    ),
}
