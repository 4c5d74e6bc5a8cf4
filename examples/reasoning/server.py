"""A scripted reasoning model that needs its own reasoning of earlier turns, behind the OpenAI protocol.

`python examples/reasoning/server.py 8000` serves it on this machine. It guesses numbers by bisection (`waybench run
guessnum -T protocol=sound`), and keeps the bounds that are left in its reasoning alone: of the answers in the chat it
reads the last one only. If its reasoning is sent back, it finds the number; otherwise it begins again with each turn.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

RANGE = re.compile(r"between (\d+) and (\d+)")
NOTES = re.compile(r"It is from (\d+) to (\d+)\. I guess (\d+)\.")


def message(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the next message of the model: the middle of the bounds that it knows, with the bounds as reasoning."""
    said = [str(each.get("reasoning_content", "")) for each in messages if each["role"] == "assistant"]
    notes = NOTES.search(said[-1]) if said else None
    if notes is None:
        stated = next((bounds for each in messages if (bounds := RANGE.search(str(each["content"])))), None)
        low, high = map(int, stated.groups()) if stated else (0, 0)
    else:
        low, high, guess = map(int, notes.groups())
        is_bigger = "bigger than" in str(messages[-1]["content"])
        low, high = (guess + 1, high) if is_bigger else (low, guess - 1)
    middle = (low + high) // 2
    thought = f"It is from {low} to {high}. I guess {middle}."
    return {"role": "assistant", "content": str(middle), "reasoning_content": thought}


class Handler(BaseHTTPRequestHandler):
    """Answers requests for chat completions."""

    def do_POST(self) -> None:
        """Send the next message."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = message(body["messages"])
        prompt = sum(len(json.dumps(each)) for each in body["messages"]) // 4
        thought, answer = (len(reply[name]) // 4 for name in ("reasoning_content", "content"))
        completion = {
            "id": "scripted",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": reply, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": thought + answer,
                "total_tokens": prompt + thought + answer,
                "completion_tokens_details": {"reasoning_tokens": thought},
            },
        }
        data = json.dumps(completion).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
