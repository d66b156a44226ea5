"""How broadly the index is searched."""

from rag_app.query.vector_leg import LARGEST_BREADTH, SMALLEST_BREADTH, breadth


def test_a_larger_library_is_searched_more_broadly_within_what_the_index_takes() -> None:
    assert breadth(10_001) == SMALLEST_BREADTH
    assert breadth(100_000) == 190
    assert breadth(1_000_000) == 600
    assert breadth(10**9) == LARGEST_BREADTH
