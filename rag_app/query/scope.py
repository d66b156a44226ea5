"""What a question may see: the snapshot it is pinned to, its filters, and how much that is."""

from dataclasses import dataclass
from typing import Any

from psycopg import sql

from rag_app.database.session import Connection
from rag_app.errors import NotFoundError
from rag_app.query.results import Filters, Scope

EXACT_UP_TO_CHUNKS = 10_000  # below, a scan costs 2 us a row and finds everything

# the pinned snapshot, the live one without a pin; an empty library has none yet
SNAPSHOT = """
select coalesce(%(pinned)s::bigint, w.live_snapshot) as snapshot,
       coalesce(s.embedding_model_id = %(model_id)s, true) as has_vectors
from workspace w
left join snapshot s on s.workspace_id = w.id
  and s.number = coalesce(%(pinned)s::bigint, w.live_snapshot)
where w.id = %(workspace_id)s
"""

SIZE = """
select coalesce(sum(v.chunk_count) filter (where v.is_visible), 0) as chunks,
       coalesce(array_agg(v.id order by v.id) filter (where v.is_visible), '{{}}') as versions,
       coalesce(array_agg(v.id order by v.id) filter (where not v.is_visible), '{{}}') as hidden,
       coalesce(max(v.id), 0) as newest
from (select v.id, v.chunk_count, {visible} as is_visible from document_version v
      where v.workspace_id = %(workspace_id)s) v
"""


MOST_HIDDEN = 100
"""Versions outside a snapshot that a statement names; more are left to the membership table."""


@dataclass(frozen=True)
class ScopeSize:
    """How much a scope holds, and a short way to say which versions these are, where there is one.

    `versions` are those of a filter that leaves few. Without a filter, `hidden` are the few that
    the snapshot does not show among those up to `newest`, the last one stored so far. One that was
    being stored meanwhile may slip in, so whatever is found is checked against the tables after.
    """

    chunks: int
    versions: tuple[int, ...] | None = None
    hidden: tuple[int, ...] | None = None
    newest: int = 0


async def open_scope(
    connection: Connection,
    workspace_id: int,
    filters: Filters,
    *,
    model_id: int,
    pinned: int | None = None,
) -> tuple[Scope, bool]:
    """Return the scope of a question, and whether its snapshot stands on this model's vectors."""
    cursor = await connection.execute(
        SNAPSHOT, {"workspace_id": workspace_id, "pinned": pinned, "model_id": model_id}
    )
    row = await cursor.fetchone()
    if row is None:
        raise NotFoundError("There is no such workspace.")
    return Scope(workspace_id, row["snapshot"], filters), row["has_vectors"]


async def measure_scope(connection: Connection, scope: Scope) -> ScopeSize:
    """Return how much a scope holds."""
    visible, values = visibility(scope, sql.SQL("v.id"))
    statement = sql.SQL(SIZE).format(visible=visible)
    row = await (await connection.execute(statement, values)).fetchone()
    assert row is not None
    chunks = int(row["chunks"])
    if scope.filters != Filters():
        is_small = chunks <= EXACT_UP_TO_CHUNKS
        return ScopeSize(chunks, versions=tuple(row["versions"]) if is_small else None)
    is_short = len(row["hidden"]) <= MOST_HIDDEN
    return ScopeSize(
        chunks, hidden=tuple(row["hidden"]) if is_short else None, newest=row["newest"]
    )


def visibility(
    scope: Scope, version: sql.SQL, size: ScopeSize | None = None
) -> tuple[sql.Composable, dict[str, Any]]:
    """Return the condition that a version stands in the scope, and the values it takes.

    Few versions are named one by one, which lets the planner start from them; where only few are
    hidden, these are, which spares the search a join.
    """
    values: dict[str, Any] = {"workspace_id": scope.workspace_id, "snapshot": scope.snapshot}
    if size is not None and size.hidden is not None:
        shown = sql.SQL("{version} <= %(newest)s").format(version=version)
        if size.hidden:
            shown += sql.SQL(" and {version} <> all(%(hidden)s)").format(version=version)
        return shown, values | {"newest": size.newest, "hidden": list(size.hidden)}
    if size is not None and size.versions is not None:
        named = sql.SQL("{version} = any(%(versions)s)").format(version=version)
        return named, values | {"versions": list(size.versions)}
    conditions: list[sql.Composable] = [
        sql.SQL(
            "exists (select 1 from membership m where m.version_id = {version} "
            "and m.workspace_id = %(workspace_id)s and m.added_in <= %(snapshot)s "
            "and (m.removed_in is null or m.removed_in > %(snapshot)s))"
        ).format(version=version)
    ]
    filters = scope.filters
    if filters != Filters():
        wanted: list[sql.Composable] = [sql.SQL("w.id = {version}").format(version=version)]
        if filters.source_types:
            wanted.append(sql.SQL("d.source_type = any(%(source_types)s)"))
            values["source_types"] = list(filters.source_types)
        if filters.document_ids:
            wanted.append(sql.SQL("d.id = any(%(document_ids)s)"))
            values["document_ids"] = list(filters.document_ids)
        if filters.languages:
            wanted.append(sql.SQL("w.language = any(%(languages)s)"))
            values["languages"] = list(filters.languages)
        if filters.since is not None:
            wanted.append(sql.SQL("d.created_at >= %(since)s"))
            values["since"] = filters.since
        if filters.until is not None:
            wanted.append(sql.SQL("d.created_at < %(until)s"))
            values["until"] = filters.until
        conditions.append(
            sql.SQL(
                "exists (select 1 from document_version w join document d on d.id = w.document_id "
                "where {wanted})"
            ).format(wanted=sql.SQL(" and ").join(wanted))
        )
    return sql.SQL(" and ").join(conditions), values
