"""A clean environment for each test, and one real database server for all."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from rag_app.database.server import start_server
from rag_app.database.session import migrate
from rag_app.runtime import Runtime, open_runtime
from rag_app.settings import Settings

TEMPLATE = "pincite_template"
_numbers = iter(range(10**6))


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the developer has set must not decide what a test sees."""
    for name in os.environ:
        if name.startswith("PINCITE_") or name == "DATABASE_URL":
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def server_dsn() -> Iterator[str]:
    """A real server with a migrated database to copy; its folder is open to the server's user."""
    base = Path(tempfile.mkdtemp(prefix="pincite-tests-"))
    server = start_server(base / "home")
    try:
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            connection.execute(f"create database {TEMPLATE}")
        migrate(psycopg.conninfo.make_conninfo(server.dsn, dbname=TEMPLATE))
        yield server.dsn
    finally:
        server.stop()
        shutil.rmtree(base, ignore_errors=True)


@pytest.fixture
def database_dsn(server_dsn: str) -> Iterator[str]:
    """A database of the test's own, migrated and empty."""
    name = f"test_{next(_numbers)}"
    with psycopg.connect(server_dsn, autocommit=True) as connection:
        connection.execute(f"create database {name} template {TEMPLATE}")
        yield psycopg.conninfo.make_conninfo(server_dsn, dbname=name)
        connection.execute(f"drop database {name} with (force)")


@pytest.fixture
def settings(tmp_path: Path, database_dsn: str) -> Settings:
    """Fakes for both models: no network, no waiting, the same answer every time."""
    return replace(
        Settings(home=tmp_path),
        database_url=database_dsn,
        embedding_model="fake",
        chat_model="none",
        ollama_url="",
    )


@pytest.fixture
async def runtime(settings: Settings) -> AsyncIterator[Runtime]:
    async with open_runtime(settings) as opened:
        yield opened
