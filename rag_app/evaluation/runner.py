"""Runs questions whose right place is known through the query plane, one way after the other."""

import asyncio
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_app.errors import EvaluationSetError, SettingsError
from rag_app.evaluation import golden, metrics
from rag_app.evaluation.beir import read_evaluation_set
from rag_app.evaluation.configurations import Configuration
from rag_app.evaluation.corpus import OnProgress, say_nothing, store_corpus
from rag_app.language import detect_language
from rag_app.lexemes import IDENTIFIER, question_text
from rag_app.query import pipeline, reranking
from rag_app.query.pipeline import Query
from rag_app.query.results import Passage
from rag_app.query.syntax import parse_question
from rag_app.runtime import Runtime

REFERENCE = "hybrid"
COMPARED = ("mrr@10", "recall@10")
FEW_WORDS = 4
_FLOOR = re.compile(r"(?:(?P<name>[^:]+):)?(?P<measure>[^=:]+)=(?P<value>0?\.\d+|[01])")

Identify = Callable[[Sequence[Passage]], list[str]]
"""Returns what each passage is called in the judgements, best first."""


@dataclass(frozen=True)
class JudgedQuestion:
    """A question, the places that answer it, and how a passage is recognised as one of them."""

    id: str
    text: str
    judgements: Mapping[str, int]
    identify: Identify
    language: str
    kind: str


@dataclass(frozen=True)
class Floor:
    """What a measure of a configuration must reach, from 0 to 1."""

    configuration: str
    measure: str
    value: float


async def evaluate_folder(
    runtime: Runtime,
    configurations: Sequence[Configuration],
    on_progress: OnProgress = say_nothing,
    *,
    folder: Path,
) -> dict[str, Any]:
    """Return the measures of each configuration on a folder in BEIR form."""
    evaluation_set = await asyncio.to_thread(read_evaluation_set, folder)
    queries: dict[int | None, tuple[Query, Mapping[int, str]]] = {}
    for configuration in configurations:
        if configuration.chunk_tokens not in queries:
            queries[configuration.chunk_tokens] = await store_corpus(
                runtime, evaluation_set, on_progress, chunk_tokens=configuration.chunk_tokens
            )

    def identify(passages: Sequence[Passage]) -> list[str]:
        return metrics.unique(uris[passage.document_id] for passage in passages)

    uris = {document: uri for _, named in queries.values() for document, uri in named.items()}
    questions = [
        JudgedQuestion(
            question.id,
            question.text,
            evaluation_set.judgements[question.id],
            identify,
            str(question.metadata.get("language") or detect_language(question.text) or "unclear"),
            str(question.metadata.get("kind") or kind_of(question.text)),
        )
        for question in evaluation_set.questions
    ]
    report = await _measure_all(
        {name: query for name, (query, _) in queries.items()},
        questions,
        configurations,
        on_progress,
    )
    return {
        "set": evaluation_set.name,
        "documents": len(evaluation_set.documents),
        "questions": len(questions),
        "missing_documents": len(evaluation_set.missing_documents),
        "embedding_model": runtime.provider.embedder.model.name,
        **report,
    }


async def evaluate_golden(
    runtime: Runtime,
    configurations: Sequence[Configuration],
    on_progress: OnProgress = say_nothing,
) -> dict[str, Any]:
    """Return the measures of each configuration on the person's own questions.

    Counted are those whose place is known and still in the library; the others are named.
    """
    if any(configuration.chunk_tokens for configuration in configurations):
        raise EvaluationSetError(
            "Your own library is split as it is: compare chunk sizes on a folder in BEIR form."
        )
    found = await golden.list_questions(runtime.database, runtime.workspace_id)
    usable = [question for question in found if question.is_usable]
    if not usable:
        raise EvaluationSetError(
            "There is no question yet whose right place is known: mark an answer as right, or "
            "name the place of one that was wrong."
        )
    questions = [
        JudgedQuestion(
            str(question.id),
            question.question,
            {golden.RIGHT_PLACE: 1},
            question.identify,
            detect_language(question.question) or "unclear",
            kind_of(question.question),
        )
        for question in usable
    ]
    report = await _measure_all({None: runtime.query}, questions, configurations, on_progress)
    return {
        "set": golden.SET_NAME,
        "documents": len({place.document_id for q in usable for place in q.places}),
        "questions": len(questions),
        "open_questions": [question.question for question in found if not question.is_usable],
        "embedding_model": runtime.provider.embedder.model.name,
        **report,
    }


