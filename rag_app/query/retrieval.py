"""The vector leg, the full-text leg, both scores of every candidate, and load_passages().

The legs are bounded, pinned to one snapshot, and filtered before they rank. The full-text leg is
Okapi BM25 (Robertson & Zaragoza 2009) over candidates from the question's rarest terms, since
ranking every match of a frequent word is linear in the library.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pgvector import HalfVector
from psycopg import sql

from rag_app.database.session import Connection, Database
from rag_app.lexemes import question_text
from rag_app.library.links import passage_link
from rag_app.query.results import Candidate, Filters, Hit, Passage, Scope

EXACT_UP_TO_CHUNKS = 10_000  # below, a scan costs 2 us a row and finds everything
CANDIDATE_BUDGET = 10_000  # chunks that the rarest terms may bring in
RANKED_CANDIDATES = 200  # of these, so many get their true BM25
K1 = 1.2
B = 0.75

# each language's share of the workspace, and the question's lexemes under its configuration
QUESTION_TERMS = """
select l.language::text as language, l.chunks, l.lexemes, q.lexeme,
       coalesce(t.documents, 0) as documents
from language_statistics l
cross join lateral unnest(tsvector_to_array(to_tsvector(l.language, %(text)s))) q(lexeme)
left join term_statistics t on t.workspace_id = l.workspace_id and t.language = l.language
  and t.term = q.lexeme
where l.workspace_id = %(workspace_id)s and l.chunks > 0
order by 1, 4
"""

PASSAGES = """
select c.id as chunk_id, v.document_id, c.version_id, d.title, d.uri, d.source_type,
       c.language::text as language, c.ordinal, c.content as text, c.start, c."end" as "end",
       c.page, c.second, c.heading
from chunk c join document_version v on v.id = c.version_id join document d on d.id = v.document_id
where c.id = any(%(ids)s) and c.workspace_id = %(workspace_id)s
"""


@dataclass(frozen=True)
class Term:
    """A lexeme of the question in one language, with its rarity there."""

    language: str
    lexeme: str
    documents: int
    idf: float


@dataclass(frozen=True)
class QuestionTerms:
    """The question as the full-text leg sees it, language by language.

    `average_lexemes` is the mean length of a chunk; `idf_total` the sum over all terms of a
    language, the highest BM25 share a chunk of it could reach.
    """

    terms: Mapping[str, tuple[Term, ...]]
    average_lexemes: Mapping[str, float]

    def idf_total(self, language: str) -> float:
        """Return the sum of the idf of all of the question's terms in a language."""
        return sum(term.idf for term in self.terms[language])


@dataclass(frozen=True)
class Scored:
    """Both scores of a candidate, whichever leg found it; None where there is no vector."""

    chunk_id: int
    document_id: int
    ordinal: int
    distance: float | None
    text_score: float
    text_share: float


async def count_chunks(database: Database, scope: Scope) -> int:
    """Return how many chunks the scope holds."""
    visible, values = visibility(scope, sql.SQL("v.id"))
    statement = sql.SQL(
        "select coalesce(sum(v.chunk_count), 0) as n from document_version v "
        "where v.workspace_id = %(workspace_id)s and {visible}"
    ).format(visible=visible)
    async with database.connection() as connection:
        row = await (await connection.execute(statement, values)).fetchone()
    return int(row["n"]) if row else 0


