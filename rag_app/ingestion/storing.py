"""Writes versions, chunks and vectors; what is stored once is found again after a crash."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from pgvector import HalfVector

from rag_app.database.session import Connection, Database
from rag_app.ingestion.chunking import ChunkText, embedding_text
from rag_app.ingestion.content import Extracted
from rag_app.ingestion.coverage import coverage
from rag_app.language import detect_language, regconfig
from rag_app.lexemes import document_text
from rag_app.library import documents, snapshots
from rag_app.providers.base import Embedder

ROWS_AT_ONCE = 64
BATCH_CHUNKS = 32  # a few seconds of embedding

FIND_VERSION = """
select v.id, v.chunk_count,
       exists (select 1 from membership m where m.version_id = v.id and m.removed_in is null
         and not exists (select 1 from snapshot s where s.workspace_id = m.workspace_id
           and s.number = m.added_in and s.reason = %(early)s)) as is_live
from document_version v
where v.document_id = %(document_id)s and v.content_hash = %(content_hash)s
order by v.id desc limit 1
"""

# versions of a document that were never published, left by an ingest that did not finish
UNPUBLISHED = """
select v.id from document_version v where v.document_id = %s
and not exists (select 1 from membership m where m.version_id = v.id)
"""

ADD_VERSION = """
insert into document_version (document_id, workspace_id, content_hash, content, language, file_key,
                              page_count, duration_seconds, chunk_count, extraction)
values (%(document_id)s, %(workspace_id)s, %(content_hash)s, %(content)s, %(language)s,
        %(file_key)s, %(page_count)s, %(duration_seconds)s, %(chunk_count)s, %(extraction)s)
returning id
"""

STAGING = """
create temporary table staged_chunk (ordinal int, content text, start int, "end" int, page int,
  second int, heading text, language text, tokens int, lexical text) on commit drop
"""

COPY_STAGED = """
copy staged_chunk (ordinal, content, start, "end", page, second, heading, language, tokens, lexical)
from stdin
"""

STORE_CHUNKS = """
insert into chunk (workspace_id, version_id, ordinal, content, start, "end", page, second, heading,
                   language, tokens)
select %(workspace_id)s, %(version_id)s, ordinal, content, start, "end", page, second, heading,
       language::regconfig, tokens
from staged_chunk order by ordinal
"""

STORE_LEXEMES = """
insert into chunk_text_index (chunk_id, workspace_id, version_id, language, tsv)
select c.id, c.workspace_id, c.version_id, c.language, to_tsvector(c.language, s.lexical)
from chunk c join staged_chunk s on s.ordinal = c.ordinal where c.version_id = %(version_id)s
order by c.id
"""

WITHOUT_VECTOR = """
select c.id, c.heading, c.content from chunk c
where c.version_id = %(version_id)s and not exists (
  select 1 from embedding e where e.chunk_id = c.id and e.model_id = %(model_id)s)
order by c.ordinal limit %(limit)s
"""

LIVE_VERSION = """
select v.id, v.workspace_id, d.title from document d
join document_version v on v.document_id = d.id
join membership m on m.version_id = v.id and m.removed_in is null
where d.id = %s and d.removed_at is null order by v.id desc limit 1
"""

# names a document that is being taken in and has no version that questions see
NAME_NEW = """
update document d set title = %(title)s, source_type = %(source_type)s
where d.id = %(id)s and d.removed_at is null and d.status = 'running'
and not exists (select 1 from document_version v join membership m on m.version_id = v.id
  where v.document_id = d.id and m.removed_in is null)
returning d.id
"""

FINISH_DOCUMENT = """
update document set status = 'ready', step = '', progress = 1, error = null,
  title = %(title)s, source_type = %(source_type)s, unchanged = %(unchanged)s, updated_at = now()
where id = %(id)s and removed_at is null and status = 'running'
returning workspace_id
"""


@dataclass(frozen=True)
class StoredVersion:
    """A version in the tables; `is_live` once a snapshot shows it with all its vectors."""

    id: int
    chunks: int
    is_live: bool = False


@dataclass(frozen=True)
class LiveVersion:
    """The version of a document that questions see."""

    id: int
    workspace_id: int
    title: str


@dataclass(frozen=True)
class PendingChunk:
    """A chunk that has no vector of the model yet."""

    id: int
    heading: str | None
    text: str


async def find_version(
    database: Database, document_id: int, content_hash: str
) -> StoredVersion | None:
    """Return this document's version with this content, if it is whole."""
    async with database.connection() as connection:
        values = {
            "document_id": document_id,
            "content_hash": content_hash,
            "early": snapshots.early_reason(document_id),
        }
        row = await (await connection.execute(FIND_VERSION, values)).fetchone()
    if row is None or row["chunk_count"] == 0:
        return None
    return StoredVersion(id=row["id"], chunks=row["chunk_count"], is_live=row["is_live"])


