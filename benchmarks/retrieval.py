"""Measures both legs of a question: time, recall against exact search, filters, people at once.

    python benchmarks/retrieval.py --chunks 10000,100000 [--peers] [--output FILE.json]

Builds generated libraries (see retrieval_library.py) under --home, or in a temporary folder that
goes again, and asks them through `pipeline.retrieve` with a stored vector in the place of the
model. Percentiles are medians over the rounds. --output keeps the figures of sizes it does not
measure this time, and also writes docs/retrieval-speed.md.
--peers also asks other libraries' hybrids, turn by turn on the same server (retrieval_peers.py).
"""

import argparse
import asyncio
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import retrieval_library as library
from benchmarks.retrieval_peers import Peers
from benchmarks.retrieval_table import markdown
from rag_app.database.server import start_server
from rag_app.database.session import migrate, open_database
from rag_app.library.snapshots import register_model
from rag_app.providers.base import EmbeddingModel, Provider
from rag_app.query import pipeline
from rag_app.query.pipeline import Query, QueryOptions
from rag_app.query.results import Filters, Scope
from rag_app.query.scope import ScopeSize, measure_scope
from rag_app.query.vector_leg import vector_leg

MODEL = EmbeddingModel("benchmark/384", library.DIMENSIONS, centre=0.3, spread=0.6)
OTHER_MODEL = 999  # without vectors: the text leg alone
PLACES = 20
TABLE = Path(__file__).resolve().parents[1] / "docs" / "retrieval-speed.md"
KINDS = ("typical", "hard")
FILTERS = Filters(source_types=(library.RARE_SOURCE,))


class StoredVectors:
    """An embedder that knows the vector of each question beforehand."""

    model = MODEL

    def __init__(self, questions: Sequence[library.Question]) -> None:
        self.vectors = {question.text: question.vector for question in questions}

    async def embed(self, texts: Sequence[str], *, kind: str) -> list[list[float]]:
        """Return the stored vectors."""
        return [self.vectors[text] for text in texts]


def percentiles(rounds: Sequence[Sequence[float]]) -> dict[str, float]:
    """Return the medians over the rounds of p50 and p95, in milliseconds."""
    return {
        f"p{p}": round(statistics.median(float(np.percentile(ms, p)) for ms in rounds), 1)
        for p in (50, 95)
    }


async def ask(
    query: Query, questions: Sequence[library.Question], people: int = 1, **options: object
) -> tuple[list[float], list[pipeline.Retrieval]]:
    """Ask all questions, so many at once, and return the milliseconds of each and what it found."""
    waiting = list(enumerate(questions))
    taken: list[float] = [0.0] * len(questions)
    found: dict[int, pipeline.Retrieval] = {}

    async def person() -> None:
        while waiting:
            number, question = waiting.pop(0)
            started = time.perf_counter()
            found[number] = await pipeline.retrieve(query, question.text, QueryOptions(**options))  # type: ignore[arg-type]
            taken[number] = (time.perf_counter() - started) * 1000

    await asyncio.gather(*(person() for _ in range(people)))
    return taken, [found[number] for number in range(len(questions))]


async def measure_text(
    query: Query, questions: Sequence[library.Question], folder: Path, rounds: int
) -> dict[str, object]:
    """Return the text leg's times, alone, and how much of the exact top 20 it finds."""
    alone = replace(query, model_id=OTHER_MODEL)
    await ask(alone, questions)
    spans, found = [], []
    for _ in range(rounds):
        _, found = await ask(alone, questions)
        spans.append([one.timings_ms["text"] for one in found])
    tokens = library.read_tokens(folder)
    lengths = library.distinct_words(tokens)
    overlaps = []
    for question, one in zip(questions, found, strict=True):
        exact = library.exact_bm25(tokens, lengths, question)
        bar = np.partition(exact, -PLACES)[-PLACES] - 1e-4
        ids = [chunk_id for chunk_id, *_ in one.log["text_leg"][:PLACES]]  # type: ignore[index]
        overlaps.append(sum(exact[chunk_id - 1] >= bar for chunk_id in ids) / PLACES)
    return {
        **percentiles(spans),
        "overlap_at_20": round(statistics.fmean(overlaps), 3),
        "worst_overlap": min(overlaps),
    }


