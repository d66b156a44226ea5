"""Two lists into one: each fusion by its definition, ties by place, two chunks a document."""

from hypothesis import given
from hypothesis import strategies as st

from rag_app.query.fusion import FUSIONS, FusionInput, diversify, fuse
from rag_app.query.results import Candidate, Hit
from rag_app.query.retrieval import Scored


def scored(chunk_id: int, distance: float | None, share: float, document_id: int = 0) -> Scored:
    return Scored(chunk_id, document_id or chunk_id, distance, share * 10, share)


def given_lists(**changes: object) -> FusionInput:
    values: dict[str, object] = {
        "vector_hits": [Hit(1, 1, 0.9), Hit(2, 2, 0.8)],
        "text_hits": [Hit(3, 1, 9.0, 0.9), Hit(2, 2, 2.0, 0.2)],
        "scored": [scored(1, 0.1, 0.0), scored(2, 0.2, 0.2), scored(3, 0.5, 0.9)],
        "centre": 0.5,
        "spread": 0.4,
    }
    return FusionInput(**(values | changes))  # type: ignore[arg-type]


def ids(candidates: list[Candidate]) -> list[int]:
    return [candidate.chunk_id for candidate in candidates]


def test_calibrated_scores_are_added_whichever_leg_found_the_chunk() -> None:
    found = fuse("calibrated", given_lists())

    assert {c.chunk_id: round(c.score, 6) for c in found} == {1: 1.0, 2: 0.85, 3: 0.45}
    assert ids(found) == [1, 2, 3]
    assert found[2].legs == {"vector": None, "text": 1}


def test_the_weight_of_the_text_score_can_be_chosen() -> None:
    assert ids(fuse("calibrated", given_lists(text_weight=2.0))) == [3, 2, 1]


def test_a_chunk_without_a_vector_counts_by_its_words() -> None:
    [found] = fuse("calibrated", given_lists(scored=[scored(3, None, 0.8)]))

    assert found.score == 0.4
    assert found.distance is None


def test_reciprocal_ranks_are_summed() -> None:
    found = fuse("rrf", given_lists())

    assert ids(found) == [2, 1, 3]
    assert found[0].score == 1 / 62 + 1 / 62


def test_a_gate_passes_over_weak_text_hits_and_closes_the_ranks() -> None:
    found = fuse("gated-rrf", given_lists())

    assert ids(found) == [1, 3, 2]
    assert found[1].score == 1 / 61


def test_a_leg_alone_keeps_its_order() -> None:
    assert ids(fuse("vector", given_lists())) == [1, 2]
    assert ids(fuse("text", given_lists())) == [3, 2]


def test_what_the_tables_do_not_confirm_is_left_out() -> None:
    for name in FUSIONS:
        assert fuse(name, given_lists(scored=[])) == []


def test_ties_go_by_document_then_by_place() -> None:
    hits = [Hit(7, 1, 0.9), Hit(8, 1, 0.9), Hit(9, 1, 0.9)]
    known = [
        Scored(7, 2, 0.1, 0, 0),
        Scored(8, 2, 0.1, 0, 0),
        Scored(9, 1, 0.1, 0, 0),
    ]
    assert ids(fuse("vector", given_lists(vector_hits=hits, scored=known))) == [9, 7, 8]


def candidates(*scores: float) -> list[Candidate]:
    return [Candidate(n, score, None, {}) for n, score in enumerate(scores)]


def test_a_third_chunk_of_a_document_waits_for_other_documents_with_something_to_say() -> None:
    documents = {0: 1, 1: 1, 2: 1, 3: 2, 4: 3}
    found = diversify(candidates(1.0, 0.95, 0.9, 0.7, 0.3), documents, limit=5)

    assert ids(found) == [0, 1, 3, 2, 4]


def test_a_library_of_one_book_fills_every_place() -> None:
    found = diversify(candidates(*([1.0] * 9)), dict.fromkeys(range(9), 1), limit=8)

    assert ids(found) == list(range(8))


def test_nothing_stays_nothing() -> None:
    assert diversify([], {}, limit=5) == []


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 4)), max_size=30),
    st.integers(1, 20),
)
def test_diversity_only_reorders_and_cuts(rows: list[tuple[float, int]], limit: int) -> None:
    ordered = sorted(rows, reverse=True)
    given_candidates = candidates(*(score for score, _ in ordered))
    documents = {n: document for n, (_, document) in enumerate(ordered)}

    found = diversify(given_candidates, documents, limit=limit)

    assert len(found) == min(limit, len(ordered))
    assert len(set(ids(found))) == len(found)
    if found:
        assert found[0] == given_candidates[0]
