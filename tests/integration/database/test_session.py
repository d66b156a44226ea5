"""The schema the migrations make is the one the models say, and a wrong server is named."""

import asyncio
import contextlib
import json
from contextlib import aclosing

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, pool
from sqlmodel import SQLModel

import rag_app.models  # noqa: F401  registers the tables
from rag_app.database.session import check_server, migrate, open_database, sqlalchemy_url
from rag_app.errors import DatabaseError, DatabaseUnavailableError

pytestmark = pytest.mark.integration


def test_models_and_migrations_agree(database_dsn: str) -> None:
    engine = create_engine(sqlalchemy_url(database_dsn), poolclass=pool.NullPool)
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "include_object": lambda _o, name, kind, *_: (
                    not (kind == "table" and (name or "").startswith("procrastinate_"))
                )
            },
        )
        differences = compare_metadata(context, SQLModel.metadata)
    engine.dispose()

    assert differences == []


def test_migrating_twice_and_at_once_is_harmless(database_dsn: str) -> None:
    async def both() -> None:
        await asyncio.gather(*(asyncio.to_thread(migrate, database_dsn) for _ in range(3)))

    asyncio.run(both())
    with psycopg.connect(database_dsn) as connection:
        assert connection.execute("select count(*) from workspace").fetchone() == (1,)


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(DatabaseError, match="Could not connect to the database"):
        check_server("host=127.0.0.1 port=1 dbname=nothing connect_timeout=2")


async def test_notifications_arrive_and_survive_a_lost_connection(database_dsn: str) -> None:
    async with open_database(database_dsn) as database, aclosing(database.listen("t")) as notes:
        heard = asyncio.create_task(anext(notes))
        await asyncio.sleep(0.3)
        async with database.connection() as connection:
            await connection.execute("select pg_notify('t', %s)", (json.dumps({"n": 1}),))
        assert await asyncio.wait_for(heard, 5) == '{"n": 1}'

        with psycopg.connect(database_dsn, autocommit=True) as other:
            other.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity "
                "where application_name = 'pincite listen' and datname = current_database()"
            )
        assert await asyncio.wait_for(anext(notes), 10) == ""


async def test_a_lost_connection_is_an_error_that_may_pass(database_dsn: str) -> None:
    async with open_database(database_dsn) as database:
        with pytest.raises(DatabaseUnavailableError, match="does not answer"):  # noqa: PT012
            async with database.connection() as connection:
                cut_connections(database_dsn)
                await connection.execute("select 1")

        async with database.connection() as connection:
            assert await (await connection.execute("select 1 as n")).fetchone() == {"n": 1}


async def test_reading_leaves_the_next_user_of_the_connection_a_transaction(
    database_dsn: str,
) -> None:
    async with open_database(database_dsn, connections=1) as database:
        with pytest.raises(psycopg.errors.DivisionByZero):
            async with database.reading() as connection:
                await connection.execute("select 1 / 0")
        async with database.connection() as connection:
            assert not connection.autocommit


async def test_a_held_lock_is_free_as_soon_as_its_connection_dies(database_dsn: str) -> None:
    async with open_database(database_dsn) as database:
        with contextlib.suppress(DatabaseUnavailableError):
            async with database.hold("a"):
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.3), database.hold("a"):
                        pass
                cut_connections(database_dsn)
                async with asyncio.timeout(5), database.hold("a"):
                    pass


def cut_connections(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where pid <> pg_backend_pid() and datname = current_database()"
        )
