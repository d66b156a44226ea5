"""Drops what a reasoning model thinks aloud before its answer."""

from collections.abc import AsyncIterator

_OPEN, _CLOSE = "<think>", "</think>"


async def without_thinking(pieces: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yield the pieces after a leading <think> part; all of them where there is none."""
    held = ""
    decided = False
    async for piece in pieces:
        if decided:
            yield piece
            continue
        held += piece
        answer = answer_so_far(held)
        if answer is not None:
            decided = True
            if answer:
                yield answer
    if not decided and held.strip() and not held.lstrip().startswith(_OPEN):
        yield held


def answer_so_far(text: str) -> str | None:
    """Return the part of `text` that belongs to the answer, or None while that is not known.

    White space before the answer is no part of it.
    """
    start = text.lstrip()
    if start.startswith(_OPEN):
        _thoughts, close, answer = start.partition(_CLOSE)
        answer = answer.lstrip()
        return answer if close and answer else None
    return None if _OPEN.startswith(start) else start


def drop_thinking(text: str) -> str:
    """Return a whole reply without its leading <think> part."""
    if text.lstrip().startswith(_OPEN):
        return answer_so_far(text) or ""
    return text