def parse_floors(texts: Sequence[str], configurations: Sequence[Configuration]) -> list[Floor]:
    """Read floors such as `mrr@10=0.9` or `rrf:recall@10=0.95`; raise SettingsError.

    Without a name a floor is for `hybrid`, or for the first configuration where that is not run.
    """
    names = [configuration.name for configuration in configurations]
    floors = []
    for text in texts:
        match = _FLOOR.fullmatch(text)
        if not match or match["measure"] not in metrics.MEASURES:
            raise SettingsError(
                f"{text!r} is no floor: say one as in mrr@10=0.9, with a measure among "
                f"{', '.join(metrics.MEASURES)}."
            )
        name = match["name"] or (REFERENCE if REFERENCE in names else names[0])
        if name not in names:
            raise SettingsError(f"The floor {text!r} is for {name}, which is not compared.")
        floors.append(Floor(name, match["measure"], float(match["value"])))
    return floors


def failed_floors(report: Mapping[str, Any], floors: Sequence[Floor]) -> list[str]:
    """Return a sentence for each measure that is below its floor."""
    sentences = []
    for floor in floors:
        found = report["configurations"][floor.configuration][floor.measure]
        if found < floor.value:
            sentences.append(
                f"{floor.measure} of {floor.configuration} is {100 * found:.1f} %, below the "
                f"floor of {100 * floor.value:.1f} %."
            )
    return sentences


def kind_of(question: str) -> str:
    """Return what kind of question this is: identifier, phrase, keywords or question."""
    if any(word.startswith(IDENTIFIER) for word in question_text(question).split()):
        return "identifier"
    if parse_question(question).phrases:
        return "phrase"
    is_short = len(question.split()) <= FEW_WORDS and not question.rstrip().endswith("?")
    return "keywords" if is_short else "question"


def table(report: Mapping[str, Any]) -> str:
    """Return a report as a Markdown table, measures in percent with their 95 % intervals."""
    measures = list(metrics.MEASURES)
    lines = [
        f"{report['set']}: {report['documents']} documents, {report['questions']} questions",
        "",
        f"| configuration | {' | '.join(measures)} | without hits | p50 ms | p95 ms |",
        "|" + " --- |" * (len(measures) + 4),
    ]
    for name, values in report["configurations"].items():
        cells = []
        for measure in measures:
            low, high = values["intervals"][measure]
            cells.append(f"{100 * values[measure]:.1f} ({100 * low:.1f}-{100 * high:.1f})")
        cells.append(str(values["questions_without_hits"]))
        cells.extend(f"{values[column]:.0f}" for column in ("p50_ms", "p95_ms"))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


async def _measure_all(
    queries: Mapping[int | None, Query],
    questions: Sequence[JudgedQuestion],
    configurations: Sequence[Configuration],
    on_progress: OnProgress,
) -> dict[str, Any]:
    names = [configuration.name for configuration in configurations]
    rankings: dict[str, dict[str, list[str]]] = {name: {} for name in names}
    times: dict[str, list[float]] = {name: [] for name in names}
    for done, question in enumerate(questions):
        await on_progress("ask", done, len(questions))
        # in turn, so a busy moment hits all alike, and each comes first as often as the others,
        # since the first one finds the rows cold
        first = done % len(configurations)
        for configuration in (*configurations[first:], *configurations[:first]):
            query = queries[configuration.chunk_tokens]
            started = time.perf_counter()
            passages = await _find(query, question.text, configuration)
            times[configuration.name].append((time.perf_counter() - started) * 1000)
            rankings[configuration.name][question.id] = question.identify(passages)
    # a second of resampling, in which a web process has others to answer
    return await asyncio.to_thread(_report, questions, names, rankings, times)


