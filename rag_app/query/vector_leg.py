"""The vector leg: the chunks nearest to a vector, by index or, in a small scope, exactly."""

import math
from collections.abc import Sequence

from pgvector import HalfVector
from psycopg import sql

from rag_app.database.session import Connection
from rag_app.query.results import Hit, Scope
from rag_app.query.scope import EXACT_UP_TO_CHUNKS, ScopeSize, visibility

SMALLEST_BREADTH, LARGEST_BREADTH = 120, 1000  # the index takes no more

# `scope` is an optimisation fence: without it the planner would take the index and lose rows
EXACT = """
with scope as materialized (select e.chunk_id, e.vector from embedding e
  where e.model_id = {model_id} and e.workspace_id = %(workspace_id)s and {visible})
select chunk_id, {distance} as distance from scope order by distance, chunk_id limit %(limit)s
"""

# sorted again outside, since a relaxed scan may hand rows over slightly out of order
INDEXED = """
with nearest as materialized (select e.chunk_id, e.{distance} as distance
  from embedding e where e.model_id = {model_id}
  and e.workspace_id = %(workspace_id)s and {visible}
  order by e.{distance} limit %(limit)s)
select chunk_id, distance from nearest order by distance, chunk_id
"""


async def vector_leg(
    connection: Connection,
    scope: Scope,
    size: ScopeSize,
    vector: Sequence[float],
    *,
    model_id: int,
    limit: int = 50,
) -> list[Hit]:
    """Return the chunks nearest to `vector`, nearest first; `score` is the cosine."""
    visible, values = visibility(scope, sql.SQL("e.version_id"), size)
    is_exact = size.chunks <= EXACT_UP_TO_CHUNKS
    if not is_exact:
        await connection.execute(
            "select set_config('hnsw.ef_search', %s, false)", (str(breadth(size.chunks)),)
        )
    # the model and its dimensions as literals: a generic plan could not use a partial index
    statement = sql.SQL(EXACT if is_exact else INDEXED).format(
        model_id=sql.Literal(model_id), distance=distance_to(len(vector)), visible=visible
    )
    values |= {"vector": HalfVector(list(vector)), "limit": limit}
    rows = await (await connection.execute(statement, values)).fetchall()
    return [
        Hit(chunk_id=row["chunk_id"], rank=rank, score=1 - row["distance"])
        for rank, row in enumerate(rows, start=1)
    ]


def breadth(chunks: int) -> int:
    """Return how many nodes of the index a search keeps in view (HNSW's ef_search).

    It grows with the root of the library: 190 at 100,000 chunks and 600 at a million, which keeps
    recall above 0.97 of exact search at both (docs/retrieval-speed.md); 100 would find 0.93 there.
    """
    return max(SMALLEST_BREADTH, min(LARGEST_BREADTH, round(0.6 * math.sqrt(chunks))))


def distance_to(dimensions: int) -> sql.Composable:
    """Return the distance of a row's vector to the parameter `vector`, as the index has it.

    The parameter goes in binary: as text, 384 numbers take longer to write than to compare.
    """
    return sql.SQL("vector::halfvec({n}) <=> %(vector)b::halfvec({n})").format(
        n=sql.Literal(dimensions)
    )
