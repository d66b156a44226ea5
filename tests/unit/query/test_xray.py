from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.errors import NotFoundError
from rag_app.providers.base import Provider
from rag_app.providers.fake import FakeEmbedder, FakeReranker
from rag_app.query.context import PackedPassage, build_context, pack_context
from rag_app.query.reranking import rerank
from rag_app.query.results import Filters
from rag_app.query.turn_log import CUT_BY, read_fates, read_filters, read_terms
from tests.support.passages import passage, slice_of

CONTENT = (
    "Bees dance to show the way. The dance has a direction. Its length tells how far. "
    "Other bees follow it. They leave the hive. They find the flowers. Then they come home."
)


def count_words(text: str) -> int:
    return len(text.split())


def log(**values: Any) -> dict[str, Any]:
    """Return the log of a turn in which chunks 1 and 2 were found by both legs and shown."""
    options = {"fusion": "calibrated", "text_weight": 0.5, "candidates": 2, "passages": 2}
    return {
        "options": options | values.pop("options", {}),
        "required": "",
        "vector_leg": [[1, 0.9], [2, 0.8]],
        "text_leg": [[2, 6.0, 0.6], [1, 4.0, 0.4]],
        "fused": [[1, 1.6, 0.9, 0.4], [2, 1.5, 0.8, 0.6]],
        "kept": [1, 2],
        "rerank": {"method": "none", "error": None, "order": [1, 2]},
        "packing": [
            {"chunk_id": 1, "rule": "kept", "number": 1},
            {"chunk_id": 2, "rule": "kept", "number": 2},
        ],
        "places": [],
    } | values


def test_a_fate_has_the_rank_and_score_of_each_stage():
    fate = read_fates(log())[2]

    assert (fate.vector_rank, fate.cosine) == (2, 0.8)
    assert (fate.text_rank, fate.bm25, fate.share) == (1, 6.0, 0.6)
    assert (fate.fused_rank, fate.score, fate.vector_part, fate.text_part) == (2, 1.5, 1.2, 0.3)
    assert (fate.kept_rank, fate.judged_rank, fate.number, fate.cut_by) == (2, 2, 2, None)
    assert fate.packing == PackedPassage(2, "kept", number=2)


THIRD = {"vector_leg": [[1, 0.9], [2, 0.8], [3, 0.7]]}
FUSED = [[1, 1.6, 0.9, 0.4], [2, 1.5, 0.8, 0.6], [3, 1.4, 0.7, 0.0]]
JUDGED = {"fused": FUSED, "kept": [1, 2, 3], "options": {"candidates": 3}}


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        ("required", {"required": '"a phrase"'}),
        ("removed", {}),
        ("fusion", {"options": {"fusion": "text"}}),
        ("candidates", {"fused": FUSED}),
        ("diversity", {"fused": FUSED, "options": {"candidates": 3}}),
        ("rerank", JUDGED | {"rerank": {"method": "listwise", "error": None, "order": [1, 2, 3]}}),
        ("passages", JUDGED | {"rerank": {"method": "none", "error": None, "order": [1, 2, 3]}}),
        ("passages", JUDGED | {"rerank": {"method": "listwise", "error": "x", "order": [1, 2, 3]}}),
        ("removed", JUDGED),
        (
            "copy",
            JUDGED
            | {
                "options": {"candidates": 3, "passages": 3},
                "rerank": {"method": "none", "error": None, "order": [1, 2, 3]},
                "packing": [{"chunk_id": 3, "rule": "copy", "beside": 1}],
            },
        ),
        (
            "budget",
            JUDGED
            | {
                "options": {"candidates": 3, "passages": 3},
                "rerank": {"method": "none", "error": None, "order": [1, 2, 3]},
                "packing": [{"chunk_id": 3, "rule": "budget", "tokens": 9, "left": 2}],
            },
        ),
    ],
)
def test_what_falls_out_names_the_rule(rule: str, values: dict[str, Any]):
    fate = read_fates(log(**THIRD | values))[3]

    assert fate.cut_by == rule
    assert rule in CUT_BY


def test_a_text_hit_below_the_gate_is_not_counted():
    found = log(text_leg=[[3, 2.0, 0.2]], options={"fusion": "gated-rrf"})

    assert read_fates(found)[3].cut_by == "fusion"
    assert read_fates(log(**found | {"text_leg": [[3, 2.0, 0.7]]}))[3].cut_by == "removed"


def test_the_parts_of_a_rank_fusion_are_those_of_each_leg():
    score = round(1 / 61 + 1 / 62, 5)
    fused = [[1, score, 0.9, 0.4]]
    fate = read_fates(log(fused=fused, options={"fusion": "rrf"}))[1]

    assert (fate.vector_part, fate.text_part) == (round(1 / 61, 5), round(1 / 62, 5))


