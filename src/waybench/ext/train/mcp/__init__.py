"""The Model Context Protocol: agent products play episodes through tools. Needs the extra `mcp`.

    waybench serve mcp --out agent.jsonl

The tools are `environments`, `options`, `start`, `look`, `act` and `finish`. Prompts, limits, outcomes and records
are those of any other player.
"""

from waybench.ext.train._session import IDLE, LARGEST_BODY
from waybench.ext.train.mcp._episodes import AgentEpisodes
from waybench.ext.train.mcp._server import http_app, server

__all__ = ["IDLE", "LARGEST_BODY", "AgentEpisodes", "http_app", "server"]
