"""What runs and generated sets cost on many machines: coefficients measured here, the rest computed.

`python -m benchmarks.scale` prints the tables of docs/scale.md; it takes some minutes. What cannot be measured here
(a provider's limits, an object store's) is an option.
"""

import argparse
import heapq
import math
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import waybench
from benchmarks._shards import ITEMS, spent
from waybench.cli._options import ItemSettings
from waybench.cli._shards import Request
from waybench.core import play_to_end, policy, replay
from waybench.evaluation import evaluate
from waybench.evaluation.tasks import find_task, load_task
from waybench.ext.scale._executors import executor_by_name
from waybench.ext.scale.shards._files import ShardFolder
from waybench.ext.scale.shards._shards import (
    NumberRange,
    Shard,
    ShardPlan,
    count_distinct_hashes,
    divide_into_hash_ranges,
    write_manifest,
    write_shard,
)
from waybench.results import read_logs, rows

ENVIRONMENTS = {"maze/alicia": 21, "tilemap/gtb": 3, "textmap/route": None, "search/dfs": None}
WORKERS = (10, 1_000, 100_000)
_PAGE = 1_000  # names in an answer of an object store


class Coefficients(NamedTuple):
    """What is measured, in seconds of processor time, or bytes.

    Attributes:
        item: Seconds for a maze N = 21 in a shard.
        call: Seconds for a model call through the engine, with journal and log.
        prompt: Characters of the prompt of a call.
        row: Seconds to read an episode from a log and simulate it.
        log: Bytes of an episode in a log.
        hash: Seconds to sort and count the hash of an item.
        entry: Seconds for a line of the manifest.
        job: Seconds of the process that gives out jobs, for each of them.
        start: Seconds to start a process that makes shards.
    """

    item: float
    call: float
    prompt: float
    row: float
    log: float
    hash: float
    entry: float
    job: float
    start: float


def seconds(work: Callable[[], object], rounds: int = 3) -> float:
    """Return the least processor time of some rounds, after one that is not measured."""
    work()
    measured: list[float] = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        measured.append(time.process_time() - began)
    return min(measured)


def generated(name: str, level: int | None) -> tuple[float, float, float]:
    """Return seconds of an item in a shard, its bytes, and seconds to simulate its oracle's record."""
    environment = waybench.load(name)
    request = Request(name, ItemSettings("bench", level=level), "instances", None, "oracle", "none", "jsonl")
    count = 200
    sizes: list[int] = []

    def write() -> None:
        with tempfile.TemporaryDirectory() as folder:
            sizes.append(
                write_shard(
                    ShardFolder(folder), NumberRange(0, count), request.rows(NumberRange(0, count)), "jsonl"
                ).bytes
            )

    source: Any = environment.source("bench", environment.items.smallest_level if level is None else level)
    records = [play_to_end(environment, item, policy("oracle")).record() for item in source.head(count)]
    simulated = seconds(lambda: [replay(environment, record) for record in records])
    return seconds(write) / count, sizes[0] / count, simulated / count


def evaluated() -> tuple[float, float, float, float]:
    """Return seconds and prompt characters of a call, and seconds to read and bytes to keep of an episode."""
    task = partial(load_task(find_task("smartplay")), limit=10)
    with tempfile.TemporaryDirectory() as folder:
        runs = [Path(folder) / str(number) for number in range(2)]
        for run in runs:  # the first one also imports
            began = time.process_time()
            evaluate([task], ["waybench/random"], run)
            spent = time.process_time() - began
        logs = sum(path.stat().st_size for path in runs[1].rglob("*.eval"))
        episodes = list(rows(read_logs(runs[1])))
        reading = seconds(lambda: list(rows(read_logs(runs[1]))), 1)
        calls = sum(int(row.turns) for row in episodes)
        prompt = _prompt_length(runs[1])
    return spent / calls, prompt, reading / len(episodes), logs / len(episodes)


