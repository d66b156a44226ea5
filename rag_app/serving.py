"""Serves one home: database, worker and pages, each watched, and all stopped together."""

import contextlib
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil

from rag_app.database.cluster import make_home
from rag_app.database.locks import open_lock, try_lock
from rag_app.database.server import Server, rotate_log, start_server
from rag_app.errors import ServeError, ServerStartError
from rag_app.settings import Settings

PROJECT_ROOT = Path(__file__).resolve().parents[1]
GUARD = Path(__file__).with_name("serving_guard.py")
POLL_SECONDS = 0.1
HOUSEKEEPING_SECONDS = 2.0
STOP_SECONDS = 15.0
"""The worker gives its jobs 10 seconds to finish."""
GUARD_SECONDS = 20.0
READY_SECONDS = 300.0
STEADY_SECONDS = 60.0
"""A process that lived so long begins with the shortest pause again when it ends."""
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.3, 30.0
FAILURES_AT_START = 3

# the two that begin with underscores are Reflex's own switches for serving a finished build
WEB_ENVIRONMENT = {
    "__REFLEX_SKIP_COMPILE": "true",
    "__REFLEX_MOUNT_FRONTEND_COMPILED_APP": "true",
    "REFLEX_ENV_MODE": "prod",
    "REFLEX_TELEMETRY_ENABLED": "false",
    "REFLEX_CHECK_LATEST_VERSION": "false",
}


@dataclass
class Child:
    """A process that is started again whenever it ends."""

    name: str
    command: list[str]
    environment: Mapping[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    failures: int = 0
    restart_at: float = field(default=0.0)


def serve(settings: Settings) -> None:
    """Start everything, say the address, and watch until SIGINT or SIGTERM.

    Raises ServeError, ServerStartError or DatabaseError with what to do when it cannot start.
    """
    make_home(settings.home)
    with _only_one(settings) as lock, _signals() as stopped, contextlib.ExitStack() as stack:
        _check_port(settings)
        _check_pages()
        groups = stack.enter_context(_guard(lock))
        server = None
        if not settings.database_url:
            server = start_server(settings.home)
            stack.callback(server.stop)
        web, worker = children = _children(settings)
        stack.callback(_stop_all, children, groups)
        _start(web, groups)
        # while the page server loads its code; it waits for the migration where it needs one
        _migrate(server.dsn if server else settings.database_url)
        _wait_until_ready(settings, web, groups, stopped)
        if not stopped:
            # only now: it would take half the processor from the first page
            _start(worker, groups)
            _say(f"Pincite is ready: {_address(settings)}")
            _open_browser(settings)
            _watch(settings, children, groups, server, stopped, stack)
        _say("Stopping ...")
    _say("Pincite has stopped.")


def _children(settings: Settings) -> list[Child]:
    environment = os.environ | {
        "PINCITE_HOME": str(settings.home),
        "PINCITE_PORT": str(settings.port),
        "PINCITE_SERVED": "1",
        "PYTHONUNBUFFERED": "1",
    }
    granian = [
        *("--interface", "asgi", "--factory", "--workers", "1", "--workers-kill-timeout", "5"),
        *("--host", settings.host, "--port", str(settings.port), "rag_app.rag_app:app"),
    ]
    return [
        Child(
            "page server",
            [sys.executable, "-m", "granian", *granian],
            environment | WEB_ENVIRONMENT,
            settings.logs_dir / "web.log",
        ),
        Child(
            "worker",
            [sys.executable, "-m", "rag_app", "worker"],
            environment,
            settings.logs_dir / "worker.log",
        ),
    ]


def _start(child: Child, groups: IO[str]) -> None:
    rotate_log(child.log)
    with child.log.open("ab") as log:
        child.process = subprocess.Popen(
            child.command,
            cwd=PROJECT_ROOT,
            env=child.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C comes here alone, and a group can be ended as one
        )
    child.started_at = time.monotonic()
    groups.write(f"+{child.process.pid}\n")
    groups.flush()


def _restart_ended(child: Child, groups: IO[str]) -> None:
    """Start a child again after a pause that grows while it keeps ending."""
    now = time.monotonic()
    if child.process is None:
        if now >= child.restart_at:
            _start(child, groups)
        return
    code = child.process.poll()
    if code is None:
        return
    _forget(child, groups)
    child.failures = 1 if now - child.started_at > STEADY_SECONDS else child.failures + 1
    pause = min(FIRST_PAUSE_SECONDS * 2 ** (child.failures - 1), LONGEST_PAUSE_SECONDS)
    child.restart_at = now + pause
    way = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
    _say(f"The {child.name} ended {way} and is started again (its log: {child.log}).")


def _end(child: Child) -> None:
    if child.process is not None:
        child.process.terminate()


def _forget(child: Child, groups: IO[str]) -> None:
    """Clear away what an ended process has left in its group: it may still hold the port."""
    if child.process is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.process.pid, signal.SIGKILL)
        groups.write(f"-{child.process.pid}\n")
        groups.flush()
        child.process = None


def _stop_all(children: list[Child], groups: IO[str]) -> None:
    running = [child.process for child in children if child.process]
    for process in running:
        process.terminate()
    deadline = time.monotonic() + STOP_SECONDS
    for process in running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))
    for child, process in zip([c for c in children if c.process], running, strict=True):
        _forget(child, groups)
        process.wait()


def _watch(
    settings: Settings,
    children: list[Child],
    groups: IO[str],
    server: Server | None,
    stopped: list[int],
    stack: contextlib.ExitStack,
) -> None:
    housekeeping_at = 0.0
    while not stopped:
        for child in children:
            _restart_ended(child, groups)
        if time.monotonic() >= housekeeping_at:
            housekeeping_at = time.monotonic() + HOUSEKEEPING_SECONDS
            for log in settings.logs_dir.glob("*.log"):
                rotate_log(log)
            if server and not server.is_running():
                before, server = server, _restart_database(server, stack)
                if server.dsn != before.dsn:
                    # its port was taken meanwhile: they look for the new one when they start
                    for child in children:
                        _end(child)
        time.sleep(POLL_SECONDS)


