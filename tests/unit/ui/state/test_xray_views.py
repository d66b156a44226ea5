import pytest

from rag_app.query.bm25 import Term
from rag_app.query.turn_log import CUT_BY, Fate
from rag_app.query.whereabouts import Stage, Whereabouts
from rag_app.query.xray import Place, Row, Xray
from rag_app.ui.state.xray_views import (
    LISTS,
    MOST_ROWS,
    TIMES,
    BarView,
    RowView,
    TermView,
    bar_views,
    duration,
    open_places,
    row_view,
    row_views,
    term_views,
    why_views,
    xray_view,
)
from rag_app.ui.texts import TEXTS, say

PLACE = Place(
    5,
    7,
    "On Bees",
    "pdf",
    page=3,
    words="# Dance They dance.",
    state="here",
    version_id=9,
    start=10,
    end=40,
)
FATE = Fate(
    5, vector_rank=2, cosine=0.8125, fused_rank=4, score=1.5, kept_rank=3, judged_rank=9,
    cut_by="rerank",
)  # fmt: skip


def test_a_row_tells_its_place_its_ranks_and_what_cut_it():
    assert row_view(4, Row(PLACE, FATE), "en") == RowView(
        id=5,
        rank=4,
        kind="pdf",
        title="On Bees",
        place="p. 3",
        words="Dance They dance.",
        ranks=["meaning 2 · 0.81", "fused 4 · 1.50", "diverse 3", "reranked 9"],
        number=0,
        fell="The rerank put it behind those kept.",
        can_open=True,
    )


def test_a_row_of_a_removed_document_says_so_and_opens_nothing():
    gone = Row(Place(6, 8, "Old Bees", page=1), Fate(6, fused_rank=1, score=1.0, number=2))
    row = row_view(1, gone, "en")

    assert (row.title, row.fell, row.number, row.can_open) == (
        "Old Bees",
        "No longer in your library.",
        2,
        False,
    )
    assert open_places([gone.place, PLACE], "en").keys() == {5}


def test_what_opens_is_the_whole_passage():
    place = open_places([PLACE], "en")[5]

    assert (place.version_id, place.start, place.end) == (9, 10, 40)
    assert place.source.href == "/documents/7?page=3&start=10&end=40"


def test_no_list_is_longer_than_fifty_rows():
    assert len(row_views([Row(PLACE, FATE)] * (MOST_ROWS + 30), "en")) == MOST_ROWS


def test_words_stand_by_language_the_rarest_first_and_the_unknown_apart():
    terms = [
        Term("english", "bee", 7, 0.5),
        Term("english", "waggl", 1, 2.0),
        Term("english", "fuji", 0, 3.0),
        Term("german", "bees", 0, 3.0),
    ]
    [english] = term_views(terms, "de")

    assert english.language == "Englisch"
    assert english.known == [
        TermView("waggl", "in 1 Stelle", 100),
        TermView("bee", "in 7 Stellen", 25),
    ]
    assert english.unknown == ["fuji"]


@pytest.mark.parametrize(
    ("milliseconds", "text"), [(0.04, "0.0 ms"), (12.3, "12 ms"), (3140, "3.1 s")]
)
def test_a_time_has_few_figures(milliseconds, text):
    assert duration(milliseconds) == text


def test_bars_come_in_the_order_of_the_steps():
    assert bar_views({"total": 200.0, "embed": 50.0}, "en") == [
        BarView("Embed", "50 ms", 25),
        BarView("In all", "200 ms", 100),
    ]
    assert bar_views({}, "en") == []


def test_the_page_has_a_text_for_every_rule_stage_list_and_time():
    wanted = [
        *(f"cut_{rule}" for rule in CUT_BY),
        *(f"stage_{stage}" for stage in Stage.__args__),
        *(f"list_{name}" for name in LISTS),
        *(f"time_{name}" for name in TIMES),
    ]

    assert [key for key in wanted if key not in TEXTS] == []


def test_why_a_place_is_missing_is_said_in_short_and_in_full():
    found = [Whereabouts(PLACE, "filters", "The question was kept to pdf.")]
    [view] = why_views(found, "en")

    assert (view.stage, view.reason, view.is_found, view.can_open) == (
        say("stage_filters", "en"),
        "The question was kept to pdf.",
        False,
        True,
    )
    [nowhere] = why_views([Whereabouts(Place(None), "unknown", "No such page.")], "en")
    assert (nowhere.id, nowhere.place, nowhere.can_open) == (0, "", False)


def test_the_head_tells_the_question_and_how_long_each_list_is():
    rows = {name: (Row(PLACE, FATE),) for name in LISTS}
    found = Xray(
        question="Which dance?",
        snapshot=4,
        embedding_model="m",
        notice="model_changed",
        required="",
        hypothetical="They dance.",
        answered_by="model",
        rerank_method="none",
        rerank_error=None,
        context_tokens=80,
        options={},
        terms=(),
        timings_ms={},
        **rows,
    )
    view = xray_view(found, "en")

    assert view.facts == "Snapshot 4 · m · 80 tokens of context"
    assert view.notice == say("model_changed", "en")
    assert view.reranked == "Nothing was reranked."
    assert [(tab.key, tab.count) for tab in view.tabs] == [(name, 1) for name in LISTS]
