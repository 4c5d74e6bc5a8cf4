"""What the documentation says of Messenger."""

ABOUT = """\
The player walks over a board to bring a message to a goal while avoiding an enemy. Which of the entities that it sees
is which, it has to find out from a manual that calls them by other words, in an order of its own. So it measures how
well a text is understood and then acted upon, in a world where things move.

A re-implementation of Messenger as SmartPlay (arXiv:2310.01557) has it, after the paper, the published program and
what has been recorded of it; no other engine is needed.

* **Levels** are the published stages. In stage 1 nothing moves, the player stands between the three entities, and the
  first thing it touches decides: the message, or, where the player has that from the start (one game in five), the
  goal. In stage 2 the message has to be fetched and then delivered, and enemy, message and goal each chase the player,
  flee from it or stay where they are. In stage 3 there are two decoys besides: enemies that look like the message or
  the goal and differ from them only in how they move; and one more sentence tells of something that is not there.
* **Movement.** The player moves by one cell in each step, all others by half a cell, so that things overlap by half a
  cell; that is a collision, too. All others decide where to go from where the player was before the step. A chaser
  takes a random one of the directions that bring it nearer, who flees one of those that lead away, both in Manhattan
  distance.
* **Reward.** 0.5 for taking the message, 1 for delivering it, and -1 for each enemy that is met (several at once cost
  several), or the goal without the message. In stage 1 it is 1 or -1 for what is touched first. **Score** is the reward
  of the last step, as published: 1 for a delivery, and 0 for most games that run out of steps. The sum of all rewards
  is the metric `reward`. Nothing of this differs in `sound`.
* **Most steps** are 4, 64 and 128, and more in proportion on larger boards of stages 2 and 3.
* **Sentences** are written by a grammar of our own: some 100,000 different ones of an entity in a role that moves in
  some way. The tasks can take the published sentences instead, which people have written, with the 32 published games.
  With our own sentences, any three entities of the cast can meet.
* **Beyond the published levels** there are larger boards (`size`), more decoys (`decoys`) and twelve more entities
  (`cast`); the rules stay the same.
* **Oracle.** It knows the true roles and searches a shortest way to what it wants on which no danger can be, however
  that moves. It wins 100, 100 and 99.8 % of the games of the three stages, the random player 8.0, 5.1 and 1.8 %, and
  who goes straight for message and goal 100, 92 and 63 %.

What `paper` and `sound` differ in:

| | `paper` | `sound` |
|---|---|---|
| of entities that look alike | only the nearest is mentioned | all are, each in a line of its own |
| what is seen after dying in stages 2 and 3 | `Environment Error.` | who was met, what that means, and the board |
| a game that is won, or lost in stage 1 | is told by nothing | is told in a sentence |
| the action that is taken | the first one that the reply names | the only one named |
| a reply that names none | moves north, the first action | costs the step; nothing moves |
| a reply cut off at the output limit | is read | costs the step; nothing moves |
"""
