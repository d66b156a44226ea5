"""Documents come in: stored whole or not at all, once, and visible only when published."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from rag_app.errors import ProviderUnavailableError
from rag_app.ingestion.browser import Browser
from rag_app.jobs import queue
from rag_app.jobs.worker import Attempt
from rag_app.library import documents, snapshots
from rag_app.library.documents import DocumentSummary
from rag_app.providers.base import Embedder, EmbedKind, Provider
from rag_app.query import pipeline
from rag_app.query.results import Filters
from rag_app.runtime import Runtime, worker_tasks
from tests.support.ingesting import add_path, add_text, count, ingest
from tests.support.library import write_pdf

pytestmark = pytest.mark.integration


async def found(runtime: Runtime, question: str) -> list[tuple[str, int | None]]:
    retrieval = await pipeline.retrieve(runtime.query, question)
    return [(passage.title, passage.page) for passage in retrieval.passages]


async def test_a_pdf_is_found_on_its_page(runtime: Runtime, tmp_path: Path) -> None:
    path = write_pdf(
        tmp_path / "bees.pdf",
        ["A colony has one queen.", "The waggle dance tells the way.", "Winter is cold."],
        title="On Bees",
    )

    document = await add_path(runtime, path)

    assert (document.status, document.pages, document.chunks) == ("ready", 3, 3)
    assert (await found(runtime, "waggle dance"))[0] == ("On Bees", 2)


async def test_the_same_bytes_again_give_the_document_that_holds_them(
    runtime: Runtime, tmp_path: Path
) -> None:
    first = await add_text(runtime, tmp_path, "a.md", "# Pruning\n\nApple trees in February.")
    second = await add_text(runtime, tmp_path, "b.md", "# Pruning\n\nApple trees in February.")

    assert second.id == first.id
    assert second.unchanged
    assert await count(runtime, "document") == 1


async def test_a_changed_file_becomes_a_new_version_of_the_same_document(
    runtime: Runtime, tmp_path: Path
) -> None:
    first = await add_text(runtime, tmp_path, "notes.md", "# Notes\n\nTomatoes want water.")
    second = await add_text(runtime, tmp_path, "notes.md", "# Notes\n\nPumpkins want sun.")

    assert second.id == first.id
    texts = await pipeline.retrieve(runtime.query, "tomatoes pumpkins")
    assert [passage.text for passage in texts.passages] == ["# Notes\n\nPumpkins want sun."]
    assert await count(runtime, "document_version") == 2


async def test_publishing_makes_the_next_snapshot_and_the_old_one_stays_as_it_was(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_text(runtime, tmp_path, "a.md", "Apples are red.")
    await add_text(runtime, tmp_path, "b.md", "Berries are blue.")

    before = await pipeline.retrieve(runtime.query, "berries", snapshot=1)
    after = await pipeline.retrieve(runtime.query, "berries", snapshot=2)

    assert [passage.text for passage in before.passages] == ["Apples are red."]
    assert after.passages[0].text == "Berries are blue."
    listed = await snapshots.list_snapshots(runtime.database, runtime.workspace_id)
    assert [(row["number"], row["documents"], row["is_live"]) for row in listed] == [
        (2, 2, True),
        (1, 1, False),
    ]


async def test_statistics_follow_what_is_added_and_removed(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_text(runtime, tmp_path, "a.md", "The lighthouse keeper wrote a long letter home.")
    other = await add_text(runtime, tmp_path, "b.md", "The lighthouse stood on a small island.")
    await documents.remove_document(runtime.database, runtime.workspace_id, other.id)

    async with runtime.database.connection() as connection:
        terms = await (
            await connection.execute("select term, documents from term_statistics order by 1")
        ).fetchall()
        languages = await (
            await connection.execute("select chunks from language_statistics")
        ).fetchall()
        counted = await (
            await connection.execute(
                "select word, ndoc from ts_stat('select t.tsv from chunk_text_index t "
                "join membership m on m.version_id = t.version_id where m.removed_in is null') "
                "order by 1"
            )
        ).fetchall()
    assert [(row["term"], row["documents"]) for row in terms] == [
        (row["word"], row["ndoc"]) for row in counted
    ]
    assert [row["chunks"] for row in languages] == [1]


async def test_a_removed_document_is_gone_at_once_and_leaves_nothing(
    runtime: Runtime, tmp_path: Path
) -> None:
    document = await add_text(runtime, tmp_path, "a.md", "Apples are red.")
    await documents.remove_document(runtime.database, runtime.workspace_id, document.id)

    assert await found(runtime, "apples") == []
    assert await documents.list_documents(runtime.database, runtime.workspace_id) == []

    await documents.purge_document(runtime.database, runtime.files, document.id)

    for table in ("document", "document_version", "chunk", "chunk_text_index", "embedding"):
        assert await count(runtime, table) == 0, table
    assert [path for path in runtime.settings.files_dir.rglob("*") if path.is_file()] == []


async def test_a_removed_document_can_be_added_again(runtime: Runtime, tmp_path: Path) -> None:
    document = await add_text(runtime, tmp_path, "a.md", "Apples are red.")
    await documents.remove_document(runtime.database, runtime.workspace_id, document.id)

    again = await add_text(runtime, tmp_path, "a.md", "Apples are red.")

    assert again.status == "ready"
    assert await found(runtime, "apples") == [("a", None)]
    await documents.purge_document(runtime.database, runtime.files, document.id)
    assert runtime.files.local_path((await _file_keys(runtime))[0]).exists(), (
        "the file that both had stays while one has it"
    )


async def test_a_failure_says_what_and_why_and_a_retry_works(
    runtime: Runtime, tmp_path: Path
) -> None:
    path = write_pdf(tmp_path / "scan.pdf", ["", ""])

    document = await add_path(runtime, path)

    assert document.status == "failed"
    assert "scan.pdf" in (document.error or "")
    await documents.retry_document(runtime.database, runtime.workspace_id, document.id)
    queued = await documents.get_document(runtime.database, runtime.workspace_id, document.id)
    assert (queued.status, queued.error) == ("queued", None)


async def test_an_ingest_that_breaks_off_is_found_by_its_words_and_goes_on_where_it_stopped(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\n\n".join(f"# Part {n}\n\n" + f"Sentence about topic{n}. " * 60 for n in range(60))
    path = tmp_path / "long.md"
    path.write_text(text)
    document_id = await documents.add_file(
        runtime.database, runtime.files, runtime.workspace_id, path, path.name
    )
    real = runtime.provider.embedder.embed
    calls: list[int] = []

    async def failing(texts, *, kind):
        if kind == "query":
            return await real(texts, kind=kind)
        calls.append(len(texts))
        if len(calls) == 2:
            raise ProviderUnavailableError("The model is busy.")
        return await real(texts, kind=kind)

    monkeypatch.setattr(runtime.provider.embedder, "embed", failing)
    with pytest.raises(ProviderUnavailableError):
        await ingest(runtime, document_id, last=False)

    waiting = await documents.get_document(runtime.database, runtime.workspace_id, document_id)
    assert (waiting.status, waiting.error) == ("queued", "The model is busy.")
    assert await found(runtime, "topic3")
    embedded = await count(runtime, "embedding")
    assert embedded == calls[0]

    done = await ingest(runtime, document_id)

    assert done.status == "ready"
    assert sum(calls) - calls[1] == done.chunks, "nothing that was stored was embedded again"
    assert await count(runtime, "embedding") == done.chunks == await count(runtime, "chunk")
    assert await count(runtime, "document_version") == 1


def write_long_note(folder: Path) -> Path:
    sections = [
        f"# Part {n}\n\n" + f"The keeper of lighthouse number {n} wrote about storms. " * 40
        for n in range(40)
    ]
    path = folder / "long.md"
    path.write_text("\n\n".join(["# Lighthouses", *sections]), encoding="utf-8")
    return path


class Watched:
    """An embedder that lets a test look around before each batch."""

    def __init__(self, inner: Embedder, look: Callable[[int], Awaitable[None]]) -> None:
        self.inner, self.model, self.look, self.batches = inner, inner.model, look, 0

    async def embed(self, texts: Sequence[str], *, kind: EmbedKind) -> list[list[float]]:
        if kind == "passage":
            self.batches += 1
            await self.look(self.batches)
        return await self.inner.embed(texts, kind=kind)


async def add_watched(
    runtime: Runtime, folder: Path, look: Callable[[int, int], Awaitable[None]]
) -> DocumentSummary:
    path = write_long_note(folder)
    document_id = await documents.add_file(
        runtime.database, runtime.files, runtime.workspace_id, path, path.name, uri=str(path)
    )
    watched = Watched(runtime.provider.embedder, lambda batch: look(document_id, batch))
    return await ingest(replace(runtime, provider=Provider(watched)), document_id)


async def test_a_long_document_is_answerable_before_it_is_embedded(
    runtime: Runtime, tmp_path: Path
) -> None:
    seen = []

    async def look(document_id: int, batch: int) -> None:
        now = await documents.get_document(runtime.database, runtime.workspace_id, document_id)
        passages = (await pipeline.retrieve(runtime.query, "lighthouse number 37")).passages
        seen.append((now.status, now.title, passages[0].heading, passages[0].source_type))

    document = await add_watched(runtime, tmp_path, look)

    assert len(seen) > 1
    assert set(seen) == {("running", "Lighthouses", "Part 37", "markdown")}
    assert (document.status, document.unchanged) == ("ready", False)
    listed = await snapshots.list_snapshots(runtime.database, runtime.workspace_id)
    assert [one["documents"] for one in listed] == [1, 1]
    assert await count(runtime, "embedding") == document.chunks
    again = await add_path(runtime, tmp_path / "long.md")
    assert again.unchanged


@pytest.mark.parametrize("ending", ["cancel", "fail"])
async def test_a_document_shown_early_that_comes_to_no_end_is_withdrawn_and_can_go_on(
    runtime: Runtime, tmp_path: Path, ending: str
) -> None:
    async def look(document_id: int, batch: int) -> None:
        if batch == 2 and ending == "fail":
            raise ProviderUnavailableError
        if batch == 2:
            await documents.cancel_document(runtime.database, runtime.workspace_id, document_id)

    document = await add_watched(runtime, tmp_path, look)

    assert document.status == ("failed" if ending == "fail" else "cancelled")
    assert await found(runtime, "lighthouse number 37") == []
    assert await count(runtime, "term_statistics") == 0
    await documents.retry_document(runtime.database, runtime.workspace_id, document.id)
    finished = await ingest(runtime, document.id)
    assert (finished.status, finished.unchanged) == ("ready", False)
    assert await found(runtime, "lighthouse number 37")
    assert await count(runtime, "embedding") == finished.chunks


async def test_a_new_version_is_not_shown_before_it_is_whole(
    runtime: Runtime, tmp_path: Path
) -> None:
    seen = []

    async def look(_document_id: int, _batch: int) -> None:
        seen.append(await found(runtime, "lighthouse tomatoes"))

    await add_text(runtime, tmp_path, "long.md", "# Old\n\nTomatoes want water.")
    await add_watched(runtime, tmp_path, look)

    assert all(passages == [("Old", None)] for passages in seen)
    assert ("Lighthouses", None) in await found(runtime, "lighthouse tomatoes")


async def test_a_document_removed_while_it_comes_in_stays_removed(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.md"
    path.write_text("Apples are red.")
    document_id = await documents.add_file(
        runtime.database, runtime.files, runtime.workspace_id, path, path.name
    )
    real = runtime.provider.embedder.embed

    async def removing(texts, *, kind):
        await documents.remove_document(runtime.database, runtime.workspace_id, document_id)
        return await real(texts, kind=kind)

    monkeypatch.setattr(runtime.provider.embedder, "embed", removing)
    from rag_app.errors import NotFoundError

    with pytest.raises(NotFoundError):
        await ingest(runtime, document_id)

    assert await count(runtime, "membership") == 0
    monkeypatch.undo()
    assert await found(runtime, "apples") == []


async def test_a_file_that_changes_while_it_comes_in_ends_as_its_newest_version(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.md"
    path.write_text("Apples are red.")
    add = partial(
        documents.add_file,
        runtime.database,
        runtime.files,
        runtime.workspace_id,
        path,
        path.name,
        uri=str(path),
    )
    document_id = await add()
    real = runtime.provider.embedder.embed

    async def changing(texts, *, kind):
        monkeypatch.undo()
        path.write_text("Apples are green.")
        assert await add() == document_id
        return await real(texts, kind=kind)

    monkeypatch.setattr(runtime.provider.embedder, "embed", changing)
    assert (await ingest(runtime, document_id)).status == "queued"
    assert await count(runtime, "membership") == 0

    assert (await ingest(runtime, document_id)).status == "ready"
    texts = await pipeline.retrieve(runtime.query, "apples")
    assert [passage.text for passage in texts.passages] == ["Apples are green."]


async def _file_keys(runtime: Runtime) -> list[str]:
    async with runtime.database.connection() as connection:
        rows = await (
            await connection.execute("select file_key from document where removed_at is null")
        ).fetchall()
    return [row["file_key"] for row in rows]


async def test_another_model_takes_over_only_when_every_chunk_has_its_vector(
    runtime: Runtime, tmp_path: Path
) -> None:
    first = await add_text(runtime, tmp_path, "a.md", "Apples are red.")
    renamed = replace(runtime.provider.embedder.model, name="another")
    other_id = await snapshots.register_model(runtime.database, renamed)
    other = replace(runtime, model_id=other_id, query=replace(runtime.query, model_id=other_id))

    await add_text(other, tmp_path, "b.md", "Berries are blue.")

    # the old vectors still stand, and the new document is found by its words
    before = await pipeline.retrieve(runtime.query, "apples")
    assert before.passages[0].distance is not None
    assert (await found(runtime, "berries"))[0][0] == "b"
    async with runtime.database.connection() as connection:
        await connection.execute(
            "insert into embedding select chunk_id, %s, workspace_id, version_id, vector "
            "from embedding where version_id = %s",
            (other_id, first.version_id),
        )
    await add_text(other, tmp_path, "c.md", "Cherries are dark.")
    listed = await snapshots.list_snapshots(runtime.database, runtime.workspace_id)
    assert [row["embedding_model"] for row in listed] == [
        "another",
        runtime.provider.embedder.model.name,
        runtime.provider.embedder.model.name,
    ]


async def test_embedding_again_gives_every_document_vectors_of_the_new_model(
    runtime: Runtime, tmp_path: Path
) -> None:
    ids = [
        (await add_text(runtime, tmp_path, name, text)).id
        for name, text in (("a.md", "Apples are red."), ("b.md", "Berries are blue."))
    ]
    renamed = replace(runtime.provider.embedder.model, name="another")
    other_id = await snapshots.register_model(runtime.database, renamed)
    other = replace(runtime, model_id=other_id, query=replace(runtime.query, model_id=other_id))
    arguments = (runtime.database, runtime.workspace_id, other_id)
    assert (await pipeline.retrieve(other.query, "apples")).notice == "model_changed"
    assert await documents.count_without_vectors(*arguments) == 2

    assert await documents.embed_again(*arguments) == 2
    task = worker_tasks(other, Browser(runtime.settings))[queue.EMBED_DOCUMENT]
    await task(ids[0], Attempt())
    assert (await pipeline.retrieve(other.query, "apples")).notice == "model_changed"
    await task(ids[1], Attempt())

    assert await documents.count_without_vectors(*arguments) == 0
    again = await pipeline.retrieve(other.query, "apples")
    assert again.notice == ""
    assert again.passages[0].distance is not None
    listed = await snapshots.list_snapshots(runtime.database, runtime.workspace_id)
    assert listed[0]["embedding_model"] == "another"


async def test_a_question_can_be_kept_to_a_language(runtime: Runtime, tmp_path: Path) -> None:
    await add_text(
        runtime,
        tmp_path,
        "de.md",
        "Die Gezeiten folgen dem Mond, und das Meer steigt zweimal am Tag bis zur Küste.",
    )
    await add_text(
        runtime,
        tmp_path,
        "en.md",
        "The tides follow the moon, and the sea rises twice a day along the coast.",
    )

    assert await documents.list_languages(runtime.database, runtime.workspace_id) == {
        "de": 1,
        "en": 1,
    }
    for language in ("de", "en"):
        options = pipeline.QueryOptions(filters=Filters(languages=(language,)))
        only = await pipeline.retrieve(runtime.query, "tides moon Mond", options)
        assert [passage.title for passage in only.passages] == [language]
