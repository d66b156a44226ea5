"""File locks that the kernel gives up by itself when the last holder ends, however it ends."""

import fcntl
import time
from pathlib import Path
from typing import IO

from rag_app.errors import ServerStartError

POLL_SECONDS = 0.03


def open_lock(path: Path) -> IO[str]:
    """Open a lock file, creating it readable for this user only."""
    try:
        path.touch(mode=0o600)
        return path.open("r+", encoding="ascii")
    except OSError as error:
        raise ServerStartError(
            f"Pincite may not use {path} ({error.strerror}): give {path.parent} to the user that "
            "starts Pincite, or set PINCITE_HOME to another folder."
        ) from error


def try_lock(lock: IO[str], seconds: float = 0.0, *, shared: bool = False) -> bool:
    """Take the lock within `seconds`, and say whether that worked."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(POLL_SECONDS)
        except OSError as error:
            raise ServerStartError(
                f"The disk of {lock.name} cannot lock files ({error.strerror}): set PINCITE_HOME "
                "to a folder on a local disk."
            ) from error
        else:
            return True
