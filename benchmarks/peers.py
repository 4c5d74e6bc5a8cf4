"""waybench beside other packages that do the same, in one run: what is slower than a peer is listed first.

`make bench-peers` installs the peers in an environment of their own and prints the table of docs/benchmarks.md. Peers
are imported when they are measured, so that one that is missing or broken is named and the others are measured.
"""

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import version
from typing import Any

import waybench
from benchmarks._timing import Comparison, compare
from waybench.core import Episode
from waybench.envs.crafter import _world as engine

COUNT, STEPS = 200, 2_000
OPTIONS = {"wording": "one_question"}


def main() -> None:
    """Print the table, and what could not be measured."""
    comparisons: list[Comparison] = []
    missing: list[str] = []
    for part in (reasoning_gym, maze_dataset, text_arena, gymnasium, crafter, paths):
        try:
            comparisons += part()
        except ImportError as error:
            missing.append(f"{part.__name__} was not measured: {error}")
    print("| what | waybench | peer | which is | waybench's time / peer's |\n|---|---|---|---|---|")
    for comparison in sorted(comparisons, key=lambda comparison: comparison.theirs / comparison.ours):
        print(comparison.line())
    print("\n".join(missing), file=sys.stderr)


def _named(package: str) -> str:
    return f"{package} {version(package)}"


def _first_prompts(name: str, level: int, **options: Any) -> Callable[[], object]:
    """Return a function that makes items with proof, hash and the text of their first prompt."""
    environment = waybench.load(name)
    source: Any = environment.source("bench", level, **options)

    def run() -> list[tuple[str, str]]:
        items = source.head(COUNT)
        return [(item.instance.hash, Episode(environment, item).messages[-1].text) for item in items]

    return run


def reasoning_gym() -> Iterator[Comparison]:
    """Make items as text with their answers; mazes in compiled code, as in a process that has made many."""
    package = import_module("reasoning_gym")
    import_module("waybench.envs.maze._kernel")
    mazes: Any = waybench.load("maze/alicia").source("bench", 9)
    nine = package.create_dataset("maze", size=COUNT, seed=1, min_grid_size=9, max_grid_size=9)
    rods = package.create_dataset(
        "tower_of_hanoi", size=COUNT, seed=1, min_disks=3, max_disks=3, min_pegs=3, max_pegs=3
    )

    def theirs(dataset: Any) -> Callable[[], object]:
        return lambda: [dataset[number] for number in range(COUNT)]

    for what, ours, dataset in (
        (
            "mazes 9 × 9 with proof and hash",
            lambda: [item.instance.hash for item in mazes.head(COUNT)],
            nine,
        ),
        ("mazes 9 × 9 with proof, hash and prompt", _first_prompts("maze/alicia", 9), nine),
        ("Hanoi, 3 disks, items with hash and prompt", _first_prompts("hanoi/rods", 3), rods),
    ):
        against = f"{_named('reasoning-gym')}, question and answer"
        yield compare(what, ours, theirs(dataset), against=against, count=COUNT, unit="items")


def maze_dataset() -> Iterator[Comparison]:
    """Make mazes of the same size by the same algorithm, with their solutions."""
    package = import_module("maze_dataset")
    generators = import_module("maze_dataset.generation").LatticeMazeGenerators
    for size, cells in ((9, 4), (21, 10)):
        config = package.MazeDatasetConfig(name="bench", grid_n=cells, n_mazes=COUNT, maze_ctor=generators.gen_dfs)
        source: Any = waybench.load("maze/alicia").source("bench", size, algorithm="backtracker", loops=0.0)
        yield compare(
            f"mazes {size} × {size} ({cells} × {cells} cells) with proof and hash",
            lambda source=source: [item.instance.hash for item in source.head(COUNT)],
            lambda config=config: package.MazeDataset.generate(config, gen_parallel=False, verbose=False),
            against=f"{_named('maze-dataset')}, with solution",
            count=COUNT,
            unit="mazes",
        )


