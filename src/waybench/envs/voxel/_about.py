"""What the documentation says of the search."""

ABOUT = """\
The player looks for a biome in a world of blocks that has no end: a desert, a jungle, the sea. It is told where it is,
what is around its feet and what it sees, in words, and says in which of four directions to go on. So it measures
whether one keeps to a way, knows which blocks tell of which biome, and understands a description of a space.

After the eight Minecraft tasks of SmartPlay (arXiv:2310.01557, sections 3.7 and C.6), whose program needs MineDojo and
with it Minecraft. Here the world is **our own** and needs nothing but this package, unless another engine is chosen
(see below). Manual, actions, descriptions, steps and score are the published ones, but the world is another one, and so
are its biomes and their sizes. **No score in it is comparable with a published one**, and none is put on the human
scale.

* **Levels** say how far the nearest goal is: level 1 from 32 to 64 blocks, and each further level twice as far, up to
  level 5 with 512 to 1024. A step leads some ten blocks ahead, so that all of them can be reached in the published 200.
* **Goals** are the eight published ones, drawn by key, or one that is chosen, of 18 biomes (`goal=birch forest`). As
  published, every biome counts whose name contains the goal's word: ice plains are plains, too. One stands in a goal
  only after a step. Rivers are never far, so that there is no level 5 of them.
* **A step** turns the player towards a direction, by whole steps of 15 degrees and so up to 15 degrees short of it, and
  then makes it walk for 50 ticks of a twentieth of a second, or until it is in a goal. In each tick chance decides
  whether it only walks ahead or also to a side, and whether it sprints or jumps.
* **The player** is a box, 0.6 blocks wide and 1.8 high. It walks 0.2158 blocks a tick, sprints 0.2806, swims 0.1 at the
  surface and climbs out of the water; it jumps somewhat more than a block high, is pulled down by gravity, and is never
  hurt. Wood, leaves and cactuses are in the way; grass and flowers are not.
* **The world** follows from the seed: continents, seas and rivers, temperature and humidity, hills and mountains,
  caves, ores, trees and plants. It is computed in whole numbers, so that it is the same on every platform. There are
  no beings in it.
* **What is seen** comes from 17 by 17 rays, 6 degrees apart and 65 blocks long, and from the 9 by 9 by 9 blocks around
  the feet; equal blocks that hang together make one line. Blocks are called as MineDojo calls them, but wood and leaves
  also say of which tree they are.
* **Score** is 1 if the biome was found, otherwise 0, and so is the reward; in the published program the latter is
  the simulator's, which is always 0.
* **The start** is out of sight of the goal in `sound`, and anywhere in `paper` (`start`). In sight is what is in an
  observation: what the rays meet, whichever way one turns. At level 1, 18 of 40 published starts are in sight of
  plains; from level 2 on the rays do not reach that far, so that `start` changes next to nothing there.
* **Oracle.** It knows the map, floods it from the goals, and imagines two steps ahead with chances of its own. Of 60
  searches in each level it finds all, in 6, 12, 25, 47 and 92 steps on average. Keeping a heading finds 77, 65, 50,
  28 and 20 % of them, going at random 55, 30, 7, 0 and 0 %.

The recorded search, plains at level 1 in `paper`, hardly measures anything, in sight or not: plains are the most common
biome, and 200 steps lead 2,000 blocks far. Being out of sight is not what makes it harder, but distance is, so that
`waybench run smartplay` takes level 3 in `sound`. Of the 20 searches of the public set in our own world, with a thought
before each action (`wording=one_question` draws other chances), so many find plains (`waybench run smartplay --model
waybench/random -T protocol=sound`, and so on; level 1 by `waybench run voxel_find -T goal=plains`):

| player | `paper`, level 1, as published | `sound`, level 1 | `sound`, level 3 |
|---|---|---|---|
| says nothing (null) | 15 | 0 | 0 |
| moves in one direction, the best one | 16 | 15 | 14 |
| random | 10 | 9 | 1 |
| heuristic | 16 | 14 | 13 |
| oracle | 20 | 20 | 20 |

To keep to one direction is a good plan in such a world, which has to be kept in mind with every score: reports and
`waybench run` print floor and ceiling of these 20 searches beside the score. `spl` tells a short way from a long one.

Engines are three worlds, and their scores are in no table together:

* `engine=own` is the world that is told of above.
* `engine=luanti` is a world of Luanti (formerly Minetest) with its game minetest_game, from a server on this machine
  that is started, asked and stopped by this package; Debian has it as `minetest-server`. It casts the rays itself, and
  its map generator (v7, without caves and rivers) says which biomes there are; all its seas count as `ocean`, their
  shores as `beach`. The walker is the same as in our own world. A set shares eight worlds, by which intervals are
  clustered; a world follows from the seed and the version of the server, which a record names. Its hills are steeper:
  of 40 searches the oracle finds 35, all 8 in level 1 and 5 of 8 in level 5, keeping a heading 13, and going at
  random 4. An item takes some seconds to be drawn (21 in level 5, in which no beach is ever found), and a place some to
  be generated when it is first seen. A server takes 0.3 to 1.5 GB of memory. To report on its records is to start it
  again; where it is not installed, its records count with their recorded values and are marked as not simulated again.
* `engine=minedojo` is Minecraft itself, for those who have MineDojo 0.1. **It was tested with recorded observations
  only**, and never with the simulator. What is published is played in it, but in worlds that are drawn by key. It
  begins where the simulator wants to, so that it has no levels (only level 1), no oracle and no map to draw. Its beings
  do as they like, so that its records cannot be simulated again; reports take them for what they say, and say so. One
  episode at a time can be played: `--max-connections 1`. Its goal `plains` is the setting whose human score is
  published.

What `paper` and `sound` differ in:

| | `paper` | `sound` |
|---|---|---|
| the manual | the published one, which names Minecraft | ours, which also tells what a step does |
| north, east, south and west of what is seen | the opposite ones, while those of what is around are right | right |
| how far above or below that is | as if the rays spread over 180 degrees | as they do, over 96 |
| blocks with the first name in the alphabet | are one group, wherever they are | hang together or do not, as others |
| where one begins | anywhere | where no goal is in sight |
| that the biome is found | is told by nothing | is told in a sentence |
| the action that is taken | the first one that the reply names | the only one named |
| a reply that names none | moves north, the first action | costs the step; nothing moves |
| a reply cut off at the output limit | is read | costs the step; nothing moves |

In the published program the goal `ice spikes` can never be reached, for no biome of Minecraft has these words in its
name ("Ice Plains Spikes" has them apart). Ours has, in both protocols.
"""
