"""Tile maps written by a language model, step by step."""
