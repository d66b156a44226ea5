"""Runs a question set through the query plane, one configuration after the other."""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag_app.errors import SettingsError
from rag_app.evaluation import metrics
from rag_app.evaluation.beir import EvaluationDocument, EvaluationSet, read_evaluation_set
from rag_app.ingestion import storing
from rag_app.ingestion.chunking import split
from rag_app.ingestion.content import Extracted, clean
from rag_app.library import snapshots
from rag_app.query import pipeline
from rag_app.query.pipeline import Query, QueryOptions
from rag_app.runtime import Runtime

CONFIGURATIONS: Mapping[str, QueryOptions] = {
    "vector": QueryOptions(fusion="vector"),
    "text": QueryOptions(fusion="text"),
    "hybrid": QueryOptions(),
    "rrf": QueryOptions(fusion="rrf"),
    "gated-rrf": QueryOptions(fusion="gated-rrf"),
}
LAYOUT = 2  # raised when the way a corpus is stored changes, so that it is stored anew

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


async def evaluate(
    runtime: Runtime,
    folder: Path,
    names: Sequence[str],
    on_progress: Callable[[str, int, int], None] = lambda *_: None,
) -> dict[str, Any]:
    """Return the measures of each named configuration on a folder in BEIR form.

    `on_progress` is called with a step, what is done of it and what there is in all.
    """
    unknown = [name for name in names if name not in CONFIGURATIONS]
    if unknown:
        raise SettingsError(
            f"There is no configuration {unknown[0]!r}: take any of {', '.join(CONFIGURATIONS)}."
        )
    evaluation_set = read_evaluation_set(folder)
    query, uris = await _store_corpus(runtime, evaluation_set, on_progress)
    rankings: dict[str, dict[str, list[str]]] = {name: {} for name in names}
    times: dict[str, list[float]] = {name: [] for name in names}
    for done, question in enumerate(evaluation_set.questions):
        on_progress("ask", done, len(evaluation_set.questions))
        for name in names:  # alternating, so that a busy moment hits all alike
            started = time.perf_counter()
            found = await pipeline.retrieve(query, question.text, CONFIGURATIONS[name])
            times[name].append((time.perf_counter() - started) * 1000)
            rankings[name][question.id] = metrics.unique(
                uris[passage.document_id] for passage in found.passages
            )
    return {
        "set": evaluation_set.name,
        "documents": len(evaluation_set.documents),
        "questions": len(evaluation_set.questions),
        "embedding_model": query.provider.embedder.model.name,
        "configurations": {
            name: _measures(rankings[name], evaluation_set, times[name]) for name in names
        },
    }


def table(report: Mapping[str, Any]) -> str:
    """Return a report as a Markdown table, measures in percent."""
    measures = list(metrics.MEASURES)
    lines = [
        f"{report['set']}: {report['documents']} documents, {report['questions']} questions",
        "",
        f"| configuration | {' | '.join(measures)} | without hits | p50 ms | p95 ms |",
        "|" + " --- |" * (len(measures) + 4),
    ]
    for name, values in report["configurations"].items():
        cells = [f"{100 * values[measure]:.1f}" for measure in measures]
        cells.append(str(values["questions_without_hits"]))
        cells.extend(f"{values[column]:.0f}" for column in ("p50_ms", "p95_ms"))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


async def _store_corpus(
    runtime: Runtime, evaluation_set: EvaluationSet, on_progress: Callable[[str, int, int], None]
) -> tuple[Query, dict[int, str]]:
    """Store a corpus in a workspace of its own, once for each model and content.

    Goes through the same splitting, indexing and publishing as a person's documents; an
    interrupted run goes on where it stopped.
    """
    database = runtime.database
    async with database.connection() as connection:
        cursor = await connection.execute(
            ADD_WORKSPACE, (_workspace_name(evaluation_set, runtime),)
        )
        row = await cursor.fetchone()
        assert row is not None
        workspace_id = int(row["id"])
        cursor = await connection.execute(STORED, (workspace_id,))
        stored = {stored["uri"]: stored for stored in await cursor.fetchall()}
    total = len(evaluation_set.documents)
    for done, document in enumerate(evaluation_set.documents):
        on_progress("store", done, total)
        if document.id not in stored:
            await _store_document(runtime, workspace_id, document)
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
    runtime: Runtime, workspace_id: int, document: EvaluationDocument
) -> None:
    content = clean(document.text)
    extracted = Extracted(document.title, content, "markdown", document.id)
    chunks = split(content, "markdown", count_tokens=runtime.query.count_tokens)
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


async def _embed_all(
    runtime: Runtime, workspace_id: int, on_progress: Callable[[str, int, int], None]
) -> None:
    async with runtime.database.connection() as connection:
        cursor = await connection.execute(STORED, (workspace_id,))
        rows = await cursor.fetchall()
    for done, row in enumerate(rows):
        on_progress("embed", done, len(rows))
        if not row["is_live"]:
            await storing.embed_version(
                runtime.database,
                runtime.provider.embedder,
                workspace_id=workspace_id,
                version_id=row["version_id"],
                model_id=runtime.model_id,
                title=row["title"],
            )


def _workspace_name(evaluation_set: EvaluationSet, runtime: Runtime) -> str:
    digest = hashlib.sha256(f"{LAYOUT} {runtime.provider.embedder.model.name}".encode())
    for document in evaluation_set.documents:
        digest.update(f"{document.id}\0{document.title}\0{document.text}\0".encode())
    return f"evaluation {digest.hexdigest()[:16]}"


def _measures(
    rankings: Mapping[str, Sequence[str]], evaluation_set: EvaluationSet, times: Sequence[float]
) -> dict[str, float]:
    scores = metrics.score_rankings(rankings, evaluation_set.judgements)
    return {
        **{name: metrics.mean(values) for name, values in scores.items()},
        "questions_without_hits": sum(not ranking for ranking in rankings.values()),
        "p50_ms": metrics.percentile(times, 0.5),
        "p95_ms": metrics.percentile(times, 0.95),
    }
