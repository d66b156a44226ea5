"""Which models are found and chosen, against a real server."""

from dataclasses import replace
from pathlib import Path

import pytest

from rag_app.errors import ProviderUnavailableError
from rag_app.providers import hosted
from rag_app.providers.base import Message, Provider
from rag_app.providers.opening import find_ollama_model, look_again, open_provider
from rag_app.providers.retrying import Patience
from rag_app.settings import load_settings
from tests.support.model_server import ollama_model

pytestmark = pytest.mark.integration


async def _open(home: Path, **environ: str) -> Provider:
    return await open_provider(load_settings({"PINCITE_HOME": str(home), **environ}))


@pytest.fixture
def models(server):
    before = server.models
    yield lambda *models: setattr(server, "models", list(models))
    server.models = before


async def test_ollama_on_this_machine_is_found_by_itself(server, models, tmp_path):
    models(ollama_model("nomic-embed-text", family="nomic-bert"), ollama_model("qwen3:8b"))

    provider = await _open(tmp_path, PINCITE_OLLAMA_URL=server.base_url)

    assert provider.chat_model is not None
    assert provider.chat_model.name == "ollama_chat/qwen3:8b"
    assert provider.embedder.model.name.startswith("me5-small")
    assert await provider.chat_model.chat([Message("user", "Hello")]) == "Hello"
    assert server.paths() == ["/api/tags", "/api/chat"]


async def test_an_ollama_that_comes_or_goes_later_is_noticed(server, models, tmp_path):
    settings = load_settings({"PINCITE_HOME": str(tmp_path), "PINCITE_OLLAMA_URL": server.base_url})
    models()
    without = await open_provider(settings)
    assert without.chat_model is None
    assert await look_again(settings, without) is without

    models(ollama_model("qwen3:8b"))
    with_one = await look_again(settings, without)
    assert with_one.chat_model is not None
    assert with_one.chat_model.name == "ollama_chat/qwen3:8b"
    assert await look_again(settings, with_one) is with_one

    models()
    assert (await look_again(settings, with_one)).chat_model is None
    named = replace(settings, chat_model="none")
    assert await look_again(named, with_one) is with_one


async def test_models_at_ollamas_makers_are_not_taken_for_local_ones(server, models, tmp_path):
    models(ollama_model("gpt-oss:120b-cloud"), ollama_model("big", remote_host="https://x"))

    assert (await _open(tmp_path, PINCITE_OLLAMA_URL=server.base_url)).chat_model is None


async def test_an_empty_address_means_that_nobody_is_asked(server, tmp_path):
    assert (await _open(tmp_path, PINCITE_OLLAMA_URL="")).chat_model is None
    assert server.requests == []


@pytest.mark.parametrize("fault", ["error", "invalid_json", "silence"])
async def test_an_ollama_that_is_not_well_counts_as_none(server, fault):
    server.misbehave(fault, times=-1)

    assert await find_ollama_model(server.base_url) is None


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "nonsense", "http://[", ""])
async def test_an_address_where_nobody_is_counts_as_none(url):
    assert await find_ollama_model(url) is None


async def test_a_hosted_embedder_is_measured_once_and_then_known(server, tmp_path):
    settings = {
        "PINCITE_OLLAMA_URL": "",
        "PINCITE_EMBEDDING_MODEL": "openai/words",
        "PINCITE_EMBEDDING_API_BASE": server.openai_url,
    }

    first = await _open(tmp_path, **settings)
    asked = len(server.requests)
    second = await _open(tmp_path, **settings)

    assert first.embedder.model == second.embedder.model
    assert first.embedder.model.name == "openai/words"
    assert first.embedder.model.dimensions == server.dimensions
    assert abs(first.embedder.model.centre) < 0.15
    assert first.embedder.model.spread > 0.2
    assert asked == len(server.requests) == 2


async def test_a_hosted_embedder_that_was_never_reached_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(hosted, "_QUERY_PATIENCE", Patience(attempts=1))

    with pytest.raises(ProviderUnavailableError, match="openai/words could not be reached"):
        await _open(
            tmp_path,
            PINCITE_OLLAMA_URL="",
            PINCITE_EMBEDDING_MODEL="openai/words",
            PINCITE_EMBEDDING_API_BASE="http://127.0.0.1:9/v1",
        )
