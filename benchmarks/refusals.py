"""Measures when the quotes answer refuses: rightly, and wrongly.

    python benchmarks/refusals.py FOLDER... [--questions 300] [--output docs/refusals.md]

Each FOLDER is a set in BEIR form whose documents are paragraphs of articles that share a title.
Half of the articles are searched (a filter, so nothing is stored twice), and each question is asked
of the half that holds its article, of the other half, and of its own half without its paragraph:

- answerable: its paragraph is there; a refusal is false.
- article missing: nothing on its subject is there; a refusal is right.
- paragraph missing: the subject is known and the answer is not; a refusal is right, and hard.

No language model runs. The sets are read from where they are; figures are in percent.
"""

import argparse
import asyncio
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rag_app.evaluation.beir import EvaluationSet, read_evaluation_set
from rag_app.evaluation.configurations import BASES
from rag_app.evaluation.corpus import say_nothing, store_corpus
from rag_app.evaluation.metrics import bootstrap
from rag_app.providers.base import Provider
from rag_app.query import pipeline
from rag_app.query.pipeline import Query
from rag_app.query.results import Filters, Finished
from rag_app.runtime import Runtime, open_runtime
from rag_app.settings import load_settings

SEED = 5
CASES = ("answerable", "article missing", "paragraph missing")

HEAD = """# When the answer is not there

Written by `python benchmarks/refusals.py FOLDER...`, whose first lines say how the questions are
made. Share of questions refused by the quotes answer (no language model), in percent, with the 95 %
interval of a bootstrap: low is good in the first column, high in the others. The bars of
`rag_app/query/quoting.py` were chosen on questions of these sets: expect a little less elsewhere.

| set | questions | answerable: refused | article missing: refused | paragraph missing: refused |
| --- | --- | --- | --- | --- |
"""


async def main() -> None:
    """Measure each folder and write the table."""
    parser = argparse.ArgumentParser(description="Measure right and false refusals.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--output", type=Path)
    parsed = parser.parse_args()
    lines = []
    async with open_runtime(load_settings()) as runtime:
        for folder in parsed.folders:
            evaluation_set = read_evaluation_set(folder)
            refused = await measure(runtime, evaluation_set, parsed.questions)
            cells = []
            for case in CASES:
                estimate = bootstrap(refused[case])
                cells.append(
                    f"{100 * estimate.mean:.1f} "
                    f"({100 * estimate.low:.1f}-{100 * estimate.high:.1f})"
                )
            lines.append(
                f"| {evaluation_set.name} | {len(refused[CASES[0]])} | {' | '.join(cells)} |"
            )
            print(lines[-1], flush=True)
    if parsed.output:
        parsed.output.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


async def measure(
    runtime: Runtime, evaluation_set: EvaluationSet, count: int
) -> dict[str, list[float]]:
    """Return for each case whether each question was refused, 1 or 0."""
    query, uris = await store_corpus(runtime, evaluation_set, say_nothing)
    query = replace(query, provider=Provider(query.provider.embedder))
    ids = {uri: document_id for document_id, uri in uris.items()}
    article = {document.id: document.title for document in evaluation_set.documents}
    shuffled = random.Random(SEED)
    articles = sorted(set(article.values()))
    half = set(shuffled.sample(articles, len(articles) // 2))
    inside = [ids[uri] for uri, title in article.items() if title in half]
    outside = [ids[uri] for uri, title in article.items() if title not in half]
    questions = list(evaluation_set.questions)
    shuffled.shuffle(questions)
    refused: dict[str, list[float]] = {case: [] for case in CASES}
    for question in questions[:count]:
        right = [
            ids[uri]
            for uri, grade in evaluation_set.judgements[question.id].items()
            if grade > 0 and uri in ids
        ]
        if not right:
            continue
        own, other = (inside, outside) if set(right) <= set(inside) else (outside, inside)
        searched = (own, other, [document for document in own if document not in right])
        for case, documents in zip(CASES, searched, strict=True):
            refused[case].append(await is_refused(query, question.text, documents))
    return refused


async def is_refused(query: Query, question: str, documents: Sequence[int]) -> float:
    """Ask among some documents, and return 1 when the answer is that there is none."""
    filters = Filters(document_ids=tuple(sorted(documents)))
    options = replace(BASES["hybrid"], filters=filters)
    async for event in pipeline.ask(query, question, (), options):
        if isinstance(event, Finished):
            return float(event.answer.abstained)
    raise AssertionError("a turn without a model always finishes")


if __name__ == "__main__":
    asyncio.run(main())
