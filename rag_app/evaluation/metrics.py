"""Measures of a ranked list: recall@k, MRR@k, nDCG@k, their spread, and percentiles.

The semantics are BEIR's: a document is relevant when its judgement is above 0, gains are linear,
every judged question counts, and one that found nothing counts 0.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Judgements = Mapping[str, int]
"""Document id to grade; absent or 0 means not relevant."""

Measure = Callable[[Sequence[str], Judgements], float]


@dataclass(frozen=True)
class Estimate:
    """A mean over questions with the interval a bootstrap gives it."""

    mean: float
    low: float
    high: float


def unique(document_ids: Iterable[str]) -> list[str]:
    """Keep the first place of each document, since a list of chunks names a document often."""
    return list(dict.fromkeys(document_ids))


def recall_at(k: int, ranking: Sequence[str], judgements: Judgements) -> float:
    """Return the share of the relevant documents that stand in the first k places."""
    relevant = _relevant(judgements)
    if not relevant:
        return 0.0
    return len(relevant.intersection(ranking[:k])) / len(relevant)


def reciprocal_rank_at(k: int, ranking: Sequence[str], judgements: Judgements) -> float:
    """Return 1 / place of the first relevant document, 0 when the first k hold none."""
    relevant = _relevant(judgements)
    for place, document_id in enumerate(ranking[:k], start=1):
        if document_id in relevant:
            return 1 / place
    return 0.0


def ndcg_at(k: int, ranking: Sequence[str], judgements: Judgements) -> float:
    """Return the discounted gain of the first k places over that of the best possible order."""
    grades = sorted((grade for grade in judgements.values() if grade > 0), reverse=True)
    ideal = _discounted(grades[:k])
    if ideal == 0:
        return 0.0
    return _discounted([max(judgements.get(document, 0), 0) for document in ranking[:k]]) / ideal


MEASURES: Mapping[str, Measure] = {
    "recall@1": lambda ranking, judgements: recall_at(1, ranking, judgements),
    "recall@5": lambda ranking, judgements: recall_at(5, ranking, judgements),
    "recall@10": lambda ranking, judgements: recall_at(10, ranking, judgements),
    "mrr@10": lambda ranking, judgements: reciprocal_rank_at(10, ranking, judgements),
    "ndcg@10": lambda ranking, judgements: ndcg_at(10, ranking, judgements),
}


def score_rankings(
    rankings: Mapping[str, Sequence[str]], judgements: Mapping[str, Judgements]
) -> dict[str, list[float]]:
    """Return each measure's value for every judged question, in the order of the judgements.

    A document with the id of its question is passed over, as BEIR does for sets whose questions
    are documents themselves.
    """
    cleaned = {
        question_id: [
            document_id
            for document_id in unique(rankings.get(question_id, ()))
            if document_id != question_id
        ]
        for question_id in judgements
    }
    return {
        name: [measure(cleaned[question_id], judgements[question_id]) for question_id in judgements]
        for name, measure in MEASURES.items()
    }


def mean(values: Sequence[float]) -> float:
    """Return the mean, 0 of nothing."""
    return math.fsum(values) / len(values) if values else 0.0


def bootstrap(
    values: Sequence[float], *, confidence: float = 0.95, resamples: int = 2000, seed: int = 7
) -> Estimate:
    """Return the mean over questions and its percentile bootstrap interval.

    The same values give the same interval: the seed is fixed, so a committed table can be made
    again.
    """
    if not values:
        return Estimate(0.0, 0.0, 0.0)
    sample = np.asarray(values, dtype=float)
    generator = np.random.default_rng(seed)
    means = np.array(
        [sample[generator.integers(0, len(sample), len(sample))].mean() for _ in range(resamples)]
    )
    tail = (1 - confidence) / 2 * 100
    low, high = np.percentile(means, [tail, 100 - tail])
    return Estimate(mean(values), float(low), float(high))


def bootstrap_difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 7,
) -> Estimate:
    """Return by how much `first` is above `second`, question by question, with its interval.

    The difference can be told from noise when the interval does not hold 0.
    """
    if len(first) != len(second):
        raise ValueError("A paired comparison needs the same questions in both lists.")
    differences = [a - b for a, b in zip(first, second, strict=True)]
    return bootstrap(differences, confidence=confidence, resamples=resamples, seed=seed)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` (0..1) of the values lie, interpolated; 0 of nothing."""
    if not 0 <= share <= 1:
        raise ValueError(f"A percentile's share lies between 0 and 1, not at {share}.")
    if not values:
        return 0.0
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = math.ceil(position)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def _relevant(judgements: Judgements) -> set[str]:
    return {document_id for document_id, grade in judgements.items() if grade > 0}


def _discounted(grades: Sequence[int]) -> float:
    return math.fsum(grade / math.log2(place + 1) for place, grade in enumerate(grades, start=1))
