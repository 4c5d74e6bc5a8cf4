"""Executors: processes of this machine, tasks of a Ray cluster, jobs that are printed for a scheduler."""

import json
import os
import pickle
import re
import shlex
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.context import BaseContext
from typing import Any, Protocol, TypeVar

import click

from waybench._version import __version__
from waybench.core import UsageError, WaybenchError, find_secrets, to_pickle
from waybench.core._errors import LostWorkerError

J = TypeVar("J")
R = TypeVar("R")

EXECUTORS = ("processes", "processes:N", "ray", "print:slurm", "print:kubernetes", "job:I/N")
_JOB = re.compile(r"job:(\d{1,9})/(\d{1,9})")
_PROCESSES = re.compile(r"processes(?::([1-9]\d{0,3}))?")

_AHEAD = 4  # jobs for each process that are submitted at a time
_KEY = re.compile(r"(\w+\.)?key=")  # the argument with the key of a set of items
_MOST_MEMBERS = 1000  # members of one array: what Slurm allows by default
_INDEX = {"slurm": "$SLURM_ARRAY_TASK_ID", "kubernetes": "$JOB_COMPLETION_INDEX"}
_CONNECT = 30.0  # seconds
_RETRIES = 10  # by Ray, of a job whose worker or node was lost
# Jobs that are submitted to Ray at a time, at least and for each processor: few, for their arguments are in memory, and
# some, for a cluster that grows by demand has to see them.
_LEAST_PENDING, _PENDING_EACH = 100, 4


class Executor(Protocol):
    """Runs jobs somewhere."""

    @property
    def is_whole(self) -> bool:
        """Whether `map` runs every job and returns every result.

        If False, other processes run jobs too, and a later call of the same command joins all results.
        """
        ...

    def map(self, function: Callable[[J], R], jobs: Sequence[J]) -> Iterator[tuple[int, R]]:
        """Run a function on jobs, and yield results as the jobs end.

        Args:
            function: A function that other processes can import. For a job that is finished already it returns at once.
                It prints nothing.
            jobs: The jobs, as values that can be pickled, without secrets. Every process that runs the same command
                has the same list, finished jobs included.

        Yields:
            The index of a job and its result, in the order in which they end.

        Raises:
            Exception: The error of a job; jobs that have not begun are then not run.
            WaybenchError: If a process ended without a result.
        """
        ...


def executor_by_name(name: str, *, address: str = "", gpus: float = 0, argv: Sequence[str] = ()) -> Executor:
    """Return an executor by its name.

    Args:
        name: One of `EXECUTORS`: "processes" (of this machine, as many as it has cores, or N), "ray", "print:slurm" or
            "print:kubernetes" (prints what a scheduler starts; "print" is Slurm's), or "job:I/N" (this process runs
            every N-th job from the I-th on; printed jobs say so).
        address: Address of a Ray cluster, or "auto"; "" starts one on this machine.
        gpus: GPUs that each job needs: Ray runs it where they are, and printed jobs ask for them.
        argv: The command's arguments, for printed jobs.

    Raises:
        UsageError: If there is no executor of this name, or it does not support these options.
    """
    kind, _, scheduler = name.partition(":")
    if address and kind != "ray":
        raise UsageError("--address is that of a Ray cluster: add --executor ray")
    if kind == "print" and name in ("print", "print:slurm", "print:kubernetes"):
        return PrintedJobs(scheduler or "slurm", argv, gpus)
    if match := _JOB.fullmatch(name):
        index, count = map(int, match.groups())
        if index >= count:
            raise UsageError(f"--executor {name}: jobs are numbered from 0, so I in job:I/N is below N")
        return Share(index, count)
    if name == "ray":
        return RayCluster(address, gpus)
    if match := _PROCESSES.fullmatch(name):
        if gpus:
            raise UsageError("processes of one machine are not placed on GPUs: use --executor ray or print")
        return Processes(int(match[1]) if match[1] else os.cpu_count() or 1)
    if kind == "processes":
        raise UsageError(f"--executor {name[:80]}: N is a whole number from 1 to 9999")
    raise UsageError(f"unknown executor {name[:80]!r}: choose from {', '.join(EXECUTORS)}")


def is_on_this_machine(engine: Executor) -> bool:
    """Return whether all jobs of an executor run on this machine."""
    return isinstance(engine, Processes | Share)


class Share:
    """Runs every N-th job from the job `index` on in this process, as a scheduler's job does."""

    is_whole = False

    def __init__(self, index: int, count: int) -> None:
        self._index, self._count = index, count

    def map(self, function: Callable[[J], R], jobs: Sequence[J]) -> Iterator[tuple[int, R]]:
        """Run this process's share of the jobs in order; see `Executor`."""
        for index in range(self._index, len(jobs), self._count):
            yield index, function(jobs[index])


