"""Tasks as Harbor's directories, which Harbor, Inspect, verifiers and OpenEnv read; begin at `_export`.

`_verify` and `_client` are programs of the directories: they are copied as they are, and need the standard library.
"""
