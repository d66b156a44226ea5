"""Commands: serve, worker, add, ask, xray, search, documents, embed, snapshots, evaluate, others.

With --json a command prints one JSON value on stdout and nothing else there. It exits 0 on success,
1 when something that was asked for failed, 2 on wrong usage.
"""

import argparse
import asyncio
import contextlib
import io
import json
import logging
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from rag_app.errors import IngestionError, NotFoundError, RagAppError
from rag_app.ingestion.formats import NAMES
from rag_app.lexemes import read_lexeme
from rag_app.marks import TIMED_SOURCE_TYPES
from rag_app.query.syntax import clean_question
from rag_app.settings import Settings, load_settings
from rag_app.uris import SITE_PREFIX, with_scheme

POLL_SECONDS = 0.25
MOST_PASSAGES = 100
LARGEST_ID = 2**63 - 1
LARGEST_PLACE = 1_000_000
LONGEST_NAME = 100
WITHDRAWN = "It was cancelled or removed before it was finished."
AFTER_DASHES = 'Words that begin with "-" go after "--".'


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit."""
    parsed = build_parser().parse_args(arguments)
    logging.basicConfig(
        level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
    )
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may lack a letter
    try:
        code = parsed.run(load_settings(), parsed)
        sys.stdout.flush()
    except RagAppError as error:
        sys.stderr.write(f"{error}\n")
        if _as_json(parsed):
            _print_json({"error": str(error)})
        code = 1
    except BrokenPipeError:
        # whoever reads, such as `head`, has seen enough; the rest would fail again at the exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of every command."""
    parser = argparse.ArgumentParser(
        prog="python -m rag_app",
        description="Your own library, with answers you can check.",
        epilog=AFTER_DASHES,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="open Pincite in the browser")
    serve.set_defaults(run=run_serve)
    worker = commands.add_parser("worker", help="take documents in; serve starts one by itself")
    worker.set_defaults(run=lambda settings, _: asyncio.run(work(settings)))

    add = _command(commands, "add", "add files, folders, web pages and videos", add_sources)
    add.epilog = f"Files: {', '.join(NAMES)}. {add.epilog or ''}"
    add.add_argument("sources", nargs="+", type=_source, metavar="SOURCE")
    add.add_argument(
        "--site", action="store_true", help="all pages of the sites, not the page alone"
    )
    add.add_argument("--no-wait", action="store_true", help="return as soon as all are queued")

    search = _command(
        commands, "search", "list the passages nearest to a question", search_passages
    )
    search.add_argument("question", type=_question)
    search.add_argument("--limit", type=_limit, default=10, help=f"1 to {MOST_PASSAGES}")
    _add_filters(search)

    ask = _command(commands, "ask", "answer a question from the library", ask_question)
    ask.add_argument("question", type=_question)
    ask.add_argument("--conversation", type=int, metavar="ID")
    _add_filters(ask)
    ask.add_argument("--no-rewrite", action="store_true", help="search for the question as it is")
    ask.add_argument("--no-rerank", action="store_true", help="keep the order of the search")
    ask.add_argument("--hyde", action="store_true", help="search for an imagined answer as well")

    how = _command(commands, "xray", "show how an answer was found", show_turn)
    how.add_argument("turn", type=int, nargs="?", help="as in ask --json; without it the newest")
    how.add_argument("--why", type=int, metavar="DOCUMENT", help="say where a document fell out")
    how.add_argument("--page", type=_place_number)
    how.add_argument("--second", type=_place_number)

    documents = _command(commands, "documents", "list the library, or show one document", list_all)
    actions = documents.add_subparsers(metavar="show")
    show = _command(actions, "show", "show the text of one document", show_document)
    show.add_argument("id", type=int)
    diff = _command(actions, "diff", "show what the newest version changed", show_change)
    diff.add_argument("id", type=int)
    remove = _command(actions, "remove", "take a document out of the library", remove_one)
    remove.add_argument("id", type=int)

    _command(commands, "embed", "give every document vectors of the model in use", embed_library)

    _command(commands, "snapshots", "list the states the library has been in", list_states)

    workspaces = _command(commands, "workspaces", "list the workspaces, or add one", list_names)
    more = workspaces.add_subparsers(metavar="add")
    new = _command(more, "add", "make an empty workspace", add_name)
    new.add_argument("name", type=_name)

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
    command = commands.add_parser(name, help=help_text, epilog=AFTER_DASHES)
    # set only where given: a subcommand would otherwise reset what its parent has read
    command.add_argument("--workspace", default=argparse.SUPPRESS, metavar="W")
    command.add_argument("--json", action="store_true", default=argparse.SUPPRESS)
    command.set_defaults(run=lambda settings, parsed: asyncio.run(run(settings, parsed)))
    return command


