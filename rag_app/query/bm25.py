"""Okapi BM25 (Robertson & Zaragoza 2009) as an expression over a row of `chunk_text_index`."""

from collections.abc import Mapping
from dataclasses import dataclass

from psycopg import sql

K1 = 1.2
B = 0.75

# ts_rank of one lexeme is the sum of 1/j² up to its frequency, over ten times the sum up to
# infinity; what is missing there is 1 / (frequency + 1/2), so it gives the frequency back. Reading
# it from the unnested vector instead costs a row for each lexeme of the chunk.
FREQUENCY = "round(0.607927101854 / (1 - 10 * ts_rank({tsv}, {lexeme}::tsquery)::float8) - 0.5)"


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

    `chunks` and `average_lexemes` are the number of a language's chunks and their mean length.
    """

    terms: Mapping[str, tuple[Term, ...]]
    chunks: Mapping[str, int]
    average_lexemes: Mapping[str, float]

    def idf_total(self, language: str) -> float:
        """Return the sum of the idf of a language's terms: the BM25 of one that has all once."""
        return max(sum(term.idf for term in self.terms.get(language, ())), 1e-9)


def scores(question: QuestionTerms, table: sql.SQL) -> sql.Composable:
    """Return the expression for the BM25 of a row of `chunk_text_index`, whatever its language."""
    if not question.terms:
        return sql.SQL("0::float8")
    cases = [
        sql.SQL("when {language}::regconfig then {score}").format(
            language=sql.Literal(language), score=bm25(question, language, table)
        )
        for language in question.terms
    ]
    return sql.SQL("case {table}.language {cases} else 0 end").format(
        table=table, cases=sql.SQL(" ").join(cases)
    )


def bm25(question: QuestionTerms, language: str, table: sql.SQL) -> sql.Composable:
    """Return the expression for the BM25 of a row of one language."""
    tsv = sql.SQL("{table}.tsv").format(table=table)
    terms = question.terms[language]
    names = [sql.SQL(f"n{number}") for number in range(len(terms))]
    frequencies = [
        sql.SQL(FREQUENCY + " as {name}").format(
            tsv=tsv, lexeme=literal(quoted(term.lexeme)), name=name
        )
        for name, term in zip(names, terms, strict=True)
    ]
    parts = [
        sql.SQL("{idf}::float8 * {n} / ({n} + norm)").format(
            idf=sql.Literal(term.idf * (K1 + 1)), n=name
        )
        for name, term in zip(names, terms, strict=True)
    ]
    return sql.SQL(
        "(select {parts} from (select {frequencies}, "
        "{k1} * ({rest} + {b} * length({tsv}) / {average}::float8) as norm offset 0) x)"
    ).format(
        parts=sql.SQL(" + ").join(parts),
        frequencies=sql.SQL(", ").join(frequencies),
        k1=sql.Literal(K1),
        rest=sql.Literal(1 - B),
        b=sql.Literal(B),
        tsv=tsv,
        average=sql.Literal(question.average_lexemes[language]),
    )


def quoted(lexeme: str) -> str:
    """Return a lexeme as a tsquery operand."""
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def literal(text: str) -> sql.Literal:
    """Return text to write into a statement that also takes parameters."""
    return sql.Literal(text.replace("%", "%%"))
