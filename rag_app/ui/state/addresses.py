"""Tells an address of this computer before it is queued; fetching decides on every other one."""

import ipaddress
from urllib.parse import urlsplit

from rag_app.ingestion.addresses import parse_rules
from rag_app.uris import with_scheme

THIS_COMPUTER = ipaddress.ip_address("127.0.0.1")


def leads_here(url: str, allowed_addresses: tuple[str, ...]) -> bool:
    """Tell whether an address plainly names this computer, and the settings do not allow it."""
    try:
        parts = urlsplit(with_scheme(url.strip()))
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        address = THIS_COMPUTER
    else:
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
    if not (address.is_loopback or address.is_unspecified):
        return False
    rules = parse_rules(allowed_addresses)
    return not rules.allow(host, address, port or (443 if parts.scheme == "https" else 80))
