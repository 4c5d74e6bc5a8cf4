"""Run all benchmarks and print one table in Markdown."""

from benchmarks._crafter import crafter
from benchmarks._engine import engine
from benchmarks._faces import faces
from benchmarks._horizons import horizons
from benchmarks._mazes import episodes, generation
from benchmarks._messenger import messenger
from benchmarks._parts import parts
from benchmarks._replays import replays
from benchmarks._report import report
from benchmarks._search import search
from benchmarks._shards import shards
from benchmarks._small_games import small_games
from benchmarks._textmaps import textmaps
from benchmarks._tilemaps import tilemaps
from benchmarks._voxel import voxel


def main() -> None:
    """Print the table."""
    print("| what | waybench | compared with | which is | ratio |\n|---|---|---|---|---|")
    for part in (
        generation,
        episodes,
        replays,
        search,
        small_games,
        tilemaps,
        textmaps,
        messenger,
        voxel,
        crafter,
        horizons,
        faces,
        engine,
        parts,
        report,
        shards,
    ):
        for comparison in part():
            print(comparison.line(), flush=True)


if __name__ == "__main__":  # and not when a process that this one started imports it
    main()
