"""Deterministic models for tests, demos and CI: hashed words as vectors, scripted answers."""

import asyncio
import hashlib
import math
import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence

from rag_app.errors import ProviderError, ProviderUnavailableError
from rag_app.providers.base import EmbeddingModel, EmbedKind, Message

Reply = str | ProviderError | Callable[[Sequence[Message]], str]

SLOW_PIECE_SECONDS = 0.02
LONG_ANSWER_CHARACTERS = 9_000
"""About 2,000 tokens."""

_DIMENSIONS = 256
_WORD = re.compile(r"[^\W_]+")
_MARKER = re.compile(
    r"^[ \t]*(?:\[(\d+)\]|<\w+ (?:[^>\n]* )?(?:cite|label|number|id)=\"\[?P?(\d+)[^>\n]*>)", re.M
)
"""How prompts number passages: `[1] text`, or a tag such as `<passage cite="[1]" …>`."""
_SENTENCE_BORDER = re.compile(r"(?<=[.!?。؟])\s+|\n+")
_PIECE = re.compile(r"\S{1,12}\s*")
_FILLER = (
    "The library was asked about this and the answer runs on for a while.",
    "Each sentence here is of ordinary length and says nothing in particular.",
)


class FakeEmbedder:
    """Texts with the same words lie near each other; needs no model and no time."""

    model = EmbeddingModel(name="fake-words/1", dimensions=_DIMENSIONS, centre=0.05, spread=0.6)

    async def embed(self, texts: Sequence[str], *, kind: EmbedKind) -> list[list[float]]:
        """Return one unit vector for each text, in order."""
        return [hashed_vector(text, _DIMENSIONS) for text in texts]


class FakeReranker:
    """Orders texts by the words they share with the question."""

    name = "fake"

    async def rerank(self, question: str, texts: Sequence[str], *, limit: int) -> list[int]:
        """Return indexes into `texts`, most shared words first."""
        wanted = _words(question)
        shared = [len(wanted & _words(text)) for text in texts]
        return sorted(range(len(texts)), key=lambda index: (-shared[index], index))[:limit]


class FakeChat:
    """Answers what it was told to, then with sentences of the numbered passages in the prompt.

    A reply may be text, an error to raise, or a function of the messages. `fail_after` cuts each
    stream after that many pieces. `prompts` keeps what it was asked.
    """

    def __init__(
        self,
        replies: Iterable[Reply] = (),
        *,
        name: str = "fake",
        default: Callable[[Sequence[Message]], str] | None = None,
        piece_delay_seconds: float = 0,
        fail_after: int | None = None,
    ) -> None:
        self.name = name
        self.prompts: list[tuple[Message, ...]] = []
        self._replies = list(replies)
        self._default = default or extractive_answer
        self._delay = piece_delay_seconds
        self._fail_after = fail_after

    async def chat(self, messages: Sequence[Message], *, max_tokens: int = 1024) -> str:
        """Return the next reply at once, however slow the streams are."""
        return self._next_reply(messages)

    async def chat_stream(
        self, messages: Sequence[Message], *, max_tokens: int = 2048
    ) -> AsyncIterator[str]:
        """Yield the next reply in pieces of a word."""
        for number, piece in enumerate(split_pieces(self._next_reply(messages))):
            if number == self._fail_after:
                raise ProviderUnavailableError(f"{self.name} stopped in the middle of its answer.")
            await asyncio.sleep(self._delay)
            yield piece

    def _next_reply(self, messages: Sequence[Message]) -> str:
        self.prompts.append(tuple(messages))
        reply = self._replies.pop(0) if self._replies else self._default
        if isinstance(reply, ProviderError):
            raise reply
        return reply if isinstance(reply, str) else reply(messages)


