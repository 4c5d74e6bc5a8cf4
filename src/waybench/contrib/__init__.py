"""Parts beside the benchmarks: maps from Z-machine games and maps that a model writes."""

__all__ = []
