"""A server of the Model Context Protocol: agents play episodes by tools. Needs the extra `mcp`.

waybench serve mcp --out agent-logs
"""

from waybench.rl.mcp._games import COMMUNITY, Client, Games, attempt_key, player_of
from waybench.rl.mcp._server import http_app, serve_stdio, server

__all__ = ["COMMUNITY", "Client", "Games", "attempt_key", "http_app", "player_of", "serve_stdio", "server"]