async def store_version(
    database: Database,
    *,
    workspace_id: int,
    document_id: int,
    content_hash: str,
    extracted: Extracted,
    file_key: str | None,
    chunks: Sequence[ChunkText],
) -> int:
    """Store a version with its chunks and their lexemes at once, and return its id."""
    found = extracted.language or await asyncio.to_thread(detect_language, extracted.content)
    language = regconfig(found)
    extraction = dict(extracted.extraction) | {"warnings": list(extracted.warnings)}
    extraction |= coverage(extraction.get("pages") or ())  # type: ignore[arg-type]
    async with database.connection() as connection:
        for left in await (await connection.execute(UNPUBLISHED, (document_id,))).fetchall():
            await documents.delete_version(connection, left["id"])
        row = await (
            await connection.execute(
                ADD_VERSION,
                {
                    "document_id": document_id,
                    "workspace_id": workspace_id,
                    "content_hash": content_hash,
                    "content": extracted.content,
                    "language": (found or "").split("-")[0].lower(),
                    "file_key": file_key,
                    "page_count": extracted.page_count,
                    "duration_seconds": extracted.duration_seconds,
                    "chunk_count": len(chunks),
                    "extraction": json.dumps(extraction),
                },
            )
        ).fetchone()
        assert row is not None
        version_id = int(row["id"])
        await _store_chunks(connection, workspace_id, version_id, chunks, language, extracted.title)
    return version_id


async def _store_chunks(
    connection: Connection,
    workspace_id: int,
    version_id: int,
    chunks: Sequence[ChunkText],
    language: str,
    title: str,
) -> None:
    await connection.execute(STAGING)
    async with connection.cursor() as cursor, cursor.copy(COPY_STAGED) as copy:
        for first in range(0, len(chunks), ROWS_AT_ONCE):
            some = chunks[first : first + ROWS_AT_ONCE]
            # a second of detecting and folding would be a second without a heartbeat
            for row in await asyncio.to_thread(_rows, some, language, title):
                await copy.write_row(row)
    values = {"workspace_id": workspace_id, "version_id": version_id}
    await connection.execute(STORE_CHUNKS, values)
    await connection.execute(STORE_LEXEMES, values)


def _rows(chunks: Sequence[ChunkText], language: str, title: str) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for chunk in chunks:
        own = detect_language(chunk.text)
        rows.append(
            (
                chunk.ordinal,
                chunk.text,
                chunk.start,
                chunk.end,
                chunk.page,
                chunk.second,
                chunk.heading,
                regconfig(own) if own else language,
                chunk.tokens,
                indexed_text(title, chunk),
            )
        )
    return rows


def indexed_text(title: str, chunk: ChunkText) -> str:
    """Return what the full-text leg finds a chunk by: its words, its heading and its title."""
    return document_text("\n".join(part for part in (title, chunk.heading, chunk.text) if part))


async def chunks_without_vector(
    database: Database, version_id: int, model_id: int, *, limit: int
) -> list[PendingChunk]:
    """Return the next chunks of a version to embed."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            WITHOUT_VECTOR, {"version_id": version_id, "model_id": model_id, "limit": limit}
        )
        rows = await cursor.fetchall()
    return [PendingChunk(row["id"], row["heading"], row["content"]) for row in rows]


async def count_vectors(database: Database, version_id: int, model_id: int) -> tuple[int, int]:
    """Return how many chunks of a version have a vector, and how many there are."""
    async with database.connection() as connection:
        row = await (
            await connection.execute(
                "select (select count(*) from embedding where version_id = %(v)s "
                "and model_id = %(m)s) as done, "
                "(select count(*) from chunk where version_id = %(v)s) as total",
                {"v": version_id, "m": model_id},
            )
        ).fetchone()
    assert row is not None
    return int(row["done"]), int(row["total"])


async def store_vectors(
    database: Database,
    *,
    workspace_id: int,
    version_id: int,
    model_id: int,
    vectors: Sequence[tuple[int, Sequence[float]]],
) -> None:
    """Store the vectors of a batch of chunks, each with its chunk's id."""
    async with (
        database.connection() as connection,
        connection.cursor() as cursor,
        cursor.copy(
            "copy embedding (chunk_id, model_id, workspace_id, version_id, vector) "
            "from stdin with (format binary)"
        ) as copy,
    ):
        copy.set_types(["int8", "int4", "int8", "int8", "halfvec"])
        for chunk_id, vector in vectors:
            await copy.write_row(
                (chunk_id, model_id, workspace_id, version_id, HalfVector(list(vector)))
            )


