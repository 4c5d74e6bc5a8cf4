"""The `waybench` command."""

from waybench.cli._app import main

__all__ = ["main"]