async def question_terms(database: Database, workspace_id: int, question: str) -> QuestionTerms:
    """Return the question's lexemes and their rarity, for every language of the library."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            QUESTION_TERMS, {"workspace_id": workspace_id, "text": question_text(question)}
        )
        rows = await cursor.fetchall()
    terms: dict[str, list[Term]] = defaultdict(list)
    average: dict[str, float] = {}
    for row in rows:
        language, chunks = row["language"], row["chunks"]
        documents = min(row["documents"], chunks)
        idf = math.log(1 + (chunks - documents + 0.5) / (documents + 0.5))
        terms[language].append(Term(language, row["lexeme"], documents, idf))
        average[language] = max(row["lexemes"] / chunks, 1.0)
    return QuestionTerms({language: tuple(found) for language, found in terms.items()}, average)


async def vector_leg(
    database: Database,
    scope: Scope,
    vector: Sequence[float],
    *,
    model_id: int,
    chunks: int,
    limit: int = 50,
) -> list[Hit]:
    """Return the chunks nearest to `vector`, nearest first; `score` is the cosine.

    `chunks` is the size of the scope: a small one is searched exactly.
    """
    visible, values = visibility(scope, sql.SQL("e.version_id"))
    # the model and its dimensions as literals: a generic plan could not use a partial index
    parts = {
        "model_id": sql.Literal(model_id),
        "distance": sql.SQL("vector::halfvec({n}) <=> %(vector)s::halfvec({n})").format(
            n=sql.Literal(len(vector))
        ),
        "visible": visible,
    }
    if chunks <= EXACT_UP_TO_CHUNKS:
        statement = sql.SQL(
            "with scope as materialized (select e.chunk_id, e.vector from embedding e "
            "where e.model_id = {model_id} and e.workspace_id = %(workspace_id)s and {visible}) "
            "select chunk_id, {distance} as distance from scope order by distance, chunk_id "
            "limit %(limit)s"
        ).format(**parts)
    else:
        # sorted again outside, since a relaxed scan may hand rows over slightly out of order
        statement = sql.SQL(
            "with nearest as materialized (select e.chunk_id, e.{distance} as distance "
            "from embedding e where e.model_id = {model_id} "
            "and e.workspace_id = %(workspace_id)s and {visible} "
            "order by e.{distance} limit %(limit)s) "
            "select chunk_id, distance from nearest order by distance, chunk_id"
        ).format(**parts)
    values |= {"vector": HalfVector(list(vector)), "limit": limit}
    async with database.connection() as connection:
        rows = await (await connection.execute(statement, values)).fetchall()
    return [
        Hit(chunk_id=row["chunk_id"], rank=rank, score=1 - row["distance"])
        for rank, row in enumerate(rows, start=1)
    ]


async def text_leg(
    database: Database,
    scope: Scope,
    question: QuestionTerms,
    *,
    required: str = "",
    limit: int = 50,
) -> list[Hit]:
    """Return the chunks with the highest BM25, best first.

    `required` is what must hold besides, in `websearch_to_tsquery` syntax: quoted phrases and
    words with a minus.
    """
    wanted = candidate_terms(question)
    if not wanted:
        return []
    visible, values = visibility(scope, sql.SQL("f.version_id"))
    selects = [
        sql.SQL(
            "(select f.chunk_id, f.language, f.tsv, {weight} as weight from chunk_text_index f "
            "where f.workspace_id = %(workspace_id)s and f.language = {language}::regconfig "
            "and f.tsv @@ {query}::tsquery and {required} and {visible} "
            "order by weight desc, f.chunk_id limit {ranked})"
        ).format(
            weight=_coordination(question.terms[language]),
            language=sql.Literal(language),
            query=sql.Literal(" | ".join(_quoted(term.lexeme) for term in terms)),
            required=_required(required, sql.SQL("f")),
            visible=visible,
            ranked=sql.Literal(RANKED_CANDIDATES),
        )
        for language, terms in wanted.items()
    ]
    statement = sql.SQL(
        "with found as materialized ({found}), "
        "term(language, lexeme, idf, average, total) as (values {terms}) "
        "select c.chunk_id, b.score, b.share from found c, lateral ({bm25}) b "
        "order by b.share desc, b.score desc, c.chunk_id limit %(limit)s"
    ).format(found=sql.SQL(" union all ").join(selects), terms=_term_rows(question), bm25=BM25)
    async with database.connection() as connection:
        rows = await (await connection.execute(statement, values | {"limit": limit})).fetchall()
    return [
        Hit(chunk_id=row["chunk_id"], rank=rank, score=row["score"], share=row["share"])
        for rank, row in enumerate(rows, start=1)
        if row["score"] is not None
    ]


# the BM25 of the row `c`; its share is measured against a chunk that holds every term once
BM25 = sql.SQL(
    "select sum(t.idf * cardinality(u.positions) * {k1_plus_1} / (cardinality(u.positions) "
    "+ {k1} * ({rest} + {b} * length(c.tsv) / t.average))) as score, "
    "sum(t.idf * cardinality(u.positions) * {k1_plus_1} / (cardinality(u.positions) "
    "+ {k1} * ({rest} + {b} * length(c.tsv) / t.average))) / max(t.total) as share "
    "from unnest(c.tsv) u join term t on t.lexeme = u.lexeme and t.language = c.language"
).format(
    k1=sql.Literal(K1), k1_plus_1=sql.Literal(K1 + 1), b=sql.Literal(B), rest=sql.Literal(1 - B)
)


def candidate_terms(question: QuestionTerms) -> dict[str, list[Term]]:
    """Return, language by language, the rarest terms that bring in a bounded number of chunks."""
    wanted: dict[str, list[Term]] = {}
    for language, terms in question.terms.items():
        total = 0
        for term in sorted(terms, key=lambda term: (term.documents, term.lexeme)):
            if term.documents == 0:
                continue
            total += term.documents
            if total > CANDIDATE_BUDGET and language in wanted:
                break
            wanted.setdefault(language, []).append(term)
    return wanted


async def score_candidates(
    database: Database,
    scope: Scope,
    chunk_ids: Sequence[int],
    *,
    question: QuestionTerms,
    vector: Sequence[float] | None,
    model_id: int,
    required: str = "",
) -> list[Scored]:
    """Return both scores of every candidate that the scope holds.

    Each leg knows its own score only; fusing scores needs both. What does not stand in the
    snapshot, or lacks a required phrase, is left out, whatever a leg said.
    """
    visible, values = visibility(scope, sql.SQL("c.version_id"))
    distance: sql.Composable = sql.SQL("null::float8")
    if vector is not None:
        distance = sql.SQL("e.vector::halfvec({n}) <=> %(vector)s::halfvec({n})").format(
            n=sql.Literal(len(vector))
        )
        values["vector"] = HalfVector(list(vector))
    bm25: sql.Composable = sql.SQL("select null::float8 as score, null::float8 as share")
    terms: sql.Composable = sql.SQL("('simple'::regconfig, '', 0::float8, 1::float8, 1::float8)")
    if question.terms:
        bm25, terms = BM25, _term_rows(question)
    statement = sql.SQL(
        "with term(language, lexeme, idf, average, total) as (values {terms}) "
        "select c.chunk_id, v.document_id, k.ordinal, {distance} as distance, "
        "coalesce(b.score, 0) as score, coalesce(b.share, 0) as share "
        "from chunk_text_index c join chunk k on k.id = c.chunk_id "
        "join document_version v on v.id = c.version_id "
        "left join embedding e on e.chunk_id = c.chunk_id and e.model_id = {model_id} "
        "left join lateral ({bm25}) b on true "
        "where c.chunk_id = any(%(ids)s) and c.workspace_id = %(workspace_id)s "
        "and {required} and {visible} order by c.chunk_id"
    ).format(
        terms=terms,
        distance=distance,
        bm25=bm25,
        model_id=sql.Literal(model_id),
        required=_required(required, sql.SQL("c")),
        visible=visible,
    )
    async with database.connection() as connection:
        rows = await (
            await connection.execute(statement, values | {"ids": list(chunk_ids)})
        ).fetchall()
    return [
        Scored(
            chunk_id=row["chunk_id"],
            document_id=row["document_id"],
            ordinal=row["ordinal"],
            distance=row["distance"],
            text_score=row["score"],
            text_share=row["share"],
        )
        for row in rows
    ]


async def load_passages(
    database: Database, workspace_id: int, candidates: Sequence[Candidate]
) -> list[Passage]:
    """Return the candidates' chunks with title and locator, in the order given."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            PASSAGES,
            {
                "ids": [candidate.chunk_id for candidate in candidates],
                "workspace_id": workspace_id,
            },
        )
        rows = {row["chunk_id"]: row for row in await cursor.fetchall()}
    return [
        _passage(rows[candidate.chunk_id], candidate)
        for candidate in candidates
        if candidate.chunk_id in rows
    ]


