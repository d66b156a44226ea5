"""Add, list, get, retry and remove documents; every change is told on the channel `documents`."""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any

from rag_app.database.session import Connection, Database
from rag_app.errors import IngestionError, NotFoundError
from rag_app.jobs import queue
from rag_app.library import snapshots
from rag_app.library.files import FileStore, hash_file
from rag_app.uris import SITE_PREFIX, canonical_url

CHANNEL = "documents"
PURGE_AFTER_SECONDS = 120  # questions that are being answered may still read what was removed
LONGEST_TITLE = 300
HELD = ("queued", "running", "ready")
HASH_OF_NOTHING = hashlib.sha256().hexdigest()

# what a person sees of a document: the row, and the figures of its newest visible version
SUMMARY = """
select d.id, d.title, d.uri, d.source_type, d.status, d.step, d.progress, d.error, d.unchanged,
       d.created_at, d.updated_at, v.id as version_id, v.page_count as pages,
       v.duration_seconds as seconds, coalesce(v.chunk_count, 0) as chunks,
       coalesce(v.extraction -> 'warnings', '[]'::jsonb) as warnings,
       coalesce(v.extraction ->> 'strip', '') as strip,
       coalesce(v.extraction -> 'coverage', '{}'::jsonb) as coverage
from document d
left join lateral (
    select v.* from document_version v join membership m on m.version_id = v.id
    where v.document_id = d.id and m.removed_in is null
    order by v.id desc limit 1
) v on true
where d.workspace_id = %(workspace_id)s and d.removed_at is null
"""

# a document of this address, new or as it was, queued in either case: a job that is at it stops at
# its next step, since what it reads may have changed, and the next one goes on from what it stored
ADD = """
insert into document (workspace_id, source_type, uri, title, file_key)
values (%(workspace_id)s, %(source_type)s, %(uri)s, %(title)s, %(file_key)s)
on conflict (workspace_id, uri) where removed_at is null do update
set status = 'queued', step = '', progress = 0, file_key = excluded.file_key,
    error = null, unchanged = false, updated_at = now()
returning id
"""

# the document of this address, and any other that holds, or is about to hold, the same bytes
FIND_SAME = """
select d.id, d.status, d.uri = %(uri)s as is_own, d.file_key like %(key)s as is_same
from document d
where d.workspace_id = %(workspace_id)s and d.removed_at is null and (d.uri = %(uri)s
  or d.file_key like %(key)s and d.status = any(%(held)s))
order by is_own desc, d.id limit 1
"""

# held while a file and the rows that name it come or go, so that a purge takes neither from a
# document that has just been added
LOCK_FILE = "select pg_advisory_xact_lock(hashtextextended('file-' || %s, 0))"

# documents that wait for a job which no longer exists, and removed ones that were never purged
LOST = """
select d.id, d.removed_at is not null as is_removed from document d
where (d.removed_at is null and d.status in ('queued', 'running') or d.removed_at is not null)
  and d.updated_at < now() - interval '10 seconds'
  and not exists (select 1 from procrastinate_jobs j
    where j.lock = 'document-' || d.id and j.status in ('todo', 'doing'))
for update of d skip locked
"""

LANGUAGES = """
select v.language, count(distinct v.document_id) as documents
from document_version v join membership m on m.version_id = v.id and m.removed_in is null
where v.workspace_id = %s and v.language <> '' group by v.language order by 2 desc, 1
"""

SOURCE_TYPES = """
select d.source_type, count(*) as documents from document d
where d.workspace_id = %s and d.removed_at is null and d.source_type <> ''
group by d.source_type order by 2 desc, 1
"""

LINKED = """
select distinct d.id, d.uri from membership m join document_version v on v.id = m.version_id
cross join lateral jsonb_array_elements_text(v.extraction -> 'links') l(uri)
join document d on d.workspace_id = v.workspace_id and d.uri = l.uri and d.removed_at is null
where m.workspace_id = %(workspace_id)s and m.removed_in is null and v.document_id = any(%(ids)s)
order by d.id
"""

