import pytest

from rag_app.errors import (
    ContextTooLongError,
    ProviderBusyError,
    ProviderError,
    ProviderRefusedError,
    ProviderUnavailableError,
)
from rag_app.providers.vendor_errors import translate


def _error(name: str, text: str = "", **attributes: object) -> Exception:
    error = type(name, (Exception,), attributes)(text)
    return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (_error("AuthenticationError", "Incorrect API key"), ProviderRefusedError),
        (_error("PermissionDeniedError"), ProviderRefusedError),
        (_error("RateLimitError", "slow down"), ProviderBusyError),
        (_error("RateLimitError", "You exceeded your current quota"), ProviderRefusedError),
        (_error("RateLimitError", "current quota. Please retry in 3.5s."), ProviderBusyError),
        (_error("ContextWindowExceededError"), ContextTooLongError),
        (_error("BadRequestError", "the prompt is too long: 9 > 8"), ContextTooLongError),
        (_error("APIError", "entity too large", status_code=413), ContextTooLongError),
        (_error("BadRequestError", "unknown field"), ProviderError),
        (_error("NotFoundError"), ProviderError),
        (_error("Timeout"), ProviderUnavailableError),
        (_error("OpenAIError", "The api_key client option must be set"), ProviderRefusedError),
        (TimeoutError(), ProviderUnavailableError),
        (KeyError("choices"), ProviderUnavailableError),
        (OSError("gone"), ProviderUnavailableError),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, Exception) else None,
)
def test_each_kind_of_failure_becomes_ours(error, expected):
    assert type(translate(error, "openai/m")) is expected


def test_the_time_a_server_asks_for_is_kept():
    response = type("Response", (), {"headers": {"retry-after": "7"}})()
    error = translate(_error("RateLimitError", "slow down", response=response), "openai/m")

    assert isinstance(error, ProviderBusyError)
    assert error.retry_after_seconds == 7


def test_the_time_may_stand_in_an_error_further_down():
    error = _error("RateLimitError", "slow down")
    error.__context__ = _error("HTTPStatusError", headers={"retry-after": "7"})

    assert translate(error, "openai/m").retry_after_seconds == 7


def test_messages_name_the_model_and_never_a_key():
    text = "litellm.BadRequestError: OpenAIException - sk-12345678abcd has no such field\nTraceback"

    message = str(translate(_error("BadRequestError", text), "openai/m"))

    assert message == "openai/m could not take the request: … has no such field."
