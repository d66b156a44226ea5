"""Snapshots: numbered sets of versions. Publishing makes the next one, in one transaction."""

from collections.abc import Mapping, Sequence

from psycopg import sql

from rag_app.database.session import Connection, Database
from rag_app.errors import NotFoundError
from rag_app.providers.base import EmbeddingModel

REGISTER_MODEL = """
insert into embedding_model (name, dimensions, centre, spread)
values (%(name)s, %(dimensions)s, %(centre)s, %(spread)s)
on conflict (name) do update set name = excluded.name
returning id
"""

# the live snapshot, held against other publications until the transaction ends
LOCK_POINTER = "select live_snapshot from workspace where id = %s for no key update"

MOVE_POINTER = "update workspace set live_snapshot = %s where id = %s"

ADD_SNAPSHOT = """
insert into snapshot (workspace_id, number, embedding_model_id, reason)
values (%(workspace_id)s, %(number)s, %(model_id)s, %(reason)s)
"""

LIVE_MODEL = "select embedding_model_id from snapshot where workspace_id = %s and number = %s"

# whether a chunk that stands has no vector of a model; `document_id` is about to be replaced
IS_MISSING_VECTORS = """
select exists (
  select 1 from membership m join document_version v on v.id = m.version_id
  join chunk c on c.version_id = m.version_id
  where m.workspace_id = %(workspace_id)s and m.removed_in is null
    and v.document_id is distinct from %(document_id)s
    and not exists (select 1 from embedding e
      where e.chunk_id = c.id and e.model_id = %(model_id)s)) as missing
"""

ADD_MEMBERSHIP = "insert into membership (workspace_id, version_id, added_in) values (%s, %s, %s)"

# closes the memberships of a document's versions and returns which versions they were
CLOSE_MEMBERSHIPS = """
update membership m set removed_in = %(snapshot)s
from document_version v
where v.id = m.version_id and v.document_id = %(document_id)s
  and m.workspace_id = %(workspace_id)s and m.removed_in is null
returning m.version_id
"""

IS_EARLY = """
select 1 from membership m join document_version v on v.id = m.version_id
join snapshot s on s.workspace_id = m.workspace_id and s.number = m.added_in
where v.document_id = %(document_id)s and m.removed_in is null and s.reason = %(reason)s
"""

VERSION_LANGUAGES = """
select language::text as language, count(*) as chunks, coalesce(sum(length(tsv)), 0) as lexemes
from chunk_text_index where version_id = %s group by language order by 1
"""

MOVE_LANGUAGE = """
insert into language_statistics (workspace_id, language, chunks, lexemes)
values (%(workspace_id)s, %(language)s::regconfig, %(chunks)s, %(lexemes)s)
on conflict (workspace_id, language) do update
set chunks = language_statistics.chunks + excluded.chunks,
    lexemes = language_statistics.lexemes + excluded.lexemes
"""

# in the order of the key, so that two publications never wait for each other in a circle
MOVE_TERMS = """
insert into term_statistics (workspace_id, language, term, documents)
select %(workspace_id)s, %(language)s::regconfig, word, ndoc * %(sign)s
from ts_stat(%(query)s) order by word
on conflict (workspace_id, language, term) do update
set documents = term_statistics.documents + excluded.documents
"""

# terms that no chunk has any more, looked for among those of the version that went
DROP_TERMS = """
delete from term_statistics where workspace_id = %(workspace_id)s
  and language = %(language)s::regconfig and documents <= 0
  and term in (select word from ts_stat(%(query)s))
"""

LIST_SNAPSHOTS = """
select s.number, s.reason, s.created_at, m.name as embedding_model,
       s.number = w.live_snapshot as is_live,
       (select count(*) from membership b where b.workspace_id = s.workspace_id
          and b.added_in <= s.number and (b.removed_in is null or b.removed_in > s.number))
         as documents
from snapshot s join workspace w on w.id = s.workspace_id
join embedding_model m on m.id = s.embedding_model_id
where s.workspace_id = %s order by s.number desc limit %s
"""


async def register_model(database: Database, model: EmbeddingModel) -> int:
    """Return the id of a model, adding it and its index when it is new."""
    async with database.connection() as connection:
        row = await (
            await connection.execute(
                REGISTER_MODEL,
                {
                    "name": model.name,
                    "dimensions": model.dimensions,
                    "centre": model.centre,
                    "spread": model.spread,
                },
            )
        ).fetchone()
        assert row is not None
        model_id = int(row["id"])
        # expression and predicate as literals: a generic plan could not use a partial index
        await connection.execute(
            sql.SQL(
                "create index if not exists {name} on embedding using hnsw "
                "((vector::halfvec({dimensions})) halfvec_cosine_ops) where model_id = {model_id}"
            ).format(
                name=sql.Identifier(f"embedding_vector_{model_id}"),
                dimensions=sql.Literal(model.dimensions),
                model_id=sql.Literal(model_id),
            )
        )
    return model_id


