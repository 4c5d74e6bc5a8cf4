"""Where the jobs of a command run, and where their results go.

An executor has one function, `map(function, jobs)`: in processes of this machine, on a Ray cluster, or in jobs that a
scheduler starts. Jobs are idempotent: a job that has run before finds its result and returns at once, so an engine may
run it again after a lost machine, and the same command resumes. Results go to a folder by path or URL.
"""

from waybench.ext.scale._folders import StorageFolder, is_url

__all__ = ["StorageFolder", "is_url"]
