"""Generator of worlds of tiles."""
