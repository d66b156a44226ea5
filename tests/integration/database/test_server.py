"""The embedded PostgreSQL, run for real: each test has a home of its own."""

import contextlib
import fcntl
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from rag_app.database import binaries, server
from rag_app.database.server import find_binaries, start_server
from rag_app.errors import ServerStartError

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[3]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

# starts or attaches, says how, keeps the server until its input ends, then leaves it
CHILD = """
import sys
from pathlib import Path
from rag_app.database.server import start_server
from rag_app.errors import ServerStartError
try:
    running = start_server(Path(sys.argv[1]))
except ServerStartError as error:
    print(error, flush=True)
    sys.exit(1)
print("started" if running.is_owner else "attached", running.pid, running.dsn, flush=True)
sys.stdin.read()
print("stopped" if running.stop() else "left", flush=True)
"""


@pytest.fixture
def home() -> Iterator[Path]:
    # pytest's own folders are closed to other users, and so is this one, as a home may well be
    base = Path(tempfile.mkdtemp())
    yield base / "home"
    kill_server(base / "home")
    shutil.rmtree(base)


@pytest.fixture(scope="module")
def stopped_home() -> Iterator[Path]:
    base = Path(tempfile.mkdtemp())
    start_server(base / "home").stop()
    yield base / "home"
    shutil.rmtree(base)


@pytest.fixture
def made_home(home: Path, stopped_home: Path) -> Path:
    """A home whose database exists already; as a copy by root, it belongs to root."""
    shutil.copytree(stopped_home, home)
    (home / "database-port").unlink()
    return home


