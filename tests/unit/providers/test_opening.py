from pathlib import Path

import pytest

from rag_app.providers.base import Provider
from rag_app.providers.fake import FakeChat, FakeEmbedder, FakeReranker
from rag_app.providers.hosted import HostedChat
from rag_app.providers.local import LocalEmbedder
from rag_app.providers.opening import can_chat_here, open_provider
from rag_app.settings import load_settings


async def _open(**environ: str) -> Provider:
    settings = {"PINCITE_HOME": "/nowhere", "PINCITE_OLLAMA_URL": "", **environ}
    return await open_provider(load_settings(settings))


async def test_with_nothing_set_the_packaged_embedder_answers_alone():
    provider = await _open()

    assert isinstance(provider.embedder, LocalEmbedder)
    assert provider.chat_model is None
    assert provider.reranker is None


async def test_fakes_are_chosen_by_name():
    provider = await _open(
        PINCITE_EMBEDDING_MODEL="fake", PINCITE_CHAT_MODEL="fake:long", PINCITE_RERANK_MODEL="fake"
    )

    assert isinstance(provider.embedder, FakeEmbedder)
    assert isinstance(provider.chat_model, FakeChat)
    assert isinstance(provider.reranker, FakeReranker)


async def test_a_hosted_chat_model_is_used_only_when_named():
    provider = await _open(PINCITE_CHAT_MODEL="openai/gpt-4o-mini")

    assert isinstance(provider.chat_model, HostedChat)
    assert provider.chat_model.name == "openai/gpt-4o-mini"


async def test_none_means_never_even_when_ollama_could_be_asked():
    provider = await _open(PINCITE_CHAT_MODEL="none", PINCITE_OLLAMA_URL="http://127.0.0.1:1")

    assert provider.chat_model is None


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ({"name": "llama3.2:3b", "details": {"family": "llama"}}, True),
        ({"name": "qwen3:8b"}, True),
        ({"name": "nomic-embed-text:latest", "details": {"family": "nomic-bert"}}, False),
        ({"name": "bge-m3", "details": {"family": "bert"}}, False),
        ({"name": "mine:latest", "details": {"family": "bert", "families": ["bert"]}}, False),
        ({"name": "mine:latest", "details": {"family": None, "families": None}}, True),
        ({"name": "gpt-oss:120b-cloud", "details": {"family": "gptoss"}}, False),
        ({"name": "big", "remote_host": "https://ollama.com:443"}, False),
        ({"name": "big", "remote_model": "gpt-oss:120b"}, False),
    ],
)
def test_only_models_that_write_text_on_this_machine_can_chat_here(model, expected):
    assert can_chat_here(model) is expected


def test_a_model_folder_of_ones_own_can_be_named(tmp_path: Path):
    settings = load_settings({"PINCITE_HOME": "/nowhere", "PINCITE_MODEL_DIR": str(tmp_path)})

    assert settings.model_dir == tmp_path
