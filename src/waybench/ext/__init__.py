"""Training, scale-out, publishing, and authoring of instances."""

__all__ = []
