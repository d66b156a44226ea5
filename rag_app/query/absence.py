"""What a person is told when nothing answers: which words occur nowhere, and what was searched."""

import re

from psycopg import sql

from rag_app.database.session import Connection
from rag_app.lexemes import question_text
from rag_app.query.results import Absence, Scope
from rag_app.query.scope import visibility
from rag_app.query.syntax import parse_question
from rag_app.query.terms import content_terms, terms

MOST_WORDS = 24

_WORD = re.compile(r"[^\W_](?:[\w'’./:@-]*\w)?(?:\+\+|#)?")

# the words that no chunk of the scope holds, in any of its languages
NOWHERE = """
select w.word from unnest(%(words)s::text[], %(texts)s::text[]) with ordinality w(word, text, place)
where not exists (
  select 1 from language_statistics l join chunk_text_index t
    on t.workspace_id = l.workspace_id and t.language = l.language
  where l.workspace_id = %(workspace_id)s and l.chunks > 0
    and t.tsv @@ plainto_tsquery(l.language, w.text) and {visible})
order by w.place
"""

SEARCHED = """
select v.source_type, count(*) as documents from (
  select distinct d.id, d.source_type from document_version v
  join document d on d.id = v.document_id
  where v.workspace_id = %(workspace_id)s and {visible}) v
group by v.source_type order by 1
"""


async def explain_absence(
    connection: Connection, scope: Scope, question: str, language: str | None = None
) -> Absence:
    """Return which words of a question occur nowhere in its scope; no model is asked."""
    words = subject_words(question, language)
    visible, values = visibility(scope, sql.SQL("t.version_id"))
    values |= {"words": words, "texts": [question_text(word) for word in words]}
    statement = sql.SQL(NOWHERE).format(visible=visible)
    missing = await (await connection.execute(statement, values)).fetchall()
    visible, values = visibility(scope, sql.SQL("v.id"))
    statement = sql.SQL(SEARCHED).format(visible=visible)
    searched = await (await connection.execute(statement, values)).fetchall()
    return Absence(
        tuple(row["word"] for row in missing),
        {row["source_type"]: row["documents"] for row in searched},
    )


def subject_words(question: str, language: str | None = None) -> list[str]:
    """Return the words of a question that carry its subject, as they are spelled, each once."""
    text = parse_question(question).text
    wanted = frozenset(content_terms(text, language))
    found = (
        word
        for word in _WORD.findall(text)
        if word.endswith(("+", "#")) or not wanted.isdisjoint(terms(word))
    )
    return list(dict.fromkeys(found))[:MOST_WORDS]
