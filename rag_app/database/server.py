"""Starts the embedded PostgreSQL of a home, or joins a running one, and stops it with the last.

Who holds which lock file of the home:

- `database.lock`: whoever starts or stops the server, for that moment;
- `database.users`: every process that uses it, shared, until it stops or dies;
- `pgdata.lock`: every process of PostgreSQL, inherited, so the kernel itself says whether
  anything still works on the data, even after a `kill -9` or from another container.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil
import psycopg

from rag_app.database.binaries import find_binaries
from rag_app.database.cluster import (
    OWNER,
    Cluster,
    explain,
    make_home,
    open_cluster,
    prepare_data,
)
from rag_app.database.locks import POLL_SECONDS, open_lock, try_lock
from rag_app.errors import ServerStartError

__all__ = ["Server", "find_binaries", "rotate_log", "start_server"]

DATABASE = "pincite"
START_SECONDS = 300.0
"""Recovery after a crash may take minutes; a server that ends by itself is noticed at once."""
LOCK_SECONDS = 90.0
LEFT_OVER_SECONDS = 20.0
STOP_SECONDS = 60.0
LOG_BYTES = 5_000_000
ROOM_FOR_PARALLEL_BUILDS_BYTES = 600_000_000

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",  # a socket's path may have 107 bytes only, and homes lie deep
    "shared_buffers": "256MB",
    "maintenance_work_mem": "512MB",  # holds the graph of an HNSW index of 400,000 chunks
    "work_mem": "16MB",
    "effective_cache_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "max_wal_size": "2GB",
    "max_connections": "60",
}


@dataclass
class Server:
    """A running database server, kept alive for this process until `stop()`."""

    home: Path
    dsn: str = field(repr=False)
    port: int
    pid: int
    is_owner: bool
    _users: IO[str] = field(repr=False)

    def is_running(self) -> bool:
        """Say whether the server process still lives."""
        self._reap()
        found = _find_postmaster(self.home / "pgdata")
        return found is not None and found[0] == self.pid

    def stop(self) -> bool:
        """Leave the server, and shut it down when nobody else uses it; say whether it is down.

        Close the connections of this process first.
        """
        self._users.close()
        if not self.home.exists():  # a disk was taken away; PostgreSQL notices that by itself
            return False
        with _start_lock(self.home):
            found = _find_postmaster(self.home / "pgdata")
            if found is None:
                self._reap()
                return True
            if _others_use(self.home, self.dsn):
                return False
            os.kill(found[0], signal.SIGINT)  # PostgreSQL's fast shutdown
            deadline = time.monotonic() + STOP_SECONDS
            while _find_postmaster(self.home / "pgdata") and time.monotonic() < deadline:
                self._reap()
                time.sleep(POLL_SECONDS)
            self._reap()
            return _find_postmaster(self.home / "pgdata") is None

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):  # it is the child of another process
            os.waitpid(self.pid, os.WNOHANG)


def start_server(home: Path, *, may_create: bool = True) -> Server:
    """Start the database server of `home`, or attach to the one that runs already.

    Without `may_create` a library that is not there is an error, and stays not there.

    Blocks until it takes connections; several processes may call it at the same moment. Raises
    ServerStartError, which says what to do and ends with the last lines of the server's log.
    """
    make_home(home)
    with _start_lock(home):
        cluster = open_cluster(home)
        users = open_lock(home / "database.users")
        try:
            try_lock(users, shared=True)  # nobody holds it alone but in the start lock
            found = _find_postmaster(cluster.data)
            if found is None:
                if not may_create and not cluster.data.exists():
                    raise ServerStartError(f"The library in {home} is gone.")
                pid, port = _launch(cluster)
                server = Server(home, _dsn(cluster, port), port, pid, True, users)
            else:
                pid, port = found
                server = Server(home, _dsn(cluster, port), port, pid, False, users)
                _wait_until_ready(cluster, pid, port)
            _create_database(cluster, server.port)
        except BaseException:
            users.close()
            raise
        return server


def rotate_log(path: Path, *, limit_bytes: int = LOG_BYTES) -> None:
    """Move a long log aside as `.1`, also while programs go on appending to it."""
    if path.exists() and path.stat().st_size > limit_bytes:
        shutil.copyfile(path, path.with_name(f"{path.name}.1"))
        os.truncate(path, 0)


def _launch(cluster: Cluster) -> tuple[int, int]:
    data_lock = _lock_data(cluster)
    try:
        prepare_data(cluster, data_lock)
        rotate_log(cluster.log)
        # a second try for the rare case that somebody took the port between looking and using
        for attempt in (1, 2, 3):
            port = _choose_port(cluster.home, fresh=attempt > 1)
            log_start = cluster.log.stat().st_size if cluster.log.exists() else 0
            process = _spawn(cluster, port, data_lock)
            try:
                _wait_until_ready(cluster, process.pid, port, process)
            except ServerStartError:
                if process.poll() is None:  # it runs, but does not let us in
                    process.send_signal(signal.SIGINT)
                    process.wait(STOP_SECONDS)
                    raise
                printed = _tail(cluster.log, log_start)
                if "Address already in use" in printed and attempt < 3:
                    continue
                raise ServerStartError(explain(printed, cluster.home)) from None
            remembered = cluster.home / "database-port"
            remembered.touch(mode=0o600)  # whatever the umask
            remembered.write_text(str(port), encoding="ascii")
            process.returncode = 0  # it outlives this object, which would warn of that
            return process.pid, port
    finally:
        data_lock.close()
    raise AssertionError("the last attempt returns or raises")


def _spawn(cluster: Cluster, port: int, data_lock: IO[str]) -> subprocess.Popen[bytes]:
    command = [
        str(cluster.binaries / "postgres"),
        "-D",
        cluster.folder_argument(cluster.data),
        "-p",
        str(port),
    ]
    for name, value in (SETTINGS | _parallel_settings()).items():
        command += ["-c", f"{name}={value}"]
    with cluster.log.open("ab") as log:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for the app, which stops everything in order
            pass_fds=[data_lock.fileno()],
            **cluster.process_options(cluster.data),
        )


def _parallel_settings() -> dict[str, str]:
    """Build indexes with one process where shared memory is small, as in a default container."""
    memory = Path("/dev/shm")
    if memory.exists() and shutil.disk_usage(memory).total < ROOM_FOR_PARALLEL_BUILDS_BYTES:
        return {"max_parallel_maintenance_workers": "0"}
    return {}


def _wait_until_ready(
    cluster: Cluster, pid: int, port: int, process: subprocess.Popen[bytes] | None = None
) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        ended = process.poll() is not None if process else _find_postmaster(cluster.data) is None
        if ended:
            raise ServerStartError(explain(_tail(cluster.log), cluster.home))
        try:
            if _answering_pid(cluster, port) == pid:
                return
        except psycopg.OperationalError as error:
            if "password authentication failed" in str(error):
                raise ServerStartError(
                    f"The database refused the password in {cluster.home / 'database-password'}: "
                    "restore that file from the backup that the data came from."
                ) from error
            if time.monotonic() > deadline:
                raise ServerStartError(explain(_tail(cluster.log), cluster.home)) from error
        time.sleep(POLL_SECONDS)


def _answering_pid(cluster: Cluster, port: int) -> int:
    """Return the process that answers on the port: it might be another server than ours."""
    with psycopg.connect(_dsn(cluster, port, "postgres"), connect_timeout=5) as connection:
        row = connection.execute("select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)")
        return int(row.fetchone()[0])  # type: ignore[index]


def _create_database(cluster: Cluster, port: int) -> None:
    with psycopg.connect(_dsn(cluster, port, "postgres"), autocommit=True) as connection:
        found = connection.execute("select 1 from pg_database where datname = %s", [DATABASE])
        if found.fetchone() is None:
            connection.execute(f"create database {DATABASE}")


def _dsn(cluster: Cluster, port: int, database: str = DATABASE) -> str:
    return f"postgresql://{OWNER}:{cluster.password}@127.0.0.1:{port}/{database}"


def _choose_port(home: Path, *, fresh: bool) -> int:
    """Return the port of last time where it is free, so that open connections find it again."""
    remembered = home / "database-port"
    if not fresh and remembered.exists() and (text := remembered.read_text().strip()).isdigit():
        with contextlib.suppress(OSError, OverflowError), socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", int(text)))
            return int(text)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _find_postmaster(data: Path) -> tuple[int, int] | None:
    """Return process and port of the living server; a zombie or a reused number is none."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
        process = psutil.Process(int(lines[0]))
        if process.status() == psutil.STATUS_ZOMBIE or "postgres" not in process.name():
            return None
        with contextlib.suppress(psutil.AccessDenied):
            if Path(process.cwd()) != data.resolve():
                return None
        return process.pid, int(lines[3])
    except (OSError, ValueError, IndexError, psutil.NoSuchProcess):
        return None


