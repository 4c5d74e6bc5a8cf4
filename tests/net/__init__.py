"""The safety net: a small corpus of runs, and the digests of all that waybench makes of it.

A change of form alone leaves every digest as it is. `python -m tests.net` writes the digests again, and `python -m
tests.net --out FOLDER` the outputs themselves, so that those of two versions can be compared with `diff -r`.
"""
