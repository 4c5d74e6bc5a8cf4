"""What the documentation says of Crafter."""

ABOUT = """\
The player lives in a world of grass, water, sand, forests and mountains with caves, seen from above. It has to eat,
drink and sleep, to beware of zombies, skeletons and lava, and to find out how to make tools of wood, stone and iron.
There are 22 achievements, from collecting a sapling to collecting a diamond.

A re-implementation of Crafter (arXiv:2109.06780) as SmartPlay (arXiv:2310.01557) tells it in text, after the papers and
what is published of their rules; neither package is needed, and no picture is made.

* **Worlds** have 64 by 64 cells. Each is made of a seed that the key draws, and all chance that follows is determined
  by the seed and the actions, with the same random numbers as in the published program: those that it draws to darken
  its pictures at night are passed over. The published program differs from process to process in which creature
  disappears where there are too many; here they are in the order in which they came.
* **Attempts** at an item meet the same world: who does the same sees the same. There is one level.
* **Steps.** 9,999 as published, or fewer by `steps`; a game ends before when the player is dead. Every game begins with
  a step in which nothing is done.
* **Score** is the number of achievements unlocked so far, summed over the steps; people have come to 2,680 on average.
  **Reward** is 1 for a step that unlocks something, and 0.1 for each health gained or lost. The **Crafter score**,
  exp(mean of ln(1 + s)) - 1 with the success rates s of the 22 achievements in per cent, is a figure of a set of
  worlds: `waybench run` prints it, the report shows it with the rates and intervals over worlds, and
  `waybench.envs.crafter.crafter_score` computes it. An achievement that is missed by chance takes more from it than one
  that is made by chance adds, so that ten worlds give less than many would: compare scores of as many worlds.
* **Rules** that the published manual does not tell: a table takes 2 wood, a furnace 4 stones and no table nearby (the
  paper says 8), a collected tree is gone, the wall of a single stone keeps zombies out, a sapling ripens while the
  player is less than 18 cells away, and nothing is found nearby in the first column and the first row of the map.
* **The manual** is the published one, which a language model wrote after the paper. It has no list of actions; its own
  has another order.
* **Oracle.** It sees the whole map and plans its ways with everything that can be dug or bridged, but it does not know
  what will happen by chance. In 3,000 steps it unlocks 20.1 achievements on average of 20 worlds, 18 or more in 17 of
  them, and all 22 in 10. The heuristic forages: it drinks, eats and cuts wood, and makes nothing. It comes to 2.9, the
  random player to 1.9.

What `paper` and `sound` differ in:

| | `paper` | `sound` |
|---|---|---|
| within 4 columns of the western edge, or 3 rows of the northern | `Error, you are out of the map.` | the view |
| the edge of the map is faced | `Error, you are out of the map.` | that it is faced |
| that the player sleeps, or has died | stands right behind the action; blank lines are doubled | is a paragraph |
| what the player died of | is not told | is told |
| the step before the first | is in the history | is not |
| the list of actions | only that of the manual | follows the manual |
| the action that is taken | the first one that the reply names, which is `Do` in "I don't know" | the only one named |
| a reply that names none | does nothing, the first action | costs the reply; no step is made |
| a reply cut off at the output limit | is read | costs the reply; no step is made |
"""
