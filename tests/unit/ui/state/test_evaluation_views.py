from datetime import UTC, datetime

import pytest

from rag_app.evaluation import metrics
from rag_app.evaluation.golden import SET_NAME, GoldenQuestion, Place
from rag_app.evaluation.history import EvaluationRun
from rag_app.ui.state.evaluation_views import (
    CellView,
    ComparedView,
    DifferenceView,
    PlaceView,
    QuestionView,
    RunningView,
    compared_views,
    percent,
    question_view,
    read_place,
    result_view,
    run_view,
    running_view,
)

PLACE = Place(7, "On Bees", page=12, quote="They  dance.")
FOUND = dict.fromkeys(metrics.MEASURES, 0.5) | {
    "questions_without_hits": 1,
    "p50_ms": 6.25,
    "p95_ms": 140.0,
    "intervals": {measure: [0.25, 1.0] for measure in metrics.MEASURES},
}
GROUP = {
    "questions": 2,
    "configurations": {
        "hybrid": {"mrr@10": 1.0, "recall@10": 1.0},
        "text": {"mrr@10": 0.125, "recall@10": 0.5},
    },
}
REPORT = {
    "set": SET_NAME,
    "documents": 1,
    "questions": 2,
    "open_questions": ["Where?"],
    "embedding_model": "e5",
    "configurations": {"text": FOUND, "hybrid": {**FOUND, "mrr@10": 0.75}},
    "reference": "hybrid",
    "differences": {
        "text": {
            "mrr@10": {"mean": -0.25, "low": -0.5, "high": -0.125, "differing": 8},
            "recall@10": {"mean": 0.0, "low": -0.1, "high": 0.1},
        }
    },
    "by_language": {"de": GROUP, "unclear": GROUP},
    "by_kind": {"keywords": GROUP, "riddle": GROUP},
    "per_question": [
        {"id": "1", "question": "same", "ranks": {"text": 2, "hybrid": 2}},
        {"id": "2", "question": "near", "ranks": {"text": 2, "hybrid": 1}},
        {"id": "3", "question": "far", "ranks": {"text": None, "hybrid": 1}},
        {"id": "4", "question": "late", "ranks": {"text": 3, "hybrid": 18}},
    ],
}


def run(**values):
    fields = {
        "id": 3,
        "name": SET_NAME,
        "configurations": "hybrid,text",
        "status": "done",
        "step": "",
        "progress": 1.0,
        "error": None,
        "report": REPORT,
        "created_at": datetime(2026, 3, 4, 5, 6, tzinfo=UTC),
    }
    return EvaluationRun(**{**fields, **values})


def test_a_question_names_its_place():
    question = GoldenQuestion(1, "How?", "right", (PLACE,), is_usable=True)

    assert question_view(question, "de") == QuestionView(
        id=1,
        question="How?",
        verdict="right",
        verdict_text="Richtig",
        places=[PlaceView("On Bees", "S. 12", "They dance.", "/documents/7?page=12")],
        lacks="",
    )


@pytest.mark.parametrize(
    ("places", "words"),
    [((), "where does the answer stand"), ((PLACE,), "no longer in your library")],
)
def test_a_question_that_does_not_count_says_why(places, words):
    view = question_view(GoldenQuestion(1, "How?", "missing", places), "en")

    assert words in view.lacks


@pytest.mark.parametrize(
    ("at", "words", "place"),
    [
        ("12", "", Place(7, "Bees", page=12)),
        (" 3:41 ", "", Place(7, "Bees", second=221)),
        ("1:02:03", "so  they", Place(7, "Bees", second=3723, quote="so they")),
        ("", "some words", Place(7, "Bees", quote="some words")),
        ("", " ", None),
        ("0", "words", None),
        ("p. 3", "words", None),
        ("1:2:3:4", "", None),
        ("9999999", "", None),
        ("²", "", None),
    ],
)
def test_a_place_is_a_page_a_time_or_words(at, words, place):
    assert read_place({"at": at, "words": words}, 7, "Bees") == place


def test_a_run_that_goes_on_says_what_it_does():
    view = running_view(run(status="running", step="ask", progress=0.456), "en")

    assert view == RunningView(
        id=3,
        name="My questions",
        configurations="hybrid, text",
        text="Asking the questions …",
        percent=46,
    )
    assert running_view(run(step=""), "en").text == "Beginning …"
    assert running_view(None, "en") == RunningView()


def test_a_run_is_remembered_by_its_best_configuration():
    view = run_view(run(), "en")

    assert view.figures == "hybrid: mrr@10 75.0 · recall@10 50.0"
    assert view.name == "My questions"
    assert view.day.startswith("2026-03-0")
    failed = run_view(run(name="beir", status="failed", error="It broke.", report={}), "de")
    assert (failed.name, failed.status_text, failed.figures, failed.error) == (
        "beir",
        "Gescheitert",
        "",
        "It broke.",
    )


def test_the_figures_are_told_in_percent_with_their_intervals():
    view = result_view(3, REPORT, "en")

    assert (view.title, view.facts) == ("My questions", "2 questions · 1 document · e5")
    assert view.notes == ["1 question was left out: its place is not known."]
    text, hybrid = view.lines
    assert (text.is_reference, hybrid.is_reference) == (False, True)
    assert text.cells[0] == CellView("50.0", "25.0–100")
    assert (text.without, text.times) == ("1", ["6.2 ms", "140 ms"])


def test_a_difference_is_sure_where_its_interval_does_not_hold_0():
    assert result_view(3, REPORT, "en").differences == [
        DifferenceView(
            "text mrr@10", "text", "mrr@10", "−25.0", "−50.0 … −12.5", True, "told from chance"
        ),
        DifferenceView(
            "text recall@10", "text", "recall@10", "0.0", "−10.0 … +10.0", False, "may be chance"
        ),
    ]


def test_no_difference_at_all_is_called_so():
    none = dict.fromkeys(("mean", "low", "high"), 0.0)
    report = {**REPORT, "differences": {"text": {"mrr@10": none, "recall@10": none}}}
    view = result_view(3, report, "en").differences[0]

    assert (view.value, view.is_sure, view.told) == ("0.0", False, "no difference")


def test_groups_have_names_and_the_cells_of_each_configuration_in_order():
    view = result_view(3, REPORT, "en")

    assert view.names == ["text", "hybrid"]
    assert [group.name for group in view.languages] == ["German", "Unclear"]
    assert [group.name for group in view.kinds] == ["Few words", "riddle"]
    assert view.kinds[0].cells == ["12.5 / 50.0", "100 / 100"]


def test_what_the_database_shuffled_stands_in_order_again():
    groups = {"de": GROUP, "en": {**GROUP, "questions": 9}}
    view = result_view(3, {**REPORT, "order": ["hybrid", "text"], "by_language": groups}, "en")

    assert view.names == ["hybrid", "text"]
    assert [line.name for line in view.lines] == ["hybrid", "text"]
    assert [group.name for group in view.languages] == ["English", "German"]
    assert view.kinds[0].cells == ["100 / 100", "12.5 / 50.0"]


def test_questions_are_compared_by_rank_the_largest_difference_first():
    assert compared_views(REPORT, "text", "hybrid", "en") == [
        ComparedView("3", "far", "not found", "1", "second"),
        ComparedView("4", "late", "3", "18", "first"),
        ComparedView("2", "near", "2", "1", "second"),
    ]
    assert compared_views(REPORT, "text", "text", "en") == []


@pytest.mark.parametrize(("share", "text"), [(1, "100"), (0.9999, "100"), (0, "0.0")])
def test_a_share_is_told_with_one_decimal(share, text):
    assert percent(share) == text
