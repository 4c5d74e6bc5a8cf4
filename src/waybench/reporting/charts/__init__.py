"""Charts of the report."""

from waybench.reporting.charts._svg import Chart, colour_numbers

__all__ = ["Chart", "colour_numbers"]
