"""The published and the corrected rules, and the protocol text of AQA-Bench, exactly (prompts: stories.toml)."""

from collections.abc import Mapping
from dataclasses import dataclass

from waybench._package_data import read_toml


@dataclass(frozen=True, slots=True)
class SearchProtocol:
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
    "paper": SearchProtocol(
        first_number=True,
        reads_truncated=True,
        normalised_history=True,
        closing_answer=True,
        whole_range=False,
        any_bisection=False,
        charges_quitting=False,
    ),
    "sound": SearchProtocol(
        first_number=False,
        reads_truncated=False,
        normalised_history=False,
        closing_answer=False,
        whole_range=True,
        any_bisection=True,
        charges_quitting=True,
    ),
}


@dataclass(frozen=True, slots=True)
class SearchTexts:
    """The words of one environment.

    Attributes:
        name: The part of the environment's id after the slash.
        prompts: Edition -> system prompt.
        thing: The noun for the number to guess, or for a node.
        places: The noun for nodes in the plural.
        end: The beginning of the last message, which the number of steps follows.
        beside: The adjective of the node to which a visit has to be adjacent.
    """

    name: str
    title: str
    prompts: Mapping[str, str]
    thing: str
    places: str = ""
    end: str = ""
    beside: str = ""


START = "START"
BIGGER = "The true {thing} is bigger than {guess}."
SMALLER = "The true {thing} is smaller than {guess}."
RIGHT = "Right answer. The true {thing} is equal to {guess}."
INVALID_NUMBER = "Invalid reply. You can only reply with a integer number between {min} and {max}. Try again."
COACH_NUMBER = (
    "Your output is not optimal. You should follow binary-search algorithm. You can only reply with a integer number "
    "between {min} and {max}. Try again."
)

ADJACENT = "Adjacent {places}: {listed}."
DONE = "{end} Total number of steps: {steps}"
_ONLY_ADJACENT = "You can only reply with a integer number indicting the {thing} adjacent to the {beside} {thing}."
INVALID_NODE = "Invalid reply. Try again. " + _ONLY_ADJACENT
COACH_NODE = (
    "Your output is not optimal. You should follow {algorithm}-first-search algorithm. Try again. " + _ONLY_ADJACENT
)

STORIES = {name: SearchTexts(name=name, **words) for name, words in read_toml(__file__, "stories.toml").items()}
