"""Reflex's own settings; the app's are read in `rag_app.settings`."""

import os

import reflex as rx

from rag_app.settings import DEFAULT_PORT
from rag_app.ui.same_origin import SameOriginPlugin

PORT = os.environ.get("PINCITE_PORT") or str(DEFAULT_PORT)
# Other sites must not open the websocket, so each origin is named; `rag_app.rag_app` lets in what
# this list cannot hold: the other addresses of the machine.
ORIGINS = [f"http://{host}:{PORT}" for host in ("127.0.0.1", "localhost", "[::1]")]

config = rx.Config(
    app_name="rag_app",
    telemetry_enabled=False,
    show_built_with_reflex=False,
    cors_allowed_origins=ORIGINS,
    redis_url=os.environ.get("REDIS_URL") or None,
    state_manager_mode=(
        rx.constants.StateManagerMode.REDIS
        if os.environ.get("REDIS_URL")
        else rx.constants.StateManagerMode.MEMORY
    ),
    plugins=[SameOriginPlugin()],
    disable_plugins=[rx.plugins.SitemapPlugin],
)
