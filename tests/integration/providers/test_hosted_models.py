"""Hosted models against a server that misbehaves."""

import asyncio
import inspect
import os
import subprocess
import sys
import time

import pytest

from rag_app.errors import (
    ContextTooLongError,
    ProviderBusyError,
    ProviderError,
    ProviderRefusedError,
    ProviderUnavailableError,
)
from rag_app.providers.base import EmbeddingModel, Message
from rag_app.providers.hosted import HostedChat, HostedEmbedder, HostedReranker
from rag_app.providers.retrying import Patience

pytestmark = pytest.mark.integration

HELLO = [Message("user", "Hello")]
QUICK = Patience(attempts=3, first_wait_seconds=0.01, longest_wait_seconds=2)


@pytest.fixture(params=["openai", "ollama"])
def chat_model(request, server) -> HostedChat:
    if request.param == "openai":
        name, address = "openai/m", server.openai_url
    else:
        name, address = "ollama_chat/m", server.base_url
    return HostedChat(name, api_base=address, timeout_seconds=1, patience=QUICK)


@pytest.fixture
def embedder(server) -> HostedEmbedder:
    record = EmbeddingModel("m", server.dimensions, 0.0, 0.5)
    return HostedEmbedder(
        "openai/m", record, api_base=server.openai_url, timeout_seconds=1, patience=QUICK
    )


PERMANENT = [
    ("bad_key", ProviderRefusedError),
    ("no_quota", ProviderRefusedError),
    ("bad_request", ProviderError),
    ("context", ContextTooLongError),
    ("too_large", ContextTooLongError),
]
PASSING = ["rate_limit", "error", "unavailable", "cut", "silence", "invalid_json", "empty_choices"]


@pytest.mark.parametrize(("fault", "expected"), PERMANENT)
async def test_what_a_retry_cannot_cure_is_asked_once(server, chat_model, fault, expected):
    server.misbehave(fault, times=-1)

    with pytest.raises(ProviderError) as raised:
        await chat_model.chat(HELLO)
    assert type(raised.value) is expected
    assert len(server.requests) == 1


@pytest.mark.parametrize("fault", PASSING)
async def test_a_passing_fault_is_not_noticed(server, chat_model, fault):
    server.misbehave(fault)

    assert await chat_model.chat(HELLO) == "Hello"
    assert len(server.requests) == 2


@pytest.mark.parametrize("fault", PASSING)
async def test_a_lasting_fault_ends_after_the_attempts(server, chat_model, fault):
    server.misbehave(fault, times=-1)

    with pytest.raises(ProviderUnavailableError) as raised:
        await chat_model.chat(HELLO)
    assert chat_model.name in str(raised.value)
    assert len(server.requests) == QUICK.attempts


@pytest.mark.parametrize("fault", ["rate_limit", "error", "silence", "invalid_json"])
async def test_a_stream_that_has_not_begun_is_tried_again(server, chat_model, fault):
    server.misbehave(fault)

    assert [piece async for piece in chat_model.chat_stream(HELLO)] == ["Hello"]
    assert len(server.requests) == 2


async def test_a_stream_cut_in_the_middle_keeps_its_pieces_and_is_not_repeated(server, chat_model):
    server.reply("one two three four five six")
    server.misbehave("cut", after_pieces=4)
    pieces = []

    async def listen():
        async for piece in chat_model.chat_stream(HELLO):
            pieces.append(piece)

    with pytest.raises(ProviderUnavailableError):
        await listen()
    assert "".join(pieces).startswith("one two three")
    assert len(server.requests) == 1


async def test_a_server_that_falls_silent_in_mid_answer_does_not_hold_the_turn(server, chat_model):
    server.reply("one two three")
    server.piece_seconds = 5

    started = time.monotonic()
    with pytest.raises(ProviderUnavailableError, match="in time"):
        [piece async for piece in chat_model.chat_stream(HELLO)]
    assert time.monotonic() - started < 4.5


async def test_a_listener_who_leaves_stops_the_model(server, chat_model):
    server.reply("word " * 400)
    server.piece_seconds = 0.01
    stream = chat_model.chat_stream(HELLO)
    await anext(stream)
    await stream.aclose()

    assert await asyncio.to_thread(server.dropped.wait, 3)


async def test_a_server_that_names_a_time_is_asked_again_after_it(server, chat_model):
    server.misbehave("rate_limit", retry_after="1")

    started = time.monotonic()
    assert await chat_model.chat(HELLO) == "Hello"
    assert 1 <= time.monotonic() - started < 2.5


async def test_a_server_that_asks_to_wait_too_long_is_not_waited_for(server, chat_model):
    server.misbehave("rate_limit", retry_after="60", times=-1)

    with pytest.raises(ProviderBusyError):
        await chat_model.chat(HELLO)
    assert len(server.requests) == 1


