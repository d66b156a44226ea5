"""Splits text into the tokens of the packaged embedding model, to embed it or to measure it."""

import json
import re
import unicodedata
from functools import lru_cache
from pathlib import Path

from rag_app.errors import ProviderUnavailableError
from rag_app.providers import e5_files

_WHITE_SPACE = re.compile(r"\s+")

_LONG_TEXT = 100_000
"""Characters; longer texts are split into tokens piece by piece, at white space."""


class Tokenizer:
    """The vocabulary of the model; takes 45 MB and a few tenths of a second to load."""

    def __init__(self, folder: Path) -> None:
        import sentencepiece

        require_model(folder)
        self._pieces = sentencepiece.SentencePieceProcessor(
            model_file=str(folder / e5_files.PIECES)
        )
        replacements = json.loads((folder / e5_files.REPLACEMENTS).read_text(encoding="utf-8"))
        self._replacements = {int(code_point): text for code_point, text in replacements.items()}

    def tokens(self, text: str) -> list[int]:
        """Return the token numbers of a text, without those that mark its beginning and end."""
        plain = self._plain(text)
        if len(plain) <= _LONG_TEXT:
            return self._pieces.encode(plain)
        return [token for part in _parts(plain) for token in self._pieces.encode(part)]

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has."""
        return len(self.tokens(text))

    def _plain(self, text: str) -> str:
        # lone surrogates stand for bytes that were no text: no tokenizer takes them
        known = text.encode("utf-8", "replace").decode("utf-8")
        # composed first: what PDFs write as u and a diaeresis is one letter to the model
        composed = unicodedata.normalize("NFC", known)
        return _WHITE_SPACE.sub(" ", composed.translate(self._replacements)).strip()


def require_model(folder: Path) -> None:
    """Raise ProviderUnavailableError when the converted model is not in `folder`."""
    if not e5_files.is_whole(folder):
        raise ProviderUnavailableError(
            f"The embedding model is not in {folder}: run `make setup`, which converts it once."
        )


@lru_cache(maxsize=2)
def load_tokenizer(folder: Path) -> Tokenizer:
    """Return the one tokenizer of this process for `folder`."""
    return Tokenizer(folder)


def _parts(text: str) -> list[str]:
    parts = []
    start = 0
    while start < len(text):
        end = start + _LONG_TEXT
        space = text.rfind(" ", start, end) if end < len(text) else -1
        end = space if space > start else min(end, len(text))
        parts.append(text[start:end])
        start = end
    return parts
