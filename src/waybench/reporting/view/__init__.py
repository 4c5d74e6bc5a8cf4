"""A site served on this machine alone, built again while the logs that it is made of change."""
