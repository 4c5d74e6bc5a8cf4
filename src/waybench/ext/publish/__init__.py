"""Results for others: leaderboards as static sites, and exports in the formats of other programs."""

__all__ = []