def _steps(name: str, level: int, replies: list[str], **source: Any) -> Callable[[], None]:
    """Return a function that makes steps of episodes, replies read, messages and records included."""
    environment = waybench.load(name)
    item = environment.source("bench", level, **source).item(0)

    def run() -> None:
        episode: Episode[Any, Any, Any] = Episode(environment, item, OPTIONS)
        for number in range(STEPS):
            if episode.done:
                episode = Episode(environment, item, OPTIONS)
            episode.step(replies[number % len(replies)])

    return run


def text_arena() -> Iterator[Comparison]:
    """Make steps of games that both have, by text."""
    package = import_module("textarena")

    def theirs(name: str, actions: list[str], players: int) -> Callable[[], None]:
        def begun() -> Any:
            env = package.make(name)  # a new one for each game: an older one shows its former games in each observation
            env.reset(num_players=players)
            return env

        def run() -> None:
            env = begun()
            for number in range(STEPS):
                env.get_observation()
                done, _ = env.step(actions[number % len(actions)])
                if done:
                    env = begun()

        return run

    hanoi, arms = (_names(name, level) for name, level in (("hanoi/rods", 3), ("bandit/arms", 2)))
    signs = _names("rps/rounds", 1)
    for what, ours, name, actions, players in (
        ("Hanoi", _steps("hanoi/rods", 3, hanoi), "TowerOfHanoi-v0", ["[A C]", "[C A]"], 1),
        ("bandit", _steps("bandit/arms", 2, arms), "Bandit-v0", ["[red]", "[blue]"], 1),
        ("rock, paper, scissors", _steps("rps/rounds", 1, signs), "IteratedRockPaperScissors-v0", ["[rock]"], 2),
    ):
        against = f"{_named('textarena')}, {name}"
        yield compare(
            f"{what}: steps by text, with records",
            ours,
            theirs(name, actions, players),
            against=against,
            count=STEPS,
            unit="steps",
        )


def _names(name: str, level: int) -> list[str]:
    """Return the names of the actions, as replies give them."""
    environment = waybench.load(name)
    game: Any = environment.playing.play(environment.resolve_options(OPTIONS)).game
    return list(game.rules.actions(environment.source("bench", level).item(0).instance))


def gymnasium() -> Iterator[Comparison]:
    """Make steps of Gymnasium's environments that draw themselves as text."""
    package = import_module("gymnasium")

    def theirs(name: str) -> Callable[[], None]:
        env = package.make(name, render_mode="ansi")

        def run() -> None:
            env.reset(seed=1)
            for number in range(STEPS):
                env.render()
                _, _, ended, cut, _ = env.step(number % env.action_space.n)
                if ended or cut:
                    env.reset()

        return run

    ours = _steps("hanoi/rods", 3, _names("hanoi/rods", 3))
    for name in ("FrozenLake-v1", "CliffWalking-v1", "Taxi-v4"):
        yield compare(
            "Hanoi: steps by text, with records",
            ours,
            theirs(name),
            against=f"{_named('gymnasium')}, {name}, drawn as text (another game)",
            count=STEPS,
            unit="steps",
        )


def crafter() -> Iterator[Comparison]:
    """Make steps and worlds; here the package compiles its noise with numba."""
    package = import_module("crafter")
    env, start = package.Env(seed=1, length=None), engine.create_world(1)
    env.reset()
    actions = [number * 7 % 17 for number in range(500)]

    def steps() -> None:
        world = start
        for action in actions:
            world = engine.advance_world(world, action)

    yield compare(
        "Crafter: steps",
        steps,
        lambda: [env.step(action) for action in actions],
        against=f"{_named('crafter')}, which draws a picture of each",
        count=len(actions),
        unit="steps",
        rounds=3,
    )
    yield compare(
        "Crafter: worlds",
        lambda: [engine.create_world(seed) for seed in range(10)],
        lambda: [package.Env(seed=seed).reset() for seed in range(10)],
        against=f"{_named('crafter')}, with numba",
        count=10,
        unit="worlds",
        rounds=3,
    )


def paths() -> Iterator[Comparison]:
    """List the simple paths of a map, against two libraries of graphs."""
    textmaps: Any = import_module("benchmarks._textmaps")
    grid = textmaps._grid(5)
    for against in (textmaps._against_rustworkx, textmaps._against_igraph):
        yield against(grid)


if __name__ == "__main__":
    main()
