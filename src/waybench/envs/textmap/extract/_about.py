"""What the documentation says of extractions."""

ABOUT = """\
The player writes the walkthrough of a text game as triplets, place before, action, place after; then a graph search
answers questions by them, and the player is scored by its answers.

A re-implementation of the search-based approach of MANGO (arXiv:2403.19913, section C.4), of which the paper prints
neither prompts nor program:

* **Modes.** In `steps` the first five steps are examples with their triplets, and each step after them is a turn of its
  own, up to the last one that is shown; the prompts share these examples and forget all other turns. In `whole` the
  prompt has the whole prefix and no example, and one answer has the triplets of all its steps.
* **What a step's prompt shows** is the step before it, the step itself, and the name of the place before it. Of this,
  `told` gives the true name, so that a mistake stays with its step: the paper calls this a *completion* of triplets,
  and says of its second setting only that a mistake makes the following ones wrong. `own` gives the place where the
  player's own last triplet ended.
* **Triplets.** All steps are asked for; one that leads nowhere has the same place twice. Names count but for case,
  width and blanks. The name of a dark place is expected at once, though a reader learns it only by the light of a lamp.
  No more triplets count than there are steps.
* **The graph** has a move for each triplet that leads to another place, and its opposite (south for north, `exit hut`
  for `enter hut`) where no triplet says where that leads. In `steps`, the examples' triplets are part of it for who
  adds at least one that can be read.
* **Success** is that of the answers that a breadth-first search finds, to questions for routes and for destinations
  that can be answered from what was shown; a question without an answer has none. `success_bare` is the same without
  the opposites.
* **The ceiling** is what the true triplets come to. It can be below 1: an opposite that does not lead back, or a game
  that moves the player by itself, misleads the search. `waybench/oracle` is at the ceiling.
* **Floors.** `waybench/staying` says that nothing ever changes: where the place is told, that is right for more than
  half of the steps of the published games, so that `triplets` is to be read together with `triplets_moving`.
  `waybench/headings` takes a place's name in the first line of an observation for the place.

What `paper` and `sound` differ in:

| | `paper` | `sound` |
|---|---|---|
| the place before a step | told | the player's own |
| the triplets of a whole walkthrough | are compared with the steps one by one | count wherever they stand |
| a route's actions | each stands for the closest of the map's | have to be the map's |
| a destination | has credit for a similar name | has to be the place, but for case, width and blanks |
| the list of places | all of the map | those that the prefix tells of |

The paper's games for this are zork1, night, partyfoul, plundered, spirit and temple.
"""
