"""Keeps the library in step with folders of this machine: what is new, changed, renamed, gone."""

import asyncio
import logging
import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rag_app.database.session import Database
from rag_app.errors import (
    DatabaseUnavailableError,
    IngestionError,
    NotFoundError,
    RagAppError,
)
from rag_app.jobs import queue
from rag_app.library import documents
from rag_app.library.files import FileStore, hash_file

logger = logging.getLogger(__name__)

SCAN_SECONDS = 5.0
SETTLED_SECONDS = 2.0
"""A file that was written to so lately may still be growing: it waits for the next look."""

KNOWN = """
select id, uri, file_key from document
where workspace_id = %(workspace_id)s and removed_at is null and starts_with(uri, %(prefix)s)
"""

MOVE = """
update document set uri = %(uri)s, updated_at = now(),
  title = case when title = %(old_name)s then %(name)s else title end
where id = %(id)s and workspace_id = %(workspace_id)s and removed_at is null
  and not exists (select 1 from document o where o.workspace_id = %(workspace_id)s
    and o.uri = %(uri)s and o.removed_at is null)
returning id
"""

Stamp = tuple[int, int]
"""Size in bytes and time of change in nanoseconds: a file with both as before is as before."""


@dataclass
class Folder:
    """A folder that is kept in step, with what it looked like at the last look."""

    path: Path
    seen: dict[str, Stamp] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Step:
    """What one look at a folder led to, as counts."""

    added: int = 0
    moved: int = 0
    removed: int = 0


async def watch_folders(
    database: Database,
    files: FileStore,
    workspace_id: int,
    paths: tuple[Path, ...],
    accepts: Callable[[str], bool],
) -> None:
    """Look at the folders again and again; never ends. One that cannot be read is left alone."""
    folders = [Folder(path) for path in paths]
    while True:
        for folder in folders:
            try:
                await sync_folder(database, files, workspace_id, folder, accepts)
            except DatabaseUnavailableError:
                raise  # with it the lock may be gone, under which this runs
            except (RagAppError, OSError) as error:
                logger.warning("The folder %s could not be looked at: %s", folder.path, error)
        await asyncio.sleep(SCAN_SECONDS)


async def sync_folder(
    database: Database,
    files: FileStore,
    workspace_id: int,
    folder: Folder,
    accepts: Callable[[str], bool],
) -> Step:
    """Bring the library in step with a folder once, and return what that took.

    A folder that is not there, or that suddenly holds nothing, is taken for a drive that is not
    mounted: nothing is removed for it. A file is gone when two looks do not see it, since editors
    put a new one in the place of the old.
    """
    root = folder.path.absolute()
    found = await asyncio.to_thread(_scan, root, accepts)
    known = await _known(database, workspace_id, root)
    if found is None or (known and not found):
        logger.warning("The folder %s is not there or empty; the library keeps what it has", root)
        return Step()
    absent = await asyncio.to_thread(_absent, [uri for uri in known if uri not in found])
    gone = {uri: known[uri] for uri in absent}
    fresh = {uri: stamp for uri, stamp in found.items() if folder.seen.get(uri) != stamp}
    moved = await _move(database, workspace_id, gone, found, known)
    removed = 0
    missing = gone.keys() - moved.keys()
    folder.missing, missing_before = missing, folder.missing
    for uri, (document_id, _) in gone.items():
        if uri in missing & missing_before:
            try:
                await documents.remove_document(database, workspace_id, document_id)
                removed += 1
            except NotFoundError:
                continue
    added = 0
    now = time.time_ns()
    for uri, stamp in fresh.items():
        if now - stamp[1] < SETTLED_SECONDS * 1e9 and uri not in moved.values():
            continue
        if uri not in moved.values():
            if not await _add(database, files, workspace_id, uri):
                continue
            added += 1
        folder.seen[uri] = stamp
    folder.seen = {uri: stamp for uri, stamp in folder.seen.items() if uri in found}
    return Step(added, len(moved), removed)


def _scan(root: Path, accepts: Callable[[str], bool]) -> dict[str, Stamp] | None:
    """Return the files below a folder with their stamps; None where it is no folder."""
    if not root.is_dir():
        return None
    found: dict[str, Stamp] = {}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder) / name
            if name.startswith((".", "~$")) or not accepts(name) or not _is_text(str(path)):
                continue
            try:
                info = path.lstat()  # a link may lead anywhere, and in circles
            except OSError:
                continue
            if stat.S_ISREG(info.st_mode) and info.st_size:
                found[str(path)] = (info.st_size, info.st_mtime_ns)
    return found


def _absent(uris: Sequence[str]) -> list[str]:
    """Return the files that are surely not there, in folders that can be read.

    What cannot be looked at, or is there and was passed over, is none of them: a share that is
    offline, a file somebody added by hand that the watch would not take.
    """
    absent = []
    for uri in uris:
        try:
            Path(uri).lstat()
        except (FileNotFoundError, NotADirectoryError):
            if _can_be_read(Path(uri).parent):
                absent.append(uri)
        except OSError:
            continue
    return absent


def _can_be_read(folder: Path) -> bool:
    """Tell whether a folder is there and holds something, or went with the one above it.

    An empty folder may be where a drive is mounted.
    """
    try:
        return any(folder.iterdir())
    except FileNotFoundError:
        return _can_be_read(folder.parent)
    except OSError:
        return False


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


async def _known(
    database: Database, workspace_id: int, root: Path
) -> dict[str, tuple[int, str | None]]:
    prefix = f"{root}{os.sep}" if str(root) != os.sep else os.sep
    async with database.connection() as connection:
        values = {"workspace_id": workspace_id, "prefix": prefix}
        rows = await (await connection.execute(KNOWN, values)).fetchall()
    return {row["uri"]: (row["id"], row["file_key"]) for row in rows}


async def _move(
    database: Database,
    workspace_id: int,
    gone: Mapping[str, tuple[int, str | None]],
    found: Mapping[str, Stamp],
    known: Mapping[str, object],
) -> dict[str, str]:
    """Give documents whose file has another name now that name; return old and new ones."""
    if not gone:
        return {}
    by_digest: dict[str, list[str]] = {}
    for uri in found:
        if uri not in known:
            digest = await _digest(uri)
            if digest:
                by_digest.setdefault(digest, []).append(uri)
    moved: dict[str, str] = {}
    for old, (document_id, key) in gone.items():
        targets = by_digest.get(Path(key).stem if key else "", [])
        if not targets:
            continue
        new = targets.pop(0)
        values = {
            "id": document_id,
            "workspace_id": workspace_id,
            "uri": new,
            "name": Path(new).name,
            "old_name": Path(old).name,
        }
        async with database.connection() as connection:
            if await (await connection.execute(MOVE, values)).fetchone() is not None:
                await documents.notify(connection, workspace_id, document_id)
                moved[old] = new
    return moved


async def _digest(uri: str) -> str:
    try:
        return await asyncio.to_thread(hash_file, Path(uri))
    except OSError:
        return ""


async def _add(database: Database, files: FileStore, workspace_id: int, uri: str) -> bool:
    path = Path(uri)
    try:
        await documents.add_file(
            database, files, workspace_id, path, path.name, uri=uri, priority=queue.BEHIND
        )
    except (IngestionError, OSError) as error:
        logger.warning("%s was not added: %s", uri, error)
        return False
    return True