WITHOUT_VECTORS = """
select distinct v.document_id as id
from membership m join document_version v on v.id = m.version_id
join document d on d.id = v.document_id and d.status <> 'running'
where m.workspace_id = %(workspace_id)s and m.removed_in is null and v.chunk_count > (
  select count(*) from embedding e where e.version_id = v.id and e.model_id = %(model_id)s)
order by 1
"""

QUEUE_AGAIN = """
update document set status = 'queued', step = '', progress = 0, error = null, updated_at = now()
where id = %s and workspace_id = %s and removed_at is null returning id
"""

CANCEL = """
update document set status = 'cancelled', step = '', updated_at = now()
where id = %s and workspace_id = %s and removed_at is null and status in ('queued', 'running')
"""

REMOVE = """
update document set removed_at = now(), updated_at = now(), status = 'cancelled'
where id = %s and workspace_id = %s and removed_at is null returning id
"""

# takes a document out of the queue; one that was cancelled or removed stays where it is
BEGIN = """
update document set status = 'running', step = 'fetch', progress = 0, error = null,
  updated_at = now()
where id = %s and removed_at is null and status in ('queued', 'running')
returning id, workspace_id, uri, title, file_key
"""

LOCK_WORKSPACE = """
select live_snapshot from workspace
where id = (select workspace_id from document where id = %s) for no key update
"""

FAIL = """
update document set status = %(status)s, error = %(error)s, step = '', updated_at = now()
where id = %(id)s and removed_at is null and status = 'running' returning workspace_id
"""

# only a running document moves: what was cancelled or removed in the meantime stays so
REPORT = """
update document set step = %(step)s, progress = %(progress)s, updated_at = now()
where id = %(id)s and removed_at is null and status = 'running' returning workspace_id
"""


@dataclass(frozen=True)
class DocumentSummary:
    """A document as a list shows it; `progress` runs from 0 to 1, `seconds` is a duration.

    `coverage` counts its pages by state and `strip` has their letters, see `ingestion.coverage`;
    both are empty where each page was simply read.
    """

    id: int
    title: str
    uri: str
    source_type: str
    status: str
    step: str
    progress: float
    error: str | None
    unchanged: bool
    created_at: datetime
    updated_at: datetime
    version_id: int | None
    pages: int | None
    seconds: int | None
    chunks: int
    warnings: tuple[str, ...]
    strip: str = ""
    coverage: Mapping[str, int] = field(default_factory=dict)


async def add_url(
    database: Database, workspace_id: int, url: str, *, priority: int | None = None
) -> int:
    """Queue a web page or a video and return the document's id."""
    uri = canonical_url(url)
    async with database.connection() as connection:
        return await _add(
            connection,
            workspace_id,
            uri=uri,
            title=uri.removeprefix(SITE_PREFIX),
            file_key=None,
            priority=priority,
        )


async def add_file(
    database: Database,
    files: FileStore,
    workspace_id: int,
    path: Path,
    name: str,
    uri: str = "",
    *,
    priority: int | None = None,
) -> int:
    """Keep a copy of a file, queue it, and return the document's id.

    The same bytes again give the document that holds them already. A file with a `uri` of its own
    (a path on this machine) whose bytes changed becomes a new version of that document.
    """
    digest = await asyncio.to_thread(hash_file, path)
    if digest == HASH_OF_NOTHING:
        raise IngestionError(f'"{name}" is empty: there is nothing to read.')
    uri = uri or f"upload:{digest}"
    async with database.connection() as connection:
        await connection.execute(LOCK_FILE, (digest,))
        same = await _find_same(connection, workspace_id, digest, uri)
        if same is not None:
            return same
        key = await asyncio.to_thread(files.put, path, name)
        return await _add(
            connection, workspace_id, uri=uri, title=name, file_key=key, priority=priority
        )


async def find_same(database: Database, workspace_id: int, digest: str) -> int | None:
    """Return the document that holds a file of this SHA-256, and show that it was meant again."""
    async with database.connection() as connection:
        return await _find_same(connection, workspace_id, digest, f"upload:{digest}")


