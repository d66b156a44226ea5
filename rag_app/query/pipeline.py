"""Asks one question: rewrite, two legs, fuse, diversify, rerank, pack, answer, ground."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial

from rag_app.database.session import Connection, Database
from rag_app.errors import ProviderError
from rag_app.language import detect_language
from rag_app.providers.base import Provider
from rag_app.query import answering, fusion, grounding, quoting, reranking, retrieval, rewriting
from rag_app.query.absence import explain_absence
from rag_app.query.bm25 import QuestionTerms
from rag_app.query.context import pack_context
from rag_app.query.fusion import TEXT_WEIGHT
from rag_app.query.markers import MarkerFilter
from rag_app.query.results import (
    Absence,
    Candidate,
    Context,
    Delta,
    Event,
    Failed,
    Filters,
    Finished,
    History,
    Hit,
    Passage,
    Retrieved,
    Rewritten,
    Scope,
)
from rag_app.query.retrieval import Scored
from rag_app.query.scope import ScopeSize, measure_scope, open_scope
from rag_app.query.syntax import clean_question, parse_question
from rag_app.query.text_leg import question_terms, text_leg
from rag_app.query.vector_leg import vector_leg

CountTokens = Callable[[str], int]
REMEMBERED_SIZES = 256


@dataclass(frozen=True)
class Query:
    """What asking needs; one for all questions of a process."""

    database: Database
    provider: Provider
    workspace_id: int
    model_id: int
    count_tokens: CountTokens
    # a snapshot never changes, so a scope is measured once
    scope_sizes: dict[Scope, ScopeSize] = field(default_factory=dict)


@dataclass(frozen=True)
class QueryOptions:
    """How a question is answered; the defaults are what the evaluation shows best."""

    fusion: str = "calibrated"
    text_weight: float = TEXT_WEIGHT
    leg_limit: int = 50
    candidates: int = 20
    passages: int = 8
    budget_tokens: int = 3000
    rewrite: bool = True
    hypothetical: bool = False
    diversity: bool = True
    rerank: bool = True
    rewrite_seconds: float = 8.0
    rerank_seconds: float = 15.0
    filters: Filters = field(default_factory=Filters)


@dataclass(frozen=True)
class Retrieval:
    """What was found for a question, best first, and how."""

    passages: tuple[Passage, ...]
    scope: Scope
    notice: str
    timings_ms: Mapping[str, float]
    log: Mapping[str, object]


@dataclass(frozen=True)
class Embedded:
    """What was embedded for the vector leg; without a vector `notice` says why."""

    text: str
    vector: Sequence[float] | None
    notice: str = ""


class Stopwatch:
    """Measures named spans in milliseconds."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.spans: dict[str, float] = {}

    def since(self, started: float) -> float:
        """Return the milliseconds since a `time.perf_counter()`."""
        return round((time.perf_counter() - started) * 1000, 2)

    def record(self, name: str, started: float) -> None:
        """Keep how long something took."""
        self.spans[name] = self.since(started)


async def ask(
    query: Query, question: str, history: History = (), options: QueryOptions | None = None
) -> AsyncIterator[Event]:
    """Answer a question; yields Rewritten, Retrieved, Delta…, Finished, or Failed at any point."""
    options = options or QueryOptions()
    watch = Stopwatch()
    chat_model = query.provider.chat_model

    started = time.perf_counter()
    standalone = question
    if options.rewrite:
        standalone = await rewriting.standalone_question(
            chat_model, question, history, timeout=options.rewrite_seconds
        )
    watch.record("rewrite", started)
    yield Rewritten(standalone)

    found = await retrieve(query, standalone, options)
    watch.spans |= found.timings_ms
    started = time.perf_counter()
    reranked = await reranking.rerank(
        standalone,
        found.passages,
        query.provider if options.rerank else Provider(query.provider.embedder),
        limit=options.passages,
        timeout=options.rerank_seconds,
    )
    watch.record("rerank", started)
    packing = pack_context(
        reranked.passages, budget=options.budget_tokens, count_tokens=query.count_tokens
    )
    context = packing.context
    model = query.provider.embedder.model.name
    log: dict[str, object] = {
        **found.log,
        "standalone_question": standalone,
        "rerank": {
            "method": reranked.method,
            "error": reranked.error,
            "order": list(reranked.order),
        },
        "packing": [asdict(packed) for packed in packing.passages],
        "context": [passage.chunk_id for passage in context.passages],
        "context_tokens": context.tokens,
        "timings_ms": dict(watch.spans),
    }
    yield Retrieved(context.passages, found.scope.snapshot, model, found.notice, log)

    text = ""
    method = "model"
    lead = quoting.lead_of(found.passages, query.provider.embedder.model)
    async for piece in _write(query, question, standalone, history, context, lead, watch):
        if isinstance(piece, Failed):
            yield replace(piece, text=text)
            return
        if isinstance(piece, Delta):
            text += piece.text
            yield piece
        else:
            method = piece
    started = time.perf_counter()
    similarity = await grounding.embedded_similarity(text, context, query.provider.embedder)
    answer = grounding.ground(text, context, similarity=similarity)
    watch.record("ground", started)
    absence = await _absence(query, found.scope, standalone) if answer.abstained else None
    watch.record("total", watch.started)
    yield Finished(
        question=question,
        standalone_question=standalone,
        answer=answer,
        snapshot=found.scope.snapshot,
        embedding_model=model,
        timings_ms=dict(watch.spans),
        log={
            **log,
            "answered_by": method,
            "absence": absence.as_json() if absence else None,
            "timings_ms": dict(watch.spans),
        },
        absence=absence,
    )


