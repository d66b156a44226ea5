"""Original files, stored once by the hash of their bytes."""

import contextlib
import hashlib
import secrets
import shutil
import tempfile
import time
from pathlib import Path

import fsspec

BLOCK_BYTES = 1 << 20
PARTS = "parts"
"""Where a file lies until it is whole; what a killed process left there is swept away."""
LEFTOVER_SECONDS = 24 * 3600


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def make_private(folder: Path) -> Path:
    """Make a folder that only this user may open, and return it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_mode & 0o077:  # made by an earlier version
        folder.chmod(0o700)
    return folder


def remove_leftovers(folder: Path, older_than_seconds: float = LEFTOVER_SECONDS) -> None:
    """Delete the files of a folder that nobody has written to for a day: their process is gone."""
    with contextlib.suppress(OSError):
        for path in list(folder.iterdir()):
            # another process may be at the same, or the file somebody else's
            with contextlib.suppress(OSError):
                if path.is_file() and path.stat().st_mtime < time.time() - older_than_seconds:
                    path.unlink()


class FileStore:
    """A content-addressed folder, local or anywhere fsspec reaches.

    Keys look like `3f/3fa0…` plus the suffix of the name, which viewers need.
    """

    def __init__(self, url: str, cache: Path) -> None:
        self._filesystem, self._root = fsspec.core.url_to_fs(url)
        self._cache = cache

    def put(self, path: Path, name: str) -> str:
        """Store a copy of the file and return its key; the same bytes are stored once."""
        digest = hash_file(path)
        key = f"{digest[:2]}/{digest}{Path(name).suffix.lower()[:16]}"
        target = f"{self._root}/{key}"
        if not self._filesystem.exists(target):
            self._make_folders(digest[:2])
            # moved into place when whole, so a name never stands for half a file
            part = f"{self._root}/{PARTS}/{secrets.token_hex(16)}"
            try:
                self._filesystem.put_file(str(path), part)
                self._filesystem.mv(part, target)
            except BaseException as error:
                with contextlib.suppress(OSError):
                    self._filesystem.rm_file(part)
                # the same bytes may have come another way in the meantime
                if not isinstance(error, OSError) or not self._filesystem.exists(target):
                    raise
        return key

    def put_bytes(self, content: bytes, suffix: str) -> str:
        """Store bytes and return their key."""
        with tempfile.NamedTemporaryFile() as part:
            part.write(content)
            part.flush()
            return self.put(Path(part.name), f"file{suffix}")

    def local_path(self, key: str) -> Path:
        """Return a path on this machine that holds the file, fetching it when it is elsewhere."""
        if self._is_local:
            return Path(self._root) / key
        path = self._cache / key
        if not path.exists():
            parts = make_private(make_private(self._cache) / PARTS)
            path.parent.mkdir(exist_ok=True)
            part = parts / secrets.token_hex(16)
            try:
                with (
                    self._filesystem.open(f"{self._root}/{key}", "rb") as source,
                    part.open("wb") as to,
                ):
                    shutil.copyfileobj(source, to, BLOCK_BYTES)
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)
        return path

    def remove(self, key: str) -> None:
        """Delete the file; removing what is gone already is no error."""
        target = f"{self._root}/{key}"
        if self._filesystem.exists(target):
            self._filesystem.rm_file(target)

    def sweep(self) -> None:
        """Delete what processes that were killed in the middle of a file have left."""
        remove_leftovers(self._cache / PARTS)
        if self._is_local:
            remove_leftovers(Path(self._root) / PARTS)

    @property
    def _is_local(self) -> bool:
        return "file" in self._filesystem.protocol

    def _make_folders(self, *names: str) -> None:
        if self._is_local:
            make_private(Path(self._root))
        for name in (PARTS, *names):
            self._filesystem.makedirs(f"{self._root}/{name}", exist_ok=True)
