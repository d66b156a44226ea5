"""Chooses the models: packaged and local by default, hosted only when a setting names one."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag_app.providers import calibration, hosted, litellm_calls
from rag_app.providers.base import ChatModel, Embedder, EmbeddingModel, Provider, Reranker
from rag_app.providers.fake import FakeEmbedder, FakeReranker, open_fake_chat
from rag_app.providers.local import open_local_embedder
from rag_app.settings import Settings

OLLAMA_SECONDS = 1.0
"""How long to wait for an Ollama that may not be there."""

NEVER = "none"

_NO_CHAT = re.compile(r"embed|bge|minilm|\be5\b|rerank|bert", re.IGNORECASE)


async def open_provider(settings: Settings) -> Provider:
    """Return the models that the settings ask for.

    With nothing set: the packaged embedder, and a chat model only if Ollama runs on this machine.
    """
    return Provider(
        embedder=await _open_embedder(settings),
        chat_model=await _open_chat_model(settings),
        reranker=_open_reranker(settings),
    )


async def look_again(settings: Settings, provider: Provider) -> Provider:
    """Return a provider with the chat model that Ollama has now, where no setting names one.

    The same object comes back when nothing changed.
    """
    if settings.chat_model or not settings.ollama_url:
        return provider
    found = await _open_chat_model(settings)
    before = provider.chat_model.name if provider.chat_model else None
    if (found.name if found else None) == before:
        return provider
    return replace(provider, chat_model=found)


async def close_provider() -> None:
    """Close the connections that models keep open."""
    await litellm_calls.close_clients()


async def find_ollama_model(url: str) -> str | None:
    """Return the first model that can chat of the Ollama at `url`; None when there is none."""
    import httpx

    try:
        # no proxy: what is on this machine is asked directly
        async with httpx.AsyncClient(trust_env=False, timeout=OLLAMA_SECONDS) as client:
            reply = await client.get(f"{url.rstrip('/')}/api/tags")
        models = reply.json()["models"] if reply.status_code == 200 else []
        return next((model["name"] for model in models if can_chat_here(model)), None)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError, AttributeError):
        return None


def can_chat_here(model: dict[str, Any]) -> bool:
    """Whether a model that Ollama lists writes text, and on this machine.

    Ollama also lists models that run at its makers': those would send the library away.
    """
    name = model["name"]
    if model.get("remote_host") or model.get("remote_model") or name.endswith(("-cloud", ":cloud")):
        return False
    details = model.get("details") or {}
    families = [details.get("family"), *(details.get("families") or [])]
    return not any(_NO_CHAT.search(word) for word in [name, *families] if word)


async def _open_embedder(settings: Settings) -> Embedder:
    name = settings.embedding_model
    if not name:
        return open_local_embedder(settings)
    if name == "fake":
        return FakeEmbedder()
    return await _open_hosted_embedder(name, settings)


async def _open_hosted_embedder(name: str, settings: Settings) -> Embedder:
    wanted = settings.embedding_dimensions
    full_name = f"{name}@{wanted}" if wanted else name
    embedder = hosted.HostedEmbedder(
        name,
        EmbeddingModel(full_name, dimensions=wanted, centre=0.0, spread=1.0),
        api_base=_api_base(name, settings.embedding_api_base, settings),
        dimensions=wanted,
    )
    embedder.model = calibration.find_calibration(settings.home, full_name) or await _measure(
        embedder, settings.home
    )
    return embedder


async def _measure(embedder: hosted.HostedEmbedder, folder: Path) -> EmbeddingModel:
    questions = [question for question, _passage in calibration.PAIRS]
    passages = [passage for _question, passage in calibration.PAIRS]
    measured = calibration.calibrate(
        embedder.model.name,
        await embedder.embed(questions, kind="query"),
        await embedder.embed(passages, kind="passage"),
    )
    calibration.keep_calibration(folder, measured)
    return measured


async def _open_chat_model(settings: Settings) -> ChatModel | None:
    name = settings.chat_model
    if name == NEVER:
        return None
    if name.split(":")[0] == "fake":
        return open_fake_chat(name)
    if name:
        return hosted.HostedChat(name, api_base=_api_base(name, settings.chat_api_base, settings))
    found = await find_ollama_model(settings.ollama_url) if settings.ollama_url else None
    if found is None:
        return None
    return hosted.HostedChat(f"ollama_chat/{found}", api_base=settings.ollama_url)


def _open_reranker(settings: Settings) -> Reranker | None:
    name = settings.rerank_model
    if name in {"", NEVER}:
        return None
    if name == "fake":
        return FakeReranker()
    return hosted.HostedReranker(name, api_base=settings.rerank_api_base)


def _api_base(name: str, api_base: str, settings: Settings) -> str:
    if not api_base and name.startswith(("ollama/", "ollama_chat/")):
        return settings.ollama_url
    return api_base
