"""Ends the processes of a `serve` that was itself killed; run by path, as a process of its own.

It reads `+123` and `-123` lines, the process groups that began and ended. The end of its input
means that `serve` is gone, by whatever way, and what is left of the groups has to go too.
"""

import contextlib
import os
import signal
import sys
import time

GRACE_SECONDS = 6.0
POLL_SECONDS = 0.05


def main() -> None:
    """Keep the list of groups until the input ends, then end them."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        (groups.add if line.startswith("+") else groups.discard)(int(line[1:]))
    for number, seconds in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, GRACE_SECONDS)):
        _send(groups, number)
        deadline = time.monotonic() + seconds
        while groups and time.monotonic() < deadline:
            groups = {group for group in groups if _lives(group)}
            time.sleep(POLL_SECONDS)


def _send(groups: set[int], number: signal.Signals) -> None:
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


if __name__ == "__main__":
    main()
