import pytest

from rag_app.errors import (
    ProviderBusyError,
    ProviderError,
    ProviderRefusedError,
    ProviderUnavailableError,
)
from rag_app.providers.retrying import Patience, wait_seconds, with_retries

PATIENCE = Patience(attempts=4, first_wait_seconds=1, longest_wait_seconds=3)


def test_waits_double_up_to_the_longest():
    waits = [wait_seconds(ProviderUnavailableError(), n, PATIENCE, jitter=1) for n in range(4)]

    assert waits == [1, 2, 3, None]


def test_jitter_takes_away_at_most_half():
    assert wait_seconds(ProviderUnavailableError(), 0, PATIENCE, jitter=0) == 0.5


def test_a_server_that_names_a_time_is_taken_at_its_word():
    assert wait_seconds(ProviderBusyError(retry_after_seconds=2.5), 0, PATIENCE, 0) == 2.5


def test_a_server_that_asks_for_more_patience_than_there_is_ends_the_attempts():
    assert wait_seconds(ProviderBusyError(retry_after_seconds=60), 0, PATIENCE, 0) is None


@pytest.mark.parametrize("error", [ProviderRefusedError(), ProviderError()])
def test_what_a_retry_cannot_cure_is_not_retried(error):
    assert wait_seconds(error, 0, PATIENCE, 0) is None


async def test_a_call_is_repeated_until_it_succeeds():
    results = [ProviderUnavailableError(), ProviderUnavailableError(), "done"]

    async def call():
        result = results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    assert await with_retries(call, Patience(attempts=3, first_wait_seconds=0)) == "done"


async def test_the_last_error_is_the_one_that_is_seen():
    async def call():
        raise ProviderUnavailableError("gone")

    with pytest.raises(ProviderUnavailableError, match="gone"):
        await with_retries(call, Patience(attempts=2, first_wait_seconds=0))