async def test_nobody_at_the_address_is_said_plainly():
    chat = HostedChat("openai/m", api_base="http://127.0.0.1:9/v1", patience=QUICK)

    with pytest.raises(ProviderUnavailableError, match="openai/m could not be reached"):
        await chat.chat(HELLO)


async def test_thoughts_are_not_part_of_the_answer(server):
    chat = HostedChat("openai/m", api_base=server.openai_url)
    server.reply(*["<think> hm </think> The answer."] * 2)

    assert await chat.chat(HELLO) == "The answer."
    assert "".join([piece async for piece in chat.chat_stream(HELLO)]) == "The answer."


@pytest.mark.parametrize("stream", [False, True])
async def test_ollama_is_told_to_keep_the_whole_context_and_not_to_think(server, stream):
    chat = HostedChat("ollama_chat/m", api_base=server.base_url)
    if stream:
        [piece async for piece in chat.chat_stream(HELLO)]
    else:
        await chat.chat(HELLO)

    body = server.requests[-1].body
    assert body["options"]["num_ctx"] == 8192
    assert body["think"] is False


async def test_texts_are_sent_in_bounded_batches(server, embedder):
    texts = [f"text {number}" for number in range(150)] + ["long " * 10_000] * 2

    vectors = await embedder.embed(texts, kind="passage")

    assert len(vectors) == 152
    sizes = [len(request.body["input"]) for request in server.requests]
    assert sizes == [64, 64, 23, 1]


async def test_a_batch_too_large_for_the_server_is_halved(server, embedder):
    server.misbehave("too_large")

    assert len(await embedder.embed(["a", "b", "c"], kind="passage")) == 3
    assert [len(request.body["input"]) for request in server.requests] == [3, 1, 2]


async def test_one_text_too_long_for_the_model_is_an_error(server, embedder):
    server.misbehave("context", times=-1)

    with pytest.raises(ContextTooLongError):
        await embedder.embed(["a"], kind="passage")


@pytest.mark.parametrize("fault", ["rate_limit", "error", "cut", "silence", "missing_vector"])
async def test_an_embedding_survives_a_passing_fault(server, embedder, fault):
    server.misbehave(fault)

    assert len(await embedder.embed(["a", "b"], kind="passage")) == 2
    assert len(server.requests) == 2


async def test_vectors_of_another_size_are_refused(server, embedder):
    server.misbehave("wrong_dimensions")

    with pytest.raises(ProviderError, match="72 numbers, but those of the library have 64"):
        await embedder.embed(["a"], kind="passage")


async def test_dimensions_are_asked_for_when_set(server):
    embedder = HostedEmbedder(
        "openai/m",
        EmbeddingModel("m", 64, 0, 1),
        api_base=server.openai_url,
        dimensions=64,
    )

    await embedder.embed(["a"], kind="query")
    assert server.requests[-1].body["dimensions"] == 64


async def test_a_reranker_that_fails_says_so(server):
    reranker = HostedReranker("infinity/m", api_base=server.base_url, patience=QUICK)
    server.misbehave("error", times=-1)

    with pytest.raises(ProviderUnavailableError):
        await reranker.rerank("a", ["a", "b"], limit=2)


def test_every_exception_of_litellm_has_a_counterpart():
    from litellm import exceptions

    from rag_app.providers.vendor_errors import KNOWN

    unknown = {
        kind.__name__
        for kind in vars(exceptions).values()
        if inspect.isclass(kind)
        and issubclass(kind, Exception)
        and not KNOWN & {parent.__name__ for parent in kind.__mro__}
    }
    assert unknown == set()


WATCHED = """
import asyncio, sys
hosts = set()
def watch(event, arguments):
    if event == "socket.getaddrinfo":
        hosts.add(str(arguments[0]))
    elif event == "socket.connect" and isinstance(arguments[1], tuple):
        hosts.add(str(arguments[1][0]))
sys.addaudithook(watch)
from rag_app.providers.base import EmbeddingModel, Message
from rag_app.providers.hosted import HostedChat, HostedEmbedder, HostedReranker
async def main(base):
    chat = HostedChat("ollama_chat/m", api_base=base)
    await chat.chat([Message("user", "a")])
    [piece async for piece in HostedChat("openai/m", api_base=base + "/v1").chat_stream(
        [Message("user", "a")])]
    await HostedEmbedder("openai/m", EmbeddingModel("m", 0, 0, 1), api_base=base + "/v1").embed(
        ["a"], kind="query")
    await HostedReranker("infinity/m", api_base=base).rerank("a", ["a"], limit=1)
asyncio.run(main(sys.argv[1]))
print(sorted(hosts))
"""


def test_a_call_reaches_no_host_but_the_one_it_is_for(server):
    # a proxy for everything else would be seen as a host of its own
    proxies = dict.fromkeys(["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"], "http://127.0.0.2:9")
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, server.base_url],
        env={**os.environ, **proxies},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr == ""
    assert done.stdout == "['127.0.0.1']\n"
