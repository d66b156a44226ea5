"""The connection pool, transactions, notifications, and the migration to the newest schema."""

import asyncio
import contextlib
import logging
import select
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg.errors import DiskFull
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from rag_app.errors import DatabaseError, DatabaseUnavailableError

logger = logging.getLogger(__name__)

PROJECT_ROOT = Path(__file__).resolve().parents[2]
MIGRATIONS = PROJECT_ROOT / "alembic" / "versions"
OLDEST_POSTGRESQL = 16
OLDEST_PGVECTOR = (0, 8)
RECONNECT_SECONDS = 1.0
TRUSTED_SECONDS = 1.0

# without iterative scans a filter leaves few rows
SESSION_SETTINGS = {
    "hnsw.iterative_scan": "relaxed_order",
    "application_name": "pincite",
}

# when each connection was handed out last; a question takes four, a round trip each to check
_answered_at: WeakKeyDictionary[psycopg.AsyncConnection[Any], float] = WeakKeyDictionary()

_migrating = threading.Lock()  # alembic keeps its context in the module

Row = dict[str, Any]
Connection = psycopg.AsyncConnection[Row]


class Database:
    """Owns the pool; every statement of the app goes through `connection()`."""

    def __init__(self, dsn: str, pool: AsyncConnectionPool[Connection]) -> None:
        self.dsn = dsn
        self._pool = pool

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Yield a connection in a transaction: committed at the end, rolled back on an error.

        A server that went away, is full or gave up is DatabaseUnavailableError: worth another try.
        """
        try:
            async with self._pool.connection() as connection:
                yield connection
        except DiskFull as error:
            raise DatabaseUnavailableError(
                "The disk that holds the library is full: free some space."
            ) from error
        except (psycopg.OperationalError, PoolTimeout) as error:
            raise DatabaseUnavailableError from error

    @contextlib.asynccontextmanager
    async def reading(self) -> AsyncIterator[Connection]:
        """Yield a connection for single statements, without the round trips of a transaction."""
        async with self.connection() as connection:
            await connection.set_autocommit(True)
            try:
                yield connection
            finally:
                if connection.info.transaction_status is TransactionStatus.IDLE:
                    await connection.set_autocommit(False)

    @contextlib.asynccontextmanager
    async def hold(self, lock: str) -> AsyncIterator[None]:
        """Hold a named lock for the block, waiting for whoever holds it.

        It hangs on a connection of its own, so it is free the moment its process dies.
        """
        try:
            async with await psycopg.AsyncConnection.connect(
                self.dsn, autocommit=True, application_name="pincite lock"
            ) as connection:
                await connection.execute(
                    "select pg_advisory_lock(hashtextextended(%s, 0))", (lock,)
                )
                yield
        except psycopg.OperationalError as error:
            raise DatabaseUnavailableError from error

    async def listen(self, channel: str) -> AsyncIterator[str]:
        """Yield the payload of each notification on `channel`, for ever.

        After a lost connection an empty payload comes first, since messages may have been missed.
        """
        missed = False
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    self.dsn, autocommit=True, application_name="pincite listen"
                ) as connection:
                    await connection.execute(f'LISTEN "{channel}"')
                    if missed:
                        yield ""
                    missed = True
                    async for note in connection.notifies():
                        yield note.payload
            except psycopg.OperationalError as error:
                logger.warning("Lost the notification channel %s: %s", channel, error)
            await asyncio.sleep(RECONNECT_SECONDS)


@contextlib.asynccontextmanager
async def open_database(dsn: str, *, connections: int = 12) -> AsyncIterator[Database]:
    """Open a pool on a migrated database and close it at the end."""
    pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
        dsn,
        connection_class=psycopg.AsyncConnection[Row],
        kwargs={"row_factory": dict_row},
        configure=_configure,
        check=_check,
        min_size=1,
        max_size=connections,
        timeout=30,
        open=False,
    )
    await pool.open()
    try:
        yield Database(dsn, pool)
    finally:
        await pool.close()


async def _check(connection: Connection) -> None:
    """Raise where a connection is dead.

    One that answered a moment ago is not asked again, unless something has come from the server
    since: that is how it says goodbye.
    """
    now = time.monotonic()
    is_old = now - _answered_at.get(connection, 0) > TRUSTED_SECONDS
    if is_old or connection.closed or _has_come(connection.fileno()):
        await AsyncConnectionPool.check_connection(connection)
    _answered_at[connection] = now


def _has_come(descriptor: int) -> bool:
    """Tell whether something waits to be read; `select` alone knows no number above 1,023."""
    if not hasattr(select, "poll"):
        return bool(select.select([descriptor], [], [], 0)[0])
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(0))


async def _configure(connection: Connection) -> None:
    # the extension's settings exist only once its library is loaded, which the first use does
    await connection.execute("select '[1]'::vector")
    for name, value in SESSION_SETTINGS.items():
        await connection.execute("select set_config(%s, %s, false)", (name, value))
    await register_vector_async(connection)
    await connection.commit()


def check_server(dsn: str) -> None:
    """Raise DatabaseError when the server is unreachable, too old or without pgvector."""
    try:
        with psycopg.connect(dsn, connect_timeout=10) as connection:
            version = connection.info.server_version // 10000
            row = connection.execute(
                "select default_version from pg_available_extensions where name = 'vector'"
            ).fetchone()
    except psycopg.OperationalError as error:
        raise DatabaseError(f"Could not connect to the database: {error}") from error
    if version < OLDEST_POSTGRESQL:
        raise DatabaseError(
            f"The database is PostgreSQL {version}; Pincite needs {OLDEST_POSTGRESQL} or newer."
        )
    if row is None:
        raise DatabaseError(
            "The database server has no pgvector extension: install pgvector 0.8 or newer on it, "
            "or unset DATABASE_URL to use the built-in database."
        )
    if tuple(int(part) for part in row[0].split(".")[:2]) < OLDEST_PGVECTOR:
        raise DatabaseError(f"The database has pgvector {row[0]}; Pincite needs 0.8 or newer.")


def migrate(dsn: str) -> None:
    """Bring the schema to the newest revision; several processes may ask at once."""
    check_server(dsn)
    if _revision(dsn) == max(path.name.partition("_")[0] for path in MIGRATIONS.glob("*_*.py")):
        return  # alembic takes a second to import, and every command passes here
    from alembic.config import Config

    from alembic import command

    config = Config(str(PROJECT_ROOT / "alembic.ini"))
    config.set_main_option("script_location", str(PROJECT_ROOT / "alembic"))
    config.attributes["dsn"] = dsn
    with _migrating:
        command.upgrade(config, "head")


def _revision(dsn: str) -> str | None:
    """Return the revision a database is at; None before the first."""
    with psycopg.connect(dsn, connect_timeout=10) as connection:
        there = connection.execute("select to_regclass('alembic_version')").fetchone()
        if there is None or there[0] is None:
            return None
        row = connection.execute("select version_num from alembic_version").fetchone()
    return row[0] if row else None


def sqlalchemy_url(dsn: str) -> str:
    """Return the address SQLAlchemy takes, from any form that libpq takes."""
    from sqlalchemy import URL

    parts = psycopg.conninfo.conninfo_to_dict(dsn)
    known = {key: parts.pop(key, None) for key in ("user", "password", "host", "port", "dbname")}
    return URL.create(
        "postgresql+psycopg",
        username=_text(known["user"]),
        password=_text(known["password"]),
        host=_text(known["host"]),
        port=int(known["port"]) if known["port"] else None,
        database=_text(known["dbname"]),
        query={key: str(value) for key, value in parts.items()},
    ).render_as_string(hide_password=False)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