async def _find_same(
    connection: Connection, workspace_id: int, digest: str, uri: str
) -> int | None:
    values = {"workspace_id": workspace_id, "uri": uri, "key": f"{digest[:2]}/{digest}%"}
    values["held"] = list(HELD)
    same = await (await connection.execute(FIND_SAME, values)).fetchone()
    if same is None or not same["is_same"] or same["status"] not in HELD:
        return None
    if same["status"] == "ready":
        await connection.execute(
            "update document set unchanged = true, updated_at = now() where id = %s", (same["id"],)
        )
    elif same["status"] == "queued":  # perhaps behind others, for which nobody waits
        await queue.defer(connection, queue.INGEST_DOCUMENT, document_id=same["id"])
    await notify(connection, workspace_id, same["id"])
    return int(same["id"])


async def _add(
    connection: Connection,
    workspace_id: int,
    *,
    uri: str,
    title: str,
    file_key: str | None,
    priority: int | None,
) -> int:
    cursor = await connection.execute(
        ADD,
        {
            "workspace_id": workspace_id,
            "source_type": "",
            "uri": uri,
            "title": title.replace("\x00", "")[:LONGEST_TITLE],
            "file_key": file_key,
        },
    )
    row = await cursor.fetchone()
    assert row is not None
    await queue.defer(connection, queue.INGEST_DOCUMENT, document_id=row["id"], priority=priority)
    await notify(connection, workspace_id, row["id"])
    return int(row["id"])


async def list_languages(database: Database, workspace_id: int) -> dict[str, int]:
    """Return how many documents of the library are in each language, by ISO 639 code."""
    async with database.connection() as connection:
        rows = await (await connection.execute(LANGUAGES, (workspace_id,))).fetchall()
    return {row["language"]: row["documents"] for row in rows}


async def list_source_types(database: Database, workspace_id: int) -> dict[str, int]:
    """Return how many documents of the library are of each source type, the most first."""
    async with database.connection() as connection:
        rows = await (await connection.execute(SOURCE_TYPES, (workspace_id,))).fetchall()
    return {row["source_type"]: row["documents"] for row in rows}


async def list_linked(database: Database, workspace_id: int, ids: Sequence[int]) -> dict[int, str]:
    """Return what collections hold: the ids of its documents with their addresses."""
    async with database.connection() as connection:
        cursor = await connection.execute(LINKED, {"workspace_id": workspace_id, "ids": list(ids)})
        return {row["id"]: row["uri"] for row in await cursor.fetchall()}


async def count_without_vectors(database: Database, workspace_id: int, model_id: int) -> int:
    """Return how many documents have no vectors of a model, or not all: found by words only."""
    async with database.connection() as connection:
        # counting takes a look at each document, which the first model's library can do without
        cursor = await connection.execute(
            "select 1 from embedding_model where id <> %s", (model_id,)
        )
        if await cursor.fetchone() is None:
            return 0
        cursor = await connection.execute(
            f"select count(*) as n from ({WITHOUT_VECTORS}) d",
            {"workspace_id": workspace_id, "model_id": model_id},
        )
        row = await cursor.fetchone()
    return int(row["n"]) if row else 0


async def embed_again(database: Database, workspace_id: int, model_id: int) -> int:
    """Queue each document that lacks vectors of a model, and return how many those are."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            WITHOUT_VECTORS, {"workspace_id": workspace_id, "model_id": model_id}
        )
        found = [row["id"] for row in await cursor.fetchall()]
        for document_id in found:
            await queue.defer(connection, queue.EMBED_DOCUMENT, document_id=document_id)
    return len(found)


async def count_embedding(database: Database) -> int:
    """Return how many documents wait to be embedded again, or just are."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            "select count(*) as n from procrastinate_jobs "
            "where task_name = %s and status in ('todo', 'doing')",
            (queue.EMBED_DOCUMENT,),
        )
        row = await cursor.fetchone()
    return int(row["n"]) if row else 0


