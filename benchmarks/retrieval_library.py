"""A generated library in the app's own tables: Zipf words, vectors with neighbours, questions.

The rows go in by COPY and the indexes are built after, so that a million chunks take minutes; what
stands in the tables in the end is what ingestion would have put there. The token numbers stay in
a file beside the database, so exact BM25 can be computed without any of the app's code.
"""

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql

WORDS_A_CHUNK = 120
CHUNKS_A_DOCUMENT = 50
VOCABULARY = 80_000
DIMENSIONS = 384
LATENT_DIMENSIONS = 64
CLUSTERS = 600
RARE_SOURCE = "youtube"  # of one document in a hundred: the 1 % filter
BATCH = 5_000
K1, B = 1.2, 0.75
GRAPH_BYTES_A_CHUNK = 1_400

INDEXES = ("chunk_text_index_tsv", "chunk_text_index_version")
COPIES = {
    "document": "copy document (id, workspace_id, source_type, uri, title, status) from stdin",
    "version": (
        "copy document_version (id, document_id, workspace_id, content_hash, content, language, "
        "chunk_count) from stdin"
    ),
    "membership": "copy membership (workspace_id, version_id, added_in) from stdin",
    "chunk": (
        'copy chunk (id, workspace_id, version_id, ordinal, content, start, "end", page, language, '
        "tokens) from stdin"
    ),
    "embedding": (
        "copy embedding (chunk_id, model_id, workspace_id, version_id, vector) "
        "from stdin with (format binary)"
    ),
}
LEXEMES = """
insert into chunk_text_index (chunk_id, workspace_id, version_id, language, tsv)
select id, workspace_id, version_id, language, to_tsvector(language, content) from chunk
where workspace_id = %s order by id
"""
LANGUAGE_STATISTICS = """
insert into language_statistics (workspace_id, language, chunks, lexemes)
select workspace_id, language, count(*), sum(length(tsv)) from chunk_text_index
where workspace_id = %s group by 1, 2
"""
TERM_STATISTICS = """
insert into term_statistics (workspace_id, language, term, documents)
select %s, 'english', word, ndoc from ts_stat('select tsv from chunk_text_index') order by word
"""


@dataclass(frozen=True)
class Question:
    """A question as words, as token numbers and as a vector."""

    text: str
    tokens: tuple[int, ...]
    vector: list[float]


def make_words() -> list[str]:
    """Return pseudo-words in the order of their rank; the English stemmer leaves them alone."""
    syllables = [a + b for a, b in itertools.product("bdfgkmnprtvz", "aou")]
    longest = itertools.product(syllables, repeat=3)
    words = ["".join(parts) + "k" for parts in longest]
    words += ["".join(parts) + "m" for parts in itertools.product(syllables, repeat=3)]
    return [words[i] for i in np.random.default_rng(1).permutation(len(words))[:VOCABULARY]]


def zipf(ranks: np.ndarray) -> np.ndarray:
    """Return cumulated probabilities, proportional to 1 / rank."""
    return np.cumsum(1 / ranks) / np.sum(1 / ranks)


class VectorSource:
    """600 clusters that overlap, in 64 latent dimensions: near neighbours exist, borders do not."""

    def __init__(self) -> None:
        generator = np.random.default_rng(2)
        self.centres = generator.normal(size=(CLUSTERS, LATENT_DIMENSIONS))
        self.projection = generator.normal(size=(LATENT_DIMENSIONS, DIMENSIONS))

    def draw(self, generator: np.random.Generator, count: int) -> np.ndarray:
        """Return unit vectors."""
        latent = self.centres[generator.integers(CLUSTERS, size=count)]
        latent = latent + generator.normal(size=latent.shape) * 1.2
        vectors = latent @ self.projection + generator.normal(size=(count, DIMENSIONS)) * 0.8
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def draw_questions(kind: str, count: int) -> list[Question]:
    """Return questions of six words: "typical" of rank 100 to 5,000, "hard" 5 to 3,000."""
    low, high = {"typical": (100, 5_000), "hard": (5, 3_000)}[kind]
    generator = np.random.default_rng(low)
    words, vectors = make_words(), VectorSource().draw(generator, count)
    questions = []
    for vector in vectors:
        ranks: set[int] = set()
        while len(ranks) < 6:
            ranks.add(round(math.exp(generator.uniform(math.log(low), math.log(high)))))
        tokens = tuple(sorted(rank - 1 for rank in ranks))
        questions.append(Question(" ".join(words[t] for t in tokens), tokens, vector.tolist()))
    return questions


