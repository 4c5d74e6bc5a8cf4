"""The version of waybench."""

__version__ = "0.1.0"
