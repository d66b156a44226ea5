"""Both scores of every candidate, checked against the tables, and load_passages()."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pgvector import HalfVector
from psycopg import sql

from rag_app.database.session import Connection
from rag_app.library.links import passage_link
from rag_app.query.bm25 import QuestionTerms, scores
from rag_app.query.results import Candidate, Passage, Scope
from rag_app.query.scope import visibility
from rag_app.query.text_leg import requirement
from rag_app.query.vector_leg import distance_to

CANDIDATES = """
select t.chunk_id, v.document_id, {distance} as distance, {score} as score,
       t.language::text as language
from chunk_text_index t join document_version v on v.id = t.version_id
left join embedding e on e.chunk_id = t.chunk_id and e.model_id = {model_id}
where t.chunk_id = any(%(ids)s) and t.workspace_id = %(workspace_id)s and {required} and {visible}
order by t.chunk_id
"""

PASSAGES = """
select c.id as chunk_id, v.document_id, c.version_id, d.title, d.uri, d.source_type,
       c.language::text as language, c.ordinal, c.content as text, c.start, c."end" as "end",
       c.page, c.second, c.heading
from chunk c join document_version v on v.id = c.version_id join document d on d.id = v.document_id
where c.id = any(%(ids)s) and c.workspace_id = %(workspace_id)s
"""


@dataclass(frozen=True)
class Scored:
    """Both scores of a candidate, whichever leg found it; None where there is no vector."""

    chunk_id: int
    document_id: int
    distance: float | None
    text_score: float
    text_share: float


async def score_candidates(
    connection: Connection,
    scope: Scope,
    chunk_ids: Sequence[int],
    *,
    question: QuestionTerms,
    vector: Sequence[float] | None,
    model_id: int,
    required: str = "",
) -> list[Scored]:
    """Return both scores of every candidate that the scope holds.

    Each leg knows its own score only; fusing scores needs both. What does not stand in the
    snapshot, or lacks a required phrase, is left out, whatever a leg said.
    """
    table = sql.SQL("t")
    visible, values = visibility(scope, sql.SQL("t.version_id"))
    distance: sql.Composable = sql.SQL("null::float8")
    if vector is not None:
        distance = sql.SQL("e.{}").format(distance_to(len(vector)))
        values["vector"] = HalfVector(list(vector))
    statement = sql.SQL(CANDIDATES).format(
        distance=distance,
        score=scores(question, table),
        model_id=sql.Literal(model_id),
        required=requirement(required, table),
        visible=visible,
    )
    values["ids"] = list(chunk_ids)
    rows = await (await connection.execute(statement, values)).fetchall()
    return [
        Scored(
            chunk_id=row["chunk_id"],
            document_id=row["document_id"],
            distance=row["distance"],
            text_score=row["score"],
            text_share=row["score"] / question.idf_total(row["language"]),
        )
        for row in rows
    ]


async def load_passages(
    connection: Connection, workspace_id: int, candidates: Sequence[Candidate]
) -> list[Passage]:
    """Return the candidates' chunks with title and locator, in the order given."""
    cursor = await connection.execute(
        PASSAGES,
        {
            "ids": [candidate.chunk_id for candidate in candidates],
            "workspace_id": workspace_id,
        },
    )
    rows = {row["chunk_id"]: row for row in await cursor.fetchall()}
    return [
        _passage(rows[candidate.chunk_id], candidate)
        for candidate in candidates
        if candidate.chunk_id in rows
    ]


def _passage(row: Mapping[str, Any], candidate: Candidate) -> Passage:
    link = passage_link(
        row["source_type"],
        row["document_id"],
        row["uri"],
        page=row["page"],
        second=row["second"],
        start=row["start"],
        text=row["text"],
    )
    passage = Passage(**row, link=link)
    return replace(
        passage, score=candidate.score, distance=candidate.distance, legs=dict(candidate.legs)
    )
