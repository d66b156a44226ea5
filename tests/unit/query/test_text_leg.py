"""The bar a chunk must reach, and the formula that says so to the index."""

import itertools
import math
import re

import pytest

from rag_app.query.bm25 import Term
from rag_app.query.text_leg import bar, formula

CHUNKS = 10_000


def terms(*documents: int) -> list[Term]:
    """Terms named a, b, c…, the rarest first."""
    return [
        Term("english", name, count, math.log(1 + (CHUNKS - count + 0.5) / (count + 0.5)))
        for name, count in zip("abcdefgh", sorted(documents), strict=False)
    ]


def holds(query: str, held: set[str]) -> bool:
    """Evaluate a tsquery without phrases for a chunk that holds these lexemes."""
    python = re.sub(r"'(\w)'", lambda found: str(found[1] in held), query)
    return bool(eval(python.replace("&", " and ").replace("|", " or ")))


@pytest.mark.parametrize("needed", [0.5, 2.0, 4.0, 6.0, 9.0, 12.0, 15.0])
def test_the_formula_holds_for_exactly_the_chunks_that_reach_the_sum(needed: float) -> None:
    words = terms(3, 40, 41, 500, 2_000, 6_000, 9_000)
    query = formula(words, needed)

    for size in range(1, len(words) + 1):
        for chunk in itertools.combinations(words, size):
            reached = sum(word.idf for word in chunk) >= needed - 1e-9
            assert holds(query, {word.lexeme for word in chunk}) == reached


def test_a_sum_that_all_terms_together_do_not_reach_has_no_formula() -> None:
    words = terms(10, 20)

    assert formula(words, sum(word.idf for word in words) + 0.1) == ""


def test_quotes_and_backslashes_in_a_lexeme_are_text() -> None:
    assert formula([Term("simple", "o'n\\e", 1, 5.0)], 1.0) == "'o''n\\\\e'"


def test_more_candidates_lower_the_bar() -> None:
    words = terms(50, 300, 800, 2_500)

    bars = [bar(words, CHUNKS, candidates) for candidates in (1, 10, 100, 1_000, 100_000)]

    assert bars == sorted(bars, reverse=True)
    assert bars[-1] == min(word.idf for word in words)


def test_the_bar_lets_as_many_chunks_pass_as_independent_words_would() -> None:
    words = terms(1_000, 2_000)
    both = 1_000 * 2_000 / CHUNKS

    assert bar(words, CHUNKS, both) == pytest.approx(words[0].idf + words[1].idf)
    assert bar(words, CHUNKS, both + 1) == pytest.approx(words[0].idf)
