import pytest

from rag_app.providers.litellm_calls import close_clients
from tests.support.model_server import model_server


@pytest.fixture(scope="session")
async def _server():
    with model_server() as server:
        yield server
        await close_clients()


@pytest.fixture
def server(_server):
    _server.behave()
    return _server
