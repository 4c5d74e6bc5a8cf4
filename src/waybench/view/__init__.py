"""A site served on this machine alone, built again while the logs that it is made of change."""

from waybench.view._app import Access, Guard
from waybench.view._serve import address, listen, new_token, serve, serve_application
from waybench.view._watch import Outcome

__all__ = ["Access", "Guard", "Outcome", "address", "listen", "new_token", "serve", "serve_application"]