async def list_documents(
    database: Database, workspace_id: int, *, title: str = "", limit: int = 200, offset: int = 0
) -> list[DocumentSummary]:
    """Return documents whose title or address holds `title`, newest first."""
    statement = SUMMARY
    if title.strip():
        statement += " and (d.title ilike %(pattern)s or d.uri ilike %(pattern)s)"
    statement += " order by d.created_at desc, d.id desc limit %(limit)s offset %(offset)s"
    pattern = (
        "%" + title.strip().replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_") + "%"
    )
    values = {
        "workspace_id": workspace_id,
        "pattern": pattern,
        "limit": limit,
        "offset": offset,
    }
    async with database.connection() as connection:
        rows = await (await connection.execute(statement, values)).fetchall()
    return [_summary(row) for row in rows]


async def count_documents(database: Database, workspace_id: int) -> int:
    """Return how many documents the library holds, whatever their status."""
    async with database.connection() as connection:
        row = await (
            await connection.execute(
                "select count(*) as n from document where workspace_id = %s and removed_at is null",
                (workspace_id,),
            )
        ).fetchone()
    return int(row["n"]) if row else 0


async def get_document(database: Database, workspace_id: int, document_id: int) -> DocumentSummary:
    """Return one document; raise NotFoundError for what is gone or somebody else's."""
    async with database.connection() as connection:
        row = await (
            await connection.execute(
                SUMMARY + " and d.id = %(id)s", {"workspace_id": workspace_id, "id": document_id}
            )
        ).fetchone()
    if row is None:
        raise NotFoundError(f"There is no document {document_id} in this library.")
    return _summary(row)


async def retry_document(database: Database, workspace_id: int, document_id: int) -> None:
    """Queue a document again; steps that were stored are not repeated."""
    async with database.connection() as connection:
        cursor = await connection.execute(QUEUE_AGAIN, (document_id, workspace_id))
        if await cursor.fetchone() is None:
            raise NotFoundError(f"There is no document {document_id} in this library.")
        await queue.defer(connection, queue.INGEST_DOCUMENT, document_id=document_id)
        await notify(connection, workspace_id, document_id)


async def cancel_document(database: Database, workspace_id: int, document_id: int) -> None:
    """Stop a document that waits or is being taken in; its job ends at its next step."""
    async with database.connection() as connection:
        await connection.execute(snapshots.LOCK_POINTER, (workspace_id,))
        cursor = await connection.execute(CANCEL, (document_id, workspace_id))
        if cursor.rowcount:
            await snapshots.withdraw_early(connection, workspace_id, document_id)
        await notify(connection, workspace_id, document_id)


async def remove_document(database: Database, workspace_id: int, document_id: int) -> None:
    """Take a document out of the library at once; its rows and file are deleted soon after."""
    async with database.connection() as connection:
        await connection.execute(snapshots.LOCK_POINTER, (workspace_id,))
        if await (await connection.execute(REMOVE, (document_id, workspace_id))).fetchone() is None:
            raise NotFoundError(f"There is no document {document_id} in this library.")
        await snapshots.remove_versions(connection, workspace_id, document_id)
        await queue.defer(
            connection,
            queue.PURGE_DOCUMENT,
            document_id=document_id,
            in_seconds=PURGE_AFTER_SECONDS,
        )
        await notify(connection, workspace_id, document_id)


async def purge_document(database: Database, files: FileStore, document_id: int) -> None:
    """Delete what a removed document left: vectors, chunks, text, and its file if unshared."""
    async with database.connection() as connection:
        row = await (
            await connection.execute(
                "select file_key from document where id = %s and removed_at is not null for update",
                (document_id,),
            )
        ).fetchone()
        if row is None:
            return
        versions = await (
            await connection.execute(
                "select id, file_key from document_version where document_id = %s", (document_id,)
            )
        ).fetchall()
        for version in versions:
            await delete_version(connection, version["id"])
        await connection.execute("delete from document where id = %s", (document_id,))
        keys = {row["file_key"], *(version["file_key"] for version in versions)} - {None}
        for key in sorted(keys):
            await connection.execute(LOCK_FILE, (PurePath(key).stem,))
            if not await _is_used(connection, key):
                await asyncio.to_thread(files.remove, key)


