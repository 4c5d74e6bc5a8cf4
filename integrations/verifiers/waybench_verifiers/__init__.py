"""Every environment of waybench as a taskset for verifiers 0.4.

The taskset has the items, the environment takes the user's part in the conversation, and the harness asks the model
from this process, without a program of its own.
"""

from waybench_verifiers._environment import WaybenchConfig, WaybenchEnvironment
from waybench_verifiers._harness import InProcessHarness
from waybench_verifiers._taskset import WaybenchTask, WaybenchTaskset, WaybenchTasksetConfig

__all__ = [
    "InProcessHarness",
    "WaybenchConfig",
    "WaybenchEnvironment",
    "WaybenchTask",
    "WaybenchTaskset",
    "WaybenchTasksetConfig",
]
