"""Comparisons of groups of results on the same items."""

from waybench.results.comparisons._item_scores import ItemScores, failure, item_scores

__all__ = ["ItemScores", "failure", "item_scores"]
