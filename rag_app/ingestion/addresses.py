"""Decides which addresses may be fetched; knows no network."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from rag_app.errors import ForbiddenAddressError, IngestionError, SettingsError

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
_CARRIERS = (  # ranges of IPv6 that carry an IPv4 address in their last four bytes
    ipaddress.IPv6Network("::/96"),
    ipaddress.IPv6Network("::ffff:0:0/96"),
    ipaddress.IPv6Network("::ffff:0:0:0/96"),
    ipaddress.IPv6Network("64:ff9b::/96"),
)
_RESERVED_V6 = tuple(
    ipaddress.IPv6Network(network)
    for network in ("64:ff9b:1::/48", "2001::/23", "2001:db8::/32", "3fff::/20")
)
_PROTOCOLS_V4 = ipaddress.IPv4Network("192.0.0.0/24")
_NUMBER_LABEL = re.compile(r"(?i)(?:0x[0-9a-f]*|[0-9]+)$")
_ODD_SIGNS = re.compile(r"[\x00-\x20\x7f\\]")


@dataclass(frozen=True)
class AddressRules:
    """What is allowed besides the public internet, as in PINCITE_ALLOWED_ADDRESSES.

    A pair of a network or a host name, and a port or None for all.
    """

    networks: tuple[tuple[IPNetwork, int | None], ...] = ()
    hosts: tuple[tuple[str, int | None], ...] = ()

    def allow(self, host: str, address: IPAddress, port: int) -> bool:
        """Tell whether a connection to an address, found under a host name, may be made."""
        if is_public(address):
            return True
        return any(
            address.version == network.version and address in network and allowed in (None, port)
            for network, allowed in self.networks
        ) or any(host == name and allowed in (None, port) for name, allowed in self.hosts)


def parse_rules(entries: tuple[str, ...]) -> AddressRules:
    """Read networks (10.0.0.0/8), addresses and host names, each with or without a port."""
    networks: list[tuple[IPNetwork, int | None]] = []
    hosts: list[tuple[str, int | None]] = []
    for entry in entries:
        name, port = _split_port(entry)
        try:
            networks.append((ipaddress.ip_network(name, strict=False), port))
        except ValueError:
            if not re.fullmatch(r"[\w.-]+", name):
                raise SettingsError(
                    f"PINCITE_ALLOWED_ADDRESSES holds {entry!r}, which is neither a network "
                    "like 192.168.0.0/16 nor a host like wiki.example:8080."
                ) from None
            hosts.append((name.lower().rstrip("."), port))
    return AddressRules(tuple(networks), tuple(hosts))


def is_public(address: IPAddress) -> bool:
    """Tell whether an address lies in the public internet, looking through IPv4 within IPv6."""
    if isinstance(address, ipaddress.IPv4Address):
        is_special = address.is_multicast or address.is_reserved or address in _PROTOCOLS_V4
        return address.is_global and not is_special
    if (carried := _carried(address)) is not None:
        return is_public(carried)
    if address.sixtofour is not None:
        return is_public(address.sixtofour)
    if address not in _GLOBAL_V6 or any(address in network for network in _RESERVED_V6):
        return False
    return address.is_global


def is_this_computer(address: IPAddress) -> bool:
    """Tell whether a connection to an address would end where it began."""
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_loopback or address.is_unspecified
    if address.is_loopback or address.is_unspecified:
        return True
    carried = _carried(address)
    return carried is not None and is_this_computer(carried)


def check_url(url: str) -> str:
    """Return the address without white space around it, or raise for what no browser should open.

    Refuses everything that two parsers could read in two ways, so that what was checked is what
    is fetched: backslashes, names and passwords, odd spellings of IP addresses.
    """
    url = url.strip()
    if _ODD_SIGNS.search(url):
        raise ForbiddenAddressError(f"The address {url!r} holds signs that do not belong there.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise IngestionError(f"{url!r} is not a web address.") from error
    if parts.scheme not in {"http", "https"} or not host:
        raise ForbiddenAddressError(f"{url!r} is not an http or https address.")
    if "@" in parts.netloc:
        raise ForbiddenAddressError(
            f"The address of {host} holds a user name, which may hide where it leads."
        )
    if port == 0:
        raise ForbiddenAddressError(f"{url!r} names port 0.")
    labels = host.rstrip(".").split(".")
    if ":" not in host and _NUMBER_LABEL.fullmatch(labels[-1]):
        try:
            ipaddress.IPv4Address(host)
        except ValueError:
            raise ForbiddenAddressError(
                f"{host} is an odd way to write an IP address, which is refused."
            ) from None
    return url


def _carried(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if any(address in network for network in _CARRIERS):
        return ipaddress.IPv4Address(address.packed[-4:])
    return None


def _split_port(entry: str) -> tuple[str, int | None]:
    if found := re.fullmatch(r"\[(.+)\](?::(\d{1,5}))?|([^:]+):(\d{1,5})", entry):
        port = found[2] or found[4]
        return found[1] or found[3], int(port) if port else None
    return entry, None
