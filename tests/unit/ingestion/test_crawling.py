"""The rules of robots.txt, as RFC 9309 reads them."""

import pytest

from rag_app.ingestion.crawling import is_allowed, read_paths

RULES = """
User-agent: other
Disallow: /

User-agent: *
Disallow: /*?
Disallow: /private/*.pdf$
Disallow: /docs/   # but
Allow: /docs/public/
Disallow:
""".splitlines()


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/", True),
        ("/a?b=1", False),
        ("/private/a.pdf", False),
        ("/private/a.pdf.html", True),
        ("/private/a.html", True),
        ("/docs/x", False),
        ("/docs/public/x", True),
        ("/docs", True),
    ],
)
def test_the_longest_rule_counts_and_signs_stand_for_others(path: str, allowed: bool) -> None:
    assert is_allowed(read_paths(RULES), path) is allowed


def test_a_group_of_our_own_takes_the_place_of_the_one_for_all() -> None:
    lines = ["User-agent: a", "User-agent: Pincite", "Disallow: /x", "User-agent: *", "Disallow: /"]

    assert read_paths(lines) == [("/x", False)]


def test_no_rule_takes_long() -> None:
    assert not is_allowed([("/" + "*a" * 500, False)], "/" + "a" * 2000)
