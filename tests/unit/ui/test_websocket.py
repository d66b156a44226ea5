"""Which pages may open the websocket, as Reflex asks its server for each connection."""

import pytest

LAN = "192.168.1.20:3000"


@pytest.mark.parametrize(
    ("origin", "host", "allowed"),
    [
        (f"http://{LAN}", LAN, True),
        ("http://nas.fritz.box:3000", "nas.fritz.box:3000", True),
        ("http://localhost:3000", "localhost:8000", True),  # pages served apart, in development
        ("https://library.example", "127.0.0.1:3000", True),
        ("https://evil.example", LAN, False),
        (f"http://{LAN}", "127.0.0.1:3000", False),
        ("http://[", LAN, False),
    ],
)
def test_only_our_own_pages_connect_at_whatever_address_they_were_opened(
    monkeypatch: pytest.MonkeyPatch, origin: str, host: str, allowed: bool
) -> None:
    monkeypatch.setenv("PINCITE_ORIGINS", "https://library.example")
    from rag_app.rag_app import app

    environ = {"HTTP_ORIGIN": origin, "HTTP_HOST": host}

    assert app.sio.eio._cors_allowed_origins(environ) == ([origin] if allowed else [])
