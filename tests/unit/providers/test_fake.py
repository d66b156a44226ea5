import math

import pytest

from rag_app.errors import ProviderError, ProviderRefusedError, ProviderUnavailableError
from rag_app.providers.base import Message
from rag_app.providers.fake import (
    FakeChat,
    FakeEmbedder,
    FakeReranker,
    extractive_answer,
    long_answer,
    numbered_passages,
    open_fake_chat,
    split_pieces,
)

PROMPT = [
    Message("system", "Cite like this: [2]."),
    Message(
        "user",
        '<passage cite="[1]" title="Moon">\nThe Moon is 384,400 km away. It is grey and dusty '
        'there.\n</passage>\n<passage cite="[2]" title="Sun">\nThe Sun is much farther away than '
        "that.\n</passage>\nQuestion: How far away is the Moon?",
    ),
]


async def _dot(one: str, other: str) -> float:
    a, b = await FakeEmbedder().embed([one, other], kind="passage")
    return math.sumprod(a, b) if hasattr(math, "sumprod") else sum(map(float.__mul__, a, b))


async def test_texts_with_the_same_words_lie_near_each_other():
    assert await _dot("the long river Nile", "Nile, the long river!") == pytest.approx(1)
    assert await _dot("the long river Nile", "how long is the Nile") > 0.5
    assert abs(await _dot("the long river Nile", "photosynthesis makes oxygen")) < 0.2


async def test_a_text_without_words_still_has_a_direction():
    [vector] = await FakeEmbedder().embed([""], kind="query")

    assert math.hypot(*vector) == 1


def test_the_default_answer_quotes_the_nearest_sentence_of_the_first_two_passages():
    assert extractive_answer(PROMPT) == (
        "The Moon is 384,400 km away [1]. The Sun is much farther away than that [2]."
    )


def test_plain_numbers_in_brackets_mark_passages_too():
    prompt = [Message("user", "[1] Bees make honey in summer.\n[2] Ants do not make any.\n")]

    assert numbered_passages(prompt) == {
        1: ["Bees make honey in summer."],
        2: ["Ants do not make any."],
    }


def test_without_passages_the_question_comes_back_so_that_a_rewrite_changes_nothing():
    prompt = [Message("user", "Rewrite this.\nQuestion: How far is it?")]

    assert extractive_answer(prompt) == "How far is it?"


def test_the_long_answer_has_paragraphs_and_cites_every_passage():
    answer = long_answer(PROMPT)

    assert 8_000 < len(answer) < 10_000
    assert answer.count("\n\n") > 10
    assert "[1]" in answer
    assert "[2]" in answer


async def test_scripted_replies_come_in_order_and_then_the_default():
    chat = FakeChat(["one", lambda messages: messages[-1].content, ProviderRefusedError("no")])

    assert await chat.chat([Message("user", "a")]) == "one"
    assert await chat.chat([Message("user", "b")]) == "b"
    with pytest.raises(ProviderRefusedError, match="no"):
        await chat.chat([Message("user", "c")])
    assert await chat.chat([Message("user", "d")]) == "d"
    assert [prompt[0].content for prompt in chat.prompts] == ["a", "b", "c", "d"]


async def test_a_stream_can_be_cut_after_some_pieces():
    stream = FakeChat(["a b c d"], fail_after=2).chat_stream([])

    assert [await anext(stream), await anext(stream)] == ["a ", "b "]
    with pytest.raises(ProviderUnavailableError):
        await anext(stream)


@pytest.mark.parametrize(
    "text", ["", " a  b\n\nc ", "光合作用产生什么气体光合作用产生什么气体", "x" * 40]
)
def test_pieces_put_together_are_the_text(text):
    assert "".join(split_pieces(text)) == text


async def test_the_name_in_the_setting_chooses_the_manner():
    assert await open_fake_chat("fake").chat(PROMPT) == extractive_answer(PROMPT)
    assert await open_fake_chat("fake:slow:long").chat(PROMPT) == long_answer(PROMPT)
    with pytest.raises(ProviderError):
        await open_fake_chat("fake:down").chat(PROMPT)


async def test_the_fake_reranker_puts_shared_words_first():
    texts = ["about bees", "the far Moon", "Moon"]

    assert await FakeReranker().rerank("how far is the Moon", texts, limit=2) == [1, 2]