async def next_snapshot(
    connection: Connection,
    workspace_id: int,
    *,
    reason: str,
    model_id: int | None = None,
    document_id: int | None = None,
) -> int:
    """Begin the next snapshot; everything until the end of the transaction belongs to it.

    It stands on `model_id` once every chunk has a vector of that model, save those of
    `document_id`, which is being replaced; until then on the model of the snapshot before.
    """
    row = await (await connection.execute(LOCK_POINTER, (workspace_id,))).fetchone()
    if row is None:
        raise NotFoundError("There is no such workspace.")
    number = int(row["live_snapshot"]) + 1
    values = {
        "workspace_id": workspace_id,
        "number": number,
        "model_id": model_id,
        "document_id": document_id,
        "reason": reason,
    }
    before = await (await connection.execute(LIVE_MODEL, (workspace_id, number - 1))).fetchone()
    if before is not None and model_id != before["embedding_model_id"]:
        values["model_id"] = before["embedding_model_id"]
        if model_id is not None and not await _misses(connection, values | {"model_id": model_id}):
            values["model_id"] = model_id
    await connection.execute(ADD_SNAPSHOT, values)
    await connection.execute(MOVE_POINTER, (number, workspace_id))
    return number


async def adopt_model(connection: Connection, workspace_id: int, model_id: int) -> bool:
    """Make a snapshot on a model whose vectors are all there, where the live one has another."""
    row = await (await connection.execute(LOCK_POINTER, (workspace_id,))).fetchone()
    if row is None:
        return False
    live = await (
        await connection.execute(LIVE_MODEL, (workspace_id, row["live_snapshot"]))
    ).fetchone()
    values = {"workspace_id": workspace_id, "model_id": model_id, "document_id": None}
    if live is None or live["embedding_model_id"] == model_id or await _misses(connection, values):
        return False
    await next_snapshot(
        connection, workspace_id, model_id=model_id, reason="embedded with another model"
    )
    return True


async def _misses(connection: Connection, values: Mapping[str, object]) -> bool:
    row = await (await connection.execute(IS_MISSING_VECTORS, values)).fetchone()
    assert row is not None
    return bool(row["missing"])


async def add_version(
    connection: Connection, workspace_id: int, version_id: int, snapshot: int
) -> None:
    """Let a version stand from `snapshot` on."""
    await connection.execute(ADD_MEMBERSHIP, (workspace_id, version_id, snapshot))
    await _move_statistics(connection, workspace_id, [version_id], sign=1)


def early_reason(document_id: int) -> str:
    """Return the reason of the snapshot that shows a document before it is embedded."""
    return f"reading document {document_id}"


async def withdraw_early(connection: Connection, workspace_id: int, document_id: int) -> None:
    """Make the next snapshot without a document that was shown early and came to no end."""
    cursor = await connection.execute(
        IS_EARLY, {"document_id": document_id, "reason": early_reason(document_id)}
    )
    if await cursor.fetchone() is not None:
        await remove_versions(connection, workspace_id, document_id)


async def remove_versions(connection: Connection, workspace_id: int, document_id: int) -> None:
    """Make the next snapshot without a document, when it stands in this one."""
    cursor = await connection.execute(
        "select 1 from membership m join document_version v on v.id = m.version_id "
        "where v.document_id = %s and m.removed_in is null",
        (document_id,),
    )
    if await cursor.fetchone() is None:
        return
    number = await next_snapshot(connection, workspace_id, reason=f"removed document {document_id}")
    await close_versions(connection, workspace_id, document_id, number)


async def close_versions(
    connection: Connection, workspace_id: int, document_id: int, snapshot: int
) -> list[int]:
    """Let no version of a document stand from `snapshot` on; return those that did."""
    rows = await (
        await connection.execute(
            CLOSE_MEMBERSHIPS,
            {"workspace_id": workspace_id, "document_id": document_id, "snapshot": snapshot},
        )
    ).fetchall()
    versions = [int(row["version_id"]) for row in rows]
    await _move_statistics(connection, workspace_id, versions, sign=-1)
    return versions


async def list_snapshots(database: Database, workspace_id: int, *, limit: int = 50) -> list[dict]:
    """Return the newest snapshots, newest first."""
    async with database.connection() as connection:
        return await (await connection.execute(LIST_SNAPSHOTS, (workspace_id, limit))).fetchall()


async def _move_statistics(
    connection: Connection, workspace_id: int, versions: Sequence[int], *, sign: int
) -> None:
    for version_id in versions:
        languages = await (await connection.execute(VERSION_LANGUAGES, (version_id,))).fetchall()
        for row in languages:
            values = {
                "workspace_id": workspace_id,
                "language": row["language"],
                "chunks": row["chunks"] * sign,
                "lexemes": row["lexemes"] * sign,
                "sign": sign,
                "query": (
                    f"select tsv from chunk_text_index where version_id = {int(version_id)} "
                    f"and language = '{row['language']}'::regconfig"
                ),
            }
            await connection.execute(MOVE_LANGUAGE, values)
            await connection.execute(MOVE_TERMS, values)
            if sign < 0:
                await connection.execute(DROP_TERMS, values)
