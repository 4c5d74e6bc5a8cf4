"""Options that say where a command's jobs run."""

import sys

from waybench.cli._options import option
from waybench.scale import EXECUTORS, Executor, Ordered, executor

EXECUTOR = option(
    f"Where the jobs run: {', '.join(EXECUTORS)}. `print` shows the jobs of a scheduler, and starts none.  "
    "[default: this process]",
    "--executor",
    metavar="NAME",
)
WORKERS = option(
    "Where records are simulated again: processes, processes:N or ray.  [default: copies of this process]",
    "--executor",
    metavar="NAME",
)
ADDRESS = option("Address of a Ray cluster, or `auto`.  [default: one of this machine alone]", default="")


def chosen_executor(name: str | None, address: str, gpus: float = 0) -> Executor | None:
    """Return the executor of a command's options; None if the user gave none.

    Raises:
        UsageError: If there is none of this name, or an option needs another one.
    """
    if name is None and not address and not gpus:
        return None
    return executor(name or "processes", address=address, gpus=gpus, argv=sys.argv[1:])


def chosen_workers(name: str | None, address: str) -> Ordered | None:
    """Return what simulates records, as a command's options say; None if the user gave none.

    Raises:
        UsageError: If there is no such executor, or it does not run all jobs while the command waits.
    """
    engine = chosen_executor(name, address)
    return None if engine is None else Ordered(engine)
