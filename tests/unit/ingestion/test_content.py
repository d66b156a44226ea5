from hypothesis import given
from hypothesis import strategies as st

from rag_app.ingestion.content import Locator, LocatorIndex, clean
from rag_app.marks import TIME_MARK, find_headings, time_mark

pages = st.lists(st.text().map(clean), min_size=1)


def test_cleaning_removes_what_the_conventions_reserve() -> None:
    dirty = "a\x00b\r\nc\rd\fe\n[00:10:00] spoken\u2028f\ufeff\ud800"

    assert clean(dirty) == "ab\nc\nd\ne\n00:10:00 spoken\nf\ufffd"


@given(st.text(alphabet=st.characters()))
def test_clean_text_can_be_stored_and_holds_no_marks(text: str) -> None:
    cleaned = clean(text)

    assert "\f" not in cleaned
    assert "\x00" not in cleaned
    assert not TIME_MARK.search(cleaned)
    assert cleaned == clean(cleaned)
    cleaned.encode()


@given(pages)
def test_every_offset_lies_on_the_page_that_splitting_gives(texts: list[str]) -> None:
    content = "\f".join(texts)
    index = LocatorIndex(content, "pdf")
    offset = 0
    for number, text in enumerate(content.split("\f"), 1):
        assert {number} == {index.at(place).page for place in range(offset, offset + len(text) + 1)}
        offset += len(text) + 1


def test_a_second_is_that_of_the_mark_before() -> None:
    content = "[00:00:05] one\n[01:02:03] two"
    index = LocatorIndex(content, "youtube")

    assert [index.at(content.index(part)).second for part in ("[00", "one", "[01", "two")] == [
        5,
        5,
        3723,
        3723,
    ]


@given(st.integers(0, 999 * 3600))
def test_a_time_mark_is_read_as_it_was_written(second: int) -> None:
    assert second == LocatorIndex(time_mark(second) + "x", "youtube").at(12).second


def test_a_heading_holds_for_all_below_it_and_none_above() -> None:
    content = "intro\n\n# Bees ##\n\ntext\n\n## The **dance**\nmore"
    index = LocatorIndex(content, "markdown")

    assert [Locator(), Locator(heading="Bees"), Locator(heading="The dance")] == [
        index.at(content.index(part)) for part in ("intro", "text", "more")
    ]


def test_headings_in_fenced_code_are_code() -> None:
    content = "# A\n```sh\n# not one\n````\n~~~\n# nor this\n```\n~~~\n# B\n#hash\n"

    assert [title for _, _, title in find_headings(content)] == ["A", "B"]


def test_a_long_text_is_cleaned_as_a_short_one() -> None:
    line = "[00:00:01] said\x00 here\r\n"

    assert clean(line * 100_000) == clean(line) * 100_000
    assert clean("x\x00" * 1_500_000) == "x" * 1_500_000
