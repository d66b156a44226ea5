from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.query.context import build_context, estimate_tokens, plain_text, render_passage
from tests.support.passages import passage, slice_of

CONTENT = (
    "Bees dance to show the way. The dance has a direction. Its length tells how far. "
    "Other bees follow it. They leave the hive. They find the flowers. Then they come home."
)


def count_words(text: str) -> int:
    return len(text.split())


def texts(context) -> list[str]:
    return [found.text for found in context.passages]


def test_passages_keep_their_order_so_the_first_is_marker_one():
    passages = [passage(f"Text of {name}.", document_id=n) for n, name in enumerate("xyz", 1)]

    assert texts(build_context(passages)) == ["Text of x.", "Text of y.", "Text of z."]


def test_overlapping_neighbours_become_one_slice_of_the_content():
    first = slice_of(CONTENT, 0, 80, chunk_id=1, page=1, score=0.4, distance=0.3)
    second = slice_of(CONTENT, 55, 140, chunk_id=2, page=2, score=0.9, distance=0.2)
    other = passage("Ants march.", document_id=2)
    context = build_context([second, other, first])

    assert texts(context) == [CONTENT[0:140], "Ants march."]
    joined = context.passages[0]
    assert (joined.start, joined.end, joined.page, joined.chunk_id) == (0, 140, 1, 1)
    assert (joined.score, joined.distance) == (0.9, 0.2)


def test_neighbours_that_touch_become_one():
    context = build_context([slice_of(CONTENT, 0, 60), slice_of(CONTENT, 60, 100)])

    assert texts(context) == [CONTENT[:100]]


def test_a_passage_that_closes_a_gap_joins_all_three():
    parts = [slice_of(CONTENT, 0, 50), slice_of(CONTENT, 90, 150), slice_of(CONTENT, 40, 100)]

    assert texts(build_context(parts)) == [CONTENT[:150]]


def test_passages_apart_or_of_other_versions_stay_apart():
    apart = [slice_of(CONTENT, 0, 50), slice_of(CONTENT, 60, 100)]
    versions = [slice_of(CONTENT, 0, 50), slice_of(CONTENT, 40, 100, document_id=2)]

    assert len(build_context(apart).passages) == 2
    assert len(build_context(versions).passages) == 2


def test_offsets_that_do_not_fit_the_text_are_not_joined():
    wrong = replace(slice_of(CONTENT, 40, 100), start=45, end=105)

    assert len(build_context([slice_of(CONTENT, 0, 50), wrong]).passages) == 2


def test_a_passage_inside_another_adds_nothing():
    context = build_context([slice_of(CONTENT, 10, 50), slice_of(CONTENT, 0, 100)])

    assert texts(context) == [CONTENT[:100]]


def test_a_near_copy_in_another_document_is_dropped():
    copy = passage(CONTENT.replace("Then they", "Later they"), document_id=2)

    assert len(build_context([passage(CONTENT), copy]).passages) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Sensor A takes 20 degrees in summer.", "Sensor A takes 25 degrees in summer."),
        ("Error ERR_4012-A: restart it and wait.", "Error ERR_4012-B: restart it and wait."),
    ],
)  # fmt: skip
def test_records_that_differ_in_a_number_are_no_copies(first, second):
    assert len(build_context([passage(first), passage(second, document_id=2)]).passages) == 2


def test_copies_are_known_in_text_without_spaces():
    text = "蜜蜂跳舞是为了指路。舞蹈有方向，长度说明距离。其他蜜蜂跟着它飞出蜂巢。"
    copy = passage(text.replace("其他", "别的"), document_id=2)

    assert len(build_context([passage(text), copy]).passages) == 1


def test_what_does_not_fit_makes_way_for_something_smaller():
    passages = [
        passage("one " * 20, document_id=1),
        passage("two " * 40, document_id=2),
        passage("three " * 5, document_id=3),
    ]
    context = build_context(passages, budget=45, count_tokens=count_words)

    assert [found.document_id for found in context.passages] == [1, 3]
    assert context.tokens == sum(
        count_words(render_passage(found, n)) for n, found in enumerate(context.passages, 1)
    )


def test_a_first_passage_beyond_the_budget_is_cut_at_a_sentence():
    context = build_context([passage(CONTENT)], budget=18, count_tokens=count_words)

    assert texts(context) == ["Bees dance to show the way. The dance has a direction."]
    assert context.passages[0].end == len(context.passages[0].text)


def test_a_budget_too_small_for_a_sentence_holds_nothing():
    assert build_context([passage(CONTENT)], budget=2).passages == ()
    assert build_context([]).passages == ()


@given(
    st.lists(
        st.tuples(st.integers(0, len(CONTENT) - 1), st.integers(1, 90)), min_size=1, max_size=8
    ),
    st.integers(5, 120),
)
def test_whatever_is_joined_or_cut_each_text_is_its_slice(slices, budget):
    passages = [
        slice_of(CONTENT, start, min(start + length, len(CONTENT)), chunk_id=n)
        for n, (start, length) in enumerate(slices)
    ]
    context = build_context(passages, budget=budget, count_tokens=count_words)

    for found in context.passages:
        assert found.text == CONTENT[found.start : found.end]
    assert context.tokens <= budget
    ordered = sorted(context.passages, key=lambda found: found.start)
    assert all(first.end < second.start for first, second in pairwise(ordered))


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 1),
        ("word " * 100, 100, 150),
        ("蜜蜂跳舞" * 25, 110, 160),
        ("النحل يرقص " * 20, 100, 210),
        ("Пчёлы танцуют " * 20, 130, 290),
        ("🐝" * 10, 15, 25),
    ],
)
def test_tokens_are_estimated_high_in_every_script(text, least, most):
    assert least <= estimate_tokens(text) <= most


def test_the_model_sees_neither_time_marks_nor_foreign_markers():
    text = "[00:01:05] We dance [3, 4].\n[00:01:09] We rest [^2].\fPage [x]."

    assert plain_text(text) == "We dance (3, 4).\nWe rest (^2).\n\nPage [x]."
