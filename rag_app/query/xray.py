"""How an answer was found: every candidate's way through a turn, stage by stage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_app.database.session import Connection, Database
from rag_app.library.links import passage_link
from rag_app.query.bm25 import Term
from rag_app.query.turn_log import Fate, read_fates, read_terms

WORDS_SHOWN = 24

PLACES = """
select c.id as chunk_id, v.document_id, d.title, d.uri, d.source_type, c.page, c.second, c.heading,
       v.id as version_id, c.start, c."end", c.content as text,
       case when d.removed_at is not null then 'removed'
            when exists (select 1 from membership m
              where m.version_id = v.id and m.removed_in is null) then 'here'
            else 'replaced' end as state
from chunk c join document_version v on v.id = c.version_id join document d on d.id = v.document_id
where c.id = any(%(ids)s) and c.workspace_id = %(workspace_id)s
"""


@dataclass(frozen=True)
class Place:
    """Where a chunk stands, or stood: `state` is here, replaced or removed.

    Of what was deleted only the candidates that were kept still have a name.
    """

    chunk_id: int | None
    document_id: int | None = None
    title: str = ""
    source_type: str = ""
    page: int | None = None
    second: int | None = None
    heading: str | None = None
    words: str = ""
    link: str = ""
    state: str = "removed"
    version_id: int | None = None
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Row:
    """A candidate as a table shows it."""

    place: Place
    fate: Fate


@dataclass(frozen=True)
class Xray:
    """A turn stage by stage, the rows of each in its order.

    `vector` and `text` are the legs' lists, `fused` all candidates by score, `kept` those that
    diversity left, `judged` the same after the rerank, `context` by number.
    """

    question: str
    snapshot: int
    embedding_model: str
    notice: str
    required: str
    hypothetical: str
    answered_by: str
    rerank_method: str
    rerank_error: str | None
    context_tokens: int
    options: Mapping[str, Any]
    terms: tuple[Term, ...]
    vector: tuple[Row, ...]
    text: tuple[Row, ...]
    fused: tuple[Row, ...]
    kept: tuple[Row, ...]
    judged: tuple[Row, ...]
    context: tuple[Row, ...]
    timings_ms: Mapping[str, float]


async def xray(database: Database, workspace_id: int, log: Mapping[str, Any]) -> Xray:
    """Return how a turn's answer was found, from its log; raise NotFoundError for an older log."""
    found = read_fates(log)
    async with database.reading() as connection:
        places = await load_places(connection, workspace_id, list(found), log)
    rows = {chunk_id: Row(places[chunk_id], fate) for chunk_id, fate in found.items()}
    rerank = log.get("rerank", {})
    judged = [rows[chunk_id] for chunk_id in rerank.get("order", [])]
    in_context = [row for row in judged if row.fate.number is not None]
    return Xray(
        question=log["searched"],
        snapshot=log["snapshot"],
        embedding_model=log["embedding_model"],
        notice=log["notice"],
        required=log["required"],
        hypothetical=log["hypothetical"],
        answered_by=log.get("answered_by", ""),
        rerank_method=rerank.get("method", "none"),
        rerank_error=rerank.get("error"),
        context_tokens=log.get("context_tokens", 0),
        options=log["options"],
        terms=tuple(term for terms in read_terms(log).terms.values() for term in terms),
        vector=tuple(rows[hit[0]] for hit in log["vector_leg"]),
        text=tuple(rows[hit[0]] for hit in log["text_leg"]),
        fused=tuple(rows[candidate[0]] for candidate in log["fused"]),
        kept=tuple(rows[chunk_id] for chunk_id in log["kept"]),
        judged=tuple(judged),
        context=tuple(sorted(in_context, key=lambda row: row.fate.number or 0)),
        timings_ms=log.get("timings_ms", {}),
    )


async def load_places(
    connection: Connection, workspace_id: int, ids: Sequence[int], log: Mapping[str, Any]
) -> dict[int, Place]:
    """Return where chunks stand; of what was deleted, what the log still knows."""
    places = {chunk_id: Place(chunk_id) for chunk_id in ids}
    for chunk_id, document_id, title, page, second, heading in log["places"]:
        if chunk_id in places:
            places[chunk_id] = Place(
                chunk_id, document_id, title, page=page, second=second, heading=heading
            )
    values = {"ids": list(ids), "workspace_id": workspace_id}
    for row in await (await connection.execute(PLACES, values)).fetchall():
        link = passage_link(
            row["source_type"],
            row["document_id"],
            row["uri"],
            page=row["page"],
            second=row["second"],
            start=row["start"],
            text=row["text"],
        )
        places[row["chunk_id"]] = Place(
            row["chunk_id"],
            row["document_id"],
            row["title"],
            row["source_type"],
            row["page"],
            row["second"],
            row["heading"],
            " ".join(row["text"].split()[:WORDS_SHOWN]),
            link,
            row["state"],
            row["version_id"],
            row["start"],
            row["end"],
        )
    return places
