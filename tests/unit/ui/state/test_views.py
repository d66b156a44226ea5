from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.library.conversations import TurnRecord
from rag_app.library.documents import DocumentSummary
from rag_app.ui.state.views import (
    clock,
    document_href,
    document_view,
    notice_text,
    shorten,
    source_place,
    turn_places,
    turn_view,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PASSAGE = {
    "document_id": 7,
    "version_id": 9,
    "title": "On Bees",
    "uri": "upload:1",
    "source_type": "pdf",
    "heading": None,
    "text": "Bees shiver. They keep warm.",
    "start": 100,
    "end": 128,
    "page": 12,
    "second": None,
}


def turn(**values):
    values = {"status": "done", "answer": "Bees shiver [1].", "citations": []} | values
    defaults = {
        "id": 3,
        "conversation_id": 1,
        "ordinal": 1,
        "question": "How?",
        "standalone_question": "How?",
        "error": None,
        "abstained": False,
        "unsupported": [],
        "passages": [PASSAGE],
        "snapshot": 1,
        "created_at": NOW,
    }
    return TurnRecord(**(defaults | values))


def document(**values):
    defaults = {
        "id": 7,
        "title": "On Bees",
        "uri": "upload:1",
        "source_type": "pdf",
        "status": "ready",
        "step": "",
        "progress": 1.0,
        "error": None,
        "unchanged": False,
        "created_at": NOW,
        "updated_at": NOW,
        "version_id": 9,
        "pages": 3,
        "seconds": None,
        "chunks": 4,
        "warnings": (),
    }
    return DocumentSummary(**(defaults | values))


CITATION = {
    "marker": 2,
    "document_id": 7,
    "version_id": 9,
    "quote": "They keep warm.",
    "start": 113,
    "end": 128,
    "page": 13,
    "second": None,
    "passage": PASSAGE,
}


def test_a_note_is_cited_under_the_heading_above_the_quote_not_above_the_passage():
    text = "Made of straw.\n\n## Wax\n\nIt is warm."
    passage = PASSAGE | {"text": text, "heading": "Hives", "source_type": "markdown", "page": None}

    def place(words):
        start = 100 + text.index(words)
        at = {"quote": words, "start": start, "end": start + len(words), "page": None}
        [found] = turn_places(turn(citations=[CITATION | at | {"passage": passage}]), "en")
        return found.source.place

    assert [place("straw"), place("warm")] == ["Hives", "Wax"]


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "00:00"), (221, "03:41"), (3723, "1:02:03"), (-5, "00:00")]
)
def test_a_second_is_shown_as_a_player_shows_it(seconds, shown):
    assert shown == clock(seconds)


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ({"page": 12, "second": None, "heading": "Bees", "uri": "upload:1"}, "S. 12"),
        (
            {"page": 3, "second": None, "heading": None, "uri": "x", "source_type": "slides"},
            "Folie 3",
        ),
        ({"page": None, "second": 221, "heading": None, "uri": "https://y.org/v"}, "03:41"),
        ({"page": None, "second": None, "heading": "X", "uri": "https://www.a.org/b"}, "a.org"),
        ({"page": None, "second": None, "heading": "Winter", "uri": "upload:1"}, "Winter"),
        ({"page": None, "second": None, "heading": None, "uri": "upload:1"}, ""),
    ],
)
def test_a_place_is_named_in_a_few_signs(place, shown):
    assert shown == source_place("de", **{"source_type": "pdf", **place})


def test_a_link_to_a_document_names_the_place_and_the_words_to_mark():
    href = document_href(7, page=12, second=None, start=4, end=9)

    assert href == "/documents/7?page=12&start=4&end=9"


@given(st.text(), st.integers(1, 50))
def test_a_shortened_text_is_one_line_and_no_longer_than_asked(text, limit):
    short = shorten(text, limit)

    assert len(short) <= limit + len(" …")
    assert "\n" not in short


def test_a_finished_turn_shows_what_it_cites_and_not_what_was_found():
    (place,) = turn_places(turn(citations=[CITATION]), "en")

    assert (
        place.source.marker,
        place.source.place,
        place.source.excerpt,
    ) == (2, "p. 13", "They keep warm.")
    assert (place.version_id, place.start, place.end) == (9, 113, 128)


@pytest.mark.parametrize("status", ["running", "stopped", "failed", "interrupted"])
def test_a_turn_that_did_not_finish_shows_what_was_found(status):
    (place,) = turn_places(turn(status=status), "en")

    assert (place.source.marker, place.source.place) == (1, "p. 12")


def test_an_answer_that_abstains_shows_what_came_nearest_and_why_there_is_none():
    options = {
        "filters": {
            "source_types": ["pdf"],
            "document_ids": [7, 8],
            "languages": ["de"],
            "since": None,
            "until": None,
        }
    }
    found = {
        "notice": "model_changed",
        "absence": {"words": ["Fuji"], "searched": {"pdf": 2, "markdown": 1}},
        "options": options,
        "documents": {"7": "On Bees"},
    }
    record = turn(abstained=True, citations=[CITATION], found=found)

    view = turn_view(record, turn_places(record, "en"), "en")

    assert view.sources == []
    assert [source.place for source in view.nearest] == ["p. 12"]
    assert view.missing == ["Fuji"]
    assert view.searched == "3 documents were searched (PDF 2, Note 1)."
    assert view.scope == "Searched: PDF, German, “On Bees”, a removed document"
    assert view.notice.startswith("The library was prepared with another model")
    assert view.notice_href == "/library"


def test_a_notice_is_a_sentence_and_never_a_code():
    assert notice_text("", "en") == notice_text("a code of tomorrow", "en") == ""
    assert "model_failed" not in notice_text("model_failed: no route to host", "en")
    assert notice_text("model_failed: no route to host", "en").endswith("words only.")


def test_a_heading_that_only_repeats_the_title_is_no_place():
    note = PASSAGE | {"source_type": "markdown", "page": None, "heading": "On Bees"}
    (place,) = turn_places(turn(status="stopped", passages=[note]), "en")

    assert place.source.place == ""


def test_a_turn_carries_its_sources_to_the_page():
    record = turn(citations=[CITATION], unsupported=["So they say."])
    view = turn_view(record, turn_places(record, "en"), "en")

    assert (
        view.status,
        view.unsupported,
        [source.marker for source in view.sources],
    ) == ("done", ["So they say."], [2])


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"status": "queued"}, "Waiting for its turn"),
        ({"status": "running", "step": "embed"}, "Learning what it is about"),
        ({"status": "running", "step": "a step of tomorrow"}, "Working"),
        ({"status": "failed"}, "Failed"),
        ({"status": "cancelled"}, "Cancelled"),
        ({"status": "ready", "unchanged": True}, "Already in your library"),
    ],
)
def test_what_happens_to_a_document_is_said_in_plain_words(values, text):
    assert text == document_view(document(**values), "en").status_text


def test_a_document_in_work_tells_whole_percents_within_bounds():
    assert [
        document_view(document(status="running", progress=progress), "en").percent
        for progress in (-1, 0.42, 7)
    ] == [0, 42, 100]


def test_what_is_short_about_a_ready_document_is_shown_with_it():
    view = document_view(document(warnings=("Page 3 is empty.",)), "en")

    assert (view.facts, view.error) == ("PDF · 3 pages", "Page 3 is empty.")


def test_a_waiting_file_is_shown_as_what_its_name_says():
    assert [
        document_view(document(title=title, source_type="", pages=None), "en").kind
        for title in ("a.PDF", "b.md", "c.xyz")
    ] == ["pdf", "markdown", ""]
