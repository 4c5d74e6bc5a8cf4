"""The application that openenv.yaml names: `uvicorn server.app:app`.

Environment variables: WAYBENCH_ENV (by default maze/alicia), TOKEN (without it no token is asked for), NAME (a host
name beside localhost) and ENABLE_WEB_INTERFACE (OpenEnv's page at /web).
"""

import os

from waybench.ext.train.openenv import app as environment_app

app = environment_app(
    os.environ.get("WAYBENCH_ENV", "maze/alicia"),
    token=os.environ.get("TOKEN"),
    hosts=("127.0.0.1", "localhost", "[::1]", *os.environ.get("NAME", "").split()),
    web=os.environ.get("ENABLE_WEB_INTERFACE", "").lower() in ("1", "true", "yes"),
)
