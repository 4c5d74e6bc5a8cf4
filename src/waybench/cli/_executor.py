"""Options that say where a command's jobs run."""

import sys

import click

from waybench.scale import EXECUTORS, Executor, executor

EXECUTOR = click.option(
    "--executor",
    "executor_name",
    metavar="NAME",
    help=f"Where the jobs run: {', '.join(EXECUTORS)}. `print` shows the jobs of a scheduler, and starts none.",
)
ADDRESS = click.option("--address", default="", help="Address of a Ray cluster, or `auto`.")


def chosen_executor(name: str | None, address: str, gpus: float = 0) -> Executor | None:
    """Return the executor of a command's options; None if the user gave none.

    Raises:
        UsageError: If there is none of this name, or an option needs another one.
    """
    if name is None and not address and not gpus:
        return None
    return executor(name or "processes", address=address, gpus=gpus, argv=sys.argv[1:])
