"""Conversations and their turns: started, stored while they stream, listed, removed.

What changes for a page that shows one is told on the channel `conversations`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from rag_app.database.session import Connection, Database
from rag_app.errors import NotFoundError

CHANNEL = "conversations"
INTERRUPTED_SECONDS = 15  # a running turn is touched every second; older means its process is gone
LONGEST_TITLE = 80

# a turn as it stands; running ones that nobody touches any more were interrupted
TURNS = f"""
select t.id, t.conversation_id, t.ordinal, t.question, t.standalone_question, t.answer,
       case when t.status = 'running'
             and t.updated_at < now() - interval '{INTERRUPTED_SECONDS} seconds'
            then 'interrupted' else t.status end as status,
       t.error, t.abstained, t.unsupported, t.passages, t.snapshot, t.created_at,
       coalesce((select jsonb_agg(to_jsonb(c) order by c.marker) from citation c
                 where c.turn_id = t.id), '[]'::jsonb) as citations,
       coalesce((select jsonb_build_object(
           'notice', l.detail -> 'notice', 'absence', l.detail -> 'absence',
           'options', l.detail -> 'options',
           'documents', (select jsonb_object_agg(d.id, d.title)
             from jsonb_array_elements_text(
               coalesce(l.detail #> '{{options,filters,document_ids}}', '[]'::jsonb)) named(id)
             join document d on d.id = named.id::bigint
             where d.workspace_id = t.workspace_id and d.removed_at is null))
         from retrieval_log l where l.turn_id = t.id), '{{}}'::jsonb) as found
from turn t where t.workspace_id = %(workspace_id)s
"""

ADD_TURN = """
insert into turn (workspace_id, conversation_id, ordinal, question)
select %(workspace_id)s, %(conversation_id)s,
       coalesce((select max(ordinal) from turn where conversation_id = %(conversation_id)s), 0) + 1,
       %(question)s
returning id
"""

# only a running turn takes text, so a stop that came in between holds
STORE_TEXT = """
update turn set answer = %(answer)s, updated_at = now()
where id = %(id)s and status = 'running' returning id
"""

STORE_PASSAGES = """
update turn set passages = %(passages)s, snapshot = %(snapshot)s,
  standalone_question = %(standalone_question)s, updated_at = now()
where id = %(id)s and status = 'running' returning id
"""

STORE_LOG = """
insert into retrieval_log (turn_id, workspace_id, detail) values (%s, %s, %s)
on conflict (turn_id) do update set detail = excluded.detail
"""

FINISH = """
update turn set answer = %(answer)s, abstained = %(abstained)s, unsupported = %(unsupported)s,
  status = 'done', updated_at = now()
where id = %(id)s and status = 'running' returning conversation_id
"""

ADD_CITATION = """
insert into citation (turn_id, marker, workspace_id, document_id, version_id, quote, start, "end",
                      page, second, verbatim, quotes, passage)
select %(turn_id)s, %(marker)s, %(workspace_id)s,
       (select id from document where id = %(document_id)s),
       (select id from document_version where id = %(version_id)s),
       %(quote)s, %(start)s, %(end)s, %(page)s, %(second)s, %(verbatim)s,
       %(quotes)s, %(passage)s
"""


@dataclass(frozen=True)
class ConversationSummary:
    """A conversation as the list shows it."""

    id: int
    title: str
    updated_at: datetime


@dataclass(frozen=True)
class TurnRecord:
    """A stored turn; passages and citations as plain JSON values, as they were at the time.

    `status` is running, done, stopped, failed or interrupted. `found` has the log's `notice`,
    `absence` and `options`, and the titles of the `documents` that a filter names.
    """

    id: int
    conversation_id: int
    ordinal: int
    question: str
    standalone_question: str
    answer: str
    status: str
    error: str | None
    abstained: bool
    unsupported: list[str]
    passages: list[dict[str, Any]]
    snapshot: int | None
    created_at: datetime
    citations: list[dict[str, Any]]
    found: dict[str, Any] = field(default_factory=dict)


async def start_conversation(database: Database, workspace_id: int, title: str) -> int:
    """Begin a conversation, named after its first question."""
    async with database.connection() as connection:
        row = await (
            await connection.execute(
                "insert into conversation (workspace_id, title) values (%s, %s) returning id",
                (workspace_id, short_title(title)),
            )
        ).fetchone()
    assert row is not None
    return int(row["id"])


async def list_conversations(
    database: Database, workspace_id: int, *, limit: int = 200
) -> list[ConversationSummary]:
    """Return the newest conversations, the one used last first."""
    async with database.connection() as connection:
        rows = await (
            await connection.execute(
                "select id, title, updated_at from conversation where workspace_id = %s "
                "order by updated_at desc, id desc limit %s",
                (workspace_id, limit),
            )
        ).fetchall()
    return [ConversationSummary(**row) for row in rows]


async def rename_conversation(
    database: Database, workspace_id: int, conversation_id: int, title: str
) -> None:
    """Give a conversation another name."""
    async with database.connection() as connection:
        await _one(
            connection,
            "update conversation set title = %s where id = %s and workspace_id = %s returning id",
            (short_title(title), conversation_id, workspace_id),
        )
        await _notify(connection, workspace_id, conversation_id)


async def remove_conversation(database: Database, workspace_id: int, conversation_id: int) -> None:
    """Delete a conversation with its turns."""
    async with database.connection() as connection:
        await _one(
            connection,
            "delete from conversation where id = %s and workspace_id = %s returning id",
            (conversation_id, workspace_id),
        )
        await _notify(connection, workspace_id, conversation_id)


async def list_turns(
    database: Database, workspace_id: int, conversation_id: int
) -> list[TurnRecord]:
    """Return a conversation's turns in order; raise NotFoundError when there is no such one."""
    values = {"workspace_id": workspace_id, "conversation_id": conversation_id}
    async with database.connection() as connection:
        await _one(
            connection,
            "select id from conversation where id = %s and workspace_id = %s",
            (conversation_id, workspace_id),
        )
        rows = await (
            await connection.execute(
                TURNS + " and t.conversation_id = %(conversation_id)s order by t.ordinal", values
            )
        ).fetchall()
    return [TurnRecord(**row) for row in rows]


async def get_turn(database: Database, workspace_id: int, turn_id: int) -> TurnRecord:
    """Return one turn; raise NotFoundError for what is gone or somebody else's."""
    async with database.connection() as connection:
        row = await (
            await connection.execute(
                TURNS + " and t.id = %(id)s", {"workspace_id": workspace_id, "id": turn_id}
            )
        ).fetchone()
    if row is None:
        raise NotFoundError(f"There is no turn {turn_id} in this library.")
    return TurnRecord(**row)


async def newest_turn(database: Database, workspace_id: int) -> int:
    """Return the turn that was answered last; raise NotFoundError where there is none."""
    async with database.connection() as connection:
        row = await (
            await connection.execute(
                "select max(turn_id) as id from retrieval_log where workspace_id = %s",
                (workspace_id,),
            )
        ).fetchone()
    if row is None or row["id"] is None:
        raise NotFoundError("No question has been answered in this library yet.")
    return int(row["id"])


async def turn_log(database: Database, workspace_id: int, turn_id: int) -> dict[str, Any]:
    """Return how a turn's answer was found; raise NotFoundError where nothing was kept of it."""
    async with database.connection() as connection:
        row = await (
            await connection.execute(
                "select detail from retrieval_log where turn_id = %s and workspace_id = %s",
                (turn_id, workspace_id),
            )
        ).fetchone()
    if row is None:
        raise NotFoundError(f"Nothing was kept of how turn {turn_id} was answered.")
    return row["detail"]


async def begin_turn(
    database: Database, workspace_id: int, conversation_id: int, question: str
) -> int:
    """Store a question, whose answer is to come, and return the turn's id."""
    async with database.connection() as connection:
        # held until the end, so two questions at once get two places
        await _one(
            connection,
            "update conversation set updated_at = now() "
            "where id = %s and workspace_id = %s returning id",
            (conversation_id, workspace_id),
        )
        row = await _one(
            connection,
            ADD_TURN,
            {
                "workspace_id": workspace_id,
                "conversation_id": conversation_id,
                "question": question,
            },
        )
        await _notify(connection, workspace_id, conversation_id)
    return int(row["id"])


async def store_passages(
    database: Database,
    workspace_id: int,
    turn_id: int,
    *,
    standalone_question: str,
    passages: Sequence[Any],
    snapshot: int,
    log: Mapping[str, object],
) -> None:
    """Keep what was found and how, before the first word."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            STORE_PASSAGES,
            {
                "id": turn_id,
                "standalone_question": standalone_question,
                "passages": json.dumps([plain(passage) for passage in passages]),
                "snapshot": snapshot,
            },
        )
        if await cursor.fetchone() is not None:
            await _store_log(connection, workspace_id, turn_id, log)


async def store_text(database: Database, turn_id: int, answer: str) -> bool:
    """Keep the answer as far as it is written; False when the turn was stopped or removed."""
    async with database.connection() as connection:
        cursor = await connection.execute(STORE_TEXT, {"id": turn_id, "answer": answer})
        return await cursor.fetchone() is not None


async def touch_turn(database: Database, turn_id: int) -> bool:
    """Show that a running turn is still being worked on; False when it was stopped or removed."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            "update turn set updated_at = now() where id = %s and status = 'running' returning id",
            (turn_id,),
        )
        return await cursor.fetchone() is not None


async def finish_turn(
    database: Database,
    workspace_id: int,
    turn_id: int,
    *,
    answer: Any,
    log: Mapping[str, object],
) -> bool:
    """Store the whole answer, its citations and the log at once; False when it was stopped."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            FINISH,
            {
                "id": turn_id,
                "answer": answer.text,
                "abstained": answer.abstained,
                "unsupported": json.dumps(list(answer.unsupported)),
            },
        )
        row = await cursor.fetchone()
        if row is None:
            return False
        await _notify(connection, workspace_id, row["conversation_id"])
        for citation in answer.citations:
            values = asdict(citation.best) | {
                "quote": citation.quote,
                "marker": citation.marker,
                "quotes": json.dumps([asdict(quote) for quote in citation.quotes]),
                "turn_id": turn_id,
                "workspace_id": workspace_id,
                "document_id": citation.passage.document_id,
                "version_id": citation.passage.version_id,
                "passage": json.dumps(plain(citation.passage)),
            }
            await connection.execute(ADD_CITATION, values)
        await _store_log(connection, workspace_id, turn_id, log)
    return True


async def end_turn(
    database: Database, workspace_id: int, turn_id: int, *, status: str, error: str | None = None
) -> None:
    """Mark a running turn as stopped or failed; the text written so far stays."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            "update turn set status = %s, error = %s, updated_at = now() "
            "where id = %s and workspace_id = %s and status = 'running' returning conversation_id",
            (status, error, turn_id, workspace_id),
        )
        row = await cursor.fetchone()
        if row is not None:
            await _notify(connection, workspace_id, row["conversation_id"])


def plain(passage: Any) -> dict[str, Any]:
    """Return a passage as it is stored with its turn."""
    return asdict(passage)


def short_title(text: str) -> str:
    """Return a question as a title: one line, cut at a word."""
    line = " ".join(text.replace("\x00", "").split())
    if len(line) <= LONGEST_TITLE:
        return line or "…"
    cut = line[:LONGEST_TITLE].rsplit(" ", 1)[0]
    return f"{cut}…"


async def _store_log(
    connection: Connection, workspace_id: int, turn_id: int, log: Mapping[str, object]
) -> None:
    values = (turn_id, workspace_id, json.dumps(log, default=str))
    await connection.execute(STORE_LOG, values)


async def _notify(connection: Connection, workspace_id: int, conversation_id: int) -> None:
    """Tell open pages, when the transaction commits, that a conversation changed."""
    payload = json.dumps({"workspace_id": workspace_id, "conversation_id": conversation_id})
    await connection.execute("select pg_notify(%s, %s)", (CHANNEL, payload))


async def _one(connection: Connection, statement: str, values: Any) -> dict[str, Any]:
    row = await (await connection.execute(statement, values)).fetchone()
    if row is None:
        raise NotFoundError("There is no such conversation in this library.")
    return row
