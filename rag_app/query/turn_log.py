"""Reads the log of a turn: how each candidate went, the terms, the filters."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from rag_app.errors import NotFoundError
from rag_app.query.bm25 import QuestionTerms, Term
from rag_app.query.context import PackedPassage
from rag_app.query.fusion import GATE_SHARE, RANK_CONSTANT
from rag_app.query.results import Filters

CUT_BY: Mapping[str, str] = {
    "required": "It lacks a phrase in quotes, or holds a word with a minus.",
    "removed": "It was taken out of the library while the question was on its way.",
    "fusion": "Only a leg that this fusion does not count had found it.",
    "candidates": "Its fused score was not among the candidates kept.",
    "diversity": "Its document had two better candidates, and others had something to say.",
    "rerank": "The judge put it behind the passages kept.",
    "passages": "It stood behind the passages kept, and no judge changed the order.",
    "copy": "A passage of the context says the same.",
    "budget": "It did not fit into what was left of the context.",
}
"""The rules by which a candidate falls out, in the order in which they come."""


@dataclass(frozen=True)
class Fate:
    """A candidate's rank and score in each stage; None where it did not get that far.

    `score` is the sum of `vector_part` and `text_part`. `number` is its [n] in the context, else
    `cut_by` names a rule of `CUT_BY`. `packing` says how the context took it.
    """

    chunk_id: int
    vector_rank: int | None = None
    cosine: float | None = None
    text_rank: int | None = None
    bm25: float | None = None
    share: float | None = None
    fused_rank: int | None = None
    score: float | None = None
    vector_part: float | None = None
    text_part: float | None = None
    kept_rank: int | None = None
    judged_rank: int | None = None
    number: int | None = None
    cut_by: str | None = None
    packing: PackedPassage | None = None


def read_fates(log: Mapping[str, Any]) -> dict[int, Fate]:
    """Return the way of every candidate through a turn; raise NotFoundError for an older log."""
    if "places" not in log:
        raise NotFoundError("Too little was kept of how this turn was answered.")
    vector = {hit[0]: (rank, hit[1]) for rank, hit in enumerate(log["vector_leg"], start=1)}
    text = {hit[0]: (rank, *hit[1:]) for rank, hit in enumerate(log["text_leg"], start=1)}
    fused = {found[0]: (rank, *found[1:]) for rank, found in enumerate(log["fused"], start=1)}
    kept = {chunk_id: rank for rank, chunk_id in enumerate(log["kept"], start=1)}
    order = log.get("rerank", {}).get("order", [])
    judged = {chunk_id: rank for rank, chunk_id in enumerate(order, start=1)}
    packed = {found["chunk_id"]: PackedPassage(**found) for found in log.get("packing", [])}
    fates = {}
    for chunk_id in dict.fromkeys([*fused, *vector, *text]):
        vector_rank, cosine = vector.get(chunk_id, (None, None))
        text_rank, bm25, share = text.get(chunk_id, (None, None, None))
        fused_rank, score, cosine, share = fused.get(chunk_id, (None, None, cosine, share))
        packing = packed.get(chunk_id)
        fate = Fate(
            chunk_id=chunk_id,
            vector_rank=vector_rank,
            cosine=cosine,
            text_rank=text_rank,
            bm25=bm25,
            share=share,
            fused_rank=fused_rank,
            score=score,
            kept_rank=kept.get(chunk_id),
            judged_rank=judged.get(chunk_id),
            number=packing.number if packing else None,
            packing=packing,
        )
        fates[chunk_id] = replace(_with_parts(log, fate), cut_by=_cut_by(log, fate))
    return fates


def read_terms(log: Mapping[str, Any]) -> QuestionTerms:
    """Return the question's terms with the statistics they had at the time."""
    return QuestionTerms(
        terms={
            language: tuple(Term(language, *values) for values in found["lexemes"])
            for language, found in log["terms"].items()
        },
        chunks={language: found["chunks"] for language, found in log["terms"].items()},
        average_lexemes={
            language: found["average_lexemes"] for language, found in log["terms"].items()
        },
    )


def read_filters(log: Mapping[str, Any]) -> Filters:
    """Return the filters of a turn."""
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list | tuple) else _moment(value)
        for name, value in log["options"]["filters"].items()
    }
    return Filters(**values)


def _with_parts(log: Mapping[str, Any], fate: Fate) -> Fate:
    """Split a fused score into what each leg gave."""
    if fate.score is None:
        return fate
    text = 0.0
    match log["options"]["fusion"]:
        case "calibrated":
            text = log["options"]["text_weight"] * (fate.share or 0)
        case "rrf" | "gated-rrf":
            by_vector = 1 / (RANK_CONSTANT + fate.vector_rank) if fate.vector_rank else 0
            text = max(0.0, fate.score - by_vector)
        case "text":
            text = fate.score
    return replace(fate, vector_part=round(fate.score - text, 5), text_part=round(text, 5))


def _cut_by(log: Mapping[str, Any], fate: Fate) -> str | None:
    options = log["options"]
    if fate.fused_rank is None:
        if not _is_counted(options["fusion"], fate):
            return "fusion"
        return "required" if log["required"] else "removed"
    if fate.kept_rank is None:
        return "diversity" if fate.fused_rank <= options["candidates"] else "candidates"
    if "rerank" not in log:
        return None
    if fate.judged_rank is None:
        return "removed"
    if fate.judged_rank > options["passages"]:
        is_judged = log["rerank"]["method"] != "none" and not log["rerank"]["error"]
        return "rerank" if is_judged else "passages"
    if fate.packing and fate.packing.rule in ("copy", "budget"):
        return fate.packing.rule
    return None


def _is_counted(fusion: str, fate: Fate) -> bool:
    by_text = fate.text_rank is not None and fusion != "vector"
    if fusion == "gated-rrf":
        by_text = by_text and (fate.share or 0) >= GATE_SHARE
    return by_text or (fate.vector_rank is not None and fusion != "text")


def _moment(value: Any) -> datetime | None:
    return datetime.fromisoformat(value) if isinstance(value, str) else value