async def has_vectors(connection: Connection, scope: Scope, model_id: int) -> bool:
    """Say whether the snapshot was published on this model's vectors."""
    cursor = await connection.execute(
        "select embedding_model_id = %s as same from snapshot "
        "where workspace_id = %s and number = %s",
        (model_id, scope.workspace_id, scope.snapshot),
    )
    row = await cursor.fetchone()
    return row is None or bool(row["same"])


def visibility(scope: Scope, version: sql.SQL) -> tuple[sql.Composable, dict[str, Any]]:
    """Return the condition that a version stands in the scope, and the values it takes."""
    conditions: list[sql.Composable] = [
        sql.SQL(
            "exists (select 1 from membership m where m.version_id = {version} "
            "and m.workspace_id = %(workspace_id)s and m.added_in <= %(snapshot)s "
            "and (m.removed_in is null or m.removed_in > %(snapshot)s))"
        ).format(version=version)
    ]
    values: dict[str, Any] = {"workspace_id": scope.workspace_id, "snapshot": scope.snapshot}
    filters = scope.filters
    if filters != Filters():
        wanted: list[sql.Composable] = [sql.SQL("w.id = {version}").format(version=version)]
        if filters.source_types:
            wanted.append(sql.SQL("d.source_type = any(%(source_types)s)"))
            values["source_types"] = list(filters.source_types)
        if filters.document_ids:
            wanted.append(sql.SQL("d.id = any(%(document_ids)s)"))
            values["document_ids"] = list(filters.document_ids)
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


