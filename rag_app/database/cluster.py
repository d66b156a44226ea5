"""Creates the data directory of the embedded PostgreSQL, owned by the user that will run it."""

import os
import pwd
import secrets
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rag_app.database.binaries import (
    MAJOR_VERSION,
    closed_folder,
    make_passable,
    reachable_binaries,
)
from rag_app.errors import ServerStartError

OWNER = "pincite"
SERVICE_ACCOUNT = "nobody"
"""PostgreSQL refuses to run as root and wants a user with an entry in the password file."""
PROCESS_FOLDER = Path("/proc/self/cwd")
ROOM_FOR_INITDB_BYTES = 200_000_000
# the text-search parser asks LC_CTYPE what a letter is: with C, „schön“ keeps its quotation marks
CHARACTER_TYPE = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"


@dataclass(frozen=True)
class Cluster:
    """One data directory, its programs, and the user that runs them (None: this one)."""

    home: Path
    binaries: Path
    account: pwd.struct_passwd | None

    @property
    def data(self) -> Path:
        """Return PostgreSQL's data directory."""
        return self.home / "pgdata"

    @property
    def log(self) -> Path:
        """Return the file that the server prints to."""
        return self.home / "logs" / "postgres.log"

    @property
    def password(self) -> str:
        """Return the password of the owner, made once with the cluster."""
        path = self.home / "database-password"
        try:
            return path.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ServerStartError(
                f"The file {path} cannot be read ({error.strerror}), and without it nobody can "
                "log in to the database: restore it from a backup."
            ) from error

    def folder_argument(self, folder: Path) -> str:
        """Return how the programs are told their folder.

        As root they are started inside it and never walk the path there, so the data stay
        reachable for `nobody` below a private folder whose permissions nobody has to loosen.
        """
        return str(PROCESS_FOLDER if self.account and PROCESS_FOLDER.exists() else folder)

    def process_options(self, folder: Path) -> Mapping[str, Any]:
        """Return the keyword arguments that start a program in `folder` as the right user."""
        options: dict[str, Any] = {
            "cwd": folder,
            "env": {"LC_ALL": "C", "TZ": "UTC", "PATH": os.environ.get("PATH", os.defpath)},
        }
        if self.account:
            options |= {
                "user": self.account.pw_uid,
                "group": self.account.pw_gid,
                "extra_groups": [],
            }
        return options


def open_cluster(home: Path) -> Cluster:
    """Return the cluster of `home`, which may have no data yet."""
    account = _account(home)
    if account and not PROCESS_FOLDER.exists() and (closed := closed_folder(home, account)):
        raise ServerStartError(
            f"PostgreSQL cannot run as root, and the user {account.pw_name} may not pass the "
            f"folder {closed}: set PINCITE_HOME to a folder outside it."
        )
    return Cluster(home, reachable_binaries(home, account), account)


def prepare_data(cluster: Cluster, data_lock: IO[str]) -> None:
    """Create the data directory when it is not there yet, and check that it can be used.

    The caller holds `data_lock`. Raises ServerStartError with what to do.
    """
    version_file = cluster.data / "PG_VERSION"
    if not version_file.exists():
        if cluster.data.exists() and any(cluster.data.iterdir()):
            raise ServerStartError(
                f"The folder {cluster.data} is not a whole database (PG_VERSION is missing): "
                "restore it from a backup, or move it away to start with an empty library."
            )
        _initialise(cluster, data_lock)
    version = version_file.read_text(encoding="ascii").strip()
    if version != str(MAJOR_VERSION):
        raise ServerStartError(
            f"The data in {cluster.data} were written by PostgreSQL {version}, and this Pincite "
            f"brings PostgreSQL {MAJOR_VERSION}: open them with the Pincite that wrote them, or "
            "move the folder away to start with an empty library."
        )
    _ = cluster.password  # said here when it is missing, before a server runs that nobody can use
    if cluster.account and cluster.data.stat().st_uid == 0:  # as a restore by root leaves it
        _give_to(cluster.data, cluster.account)


def make_home(home: Path) -> None:
    """Create the folder of the installation and the one for its logs."""
    try:
        make_passable(home)
        (home / "logs").mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise ServerStartError(
            f"Pincite keeps everything in {home} and cannot create it ({error.strerror}): "
            "set PINCITE_HOME to a folder you may write to."
        ) from error


