"""Commands: serve, worker, add, ask, search, documents, snapshots, evaluate.

With --json a command prints one JSON value on stdout and nothing else there. It exits 0 on success,
1 when something that was asked for failed, 2 on wrong usage.
"""

import argparse
import asyncio
import contextlib
import json
import logging
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rag_app.errors import IngestionError, RagAppError
from rag_app.settings import Settings, load_settings

POLL_SECONDS = 0.25


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit."""
    parsed = build_parser().parse_args(arguments)
    logging.basicConfig(
        level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
    )
    try:
        code = parsed.run(load_settings(), parsed)
    except RagAppError as error:
        sys.stderr.write(f"{error}\n")
        code = 1
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of every command."""
    parser = argparse.ArgumentParser(
        prog="python -m rag_app", description="Your own library, with answers you can check."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="open Pincite in the browser")
    serve.set_defaults(run=run_serve)
    worker = commands.add_parser("worker", help="take documents in; serve starts one by itself")
    worker.set_defaults(run=lambda settings, _: asyncio.run(work(settings)))

    add = _command(commands, "add", "add files, folders, web pages and videos", add_sources)
    add.add_argument("sources", nargs="+", metavar="SOURCE")
    add.add_argument("--no-wait", action="store_true", help="return as soon as all are queued")

    search = _command(
        commands, "search", "list the passages nearest to a question", search_passages
    )
    search.add_argument("question")
    search.add_argument("--limit", type=int, default=10)
    search.add_argument("--source-type", action="append", default=[], metavar="T")
    search.add_argument("--since", type=datetime.fromisoformat, metavar="DATE")

    ask = _command(commands, "ask", "answer a question from the library", ask_question)
    ask.add_argument("question")
    ask.add_argument("--conversation", type=int, metavar="ID")

    documents = _command(commands, "documents", "list the library, or show one document", list_all)
    actions = documents.add_subparsers(metavar="show")
    show = _command(actions, "show", "show the text of one document", show_document)
    show.add_argument("id", type=int)
    remove = _command(actions, "remove", "take a document out of the library", remove_one)
    remove.add_argument("id", type=int)

    _command(commands, "snapshots", "list the states the library has been in", list_states)

    measure = _command(commands, "evaluate", "measure how well passages are found", evaluate)
    measure.add_argument("folder", type=Path, nargs="?", help="a set in BEIR form")
    measure.add_argument("--golden", action="store_true", help="your own questions instead")
    measure.add_argument(
        "--compare",
        default="vector,text,hybrid",
        metavar="NAME,NAME",
        help="configurations, such as hybrid+weight=0.7 or hybrid+rerank",
    )
    measure.add_argument(
        "--floor",
        action="append",
        default=[],
        metavar="MEASURE=VALUE",
        help="exit with 1 below it, as in mrr@10=0.9 or rrf:recall@10=0.95",
    )
    return parser


def _command(commands: Any, name: str, help_text: str, run: Any) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=help_text)
    # set only where given: a subcommand would otherwise reset what its parent has read
    command.add_argument("--workspace", default=argparse.SUPPRESS, metavar="W")
    command.add_argument("--json", action="store_true", default=argparse.SUPPRESS)
    command.set_defaults(run=lambda settings, parsed: asyncio.run(run(settings, parsed)))
    return command


def run_serve(settings: Settings, _parsed: argparse.Namespace) -> int:
    """Run everything until Ctrl-C."""
    from rag_app.serving import serve

    serve(settings)
    return 0


async def work(settings: Settings) -> int:
    """Take documents in until told to stop."""
    from rag_app.runtime import open_runtime, take_in

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows has none
            loop.add_signal_handler(number, stop.set)
    async with open_runtime(settings) as runtime:
        await take_in(runtime, stop)
    return 0


