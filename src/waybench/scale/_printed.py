"""Jobs that a scheduler starts: printed, not run."""

import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import click

from waybench.core import UsageError, secrets_in

J = TypeVar("J")
R = TypeVar("R")
_KEY = re.compile(r"(\w+\.)?key=")
MOST = 1000  # members of one array: what Slurm allows by default
_INDEX = {"slurm": "$SLURM_ARRAY_TASK_ID", "kubernetes": "$JOB_COMPLETION_INDEX"}


class PrintedJobs:
    """Prints a Slurm array or a Kubernetes Job whose members run the same command, each a share of the jobs.

    Args:
        form: "slurm" or "kubernetes".
        argv: The command's arguments.
        gpus: GPUs that each member asks for.

    Raises:
        UsageError: If an argument is a secret.
    """

    is_whole = False

    def __init__(self, form: str, argv: Sequence[str], gpus: float) -> None:
        # The key of a set of items can be a reference to the environment, and the command knows which keys are private.
        given = dict(part.split("=", 1) for part in argv if "=" in part and not _KEY.match(part))
        if any(secrets_in(given)) or any(re.search(r"\b[\w+.-]+://[^/\s]*@", part) for part in argv):
            raise UsageError("a printed job would show a key or password: pass it in the environment of the jobs")
        if gpus != int(gpus):
            raise UsageError("a printed job asks for whole GPUs")
        self._form, self._argv, self._gpus = form, _without_executor(argv), int(gpus)

    def map(self, function: Callable[[J], R], jobs: Sequence[J]) -> Iterator[tuple[int, R]]:
        """Print the jobs and run none; see `Executor`."""
        count = min(len(jobs), MOST)
        script = self._slurm if self._form == "slurm" else self._kubernetes
        click.echo(script(count, len(jobs)), nl=False)
        return iter(())

    def _command(self, count: int) -> str:
        return f'{shlex.join(["waybench", *self._argv])} --executor "job:{_INDEX[self._form]}/{count}"'

    def _comment(self, jobs: int) -> str:
        again = shlex.join(["waybench", *self._argv])
        return (
            f"# {jobs} jobs of: {again}\n"
            "# Keys and passwords come from the environment of the jobs. A job that is started again continues.\n"
            f"# When all have ended: {again} --executor processes\n"
        )

    def _slurm(self, count: int, jobs: int) -> str:
        gpus = f"#SBATCH --gpus={self._gpus}\n" if self._gpus else ""
        return (
            f"#!/bin/sh\n{self._comment(jobs)}#SBATCH --job-name=waybench\n#SBATCH --array=0-{count - 1}\n"
            f"#SBATCH --requeue\n{gpus}{self._command(count)}\n"
        )

    def _kubernetes(self, count: int, jobs: int) -> str:
        limits = {"limits": {"nvidia.com/gpu": self._gpus}} if self._gpus else {}
        container = {
            "name": "waybench",
            "image": "waybench",
            "command": ["sh", "-c", f"exec {self._command(count)}"],
            "envFrom": [{"secretRef": {"name": "waybench", "optional": True}}],
            "resources": limits,
        }
        job = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "waybench"},
            "spec": {
                "completionMode": "Indexed",
                "completions": count,
                "parallelism": count,
                "backoffLimitPerIndex": 3,
                "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
            },
        }
        return f"{self._comment(jobs)}{json.dumps(job, indent=2)}\n"


def _without_executor(argv: Sequence[str]) -> list[str]:
    """Return arguments without --executor and its value."""
    rest: list[str] = []
    following = iter(argv)
    for part in following:
        if part == "--executor":
            next(following, None)
        elif not part.startswith("--executor="):
            rest.append(part)
    return rest
