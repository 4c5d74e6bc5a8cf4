"""Engines that make worlds of blocks."""


# They need numpy or numba, which is loaded where there is something to compute.
