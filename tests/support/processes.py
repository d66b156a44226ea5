"""Finds child processes, any of which may end while one looks."""

import contextlib

import psutil


def children(words: str, of: int | None = None) -> list[psutil.Process]:
    """Return the living processes below this one (or below `of`) whose command has these words."""
    found = []
    for child in psutil.Process(of).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if words in " ".join([child.name(), *child.cmdline()]):
                found.append(child)
    return found
