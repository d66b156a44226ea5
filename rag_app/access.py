"""Who may ask: the session cookie, and the hosts a request may be meant for.

Without a password Pincite listens on this machine only, and whoever sits at it may ask; the host
check then keeps web pages that point their own name at 127.0.0.1 (DNS rebinding) out. With a
password a signed cookie is needed, which changing the password makes void.
"""

import hashlib
import hmac
import os
import secrets
import time
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import urlsplit

from rag_app.settings import Settings

COOKIE = "pincite_session"
VALID_SECONDS = 30 * 24 * 3600
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


def may_ask(settings: Settings, cookie_header: str, host_header: str, origin: str = "") -> bool:
    """Say whether a request may be answered."""
    if settings.password:
        return is_valid_session(settings, cookie_header) and _same_origin(origin, host_header)
    return host_name(host_header) in LOCAL_HOSTS and _same_origin(origin, host_header)


def is_valid_session(settings: Settings, cookie_header: str) -> bool:
    """Say whether a Cookie header holds a session that this installation signed."""
    if not settings.password:
        return True
    try:
        cookie = SimpleCookie(cookie_header).get(COOKIE)
    except CookieError:
        return False
    issued, _, signature = (cookie.value if cookie else "").partition(".")
    if not issued.isdigit() or time.time() - int(issued) > VALID_SECONDS:
        return False
    return hmac.compare_digest(signature, _sign(settings, issued))


def new_session(settings: Settings) -> str:
    """Return the value of the cookie for somebody who gave the password."""
    issued = str(int(time.time()))
    return f"{issued}.{_sign(settings, issued)}"


def is_password(settings: Settings, given: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(given.encode(), settings.password.encode())


def host_name(host_header: str) -> str:
    """Return the name in a Host header, without the port."""
    try:
        return urlsplit(f"//{host_header}").hostname or ""
    except ValueError:
        return ""


def _same_origin(origin: str, host_header: str) -> bool:
    """Say whether a browser sent the request from our own page; other clients name no origin."""
    return not origin or urlsplit(origin).netloc == host_header


def _sign(settings: Settings, issued: str) -> str:
    key = hashlib.sha256(_secret(settings.home) + settings.password.encode()).digest()
    return hmac.new(key, issued.encode(), hashlib.sha256).hexdigest()


def _secret(home: Path) -> bytes:
    path = home / "session.key"
    if not path.exists():
        # linked into place when whole: of two processes at once one wins, both read the same
        part = path.with_name(f"session.{os.getpid()}.key")
        part.write_bytes(secrets.token_bytes(32))
        part.chmod(0o600)
        try:
            path.hardlink_to(part)
        except FileExistsError:
            pass
        finally:
            part.unlink()
    return path.read_bytes()
