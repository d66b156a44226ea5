"""The address that opens a place in a document."""

from urllib.parse import quote, urlsplit, urlunsplit

FRAGMENT_WORDS = 8


def passage_link(
    source_type: str,
    document_id: int,
    uri: str,
    *,
    page: int | None,
    second: int | None,
    start: int,
    text: str,
) -> str:
    """Return what the person can open: our page for files, the live page or video otherwise."""
    if source_type == "web" and uri.startswith(("http://", "https://")):
        return text_fragment_link(uri, text)
    if source_type == "youtube" and second is not None:
        return f"{uri}&t={second}s"  # the address of a video always has a query
    place = f"start={start}"
    if page is not None or second is not None:
        place = f"page={page}" if page is not None else f"second={second}"
    return f"/documents/{document_id}?{place}"


def text_fragment_link(uri: str, text: str) -> str:
    """Point at `text` on a live page (URL Fragment Text Directives, WICG)."""
    words = text.replace("|", " ").split()
    words = [word for word in words if not set(word) <= set("#*`->[]()!_")]
    if not words:
        return uri
    parts = urlsplit(uri)
    head = _fragment(words[:FRAGMENT_WORDS])
    tail = words[-FRAGMENT_WORDS // 2 :] if len(words) > 2 * FRAGMENT_WORDS else []
    directive = f":~:text={head}" + (f",{_fragment(tail)}" if tail else "")
    return urlunsplit(parts._replace(fragment=parts.fragment + directive))


def _fragment(words: list[str]) -> str:
    return quote(" ".join(words), safe="").replace("-", "%2D")
