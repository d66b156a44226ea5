"""How long to wait before a request to a model is tried again."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from rag_app.errors import ProviderBusyError, ProviderError

Result = TypeVar("Result")


@dataclass(frozen=True)
class Patience:
    """How often to try, and how long one may wait in between."""

    attempts: int = 3
    first_wait_seconds: float = 0.5
    longest_wait_seconds: float = 20.0


def wait_seconds(
    error: ProviderError, attempt: int, patience: Patience, jitter: float
) -> float | None:
    """Return the wait before the next attempt, or None when there shall be none.

    `attempt` counts from 0, `jitter` is 0..1. Waits double; a server that names a time is taken at
    its word, unless it asks for more patience than there is.
    """
    if not error.retryable or attempt + 1 >= patience.attempts:
        return None
    wait = patience.first_wait_seconds * 2**attempt * (0.5 + jitter / 2)
    asked = error.retry_after_seconds if isinstance(error, ProviderBusyError) else 0.0
    if asked > patience.longest_wait_seconds:
        return None
    return max(asked, min(wait, patience.longest_wait_seconds))


async def wait_or_raise(error: ProviderError, attempt: int, patience: Patience) -> None:
    """Sleep until the next attempt is due; raise `error` when there is none."""
    # spreads clients that failed together; nothing secret depends on it
    wait = wait_seconds(error, attempt, patience, random.random())
    if wait is None:
        raise error
    await asyncio.sleep(wait)


async def with_retries(call: Callable[[], Awaitable[Result]], patience: Patience) -> Result:
    """Return what `call` gives, trying again while its ProviderErrors allow it."""
    attempt = 0
    while True:
        try:
            return await call()
        except ProviderError as error:
            await wait_or_raise(error, attempt, patience)
        attempt += 1