async def add_sources(settings: Settings, parsed: argparse.Namespace) -> int:
    """Add each source, wait for the worker, and tell what became of it."""
    from rag_app.library import documents

    async with _runtime(settings, parsed) as runtime:
        results: list[dict[str, Any]] = []
        for source in _expand(parsed.sources):
            try:
                results.append({"source": source, "id": await _add(runtime, source)})
            except (RagAppError, OSError) as error:
                results.append({"source": source, "error": _sentence(error, source)})
        if not parsed.no_wait:
            await _wait(runtime, [result["id"] for result in results if "id" in result])
        rows = []
        for result in results:
            document = None
            if "id" in result:
                document = await documents.get_document(
                    runtime.database, runtime.workspace_id, result["id"]
                )
            rows.append(_added(result["source"], document, result.get("error")))
    if _as_json(parsed):
        _print_json(rows)
    else:
        for row in rows:
            detail = row["error"] or ", ".join(row["warnings"]) or _counted(row["chunks"])
            _print(f"{row['status']:>9}  {row['title'] or row['source']}: {detail}")
    return 1 if any(row["status"] == "failed" for row in rows) else 0


async def search_passages(settings: Settings, parsed: argparse.Namespace) -> int:
    """Print the passages nearest to a question."""
    from rag_app import chat
    from rag_app.query.pipeline import QueryOptions, retrieve
    from rag_app.query.results import Filters

    since = parsed.since.astimezone(UTC) if parsed.since else None
    filters = Filters(source_types=tuple(parsed.source_type), since=since)
    options = QueryOptions(candidates=max(parsed.limit, 1), filters=filters)
    async with _runtime(settings, parsed) as runtime:
        found = await retrieve(runtime.query, parsed.question, options)
        result = {
            "question": parsed.question,
            "snapshot": found.scope.snapshot,
            "embedding_model": runtime.provider.embedder.model.name,
            "passages": [chat.describe_passage(passage) for passage in found.passages],
        }
    if _as_json(parsed):
        _print_json(result)
    else:
        for number, passage in enumerate(found.passages, start=1):
            _print(f"{number}. {_place(passage)}  {passage.link}\n   {_excerpt(passage.text)}")
    return 0


async def ask_question(settings: Settings, parsed: argparse.Namespace) -> int:
    """Print an answer as it is written, then its sources."""
    from rag_app import chat
    from rag_app.query.results import Delta, Failed, Finished

    as_json = _as_json(parsed)
    async with _runtime(settings, parsed) as runtime:
        async for event in chat.take_turn(runtime, parsed.conversation, parsed.question):
            match event:
                case Delta() if not as_json:
                    sys.stdout.write(event.text)
                    sys.stdout.flush()
                case Failed():
                    sys.stderr.write(f"\n{event.message}\n")
                    return 1
                case Finished() if as_json:
                    _print_json(chat.describe(event))
                case Finished():
                    _print("")
                    for citation in event.answer.citations:
                        place = _place(citation.passage, citation.page, citation.second)
                        _print(f"\n[{citation.marker}] {place}\n    “{citation.quote}”")
    return 0


async def list_all(settings: Settings, parsed: argparse.Namespace) -> int:
    """Print the library."""
    from rag_app.library import documents

    async with _runtime(settings, parsed) as runtime:
        found = await documents.list_documents(
            runtime.database, runtime.workspace_id, limit=1_000_000
        )
    rows = [_listed(document) for document in found]
    if _as_json(parsed):
        _print_json(rows)
    else:
        for row in rows:
            _print(f"{row['document_id']:>6}  {row['status']:<9}  {row['title']}")
    return 0