def _add_filters(command: argparse.ArgumentParser) -> None:
    for name, read in (("source-type", _source_type), ("language", _language), ("document", int)):
        command.add_argument(f"--{name}", type=read, action="append", default=[], metavar="T")
    command.add_argument("--since", type=_moment, metavar="DATE", help="as in 2025-01-31")
    command.add_argument("--until", type=_moment, metavar="DATE", help="before this day")


def _filters(parsed: argparse.Namespace) -> Any:
    from rag_app.query.results import Filters

    for document_id in parsed.document:
        _check_id("document", document_id)
    return Filters(
        source_types=tuple(parsed.source_type),
        document_ids=tuple(parsed.document),
        languages=tuple(parsed.language),
        since=parsed.since,
        until=parsed.until,
    )


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
        await take_in(runtime, stop, watches=True)
    return 0


async def add_sources(settings: Settings, parsed: argparse.Namespace) -> int:
    """Add each source, wait for the worker, and tell what became of it."""
    from rag_app.library import documents

    async with _runtime(settings, parsed) as runtime:
        results: list[dict[str, Any]] = []
        for source in _expand(parsed.sources):
            shown = _printable(source)
            try:
                results.append({"source": shown, "id": await _add(runtime, source, parsed.site)})
            except (RagAppError, OSError, ValueError) as error:
                results.append({"source": shown, "error": _sentence(error, shown)})
        arguments = (runtime.database, runtime.workspace_id)
        if not parsed.no_wait:
            ids = [result["id"] for result in results if "id" in result]
            await _wait(runtime, partial(documents.are_finished, *arguments, ids))
            # what a site or a playlist holds came in as documents of their own
            linked = await documents.list_linked(*arguments, ids)
            results += [{"source": uri, "id": number} for number, uri in linked.items()]
            await _wait(runtime, partial(documents.are_finished, *arguments, list(linked)))
        rows = []
        for result in results:
            document, problem = None, result.get("error")
            try:
                if "id" in result:
                    document = await documents.get_document(
                        runtime.database, runtime.workspace_id, result["id"]
                    )
            except NotFoundError:
                problem = WITHDRAWN
            rows.append(_added(result["source"], document, problem))
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
    from rag_app.query.pipeline import QueryOptions

    options = QueryOptions(
        candidates=parsed.limit, leg_limit=max(50, parsed.limit), filters=_filters(parsed)
    )
    async with _runtime(settings, parsed) as runtime:
        found = await chat.search(runtime, parsed.question, options)
    if _as_json(parsed):
        _print_json(found)
    else:
        for number, passage in enumerate(found["passages"], start=1):
            place, excerpt = _place(passage), _excerpt(passage["excerpt"])
            _print(f"{number}. {place}  {passage['link']}\n   {excerpt}")
    return 0


async def ask_question(settings: Settings, parsed: argparse.Namespace) -> int:
    """Print an answer as it is written, then its sources."""
    from rag_app import chat
    from rag_app.query.pipeline import QueryOptions
    from rag_app.query.results import Delta, Failed, Finished

    as_json = _as_json(parsed)
    options = QueryOptions(
        rewrite=not parsed.no_rewrite,
        rerank=not parsed.no_rerank,
        hypothetical=parsed.hyde,
        filters=_filters(parsed),
    )
    if parsed.conversation is not None:
        _check_id("conversation", parsed.conversation)
    async with (
        _runtime(settings, parsed) as runtime,
        contextlib.aclosing(
            chat.take_turn(runtime, parsed.conversation, parsed.question, options)
        ) as events,
    ):
        async for event in events:
            match event:
                case Delta() if not as_json:
                    sys.stdout.write(event.text)
                    sys.stdout.flush()
                case Failed():
                    if event.text and not as_json:
                        _print("")
                    raise RagAppError(event.message)
                case Finished() if as_json:
                    _print_json(chat.describe(event))
                case Finished():
                    _print("")
                    for source in chat.describe(event)["sources"]:
                        _print(f"\n[{source['marker']}] {_place(source)}\n    “{source['quote']}”")
                    if event.absence:
                        _print(_absence(event.absence))
    return 0


