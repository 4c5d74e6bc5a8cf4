"""Limits of the servers."""

LARGEST_BODY = 1 << 20  # bytes of a request
IDLE = 3600.0  # seconds after which a session that nobody uses is freed
