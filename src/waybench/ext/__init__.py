"""What stands beside the command line: training, scale-out, publishing, and authoring of instances."""

__all__ = []
