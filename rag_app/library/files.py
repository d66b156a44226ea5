"""Original files, stored once by the hash of their bytes."""

import hashlib
import shutil
import tempfile
from pathlib import Path

import fsspec

BLOCK_BYTES = 1 << 20


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


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
            self._filesystem.makedirs(f"{self._root}/{digest[:2]}", exist_ok=True)
            # moved into place when whole, so a name never stands for half a file
            self._filesystem.put_file(str(path), target + ".part")
            self._filesystem.mv(target + ".part", target)
        return key

    def put_bytes(self, content: bytes, suffix: str) -> str:
        """Store bytes and return their key."""
        with tempfile.NamedTemporaryFile() as part:
            part.write(content)
            part.flush()
            return self.put(Path(part.name), f"file{suffix}")

    def local_path(self, key: str) -> Path:
        """Return a path on this machine that holds the file, fetching it when it is elsewhere."""
        if "file" in self._filesystem.protocol:
            return Path(self._root) / key
        path = self._cache / key
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(path.name + ".part")
            with (
                self._filesystem.open(f"{self._root}/{key}", "rb") as source,
                part.open("wb") as to,
            ):
                shutil.copyfileobj(source, to, BLOCK_BYTES)
            part.rename(path)
        return path

    def remove(self, key: str) -> None:
        """Delete the file; removing what is gone already is no error."""
        target = f"{self._root}/{key}"
        if self._filesystem.exists(target):
            self._filesystem.rm_file(target)
