"""Replies from which no action could be read, and why."""

from waybench.core._game import Outcome
from waybench.core._record import TurnRecord
from waybench.core._replies import split_reasoning

_REASONS = {
    Outcome.UNPARSED: "No action could be read from the reply.",
    Outcome.TRUNCATED: "The reply was cut off at the token limit.",
    Outcome.OVERFLOW: "The conversation was longer than the model can read.",
    Outcome.REFUSED: "The model refused to answer.",
}
UNREADABLE = tuple(_REASONS)
"""The outcomes of replies that could not be read."""

WARN_ABOVE = 0.2
"""The share of unreadable replies above which the user is warned."""


def unreadable_reason(turn: TurnRecord) -> str:
    """Return the reason why a turn's reply could not be read; "" if it could be read."""
    return (turn.reason or _REASONS[turn.outcome]) if turn.outcome in _REASONS else ""


# Beginnings of refusals in words, for models whose provider does not mark refusals. After the list of Zou, Wang,
# Carlini, Nasr, Kolter and Fredrikson (2023, arXiv 2307.15043; the programs' `test_prefixes`), without "I cannot" and
# "Sorry" alone, since replies about walls and wrong turns begin with these, too.
REFUSALS = (
    *("as an ai", "as a language model", "as an artificial intelligence"),
    *("i can't assist", "i cannot assist", "i'm unable to assist", "i am unable to assist", "i'm not able to assist"),
    *("i can't help", "i cannot help", "i'm unable to help", "i am unable to help", "i'm not able to help"),
    *("i can't comply", "i cannot comply", "i can't fulfill", "i cannot fulfill", "i won't assist", "i won't help"),
    *("i can't do that", "i cannot do that", "i cannot create", "i cannot support"),
    *("i can't engage", "i cannot engage"),
    *("against my guidelines", "if you have any other non-malicious requests"),
)
_LONGEST_BEGINNING = 300  # characters of a reply that are searched for a refusal
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'"})


def is_refusal_in_words(turn: TurnRecord) -> bool:
    """Return whether a turn's reply could not be read and begins with a refusal in words (`REFUSALS`)."""
    if turn.outcome is not Outcome.UNPARSED:
        return False
    answer = split_reasoning(turn.reply).answer if turn.reasoning else turn.reply
    start = answer[: 2 * _LONGEST_BEGINNING].translate(_APOSTROPHES).lower()  # twice as long, since blanks are joined
    beginning = " ".join(start.split())[:_LONGEST_BEGINNING]
    return any(words in beginning for words in REFUSALS)
