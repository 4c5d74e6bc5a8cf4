"""Where the jobs of a command run, and where their results go.

An executor has one function, `map(function, jobs)`: in processes of this machine, on a Ray cluster, or in jobs that a
scheduler starts. Jobs are idempotent: a job that has run before finds its result and returns at once, so an engine may
run it again after a lost machine, and the same command resumes. Results go to a folder by path or URL.
"""

from waybench.ext.scale._executors import EXECUTORS, Executor, Ordered, executor, is_on_this_machine
from waybench.ext.scale._folders import Folder, digest, is_url, local_copy, mirrored

__all__ = [
    "EXECUTORS",
    "Executor",
    "Folder",
    "Ordered",
    "digest",
    "executor",
    "is_on_this_machine",
    "is_url",
    "local_copy",
    "mirrored",
]