def open_fake_chat(name: str) -> FakeChat:
    """Return the fake that a setting names: `fake` and any of `:slow :long :cut :down` after it."""
    traits = name.split(":")[1:]
    return FakeChat(
        name=name,
        default=_down if "down" in traits else long_answer if "long" in traits else None,
        piece_delay_seconds=SLOW_PIECE_SECONDS if "slow" in traits else 0,
        fail_after=12 if "cut" in traits else None,
    )


def hashed_vector(text: str, dimensions: int) -> list[float]:
    """Return the unit vector of a text's words; long words weigh more than short ones."""
    vector = [0.0] * dimensions
    for word in _words(text):
        digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
        sign = 1 if digest[0] % 2 else -1
        vector[int.from_bytes(digest[1:]) % dimensions] += sign * min(len(word), 8)
    length = math.hypot(*vector)
    if not length:
        return [1.0, *vector[1:]]
    return [value / length for value in vector]


def extractive_answer(messages: Sequence[Message]) -> str:
    """Return the nearest sentence of the first two passages, each with its marker.

    Without passages in the prompt: the last line of the last message, which leaves a question
    that is to be rewritten as it was.
    """
    passages = numbered_passages(messages)
    question = _last_line(messages)
    if not passages:
        return question
    wanted = _words(question)
    nearest = (
        (number, max(sentences, key=lambda sentence: len(wanted & _words(sentence))))
        for number, sentences in list(passages.items())[:2]
    )
    return " ".join(_with_marker(sentence, number) for number, sentence in nearest)


def long_answer(messages: Sequence[Message]) -> str:
    """Return about 2,000 tokens in paragraphs of four sentences, citing every passage in turn."""
    passages = numbered_passages(messages) or dict(enumerate([[line] for line in _FILLER], 1))
    cited = [
        _with_marker(sentence, number)
        for number, sentences in passages.items()
        for sentence in sentences
    ]
    sentences: list[str] = []
    written = 0
    while written < LONG_ANSWER_CHARACTERS:
        sentences.append(cited[len(sentences) % len(cited)])
        written += len(sentences[-1])
    paragraphs = (sentences[start : start + 4] for start in range(0, len(sentences), 4))
    return "\n\n".join(" ".join(paragraph) for paragraph in paragraphs)


def numbered_passages(messages: Sequence[Message]) -> dict[int, list[str]]:
    """Return the sentences of each passage that the last message with markers numbers."""
    for message in reversed(messages):
        marks = list(_MARKER.finditer(message.content))
        if message.role == "assistant" or not marks:
            continue
        ends = [mark.start() for mark in marks[1:]] + [len(message.content)]
        blocks = (message.content[m.end() : end] for m, end in zip(marks, ends, strict=True))
        found = {
            int(mark[1] or mark[2]): _sentences(block.partition("\n</")[0])
            for mark, block in zip(marks, blocks, strict=True)
        }
        return {number: sentences for number, sentences in found.items() if sentences}
    return {}


def split_pieces(text: str) -> list[str]:
    """Cut a text as models stream it: about a word a piece, nothing lost."""
    leading = len(text) - len(text.lstrip())
    return ([text[:leading]] if leading else []) + _PIECE.findall(text)


def _down(messages: Sequence[Message]) -> str:
    raise ProviderUnavailableError("The fake model does not answer, as its name says.")


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _sentences(block: str) -> list[str]:
    lines = (part.strip() for part in _SENTENCE_BORDER.split(block))
    long_enough = [line for line in lines if len(_words(line)) > 3 and not line.startswith("<")]
    return long_enough or [line for line in (block.strip(),) if line][:1]


def _with_marker(sentence: str, number: int) -> str:
    if sentence[-1] in ".!?。؟":
        return f"{sentence[:-1]} [{number}]{sentence[-1]}"
    return f"{sentence} [{number}]."


def _last_line(messages: Sequence[Message]) -> str:
    lines = messages[-1].content.strip().splitlines() if messages else []
    return re.sub(r"^\w[\w ]{0,30}: *", "", lines[-1]) if lines else ""
