"""Any hosted model, and any that Ollama or an OpenAI-compatible server runs."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

import numpy as np

from rag_app.errors import ContextTooLongError, ProviderError, ProviderUnavailableError
from rag_app.providers.base import EmbeddingModel, EmbedKind, Message
from rag_app.providers.embed_kinds import request_texts
from rag_app.providers.litellm_calls import Connection, next_chunk, plain, request
from rag_app.providers.retrying import Patience, wait_or_raise, with_retries
from rag_app.providers.thinking import drop_thinking, without_thinking

BATCH_TEXTS = 64
BATCH_CHARACTERS = 60_000
"""Servers refuse requests with more inputs or more bytes than they like."""

OLLAMA_CONTEXT_TOKENS = 8192
"""Ollama cuts longer prompts silently, by default already at 4,096 tokens."""

TEMPERATURE = 0.1

_QUERY_PATIENCE = Patience(attempts=2, longest_wait_seconds=5)
_PASSAGE_PATIENCE = Patience(attempts=5, first_wait_seconds=1, longest_wait_seconds=60)


class HostedChat:
    """A chat model by its litellm name, such as `openai/gpt-4o-mini` or `ollama_chat/llama3.2`."""

    def __init__(
        self,
        name: str,
        *,
        api_base: str = "",
        timeout_seconds: float = 60,
        patience: Patience = Patience(),  # noqa: B008 - frozen
    ) -> None:
        self.name = name
        self._connection = Connection(name, api_base, timeout_seconds)
        self._patience = patience

    async def chat(self, messages: Sequence[Message], *, max_tokens: int = 1024) -> str:
        """Return the whole reply."""

        async def call() -> str:
            reply = await self._request(messages, max_tokens, stream=False)
            choices = getattr(reply, "choices", None) or []
            text = drop_thinking((choices[0].message.content or "") if choices else "").strip()
            if not text:
                raise ProviderUnavailableError(f"{self.name} gave an empty answer.")
            return text

        return await with_retries(call, self._patience)

    async def chat_stream(
        self, messages: Sequence[Message], *, max_tokens: int = 2048
    ) -> AsyncIterator[str]:
        """Yield the reply in pieces; tried again only while no piece has come."""
        attempt = 0
        while True:
            begun = False
            try:
                async with aclosing(self._pieces(messages, max_tokens)) as pieces:
                    async for piece in without_thinking(pieces):
                        begun = True
                        yield piece
                if begun:
                    return
                raise ProviderUnavailableError(f"{self.name} gave an empty answer.")
            except ProviderError as error:
                if begun:
                    raise
                await wait_or_raise(error, attempt, self._patience)
            attempt += 1

    async def _pieces(
        self, messages: Sequence[Message], max_tokens: int
    ) -> AsyncGenerator[str, None]:
        stream = await self._request(messages, max_tokens, stream=True)
        try:
            while True:
                chunk = await next_chunk(self._connection, stream)
                if chunk is None:
                    return
                # the last chunk may hold figures and no choice, others only thoughts
                if chunk.choices and (text := chunk.choices[0].delta.content):
                    yield text
        finally:
            # whoever stops listening stops the model too
            await stream.aclose()

    async def _request(self, messages: Sequence[Message], max_tokens: int, *, stream: bool) -> Any:
        options: dict[str, Any] = {}
        if self.name.startswith(("ollama/", "ollama_chat/")):
            options["num_ctx"] = OLLAMA_CONTEXT_TOKENS
            # the passages are the thoughts; also, litellm lets older models' thoughts through
            options["think"] = False
        return await request(
            "acompletion",
            self._connection,
            messages=[{"role": m.role, "content": plain(m.content)} for m in messages],
            max_tokens=max_tokens,
            temperature=TEMPERATURE,
            drop_params=True,  # some models take no temperature
            stream=stream,
            **options,
        )


class HostedEmbedder:
    """An embedding model by its litellm name; `model` is measured or known, see opening."""

    def __init__(
        self,
        name: str,
        model: EmbeddingModel,
        *,
        api_base: str = "",
        dimensions: int = 0,
        timeout_seconds: float = 60,
        patience: Patience | None = None,
    ) -> None:
        self.name = name
        self.model = model
        self._connection = Connection(name, api_base, timeout_seconds)
        self._dimensions = dimensions
        self._patience = patience

    async def embed(self, texts: Sequence[str], *, kind: EmbedKind) -> list[list[float]]:
        """Return one unit vector for each text, in order, asking in bounded batches."""
        vectors: list[list[float]] = []
        for batch in split_batches(texts):
            for vector in await self._embed_batch(batch, kind):
                if self.model.dimensions not in {0, len(vector)}:
                    raise ProviderError(
                        f"{self.name} gives vectors of {len(vector)} numbers, but those of the "
                        f"library have {self.model.dimensions}: name another model, or set "
                        "PINCITE_EMBEDDING_DIMENSIONS."
                    )
                vectors.append(vector)
        return vectors

    async def _embed_batch(self, texts: Sequence[str], kind: EmbedKind) -> list[list[float]]:
        patience = self._patience or (_QUERY_PATIENCE if kind == "query" else _PASSAGE_PATIENCE)
        try:
            return await with_retries(lambda: self._request(texts, kind), patience)
        except ContextTooLongError:
            # some servers bound a request as a whole: each half may still pass
            if len(texts) == 1:
                raise
            half = len(texts) // 2
            first = await self._embed_batch(texts[:half], kind)
            return first + await self._embed_batch(texts[half:], kind)

    async def _request(self, texts: Sequence[str], kind: EmbedKind) -> list[list[float]]:
        inputs, options = request_texts(self.name, texts, kind)
        if self._dimensions:
            options["dimensions"] = self._dimensions
            options["allowed_openai_params"] = ["dimensions"]
        reply = await request(
            "aembedding",
            self._connection,
            # an empty input is an error to most servers
            input=[plain(text) if text.strip() else "-" for text in inputs],
            **options,
        )
        return _read_vectors(self.name, reply, len(texts))


class HostedReranker:
    """A cross-encoder behind a rerank endpoint, such as `jina_ai/…`, `cohere/…`, `infinity/…`."""

    def __init__(
        self,
        name: str,
        *,
        api_base: str = "",
        timeout_seconds: float = 20,
        patience: Patience = _QUERY_PATIENCE,
    ) -> None:
        self.name = name
        self._connection = Connection(name, api_base, timeout_seconds)
        self._patience = patience

    async def rerank(self, question: str, texts: Sequence[str], *, limit: int) -> list[int]:
        """Return indexes into `texts`, most relevant first, at most `limit`."""
        if not texts:
            return []

        async def call() -> list[int]:
            reply = await request(
                "arerank",
                self._connection,
                query=plain(question),
                documents=[plain(text) for text in texts],
                top_n=min(limit, len(texts)),
            )
            return _read_ranking(self.name, reply, len(texts))

        return (await with_retries(call, self._patience))[:limit]


def split_batches(texts: Sequence[str]) -> list[list[str]]:
    """Cut texts into batches that servers take: bounded in number and in characters."""
    batches: list[list[str]] = []
    room = 0
    for text in texts:
        if not batches or len(batches[-1]) == BATCH_TEXTS or len(text) > room:
            batches.append([])
            room = BATCH_CHARACTERS
        batches[-1].append(text)
        room -= len(text)
    return batches


def _read_vectors(name: str, reply: Any, expected: int) -> list[list[float]]:
    rows = sorted(getattr(reply, "data", None) or [], key=lambda row: row["index"])
    if [row["index"] for row in rows] != list(range(expected)):
        raise ProviderUnavailableError(
            f"{name} gave vectors for {len(rows)} of {expected} texts: it may be overloaded."
        )
    vectors = []
    for row in rows:
        vector = np.asarray(row["embedding"], dtype=np.float64)
        length = float(np.linalg.norm(vector))
        if not np.isfinite(length) or length == 0:
            raise ProviderUnavailableError(f"{name} gave a vector without a direction.")
        vectors.append((vector / length).tolist())
    return vectors


def _read_ranking(name: str, reply: Any, texts: int) -> list[int]:
    results = getattr(reply, "results", None) or []
    best = sorted(results, key=lambda result: -result["relevance_score"])
    ranking = [result["index"] for result in best]
    if not ranking or len(set(ranking)) != len(ranking) or not set(ranking) <= set(range(texts)):
        raise ProviderUnavailableError(f"{name} gave no usable ranking.")
    return ranking