class Processes:
    """Runs jobs in new processes of this machine; with one process or job, in this process.

    New processes are no copies (forks) of this process, so that jobs may use threads and event loops.
    """

    is_whole = True

    def __init__(self, count: int) -> None:
        self._count = count

    def map(self, function: Callable[[J], R], jobs: Sequence[J]) -> Iterator[tuple[int, R]]:
        """Run jobs in several processes; see `Executor`."""
        n_processes = min(self._count, len(jobs))
        if n_processes < 2:
            yield from Share(0, 1).map(function, jobs)
            return
        context = _process_context(function.__module__)
        with ProcessPoolExecutor(
            n_processes, mp_context=context, initializer=_prepare_process, initargs=(dict(os.environ),)
        ) as pool:
            try:
                pending: dict[Future[Any], int] = {}
                remaining_indices = iter(range(len(jobs)))
                while True:
                    for index in islice(remaining_indices, max(_AHEAD * n_processes - len(pending), 0)):
                        pending[pool.submit(_call_interruptibly, function, jobs[index])] = index
                    if not pending:
                        return
                    for future in wait(pending, return_when=FIRST_COMPLETED).done:
                        yield pending.pop(future), future.result()
            except BrokenProcessPool:
                raise LostWorkerError(
                    "a worker process ended without a result (killed, perhaps for want of memory); what is finished is "
                    "kept: run the same command again, with fewer processes if memory is short"
                ) from None
            finally:
                pool.shutdown(wait=False, cancel_futures=True)


def _process_context(module: str) -> BaseContext:
    """Return a context that starts fresh processes; on Linux with a module imported already."""
    if sys.platform != "linux":  # elsewhere forks do not exist, or break system libraries
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([module])
    return context


def _prepare_process(environment: Mapping[str, str]) -> None:
    """Set the environment variables of a new process, and make it end with its parent.

    The variables may have changed since the server that forks new processes was started.
    """
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (parent.join(), os._exit(1)), name="waybench-parent", daemon=True).start()


def _call_interruptibly(function: Callable[[Any], Any], job: Any) -> Any:
    """Return the result of a job, during which Ctrl-C raises KeyboardInterrupt; new processes ignore it otherwise."""
    previous_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return function(job)
    finally:
        signal.signal(signal.SIGINT, previous_handler)


