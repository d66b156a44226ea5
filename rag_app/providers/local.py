"""The packaged embedding model, run in this process: the default, needs no key and no network."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from rag_app.providers import e5_files
from rag_app.providers.base import EmbeddingModel, EmbedKind
from rag_app.providers.e5_pack import BLOCK_BYTES, unpack
from rag_app.providers.e5_tokens import Tokenizer, load_tokenizer, require_model
from rag_app.settings import Settings

WINDOW_TOKENS = 510
"""What the network sees at once, without the marks at both ends."""

_BEGIN, _END = 0, 2

MODEL = EmbeddingModel(name=e5_files.MODEL_NAME, dimensions=384, centre=0.7, spread=0.2)


class LocalEmbedder:
    """multilingual-e5-small on the processor.

    Nothing is loaded before the first use. Passages are embedded one call after the other in a
    thread of their own, questions in another, so that a question never waits for a document.
    """

    model = MODEL

    def __init__(self, folder: Path, *, threads: int = 2) -> None:
        self._folder = folder
        self._threads = threads
        self._lock = threading.Lock()
        self._network: _Network | None = None
        self._workers = {
            "query": ThreadPoolExecutor(1, thread_name_prefix="embed-query"),
            "passage": ThreadPoolExecutor(1, thread_name_prefix="embed-passage"),
        }

    async def embed(self, texts: Sequence[str], *, kind: EmbedKind) -> list[list[float]]:
        """Return one unit vector for each text, in order; a cancelled call stops soon."""
        cancelled = threading.Event()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(
                self._workers[kind], self._embed, list(texts), kind, cancelled
            )
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the model makes of a text; loads the tokenizer alone."""
        return load_tokenizer(self._folder).count_tokens(text)

    def _embed(
        self, texts: list[str], kind: EmbedKind, cancelled: threading.Event
    ) -> list[list[float]]:
        if not texts:
            return []
        network = self._loaded()
        tokens = [network.tokenizer.tokens(f"{kind}: {text}") for text in texts]
        vectors: list[list[float]] = [[] for _ in texts]
        # the longest first: what memory it takes is taken once, and like lengths share it
        for number in sorted(range(len(texts)), key=lambda index: -len(tokens[index])):
            if cancelled.is_set():
                break
            vectors[number] = network.vector(tokens[number]).tolist()
        return vectors

    def _loaded(self) -> "_Network":
        with self._lock:
            if self._network is None:
                self._network = _Network(self._folder, self._threads)
            return self._network


def open_local_embedder(settings: Settings) -> LocalEmbedder:
    """Return the packaged model as the settings want it; still nothing is loaded."""
    return LocalEmbedder(settings.model_dir, threads=settings.embedding_threads)


def token_counter(settings: Settings) -> Callable[[str], int]:
    """Return how to count tokens for chunks: those of the packaged model, loaded on first use.

    Where that model is not converted, since another one embeds, an estimate from above.
    """
    if not e5_files.is_whole(settings.model_dir):
        return estimate_tokens
    return lambda text: load_tokenizer(settings.model_dir).count_tokens(text)


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has; seldom too few in any script."""
    return len(text.encode("utf-8", "replace")) // 4 + 1


class _Network:
    """The loaded network with its word table, which stays on disk until rows are read."""

    def __init__(self, folder: Path, threads: int) -> None:
        import onnxruntime

        require_model(folder)
        self.tokenizer: Tokenizer = load_tokenizer(folder)
        self._words = np.load(folder / e5_files.WORDS, mmap_mode="r")
        self._positions = np.load(folder / e5_files.POSITIONS)
        self._session = _open_session(onnxruntime, folder / e5_files.ENCODER, threads)

    def vector(self, tokens: list[int]) -> np.ndarray:
        """Return the unit vector of a text of any length.

        Texts are never put into one batch: on a processor that gains no time, and the 8-bit
        scales of a batch depend on all its texts, so a text would not always get the same vector.
        """
        total: Any = 0
        for start in range(0, max(len(tokens), 1), WINDOW_TOKENS):
            window = np.array([_BEGIN, *tokens[start : start + WINDOW_TOKENS], _END])
            rows = unpack(self._words[window].reshape(len(window), -1, BLOCK_BYTES))
            summed = rows.reshape(len(window), -1) + self._positions[: len(window)]
            bias = np.zeros((1, 1, 1, len(window)), np.float32)
            states = self._session.run(None, {"x": summed[None], "bias": bias})[0][0]
            # a mean over all tokens: each window weighs as much as it is long
            total = total + states.sum(axis=0)
        return total / np.linalg.norm(total)


def _open_session(onnxruntime: Any, path: Path, threads: int) -> Any:
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # it would keep the memory of the longest text for good
    # waiting threads sleep: beside a database and a browser, spinning made it 2.4 times slower
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
