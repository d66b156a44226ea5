"""The full-text leg: Okapi BM25 (Robertson & Zaragoza 2009) with a bounded number of candidates.

A chunk can only reach a high BM25 when the idf of the terms it holds add up to much. So the index
is asked for the chunks whose sum reaches a bar, written as a Boolean formula over the terms, with
the bar set by the terms' frequencies so that some hundred chunks pass; all of these get their
exact BM25. Ranking every match of a frequent word would be linear in the library.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from psycopg import sql

from rag_app.database.session import Connection
from rag_app.lexemes import IDENTIFIER, question_text
from rag_app.query.bm25 import QuestionTerms, Term, bm25, literal, quoted
from rag_app.query.compounds import stand_ins
from rag_app.query.results import Hit, Scope
from rag_app.query.scope import ScopeSize, visibility

WANTED_CANDIDATES = 200
"""Chunks expected to pass the bar: 99.5 % of the exact top 20 stand among them."""
WANTED_BY_ROOT = 0.4
"""The same as a share of the root of the library, where that is more: 400 of a million."""
MOST_CANDIDATES = 10_000  # when fewer passed than were wanted
MOST_FORMULA_TERMS = 8  # the rarest; the formula grows with the ways to reach the bar
STAND_IN_WEIGHT = 1.0  # what the parts of a compound count together, as parts of their idf
IDENTIFIER_WEIGHT = 3  # who names an identifier means it, not its neighbours that look alike

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

# the best of one language; `offset 0` keeps the frequencies from being computed twice
BEST = """
(select f.chunk_id, {score} as score, {total} as total from chunk_text_index f
 where f.workspace_id = %(workspace_id)s and f.language = {language}::regconfig
   and f.tsv @@ {formula}::tsquery and {required} and {visible}
 order by score desc, f.chunk_id limit %(limit)s)
"""


async def question_terms(connection: Connection, workspace_id: int, question: str) -> QuestionTerms:
    """Return the question's lexemes and their rarity, for every language of the library."""
    cursor = await connection.execute(
        QUESTION_TERMS, {"workspace_id": workspace_id, "text": question_text(question)}
    )
    terms: dict[str, dict[str, Term]] = defaultdict(dict)
    total: dict[str, int] = {}
    average: dict[str, float] = {}
    for row in await cursor.fetchall():
        language, lexeme = row["language"], row["lexeme"]
        total[language] = row["chunks"]
        average[language] = max(row["lexemes"] / row["chunks"], 1.0)
        terms[language][lexeme] = _term(language, lexeme, row["documents"], row["chunks"])
    missing = {
        language: [term.lexeme for term in found.values() if not term.documents]
        for language, found in terms.items()
    }
    for language, words in (await stand_ins(connection, workspace_id, missing)).items():
        for word, others in words.items():
            del terms[language][word]
            for lexeme, documents in others.items():
                term = _term(language, lexeme, documents, total[language])
                terms[language].setdefault(
                    lexeme, replace(term, idf=term.idf * STAND_IN_WEIGHT / len(others))
                )
    return QuestionTerms(
        {name: tuple(found.values()) for name, found in terms.items()}, total, average
    )


def _term(language: str, lexeme: str, documents: int, chunks: int) -> Term:
    documents = min(documents, chunks)
    idf = math.log(1 + (chunks - documents + 0.5) / (documents + 0.5))
    if lexeme.startswith(IDENTIFIER):
        idf *= IDENTIFIER_WEIGHT
    return Term(language, lexeme, documents, idf)


async def text_leg(
    connection: Connection,
    scope: Scope,
    size: ScopeSize,
    question: QuestionTerms,
    *,
    required: str = "",
    limit: int = 50,
) -> list[Hit]:
    """Return the chunks with the highest BM25, best first.

    `required` is what must hold besides, in `websearch_to_tsquery` syntax: quoted phrases and
    words with a minus.
    """
    # a filter or a phrase lets fewer pass
    share = min(1.0, size.chunks / max(1, sum(question.chunks.values())))
    wanted = max(WANTED_CANDIDATES, WANTED_BY_ROOT * math.sqrt(size.chunks))
    narrow = _formulas(question, wanted / max(share, 1e-9))
    hits = await _best(connection, scope, size, question, narrow, required, limit)
    if len(hits) < limit:
        wide = _formulas(question, MOST_CANDIDATES)
        if wide != narrow:
            hits = await _best(connection, scope, size, question, wide, required, limit)
    if not hits:
        # frequent words that never stand together: any of them is better than nothing
        hits = await _best(connection, scope, size, question, _any(question), required, limit)
    return hits


