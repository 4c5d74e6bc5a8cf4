"""What the documentation says of text maps."""

_FIRST = {
    "route": "The player reads the walkthrough of a text game and tells how to get from one place to another.",
    "destination": "The player reads the walkthrough of a text game and tells where a row of moves leads.",
}

_TEXT = """\
{first} The walkthrough comes by every place, but not by every way: half of the questions about \
generated worlds need a move that was never made, only its opposite; of those about the published games, 36 % of the \
routes drawn and 43 % of the destinations.

A re-implementation of MANGO (arXiv:2403.19913) after its paper and its published data:

* **Maps.** A map has places, and moves with the steps of the walkthrough at which they were made, or at which their
  opposites were, if the game has confirmed that these lead back. Level k has worlds of 2^(k+1) places up to twice as
  many: text games of our own, made by key, with one-way passages, doors, dark places, names that resemble each other,
  and prose that distracts. The tasks can also ask about the 53 published games, or about a game file of yours.
* **Questions** can be answered from the prefix that is shown. An easy one follows moves that were made there; a hard
  one needs one that has to be inferred.
* **Answers** are a list of moves, each with the place before, the action and the place after.
* **Success** of a route is whether its actions lead there; of a destination, whether the last place is right.
* **Reasoning** is stricter: each move of the answer has to be one of the map, and begin where the last one ended.
* **Floors.** `waybench/null` says nothing, `waybench/constant` gives the best answer that is the same for all questions
  about a map: similar names have credit in `paper`, so that this has more than nothing there.
  `waybench/walked` knows only what was walked, `waybench/reverse` retraces the walkthrough.

What `paper` and `sound` differ in:

| | `paper` | `sound` |
|---|---|---|
| the reply | from the first [ to the first ], as a Python literal | the last list of objects, JSON or Python |
| what cannot be read | is left out of the success | has none |
| a route's actions | each stands for the closest of the map's | have to be the map's |
| a destination | has credit for a similar name | has to be the place, but for case, width and blanks |
| where given moves can lead to several places | the question's own is right | each of them is right |
| the lists of names | all of the map, also of what comes later | those that the prefix tells of |
| a reply that is cut off | is read, if its list was closed | is not carried out |

What the published program does and the paper does not, is not done in either: taking the true destination for the
answer, adding opposite moves that nobody tried, credit for routes that end at a similar name.
"""


def about(kind: str) -> str:
    """Return the description of an environment.

    Args:
        kind: The part of its id after the slash.
    """
    return _TEXT.format(first=_FIRST[kind])
