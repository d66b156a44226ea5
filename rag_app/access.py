"""Who may ask: the session cookie, and the hosts a request may be meant for.

Without a password Pincite listens on this machine only, and whoever sits at it may ask; the host
check then keeps web pages that point their own name at 127.0.0.1 (DNS rebinding) out. With a
password a signed cookie is needed, which changing the password makes void.
"""

import asyncio
import hashlib
import hmac
import os
import re
import secrets
import time
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import urlsplit

from rag_app.settings import Settings

COOKIE = "pincite_session"
VALID_SECONDS = 30 * 24 * 3600
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
WRONG_PASSWORD_SECONDS = 1.0
MOST_GUESSES_WAITING = 10
_TIME = re.compile(r"[0-9]{1,12}")


class SignIn:
    """Checks passwords one after the other, and no further one for a second after a wrong one.

    So all guesses together come one a second, whether they come one by one or a thousand at once.
    A right password cannot be let past the guesses before it, since it may be one of them: it waits
    a second for each. More than ten never wait; the next ones are turned away unread.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def check(self, settings: Settings, given: str) -> bool | None:
        """Say whether this is the password; None when too many guesses wait already."""
        if self._waiting >= MOST_GUESSES_WAITING:
            return None
        self._waiting += 1
        try:
            async with self._turn:
                if is_password(settings, given):
                    return True
                await asyncio.sleep(WRONG_PASSWORD_SECONDS)
                return False
        finally:
            self._waiting -= 1


def may_ask(settings: Settings, cookie_header: str, host_header: str, origin: str = "") -> bool:
    """Say whether a request may be answered."""
    if settings.password:
        return is_valid_session(settings, cookie_header) and is_our_page(
            settings, origin, host_header
        )
    return host_name(host_header) in LOCAL_HOSTS and is_our_page(settings, origin, host_header)


def is_valid_session(settings: Settings, cookie_header: str) -> bool:
    """Say whether a Cookie header holds a session that this installation signed."""
    if not settings.password:
        return True
    try:
        cookie = SimpleCookie(cookie_header).get(COOKIE)
    except CookieError:
        return False
    issued, _, signature = (cookie.value if cookie else "").partition(".")
    if not _TIME.fullmatch(issued) or time.time() - int(issued) > VALID_SECONDS:
        return False
    return hmac.compare_digest(_bytes(signature), _sign(settings, issued).encode())


def new_session(settings: Settings) -> str:
    """Return the value of the cookie for somebody who gave the password."""
    issued = str(int(time.time()))
    return f"{issued}.{_sign(settings, issued)}"


def is_password(settings: Settings, given: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(_bytes(given), _bytes(settings.password))


def host_name(host_header: str) -> str:
    """Return the name in a Host header, without the port."""
    try:
        return urlsplit(f"//{host_header}").hostname or ""
    except ValueError:
        return ""


def is_our_page(settings: Settings, origin: str, host_header: str) -> bool:
    """Say whether a browser sent the request from our own page; other clients name no origin.

    The page may be opened at any name or address of the machine. Only those of a proxy that does
    not pass the Host header on have to be set.
    """
    if not origin or origin in settings.origins:
        return True
    try:
        return urlsplit(origin).netloc == host_header
    except ValueError:
        return False


def _sign(settings: Settings, issued: str) -> str:
    key = hashlib.sha256(_secret(settings.home) + _bytes(settings.password)).digest()
    return hmac.new(key, issued.encode(), hashlib.sha256).hexdigest()


def _secret(home: Path) -> bytes:
    path = home / "session.key"
    if not path.exists():
        # linked into place when whole: of two processes at once one wins, both read the same
        part = path.with_name(f"session.{secrets.token_hex(8)}.key")
        try:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as to:
                to.write(secrets.token_bytes(32))
            path.hardlink_to(part)
        except FileExistsError:
            pass
        finally:
            part.unlink(missing_ok=True)
    return path.read_bytes()


def _bytes(text: str) -> bytes:
    # a request can bring halves of surrogate pairs, which no password holds by accident
    return text.encode("utf-8", "surrogatepass")