def _account(home: Path) -> pwd.struct_passwd | None:
    if os.geteuid() != 0:
        return None
    data = home / "pgdata"
    try:
        # a home that an ordinary user made stays that user's when root opens it once
        if data.exists() and data.stat().st_uid != 0:
            return pwd.getpwuid(data.stat().st_uid)
        return pwd.getpwnam(SERVICE_ACCOUNT)
    except KeyError as error:
        raise ServerStartError(
            f"PostgreSQL cannot run as root, and the user for it does not exist ({error.args[0]}): "
            "start Pincite as an ordinary user."
        ) from error


def _initialise(cluster: Cluster, data_lock: IO[str]) -> None:
    free = shutil.disk_usage(cluster.home).free
    if free < ROOM_FOR_INITDB_BYTES:
        raise ServerStartError(
            f"Only {free // 1_000_000} MB are free at {cluster.home}, and the database needs "
            f"{ROOM_FOR_INITDB_BYTES // 1_000_000} MB to begin with: make room there or set "
            "PINCITE_HOME to another disk."
        )
    password = secrets.token_urlsafe(24)
    _write_private(cluster.home / "database-password", password)
    # an interrupted initdb never looks finished: the folder gets its name when it is whole
    unfinished = cluster.home / "pgdata.new"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    reading_end, writing_end = os.pipe()
    try:
        os.write(writing_end, password.encode())
        os.close(writing_end)
        if cluster.account:
            os.chown(unfinished, cluster.account.pw_uid, cluster.account.pw_gid)
            os.fchown(reading_end, cluster.account.pw_uid, cluster.account.pw_gid)
        finished = subprocess.run(
            [
                cluster.binaries / "initdb",
                f"--pgdata={cluster.folder_argument(unfinished)}",
                f"--username={OWNER}",
                "--encoding=UTF8",
                "--locale=C",
                "--locale-provider=builtin",
                "--builtin-locale=PG_UNICODE_FAST",
                f"--lc-ctype={CHARACTER_TYPE}",
                "--auth=scram-sha-256",
                "--pwfile=/dev/stdin",  # a pipe: the password never lies in a shared folder
            ],
            stdin=reading_end,
            capture_output=True,
            text=True,
            check=False,
            pass_fds=[data_lock.fileno()],  # should this process be killed, the next one waits
            **cluster.process_options(unfinished),
        )
    finally:
        os.close(reading_end)
    if finished.returncode:
        raise ServerStartError(explain(finished.stdout + finished.stderr, cluster.home))
    if cluster.data.exists():
        cluster.data.rmdir()
    unfinished.rename(cluster.data)


def explain(log: str, home: Path) -> str:
    """Turn what PostgreSQL printed into one sentence, with its last lines below."""
    reasons = {
        "No space left on device": f"the disk that holds {home} is full: make room there",
        "Address already in use": "another program took its port at that moment: start again",
        "Permission denied": f"its user may not use all of {home}: check who owns the files there",
        "has wrong ownership": f"the files in {home / 'pgdata'} belong to somebody else: give "
        "them back to the user that made them",
        "Operation not permitted": f"its user may not use all of {home}: check who owns the "
        "files there",
        "Read-only file system": f"{home} is read-only: set PINCITE_HOME to a folder you may "
        "write to",
        "could not look up effective user ID": "this user has no entry in the password file "
        "(/etc/passwd): add one or start Pincite as another user",
        "database files are incompatible": "another version of PostgreSQL wrote its files",
        "Cannot allocate memory": "the machine has too little memory free",
        "could not locate a valid checkpoint record": f"the files in {home / 'pgdata'} are "
        "damaged: restore the last backup",
        "could not read": f"the files in {home / 'pgdata'} are damaged: restore the last backup",
        "could not open file": f"the files in {home / 'pgdata'} are damaged or closed to its "
        "user: restore the last backup",
    }
    reason = next((text for phrase, text in reasons.items() if phrase in log), "see below")
    lines = [f"    {line}" for line in log.strip().splitlines()[-8:]]
    return "\n".join([f"The database did not start: {reason}.", *lines])


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")


def _give_to(folder: Path, account: pwd.struct_passwd) -> None:
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, account.pw_uid, account.pw_gid, follow_symlinks=False)
