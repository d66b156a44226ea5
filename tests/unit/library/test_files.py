"""Files are stored whole or not at all, however many come at once, and open to their user alone."""

import os
import stat
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rag_app.library.files import FileStore, make_private, remove_leftovers

AT_ONCE = 4


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture(params=["local", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> FileStore:
    place = {"local": str(tmp_path / "files"), "memory": f"memory://{tmp_path.name}"}
    return FileStore(place[request.param], tmp_path / "cache")


def given(folder: Path, content: bytes = b"text") -> Path:
    path = folder / "given"
    path.write_bytes(content)
    return path


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_same_bytes_several_times_at_once_are_stored_once(
    store: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    barrier = threading.Barrier(AT_ONCE)
    kind = type(store._filesystem)
    put = kind.put_file

    def put_together(*arguments: Any, **options: Any) -> None:
        put(*arguments, **options)
        barrier.wait(5)  # nobody goes on before everybody has written

    monkeypatch.setattr(kind, "put_file", put_together)
    path = given(tmp_path)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        keys = {*threads.map(lambda _: store.put(path, "a.txt"), range(AT_ONCE))}

    [key] = keys
    assert store.local_path(key).read_bytes() == b"text"
    assert kept(tmp_path / "files") in ([], [Path(key).name])
    assert store._filesystem.find(f"{store._root}/parts") == []


def test_a_file_fetched_several_times_at_once_is_whole_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileStore, "_is_local", False)
    store = FileStore(str(tmp_path / "files"), tmp_path / "cache")
    key = store.put(given(tmp_path, b"x" * 5_000_000), "a.bin")
    with ThreadPoolExecutor(AT_ONCE) as threads:
        paths = {*threads.map(lambda _: store.local_path(key), range(AT_ONCE))}

    [path] = paths
    assert path.stat().st_size == 5_000_000
    assert kept(tmp_path / "cache") == [path.name]


def test_what_cannot_be_stored_leaves_nothing(
    store: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(store._filesystem), "mv", fail)
    with pytest.raises(OSError, match="No space"):
        store.put(given(tmp_path), "a.txt")

    assert store._filesystem.find(store._root) == []


def test_a_move_that_comes_second_is_no_failure(
    store: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = type(store._filesystem)
    move = kind.mv

    def move_late(*arguments: Any, **options: Any) -> None:
        move(*arguments, **options)
        raise FileExistsError

    monkeypatch.setattr(kind, "mv", move_late)

    assert store.local_path(store.put(given(tmp_path), "a.txt")).read_bytes() == b"text"


@pytest.mark.usefixtures("open_umask")
def test_the_folders_are_open_to_this_user_alone(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path / "files"), tmp_path / "cache")
    store.put(given(tmp_path), "a.txt")
    remote = FileStore(f"memory://{tmp_path.name}", tmp_path / "cache")
    remote.local_path(remote.put(given(tmp_path), "a.txt"))

    assert (mode(tmp_path / "files"), mode(tmp_path / "cache")) == (0o700, 0o700)


def test_a_folder_of_an_earlier_version_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir(mode=0o755)

    assert mode(make_private(folder)) == 0o700


def test_only_what_a_dead_process_left_is_swept_away(tmp_path: Path) -> None:
    for name, age in (("dead", 2 * 24 * 3600), ("alive", 60)):
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    (tmp_path / "folder").mkdir()
    remove_leftovers(tmp_path)
    remove_leftovers(tmp_path / "missing")

    assert kept(tmp_path) == ["alive"]


def test_leftovers_of_half_stored_files_are_swept_away(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path / "files"), tmp_path / "cache")
    key = store.put(given(tmp_path), "a.txt")
    half = tmp_path / "files" / "parts" / "half"
    half.write_bytes(b"te")
    for path in (half, store.local_path(key)):
        os.utime(path, (0, 0))
    store.sweep()

    assert kept(tmp_path / "files") == [Path(key).name]
