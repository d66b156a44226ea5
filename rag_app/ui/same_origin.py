"""Makes one finished build follow whichever host and port serve it."""

import re
from pathlib import Path

import reflex as rx

_SOCKET = re.compile(r"[`\"']ws://[^/`\"']+(/[^`\"']*)[`\"']")
_ROUTE = re.compile(r"[`\"']http://[^/`\"']+(/[^`\"']*)[`\"']")


class SameOriginPlugin(rx.plugins.Plugin):
    """Replaces the addresses that `reflex export` writes into the build by the page's own."""

    def post_build(self, **context) -> None:
        """Rewrite the one small chunk that holds them; runs before files are compressed."""
        chunks = list(Path(context["static_dir"]).glob("assets/reflex-env-*.js"))
        if not chunks:
            raise FileNotFoundError("The build has no assets/reflex-env-*.js: Reflex has changed.")
        for chunk in chunks:
            script = chunk.read_text()
            script = _SOCKET.sub(r"(location.origin.replace(/^http/,'ws')+'\1')", script)
            chunk.write_text(_ROUTE.sub(r"(location.origin+'\1')", script))
