"""The catalogue's lines; an environment's code is loaded when it is asked for."""

from waybench.core import Entry

INDEX = (
    Entry("bandit/arms", 1, "waybench.envs.bandit:ARMS", "slot machines whose chances have to be learned"),
    Entry("crafter/survival", 1, "waybench.envs.crafter:SURVIVAL", "survive, and unlock what a world has to offer"),
    Entry("hanoi/rods", 1, "waybench.envs.hanoi:RODS", "the Tower of Hanoi, from any position to any other"),
    Entry("maze/alicia", 1, "waybench.envs.maze:ALICIA", "mazes as text, answered with a list of movements"),
    Entry("messenger/roles", 1, "waybench.envs.messenger:ROLES", "a message past an enemy; a manual tells who is who"),
    Entry("rps/rounds", 1, "waybench.envs.rps:ROUNDS", "Rock Paper Scissors against opponents that can be read"),
    Entry("search/bfs", 1, "waybench.envs.search:BFS", "an unknown tree, breadth first"),
    Entry("search/cavebfs", 1, "waybench.envs.search:CAVEBFS", "the same as caves that a team explores"),
    Entry("search/cavedfs", 1, "waybench.envs.search:CAVEDFS", "the same as caves that one walks through"),
    Entry("search/coin", 1, "waybench.envs.search:COIN", "number guessing as coins in a chest"),
    Entry("search/dfs", 1, "waybench.envs.search:DFS", "an unknown tree, depth first"),
    Entry("search/guessnum", 1, "waybench.envs.search:GUESSNUM", "number guessing: bigger, smaller, right"),
    Entry(
        "textmap/destination", 1, "waybench.envs.textmap:DESTINATION", "where do these moves lead? from a walkthrough"
    ),
    Entry("textmap/extract", 1, "waybench.envs.textmap:EXTRACT", "a walkthrough as triplets, and a search in them"),
    Entry("textmap/minigame", 1, "waybench.envs.textmap:MINIGAME", "what is next? from a walkthrough and a list"),
    Entry("textmap/route", 1, "waybench.envs.textmap:ROUTE", "how does one get there? from a game's walkthrough"),
    Entry("tilemap/gtb", 2, "waybench.envs.tilemap:GTB", "tile maps, whole plans from objective to objective"),
    Entry("tilemap/state", 2, "waybench.envs.tilemap:STATE", "the same, foreseeing the map after each plan"),
    Entry("tilemap/stepwise", 2, "waybench.envs.tilemap:STEPWISE", "the same, one move at a time"),
    Entry("voxel/find", 2, "waybench.envs.voxel:FIND", "a biome in a world of blocks, described in words"),
)
