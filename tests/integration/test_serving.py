"""`serve` as a person runs it: a process with a home of its own, on the finished build."""

import contextlib
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from rag_app import serving
from rag_app.errors import ServeError
from rag_app.settings import Settings

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 120.0
SOON_SECONDS = 60.0


@pytest.fixture
def home() -> Iterator[Path]:
    base = Path(tempfile.mkdtemp())
    yield base / "home"
    for process in processes_of(base / "home"):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    with contextlib.suppress(psutil.NoSuchProcess, FileNotFoundError):
        postmaster(base / "home").kill()
        psutil.wait_procs([postmaster(base / "home")], 10)
    shutil.rmtree(base, ignore_errors=True)


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Serve:
    """A running `serve`, and what it said."""

    def __init__(self, home: Path, port: int) -> None:
        environment = {name: value for name, value in os.environ.items() if "DATABASE" not in name}
        environment |= {"PINCITE_HOME": str(home), "PINCITE_PORT": str(port)}
        self.address = f"http://localhost:{port}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rag_app", "serve"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))

    def next_line(self, seconds: float = START_SECONDS) -> str:
        return self.lines.get(timeout=seconds)

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        code = self.process.wait(SOON_SECONDS)
        self._reader.join(SOON_SECONDS)
        return code


@contextlib.contextmanager
def started(home: Path, port: int) -> Iterator[Serve]:
    running = Serve(home, port)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
        running.process.wait()
        # the guard keeps the pipe open until its work is done
        running._reader.join(SOON_SECONDS)
        if running.process.stdout:
            running.process.stdout.close()


def processes_of(home: Path, part: str = "") -> list[psutil.Process]:
    """The living processes that were started for this home, by a part of their command line."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if (
                process.environ().get("PINCITE_HOME") == str(home)
                and process.status() != psutil.STATUS_ZOMBIE
                and part in " ".join(process.cmdline())
            ):
                found.append(process)
    return found


def postmaster(home: Path) -> psutil.Process:
    return psutil.Process(int((home / "pgdata" / "postmaster.pid").read_text().split()[0]))


def lives(process: psutil.Process) -> bool:
    # a process whose parent was killed may stay as a zombie where nobody reaps it
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


def fetch(url: str) -> bytes:
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=10) as got:
        return bytes(got.read())


def wait_for(fact: Callable[[], object], seconds: float = SOON_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, psutil.NoSuchProcess):
            if fact():
                return
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds:.0f} seconds")


def test_it_says_one_line_serves_the_page_and_leaves_nothing_behind(home: Path, port: int) -> None:
    with started(home, port) as running:
        assert running.next_line() == f"Pincite is ready: {running.address}"
        assert fetch(f"{running.address}/api/health") == b'{"status":"ok"}'
        assert b"<html" in fetch(f"{running.address}/")
        wait_for(lambda: processes_of(home, "worker"))
        database = postmaster(home)

        with started(home, port + 1) as second:
            assert second.next_line() == (
                f"Pincite already runs: {running.address} (process {running.process.pid}, with "
                f"the library in {home})."
            )
            assert second.process.wait(SOON_SECONDS) == 1

        assert running.stop() == 0
        assert [running.next_line(5), running.next_line(5)] == [
            "Stopping ...",
            "Pincite has stopped.",
        ]
    assert processes_of(home) == []
    assert not lives(database)
    assert {path.name for path in (home / "logs").iterdir()} == {
        "postgres.log",
        "web.log",
        "worker.log",
    }


def test_what_is_killed_is_started_again_and_said(home: Path, port: int) -> None:
    with started(home, port) as running:
        running.next_line()
        wait_for(lambda: processes_of(home, "rag_app worker"))
        for part, name in (("granian", "page server"), ("rag_app worker", "worker")):
            before = processes_of(home, part)
            before[0].kill()
            assert running.next_line().startswith(f"The {name} ended by signal SIGKILL")
            wait_for(lambda part=part, before=before: set(processes_of(home, part)) - set(before))
            wait_for(lambda: fetch(f"{running.address}/api/health"))

        database = postmaster(home)
        database.kill()
        assert running.next_line() == "The database server ended and is started again."
        wait_for(lambda: postmaster(home) != database and postmaster(home).is_running())
        wait_for(lambda: fetch(f"{running.address}/api/health"))
        again = postmaster(home)

        assert running.stop(signal.SIGTERM) == 0
    assert processes_of(home) == []
    assert not lives(again)


def test_a_database_that_comes_back_on_another_port_is_found_again(home: Path, port: int) -> None:
    with started(home, port) as running:
        running.next_line()
        wait_for(lambda: processes_of(home, "rag_app worker"))
        taken = int((home / "database-port").read_text())
        postmaster(home).kill()
        with socket.socket() as squatter:
            squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            wait_for(lambda: squatter.bind(("127.0.0.1", taken)) is None)  # free a moment later
            squatter.listen()
            assert running.next_line() == "The database server ended and is started again."
            wait_for(lambda: int((home / "database-port").read_text()) != taken)
            wait_for(lambda: b"passages" in fetch(f"{running.address}/api/search?question=any"))
        assert running.stop() == 0


def test_killing_it_ends_web_and_worker_and_the_next_one_starts_at_once(
    home: Path, port: int
) -> None:
    with started(home, port) as running:
        running.next_line()
        wait_for(lambda: processes_of(home, "rag_app worker"))
        running.process.kill()
        running.process.wait()
        # the same port: the new one waits until the guard has ended what held it
        with started(home, port) as again:
            assert again.next_line() == f"Pincite is ready: {again.address}"
            assert {process.ppid() for process in processes_of(home, "granian")} >= {
                again.process.pid
            }
            assert again.stop() == 0
    assert processes_of(home) == []


def test_a_library_that_disappears_is_never_replaced_by_an_empty_one(home: Path, port: int) -> None:
    with started(home, port) as running:
        running.next_line()
        database = postmaster(home)
        home.rename(home.with_name("taken away"))

        # a worker that is just starting may find it gone first
        line = running.next_line()
        while line.startswith("The worker ended"):
            line = running.next_line()
        assert line == f"The library in {home} is gone: bring its folder or disk back."
        assert running.process.wait(SOON_SECONDS) == 1
    assert processes_of(home) == []
    assert not (home / "pgdata").exists()
    database.kill()


def test_a_taken_port_is_said_before_anything_starts(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with started(home, port) as running:
            line = running.next_line()

            assert running.process.wait(SOON_SECONDS) == 1
    assert line.startswith(f"Port {port} is taken by ")
    assert f"PINCITE_PORT={port + 1}" in line
    assert not (home / "pgdata").exists()


def test_missing_pages_are_said_with_the_command_that_builds_them(
    home: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "PROJECT_ROOT", home)

    with pytest.raises(ServeError, match="make setup"):
        serving.serve(Settings(home=home, port=port))
    assert not (home / "pgdata").exists()
