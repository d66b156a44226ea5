import pytest

from rag_app.query.spans import (
    LONGEST_QUOTE,
    bounded,
    find_exact,
    opening,
    page_of,
    second_of,
    sentence_spans,
    spans_of,
)
from tests.support.passages import passage


def texts(text: str) -> list[str]:
    return [span.text for span in spans_of(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two!\nThree", ["One.", "Two!", "Three"]),
        ("Ends here\fBegins there.", ["Ends here", "Begins there."]),
        ("[00:00:05] so it is\n[00:00:09] and on", ["so it is", "and on"]),
        ("# Title\n\nText.", ["Title", "Text."]),
        ("... \n\n---\n\nText.", ["Text."]),
        ("蜜蜂跳舞。蚂蚁行军。", ["蜜蜂跳舞。", "蚂蚁行军。"]),
        ("", []),
    ],
)
def test_sentences_hold_no_marks(text, expected):
    assert texts(text) == expected
    assert all(text[span.start : span.end] == span.text for span in spans_of(text))


def test_headings_are_quoted_only_where_there_is_nothing_else():
    assert [s.text for s in sentence_spans(passage("# Title\n\nText."))] == ["Text."]
    assert [s.text for s in sentence_spans(passage("# Title"))] == ["Title"]


PAGE = (
    "2.1 The winter cluster\nBelow ten degrees the bees draw together, head to head\n"
    "over the seams between the combs. They sit close.\n"
)


def test_a_heading_of_a_page_is_not_quoted_where_there_is_a_sentence():
    printed = [span.text for span in sentence_spans(passage(PAGE, page=3))]
    written = [span.text for span in sentence_spans(passage(PAGE))]

    assert printed == written[1:]
    assert written[0] == "2.1 The winter cluster"
    assert [s.text for s in sentence_spans(passage("The winter cluster\n", page=3))] == [
        "The winter cluster"
    ]


@pytest.mark.parametrize(
    "lines",
    [
        "Bees in the hive: 12,000\n",
        "Queens\nWorkers\nDrones\n",
        "- Mouse guard of the hive had slipped\n",
        "It was cold.\n",
    ],
)
def test_facts_lists_and_sentences_of_a_page_stay_quotable(lines):
    text = lines + PAGE.partition("\n")[2]
    found = [span.text for span in sentence_spans(passage(text, page=3))]

    assert found == [span.text for span in spans_of(text)]


def test_the_page_counts_the_breaks_before_a_place():
    found = passage("one\ftwo\fthree", page=7)

    assert [page_of(found, found.text.index(word)) for word in ("one", "two", "three")] == [7, 8, 9]
    assert page_of(passage("one\ftwo"), 5) is None


def test_the_second_is_that_of_the_last_mark_before_a_place():
    found = passage("still going\n[00:01:05] one\n[01:00:00] two", second=58)

    assert second_of(found, 0) == 58
    assert second_of(found, found.text.index("one")) == 65
    assert second_of(found, found.text.index("two")) == 3600
    assert second_of(passage("one"), 0) is None


@pytest.mark.parametrize("clause", ["ein Wort, ", "wort ", "蜜蜂跳舞，", "蜜蜂跳舞", "x"])
def test_a_long_sentence_is_bounded_whatever_it_is_made_of(clause):
    text = clause * 200
    [span] = spans_of(text)
    short = bounded(text, span, lambda _: False)

    assert 0 < len(short.text) <= LONGEST_QUOTE
    assert text[short.start : short.end] == short.text


def test_what_is_bounded_keeps_the_wanted_words():
    text = "word, " * 80 + "the needle is here, " + "word, " * 80
    [span] = spans_of(text)

    assert "needle" in bounded(text, span, lambda term: term == "needle").text


@pytest.mark.parametrize("text", ["Short.", "one " * 200, "\f\f", "—", "# Only a title", "a\fb"])
def test_an_opening_is_a_bounded_slice(text):
    found = opening(passage(text))

    assert text[found.start : found.end] == found.text
    assert len(found.text) <= LONGEST_QUOTE
    assert "\f" not in found.text


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("dance to show the way", "dance to\nshow the way"),
        ("ance to show the way", None),
        ("dance to show the wa", None),
        ("dance", None),
        ("way.\n\nThen they rest", "way.\n\nThen they rest"),
        ("rest. A page", None),
    ],
)
def test_words_are_found_sign_by_sign_but_for_white_space(words, found):
    span = find_exact("Bees dance to\nshow the way.\n\nThen they rest.\fA page.", words)

    assert (span.text if span else None) == found
