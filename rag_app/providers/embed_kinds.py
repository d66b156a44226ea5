"""How hosted embedding models want to be told a question from a passage."""

import re
from collections.abc import Sequence
from typing import Any

from rag_app.providers.base import EmbedKind

_PREFIXES: tuple[tuple[str, dict[EmbedKind, str]], ...] = (
    (
        r"qwen3-embedding",
        {
            "query": "Instruct: Given a question, retrieve passages that answer it\nQuery: ",
            "passage": "",
        },
    ),
    (r"\be5\b", {"query": "query: ", "passage": "passage: "}),
    (r"nomic-embed", {"query": "search_query: ", "passage": "search_document: "}),
    (
        r"embeddinggemma",
        {"query": "task: search result | query: ", "passage": "title: none | text: "},
    ),
    (r"snowflake-arctic-embed2|arctic-embed-\w+-v2", {"query": "query: ", "passage": ""}),
    (
        r"mxbai-embed|arctic-embed|bge-\w+-en",
        {"query": "Represent this sentence for searching relevant passages: ", "passage": ""},
    ),
)
"""By what the name of a model contains, from its makers' instructions; the first that fits."""

_INPUT_TYPES: dict[str, dict[EmbedKind, str]] = {
    "cohere": {"query": "search_query", "passage": "search_document"},
    "voyage": {"query": "query", "passage": "document"},
}
"""By vendor: the field of the request that says it."""


def request_texts(
    name: str, texts: Sequence[str], kind: EmbedKind
) -> tuple[list[str], dict[str, Any]]:
    """Return the texts as the model wants them and the further fields of the request."""
    vendor = name.partition("/")[0]
    if vendor in _INPUT_TYPES:
        return list(texts), {"input_type": _INPUT_TYPES[vendor][kind]}
    for pattern, prefixes in _PREFIXES:
        if re.search(pattern, name, re.IGNORECASE):
            return [prefixes[kind] + text for text in texts], {}
    return list(texts), {}