def _report(
    questions: Sequence[JudgedQuestion],
    names: Sequence[str],
    rankings: Mapping[str, Mapping[str, list[str]]],
    times: Mapping[str, Sequence[float]],
) -> dict[str, Any]:
    judgements = {question.id: question.judgements for question in questions}
    scores = {name: metrics.score_rankings(rankings[name], judgements) for name in names}
    reference = REFERENCE if REFERENCE in names else names[0]
    return {
        "configurations": {
            name: _measures(rankings[name], scores[name], times[name]) for name in names
        },
        "order": list(names),  # the database orders the keys of a report its own way
        "reference": reference,
        "differences": {
            name: {
                measure: _difference(scores[name][measure], scores[reference][measure])
                for measure in COMPARED
            }
            for name in names
            if name != reference
        },
        "by_language": _by_group(questions, scores, lambda question: question.language),
        "by_kind": _by_group(questions, scores, lambda question: question.kind),
        "per_question": [
            {
                "id": question.id,
                "question": question.text,
                "language": question.language,
                "kind": question.kind,
                "ranks": {name: _rank(rankings[name][question.id], question) for name in names},
            }
            for question in questions
        ],
    }


async def _find(query: Query, question: str, configuration: Configuration) -> list[Passage]:
    options = configuration.options
    found = list((await pipeline.retrieve(query, question, options)).passages)
    if not options.rerank:
        return found
    shown = list(found)
    if configuration.shuffles:
        random.Random(question).shuffle(shown)
    reranked = await reranking.rerank(
        question, shown, query.provider, limit=options.passages, timeout=options.rerank_seconds
    )
    if reranked.method == "none" or reranked.error:
        return found  # nobody judged, so a shuffled order means nothing
    kept = {passage.chunk_id for passage in reranked.passages}
    return [*reranked.passages, *(passage for passage in found if passage.chunk_id not in kept)]


def _measures(
    rankings: Mapping[str, Sequence[str]],
    scores: Mapping[str, Sequence[float]],
    times: Sequence[float],
) -> dict[str, Any]:
    estimates = {name: metrics.bootstrap(values) for name, values in scores.items()}
    return {
        **{name: estimate.mean for name, estimate in estimates.items()},
        "questions_without_hits": sum(not ranking for ranking in rankings.values()),
        "p50_ms": metrics.percentile(times, 0.5),
        "p95_ms": metrics.percentile(times, 0.95),
        "intervals": {name: [value.low, value.high] for name, value in estimates.items()},
    }


def _by_group(
    questions: Sequence[JudgedQuestion],
    scores: Mapping[str, Mapping[str, Sequence[float]]],
    group_of: Callable[[JudgedQuestion], str],
) -> dict[str, Any]:
    places: dict[str, list[int]] = defaultdict(list)
    for place, question in enumerate(questions):
        places[group_of(question)].append(place)
    return {
        group: {
            "questions": len(members),
            "configurations": {
                name: {
                    measure: metrics.mean([values[measure][place] for place in members])
                    for measure in COMPARED
                }
                for name, values in scores.items()
            },
        }
        for group, members in sorted(places.items(), key=lambda item: (-len(item[1]), item[0]))
    }


def _rank(ranking: Sequence[str], question: JudgedQuestion) -> int | None:
    right = {name for name, grade in question.judgements.items() if grade > 0}
    return next((rank for rank, name in enumerate(ranking, start=1) if name in right), None)


def _difference(first: Sequence[float], second: Sequence[float]) -> dict[str, float]:
    """Return the paired difference, and how many questions it rests on."""
    differing = sum(a != b for a, b in zip(first, second, strict=True))
    return _interval(metrics.bootstrap_difference(first, second)) | {"differing": differing}


def _interval(estimate: metrics.Estimate) -> dict[str, float]:
    return {"mean": estimate.mean, "low": estimate.low, "high": estimate.high}
