"""Every call to litellm: the only file that knows it.

It is imported on first use, in a thread, since that takes 4 s and 200 MB.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from rag_app.errors import ProviderError
from rag_app.providers.vendor_errors import translate

Function = Literal["acompletion", "aembedding", "arerank"]

_OWN_MACHINE = "127.0.0.1,localhost,::1"


@dataclass(frozen=True)
class Connection:
    """A model, where it is (empty: at its vendor's), and how long it may take."""

    model: str
    api_base: str
    timeout_seconds: float


async def request(function: Function, connection: Connection, **fields: Any) -> Any:
    """Make one request, without retries; every error arrives as a ProviderError."""
    litellm = await asyncio.to_thread(_load_litellm)
    _know_model(litellm, connection.model)
    with _vendor_errors(connection.model):
        call = getattr(litellm, function)(
            model=connection.model,
            timeout=connection.timeout_seconds,
            num_retries=0,
            max_retries=0,
            **_address(connection),
            **fields,
        )
        # litellm's own time limit starts anew with each byte
        return await asyncio.wait_for(call, connection.timeout_seconds + 1)


async def next_chunk(connection: Connection, stream: Any) -> Any | None:
    """Return the next chunk of a streamed reply, None at its end."""
    with _vendor_errors(connection.model):
        # a server may also fall silent in mid-answer
        return await asyncio.wait_for(anext(stream, None), connection.timeout_seconds)


async def close_clients() -> None:
    """Close the connections that litellm keeps open, if it was ever used."""
    if "litellm" in sys.modules:
        from litellm.llms.custom_httpx.async_client_cleanup import close_litellm_async_clients

        await close_litellm_async_clients()
        # it would hand out the closed ones again
        sys.modules["litellm"].in_memory_llm_clients_cache.flush_cache()


def plain(text: str) -> str:
    """Replace lone surrogates, which no request can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


@contextmanager
def _vendor_errors(model: str) -> Iterator[None]:
    try:
        yield
    except ProviderError:
        raise
    except Exception as error:
        # the seam: a library of a hundred vendors can raise anything
        raise translate(error, model) from error


def _address(connection: Connection) -> dict[str, Any]:
    if not connection.api_base:
        return {}
    address = {"api_base": connection.api_base}
    if connection.model.startswith("openai/") and not os.environ.get("OPENAI_API_KEY"):
        address["api_key"] = "none"  # a server of one's own seldom asks, the client insists
    return address


def _know_model(litellm: Any, model: str) -> None:
    """Enter a model that Ollama runs into the price list, at nothing.

    For those it does not find there litellm asks Ollama itself, up to six times for each answer,
    at its default address whatever ours is, and partly while it holds up the event loop.
    """
    if model.startswith("ollama") and model not in litellm.model_cost:
        litellm.model_cost[model] = {
            "litellm_provider": model.partition("/")[0],
            "mode": "chat",
            "input_cost_per_token": 0.0,
            "output_cost_per_token": 0.0,
        }


def _load_litellm() -> Any:
    if "litellm" not in sys.modules:
        # read at import: without them litellm fetches its price list and more
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        os.environ["LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS"] = "True"
        # what is on this machine is asked directly, whatever proxy is set for the rest
        for name in ("NO_PROXY", "no_proxy"):
            known = os.environ.get(name, "")
            os.environ[name] = f"{known},{_OWN_MACHINE}" if known else _OWN_MACHINE
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.disable_aiohttp_transport = True  # its sessions outlive the loop they belong to
    litellm.DEFAULT_MAX_RETRIES = 0  # type: ignore[misc]  # embeddings ignore max_retries=0
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    return litellm