async def show_turn(settings: Settings, parsed: argparse.Namespace) -> int:
    """Print how an answer was found, or why a document is not among its sources."""
    from rag_app.library import conversations
    from rag_app.query.whereabouts import why_not
    from rag_app.query.xray import xray

    for kind, number in (("turn", parsed.turn), ("document", parsed.why)):
        if number is not None:
            _check_id(kind, number)
    async with _runtime(settings, parsed) as runtime:
        arguments = (runtime.database, runtime.workspace_id)
        turn_id = parsed.turn or await conversations.newest_turn(*arguments)
        turn = await conversations.get_turn(*arguments, turn_id)
        log = await conversations.turn_log(*arguments, turn_id)
        if parsed.why is None:
            found = await xray(*arguments, log)
        else:
            places = await why_not(
                runtime.query, log, turn.question, parsed.why, parsed.page, parsed.second
            )
    about = {"turn_id": turn_id, "question": turn.question}
    if parsed.why is not None:
        if _as_json(parsed):
            _print_json(about | {"places": [asdict(place) for place in places]})
        else:
            for place in places:
                _print(f"{_spot(place.place)}\n   {place.reason}")
    elif _as_json(parsed):
        _print_json(about | asdict(found))
    else:
        _print("\n".join(_xray_lines(found)))
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

    _check_id("document", parsed.id)
    async with _runtime(settings, parsed) as runtime:
        arguments = (runtime.database, runtime.workspace_id, parsed.id)
        document = await documents.get_document(*arguments)
        version = await evidence.newest_version(*arguments)
    states = version.extraction.get("pages") or []
    reasons = version.extraction.get("reasons") or {}
    pages = version.content.split("\f") if version.page_count is not None else []
    result = {
        "document_id": document.id,
        "title": document.title,
        "source_type": document.source_type,
        "language": version.language,
        "pages": [
            {
                "page": number,
                "text": text,
                "state": _state(states, number, text),
                "reason": reasons.get(str(number)),
            }
            for number, text in enumerate(pages, start=1)
        ],
        "coverage": Counter(
            _state(states, number, text) for number, text in enumerate(pages, start=1)
        ),
        "times": [
            {"second": line.second, "text": line.text}
            for line in evidence.transcript_lines(version.content, 0, 0)
        ]
        if document.source_type in TIMED_SOURCE_TYPES
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

    _check_id("document", parsed.id)
    async with _runtime(settings, parsed) as runtime:
        await documents.remove_document(runtime.database, runtime.workspace_id, parsed.id)
    if _as_json(parsed):
        _print_json({"document_id": parsed.id, "status": "removed"})
    return 0


async def show_change(settings: Settings, parsed: argparse.Namespace) -> int:
    """Print what changed between the last two versions of a document."""
    from rag_app.library import evidence

    _check_id("document", parsed.id)
    async with _runtime(settings, parsed) as runtime:
        lines = await evidence.last_change(runtime.database, runtime.workspace_id, parsed.id)
    if _as_json(parsed):
        _print_json({"document_id": parsed.id, "diff": lines})
    else:
        _print("\n".join(lines) or "There is one version only.")
    return 0


async def embed_library(settings: Settings, parsed: argparse.Namespace) -> int:
    """Give every document that lacks them vectors of the configured model, and wait for it."""
    from rag_app.library import documents

    async with _runtime(settings, parsed) as runtime:
        arguments = (runtime.database, runtime.workspace_id, runtime.model_id)
        queued = await documents.embed_again(*arguments)

        async def is_done() -> bool:
            return not await documents.count_embedding(runtime.database)

        await _wait(runtime, is_done)
        left = await documents.count_without_vectors(*arguments)
    if left:
        raise RagAppError(
            f"{left} documents have no vectors of {runtime.provider.embedder.model.name} yet: see "
            "the log of the worker, and whether a running Pincite uses another model."
        )
    result = {"embedding_model": runtime.provider.embedder.model.name, "documents": queued}
    if _as_json(parsed):
        _print_json(result)
    else:
        _print(f"{queued} documents were embedded with {result['embedding_model']}.")
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


async def list_names(settings: Settings, parsed: argparse.Namespace) -> int:
    """Print the workspaces."""
    from rag_app.library import workspaces

    async with _runtime(settings, parsed) as runtime:
        names = await workspaces.list_workspaces(runtime.database)
    if _as_json(parsed):
        _print_json([{"name": name} for name in names])
    else:
        for name in names:
            _print(name)
    return 0


async def add_name(settings: Settings, parsed: argparse.Namespace) -> int:
    """Make a workspace, unless there is one of this name."""
    from rag_app.library import workspaces

    async with _runtime(settings, parsed) as runtime:
        await workspaces.add_workspace(runtime.database, parsed.name)
    if _as_json(parsed):
        _print_json({"name": parsed.name})
    return 0


async def evaluate(settings: Settings, parsed: argparse.Namespace) -> int:
    """Measure retrieval on a folder in BEIR form, or on the person's own questions."""
    from rag_app.errors import SettingsError
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
    sys.stderr.writelines(f"{line}\n" for line in below)
    return 1 if below else 0


async def _add(runtime: Any, source: str, is_site: bool) -> int:
    from rag_app.library import documents

    if is_site and not source.startswith(SITE_PREFIX):
        source = SITE_PREFIX + with_scheme(source)
    if "://" in source:
        if source != _printable(source):
            raise IngestionError(f'"{_printable(source)}" is not a web address.')
        return await documents.add_url(runtime.database, runtime.workspace_id, source)
    path = Path(source)
    if not path.exists():  # noqa: ASYNC240  one look, before anything else runs
        raise IngestionError(f'There is no file "{_printable(source)}".')
    if not path.is_file():  # noqa: ASYNC240  the same: a pipe or a device would be read for ever
        raise IngestionError(f'"{_printable(source)}" is not a file.')
    return await documents.add_file(
        runtime.database,
        runtime.files,
        runtime.workspace_id,
        path,
        _printable(path.name),
        uri=_printable(str(path.absolute())),  # noqa: ASYNC240  no disk access
    )


async def _wait(runtime: Any, is_finished: Callable[[], Awaitable[bool]]) -> None:
    """Wait until a worker has finished something, with one of our own if none runs."""
    from rag_app.jobs.worker import is_worker_alive
    from rag_app.runtime import take_in

    stop = asyncio.Event()
    own: asyncio.Task[None] | None = None
    try:
        while not await is_finished():
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
    """Replace folders by the files in them, without what is hidden there."""
    found: list[str] = []
    for source in sources:
        if "://" in source or not _is_folder(source):
            found.append(source)
            continue
        inside: list[Path] = []
        for folder, folders, names in os.walk(source):
            folders[:] = [name for name in folders if not name.startswith(".")]
            inside += (Path(folder) / name for name in names if not name.startswith("."))
        found.extend(str(path) for path in sorted(inside) if path.is_file())
    return found


def _place_number(text: str) -> int:
    number = int(text)
    if not 0 <= number <= LARGEST_PLACE:
        raise argparse.ArgumentTypeError(f"{text} is no page and no second of a document")
    return number


def _is_folder(source: str) -> bool:
    try:
        return Path(source).is_dir()
    except OSError:
        return False  # said when it is added, beside the others


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
        status, error = "failed", WITHDRAWN
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


def _xray_lines(found: Any) -> list[str]:
    from rag_app.query.turn_log import CUT_BY

    lines = [
        f"Searched: {found.question}",
        f"Snapshot {found.snapshot}, {found.embedding_model}, answered by {found.answered_by}",
        "Milliseconds: " + ", ".join(f"{name} {ms:g}" for name, ms in found.timings_ms.items()),
        "Terms: "
        + ", ".join(f"{read_lexeme(term.lexeme)} ({term.documents})" for term in found.terms),
    ]
    if found.notice:
        lines.append(f"Notice: {found.notice}")
    for name in ("vector", "text", "fused", "kept", "judged", "context"):
        rows = getattr(found, name)
        lines.append(f"\n{name} ({len(rows)})")
        for rank, row in enumerate(rows, start=1):
            score = {"vector": row.fate.cosine, "text": row.fate.bm25}.get(name, row.fate.score)
            cut = CUT_BY.get(row.fate.cut_by or "", "")
            lines.append(f"{rank:>4}  {score or 0:.3f}  {_spot(row.place)}  {cut}".rstrip())
    return lines


def _spot(place: Any) -> str:
    return _place(asdict(place)) if place.chunk_id is not None else "No passage"


def _absence(absence: Any) -> str:
    searched = "1 document was" if absence.documents == 1 else f"{absence.documents} documents were"
    if not absence.words:
        return f"{searched} searched."
    return f"{searched} searched; none holds: {', '.join(absence.words)}."


def _counted(chunks: int) -> str:
    return "1 passage" if chunks == 1 else f"{chunks} passages"


def _state(states: Sequence[str], page: int, text: str) -> str:
    if page <= len(states):
        return states[page - 1]
    return "text" if text.strip() else "empty"


def _place(passage: Mapping[str, Any]) -> str:
    title, heading, second = passage["title"], passage["heading"], passage["second"]
    if passage["page"] is not None:
        unit = "slide" if passage["source_type"] == "slides" else "p."
        return f"{unit} {passage['page']}, {title}"
    if second is not None:
        return f"{second // 60:02d}:{second % 60:02d}, {title}"
    return f"{title}, {heading}" if heading and heading != title else title


async def _report_to_stderr(step: str, done: int, total: int) -> None:
    if sys.stderr.isatty() and done % 20 == 0:
        sys.stderr.write(f"\r{step} {done} of {total}   ")


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:200]}…"


