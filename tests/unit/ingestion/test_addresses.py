import ipaddress

import pytest

from rag_app.errors import ForbiddenAddressError, IngestionError, SettingsError
from rag_app.ingestion.addresses import (
    AddressRules,
    check_url,
    is_public,
    is_this_computer,
    parse_rules,
)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1",
        "169.254.169.254", "100.64.0.1", "192.0.0.8", "198.18.0.1", "224.0.0.1", "240.0.0.1",
        "255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "::127.0.0.1", "64:ff9b::7f00:1",
        "64:ff9b:1::7f00:1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:7f00:1::", "2001:db8::1",
        "::ffff:0:127.0.0.1", "100::1",
    ],
)  # fmt: skip
def test_addresses_of_private_networks_are_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"],
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


def test_this_computer_is_told_from_a_private_network() -> None:
    own = ["127.0.0.1", "127.9.9.9", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", "64:ff9b::7f00:1"]
    others = ["10.0.0.1", "169.254.169.254", "8.8.8.8", "fd00::1", "::ffff:10.0.0.1"]

    assert own == [
        address for address in own + others if is_this_computer(ipaddress.ip_address(address))
    ]


@pytest.mark.parametrize(
    "url",
    [
        "http://good.example\\@127.0.0.1/", "http://good.example@127.0.0.1/",
        "http://user:word@good.example/", "file:///etc/passwd", "ftp://good.example/",
        "javascript:alert(1)", "gopher://good.example", "http://2130706433/", "http://0x7f000001/",
        "http://0177.0.0.1/", "http://127.1/", "http://0x7f.1/", "http://good.example:0/",
        "http://good .example/", "http://good.example/\r\nHost: other", "http:///nothing", "//x/y",
        "http://1.2.3.4.5/", "http://127.0.0.0x1/",
    ],
)  # fmt: skip
def test_addresses_that_two_parsers_could_read_in_two_ways_are_refused(url: str) -> None:
    with pytest.raises(ForbiddenAddressError):
        check_url(url)


def test_nonsense_is_no_web_address() -> None:
    with pytest.raises(IngestionError):
        check_url("http://[1:2/")


def test_an_ordinary_address_stays_as_it_is() -> None:
    assert (
        check_url("  https://good.example:8443/a?b=c@d#e ") == "https://good.example:8443/a?b=c@d#e"
    )


def test_rules_allow_networks_hosts_and_ports() -> None:
    rules = parse_rules(("10.0.0.0/8", "127.0.0.1:8123", "[::1]:90", "wiki.intern", "nas:443"))
    questions = [
        ("x", "10.2.3.4", 1),
        ("x", "127.0.0.1", 8123),
        ("x", "127.0.0.1", 80),
        ("x", "::1", 90),
        ("wiki.intern", "192.168.0.4", 80),
        ("nas", "192.168.0.5", 443),
        ("nas", "192.168.0.5", 80),
        ("evil.wiki.intern", "192.168.0.4", 80),
    ]

    assert [
        rules.allow(host, ipaddress.ip_address(address), port) for host, address, port in questions
    ] == [True, True, False, True, True, True, False, False]
    assert not AddressRules().allow("localhost", ipaddress.ip_address("127.0.0.1"), 80)


def test_a_setting_that_is_no_address_is_named() -> None:
    with pytest.raises(SettingsError, match="PINCITE_ALLOWED_ADDRESSES"):
        parse_rules(("http://x/",))
