"""Opens settings, server, pool, provider and files in order; closes in reverse."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from rag_app.database.server import start_server
from rag_app.database.session import Database, migrate, open_database
from rag_app.errors import DatabaseUnavailableError, RuntimeNotStartedError
from rag_app.ingestion.browser import Browser
from rag_app.ingestion.formats import guess_source_type
from rag_app.ingestion.pipeline import Ingestion, embed_document, ingest_document
from rag_app.jobs import queue
from rag_app.jobs.worker import Attempt, TaskFunction, run_worker
from rag_app.library import documents, folders, snapshots
from rag_app.library.files import FileStore
from rag_app.library.workspaces import find_workspace
from rag_app.providers.base import Provider
from rag_app.providers.local import token_counter
from rag_app.providers.opening import close_provider, look_again, open_provider
from rag_app.query.pipeline import Query
from rag_app.settings import Settings

DEFAULT_WORKSPACE = "default"
LOOK_SECONDS = 15.0


@dataclass(frozen=True)
class Runtime:
    """What a process has open. Tests build one with a fake provider."""

    settings: Settings
    database: Database
    provider: Provider
    files: FileStore
    workspace_id: int
    model_id: int
    query: Query


_current: Runtime | None = None


def current() -> Runtime:
    """Return this process's runtime; Reflex builds its states itself, so they fetch it here."""
    if _current is None:
        raise RuntimeNotStartedError
    return _current


@contextlib.asynccontextmanager
async def open_runtime(
    settings: Settings, *, workspace: str = DEFAULT_WORKSPACE
) -> AsyncIterator[Runtime]:
    """Open everything a process needs; the embedded server is attached to or started."""
    global _current
    async with contextlib.AsyncExitStack() as stack:
        dsn = settings.database_url
        if not dsn:
            server = await asyncio.to_thread(
                start_server, settings.home, may_create=not settings.is_served
            )
            stack.push_async_callback(asyncio.to_thread, server.stop)
            dsn = server.dsn
        await asyncio.to_thread(migrate, dsn)
        database = await stack.enter_async_context(open_database(dsn))
        provider = await open_provider(settings)
        stack.push_async_callback(close_provider)
        workspace_id = await find_workspace(database, workspace)
        model_id = await snapshots.register_model(database, provider.embedder.model)
        runtime = Runtime(
            settings=settings,
            database=database,
            provider=provider,
            files=FileStore(str(settings.files_dir), settings.home / "cache"),
            workspace_id=workspace_id,
            model_id=model_id,
            query=Query(
                database=database,
                provider=provider,
                workspace_id=workspace_id,
                model_id=model_id,
                count_tokens=token_counter(settings),
            ),
        )
        _current = runtime
        try:
            yield runtime
        finally:
            _current = None


def worker_tasks(runtime: Runtime, browser: Browser) -> Mapping[str, TaskFunction]:
    """Return the function behind each task name."""
    ingestion = Ingestion(
        settings=runtime.settings,
        database=runtime.database,
        files=runtime.files,
        embedder=runtime.provider.embedder,
        model_id=runtime.model_id,
        count_tokens=runtime.query.count_tokens,
        browser=browser,
    )

    async def ingest(document_id: int, attempt: Attempt) -> None:
        await ingest_document(ingestion, document_id, attempt)

    async def purge(document_id: int, _attempt: Attempt) -> None:
        await documents.purge_document(runtime.database, runtime.files, document_id)

    async def embed(document_id: int, attempt: Attempt) -> None:
        await embed_document(ingestion, document_id, attempt)

    return {
        queue.INGEST_DOCUMENT: ingest,
        queue.PURGE_DOCUMENT: purge,
        queue.EMBED_DOCUMENT: embed,
    }


async def follow_models() -> None:
    """Notice when an Ollama on this machine comes or goes; never ends."""
    global _current
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        runtime = current()
        provider = await look_again(runtime.settings, runtime.provider)
        if provider is not runtime.provider:
            query = replace(runtime.query, provider=provider)
            _current = replace(runtime, provider=provider, query=query)


async def take_in(runtime: Runtime, stop: asyncio.Event, *, watches: bool = False) -> None:
    """Run the jobs of the library until `stop` is set; with `watches` keep folders in step too."""
    async with Browser(runtime.settings) as browser, asyncio.TaskGroup() as group:
        watching = group.create_task(_watch_folders(runtime if watches else None))
        await run_worker(
            runtime.database,
            worker_tasks(runtime, browser),
            stop,
            find_lost=partial(documents.queue_lost, runtime.database),
        )
        watching.cancel()


async def _watch_folders(runtime: Runtime | None) -> None:
    """Let one worker of a library look after its folders, whoever comes first."""
    if runtime is None or not runtime.settings.folders:
        return
    while True:
        try:
            async with runtime.database.hold(f"folders-{runtime.workspace_id}"):
                await folders.watch_folders(
                    runtime.database,
                    runtime.files,
                    runtime.workspace_id,
                    runtime.settings.folders,
                    lambda name: bool(guess_source_type(name)),
                )
        except DatabaseUnavailableError:
            await asyncio.sleep(LOOK_SECONDS)
