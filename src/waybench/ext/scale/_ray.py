"""Jobs on a Ray cluster."""

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from waybench.core import LostWorkerError, UsageError

J = TypeVar("J")
R = TypeVar("R")
_CONNECT = 30.0  # seconds
_RETRIES = 10  # of a job whose worker or node was lost; Ray does it
# Jobs that Ray has been given and that have not ended: their parts are in memory, and a cluster that grows by demand
# has to see some.
_LEAST_PENDING, _PENDING_EACH = 100, 4


class RayCluster:
    """Runs jobs as tasks of Ray, which places them and runs those of a lost node elsewhere.

    Workers take keys and passwords from the environment in which their node was started: nothing of this process's
    environment is sent to them.

    Args:
        address: Address of the cluster, or "auto"; "" starts one on this machine.
        gpus: GPUs that each job needs.

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
        """Run jobs; see `Executor`."""
        ray = self._ray
        if is_mine := not ray.is_initialized():
            self._connect()
        try:

            def job(one: J) -> R:  # Ray takes plain functions alone
                return function(one)

            named = function.func if isinstance(function, partial) else function
            job.__name__ = job.__qualname__ = named.__name__  # by which Ray names its processes
            remote = ray.remote(job).options(num_cpus=1, num_gpus=self._gpus or None, max_retries=_RETRIES)
            waiting: dict[Any, int] = {}
            following = iter(range(len(jobs)))
            try:
                while True:
                    most = max(_LEAST_PENDING, _PENDING_EACH * int(ray.cluster_resources().get("CPU", 0)))
                    while len(waiting) < most and (index := next(following, None)) is not None:
                        waiting[remote.remote(jobs[index])] = index
                    if not waiting:
                        return
                    for done in ray.wait(list(waiting), num_returns=1)[0]:
                        index = waiting.pop(done)
                        yield index, self._result(done)
            finally:
                for each in waiting:
                    ray.cancel(each)
        finally:
            if is_mine:
                ray.shutdown()

    def _connect(self) -> None:
        # Ray would complain about what it does not do here; the parent shows the progress.
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        host, _, port = self._address.rpartition(":")
        if host and port.isdigit():  # where nobody listens, Ray itself gives up after minutes
            try:
                socket.create_connection((host, int(port)), timeout=_CONNECT).close()
            except (OSError, OverflowError) as error:
                raise UsageError(f"no Ray cluster at {self._address[:100]}: {error}") from None
        more = {} if self._address else {"include_dashboard": False}
        try:
            self._ray.init(address=self._address or "local", logging_level="ERROR", log_to_driver=False, **more)
        except (ConnectionError, RuntimeError, ValueError) as error:
            said = " ".join(str(error).split())[:200]
            raise UsageError(f"no Ray cluster at {self._address or 'this machine'}: {said}") from None

    def _result(self, reference: Any) -> Any:
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
