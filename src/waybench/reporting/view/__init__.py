"""A site served on this machine alone, built again while the logs that it is made of change."""

from waybench.reporting.view._app import Access, Guard
from waybench.reporting.view._serve import Outcome, address, listen, new_token, serve, serve_application

__all__ = ["Access", "Guard", "Outcome", "address", "listen", "new_token", "serve", "serve_application"]
