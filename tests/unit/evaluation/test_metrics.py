import math

import pytest

from rag_app.evaluation.metrics import (
    Estimate,
    bootstrap,
    bootstrap_difference,
    mean,
    ndcg_at,
    percentile,
    recall_at,
    reciprocal_rank_at,
    score_rankings,
    unique,
)

ONE = {"a": 1}
GRADED = {"a": 2, "b": 1, "c": 0}


@pytest.mark.parametrize(
    ("k", "ranking", "judgements", "expected"),
    [
        (1, ["a", "b"], ONE, 1.0),
        (1, ["b", "a"], ONE, 0.0),
        (5, ["b", "a"], ONE, 1.0),
        (5, ["a", "c"], GRADED, 0.5),
        (5, [], ONE, 0.0),
        (5, ["a"], {}, 0.0),
        (5, ["c"], {"c": 0}, 0.0),
    ],
)
def test_recall_is_the_share_of_relevant_documents_found(k, ranking, judgements, expected):
    assert expected == recall_at(k, ranking, judgements)


@pytest.mark.parametrize(
    ("k", "ranking", "expected"),
    [
        (10, ["a"], 1.0),
        (10, ["x", "y", "a", "b"], 1 / 3),
        (2, ["x", "y", "a"], 0.0),
        (10, [], 0.0),
    ],
)
def test_reciprocal_rank_looks_for_the_first_relevant_document(k, ranking, expected):
    assert expected == reciprocal_rank_at(k, ranking, GRADED)


def test_ndcg_is_one_for_the_best_order_and_less_for_any_other():
    best = ndcg_at(10, ["a", "b", "x"], GRADED)
    worse = ndcg_at(10, ["b", "a", "x"], GRADED)

    assert best == 1.0
    assert math.isclose(worse, (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)))


def test_ndcg_of_one_relevant_document_depends_on_its_place_alone():
    assert math.isclose(1 / math.log2(4), ndcg_at(10, ["x", "y", "a"], ONE))


def test_ndcg_compares_with_the_best_list_of_the_same_length():
    judgements = dict.fromkeys("abcdef", 1)

    assert ndcg_at(2, ["a", "b"], judgements) == 1.0


def test_a_document_named_by_several_chunks_keeps_its_first_place():
    assert unique(["b", "a", "b", "b"]) == ["b", "a"]


def test_a_question_that_found_nothing_counts_zero():
    scores = score_rankings({"q1": ["a"]}, {"q1": ONE, "q2": ONE})

    assert scores["recall@10"] == [1.0, 0.0]
    assert scores["mrr@10"] == [1.0, 0.0]


def test_a_document_with_the_id_of_its_question_is_passed_over():
    scores = score_rankings({"a1": ["a1", "b"]}, {"a1": {"b": 1}})

    assert scores["recall@1"] == [1.0]


def test_the_bootstrap_holds_the_mean_and_gives_the_same_interval_again():
    values = [0.0, 1.0] * 200
    estimate = bootstrap(values)

    assert estimate == bootstrap(values)
    assert estimate.mean == 0.5
    assert 0.44 < estimate.low < 0.47
    assert 0.53 < estimate.high < 0.56


def test_nothing_measured_is_zero_and_not_an_error():
    assert Estimate(0.0, 0.0, 0.0) == bootstrap([])
    assert percentile([], 0.95) == 0.0
    assert mean([]) == 0.0


def test_a_steady_gain_is_told_from_noise_though_the_single_figures_overlap():
    second = [i % 10 / 10 for i in range(200)]
    first = [value + 0.02 for value in second]
    difference = bootstrap_difference(first, second)

    assert bootstrap(first).low < bootstrap(second).high
    assert difference.low > 0


def test_a_paired_comparison_of_unequal_lists_is_refused():
    with pytest.raises(ValueError, match="same questions"):
        bootstrap_difference([1.0], [1.0, 0.0])


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (0.5, 2.5), (1.0, 4.0), (0.95, 3.85)])
def test_a_percentile_is_interpolated(share, expected):
    assert math.isclose(expected, percentile([4.0, 1.0, 3.0, 2.0], share))
