"""Reflex's own settings; the app's are read in `rag_app.settings`."""

import os

import reflex as rx

from rag_app.settings import DEFAULT_PORT
from rag_app.ui.same_origin import SameOriginPlugin

PORT = os.environ.get("PINCITE_PORT") or str(DEFAULT_PORT)
HOSTS = dict.fromkeys(("127.0.0.1", "localhost", "[::1]", os.environ.get("PINCITE_HOST", "")))
# Other sites must not open the websocket, so each origin is named: PINCITE_ORIGINS adds some.
ORIGINS = [
    *(f"http://{host}:{PORT}" for host in HOSTS if host),
    *(origin.strip() for origin in os.environ.get("PINCITE_ORIGINS", "").split(",") if origin),
]

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
