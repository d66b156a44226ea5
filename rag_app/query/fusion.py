"""Two ranked lists into one: scores that were made comparable, or ranks; and diversity.

Fusing calibrated scores is the default, since plain reciprocal rank fusion loses 20 to 30 points of
recall@1 where question and text differ in language; see docs/evaluation.md.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rag_app.query.results import Candidate, Hit
from rag_app.query.retrieval import Scored

RANK_CONSTANT = 60
TEXT_WEIGHT = 0.5
GATE_SHARE = 0.5
PER_DOCUMENT = 2
SOMETHING_TO_SAY = 0.6  # of the best score: what other documents must reach to come first


@dataclass(frozen=True)
class FusionInput:
    """What a fusion sees: both lists, both scores of each candidate, the model's calibration.

    `text_weight` is what the full-text score counts beside the vector's in `calibrated_sum`.
    """

    vector_hits: Sequence[Hit]
    text_hits: Sequence[Hit]
    scored: Sequence[Scored]
    centre: float
    spread: float
    text_weight: float = TEXT_WEIGHT


def calibrated_sum(given: FusionInput) -> dict[int, float]:
    """Return `(cosine - centre) / spread + 0.5 * BM25 share` of each candidate.

    Both parts run from about 0 to 1 for any question, so a weak hit of one leg cannot outrank a
    strong one of the other.
    """
    scores = {}
    for candidate in given.scored:
        score = given.text_weight * candidate.text_share
        if candidate.distance is not None:
            score += (1 - candidate.distance - given.centre) / given.spread
        scores[candidate.chunk_id] = score
    return scores


def reciprocal_rank_fusion(given: FusionInput) -> dict[int, float]:
    """Return the sum of 1 / (60 + rank) over the legs (Cormack et al. 2009)."""
    return _by_rank([given.vector_hits, given.text_hits])


def gated_rank_fusion(given: FusionInput) -> dict[int, float]:
    """Reciprocal rank fusion in which a text hit counts only when it matches half the question."""
    strong = [hit for hit in given.text_hits if hit.share >= GATE_SHARE]
    ranked = [
        Hit(hit.chunk_id, rank, hit.score, hit.share) for rank, hit in enumerate(strong, start=1)
    ]
    return _by_rank([given.vector_hits, ranked])


def vector_only(given: FusionInput) -> dict[int, float]:
    """Return the cosine of the vector leg's hits alone."""
    return {hit.chunk_id: hit.score for hit in given.vector_hits}


def text_only(given: FusionInput) -> dict[int, float]:
    """Return the BM25 share of the text leg's hits alone."""
    return {hit.chunk_id: hit.share for hit in given.text_hits}


FUSIONS: Mapping[str, Callable[[FusionInput], dict[int, float]]] = {
    "calibrated": calibrated_sum,
    "rrf": reciprocal_rank_fusion,
    "gated-rrf": gated_rank_fusion,
    "vector": vector_only,
    "text": text_only,
}


def fuse(name: str, given: FusionInput) -> list[Candidate]:
    """Return the candidates best first; ties go by document, then by place in it."""
    scores = FUSIONS[name](given)
    vector_ranks = {hit.chunk_id: hit.rank for hit in given.vector_hits}
    text_ranks = {hit.chunk_id: hit.rank for hit in given.text_hits}
    known = {candidate.chunk_id: candidate for candidate in given.scored}
    order = sorted(
        (chunk_id for chunk_id in scores if chunk_id in known),
        # a document's chunks are numbered in their order
        key=lambda c: (-scores[c], known[c].document_id, c),
    )
    return [
        Candidate(
            chunk_id=chunk_id,
            score=scores[chunk_id],
            distance=known[chunk_id].distance,
            legs={"vector": vector_ranks.get(chunk_id), "text": text_ranks.get(chunk_id)},
        )
        for chunk_id in order
    ]


def diversify(
    candidates: Sequence[Candidate], documents: Mapping[int, int], *, limit: int
) -> list[Candidate]:
    """Keep at most two chunks a document while other documents have something to say.

    What goes beyond two stands behind the good hits of other documents and before their weak ones,
    so a library of one book still fills every place. `documents` maps a chunk to its document.
    """
    if not candidates:
        return []
    bar = SOMETHING_TO_SAY * candidates[0].score
    seen: Counter[int] = Counter()
    first, surplus, weak = [], [], []
    for candidate in candidates:
        document = documents[candidate.chunk_id]
        seen[document] += 1
        if candidate.score < bar:
            weak.append(candidate)
        elif seen[document] > PER_DOCUMENT:
            surplus.append(candidate)
        else:
            first.append(candidate)
    return [*first, *surplus, *weak][:limit]


def _by_rank(rankings: Sequence[Sequence[Hit]]) -> dict[int, float]:
    scores: dict[int, float] = {}
    for ranking in rankings:
        for hit in ranking:
            scores[hit.chunk_id] = scores.get(hit.chunk_id, 0.0) + 1 / (RANK_CONSTANT + hit.rank)
    return scores