async def embed_version(
    database: Database,
    embedder: Embedder,
    *,
    workspace_id: int,
    version_id: int,
    model_id: int,
    title: str,
    on_progress: Callable[[int, int], Awaitable[None]] | None = None,
) -> None:
    """Embed what has no vector yet, batch by batch; a crash loses one batch at most."""
    done, total = await count_vectors(database, version_id, model_id)
    while batch := await chunks_without_vector(database, version_id, model_id, limit=BATCH_CHUNKS):
        vectors = await embedder.embed(
            [embedding_text(title, chunk.heading, chunk.text) for chunk in batch], kind="passage"
        )
        await store_vectors(
            database,
            workspace_id=workspace_id,
            version_id=version_id,
            model_id=model_id,
            vectors=[(chunk.id, vector) for chunk, vector in zip(batch, vectors, strict=True)],
        )
        done += len(batch)
        if on_progress is not None:
            await on_progress(done, total)


async def publish_early(
    database: Database,
    *,
    workspace_id: int,
    document_id: int,
    version_id: int,
    model_id: int,
    extracted: Extracted,
) -> None:
    """Show a new document to questions while it is being embedded: its words are found at once.

    Only what questions see nothing of yet is shown early. Vectors join as they are stored; the
    publication at the end makes the snapshot that stays as it is.
    """
    async with database.connection() as connection:
        await connection.execute(snapshots.LOCK_POINTER, (workspace_id,))
        cursor = await connection.execute(NAME_NEW, _names(document_id, extracted))
        if await cursor.fetchone() is None:
            return
        number = await snapshots.next_snapshot(
            connection,
            workspace_id,
            model_id=model_id,
            document_id=document_id,
            reason=snapshots.early_reason(document_id),
        )
        await snapshots.add_version(connection, workspace_id, version_id, number)
        await documents.notify(connection, workspace_id, document_id)


async def publish(
    database: Database,
    *,
    workspace_id: int,
    document_id: int,
    version_id: int,
    model_id: int,
    extracted: Extracted,
) -> bool:
    """Show a version to questions: one transaction that makes the next snapshot.

    False when the document was cancelled or removed in the meantime: then nothing changed.
    """
    async with database.connection() as connection:
        number = await snapshots.next_snapshot(
            connection,
            workspace_id,
            model_id=model_id,
            document_id=document_id,
            reason=f"added document {document_id}",
        )
        if not await _finish(connection, document_id, extracted, unchanged=False):
            await connection.rollback()
            return False
        await snapshots.close_versions(connection, workspace_id, document_id, number)
        await snapshots.add_version(connection, workspace_id, version_id, number)
    return True


async def find_live_version(database: Database, document_id: int) -> LiveVersion | None:
    """Return what questions see of a document; None when that is nothing."""
    async with database.connection() as connection:
        row = await (await connection.execute(LIVE_VERSION, (document_id,))).fetchone()
    return None if row is None else LiveVersion(**row)


async def adopt_model(database: Database, workspace_id: int, model_id: int) -> bool:
    """Let questions use a model's vectors once every chunk has one; False until then."""
    async with database.connection() as connection:
        return await snapshots.adopt_model(connection, workspace_id, model_id)


async def mark_unchanged(database: Database, document_id: int, extracted: Extracted) -> None:
    """Note that a document was looked at again and is as it was."""
    async with database.connection() as connection:
        await _finish(connection, document_id, extracted, unchanged=True)


async def _finish(
    connection: Connection, document_id: int, extracted: Extracted, *, unchanged: bool
) -> bool:
    cursor = await connection.execute(
        FINISH_DOCUMENT,
        _names(document_id, extracted) | {"unchanged": unchanged},
    )
    row = await cursor.fetchone()
    if row is None:
        return False
    await documents.notify(connection, row["workspace_id"], document_id)
    return True


def _names(document_id: int, extracted: Extracted) -> dict[str, object]:
    return {
        "id": document_id,
        "title": extracted.title[: documents.LONGEST_TITLE],
        "source_type": extracted.source_type,
    }
