from hypothesis import given
from hypothesis import strategies as st

from rag_app.library.evidence import Version, build_evidence
from rag_app.ui.state.evidence_views import evidence_view, find_stretch, gone_view, with_stretch
from rag_app.ui.state.views import Place, SourceView

CONTENT = "First page.\fSecond page speaks. It goes on.\fThird."


def version(source_type, **values):
    defaults = {
        "id": 9,
        "document_id": 7,
        "content": CONTENT,
        "language": "english",
        "page_count": 3,
        "duration_seconds": None,
        "extraction": {},
        "file_key": "k.pdf",
        "title": "On Bees",
        "uri": "upload:1",
        "source_type": source_type,
    }
    return Version(**(defaults | values))


def test_a_place_whose_document_is_gone_still_shows_the_words():
    source = SourceView(2, "p. 13", "On Bees", "pdf", "They keep warm.", "/documents/7?page=13")
    view = gone_view(Place(None, 113, 128, source, "They keep warm."), "It is gone.")

    assert (view.quote, view.problem, view.href) == ("They keep warm.", "It is gone.", "")


def test_a_quote_in_a_pdf_opens_as_its_page():
    start = CONTENT.index("Second")
    view = evidence_view(build_evidence(version("pdf"), start, start + 19), "en")

    assert (
        view.kind,
        view.page,
        view.page_count,
        view.quote,
    ) == ("page", 2, 3, "Second page speaks.")


def test_a_quote_in_a_video_opens_with_its_second_and_the_lines_around():
    content = "[00:00:00] Hello.\n[00:01:35] Now the point.\n"
    row = version(
        "youtube", content=content, page_count=None, uri="https://www.youtube.com/watch?v=abc-_1"
    )
    start = content.index("Now")
    view = evidence_view(build_evidence(row, start, start + 14), "en")

    assert (view.kind, view.video_id, view.second, view.time) == ("video", "abc-_1", 95, "01:35")
    assert [line.is_marked for line in view.lines] == [False, True]


@given(st.text(alphabet="ab \n\f", max_size=400), st.integers(0, 400), st.integers(0, 60))
def test_a_stretch_holds_the_place_it_was_opened_at(content, start, length):
    start = min(start, len(content))
    end = min(start + length, len(content))
    first, last = find_stretch(content * 90, start, end)

    assert 0 <= first <= start <= end <= last <= len(content * 90)


def test_a_place_without_words_to_mark_stands_first():
    content = "\f".join(f"Slide {number}. " + "word " * 200 for number in range(40))
    start = content.index("Slide 30.")

    assert find_stretch(content, start, start, lead=0)[0] == start


def test_reading_on_from_stretch_to_stretch_shows_the_whole_text():
    content = "\n\n".join(f"Paragraph {number}. " + "word " * 80 for number in range(200))
    read, last = "", 0
    while last < len(content):
        first, last = find_stretch(content, last, last)
        read = read[:first] + content[first:last]

    assert content == read


def test_a_stretch_keeps_the_quote_and_draws_a_rule_between_pages():
    start = CONTENT.index("Second")
    view = evidence_view(build_evidence(version("slides"), start, start + 19), "en")
    view = with_stretch(view, CONTENT, 0, len(CONTENT))

    assert view.before == "First page.\n\n---\n\n"
    assert view.quote == "Second page speaks."
    assert view.after == " It goes on.\n\n---\n\nThird."
