from dataclasses import replace

import pytest

from rag_app.query.pipeline import QueryOptions
from rag_app.query.results import Filters
from rag_app.ui.state.filter_state import is_id
from rag_app.ui.state.filter_views import (
    MOST,
    ChipView,
    Choices,
    chips,
    query_options,
    read_day,
    scope_line,
    toggled,
    with_document,
    without,
)

CHOSEN = Choices(
    source_types=("pdf",),
    languages=("de",),
    since="2026-01-03",
    until="2026-02-01",
    documents=((7, "On Bees"),),
    rerank=False,
    hypothetical=True,
)


def test_a_choice_is_added_taken_back_and_dropped_where_it_is_unknown():
    assert toggled((), "pdf", ["pdf"]) == ("pdf",)
    assert toggled(("pdf",), "pdf", []) == ()
    assert toggled(("pdf",), "'; drop table", ["pdf"]) == ("pdf",)


def test_what_is_chosen_stands_as_chips_and_each_chip_takes_it_back():
    shown = chips(CHOSEN, "en")
    left = CHOSEN
    for chip in shown:
        left = without(left, chip.key)

    assert [chip.text for chip in shown] == [
        "PDF",
        "German",
        "from 3 Jan 2026",
        "until 1 Feb 2026",
        "On Bees",
        "No reranking",
        "Imagined answer",
    ]
    assert ChipView("until", "bis 1.2.2026") in chips(CHOSEN, "de")
    assert left == Choices()


@pytest.mark.parametrize("key", ["", "words", "type", "step:filters", "document:x"])
def test_a_chip_that_is_none_takes_nothing_back(key):
    assert without(CHOSEN, key) == CHOSEN


@pytest.mark.parametrize("text", ["", "words", "2026-13-01", "0002-01-01", "9999-12-31"])
def test_a_day_that_is_none_is_dropped(text):
    assert read_day(text) == ""


def test_nothing_chosen_asks_as_always():
    assert query_options(Choices()) == QueryOptions()


def test_what_is_chosen_goes_with_the_question_the_last_day_as_a_whole():
    options = query_options(CHOSEN)
    filters = options.filters

    assert (options.rewrite, options.rerank, options.hypothetical) == (True, False, True)
    assert (filters.source_types, filters.languages) == (("pdf",), ("de",))
    assert filters.document_ids == (7,)
    assert filters.since is not None
    assert filters.until is not None
    assert (filters.until - filters.since).days == 30


def test_the_line_beside_an_answer_says_what_the_chips_said():
    filters = query_options(CHOSEN).filters

    assert scope_line(filters, {7: "On Bees"}, "en") == (
        "Searched: PDF, German, from 3 Jan 2026, until 1 Feb 2026, “On Bees”"
    )
    assert scope_line(Filters(), {}, "en") == ""


def test_no_more_than_fifty_documents_are_chosen_and_each_once():
    choices = Choices()
    for number in range(1, MOST + 10):
        choices = with_document(choices, number, f"Book {number}")

    assert len(choices.documents) == MOST
    again = with_document(replace(choices, documents=choices.documents[:3]), 2, "Renamed")
    assert again.documents == ((1, "Book 1"), (3, "Book 3"), (2, "Renamed"))


@pytest.mark.parametrize("value", [0, -1, 2**63, True, "7", None, 1.5])
def test_what_is_no_id_is_refused(value):
    assert not is_id(value)
