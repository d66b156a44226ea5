"""Text is prepared the same way for documents and questions, so that one finds the other."""

import re
import time
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.lexemes import _unify, document_text, fold_accents, question_text

SIGNS = "aZé\u1ea1×÷ß_1٣ -./§東ก#+\n\t\u0301"
# what words and sections were before long runs had to be read once only
WORD_BEFORE = re.compile("[^\\W\\d_]*[\u00c0-\u024f\u1e00-\u1eff][^\\W\\d_]*")
SECTION_BEFORE = re.compile(r"§+\s*(\d+\s?[a-z]?)\b", re.IGNORECASE)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ERR_4012-B", ["ERR", "4012", "B", "x0ERRq04012q0B"]),
        ("v2.10.3", ["v2", "10", "3", "x0v2q010q03"]),
        ("§ 34a BGB", ["34a", "x0section34a", "BGB"]),
        ("10.1000/xyz.123", ["10", "1000", "xyz", "123", "x010q01000q0xyzq0123"]),
        ("978-3-16-148410-0", ["978", "3", "16", "148410", "0", "x0978q03q016q0148410q00",
                               "9783161484100"]),
        ("report_v2.pdf", ["report", "v2", "pdf", "x0reportq0v2q0pdf"]),
        ("C++ and C#", ["C", "x0Cplus", "and", "C", "x0Csharp"]),
        ("a well-known e-mail.", ["a", "well-known", "e-mail."]),
        ("東京都へ go 部署", ["東京", "京都", "都へ", "go", "部署"]),
        ("a", ["a"]),
        ("soft\u00adhyphen ﬁne", ["softhyphen", "fine"]),
        ("hyphen-\nation", ["hyphenation"]),
        ("كِتَابٌ", ["كتاب"]),
    ],
)  # fmt: skip
def test_a_text_becomes_words_the_parser_keeps(text: str, words: list[str]) -> None:
    assert question_text(text).split() == words


def test_an_identifier_at_the_end_of_a_sentence_is_the_same_as_inside_it() -> None:
    inside = question_text("shows v2.10.3 now").split()[1:-1]

    assert question_text("shows v2.10.3.").removesuffix(".").split()[1:] == inside


def test_documents_also_have_their_words_without_accents() -> None:
    assert document_text("Ein Café in Łódź").split("\n") == ["Ein Café in Łódź", "Cafe Łodz"]
    assert question_text("Café") == "Café"


def test_only_latin_letters_lose_their_marks() -> None:
    assert document_text("й ё ガ") == question_text("й ё ガ")
    assert fold_accents("Übung") == "Ubung"


@given(st.text(st.sampled_from(SIGNS), max_size=24))
def test_the_words_with_accents_are_found_as_by_the_plain_expression(text: str) -> None:
    prepared = question_text(text)
    folded = sorted({fold_accents(word) for word in WORD_BEFORE.findall(prepared)})

    assert document_text(text) == (f"{prepared}\n{' '.join(folded)}" if folded else prepared)


@given(st.text(st.sampled_from("§ 12٣abK.é\n"), max_size=24))
def test_sections_are_found_as_by_the_plain_expression(text: str) -> None:
    expected = [f"x0section{''.join(found.split())}" for found in SECTION_BEFORE.findall(text)]

    assert [word for word in question_text(text).split() if "x0section" in word] == expected


@given(st.text(st.sampled_from("aÅé\u0301\u0323\u0308\u00a8\u00a0ﬁ가ᄀ\u1161 \n"), max_size=24))
def test_a_text_is_unified_by_words_as_it_is_as_a_whole(text: str) -> None:
    assert _unify(text) == unicodedata.normalize("NFKC", text)


@pytest.mark.parametrize(
    "run",
    ["x", "1", "a1", "-", "_", ".", "/", "-_./", "a-", "a_", "a.", "é", "×", "東", "a東", "§",
     "§ ", "+", "C+", "-\n", " ", "\u0301\u0323"],
)  # fmt: skip
def test_a_long_run_takes_as_much_longer_as_it_is_long(run: str) -> None:
    short = seconds(document_text, run * (4_000 // len(run)) + "東")
    long = seconds(document_text, run * (64_000 // len(run)) + "東")

    assert long < 80 * max(short, 0.0002)  # 16 when linear, 256 when quadratic


def seconds(function: Callable[[str], str], text: str) -> float:
    def once() -> float:
        start = time.perf_counter()
        function(text)
        return time.perf_counter() - start

    return min(once() for _ in range(3))
