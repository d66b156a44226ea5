import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.query.markers import MarkerFilter, find_markers, normalise_markers, strip_markers

FORMS = [
    ("Plain [1].", "Plain [1]."),
    ("Two [1][2].", "Two [1] [2]."),
    ("Two [1] [2].", "Two [1] [2]."),
    ("A list [1, 2].", "A list [1] [2]."),
    ("Tight [1,2].", "Tight [1] [2]."),
    ("Semicolon [1; 3].", "Semicolon [1] [3]."),
    ("In words [1 and 2] [2 und 3].", "In words [1] [2] [3]."),
    ("A range [1-3].", "A range [1] [2] [3]."),
    ("A dash [1\u20133].", "A dash [1] [2] [3]."),
    ("Wide \u30101\u3011.", "Wide [1]."),
    ("Dagger \u30102\u2020source\u3011.", "Dagger [2]."),
    ("Dagger \u30102:\u3011 stays.", "Dagger \u30102:\u3011 stays."),
    ("Full width \uff3b1\uff3d.", "Full width [1]."),
    ("Footnote [^1].", "Footnote [1]."),
    ("Footnotes [^1, ^2].", "Footnotes [1] [2]."),
    ("Named [Passage 2] [source: 1].", "Named [2] [1]."),
    ("Labelled [P3].", "Labelled [3]."),
    ("Spaced [ 1 ].", "Spaced [1]."),
    ("Linked [1](https://example.org/x) on.", "Linked [1] on."),
    ("Wide link \u30101\u3011(https://example.org) on.", "Wide link [1] on."),
    ("Linked [1](/documents/7?page=2).", "Linked [1]."),
    ("Aside [1](see below).", "Aside [1](see below)."),
    ("None [9].", "None."),
    ("None [9] between.", "None between."),
    ("One of two [1, 9].", "One of two [1]."),
    ("One of two [9][1].", "One of two [1]."),
    ("A year [2019].", "A year [2019]."),
    ("Twice [1][1].", "Twice [1]."),
    ("Zero [0].", "Zero."),
    ("The interval [0, 1] stays.", "The interval [0, 1] stays."),
    ("A list:\n[7] first\n- [8] next\n[1] last", "A list:\nfirst\n- next\n[1] last"),
    ("[9] at the start.", "at the start."),
    ("Code `a[9]` stays.", "Code `a[9]` stays."),
    ("```\nx[9] = y[1, 2]\n```\nBut [9] goes.", "```\nx[9] = y[1, 2]\n```\nBut goes."),
    ("Math \\[9\\] stays.", "Math \\[9\\] stays."),
    (
        "A task [x] and a [link](https://example.org).",
        "A task [x] and a [link](https://example.org).",
    ),
    ("\u4e8b\u5b9e\u30101\u3011\u3002", "\u4e8b\u5b9e[1]\u3002"),
    ("\u062d\u0642\u064a\u0642\u0629 [1]\u061f", "\u062d\u0642\u064a\u0642\u0629 [1]\u061f"),
    ("Cut [1", "Cut [1"),
    ("Trailing space ", "Trailing space "),
    ("", ""),
]


@pytest.mark.parametrize(("raw", "clean"), FORMS)
def test_each_form_becomes_the_normal_one_or_goes(raw, clean):
    assert normalise_markers(raw, 3) == clean


@pytest.mark.parametrize(("raw", "clean"), FORMS)
def test_a_stream_of_single_signs_gives_the_same_text(raw, clean):
    marker_filter = MarkerFilter(3)
    streamed = "".join(marker_filter.feed(sign) for sign in raw) + marker_filter.finish()

    assert streamed == clean


@given(
    st.lists(st.sampled_from([raw for raw, _ in FORMS]), max_size=4),
    st.lists(st.integers(1, 12), min_size=1, max_size=80),
)
def test_where_a_stream_is_cut_makes_no_difference(texts, sizes):
    text = " ".join(texts)
    marker_filter = MarkerFilter(3)
    pieces = []
    place = 0
    for size in [*sizes, len(text)]:
        pieces.append(marker_filter.feed(text[place : place + size]))
        place += size
    pieces.append(marker_filter.finish())

    assert "".join(pieces) == normalise_markers(text, 3)


@pytest.mark.parametrize(("raw", "clean"), FORMS)
def test_cleaning_twice_changes_nothing(raw, clean):
    assert normalise_markers(clean, 3) == clean


def test_a_marker_cut_between_pieces_never_shows_in_part():
    marker_filter = MarkerFilter(2)
    shown = [marker_filter.feed(piece) for piece in ["So it is [", "1", "2", "] and so [", "1]."]]

    assert [*shown, marker_filter.finish()] == ["So it is", "", "", " and so", " [1].", ""]


def test_text_without_brackets_is_passed_on_at_once():
    marker_filter = MarkerFilter(2)

    assert marker_filter.feed("Every word") == "Every word"
    assert marker_filter.feed(" at once") == " at once"


def test_markers_are_listed_once_in_order():
    assert find_markers("b [2] a [1] b [2]") == [2, 1]


def test_stripping_leaves_the_words_alone():
    assert strip_markers("It is so [1], really [2, 3]. Yes [4]") == "It is so, really. Yes"
