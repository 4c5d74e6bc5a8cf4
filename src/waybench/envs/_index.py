"""The catalogue's lines; an environment's code is loaded when it is asked for."""

from waybench.core import Entry

INDEX = (
    Entry("bandit/arms", 1, "waybench.envs.bandit:ARMS", "slot machines with unknown win rates"),
    Entry("crafter/survival", 1, "waybench.envs.crafter:SURVIVAL", "survive and unlock achievements in an open world"),
    Entry("graph/paths", 1, "waybench.envs.graph:PATHS", "find paths in a graph given as a list of edges"),
    Entry("hanoi/rods", 1, "waybench.envs.hanoi:RODS", "Tower of Hanoi, from any position to any other"),
    Entry("maze/alicia", 1, "waybench.envs.maze:ALICIA", "mazes as text; the answer is a list of moves"),
    Entry("maze/explore", 1, "waybench.envs.maze.explore:EXPLORE", "find the exit of a maze seen through a window"),
    Entry("messenger/roles", 1, "waybench.envs.messenger:ROLES", "deliver a message past an enemy, with a manual"),
    Entry("rps/rounds", 1, "waybench.envs.rps:ROUNDS", "Rock Paper Scissors against predictable opponents"),
    Entry("search/bfs", 1, "waybench.envs.search:BFS", "traverse an unknown tree, breadth first"),
    Entry("search/cavebfs", 1, "waybench.envs.search:CAVEBFS", "breadth-first traversal as a team exploring caves"),
    Entry("search/cavedfs", 1, "waybench.envs.search:CAVEDFS", "depth-first traversal as walking through caves"),
    Entry("search/coin", 1, "waybench.envs.search:COIN", "guess a number, framed as coins in a chest"),
    Entry("search/dfs", 1, "waybench.envs.search:DFS", "traverse an unknown tree, depth first"),
    Entry("search/guessnum", 1, "waybench.envs.search:GUESSNUM", "guess a number from bigger/smaller feedback"),
    Entry(
        "textmap/destination", 1, "waybench.envs.textmap:DESTINATION", "find the destination of moves in a walkthrough"
    ),
    Entry("textmap/extract", 1, "waybench.envs.textmap:EXTRACT", "extract a map from a walkthrough as triplets"),
    Entry("textmap/minigame", 1, "waybench.envs.textmap:MINIGAME", "predict the next move of a walkthrough"),
    Entry("textmap/route", 1, "waybench.envs.textmap:ROUTE", "find a route on a map from a walkthrough"),
    Entry("tilemap/gtb", 2, "waybench.envs.tilemap:GTB", "tile maps: plan from objective to objective"),
    Entry("tilemap/state", 2, "waybench.envs.tilemap:STATE", "tile maps: plan, and predict the map afterwards"),
    Entry("tilemap/stepwise", 2, "waybench.envs.tilemap:STEPWISE", "tile maps: one move at a time"),
    Entry("voxel/find", 2, "waybench.envs.voxel:FIND", "find a biome in a voxel world, described in words"),
)
