"""Drawings of maps of places."""

__all__ = []