def _passage(row: Mapping[str, Any], candidate: Candidate) -> Passage:
    link = passage_link(
        row["source_type"],
        row["document_id"],
        row["uri"],
        page=row["page"],
        second=row["second"],
        start=row["start"],
        text=row["text"],
    )
    passage = Passage(**row, link=link)
    return replace(
        passage, score=candidate.score, distance=candidate.distance, legs=dict(candidate.legs)
    )


def _coordination(terms: Sequence[Term]) -> sql.Composable:
    """Return the sum of the idf of the terms a chunk holds: a cheap first ranking."""
    return sql.SQL(" + ").join(
        sql.SQL("(f.tsv @@ {query}::tsquery)::int * {idf}::float8").format(
            query=sql.Literal(_quoted(term.lexeme)), idf=sql.Literal(term.idf)
        )
        for term in terms
        if term.documents
    )


def _term_rows(question: QuestionTerms) -> sql.Composable:
    return sql.SQL(", ").join(
        sql.SQL("({}::regconfig, {}::text, {}::float8, {}::float8, {}::float8)").format(
            sql.Literal(term.language),
            sql.Literal(term.lexeme),
            sql.Literal(term.idf),
            sql.Literal(question.average_lexemes[language]),
            sql.Literal(max(question.idf_total(language), 1e-9)),
        )
        for language, terms in question.terms.items()
        for term in terms
    )


def _required(required: str, table: sql.SQL) -> sql.Composable:
    if not required:
        return sql.SQL("true")
    return sql.SQL("{table}.tsv @@ websearch_to_tsquery({table}.language, {text})").format(
        table=table, text=sql.Literal(question_text(required))
    )


def _quoted(lexeme: str) -> str:
    """Return a lexeme as a tsquery operand."""
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"
