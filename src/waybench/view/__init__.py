"""A site served on this machine alone, built again while the logs that it is made of change."""

from waybench.view._serve import address, listen, new_token, serve
from waybench.view._watch import Outcome

__all__ = ["Outcome", "address", "listen", "new_token", "serve"]