def kill_server(home: Path) -> None:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, psutil.NoSuchProcess):
        pid = int((home / "pgdata" / "postmaster.pid").read_text().split()[0])
        if Path(psutil.Process(pid).cwd()) == (home / "pgdata").resolve():
            os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
    # the backends follow the postmaster, and their lock tells when
    with contextlib.suppress(FileNotFoundError), (home / "pgdata.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)


@contextlib.contextmanager
def child(home: Path, **options: object) -> Iterator[subprocess.Popen[str]]:
    python = options.pop("python", sys.executable)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}  # type: ignore[dict-item]
    with subprocess.Popen(
        [python, "-c", CHILD, home],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
        env=environment,
        **options,  # type: ignore[call-overload]
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def ask(dsn: str, query: str) -> object:
    with psycopg.connect(dsn) as connection:
        row = connection.execute(query).fetchone()
    return row[0] if row else None


def test_a_first_start_makes_a_database_that_reads_text_of_every_script(home: Path) -> None:
    running = start_server(home)

    assert running.is_owner
    assert running.is_running()
    assert ask(running.dsn, "select upper('straße')") == "STRASSE"
    assert ask(running.dsn, "select to_tsvector('german', '„schöne“')::text") == "'schon':1"
    assert ask(running.dsn, "select to_tsvector('arabic', 'فاز؟')::text") == "'فاز':1"
    assert ask(running.dsn, "select count(*) from pg_available_extensions where name='vector'") == 1
    assert running.stop()
    assert not running.is_running()


def test_a_second_process_attaches_and_only_the_last_one_stops_the_server(made_home: Path) -> None:
    running = start_server(made_home)
    with child(made_home) as other:
        assert other.stdout
        assert other.stdout.readline().split() == ["attached", str(running.pid), running.dsn]
        assert not running.stop()
        assert running.is_running()
        assert other.communicate("")[0] == "stopped\n"
    assert not running.is_running()


def test_a_client_that_knows_only_the_address_keeps_the_server_up(made_home: Path) -> None:
    running = start_server(made_home)
    with psycopg.connect(running.dsn):
        assert not running.stop()
    assert start_server(made_home).stop()


def test_the_port_stays_the_same_from_start_to_start(made_home: Path) -> None:
    first = start_server(made_home)
    first.stop()
    second = start_server(made_home)

    assert second.port == first.port
    second.stop()


def test_another_program_on_the_port_of_last_time_makes_it_choose_a_new_one(
    made_home: Path,
) -> None:
    first = start_server(made_home)
    first.stop()
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", first.port))
        other.listen()
        second = start_server(made_home)

        assert second.port != first.port
        assert ask(second.dsn, "select 1") == 1
    second.stop()


def test_three_first_starts_at_the_same_moment_share_one_server(home: Path) -> None:
    with child(home) as one, child(home) as two, child(home) as three:
        lines = [process.stdout.readline().split() for process in (one, two, three)]  # type: ignore[union-attr]

        assert sorted(line[0] for line in lines) == ["attached", "attached", "started"]
        assert len({tuple(line[1:]) for line in lines}) == 1
        assert [process.communicate("")[0] for process in (one, two, three)] == [
            "left\n",
            "left\n",
            "stopped\n",
        ]


def test_no_acknowledged_row_is_lost_when_the_server_is_killed_while_writing(
    made_home: Path,
) -> None:
    running = start_server(made_home)
    with psycopg.connect(running.dsn, autocommit=True) as connection:
        connection.execute("create extension vector")
        connection.execute("create table note (number int primary key, place halfvec(4))")
        connection.execute("create index on note using hnsw (place halfvec_cosine_ops)")
    acknowledged: list[int] = []

    def write(first: int) -> None:
        with (
            contextlib.suppress(psycopg.OperationalError),
            psycopg.connect(running.dsn, autocommit=True) as connection,
        ):
            for number in range(first, first + 1_000_000):
                connection.execute("insert into note values (%s, '[1,2,3,4]')", [number])
                acknowledged.append(number)

    writers = [threading.Thread(target=write, args=[first]) for first in (0, 1_000_000)]
    for writer in writers:
        writer.start()
    while len(acknowledged) < 300:
        time.sleep(0.01)
    os.kill(running.pid, signal.SIGKILL)
    for writer in writers:
        writer.join()
    assert not running.is_running()
    running.stop()
    again = start_server(made_home)
    with psycopg.connect(again.dsn) as connection:
        stored = {number for (number,) in connection.execute("select number from note")}

    assert again.is_owner
    assert set(acknowledged) - stored == set()
    assert ask(again.dsn, "select count(*) from (select 1 from note order by place <=> '[1,2,3,4]'"
               " limit 5) as nearest") == 5  # fmt: skip
    again.stop()


def test_the_server_lives_on_when_the_process_that_started_it_is_killed(made_home: Path) -> None:
    with child(made_home) as starter:
        line = starter.stdout.readline().split()  # type: ignore[union-attr]
        starter.kill()
    running = start_server(made_home)

    assert (line[0], int(line[1])) == ("started", running.pid)
    assert not running.is_owner
    assert running.stop()


def test_an_interrupted_first_start_is_begun_anew(home: Path) -> None:
    with child(home) as starter:
        while not (home / "pgdata.new" / "base").exists():
            time.sleep(0.005)
        starter.kill()
    assert not (home / "pgdata").exists()

    running = start_server(home)

    assert ask(running.dsn, "select 1") == 1
    running.stop()


def test_a_left_over_pid_file_with_the_number_of_another_program_is_harmless(
    made_home: Path,
) -> None:
    start_server(made_home).stop()
    left_over = made_home / "pgdata" / "postmaster.pid"
    left_over.write_text(f"{os.getpid()}\n/proc/self/cwd\n1796080321\n5873\n\n127.0.0.1\n")

    running = start_server(made_home)

    assert running.pid != os.getpid()
    assert running.stop()


def test_a_home_with_a_very_long_path_works(home: Path) -> None:
    running = start_server(home / ("long" * 30) / ("long" * 30))

    assert ask(running.dsn, "select 1") == 1
    assert running.stop()


def test_data_of_another_postgresql_version_are_refused_with_the_way_out(home: Path) -> None:
    (home / "pgdata").mkdir(parents=True)
    (home / "pgdata" / "PG_VERSION").write_text("17\n")

    with pytest.raises(ServerStartError, match=r"PostgreSQL 17.*brings PostgreSQL 18.*that wrote"):
        start_server(home)


def test_a_data_folder_with_pieces_missing_is_never_overwritten(home: Path) -> None:
    (home / "pgdata" / "base").mkdir(parents=True)

    with pytest.raises(ServerStartError, match="not a whole database"):
        start_server(home)
    assert (home / "pgdata" / "base").exists()


def test_damaged_data_are_reported_with_the_last_lines_of_the_log(made_home: Path) -> None:
    start_server(made_home).stop()
    (made_home / "pgdata" / "global" / "pg_control").unlink()

    with pytest.raises(ServerStartError, match=r"(?s)damaged.*restore.*\n.*pg_control"):
        start_server(made_home)


def test_a_wrong_password_file_is_named(made_home: Path) -> None:
    running = start_server(made_home)
    with child(made_home) as keeper:
        keeper.stdout.readline()  # type: ignore[union-attr]
        right = (made_home / "database-password").read_text()
        (made_home / "database-password").write_text("wrong")
        with pytest.raises(ServerStartError, match=r"refused the password in .*database-password"):
            start_server(made_home)
        (made_home / "database-password").write_text(right)
    running.stop()


def test_data_in_use_by_a_server_that_cannot_be_seen_are_left_alone(
    made_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_server(made_home).stop()
    monkeypatch.setattr(server, "LEFT_OVER_SECONDS", 0.1)
    with (made_home / "pgdata.lock").open() as elsewhere:
        fcntl.flock(elsewhere, fcntl.LOCK_EX)

        with pytest.raises(ServerStartError, match="in use by a database server"):
            start_server(made_home)


def test_a_start_that_another_process_never_ends_is_reported_with_its_number(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir()
    monkeypatch.setattr(server, "LOCK_SECONDS", 0.1)
    with (home / "database.lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        other.write("4711\n")
        other.flush()

        with pytest.raises(ServerStartError, match="number 4711"):
            start_server(home)


def test_a_full_disk_is_said_before_anything_is_written(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = type("Usage", (), {"free": 1_000_000})
    monkeypatch.setattr("rag_app.database.cluster.shutil.disk_usage", lambda path: free)

    with pytest.raises(ServerStartError, match="Only 1 MB are free"):
        start_server(home)
    assert not (home / "pgdata").exists()


def test_a_long_log_moves_aside(home: Path) -> None:
    home.mkdir()
    log = home / "web.log"
    log.write_text("old")
    server.rotate_log(log, limit_bytes=2)

    assert (home / "web.log.1").read_text() == "old"
    assert log.read_text() == ""


def python_for(account: pwd.struct_passwd) -> str | None:
    """Find an interpreter of this version that the account can run; ours is often closed to it."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (Path(sys.executable), Path(f"/usr/bin/python{version}")):
        resolved = candidate.resolve()
        if resolved.exists() and binaries.closed_folder(resolved, account) is None:
            return str(candidate)
    return None


@contextlib.contextmanager
def child_of(account: pwd.struct_passwd, home: Path) -> Iterator[subprocess.Popen[str]]:
    python = python_for(account)
    packages = Path(psycopg.__file__).parents[1]
    if python is None or binaries.closed_folder(packages, account):
        pytest.skip(f"{account.pw_name} can reach no Python of this version")
    with child(
        home,
        python=python,
        user=account.pw_uid,
        group=account.pw_gid,
        extra_groups=[],
        env={"PYTHONPATH": f"{ROOT}{os.pathsep}{packages}", "PYTHONDONTWRITEBYTECODE": "1"},
    ) as process:
        yield process


@as_root
def test_an_ordinary_user_runs_it_as_himself(home: Path) -> None:
    account = pwd.getpwnam("nobody")
    home.mkdir()
    home.parent.chmod(0o711)
    os.chown(home, account.pw_uid, account.pw_gid)
    with child_of(account, home) as process:
        line = process.stdout.readline().split()  # type: ignore[union-attr]

        assert line[0] == "started"
        assert psutil.Process(int(line[1])).uids().real == account.pw_uid
        assert ask(line[2], "show data_directory") == str(home / "pgdata")
        assert process.communicate("")[0] == "stopped\n"


@as_root
def test_an_ordinary_user_without_permission_reads_what_to_do(home: Path) -> None:
    home.mkdir()
    home.parent.chmod(0o711)
    with child_of(pwd.getpwnam("nobody"), home) as process:
        printed = process.communicate("")[0]

    assert process.returncode == 1
    assert str(home) in printed
    assert "PINCITE_HOME" in printed


@as_root
def test_programs_below_a_private_folder_are_copied_to_where_their_user_can_run_them(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = find_binaries().parents[1]
    private = home.parent / "root" / "site-packages"
    shutil.copytree(package / "pginstall18", private / package.name / "pginstall18", symlinks=True)
    shutil.copytree(f"{package}.libs", private / f"{package.name}.libs", symlinks=True)
    (home.parent / "root").chmod(0o700)
    home.parent.chmod(0o711)
    monkeypatch.setattr(
        binaries, "find_binaries", lambda: private / package.name / "pginstall18" / "bin"
    )

    running = start_server(home)

    assert ask(running.dsn, "select 1") == 1
    assert Path(psutil.Process(running.pid).exe()).is_relative_to(home)
    running.stop()
