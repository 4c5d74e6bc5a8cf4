#!/usr/bin/env python3
"""The game's small client in the agent's box: `play look`, `play act REPLY`, and `play act -` for a reply from stdin.

It needs the standard library alone, and knows nothing of the game but its address.
"""

import json
import sys
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

ADDRESSES = ("http://game:8000", "http://127.0.0.1:8000")  # the latter where services share one network
USAGE = "usage: play look | play act REPLY | play act - (the reply from standard input) | play file FILE"


def request_text(path: str, body: "dict[str, str] | None" = None) -> str:
    """Return the text of the game's answer to a request; with a body the request is a POST."""
    data = None if body is None else json.dumps(body).encode()
    for address in ADDRESSES:
        request = Request(address + path, data, {"Content-Type": "application/json"})
        try:
            with build_opener(ProxyHandler({})).open(request, timeout=60) as answer:
                return str(json.load(answer)["text"])
        except HTTPError as error:
            return str(json.load(error)["error"])
        except (URLError, OSError):
            continue
    raise SystemExit("play: the game does not answer")


def main(arguments: "list[str]") -> None:
    """Run the command of the arguments."""
    if arguments == ["look"]:
        print(request_text("/look"))
    elif len(arguments) == 2 and arguments[0] == "act":
        print(request_text("/act", {"reply": sys.stdin.read() if arguments[1] == "-" else arguments[1]}))
    elif len(arguments) == 2 and arguments[0] == "file":  # a reply a line, as JSON
        with open(arguments[1], encoding="utf-8") as lines:
            for line in lines:
                print(request_text("/act", {"reply": json.loads(line)}))
    else:
        raise SystemExit(USAGE)


if __name__ == "__main__":
    main(sys.argv[1:])