def _prompt_length(folder: Path) -> float:
    """Return the mean characters of the prompt of a call: all messages before the reply."""
    from inspect_ai.log import read_eval_log

    lengths: list[int] = []
    for path in folder.rglob("*.eval"):
        for sample in read_eval_log(str(path), resolve_attachments=True).samples or []:
            for event in sample.events:
                if event.event == "model":
                    lengths.append(sum(len(message.text) for message in event.input))
    return sum(lengths) / len(lengths)


def nothing(job: int) -> int:
    """Do nothing: what is left is the cost of a job."""
    return job


def merged() -> tuple[float, float]:
    """Return seconds to sort and count a hash, and for a line of the manifest."""
    draw = random.Random(1)
    hashes = [f"{draw.getrandbits(256):064x}" for _ in range(100_000)]
    shards = [Shard(NumberRange(first, 1), "0" * 64, 1, ".jsonl.gz") for first in range(20_000)]
    with tempfile.TemporaryDirectory() as folder:
        store = ShardFolder(folder)
        shards = [
            write_shard(store, NumberRange(n, 100_000), ((digest, ()) for digest in hashes), "jsonl") for n in range(5)
        ]
        part = divide_into_hash_ranges([folder], [shards])[0]
        return seconds(lambda: count_distinct_hashes(part)) / 500_000, seconds(
            lambda: write_manifest(store, {}, shards)
        ) / 20_000


def dispatched() -> float:
    """Return seconds of this process for each job that it gives to others."""
    engine = executor_by_name("processes:2")
    count = 5_000
    return seconds(lambda: sum(1 for _ in engine.map(nothing, range(count))), 1) / count


def started() -> float:
    """Return the processor time to start a process and import what makes shards."""
    command = [sys.executable, "-c", "import waybench.cli._shards"]

    def run() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(run() for _ in range(4))


def simulated_time(jobs: int, workers: int, give: float, work: float, spread: float = 0.2) -> float:
    """Return the time of jobs that one process gives out in turn to workers, event by event.

    Args:
        jobs: Number of jobs.
        workers: Number of workers.
        give: Seconds to give out one.
        work: Mean seconds of one.
        spread: Its standard deviation, relative to the mean.
    """
    draw = random.Random(1)
    free = [0.0] * min(workers, jobs)  # when each worker has nothing to do
    clock = 0.0
    for _ in range(jobs):
        clock = max(clock, free[0]) + give
        heapq.heapreplace(free, clock + max(0.0, draw.gauss(work, spread * work)))
    return max(free)


def computed_time(jobs: int, workers: int, give: float, work: float) -> float:
    """Return the same by the model: the slower of giving out and working, and the last job."""
    rounds = math.ceil(jobs / workers)
    return max(jobs * give + work, rounds * (work + give))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=float, default=10_000, help="of the provider, a minute")
    parser.add_argument("--tokens", type=float, default=10e6, help="of the provider, a minute")
    parser.add_argument("--latency", type=float, default=5.0, help="seconds of a reply")
    parser.add_argument("--connections", type=float, default=10, help="of each worker")
    parser.add_argument("--puts", type=float, default=3_500, help="that the object store takes of a folder, a second")
    parser.add_argument("--gets", type=float, default=5_500, help="likewise")
    parser.add_argument("--page", type=float, default=0.1, help="seconds for a page of a listing")
    parser.add_argument("--items", type=float, default=1e9, help="of a generated set")
    arguments = parser.parse_args()

    print("| environment | items/s | bytes an item | simulated episodes/s |\n|---|---|---|---|")
    first = 0.0
    for name, level in ENVIRONMENTS.items():
        item, size, simulation = generated(name, level)
        first = first or item
        label = name if level is None else f"{name}, level {level}"
        print(f"| {label} | {1 / item:,.0f} | {size:,.0f} | {1 / simulation:,.0f} |")
    call, prompt, row, log = evaluated()
    digest, entry = merged()
    coefficients = Coefficients(first, call, prompt, row, log, digest, entry, dispatched(), started())
    print("\n| what | by core |\n|---|---|")
    for what, value, unit in (
        ("model calls, with journal and log", 1 / coefficients.call, "calls/s"),
        ("prompt of a call (smartplay)", coefficients.prompt, "characters"),
        ("episodes read from logs and simulated", 1 / coefficients.row, "episodes/s"),
        ("log of an episode", coefficients.log, "bytes"),
        ("hashes sorted and counted", 1 / coefficients.hash, "hashes/s"),
        ("lines of a manifest", 1 / coefficients.entry, "lines/s"),
        ("jobs given out (processes)", 1 / coefficients.job, "jobs/s"),
    ):
        print(f"| {what} | {value:,.0f} {unit} |")
    print(f"| start of a process that makes shards | {coefficients.start:.2f} s |")
    _evaluation(arguments, coefficients)
    _generation(arguments, coefficients)
    _checked(coefficients)