def build_library(dsn: str, folder: Path, chunks: int, *, workspace_id: int, model_id: int) -> None:
    """Fill an empty database, unless an earlier run has."""
    done = folder / f"library-{chunks}.json"
    if done.exists():
        return
    documents = range(1, math.ceil(chunks / CHUNKS_A_DOCUMENT) + 1)
    with psycopg.connect(dsn) as connection:
        register_vector(connection)
        definitions = _drop_indexes(connection, model_id)
        connection.execute(
            "insert into snapshot (workspace_id, number, embedding_model_id, reason) "
            "values (%s, 1, %s, 'benchmark')",
            (workspace_id, model_id),
        )
        connection.execute("update workspace set live_snapshot = 1 where id = %s", (workspace_id,))
        rows = {
            "document": (
                (d, workspace_id, source_type(d), f"https://example.org/{d}", f"Text {d}", "ready")
                for d in documents
            ),
            "version": (
                (d, d, workspace_id, str(d), "", "english", CHUNKS_A_DOCUMENT) for d in documents
            ),
            "membership": ((workspace_id, d, 1) for d in documents),
        }
        for name, table in rows.items():
            with connection.cursor().copy(COPIES[name]) as copy:
                for row in table:
                    copy.write_row(row)
        _copy_chunks(connection, folder, chunks, workspace_id)
        _copy_vectors(connection, chunks, workspace_id, model_id)
        for statement in (LEXEMES, LANGUAGE_STATISTICS, TERM_STATISTICS):
            connection.execute(statement, (workspace_id,))
        memory = max(512, GRAPH_BYTES_A_CHUNK * chunks // 1_000_000)
        connection.execute(f"set maintenance_work_mem = '{memory}MB'")
        for definition in definitions:
            connection.execute(definition)
        connection.commit()
        connection.autocommit = True
        connection.execute("vacuum analyze")
    done.write_text(json.dumps({"chunks": chunks}))


def source_type(document: int) -> str:
    """Return where a document came from: one in a hundred is a recording."""
    return RARE_SOURCE if document % 100 == 7 else "pdf"


def read_tokens(folder: Path) -> np.ndarray:
    """Return the token numbers of every chunk, one row each; chunk 1 stands in row 0."""
    return np.load(folder / "tokens.npy", mmap_mode="r")


def exact_bm25(tokens: np.ndarray, lengths: np.ndarray, question: Question) -> np.ndarray:
    """Return the BM25 of every chunk, from the numbers alone."""
    scores = np.zeros(len(tokens))
    norm = K1 * (1 - B + B * lengths / lengths.mean())
    for token in question.tokens:
        frequency = (tokens == token).sum(axis=1)
        documents = np.count_nonzero(frequency)
        idf = math.log(1 + (len(tokens) - documents + 0.5) / (documents + 0.5))
        scores += idf * frequency * (K1 + 1) / (frequency + norm)
    return scores


def distinct_words(tokens: np.ndarray) -> np.ndarray:
    """Return how many different words each chunk has."""
    lengths = [
        (np.diff(np.sort(block, axis=1), axis=1) != 0).sum(axis=1) + 1
        for block in np.array_split(tokens, max(1, len(tokens) // 50_000))
    ]
    return np.concatenate(lengths)


def _drop_indexes(connection: psycopg.Connection, model_id: int) -> list[str]:
    names = [*INDEXES, f"embedding_vector_{model_id}"]
    rows = connection.execute(
        "select indexname, indexdef from pg_indexes where indexname = any(%s)", (names,)
    ).fetchall()
    for name, _ in rows:
        connection.execute(sql.SQL("drop index {}").format(sql.Identifier(name)))
    return [definition for _, definition in rows]


def _batches(chunks: int) -> Iterator[tuple[int, int]]:
    for start in range(0, chunks, BATCH):
        yield start, min(BATCH, chunks - start)


def _copy_chunks(
    connection: psycopg.Connection, folder: Path, chunks: int, workspace_id: int
) -> None:
    words = np.array(make_words())
    cumulated = zipf(np.arange(1, VOCABULARY + 1))
    generator = np.random.default_rng(3)
    tokens = np.lib.format.open_memmap(
        folder / "tokens.npy", mode="w+", dtype=np.int32, shape=(chunks, WORDS_A_CHUNK)
    )
    with connection.cursor().copy(COPIES["chunk"]) as copy:
        for start, size in _batches(chunks):
            block = np.searchsorted(cumulated, generator.random((size, WORDS_A_CHUNK)))
            tokens[start : start + size] = block
            for row, line in enumerate(words[block].tolist(), start=start):
                text = " ".join(line)
                document, ordinal = divmod(row, CHUNKS_A_DOCUMENT)
                place = (ordinal * 1_000, ordinal * 1_000 + len(text), ordinal // 3 + 1)
                copy.write_row(
                    (row + 1, workspace_id, document + 1, ordinal, text, *place, "english", 160)
                )
    tokens.flush()


def _copy_vectors(
    connection: psycopg.Connection, chunks: int, workspace_id: int, model_id: int
) -> None:
    source, generator = VectorSource(), np.random.default_rng(4)
    with connection.cursor().copy(COPIES["embedding"]) as copy:
        copy.set_types(["int8", "int4", "int8", "int8", "halfvec"])
        for start, size in _batches(chunks):
            for row, vector in enumerate(source.draw(generator, size), start=start):
                version = row // CHUNKS_A_DOCUMENT + 1
                copy.write_row((row + 1, model_id, workspace_id, version, HalfVector(vector)))
