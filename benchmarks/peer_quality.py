"""Measures what other libraries' hybrids find on the same rows, question by question beside ours.

    python benchmarks/peer_quality.py FOLDER... --peers-python PATH [--output docs/peers.md]

Each FOLDER is a set in BEIR form. Its chunks and vectors are stored once, by the app, and copied
into each library's own table (retrieval_peer_server.py); all search the same vectors. "As it comes"
is each guide's first example, "best" the language of the texts, 50 + 50 rows and reciprocal rank
fusion, "scores" LlamaIndex's fusion of scores, which does better than ranks there.
"""

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.retrieval_peers import AS_THEY_COME, AT_THEIR_BEST, OURS, Peers
from rag_app.evaluation import metrics
from rag_app.evaluation.beir import EvaluationSet, read_evaluation_set
from rag_app.evaluation.configurations import BASES
from rag_app.evaluation.corpus import say_nothing, store_corpus
from rag_app.query import pipeline
from rag_app.query.pipeline import Query
from rag_app.runtime import Runtime, open_runtime
from rag_app.settings import load_settings

BEST = (*AT_THEIR_BEST, "llama-index, scores")
MEASURE = "mrr@10"

HEAD = """# What other libraries find

Written by `python benchmarks/peer_quality.py FOLDER... --peers-python PATH --output docs/peers.md`,
whose first lines say how each library is set up; versions in benchmarks/requirements-peers.in.
Figures in percent. "Gain" is what Pincite's MRR@10 is above a library's on the same questions, with
the 95 % interval of a bootstrap of the paired difference: where it does not hold 0, it is no
accident. "Empty" is the share of questions whose words the library finds nowhere.
"""

LANGUAGE = """
select language::text as language from chunk_text_index where workspace_id = %s
group by 1 order by count(*) desc, 1 limit 1
"""
CHUNK_DOCUMENTS = """
select c.id, d.uri from chunk c join document_version v on v.id = c.version_id
join document d on d.id = v.document_id where c.workspace_id = %s
"""


async def main() -> None:
    """Measure each folder and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--questions", type=int, default=600, help="of each set, the first so many")
    parser.add_argument("--peers-python", default="benchmarks/.venv-peers/bin/python")
    parser.add_argument("--output", type=Path)
    parsed = parser.parse_args()
    sections = [HEAD]
    async with open_runtime(load_settings()) as runtime:
        for folder in parsed.folders:
            evaluation_set = read_evaluation_set(folder)
            sections.append(
                await measure(runtime, evaluation_set, parsed.questions, parsed.peers_python)
            )
            print(sections[-1], flush=True)
    if parsed.output:
        parsed.output.write_text("\n".join(sections), encoding="utf-8")


async def measure(runtime: Runtime, evaluation_set: EvaluationSet, count: int, python: str) -> str:
    """Return the table of one set."""
    query, _ = await store_corpus(runtime, evaluation_set, say_nothing)
    async with runtime.database.reading() as connection:
        values = (query.workspace_id,)
        [row] = await (await connection.execute(LANGUAGE, values)).fetchall()
        found = await (await connection.execute(CHUNK_DOCUMENTS, values)).fetchall()
    uris = {row["id"]: row["uri"] for row in found}
    questions = evaluation_set.questions[:count]
    texts = [question.text for question in questions]
    vectors = [
        vector
        for text in texts
        for vector in await query.provider.embedder.embed([text], kind="query")
    ]
    rankings = {OURS: await ours(query, texts)}
    peers = Peers(python, runtime.database.dsn)
    try:
        for language, systems in (("english", AS_THEY_COME), (row["language"], BEST)):
            peers.call(do="fill", workspace_id=query.workspace_id, language=language)
            if systems is not AS_THEY_COME:
                peers.call(do="index")
            for system in systems:
                rankings[system] = [
                    peers.call(do="ask", system=system, text=text, vector=vector, source_type=None)[
                        "chunks"
                    ]
                    for text, vector in zip(texts, vectors, strict=True)
                ]
        empty = peers.call(do="and", texts=texts)["share"]
    finally:
        peers.stop()
    judgements = {question.id: evaluation_set.judgements[question.id] for question in questions}
    scores = {
        system: metrics.score_rankings(
            {
                question.id: [uris[chunk] for chunk in ranking]
                for question, ranking in zip(questions, ranked, strict=True)
            },
            judgements,
        )
        for system, ranked in rankings.items()
    }
    return table(evaluation_set, row["language"], scores, empty)


async def ours(query: Query, texts: Sequence[str]) -> list[list[int]]:
    """Return the chunks that Pincite finds for each question, best first."""
    found = [await pipeline.retrieve(query, text, BASES["hybrid"]) for text in texts]
    return [[passage.chunk_id for passage in one.passages] for one in found]


def table(
    evaluation_set: EvaluationSet,
    language: str,
    scores: Mapping[str, Mapping[str, Sequence[float]]],
    empty: float,
) -> str:
    """Return one set as Markdown."""
    count = len(scores[OURS][MEASURE])
    lines = [
        f"## {evaluation_set.name}",
        "",
        f"{len(evaluation_set.documents)} documents in {language}, {count} questions. LangChain "
        f"and Haystack look for all words of a question: {100 * empty:.0f} % of the questions find "
        "nothing that way.",
        "",
        "| system | recall@1 | recall@10 | MRR@10 | gain | questions better / worse |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for system, measures in scores.items():
        cells = [f"{100 * metrics.mean(measures[m]):.1f}" for m in ("recall@1", "recall@10")]
        cells.append(f"{100 * metrics.mean(measures[MEASURE]):.1f}")
        gain, sides = "", ""
        if system != OURS:
            pairs = list(zip(scores[OURS][MEASURE], measures[MEASURE], strict=True))
            change = metrics.bootstrap_difference(*zip(*pairs, strict=True))
            gain = f"{100 * change.mean:+.1f} ({100 * change.low:+.1f} to {100 * change.high:+.1f})"
            signs = Counter((a > b) - (a < b) for a, b in pairs)
            sides = f"{signs[1]} / {signs[-1]}"
        lines.append(f"| {system} | {' | '.join(cells)} | {gain} | {sides} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    asyncio.run(main())