def _evaluation(arguments: argparse.Namespace, coefficients: Coefficients) -> None:
    tokens = coefficients.prompt / 4
    limit = min(arguments.requests / 60, arguments.tokens / 60 / tokens)
    one = min(1 / coefficients.call, arguments.connections / arguments.latency)
    print("\n| workers | calls/s offered | provider's share | uploads/s, of the store's | names listed at the start |")
    print("|---|---|---|---|---|")
    for workers in WORKERS:
        pages = workers * math.ceil(workers / _PAGE)
        listing = max(pages / arguments.gets, math.ceil(workers / _PAGE) * arguments.page)
        print(
            f"| {workers:,} | {workers * one:,.0f} | {workers * one / limit:,.2f} | "
            f"{workers:,} ({workers / arguments.puts:,.2f}) | {pages:,} requests ({listing:,.1f} s) |"
        )


def _generation(arguments: argparse.Namespace, coefficients: Coefficients) -> None:
    items = int(arguments.items)
    print("\n| workers | shard | shards | listing | making | counting: reads, time | manifest | longest |")
    print("|---|---|---|---|---|---|---|---|")
    for workers in WORKERS:
        for size in (100_000, 10_000):
            jobs = len(ShardPlan(0, items, size))
            divided = len(divide_into_hash_ranges([""], [[Shard(NumberRange(0, items), "", 0, ".jsonl.gz")]]))
            reads = 2 * jobs * divided
            counting = max(
                math.ceil(divided / workers) * (items / divided * coefficients.hash + 2 * jobs * 0.02),
                reads / arguments.gets,
            )
            steps = {
                "listing": math.ceil(jobs / _PAGE) * arguments.page,
                "making": computed_time(jobs, workers, coefficients.job, size * coefficients.item),
                "counting": counting,
                "manifest": jobs * coefficients.entry,
            }
            longest = max(steps, key=lambda name: steps[name])
            print(
                f"| {workers:,} | {size:,} | {jobs:,} | {steps['listing']:,.0f} s | {steps['making'] / 3600:,.2f} h | "
                f"{reads:,}, {counting / 3600:,.2f} h | {steps['manifest']:,.1f} s | {longest} |"
            )


def _checked(coefficients: Coefficients) -> None:
    print("\n| jobs | workers | seconds of a job | computed | simulated |\n|---|---|---|---|---|")
    for jobs, workers, size in (
        (10_000, 10, 1_000),
        (10_000, 1_000, 10_000),
        (100_000, 100_000, 10_000),
        (100_000, 1_000, 100),
    ):
        work = size * coefficients.item
        times = [f(jobs, workers, coefficients.job, work) for f in (computed_time, simulated_time)]
        print(f"| {jobs:,} | {workers:,} | {work:.2f} | {times[0]:,.0f} s | {times[1]:,.0f} s |")
    print("\n| processes here | processor time | computed |\n|---|---|---|")
    for processes in (1, 2):
        measured = min(spent(processes) for _ in range(2))
        begun = processes + (processes > 1)  # with two, the one that gives out jobs as well
        print(f"| {processes} | {measured:.1f} s | {ITEMS * coefficients.item + begun * coefficients.start:.1f} s |")


if __name__ == "__main__":
    main()
