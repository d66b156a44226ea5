"""What the browser may load and run: our own files, and the video player once it is asked for."""

import base64
import hashlib
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

BUILD = Path(".web/build/client")
INLINE_SCRIPT = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)
PLAYER = "https://www.youtube-nocookie.com"

App = Callable[[Any, Any, Any], Awaitable[None]]


def build_policy(build: Path = BUILD) -> str:
    """Return the policy for a finished build, whose inline scripts are named by their hashes."""
    scripts = {
        script
        for page in build.glob("**/*.html")
        for script in INLINE_SCRIPT.findall(page.read_text())
    }
    hashes = sorted(f"'sha256-{_hash(script)}'" for script in scripts)
    return "; ".join(
        (
            "default-src 'none'",
            " ".join(("script-src 'self'", *hashes)),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            f"frame-src {PLAYER}",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


def with_policy(app: App) -> App:
    """Wrap an ASGI app so that each answer without a policy of its own carries ours."""
    policy = build_policy().encode()
    headers = {
        b"content-security-policy": policy,
        b"x-content-type-options": b"nosniff",
        b"referrer-policy": b"strict-origin-when-cross-origin",
        b"x-frame-options": b"DENY",
    }

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        async def send_with_policy(message: Any) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message.get("headers", ())}
                added = [(name, value) for name, value in headers.items() if name not in present]
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        await app(scope, receive, send_with_policy if scope["type"] == "http" else send)

    return guarded


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
