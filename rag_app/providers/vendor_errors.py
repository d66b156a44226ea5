"""Turns what a vendor's library raises into our own errors, by the names of its classes."""

import contextlib
import re

from rag_app.errors import (
    ContextTooLongError,
    ProviderBusyError,
    ProviderError,
    ProviderRefusedError,
    ProviderUnavailableError,
)

_REFUSED = frozenset(
    {
        "AuthenticationError",
        "BlockedPiiEntityError",
        "BudgetExceededError",
        "ContentPolicyViolationError",
        "GuardrailRaisedException",
        "ModifyResponseException",
        "PaymentRequiredError",
        "PermissionDeniedError",
        "RejectedRequestError",
        "SensitiveDataRouteException",
    }
)
_WRONG = frozenset(
    {"BadRequestError", "ModelNotMappedError", "NotFoundError", "UnprocessableEntityError"}
)
_UNAVAILABLE = frozenset(
    {
        "APIConnectionError",
        "APIError",
        "APIResponseValidationError",
        "BadGatewayError",
        "InternalServerError",
        "OpenAIError",
        "ServiceUnavailableError",
        "Timeout",
    }
)
KNOWN = _REFUSED | _WRONG | _UNAVAILABLE | {"ContextWindowExceededError", "RateLimitError"}
"""The classes told apart here; every other one of the vendor's descends from one of them."""

_TOO_LONG = re.compile(
    r"context[ _](length|window|size)|maximum context|prompt is too long|too many tokens"
    r"|input (length|is too long)|maximum input",
    re.IGNORECASE,
)
_NO_QUOTA = re.compile(r"insufficient_quota|current quota|billing|credit balance", re.IGNORECASE)
_NO_KEY = re.compile(r"api[ _]key", re.IGNORECASE)
_RETRY_IN = re.compile(r"retry in ([\d.]+) ?s", re.IGNORECASE)
_PREFIXES = re.compile(r"^(?:[\w.]*(?:Error|Exception|Timeout)(?: -|:) *)+")
_SECRET = re.compile(r"\b(?:sk|key|pk|gsk|xai)[-_][\w*-]{4,}")
_DETAIL_CHARACTERS = 200


def translate(error: BaseException, model: str) -> ProviderError:
    """Return our error for a vendor's, with a sentence that names the model and the way out."""
    names = {kind.__name__ for kind in type(error).__mro__}
    text = str(error)
    status = getattr(error, "status_code", None)
    if (
        "ContextWindowExceededError" in names
        or status == 413
        or (names & _WRONG and _TOO_LONG.search(text))
    ):
        return ContextTooLongError(f"The text sent to {model} was too long for it.")
    if "RateLimitError" in names:
        return _rate_limited(error, text, model)
    if "AuthenticationError" in names or ("OpenAIError" in names and _is_missing_key(names, text)):
        return ProviderRefusedError(f"{model} did not accept the API key: check the one you set.")
    if names & _REFUSED:
        return ProviderRefusedError(f"{model} refused: {_detail(text)}")
    if "NotFoundError" in names:
        return ProviderError(f"There is no model {model} at this address: check its name.")
    if names & _WRONG:
        return ProviderError(f"{model} could not take the request: {_detail(text)}")
    if names & {"Timeout", "TimeoutError"}:
        return ProviderUnavailableError(f"{model} did not answer in time.")
    if status == 503:
        return ProviderBusyError(
            f"{model} is overloaded: try again later.", retry_after_seconds=_retry_after(error)
        )
    return ProviderUnavailableError(f"{model} could not be reached: {_detail(text)}")


def _is_missing_key(names: set[str], text: str) -> bool:
    return not names & (_UNAVAILABLE - {"OpenAIError"}) and bool(_NO_KEY.search(text))


def _rate_limited(error: BaseException, text: str, model: str) -> ProviderError:
    wait = _retry_after(error)
    hint = _RETRY_IN.search(text)
    if not wait and hint:
        wait = float(hint[1].rstrip("."))
    if not wait and _NO_QUOTA.search(text):
        return ProviderRefusedError(f"The quota for {model} is used up: check the account.")
    return ProviderBusyError(
        f"{model} takes no more requests at the moment: try again later.", retry_after_seconds=wait
    )


def _retry_after(error: BaseException) -> float:
    """Return the seconds a server asked to wait; a date instead of seconds counts as none.

    litellm keeps the headers of some vendors only in the errors that its own was made from.
    """
    link: BaseException | None = error
    while link is not None:
        for holder in (getattr(link, "response", None), link):
            headers = getattr(holder, "headers", None) or {}
            with contextlib.suppress(ValueError, AttributeError):
                return max(0.0, float(headers.get("retry-after", "")))
        link = link.__cause__ or link.__context__
    return 0.0


def _detail(text: str) -> str:
    """Return the first line of a vendor's message without class names and keys."""
    plain = _PREFIXES.sub("", text.strip())
    line = _SECRET.sub("…", plain.splitlines()[0] if plain else "no reason given")
    short = line if len(line) <= _DETAIL_CHARACTERS else line[: _DETAIL_CHARACTERS - 1] + "…"
    return short if short.endswith((".", "!", "?", "…")) else f"{short}."
