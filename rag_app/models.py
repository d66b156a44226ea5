"""Every table, in one file.

Rows that belong to somebody carry `workspace_id`. Queries are written as SQL where they are used;
these classes are the schema that alembic keeps, and the types that whole rows are read into.
"""

from datetime import datetime
from typing import Any

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Text,
    UniqueConstraint,
    literal_column,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, REGCONFIG, TSVECTOR
from sqlmodel import Field, SQLModel


def _identity() -> Any:
    return Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))


def _reference(target: str, *, index: bool = True, nullable: bool = False) -> Any:
    return Field(
        default=None,
        sa_column=Column(
            BigInteger, ForeignKey(target, ondelete="CASCADE"), index=index, nullable=nullable
        ),
    )


def _owner() -> Any:
    return Field(
        default=None,
        sa_column=Column(
            BigInteger, ForeignKey("workspace.id", ondelete="CASCADE"), nullable=False
        ),
    )


def _owner_key() -> Any:
    return Field(
        default=None,
        sa_column=Column(
            BigInteger, ForeignKey("workspace.id", ondelete="CASCADE"), primary_key=True
        ),
    )


def _plain_owner() -> Any:
    return Field(default=None, sa_column=Column(BigInteger, nullable=False))


def _words(default: str = "") -> Any:
    return Field(default=default, sa_column_kwargs={"server_default": default})


def _now() -> Any:
    return Field(
        default=None,
        sa_column=Column(DateTime(timezone=True), server_default=text("now()"), nullable=False),
    )


def _json(default: str = "{}") -> Any:
    return Field(
        default=None,
        sa_column=Column(JSONB, server_default=text(f"'{default}'::jsonb"), nullable=False),
    )


class Workspace(SQLModel, table=True):
    """One library; `live_snapshot` is the set of versions that questions see."""

    id: int = _identity()
    name: str = Field(unique=True)
    language: str = _words("simple")
    live_snapshot: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    created_at: datetime = _now()


class EmbeddingModelRow(SQLModel, table=True):
    """A model whose vectors are stored; see `providers.base.EmbeddingModel`."""

    __tablename__ = "embedding_model"

    id: int = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    dimensions: int
    centre: float
    spread: float


class Document(SQLModel, table=True):
    """One thing the person added, and how far it has come."""

    __table_args__ = (
        Index(
            "document_uri",
            "workspace_id",
            "uri",
            unique=True,
            postgresql_where=text("removed_at is null"),
        ),
        CheckConstraint("status in ('queued', 'running', 'ready', 'failed', 'cancelled')"),
    )

    id: int = _identity()
    workspace_id: int = _reference("workspace.id")
    source_type: str = _words()
    uri: str
    title: str
    file_key: str | None = None
    status: str = _words("queued")
    step: str = _words()
    progress: float = Field(default=0, sa_column_kwargs={"server_default": "0"})
    error: str | None = None
    unchanged: bool = Field(default=False, sa_column_kwargs={"server_default": "false"})
    removed_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=True)
    )
    created_at: datetime = _now()
    updated_at: datetime = _now()


class DocumentVersion(SQLModel, table=True):
    """The text of a document as it was at one time; published through a membership.

    `language` is an ISO 639 code, empty where it is unclear.
    """

    __tablename__ = "document_version"
    __table_args__ = (Index("version_hash", "workspace_id", "content_hash"),)

    id: int = _identity()
    document_id: int = _reference("document.id")
    workspace_id: int = _owner()
    content_hash: str
    content: str = Field(sa_column=Column(Text, nullable=False))
    locators: dict = _json()
    language: str = _words()
    file_key: str | None = None
    page_count: int | None = None
    duration_seconds: int | None = None
    chunk_count: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    extraction: dict = _json()
    created_at: datetime = _now()


class Snapshot(SQLModel, table=True):
    """A numbered, frozen set of versions, embedded with one model."""

    workspace_id: int = _owner_key()
    number: int = Field(primary_key=True)
    embedding_model_id: int = Field(foreign_key="embedding_model.id")
    reason: str
    evaluation: dict = _json()
    created_at: datetime = _now()


class Membership(SQLModel, table=True):
    """In which snapshots a version stands: added_in <= n < removed_in."""

    workspace_id: int = _owner_key()
    version_id: int = Field(
        sa_column=Column(
            BigInteger, ForeignKey("document_version.id", ondelete="CASCADE"), primary_key=True
        )
    )
    added_in: int = Field(primary_key=True)
    removed_in: int | None = None

    __table_args__ = (Index("membership_version", "version_id"),)


class Chunk(SQLModel, table=True):
    """A slice `start:end` of a version's content, in code points, with its locator."""

    __table_args__ = (UniqueConstraint("version_id", "ordinal"),)

    id: int = _identity()
    workspace_id: int = _owner()
    version_id: int = _reference("document_version.id", index=False)
    ordinal: int
    content: str = Field(sa_column=Column(Text, nullable=False))
    start: int
    end: int
    page: int | None = None
    second: int | None = None
    heading: str | None = None
    language: str = Field(sa_column=Column(REGCONFIG, nullable=False))
    tokens: int