def _lock_data(cluster: Cluster) -> IO[str]:
    """Take the lock that the server's processes will hold, once the last of old ones are gone.

    With it in hand nothing works on the data, so a `postmaster.pid` that is still there is left
    over: its number may be a zombie's or another program's by now, and PostgreSQL would refuse.
    """
    lock = open_lock(cluster.home / "pgdata.lock")
    if not try_lock(lock, LEFT_OVER_SECONDS):
        lock.close()
        raise ServerStartError(
            f"The data in {cluster.data} are in use by a database server that this process cannot "
            "see, perhaps in another container: stop that one first."
        )
    (cluster.data / "postmaster.pid").unlink(missing_ok=True)
    return lock


def _others_use(home: Path, dsn: str) -> bool:
    with open_lock(home / "database.users") as users:
        if not try_lock(users):
            return True
    # programs that know only the address, such as psql; ours may need a moment to hang up
    deadline = time.monotonic() + 0.5
    try:
        with psycopg.connect(dsn, autocommit=True, connect_timeout=5) as connection:
            while True:
                row = connection.execute(
                    "select count(*) from pg_stat_activity"
                    " where backend_type = 'client backend' and pid <> pg_backend_pid()"
                ).fetchone()
                if row == (0,):
                    return False
                if time.monotonic() > deadline:
                    return True
                time.sleep(POLL_SECONDS)
    except psycopg.OperationalError:
        return False  # it takes no connections any more


@contextlib.contextmanager
def _start_lock(home: Path) -> Iterator[None]:
    with open_lock(home / "database.lock") as lock:
        if not try_lock(lock, LOCK_SECONDS):
            raise ServerStartError(
                f"Another process (number {lock.read().strip() or 'unknown'}) has been starting "
                f"the database in {home} for {LOCK_SECONDS:.0f} seconds: stop it or wait for it."
            )
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield


def _tail(log: Path, start: int = 0) -> str:
    with log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(start, size - 8000))
        return file.read().decode(errors="replace")
