"""Runs a reader of foreign files in a child process with limits, so that a crash costs a page.

The child is `python -m rag_app.ingestion.sandbox MODULE:FUNCTION`. It takes requests and yields
answers as frames: the length of a JSON header, the length of a payload, both. Never pickles, since
a file may have taken the child over. Its environment holds none of our settings.
"""

import contextlib
import importlib
import json
import os
import queue
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from rag_app import errors

Task = Callable[[Mapping[str, Any]], Iterator[tuple[dict[str, Any], bytes]]]
Frame = tuple[dict[str, Any], bytes]

_SIZES = struct.Struct(">II")
_PACKAGE = "rag_app.ingestion."
_WAITING_FRAMES = 16  # a slow parent holds the child up instead of filling memory
_KEPT_VARIABLES = (
    "PATH",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SYSTEMROOT",
    "TESSDATA_PREFIX",
)


class ChildDiedError(errors.IngestionError):
    """The reader stopped in the middle: it crashed, hung or needed too much memory."""


class Child:
    """One child process, started on first use and again after it died. Not for two threads at once.

    `seconds` is how long it may be silent; `memory_bytes` bounds its address space where the
    system can do that.
    """

    def __init__(self, task: str, *, memory_bytes: int = 1 << 30, seconds: float = 60) -> None:
        self._task = task
        self._memory_bytes = memory_bytes
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._frames: queue.Queue[Frame | None] = queue.Queue()

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The process id, while the child runs."""
        return self._process.pid if self._process else None

    def stream(
        self, request: Mapping[str, Any], *, stop: threading.Event | None = None
    ) -> Iterator[Frame]:
        """Send one request and yield its answers; leaving early ends the child.

        Raises ChildDiedError when the child dies or falls silent, and whatever IngestionError
        the task raised.
        """
        finished = False
        try:
            self._send(request)
            while True:
                header, payload = self._receive(stop)
                if "done" in header:
                    finished = True
                    return
                if "error" in header:
                    finished = True
                    raise _error(header)
                yield header, payload
        finally:
            if not finished:
                self.close()

    def call(self, request: Mapping[str, Any]) -> Frame:
        """Send one request and return its only answer."""
        answers = list(self.stream(request))
        if len(answers) != 1:
            raise ChildDiedError(f"{self._task} gave {len(answers)} answers instead of one.")
        return answers[0]

    def close(self) -> None:
        """End the child, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        with contextlib.suppress(OSError):
            _pipe(process.stdin).close()
        self._drain()

    def _drain(self) -> None:
        # the reading thread may be waiting for room; it ends with the pipe
        with contextlib.suppress(queue.Empty):
            while True:
                self._frames.get_nowait()

    def _send(self, request: Mapping[str, Any]) -> None:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._start()
        assert self._process is not None
        try:
            _write(_pipe(self._process.stdin), dict(request), b"")
        except OSError as error:
            self.close()
            raise ChildDiedError from error

    def _start(self) -> None:
        root = str(Path(errors.__file__).parents[1])
        environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        environment["PYTHONPATH"] = root
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, self._task, str(self._memory_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._frames = queue.Queue(_WAITING_FRAMES)
        threading.Thread(
            target=_read_all,
            args=(_pipe(self._process.stdout), self._frames, self._process),
            daemon=True,
        ).start()

    def _receive(self, stop: threading.Event | None) -> Frame:
        deadline = time.monotonic() + self._seconds
        while True:
            if stop is not None and stop.is_set():
                raise ChildDiedError("Reading was stopped.")
            try:
                frame = self._frames.get(timeout=0.2)
            except queue.Empty:
                if time.monotonic() > deadline:
                    raise ChildDiedError(
                        f"The reader gave no sign of life for {self._seconds:.0f} seconds."
                    ) from None
                continue
            if frame is None:
                raise ChildDiedError
            return frame


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def _read_all(
    stream: IO[bytes], frames: "queue.Queue[Frame | None]", process: "subprocess.Popen[bytes]"
) -> None:
    """Move frames from the pipe to the queue until the child ends; None says that it did."""
    with stream:
        while True:
            frame = _read(stream)
            while True:
                try:
                    frames.put(frame, timeout=0.5)
                    break
                except queue.Full:
                    if process.poll() is not None:
                        return  # killed with frames unread, so nobody waits for them
            if frame is None:
                return


def _read(stream: IO[bytes]) -> Frame | None:
    sizes = stream.read(_SIZES.size)
    if len(sizes) < _SIZES.size:
        return None
    header_size, payload_size = _SIZES.unpack(sizes)
    header, payload = stream.read(header_size), stream.read(payload_size)
    if len(header) < header_size or len(payload) < payload_size:
        return None
    try:
        return dict(json.loads(header)), payload
    except ValueError:
        return None


def _write(stream: IO[bytes], header: Mapping[str, Any], payload: bytes) -> None:
    encoded = json.dumps(header).encode()
    stream.write(_SIZES.pack(len(encoded), len(payload)) + encoded + payload)
    stream.flush()


def _error(header: Mapping[str, Any]) -> errors.IngestionError:
    kind = getattr(errors, str(header["error"]), None)
    if not (isinstance(kind, type) and issubclass(kind, errors.IngestionError)):
        kind = errors.IngestionError
    return kind(str(header.get("message") or "") or None)


def _limit(memory_bytes: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits; the silence limit still holds
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def main() -> None:
    """Serve one task until the parent closes the pipe."""
    name, memory_bytes = sys.argv[1], int(sys.argv[2])
    if not name.startswith(_PACKAGE):
        raise SystemExit(2)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a chatty library must not break frames
    module, _, function = name.partition(":")
    task: Task = getattr(importlib.import_module(module), function)
    _limit(memory_bytes)
    while (request := _read(sys.stdin.buffer)) is not None:
        try:
            for header, payload in task(request[0]):
                _write(answers, header, payload)
            _write(answers, {"done": True}, b"")
        except errors.IngestionError as error:
            _write(answers, {"error": type(error).__name__, "message": str(error)}, b"")
        except MemoryError:
            os._exit(1)


if __name__ == "__main__":
    main()
