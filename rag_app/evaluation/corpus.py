"""Keeps the corpus of an evaluation set in a workspace of its own."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import replace

from rag_app.evaluation.beir import EvaluationDocument, EvaluationSet
from rag_app.ingestion import storing
from rag_app.ingestion.chunking import split
from rag_app.ingestion.content import Extracted, clean
from rag_app.library import snapshots
from rag_app.query.pipeline import Query
from rag_app.runtime import Runtime

LAYOUT = 2  # raised when the way a corpus is stored changes, so that it is stored anew

OnProgress = Callable[[str, int, int], Awaitable[None]]
"""Called with a step, what is done of it and what there is in all; raises to stop."""


async def say_nothing(_step: str, _done: int, _total: int) -> None:
    """Report to nobody."""


ADD_WORKSPACE = """
insert into workspace (name) values (%s) on conflict (name) do update set name = excluded.name
returning id
"""

ADD_DOCUMENT = """
insert into document (workspace_id, source_type, uri, title, status)
values (%s, 'markdown', %s, %s, 'ready') on conflict (workspace_id, uri) where removed_at is null
do update set title = excluded.title returning id
"""

# every version of the workspace, and whether a snapshot shows it
STORED = """
select v.id as version_id, d.id as document_id, d.uri, d.title,
       exists (select 1 from membership m where m.version_id = v.id) as is_live
from document_version v join document d on d.id = v.document_id
where v.workspace_id = %s order by v.id
"""


async def store_corpus(
    runtime: Runtime,
    evaluation_set: EvaluationSet,
    on_progress: OnProgress,
    *,
    chunk_tokens: int | None = None,
) -> tuple[Query, dict[int, str]]:
    """Store a corpus in a workspace of its own, once for each model, content and chunk size.

    Returns what to ask there, and each document's id in the set by its id in the table. Goes
    through the same splitting, indexing and publishing as a person's documents; an interrupted run
    goes on where it stopped, and a second one at the same time waits for the first.
    """
    name = _workspace_name(evaluation_set, runtime, chunk_tokens)
    async with runtime.database.hold(name):
        return await _store_corpus(runtime, evaluation_set, on_progress, name, chunk_tokens)


async def _store_corpus(
    runtime: Runtime,
    evaluation_set: EvaluationSet,
    on_progress: OnProgress,
    name: str,
    chunk_tokens: int | None,
) -> tuple[Query, dict[int, str]]:
    database = runtime.database
    async with database.connection() as connection:
        cursor = await connection.execute(ADD_WORKSPACE, (name,))
        row = await cursor.fetchone()
        assert row is not None
        workspace_id = int(row["id"])
        cursor = await connection.execute(STORED, (workspace_id,))
        stored = {stored["uri"]: stored for stored in await cursor.fetchall()}
    total = len(evaluation_set.documents)
    for done, document in enumerate(evaluation_set.documents):
        await on_progress("store", done, total)
        if document.id not in stored:
            await _store_document(runtime, workspace_id, document, chunk_tokens)
    await _embed_all(runtime, workspace_id, on_progress)
    async with database.connection() as connection:
        cursor = await connection.execute(STORED, (workspace_id,))
        rows = await cursor.fetchall()
        pending = [row["version_id"] for row in rows if not row["is_live"]]
        if pending:
            number = await snapshots.next_snapshot(
                connection, workspace_id, model_id=runtime.model_id, reason="evaluation"
            )
            for version_id in pending:
                await snapshots.add_version(connection, workspace_id, version_id, number)
    query = replace(runtime.query, workspace_id=workspace_id, scope_sizes={})
    return query, {row["document_id"]: row["uri"] for row in rows}


async def _store_document(
    runtime: Runtime, workspace_id: int, document: EvaluationDocument, chunk_tokens: int | None
) -> None:
    content = clean(document.text)
    extracted = Extracted(document.title, content, "markdown")
    sizes = {} if chunk_tokens is None else {"size": chunk_tokens}
    chunks = split(content, "markdown", count_tokens=runtime.query.count_tokens, **sizes)
    async with runtime.database.connection() as connection:
        cursor = await connection.execute(ADD_DOCUMENT, (workspace_id, document.id, document.title))
        row = await cursor.fetchone()
    assert row is not None
    await storing.store_version(
        runtime.database,
        workspace_id=workspace_id,
        document_id=row["id"],
        content_hash=hashlib.sha256(content.encode()).hexdigest(),
        extracted=extracted,
        file_key=None,
        chunks=chunks,
    )


async def _embed_all(runtime: Runtime, workspace_id: int, on_progress: OnProgress) -> None:
    async with runtime.database.connection() as connection:
        cursor = await connection.execute(STORED, (workspace_id,))
        rows = await cursor.fetchall()
    for done, row in enumerate(rows):
        await on_progress("embed", done, len(rows))
        await storing.embed_version(
            runtime.database,
            runtime.provider.embedder,
            workspace_id=workspace_id,
            version_id=row["version_id"],
            model_id=runtime.model_id,
            title=row["title"],
        )


def _workspace_name(
    evaluation_set: EvaluationSet, runtime: Runtime, chunk_tokens: int | None
) -> str:
    size = "" if chunk_tokens is None else f" {chunk_tokens}"
    digest = hashlib.sha256(f"{LAYOUT} {runtime.provider.embedder.model.name}{size}".encode())
    for document in evaluation_set.documents:
        digest.update(f"{document.id}\0{document.title}\0{document.text}\0".encode())
    return f"evaluation {digest.hexdigest()[:16]}"
