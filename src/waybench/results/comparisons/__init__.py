"""Comparisons of groups of results on the same items."""

from waybench.results.comparisons._item_scores import ItemScores, item_scores, main_failure

__all__ = ["ItemScores", "item_scores", "main_failure"]