def _sentence(error: Exception, source: str) -> str:
    if isinstance(error, RagAppError):
        return str(error)
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return f'Could not read "{source}": {reason}.'


def _printable(text: str) -> str:
    """Return a name as it can be shown and stored: what is no UTF-8 in it becomes a sign for it."""
    return os.fsencode(text).decode("utf-8", "replace")


def _check_id(kind: str, number: int) -> None:
    if not 1 <= number <= LARGEST_ID:
        raise NotFoundError(f"There is no {kind} {number} in this library.")


def _source(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty: name a file, a folder or an address")
    return text


def _question(text: str) -> str:
    if not clean_question(text):
        raise argparse.ArgumentTypeError("it is empty")
    return text


def _limit(text: str) -> int:
    if not text.isdecimal() or len(text) > 9 or not 1 <= int(text) <= MOST_PASSAGES:
        raise argparse.ArgumentTypeError(f"choose 1 to {MOST_PASSAGES}, not {text}")
    return int(text)


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError(f"write a date such as 2025-01-31, not {text}") from error


def _language(text: str) -> str:
    if not re.fullmatch("[a-zA-Z]{2,3}", text):
        raise argparse.ArgumentTypeError(f"write a code such as en or de, not {text}")
    return text.lower()


def _source_type(text: str) -> str:
    from rag_app.ingestion.sources import SOURCE_TYPES

    if text not in SOURCE_TYPES:
        raise argparse.ArgumentTypeError(f"there are {', '.join(SOURCE_TYPES)}, not {text}")
    return text


def _name(text: str) -> str:
    if not text.strip() or not text.isprintable() or len(text) > LONGEST_NAME:
        raise argparse.ArgumentTypeError(f"write 1 to {LONGEST_NAME} letters on one line")
    return text.strip()


def _as_json(parsed: argparse.Namespace) -> bool:
    return getattr(parsed, "json", False)


def _print_json(value: object) -> None:
    _print(json.dumps(value, ensure_ascii=False, default=str))


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