class ChunkTextIndex(SQLModel, table=True):
    """The lexemes of a chunk, stemmed for its language; narrow, so ranking reads little."""

    __tablename__ = "chunk_text_index"
    __table_args__ = (
        Index("chunk_text_index_tsv", "tsv", postgresql_using="gin"),
        Index("chunk_text_index_version", "version_id"),
        {"postgresql_with": {"toast_tuple_target": "8160"}},
    )

    chunk_id: int = Field(
        sa_column=Column(BigInteger, ForeignKey("chunk.id", ondelete="CASCADE"), primary_key=True)
    )
    workspace_id: int = _plain_owner()
    version_id: int = Field(sa_column=Column(BigInteger, nullable=False))
    language: str = Field(sa_column=Column(REGCONFIG, nullable=False))
    tsv: Any = Field(sa_column=Column(TSVECTOR, nullable=False))


class Embedding(SQLModel, table=True):
    """The vector of a chunk by one model; one partial HNSW index a model."""

    chunk_id: int = Field(
        sa_column=Column(BigInteger, ForeignKey("chunk.id", ondelete="CASCADE"), primary_key=True)
    )
    model_id: int = Field(foreign_key="embedding_model.id", primary_key=True)
    workspace_id: int = _plain_owner()
    version_id: int = Field(sa_column=Column(BigInteger, nullable=False))
    vector: Any = Field(sa_column=Column(HALFVEC(), nullable=False))

    __table_args__ = (
        Index("embedding_version", "version_id"),
        Index("embedding_workspace", "model_id", "workspace_id"),
    )


class TermStatistics(SQLModel, table=True):
    """In how many live chunks of a language a lexeme occurs; kept by each publication."""

    __tablename__ = "term_statistics"

    workspace_id: int = _owner_key()
    language: str = Field(sa_column=Column(REGCONFIG, primary_key=True))
    term: str = Field(primary_key=True)
    documents: int

    # by which the end of a compound is found
    __table_args__ = (
        Index(
            "term_statistics_reversed",
            "workspace_id",
            "language",
            literal_column("reverse(term)").label("reversed"),
            postgresql_ops={"reversed": "text_pattern_ops"},
        ),
    )


class LanguageStatistics(SQLModel, table=True):
    """How many live chunks a language has and how many lexemes they hold, for BM25."""

    __tablename__ = "language_statistics"

    workspace_id: int = _owner_key()
    language: str = Field(sa_column=Column(REGCONFIG, primary_key=True))
    chunks: int
    lexemes: int = Field(sa_column=Column(BigInteger, nullable=False))


class Conversation(SQLModel, table=True):
    """A list of turns."""

    id: int = _identity()
    workspace_id: int = _reference("workspace.id")
    title: str
    created_at: datetime = _now()
    updated_at: datetime = _now()


class Turn(SQLModel, table=True):
    """A question with its answer, stored while it streams.

    A running turn whose `updated_at` has stopped moving was interrupted; see
    `library.conversations`.
    """

    __table_args__ = (
        UniqueConstraint("conversation_id", "ordinal"),
        CheckConstraint("status in ('running', 'done', 'stopped', 'failed')"),
    )

    id: int = _identity()
    workspace_id: int = _owner()
    conversation_id: int = _reference("conversation.id", index=False)
    ordinal: int
    question: str
    standalone_question: str = _words()
    answer: str = _words()
    status: str = _words("running")
    error: str | None = None
    abstained: bool = Field(default=False, sa_column_kwargs={"server_default": "false"})
    unsupported: list = _json("[]")
    passages: list = _json("[]")
    snapshot: int | None = None
    created_at: datetime = _now()
    updated_at: datetime = _now()


class CitationRow(SQLModel, table=True):
    """A marker of a turn and the words that support it; outlives the document it quotes."""

    __tablename__ = "citation"

    turn_id: int = Field(
        sa_column=Column(BigInteger, ForeignKey("turn.id", ondelete="CASCADE"), primary_key=True)
    )
    marker: int = Field(primary_key=True)
    workspace_id: int = _plain_owner()
    document_id: int | None = Field(
        default=None,
        sa_column=Column(
            BigInteger, ForeignKey("document.id", ondelete="SET NULL"), index=True, nullable=True
        ),
    )
    version_id: int | None = Field(
        default=None,
        sa_column=Column(
            BigInteger, ForeignKey("document_version.id", ondelete="SET NULL"), nullable=True
        ),
    )
    quote: str
    start: int
    end: int
    page: int | None = None
    second: int | None = None
    verbatim: bool = True
    quotes: list = _json("[]")
    passage: dict = _json()


class RetrievalLog(SQLModel, table=True):
    """Everything about how a turn's passages were found, ranked, cut and packed."""

    __tablename__ = "retrieval_log"

    turn_id: int = Field(
        sa_column=Column(BigInteger, ForeignKey("turn.id", ondelete="CASCADE"), primary_key=True)
    )
    workspace_id: int = _plain_owner()
    detail: dict = _json()
    created_at: datetime = _now()


class GoldenQuestion(SQLModel, table=True):
    """A question whose right place is known."""

    __tablename__ = "golden_question"

    id: int = _identity()
    workspace_id: int = _reference("workspace.id")
    question: str
    expected: dict = _json()
    created_at: datetime = _now()


class EvaluationRun(SQLModel, table=True):
    """One evaluation: which configurations on which questions, how far it is, what came out."""

    __tablename__ = "evaluation_run"
    __table_args__ = (CheckConstraint("status in ('running', 'done', 'stopped', 'failed')"),)

    id: int = _identity()
    workspace_id: int = _reference("workspace.id")
    name: str
    configurations: str
    status: str = _words("running")
    step: str = _words()
    progress: float = Field(default=0, sa_column_kwargs={"server_default": "0"})
    error: str | None = None
    report: dict = _json()
    created_at: datetime = _now()
    updated_at: datetime = _now()