async def _absence(query: Query, scope: Scope, question: str) -> Absence:
    async with query.database.reading() as connection:
        return await explain_absence(connection, scope, question, detect_language(question))


async def _write(
    query: Query,
    question: str,
    standalone: str,
    history: History,
    context: Context,
    lead: float,
    watch: Stopwatch,
) -> AsyncIterator[Delta | Failed | str]:
    """Yield the answer's text in clean pieces; first of all by whom, where it is not the model.

    A model that fails before its first word is replaced by quotes; one that breaks off later leaves
    what it wrote.
    """
    if not context.passages:
        yield "nothing found"
        yield Delta(answering.abstention(detect_language(question)))
        return
    chat_model = query.provider.chat_model
    wrote, why = False, "no model"
    if chat_model is not None:
        why = "the model gave no text"
        markers = MarkerFilter(len(context.passages))
        try:
            async for piece in answering.stream_answer(chat_model, question, history, context):
                if clean := markers.feed(piece):
                    if not wrote:
                        watch.record("first_token", watch.started)
                    wrote = True
                    yield Delta(clean)
            if rest := markers.finish():
                wrote = True
                yield Delta(rest)
        except ProviderError as error:
            if wrote:
                yield Failed(f"The answer broke off: {error}")
                return
            why = f"the model failed: {error}"
        if wrote:
            return
    yield f"quotes: {why}"
    text = await quoting.quote_answer(standalone, context, query.provider.embedder, lead=lead)
    watch.record("first_token", watch.started)
    yield Delta(text)