async def queue_lost(database: Database) -> None:
    """Give a job to each document that waits for one, or for its purge, and has none."""
    async with database.connection() as connection:
        for row in await (await connection.execute(LOST)).fetchall():
            name = queue.PURGE_DOCUMENT if row["is_removed"] else queue.INGEST_DOCUMENT
            await queue.defer(connection, name, document_id=row["id"])


async def delete_version(connection: Connection, version_id: int) -> None:
    """Delete a version with everything that hangs on it, vectors first."""
    for table in ("embedding", "chunk_text_index", "chunk"):
        await connection.execute(
            f"delete from {table} where version_id = %s",
            (version_id,),
        )
    await connection.execute("delete from document_version where id = %s", (version_id,))


async def begin(database: Database, document_id: int) -> dict[str, Any] | None:
    """Mark a queued document as running and return it; None when there is nothing to do."""
    async with database.connection() as connection:
        row = await (await connection.execute(BEGIN, (document_id,))).fetchone()
        if row is not None:
            await notify(connection, row["workspace_id"], document_id)
        return row


async def is_running(database: Database, document_id: int) -> bool:
    """Say whether a document is still to be taken in."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            "select 1 from document where id = %s and removed_at is null and status = 'running'",
            (document_id,),
        )
        return await cursor.fetchone() is not None


async def are_finished(database: Database, workspace_id: int, ids: Sequence[int]) -> bool:
    """Say whether none of these documents waits or is being taken in."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            "select 1 from document where id = any(%s) and workspace_id = %s "
            "and status in ('queued', 'running') and removed_at is null limit 1",
            (list(ids), workspace_id),
        )
        return await cursor.fetchone() is None


async def report_failure(
    database: Database, document_id: int, error: str, *, will_retry: bool
) -> bool:
    """Show beside a running document why it failed, and whether it waits for another try.

    False when it was cancelled, removed or queued anew in the meantime: then nothing is shown.
    """
    async with database.connection() as connection:
        # in the order of every publication: first the workspace, then the document
        await connection.execute(LOCK_WORKSPACE, (document_id,))
        cursor = await connection.execute(
            FAIL,
            {"id": document_id, "error": error, "status": "queued" if will_retry else "failed"},
        )
        row = await cursor.fetchone()
        if row is None:
            return False
        if not will_retry:
            await snapshots.withdraw_early(connection, row["workspace_id"], document_id)
        await notify(connection, row["workspace_id"], document_id)
        return True


async def report_progress(database: Database, document_id: int, step: str, progress: float) -> bool:
    """Store and tell how far a running document has come; False when it should stop."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            REPORT, {"id": document_id, "step": step, "progress": progress}
        )
        row = await cursor.fetchone()
        if row is None:
            return False
        await notify(connection, row["workspace_id"], document_id)
        return True


async def tell(database: Database, workspace_id: int, document_id: int) -> None:
    """Tell open pages that something about a document changed which its row does not show."""
    async with database.connection() as connection:
        await notify(connection, workspace_id, document_id)


async def notify(connection: Connection, workspace_id: int, document_id: int) -> None:
    """Tell open pages, when the transaction commits, that a document changed."""
    payload = json.dumps({"workspace_id": workspace_id, "document_id": document_id})
    await connection.execute("select pg_notify(%s, %s)", (CHANNEL, payload))


async def _is_used(connection: Connection, key: str) -> bool:
    cursor = await connection.execute(
        "select 1 from document where file_key = %(key)s "
        "union all select 1 from document_version where file_key = %(key)s limit 1",
        {"key": key},
    )
    return await cursor.fetchone() is not None


def _summary(row: Mapping[str, Any]) -> DocumentSummary:
    values = dict(row)
    values["warnings"] = tuple(values["warnings"])
    return DocumentSummary(**values)
