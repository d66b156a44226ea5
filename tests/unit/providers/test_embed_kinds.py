import pytest

from rag_app.providers.embed_kinds import request_texts


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("openai/text-embedding-3-small", "x", "x"),
        ("ollama/nomic-embed-text", "search_query: x", "search_document: x"),
        ("openai/intfloat/multilingual-e5-large", "query: x", "passage: x"),
        ("ollama/snowflake-arctic-embed2", "query: x", "x"),
        ("ollama/bge-m3", "x", "x"),
    ],
)
def test_models_get_the_prefixes_their_makers_ask_for(name, query, passage):
    assert request_texts(name, ["x"], "query") == ([query], {})
    assert request_texts(name, ["x"], "passage") == ([passage], {})


def test_vendors_with_a_field_for_it_get_the_field():
    assert request_texts("cohere/embed-v4", ["x"], "query") == (
        ["x"],
        {"input_type": "search_query"},
    )