class PrintedJobs:
    """Prints a Slurm array or a Kubernetes Job whose members run the same command, each a share of the jobs.

    Args:
        form: "slurm" or "kubernetes".
        gpus: GPUs that each member asks for.

    Raises:
        UsageError: If an argument is a secret.
    """

    is_whole = False

    def __init__(self, form: str, argv: Sequence[str], gpus: float) -> None:
        # A key of items is left out: it can be a reference to the environment, and the command checks private keys.
        named_arguments = dict(part.split("=", 1) for part in argv if "=" in part and not _KEY.match(part))
        if any(find_secrets(named_arguments)) or any(re.search(r"\b[\w+.-]+://[^/\s]*@", part) for part in argv):
            raise UsageError("a printed job would show a key or password: pass it in the environment of the jobs")
        if gpus != int(gpus):
            raise UsageError("a printed job asks for whole GPUs")
        self._form, self._argv, self._gpus = form, _without_executor(argv), int(gpus)

    def map(self, function: Callable[[J], R], jobs: Sequence[J]) -> Iterator[tuple[int, R]]:
        """Print the jobs and run none; see `Executor`."""
        n_members, argv = min(len(jobs), _MOST_MEMBERS), shlex.join(["waybench", *self._argv])
        comment = (
            f"# {len(jobs)} jobs of: {argv}\n"
            "# Keys and passwords come from the environment of the jobs. A job that is started again continues.\n"
            f"# When all have ended: {argv} --executor processes\n"
        )
        script = self._slurm_script if self._form == "slurm" else self._kubernetes_job_script
        click.echo(script(n_members, comment, f'{argv} --executor "job:{_INDEX[self._form]}/{n_members}"'), nl=False)
        return iter(())

    def _slurm_script(self, count: int, comment: str, command: str) -> str:
        """Return a Slurm script with an array of `count` jobs."""
        gpus = f"#SBATCH --gpus={self._gpus}\n" if self._gpus else ""
        return (
            f"#!/bin/sh\n{comment}#SBATCH --job-name=waybench\n#SBATCH --array=0-{count - 1}\n"
            f"#SBATCH --requeue\n{gpus}{command}\n"
        )

    def _kubernetes_job_script(self, count: int, comment: str, command: str) -> str:
        """Return an indexed Kubernetes job of `count` pods, as commented JSON."""
        limits = {"limits": {"nvidia.com/gpu": self._gpus}} if self._gpus else {}
        container = {
            "name": "waybench",
            "image": "waybench",
            "command": ["sh", "-c", f"exec {command}"],
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
        return f"{comment}{json.dumps(job, indent=2)}\n"


def _without_executor(argv: Sequence[str]) -> list[str]:
    """Return arguments without --executor and its value."""
    remaining: list[str] = []
    iterator = iter(argv)
    for part in iterator:
        if part == "--executor":
            next(iterator, None)
        elif not part.startswith("--executor="):
            remaining.append(part)
    return remaining


class OrderedResults:
    """Runs jobs by an executor, and gives the results in the order of the jobs.

    Raises:
        UsageError: If the executor does not run all jobs while the command waits.
    """

    def __init__(self, engine: Executor) -> None:
        if not engine.is_whole:
            raise UsageError("this command has one result of all jobs: use --executor ray or processes")
        self._engine = engine

    @contextmanager
    def each(self, function: Callable[[J], R], parts: Sequence[J]) -> Generator[Iterator[R], None, None]:
        """Give an iterator of the results of a function for each part; see `waybench.core.Workers`."""
        results = self._engine.map(partial(_pickled_result, function, __version__), parts)
        try:
            yield _results_in_order(results)
        finally:
            if isinstance(results, Generator):
                results.close()  # parts that have not begun are not run


def _results_in_order(numbered_results: Iterator[tuple[int, bytes]]) -> Iterator[Any]:
    """Yield the unpickled results in the order of their numbers, which come as 0, 1, 2, ... in any order."""
    early_results: dict[int, bytes] = {}
    number = 0
    for index, content in numbered_results:
        early_results[index] = content
        while number in early_results:
            yield pickle.loads(early_results.pop(number))  # safe: pickled by a worker of this command
            number += 1


def _pickled_result(function: Callable[[J], R], version: str, part: J) -> bytes:
    """Return the pickled result of a part; raise an error in a worker of another version."""
    if version != __version__:
        raise WaybenchError(f"a worker has waybench {__version__}, and this machine {version}: install the same")
    return to_pickle(function(part))


class RayCluster:
    """Runs jobs as tasks of Ray, which runs jobs of a lost node elsewhere.

    Workers take keys and passwords from the environment in which their node was started: nothing of this process's
    environment is sent to them.

    Args:
        address: Address of the cluster, or "auto"; "" starts one on this machine.

    Raises:
        UsageError: If Ray is not installed.
    """

    is_whole = True

    def __init__(self, address: str, gpus: float) -> None:
        try:
            self._ray: Any = import_module("ray")
        except ModuleNotFoundError:
            raise UsageError(
                "--executor ray needs the package ray, which is not installed: pip install 'waybench[ray]'"
            ) from None
        self._address, self._gpus = address, gpus

    def map(self, function: Callable[[J], R], jobs: Sequence[J]) -> Iterator[tuple[int, R]]:
        """Run jobs on a Ray cluster; see `Executor`."""
        ray = self._ray
        if starts_ray := not ray.is_initialized():
            self._connect_to_ray()
        try:

            def run(job: J) -> R:  # Ray accepts plain functions only, not `partial`
                return function(job)

            original = function.func if isinstance(function, partial) else function
            run.__name__ = run.__qualname__ = original.__name__  # by which Ray names its processes
            remote = ray.remote(run).options(num_cpus=1, num_gpus=self._gpus or None, max_retries=_RETRIES)
            pending: dict[Any, int] = {}
            remaining_indices = iter(range(len(jobs)))
            try:
                while True:
                    most_pending = max(_LEAST_PENDING, _PENDING_EACH * int(ray.cluster_resources().get("CPU", 0)))
                    for index in islice(remaining_indices, max(most_pending - len(pending), 0)):
                        pending[remote.remote(jobs[index])] = index
                    if not pending:
                        return
                    for reference in ray.wait(list(pending), num_returns=1)[0]:
                        yield pending.pop(reference), self._job_result(reference)
            finally:
                for task in pending:
                    ray.cancel(task)
        finally:
            if starts_ray:
                ray.shutdown()

    def _connect_to_ray(self) -> None:
        """Connect to the cluster, or start one on this machine."""
        # Without this variable Ray warns about GPUs, which are not its concern here.
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        host, _, port = self._address.rpartition(":")
        if host and port.isdigit():  # if nobody listens there, Ray itself gives up only after minutes
            try:
                socket.create_connection((host, int(port)), timeout=_CONNECT).close()
            except (OSError, OverflowError) as error:
                raise UsageError(f"no Ray cluster at {self._address[:100]}: {error}") from None
        options = {} if self._address else {"include_dashboard": False}
        try:
            self._ray.init(address=self._address or "local", logging_level="ERROR", log_to_driver=False, **options)
        except (ConnectionError, RuntimeError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise UsageError(f"no Ray cluster at {self._address or 'this machine'}: {reason}") from None

    def _job_result(self, reference: Any) -> Any:
        """Return the result of a job, or raise the job's error without Ray's error around it."""
        exceptions: Any = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except exceptions.RayTaskError as error:
            raise error.cause from None
        except exceptions.RayError as error:
            raise LostWorkerError(
                f"Ray lost a job more than {_RETRIES} times ({type(error).__name__}); what is finished is kept: run "
                "the same command again"
            ) from None
