"""Drawings of maps of places."""
