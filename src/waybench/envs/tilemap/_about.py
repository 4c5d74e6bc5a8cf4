"""What the documentation says of tile maps."""

_FIRST = {
    "gtb": "The player leads an agent over a map of tiles from objective to objective, with one whole plan each time.",
    "stepwise": "The player leads an agent over a map of tiles from objective to objective, one move at a time.",
    "state": "The player leads an agent over a map of tiles with whole plans, and draws the map that each leaves.",
}

_TEXT = """\
{first} What counts is where a plan ends, how long it is, and whether it can be read. Each level doubles the map's area,
from 70 tiles to 20,000, and no knowledge of the world helps.

A re-implementation of GameTraversalBenchmark (arXiv:2410.07765) after its published program, in words of our own:

* **Maps.** Level k has maps of 70 * 2^(k-1) up to 70 * 2^k tiles, 7 x 10 to 100 x 200. They are made by key, with
  biomes, roads, water, places and buildings; the tasks can also read the 151 published maps, or a file of yours.
* **One objective at a time.** The prompt has the map as it is now, what its characters stand for, which tiles can be
  walked on, all objectives and the next one. Nothing of earlier prompts is shown again but how far the last plan
  ended from its objective. The next plan begins where the last one ended.
* **Moves** into a wall or off the map lead nowhere and cost as much as any other. Passing over an objective does not
  count, only where the plan ends.
* **Replies that cannot be read** are answered with the same prompt, at most `max_failures` times for an objective,
  which is then given up and costs 100 and as many moves as the map's path length.
* **Invalid names** in a plan end it there; the rest is not carried out, but costs as well.
* **Errors** are told apart: `unparsed` (syntax), `wrong_actions` (names), `blocked` (moves into walls), `strategic`
  (a plan of valid names that ends elsewhere).
* **One-shot with feedback** (`tries=2`): an objective that was missed is asked for once more, from where the first
  plan has led, with what came of it; all actions cost, and the last end counts.
{more}* **Beings**, off by default: `walkers` wander about and stand in the way; `enemies` approach half of the time,
  and end the map where they meet the player; so do `hazards` under its feet. The present objective and each one after
  it then cost 100. Such a plan is `unproductive`, and the player is told what it has met. Beings step once after each
  action. Their luck depends on the map and the number of actions so far: all players and attempts meet the same.
* **The oracle foresees beings**, which no other player can. A search over places and times finds the shortest of all
  tours that meet no enemy. The path length in the score (in `sound`) goes round the hazards and knows nothing of
  walkers and enemies, so that even the best tour can have less than 100. Where many beings make the search too long, a
  hasty one takes its place. The oracle is no ceiling then, and there is no normalised score.

What `paper` and `sound` differ in:

| | `paper` | `sound` |
|---|---|---|
| the prompt | keeps silent on what coordinates and directions mean | explains them |
| the reply | the first innermost braces that are a Python literal | the last JSON object with "action" |
| an "action" that is no list of plain values | ends the map with the reward so far | is unparsed |
| `pick_object`, `hit_enemy` | are carried out, rows and columns swapped | are invalid names |
| what can be walked on | what occurs anywhere in the list's text, comments included | what the list names |
| objectives out of reach | are asked for | are left out |
| the path length in the score | the record's, which is no shortest tour | that of the shortest tour |
| the cost of a move | 1 | 1, 1/2, 1/5, 1/10, ...: the first for which the shortest tour costs less than 100 |
| the reward for an end | as coded, with gaps: 3 rows and 3 columns away is worth 0 | rings as the prompt promises |
| Top-1, Top-5 | exactly beside; 2 to 5 away in line | at most 1; at most 5 away |
| the score | not cut: perfect play has 95.4 on the published maps, 107 on one | cut; a shortest tour alone has 100 |

**Why a move costs less on long tours.** Where each move costs 1, leaving out an objective that is hundreds of moves
away can be worth more than reaching it: on one map in thirty at level 5, one in ten at level 6 and about a third at
levels 8 and 9. In `sound` all moves of the shortest tour together cost less than 100 points. A play that misses an
objective loses at least 100 points, for ending beside it is worth 100 and reaching it 200, and saves at most the
moves of the whole tour. A play that misses none and is no shortest tour has more moves. So nothing but a shortest
tour has 100. The prompt names the cost, in coarse steps, so that it does not give the tour's length away.

In `paper` each move costs 1, as published, on generated maps too. The oracle is no ceiling there on maps where leaving
out an objective pays, where one cannot be reached, or where a comment in the list of walkable tiles opens a shorter
way: sets with such a map have no normalised score. An episode that a budget of yours ends, such as a limit on tokens,
pays for the objectives that were not asked for as for those that are given up.

The random players are not published. `waybench/random-fp` makes as many random moves for each objective as the map's
path length divided by its objectives (17.8 on the published maps, in `paper`; published: 18.0), `waybench/random-rp` 1
to 90 random moves (3.4 and 264 moves a map; published: 3.0 and 278).
"""

_MORE = {
    "gtb": "",
    "stepwise": "* **Single moves.** A reply is JSON with one action or none, in both protocols. An objective is done\n"
    "  with when the player stands on it, or after as many replies as its shortest path has moves, and ten.\n",
    "state": "* **Foreseeing.** A reply is JSON with the actions and the map, in both protocols. `cells` is the share\n"
    "  of the map's cells that the drawing has right, `moved` that of the cells which change in truth or in the\n"
    "  drawing. The score is that of the plan alone.\n",
}


def about(name: str) -> str:
    """Return the description of an environment.

    Args:
        name: The part of its id after the slash.
    """
    return _TEXT.format(first=_FIRST[name], more=_MORE[name])
