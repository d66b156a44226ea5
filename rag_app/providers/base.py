"""The Provider protocol and the values it takes."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

EmbedKind = Literal["query", "passage"]
Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True)
class Message:
    """One message of a prompt."""

    role: Role
    content: str


@dataclass(frozen=True)
class EmbeddingModel:
    """What a set of vectors was made with; vectors of two models are never compared.

    `name` identifies weights and conversion together. `centre` and `spread` map a cosine of this
    model to about 0..1: `(cosine - centre) / spread`, where centre is the mean cosine of unrelated
    texts plus a margin, and centre + spread the cosine of a very good hit.
    """

    name: str
    dimensions: int
    centre: float
    spread: float


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    model: EmbeddingModel

    async def embed(self, texts: Sequence[str], *, kind: EmbedKind) -> list[list[float]]:
        """Return one unit vector of `model.dimensions` floats for each text, in order."""
        ...


class ChatModel(Protocol):
    """Writes text. Every vendor error arrives as a ProviderError."""

    name: str

    async def chat(self, messages: Sequence[Message], *, max_tokens: int = 1024) -> str:
        """Return the whole reply."""
        ...

    def chat_stream(
        self, messages: Sequence[Message], *, max_tokens: int = 2048
    ) -> AsyncIterator[str]:
        """Yield the answer in pieces; a stream cut in the middle raises after what came."""
        ...


class Reranker(Protocol):
    """A cross-encoder behind a rerank endpoint."""

    name: str

    async def rerank(self, question: str, texts: Sequence[str], *, limit: int) -> list[int]:
        """Return indexes into `texts`, most relevant first, at most `limit`."""
        ...


@dataclass(frozen=True)
class Provider:
    """The models in use: an embedder always, the others when there are any."""

    embedder: Embedder
    chat_model: ChatModel | None = None
    reranker: Reranker | None = None
