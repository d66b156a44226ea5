"""What a page is read for, and that no page takes longer than it is long."""

import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.ingestion.html_reader import _WANTS_SCRIPTS, _split_noscript
from rag_app.ingestion.sources.pdf import _join_lines

# what such parts were before an unclosed one had to be no work
NOSCRIPT_BEFORE = re.compile(r"(?is)<noscript\b[^>]*>(.*?)</noscript\s*>")
PIECES = ["<noscript>", "<NOSCRIPT a='<'>", "<noscript", "</noscript>", "</noscript >", "<p>", "a"]


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_parts_for_browsers_without_scripts_are_taken_out(pieces: list[str]) -> None:
    html = "".join(pieces)

    assert _split_noscript(html) == (
        NOSCRIPT_BEFORE.sub("", html),
        " ".join(NOSCRIPT_BEFORE.findall(html)),
    )


@pytest.mark.parametrize(
    ("read", "run"),
    [
        (_split_noscript, "<noscript>"),
        (_split_noscript, "<noscript "),
        (_split_noscript, "<noscript></noscript "),
        (_WANTS_SCRIPTS.search, "aktivier"),
        (_WANTS_SCRIPTS.search, "enable "),
        (_WANTS_SCRIPTS.search, "habilit"),
        (_join_lines, " "),
        (_join_lines, "\t"),
        (_join_lines, "\u0301\u0323"),
    ],
)
def test_a_long_run_takes_as_much_longer_as_it_is_long(
    read: Callable[[str], object], run: str
) -> None:
    short = seconds(read, run * (4_000 // len(run)) + "x")
    long = seconds(read, run * (64_000 // len(run)) + "x")

    assert long < 80 * max(short, 0.0002)  # 16 when linear, 256 when quadratic


def seconds(read: Callable[[str], object], text: str) -> float:
    def once() -> float:
        start = time.perf_counter()
        read(text)
        return time.perf_counter() - start

    return min(once() for _ in range(3))