async def measure_vector(
    query: Query, questions: Sequence[library.Question], scope: Scope, rounds: int
) -> dict[str, object]:
    """Return the vector leg's times, alone, filled places and recall against exact search."""

    async def leg(question: library.Question, size: ScopeSize) -> list[int]:
        async with query.database.reading() as connection:
            hits = await vector_leg(
                connection, scope, size, question.vector, model_id=query.model_id
            )
        return [hit.chunk_id for hit in hits[:PLACES]]

    async with query.database.reading() as connection:
        size = await measure_scope(connection, scope)
    exact = [set(await leg(question, replace(size, chunks=0))) for question in questions]
    spans, found = [], []
    for _ in range(rounds + 1):
        span, found = [], []
        for question in questions:
            started = time.perf_counter()
            found.append(await leg(question, size))
            span.append((time.perf_counter() - started) * 1000)
        spans.append(span)
    recalls = [
        len(right.intersection(ids)) / len(right) for right, ids in zip(exact, found, strict=True)
    ]
    return {
        **percentiles(spans[1:]),
        "recall_at_20": round(statistics.fmean(recalls), 4),
        "worst_recall": round(min(recalls), 2),
        "filled_places": round(statistics.fmean(len(ids) for ids in found), 1),
    }


async def measure_whole(
    query: Query,
    questions: Sequence[library.Question],
    rounds: int,
    people: int = 1,
    **options: object,
) -> dict[str, object]:
    """Return the times of whole retrievals: both legs, both scores, fusion, passages."""
    await ask(query, questions, people, **options)
    spans, found, seconds = [], [], []
    for _ in range(rounds):
        started = time.perf_counter()
        span, found = await ask(query, questions, people, **options)
        seconds.append(time.perf_counter() - started)
        spans.append(span)
    return {
        **percentiles(spans),
        "questions_a_second": round(len(questions) / statistics.median(seconds), 1),
        "filled_places": round(statistics.fmean(len(one.passages) for one in found), 1),
    }


async def run_size(home: Path, chunks: int, parsed: argparse.Namespace) -> dict[str, object]:
    """Return every figure of one library."""
    server = await asyncio.to_thread(start_server, home)
    try:
        await asyncio.to_thread(migrate, server.dsn)
        questions = {kind: library.draw_questions(kind, parsed.questions) for kind in KINDS}
        both = [question for kind in KINDS for question in questions[kind]]
        async with open_database(server.dsn) as database:
            model_id = await register_model(database, MODEL)
            started = time.perf_counter()
            await asyncio.to_thread(
                library.build_library, server.dsn, home, chunks, workspace_id=1, model_id=model_id
            )
            build_seconds = time.perf_counter() - started
            query = Query(database, Provider(StoredVectors(both)), 1, model_id, len)
            typical, rounds = questions["typical"], parsed.rounds
            snapshot = Scope(1, 1)
            report = {
                "chunks": chunks,
                "build_seconds": round(build_seconds),
                "load_before": round(os.getloadavg()[0], 1),
                "text_leg": {
                    kind: await measure_text(query, questions[kind], home, rounds) for kind in KINDS
                },
                "vector_leg": await measure_vector(query, both, snapshot, rounds),
                "vector_leg_filter_1_percent": await measure_vector(
                    query, both, Scope(1, 1, FILTERS), rounds
                ),
                "retrieve": {
                    kind: await measure_whole(query, questions[kind], rounds) for kind in KINDS
                },
                "retrieve_8_at_once": await measure_whole(query, both, rounds, people=8),
                "retrieve_filter_1_percent": await measure_whole(
                    query, typical, rounds, filters=FILTERS
                ),
            }
            if parsed.peers:
                peers = Peers(parsed.peers_python, server.dsn)
                report["peers"] = await peers.compare(query, questions, rounds, FILTERS)
            report["load_after"] = round(os.getloadavg()[0], 1)
            return report
    finally:
        await asyncio.to_thread(server.stop)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", default="10000,100000")
    parser.add_argument("--questions", type=int, default=40, help="of each kind")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--peers-python", default="benchmarks/.venv-peers/bin/python")
    parser.add_argument("--home", type=Path, help="kept, so the next run need not build")
    parser.add_argument("--output", type=Path)
    parsed = parser.parse_args()
    folder = parsed.home or Path(tempfile.mkdtemp(prefix="pincite-benchmark-"))
    folder.chmod(0o755)
    reports = []
    try:
        for chunks in (int(size) for size in parsed.chunks.split(",")):
            home = folder / f"chunks-{chunks}"
            home.mkdir(parents=True, exist_ok=True)
            reports.append(asyncio.run(run_size(home, chunks, parsed)))
            print(json.dumps(reports[-1], indent=2), flush=True)
    finally:
        if parsed.home is None:
            shutil.rmtree(folder, ignore_errors=True)
    if parsed.output:
        kept = json.loads(parsed.output.read_text()) if parsed.output.exists() else []
        by_size = {report["chunks"]: report for report in [*kept, *reports]}
        reports = [by_size[size] for size in sorted(by_size)]
        parsed.output.write_text(json.dumps(reports, indent=2) + "\n")
        TABLE.write_text(markdown(reports))


if __name__ == "__main__":
    main()
