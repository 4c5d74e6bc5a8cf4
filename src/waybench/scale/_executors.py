"""Executors by name."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from waybench.core import UsageError

J = TypeVar("J")
R = TypeVar("R")

EXECUTORS = ("processes", "processes:N", "ray", "print:slurm", "print:kubernetes", "job:I/N")
_JOB = re.compile(r"job:(\d{1,9})/(\d{1,9})")
_PROCESSES = re.compile(r"processes(?::([1-9]\d{0,3}))?")


class Executor(Protocol):
    """Runs jobs somewhere.

    Attributes:
        is_whole: Whether `map` runs every job and returns every result. Where it is False, other processes run jobs,
            so what joins all results is left to a later call of the same command.
    """

    @property
    def is_whole(self) -> bool:
        """Whether `map` runs every job."""
        ...

    def map(self, function: Callable[[J], R], jobs: Sequence[J]) -> Iterator[tuple[int, R]]:
        """Run a function on jobs and return results as they come.

        Args:
            function: A function that can be imported, since other processes do. It finds what an earlier call has
                finished and returns at once. It prints nothing.
            jobs: The jobs, as values that can be pickled, without secrets. Every process that runs the same command
                must list them alike, so finished ones stay in.

        Yields:
            The index of a job and its result, in the order in which they end.

        Raises:
            Exception: What a job raises; jobs that have not begun are then left.
            WaybenchError: If a process ended without a result.
        """
        ...


def executor(name: str, *, address: str = "", gpus: float = 0, argv: Sequence[str] = ()) -> Executor:
    """Return an executor by its name.

    Args:
        name: One of `EXECUTORS`: "processes" (of this machine, as many as it has cores, or N), "ray", "print:slurm" or
            "print:kubernetes" (prints what a scheduler starts; "print" is Slurm's), or "job:I/N" (this process runs
            every N-th job from the I-th on; printed jobs say so).
        address: Address of a Ray cluster, or "auto"; "" starts one on this machine.
        gpus: GPUs that each job needs: Ray places it where they are, and printed jobs ask for them.
        argv: The command's arguments, for printed jobs.

    Raises:
        UsageError: If there is none of this name, or it does not take what is given.
    """
    from waybench.scale._printed import PrintedJobs
    from waybench.scale._processes import Processes, Share

    engine, _, _ = name.partition(":")
    if address and engine != "ray":
        raise UsageError("--address is that of a Ray cluster: add --executor ray")
    if engine == "print" and name in ("print", "print:slurm", "print:kubernetes"):
        return PrintedJobs(name.partition(":")[2] or "slurm", argv, gpus)
    if found := _JOB.fullmatch(name):
        index, count = map(int, found.groups())
        if index >= count:
            raise UsageError(f"--executor {name}: jobs are numbered from 0, so I in job:I/N is below N")
        return Share(index, count)
    if name == "ray":
        from waybench.scale._ray import RayCluster

        return RayCluster(address, gpus)
    if found := _PROCESSES.fullmatch(name):
        if gpus:
            raise UsageError("processes of one machine are not placed on GPUs: use --executor ray or print")
        return Processes(int(found[1]) if found[1] else os.cpu_count() or 1)
    if engine == "processes":
        raise UsageError(f"--executor {name[:80]}: N is a whole number from 1 to 9999")
    raise UsageError(f"unknown executor {name[:80]!r}: choose from {', '.join(EXECUTORS)}")


def is_on_this_machine(engine: Executor) -> bool:
    """Return whether an executor's jobs run on this machine and are described nowhere else."""
    from waybench.scale._processes import Processes, Share

    return isinstance(engine, Processes | Share)
