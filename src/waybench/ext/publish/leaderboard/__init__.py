"""Leaderboards: many submissions in a folder, verified here and published as a static site."""