async def show_document(settings: Settings, parsed: argparse.Namespace) -> int:
    """Print one document's text, page by page or second by second."""
    from rag_app.library import documents, evidence

    async with _runtime(settings, parsed) as runtime:
        arguments = (runtime.database, runtime.workspace_id, parsed.id)
        document = await documents.get_document(*arguments)
        version = await evidence.newest_version(*arguments)
    states = version.extraction.get("pages") or []
    pages = version.content.split("\f") if version.page_count is not None else []
    result = {
        "document_id": document.id,
        "title": document.title,
        "source_type": document.source_type,
        "language": version.language,
        "pages": [
            {"page": number, "text": text, "state": _state(states, number, text)}
            for number, text in enumerate(pages, start=1)
        ],
        "times": [
            {"second": line.second, "text": line.text}
            for line in evidence.transcript_lines(version.content, 0, 0)
        ]
        if document.source_type == "youtube"
        else [],
        "content": version.content,
        "warnings": list(document.warnings),
    }
    if _as_json(parsed):
        _print_json(result)
    else:
        _print(version.content.replace("\f", "\n\n"))
    return 0


async def remove_one(settings: Settings, parsed: argparse.Namespace) -> int:
    """Take one document out of the library."""
    from rag_app.library import documents

    async with _runtime(settings, parsed) as runtime:
        await documents.remove_document(runtime.database, runtime.workspace_id, parsed.id)
    if _as_json(parsed):
        _print_json({"document_id": parsed.id, "status": "removed"})
    return 0


async def list_states(settings: Settings, parsed: argparse.Namespace) -> int:
    """Print the newest snapshots."""
    from rag_app.library import snapshots

    async with _runtime(settings, parsed) as runtime:
        rows = await snapshots.list_snapshots(runtime.database, runtime.workspace_id)
    if _as_json(parsed):
        _print_json(rows)
    else:
        for row in rows:
            live = "live" if row["is_live"] else ""
            _print(f"{row['number']:>6}  {row['documents']:>6} documents  {row['reason']}  {live}")
    return 0


async def evaluate(settings: Settings, parsed: argparse.Namespace) -> int:
    """Measure retrieval on a folder in BEIR form, or on the person's own questions."""
    from rag_app.errors import EvaluationSetError, SettingsError
    from rag_app.evaluation import history, runner
    from rag_app.evaluation.beir import check_folder
    from rag_app.evaluation.configurations import parse_configurations

    try:
        configurations = parse_configurations(parsed.compare)
        floors = runner.parse_floors(parsed.floor, configurations)
        if (parsed.folder is None) != parsed.golden:
            raise SettingsError("Name a folder in BEIR form, or --golden for your own questions.")
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if parsed.folder is not None:
        check_folder(parsed.folder)  # said before a database starts
    async with _runtime(settings, parsed) as runtime:
        arguments = (runtime, configurations, _report_to_stderr)
        report = (
            await runner.evaluate_golden(*arguments)
            if parsed.golden
            else await runner.evaluate_folder(*arguments, folder=parsed.folder)
        )
        run_id = await history.begin_run(
            runtime.database,
            runtime.workspace_id,
            name=report["set"],
            configurations=parsed.compare,
        )
        await history.finish_run(runtime.database, run_id, status="done", report=report)
    if _as_json(parsed):
        _print_json(report)
    else:
        _print(runner.table(report))
    below = runner.failed_floors(report, floors)
    if below:
        raise EvaluationSetError(" ".join(below))
    return 0


async def _add(runtime: Any, source: str) -> int:
    from rag_app.library import documents

    if "://" in source:
        return await documents.add_url(runtime.database, runtime.workspace_id, source)
    path = Path(source)
    if not path.exists():  # noqa: ASYNC240  one look, before anything else runs
        raise IngestionError(f'There is no file "{source}".')
    return await documents.add_file(
        runtime.database,
        runtime.files,
        runtime.workspace_id,
        path,
        path.name,
        uri=str(path.absolute()),  # noqa: ASYNC240  no disk access
    )


