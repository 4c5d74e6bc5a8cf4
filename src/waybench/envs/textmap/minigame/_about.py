"""What the documentation says of minigames."""

ABOUT = """\
The player reads the walkthrough of a text game up to some step, and chooses the next action from a list. The next \
step is one that leads to another place.

A re-implementation of the downstream task of MANGO (arXiv:2403.19913, sections 3.5 and C.7):

* **Steps.** Any step of the walkthrough that the map knows as a move can be asked about. With `moves` as `known`, \
only those whose move a reader can know by then: it was made before, or its opposite was and the game has confirmed \
it. The paper names only the first criterion, but its Table 14 counts "answerable" minigames, and in each of the 53 \
games there are no more of them than there are such known moves among the first 70 steps (0 of 0 in three games, up \
to 18 of 20).
* **The local map** (`local_map`) tells of the moves that lead away from the present place, one move far as in the \
paper's Example 9, and only of those that a reader can know by then with the names of both places: the information \
that one "in principle, should have learned" (section 3.5). Example 9 itself also names a place that the walkthrough \
comes by only later. Names are those of the map, in small letters in the published ones.
* **The list** has about ten actions in random order: all that lead away from the present place on the whole map; \
directions that do not, so that half of the list are ways; and things to do. In our own worlds these are what the \
game would carry out here. For other maps they are what the walkthrough did here before, and what it does elsewhere, \
first what mentions something that was told here. The published lists came from the game engine and are not \
published; nor are the 284 minigames. The list of a step depends on the map alone, so that all sets have the same \
one.
* **Success** is whether the answer is what the walkthrough does next. Another action can be as good in the game: \
`arrives` says whether the answer leads to the same place.
* **Floors.** `chance` is the success of an answer at random; `waybench/nearby` makes a random move of the local map, \
`waybench/straight` goes on in the same direction, `waybench/reverse` goes back, `waybench/explorer` goes where \
nobody has gone.

What `paper` and `sound` differ in is the reply alone. In `paper` it has to be one of the actions and nothing else, \
but for case, blanks, and quotes or punctuation around it: the paper asks for no extra words, and does not say how it \
reads them. In `sound` it may say more, if it names exactly one of the actions. Reasoning blocks are left out in \
both, and what cannot be read has no success in either.
"""
