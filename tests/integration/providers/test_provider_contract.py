"""What every provider promises, checked on each of them."""

import asyncio
import math

import pytest

from rag_app.providers.base import ChatModel, Embedder, EmbeddingModel, Message, Reranker
from rag_app.providers.fake import FakeChat, FakeEmbedder, FakeReranker
from rag_app.providers.hosted import HostedChat, HostedEmbedder, HostedReranker
from rag_app.providers.local import LocalEmbedder
from rag_app.settings import MODEL_DIR

pytestmark = pytest.mark.integration

PROMPT = [
    Message("system", "Answer from the passages."),
    Message(
        "user",
        '<passage cite="[1]">\nThe Moon is grey and very far away.\n</passage>\n'
        "Question: What is the Moon like?",
    ),
]


@pytest.fixture(params=["local", "fake", "openai", "ollama"])
def embedder(request, server) -> Embedder:
    record = EmbeddingModel("m", server.dimensions, 0.0, 0.5)
    match request.param:
        case "local":
            return LocalEmbedder(MODEL_DIR)
        case "fake":
            return FakeEmbedder()
        case "openai":
            return HostedEmbedder("openai/m", record, api_base=server.openai_url)
        case _:
            return HostedEmbedder("ollama/m", record, api_base=server.base_url)


@pytest.fixture(params=["fake", "openai", "ollama"])
def chat_model(request, server) -> ChatModel:
    match request.param:
        case "fake":
            return FakeChat()
        case "openai":
            return HostedChat("openai/m", api_base=server.openai_url)
        case _:
            return HostedChat("ollama_chat/llama3.2:3b", api_base=server.base_url)


@pytest.fixture(params=["fake", "jina_ai/m", "cohere/m", "infinity/m"])
def reranker(request, server, monkeypatch) -> Reranker:
    monkeypatch.setenv("JINA_AI_API_KEY", "x")
    monkeypatch.setenv("COHERE_API_KEY", "x")
    if request.param == "fake":
        return FakeReranker()
    return HostedReranker(request.param, api_base=server.base_url)


async def test_vectors_have_length_one_and_the_promised_dimensions(embedder):
    vectors = await embedder.embed(["one text", "another one"], kind="passage")

    assert [len(vector) for vector in vectors] == [embedder.model.dimensions] * 2
    assert [math.hypot(*vector) for vector in vectors] == pytest.approx([1, 1], abs=1e-5)


async def test_vectors_come_in_the_order_of_the_texts(embedder):
    texts = ["short", "a much longer text about rivers and the sea " * 5, "", "middling text"]

    together = await embedder.embed(texts, kind="passage")
    alone = [(await embedder.embed([text], kind="passage"))[0] for text in texts]

    for one, other in zip(together, alone, strict=True):
        assert one == pytest.approx(other, abs=1e-6)


async def test_a_question_lies_nearer_to_its_passage_than_to_another(embedder):
    [question] = await embedder.embed(["Where do penguins live?"], kind="query")
    near, far = await embedder.embed(
        ["Penguins live in the far south, where it is cold.", "Taxes are due in May."],
        kind="passage",
    )

    assert _cosine(question, near) > _cosine(question, far)


async def test_nothing_to_embed_gives_nothing(embedder):
    assert await embedder.embed([], kind="passage") == []


@pytest.mark.parametrize(
    "text",
    ["", " \n", "\x00 nul", "lone \ud800 surrogate", "\ufdfa" * 200, "🙂" * 500, "word " * 5000],
    ids=["empty", "blank", "nul", "surrogate", "long ligature", "emoji", "5,000 words"],
)
async def test_any_text_gets_a_vector(embedder, text):
    [vector] = await embedder.embed([text], kind="passage")

    assert math.hypot(*vector) == pytest.approx(1, abs=1e-5)


async def test_many_calls_at_once_do_not_disturb_each_other(embedder):
    texts = [f"text number {number}" for number in range(8)]
    expected = await embedder.embed(texts, kind="query")

    found = await asyncio.gather(*(embedder.embed([text], kind="query") for text in texts))

    for one, [other] in zip(expected, found, strict=True):
        assert one == pytest.approx(other, abs=1e-6)


async def test_a_chat_model_replies_with_text(chat_model):
    assert await chat_model.chat(PROMPT) == "The Moon is grey and very far away [1]."


async def test_a_stream_put_together_is_the_reply(chat_model):
    pieces = [piece async for piece in chat_model.chat_stream(PROMPT)]

    assert len(pieces) > 3
    assert "".join(pieces) == "The Moon is grey and very far away [1]."


async def test_a_stream_may_be_left_in_the_middle(chat_model):
    stream = chat_model.chat_stream(PROMPT)
    await anext(stream)
    await stream.aclose()

    assert await chat_model.chat(PROMPT)


async def test_lone_surrogates_in_a_prompt_are_no_error(chat_model):
    assert await chat_model.chat([*PROMPT[:1], Message("user", PROMPT[1].content + " \ud800")])


async def test_a_reranker_names_the_best_texts_first(reranker):
    texts = ["Taxes are due in May.", "Penguins live in the south.", "Where are the penguins?"]

    assert await reranker.rerank("Where do penguins live?", texts, limit=2) in ([1, 2], [2, 1])
    assert await reranker.rerank("Where do penguins live?", [], limit=2) == []


def _cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