def test_a_search_without_an_answer_ends_with_what_was_kept():
    found = log()
    del found["rerank"], found["packing"]
    fate = read_fates(found)[1]

    assert (fate.kept_rank, fate.judged_rank, fate.number, fate.cut_by) == (1, None, None, None)


def test_a_log_that_holds_too_little_is_refused():
    with pytest.raises(NotFoundError):
        read_fates({"vector_leg": [], "text_leg": []})


def test_terms_come_back_with_the_statistics_they_had():
    found = read_terms(
        {"terms": {"english": {"chunks": 9, "average_lexemes": 4.5, "lexemes": [["bee", 2, 1.25]]}}}
    )

    [term] = found.terms["english"]
    assert (term.language, term.lexeme, term.documents, term.idf) == ("english", "bee", 2, 1.25)
    assert (found.chunks, found.average_lexemes) == ({"english": 9}, {"english": 4.5})


def test_filters_come_back_from_plain_values():
    since = datetime(2026, 1, 2, tzinfo=UTC)
    plain = {"source_types": ["pdf"], "document_ids": [7], "since": since.isoformat()}

    assert read_filters({"options": {"filters": plain | {"until": None}}}) == Filters(
        source_types=("pdf",), document_ids=(7,), since=since
    )


def test_packing_says_what_became_of_each_passage():
    first = slice_of(CONTENT, 0, 80, chunk_id=1)
    copy = passage(CONTENT[:80], chunk_id=2, document_id=2, title="A title again")
    late = slice_of(CONTENT, 55, 120, chunk_id=3)
    large = passage(" ".join(map(str, range(60))), chunk_id=4, document_id=3)
    packing = pack_context([first, copy, large, late], budget=60, count_tokens=count_words)

    assert [(fate.chunk_id, fate.rule, fate.beside, fate.number) for fate in packing.passages] == [
        (1, "kept", None, 1),
        (2, "copy", 1, None),
        (4, "budget", None, None),
        (3, "joined", 1, 1),
    ]
    over = packing.passages[2]
    assert over.tokens > over.left > 0


def test_packing_says_that_the_first_was_cut():
    [fate] = pack_context(
        [passage(CONTENT, chunk_id=5)], budget=18, count_tokens=count_words
    ).passages

    assert (fate.rule, fate.number) == ("cut", 1)


def test_a_passage_that_closes_a_gap_takes_both_neighbours_along():
    parts = [
        slice_of(CONTENT, start, end, chunk_id=n)
        for n, (start, end) in enumerate([(0, 50), (90, 140), (40, 100)], start=1)
    ]
    other = passage("Ants march in line.", chunk_id=9, document_id=2)
    packing = pack_context([other, *parts])

    numbers = {fate.chunk_id: fate.number for fate in packing.passages}
    assert numbers == {9: 1, 1: 2, 2: 2, 3: 2}


@given(
    spans=st.lists(st.tuples(st.integers(0, 150), st.integers(1, 80)), max_size=8),
    budget=st.integers(5, 120),
)
def test_a_passage_has_a_number_just_when_the_context_holds_it(
    spans: list[tuple[int, int]], budget: int
):
    passages = [
        replace(
            slice_of(CONTENT, start, start + length, chunk_id=n),
            version_id=n % 2,
            document_id=n % 2,
        )
        for n, (start, length) in enumerate(spans, start=1)
    ]
    packing = pack_context(passages, budget=budget, count_tokens=count_words)

    assert packing.context == build_context(passages, budget=budget, count_tokens=count_words)
    assert [fate.chunk_id for fate in packing.passages] == [p.chunk_id for p in passages]
    for found, fate in zip(passages, packing.passages, strict=True):
        assert (fate.number is None) == (fate.rule in ("copy", "budget"))
        if fate.number is not None:
            holder = packing.context.passages[fate.number - 1]
            assert holder.version_id == found.version_id
            assert holder.start <= found.start


async def test_the_judges_whole_order_is_kept_for_the_log():
    passages = [
        passage(text, chunk_id=n) for n, text in enumerate(["ants", "bees dance", "bees"], start=1)
    ]
    provider = Provider(FakeEmbedder(), reranker=FakeReranker())
    judged = await rerank("bees dance", passages, provider, limit=2, timeout=1)
    unjudged = await rerank("bees", passages, Provider(FakeEmbedder()), limit=2, timeout=1)

    assert (judged.order, unjudged.order) == ((2, 3, 1), (1, 2, 3))
