"""The strip of a document's pages: short, and what needs a look is never averaged away."""

from rag_app.ingestion.coverage import LONGEST_STRIP, coverage


def test_a_document_that_was_simply_read_has_no_strip() -> None:
    assert coverage(["text"] * 500) == {}
    assert coverage([]) == {}


def test_each_page_has_its_letter() -> None:
    found = coverage(["text", "ocr", "empty", "garbled", "failed"])

    assert found["strip"] == "toegf"
    assert found["coverage"] == {"text": 1, "ocr": 1, "empty": 1, "garbled": 1, "failed": 1}


def test_one_failed_page_among_thousands_is_seen() -> None:
    states = ["text"] * 3000
    states[1234] = "failed"

    strip = str(coverage(states)["strip"])

    assert len(strip) == LONGEST_STRIP
    assert strip.count("f") == 1
    assert strip.index("f") == 1234 * LONGEST_STRIP // 3000
