"""Runs the migrations on one connection, one process at a time."""

import os

from sqlalchemy import create_engine, pool, text
from sqlmodel import SQLModel

import rag_app.models  # noqa: F401  registers the tables
from alembic import context
from rag_app.database.session import sqlalchemy_url

MIGRATION_LOCK = 7_463_215  # any number, the same for all processes of one database
OTHERS = ("procrastinate_",)  # tables the queue looks after itself
HAND_WRITTEN = ("embedding_vector_",)  # one index a model, made when the model is first used


def include_object(_object, name, kind, _reflected, _compare_to):
    """Say whether autogenerate looks at this object."""
    if kind == "index":
        return not name.startswith(HAND_WRITTEN)
    return not (kind == "table" and name.startswith(OTHERS))


def run() -> None:
    dsn = context.config.attributes.get("dsn") or os.environ["DATABASE_URL"]
    engine = create_engine(sqlalchemy_url(dsn), poolclass=pool.NullPool)
    with engine.connect() as connection:
        connection.execute(text(f"select pg_advisory_lock({MIGRATION_LOCK})"))
        connection.commit()
        context.configure(
            connection=connection,
            target_metadata=SQLModel.metadata,
            include_object=include_object,
        )
        with context.begin_transaction():
            context.run_migrations()
        connection.commit()
        connection.execute(text(f"select pg_advisory_unlock({MIGRATION_LOCK})"))
        connection.commit()
    engine.dispose()


run()