def requirement(required: str, table: sql.SQL) -> sql.Composable:
    """Return the condition that a row holds every phrase and none of the excluded words."""
    if not required:
        return sql.SQL("true")
    return sql.SQL("{table}.tsv @@ websearch_to_tsquery({table}.language, {text})").format(
        table=table, text=literal(question_text(required))
    )


def bar(terms: Sequence[Term], chunks: int, candidates: float) -> float:
    """Return the sum of idf that about so many chunks reach, if words fell independently.

    Words of one subject fall together, so more chunks pass than expected, not fewer.
    """
    held = [(0.0, float(chunks))]
    for term in terms:
        part = term.documents / chunks
        held = [(total + term.idf, expected * part) for total, expected in held] + [
            (total, expected * (1 - part)) for total, expected in held
        ]
    passing = 0.0
    for total, expected in sorted(held, reverse=True):
        passing += expected
        if passing >= candidates and total > 0:
            return total
    return min(term.idf for term in terms)


def formula(terms: Sequence[Term], needed: float) -> str:
    """Return a tsquery for the chunks whose terms reach a sum of idf; empty where none can."""
    if sum(term.idf for term in terms) < needed - 1e-9:
        return ""
    first, rest = terms[0], terms[1:]
    own = quoted(first.lexeme)
    if first.idf < needed - 1e-9:
        own = f"{own} & ({formula(rest, needed - first.idf)})"
    others = formula(rest, needed)
    return f"{own} | {others}" if others else own


def _formulas(question: QuestionTerms, candidates: float) -> dict[str, str]:
    """Return each language's formula for about so many candidates."""
    formulas = {}
    for language, terms in question.terms.items():
        found = sorted(
            (term for term in terms if term.documents), key=lambda term: (-term.idf, term.lexeme)
        )
        if sum(term.documents for term in found) <= candidates:
            formulas[language] = " | ".join(quoted(term.lexeme) for term in found)
        else:
            rarest = found[:MOST_FORMULA_TERMS]
            needed = bar(rarest, question.chunks[language], candidates)
            formulas[language] = formula(rarest, needed)
    return {language: text for language, text in formulas.items() if text}


def _any(question: QuestionTerms) -> dict[str, str]:
    """Return each language's formula for the chunks that hold at least one term."""
    formulas = {
        language: " | ".join(quoted(term.lexeme) for term in terms if term.documents)
        for language, terms in question.terms.items()
    }
    return {language: text for language, text in formulas.items() if text}


async def _best(
    connection: Connection,
    scope: Scope,
    size: ScopeSize,
    question: QuestionTerms,
    formulas: Mapping[str, str],
    required: str,
    limit: int,
) -> list[Hit]:
    if not formulas:
        return []
    table = sql.SQL("f")
    visible, values = visibility(scope, sql.SQL("f.version_id"), size)
    selects = [
        sql.SQL(BEST).format(
            score=bm25(question, language, table),
            total=sql.Literal(question.idf_total(language)),
            language=sql.Literal(language),
            formula=literal(text),
            required=requirement(required, table),
            visible=visible,
        )
        for language, text in formulas.items()
    ]
    statement = sql.SQL(
        "select chunk_id, score, score / total as share from ({found}) found "
        "order by share desc, score desc, chunk_id limit %(limit)s"
    ).format(found=sql.SQL(" union all ").join(selects))
    rows = await (await connection.execute(statement, values | {"limit": limit})).fetchall()
    return [
        Hit(chunk_id=row["chunk_id"], rank=rank, score=row["score"], share=row["share"])
        for rank, row in enumerate(rows, start=1)
    ]
