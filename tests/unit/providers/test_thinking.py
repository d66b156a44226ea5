import pytest

from rag_app.providers.fake import split_pieces
from rag_app.providers.thinking import drop_thinking, without_thinking

CASES = [
    ("A plain answer [1].", "A plain answer [1]."),
    ("<think>hm, let me see</think>\n\nThe answer [1].", "The answer [1]."),
    ("  <think>hm</think>x", "x"),
    ("<think>never ends", ""),
    ("<this> is no thought", "<this> is no thought"),
    ("<th", "<th"),
    ("a <think>b</think>", "a <think>b</think>"),
    ("", ""),
]


async def _stream(pieces):
    for piece in pieces:
        yield piece


@pytest.mark.parametrize(("text", "expected"), CASES)
@pytest.mark.parametrize("cut", [list, split_pieces, lambda text: [text]])
async def test_a_stream_loses_its_leading_thoughts_however_it_is_cut(text, expected, cut):
    assert "".join([piece async for piece in without_thinking(_stream(cut(text)))]) == expected


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_whole_reply_loses_its_leading_thoughts(text, expected):
    assert drop_thinking(text) == expected


async def test_an_answer_without_thoughts_is_not_held_back():
    seen = []
    async for piece in without_thinking(_stream(["The", " answer"])):
        seen.append(piece)

    assert seen == ["The", " answer"]