def _restart_database(server: Server, stack: contextlib.ExitStack) -> Server:
    if not (server.home / "pgdata").exists():
        # starting would make an empty library, perhaps below the mount point of a lost disk
        raise ServeError(f"The library in {server.home} is gone: bring its folder or disk back.")
    _say("The database server ended and is started again.")
    try:
        again = start_server(server.home)
    except ServerStartError as error:
        _say(str(error))
        return server
    stack.callback(again.stop)
    return again


def _wait_until_ready(settings: Settings, web: Child, groups: IO[str], stopped: list[int]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not stopped and not _is_healthy(settings):
        _restart_ended(web, groups)
        if web.failures >= FAILURES_AT_START or time.monotonic() > deadline:
            raise ServeError(
                f"The {web.name} does not start. Its log {web.log} ends with:\n{_tail(web.log)}"
            )
        time.sleep(POLL_SECONDS / 2)


def _is_healthy(settings: Settings) -> bool:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)
    host = f"[{host}]" if ":" in host else host
    # a proxy from the environment must not be asked for our own address
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://{host}:{settings.port}/api/health", timeout=5) as response:
            return response.status == 200
    except (OSError, urllib.error.URLError):
        return False


def _migrate(dsn: str) -> None:
    # imported here: it takes a while, and clear messages about port and lock come first
    from rag_app.database.session import migrate

    migrate(dsn)


@contextlib.contextmanager
def _only_one(settings: Settings) -> Iterator[IO[str]]:
    """Hold the lock of the home, or say where the one that holds it can be reached."""
    with open_lock(settings.home / "serve.lock") as lock:
        if not try_lock(lock):
            holder = json.loads(lock.read() or "{}")
            if _lives(holder.get("process", 0), holder.get("started", 0.0)):
                raise ServeError(
                    f"Pincite already runs: {holder['address']} (process {holder['process']}, "
                    f"with the library in {settings.home})."
                )
            # its guard is still ending what a killed one left behind
            if not try_lock(lock, GUARD_SECONDS):
                raise ServeError(
                    f"Another Pincite has just started with the library in {settings.home}."
                )
        lock.seek(0)
        lock.truncate()
        started = psutil.Process().create_time()
        json.dump({"process": os.getpid(), "started": started, "address": _address(settings)}, lock)
        lock.flush()
        yield lock


def _lives(process: int, started: float) -> bool:
    try:
        found = psutil.Process(process)
        return found.create_time() == started and found.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@contextlib.contextmanager
def _guard(lock: IO[str]) -> Iterator[IO[str]]:
    """Run the process that ends ours should this one be killed, and yield its list of groups."""
    with subprocess.Popen(
        [sys.executable, "-I", "-S", str(GUARD)],
        stdin=subprocess.PIPE,
        text=True,
        cwd="/",
        start_new_session=True,
        pass_fds=[lock.fileno()],  # the home stays locked until its work is done
    ) as guard:
        assert guard.stdin is not None  # what stdin=PIPE promises
        yield guard.stdin


@contextlib.contextmanager
def _signals() -> Iterator[list[int]]:
    """Yield a list that fills when somebody wants the app to stop."""
    stopped: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, lambda got, _frame: stopped.append(got)) for number in numbers]
    try:
        yield stopped
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _check_port(settings: Settings) -> None:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OverflowError as error:
            raise ServeError(f"PINCITE_PORT must be below 65536, not {settings.port}.") from error
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise ServeError(
                    f"Port {settings.port} is taken by {_listener(settings.port)}: stop that "
                    f"program or choose another port, as in PINCITE_PORT={settings.port + 1}."
                ) from error
            raise ServeError(
                f"Pincite cannot listen on {settings.host}:{settings.port} ({error.strerror}): "
                "change PINCITE_HOST or PINCITE_PORT."
            ) from error


def _listener(port: int) -> str:
    with contextlib.suppress(psutil.Error, OSError):
        for connection in psutil.net_connections("tcp"):
            if (
                connection.status == psutil.CONN_LISTEN
                and connection.laddr
                and connection.laddr.port == port
                and connection.pid
            ):
                return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
    return "another program"


def _check_pages() -> None:
    if not (PROJECT_ROOT / ".web" / "build" / "client" / "index.html").exists():
        raise ServeError("The pages are not built yet: run `make setup`.")


def _address(settings: Settings) -> str:
    local = {"127.0.0.1", "::1", "0.0.0.0", "::"}
    host = "localhost" if settings.host in local else settings.host
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"


def _open_browser(settings: Settings) -> None:
    if wants_browser(os.environ, is_terminal=sys.stdout.isatty(), is_root=os.geteuid() == 0):
        webbrowser.open(_address(settings))


def wants_browser(environ: Mapping[str, str], *, is_terminal: bool, is_root: bool) -> bool:
    """Say whether the page should open by itself: for a person at a desktop, or when asked to."""
    wish = environ.get("PINCITE_OPEN_BROWSER", "").lower()
    if wish:
        return wish not in {"0", "no", "off", "false"}
    has_screen = sys.platform == "darwin" or bool(
        environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    )
    return is_terminal and has_screen and not is_root and not environ.get("CI")


def _tail(log: Path, lines: int = 12) -> str:
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return "\n".join(f"    {line}" for line in text.splitlines()[-lines:])


def _say(text: str) -> None:
    # a terminal that was closed must not keep the app from stopping in order
    with contextlib.suppress(OSError):
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