async def retrieve(
    query: Query, question: str, options: QueryOptions | None = None, snapshot: int | None = None
) -> Retrieval:
    """Return the candidates for a standalone question, best first.

    Both legs run at the same time, each on a connection of its own; the full-text leg does not
    wait for the embedding. Without vectors of the configured model in the snapshot, or when the
    model does not answer, the full-text leg goes on alone and `notice` says why.
    """
    options = options or QueryOptions()
    watch = Stopwatch()
    async with query.database.reading() as connection:
        scope, has_vectors = await open_scope(
            connection,
            query.workspace_id,
            options.filters,
            model_id=query.model_id,
            pinned=snapshot,
        )
        size = await _measure(query, connection, scope)
    parsed = parse_question(clean_question(question))

    async def search_vectors() -> tuple[Embedded, list[Hit]]:
        if not has_vectors:
            return Embedded(parsed.text, None, "model_changed"), []
        started = time.perf_counter()
        embedded = await _embed(query, parsed.text, options)
        if embedded.vector is None:
            return embedded, []
        watch.record("embed", started)
        started = time.perf_counter()
        async with query.database.reading() as connection:
            hits = await vector_leg(
                connection,
                scope,
                size,
                embedded.vector,
                model_id=query.model_id,
                limit=options.leg_limit,
            )
        watch.record("vector", started)
        return embedded, hits

    async def search_text() -> tuple[QuestionTerms, list[Hit], str]:
        started = time.perf_counter()
        async with query.database.reading() as connection:
            terms = await question_terms(connection, query.workspace_id, parsed.text)
            leg = partial(text_leg, connection, scope, size, terms, limit=options.leg_limit)
            required = parsed.required
            hits = await leg(required=required)
            if parsed.phrases and not hits:
                # a title in quotes, say, that the library has in another language
                required = parsed.excluded
                hits = await leg(required=required)
        watch.record("text", started)
        return terms, hits, required

    (embedded, vector_hits), (terms, text_hits, required) = await asyncio.gather(
        search_vectors(), search_text()
    )
    model = query.provider.embedder.model
    async with query.database.reading() as connection:
        started = time.perf_counter()
        scored = await retrieval.score_candidates(
            connection,
            scope,
            list({hit.chunk_id for hit in (*vector_hits, *text_hits)}),
            question=terms,
            vector=embedded.vector,
            model_id=query.model_id,
            required=required,
        )
        fused = fusion.fuse(
            options.fusion,
            fusion.FusionInput(
                vector_hits, text_hits, scored, model.centre, model.spread, options.text_weight
            ),
        )
        kept = fused[: options.candidates]
        if options.diversity:
            documents = {candidate.chunk_id: candidate.document_id for candidate in scored}
            kept = fusion.diversify(fused, documents, limit=options.candidates)
        passages = await retrieval.load_passages(connection, query.workspace_id, kept)
    watch.record("fuse", started)
    return Retrieval(
        passages=tuple(passages),
        scope=scope,
        notice=embedded.notice,
        timings_ms=watch.spans,
        log={
            "snapshot": scope.snapshot,
            "scope_chunks": size.chunks,
            "embedding_model": model.name,
            "calibration": [model.centre, model.spread],
            "options": _plain_options(options),
            "notice": embedded.notice,
            "searched": parsed.text,
            "required": required,
            "hypothetical": embedded.text if embedded.text != parsed.text else "",
            **_log(vector_hits, text_hits, scored, fused, kept, terms, passages),
        },
    )


async def _embed(query: Query, text: str, options: QueryOptions) -> Embedded:
    """Return the vector of a question, or of a passage that a model imagined as its answer."""
    wanted, kind = text, "query"
    try:
        if options.hypothetical and query.provider.chat_model is not None:
            wanted = await rewriting.hypothetical_passage(
                query.provider.chat_model, text, timeout=options.rewrite_seconds
            )
            kind = "query" if wanted == text else "passage"
        [vector] = await query.provider.embedder.embed([wanted], kind=kind)  # type: ignore[arg-type]
    except ProviderError as error:
        return Embedded(wanted, None, f"model_failed: {error}")
    return Embedded(wanted, vector)


async def _measure(query: Query, connection: Connection, scope: Scope) -> ScopeSize:
    if scope not in query.scope_sizes:
        if len(query.scope_sizes) >= REMEMBERED_SIZES:
            query.scope_sizes.clear()
        query.scope_sizes[scope] = await measure_scope(connection, scope)
    return query.scope_sizes[scope]


def _log(
    vector_hits: Sequence[Hit],
    text_hits: Sequence[Hit],
    scored: Sequence[Scored],
    fused: Sequence[Candidate],
    kept: Sequence[Candidate],
    terms: QuestionTerms,
    passages: Sequence[Passage],
) -> dict[str, object]:
    """Return how the candidates were found, as plain values that `xray` reads.

    The terms are whole, with what BM25 takes, since the library's own move on with each
    publication; the kept passages' places outlive their documents.
    """
    shares = {candidate.chunk_id: candidate.text_share for candidate in scored}
    return {
        "terms": {
            language: {
                "chunks": terms.chunks[language],
                "average_lexemes": terms.average_lexemes[language],
                "lexemes": [[term.lexeme, term.documents, term.idf] for term in found],
            }
            for language, found in terms.terms.items()
        },
        "vector_leg": [[hit.chunk_id, round(hit.score, 5)] for hit in vector_hits],
        "text_leg": [[hit.chunk_id, round(hit.score, 4), round(hit.share, 4)] for hit in text_hits],
        "fused": [
            [
                candidate.chunk_id,
                round(candidate.score, 5),
                None if candidate.distance is None else round(1 - candidate.distance, 5),
                round(shares[candidate.chunk_id], 4),
            ]
            for candidate in fused
        ],
        "kept": [candidate.chunk_id for candidate in kept],
        "places": [
            [p.chunk_id, p.document_id, p.title, p.page, p.second, p.heading] for p in passages
        ],
    }


def _plain_options(options: QueryOptions) -> dict[str, object]:
    filters = {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in asdict(options.filters).items()
    }
    return asdict(options) | {"filters": filters}