async def _wait(runtime: Any, ids: Sequence[int]) -> None:
    """Wait until every document has come to an end, with a worker of our own if none runs."""
    from rag_app.jobs.worker import is_worker_alive
    from rag_app.library import documents
    from rag_app.runtime import take_in

    stop = asyncio.Event()
    own: asyncio.Task[None] | None = None
    try:
        while not await documents.are_finished(runtime.database, runtime.workspace_id, ids):
            if own is None and not await is_worker_alive(runtime.database):
                own = asyncio.create_task(take_in(runtime, stop))
            if own is not None and own.done():
                own.result()
            await asyncio.sleep(POLL_SECONDS)
    finally:
        stop.set()
        if own is not None:
            await own


@contextlib.asynccontextmanager
async def _runtime(settings: Settings, parsed: argparse.Namespace) -> AsyncIterator[Any]:
    from rag_app.runtime import DEFAULT_WORKSPACE, open_runtime

    workspace = getattr(parsed, "workspace", DEFAULT_WORKSPACE)
    async with open_runtime(settings, workspace=workspace) as runtime:
        yield runtime


def _expand(sources: Sequence[str]) -> list[str]:
    """Replace folders by the files in them."""
    found: list[str] = []
    for source in sources:
        path = Path(source)
        if "://" not in source and path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file())
            found.extend(str(p) for p in inside if not p.name.startswith("."))
        else:
            found.append(source)
    return found


def _added(source: str, document: Any, error: str | None) -> dict[str, Any]:
    """Return one element of `add --json`."""
    if document is None:
        return {
            "source": source,
            "status": "failed",
            "document_id": None,
            "title": None,
            "source_type": None,
            "pages": None,
            "seconds": None,
            "chunks": 0,
            "warnings": [],
            "error": error,
        }
    status = document.status
    if status == "ready" and document.unchanged:
        status = "unchanged"
    if status == "cancelled":
        status, error = "failed", "It was cancelled or removed before it was finished."
    return {
        "source": source,
        "status": status,
        "document_id": document.id,
        "title": document.title,
        "source_type": document.source_type,
        "pages": document.pages,
        "seconds": document.seconds,
        "chunks": document.chunks,
        "warnings": list(document.warnings),
        "error": document.error if status == "failed" and document.error else error,
    }


def _listed(document: Any) -> dict[str, Any]:
    return {
        "document_id": document.id,
        "title": document.title,
        "uri": document.uri,
        "source_type": document.source_type,
        "status": document.status,
        "step": document.step,
        "progress": document.progress,
        "error": document.error,
        "pages": document.pages,
        "seconds": document.seconds,
        "chunks": document.chunks,
        "warnings": list(document.warnings),
        "created_at": document.created_at.isoformat(),
    }


def _counted(chunks: int) -> str:
    return "1 passage" if chunks == 1 else f"{chunks} passages"


def _state(states: Sequence[str], page: int, text: str) -> str:
    if page <= len(states):
        return states[page - 1]
    return "text" if text.strip() else "empty"


def _place(passage: Any, page: int | None = None, second: int | None = None) -> str:
    page = page if page is not None else passage.page
    second = second if second is not None else passage.second
    if page is not None:
        return f"p. {page}, {passage.title}"
    if second is not None:
        return f"{second // 60:02d}:{second % 60:02d}, {passage.title}"
    heading = passage.heading if passage.heading != passage.title else None
    return f"{passage.title}, {heading}" if heading else passage.title


async def _report_to_stderr(step: str, done: int, total: int) -> None:
    if sys.stderr.isatty() and done % 20 == 0:
        sys.stderr.write(f"\r{step} {done} of {total}   ")


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:200]}…"


def _sentence(error: Exception, source: str) -> str:
    if isinstance(error, OSError):
        return f'Could not read "{source}": {error.strerror or error}.'
    return str(error)


def _as_json(parsed: argparse.Namespace) -> bool:
    return getattr(parsed, "json", False)


def _print_json(value: object) -> None:
    _print(json.dumps(value, ensure_ascii=False, default=str))


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
