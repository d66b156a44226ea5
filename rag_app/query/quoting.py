"""Answers without a model: the best sentences of the best passages, verbatim, each with its [n].

It is the last step of the fallback chain and not a mock: what it says stands in the library, and
where nothing fits it says so.
"""

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rag_app.errors import ProviderError
from rag_app.language import detect_language
from rag_app.providers.base import Embedder, EmbeddingModel
from rag_app.query.answering import abstention
from rag_app.query.context import plain_text
from rag_app.query.results import Context, Passage
from rag_app.query.spans import Span, bounded, is_whole, sentence_spans, spans_of
from rag_app.query.terms import (
    CLOSE,
    best_closeness,
    content_terms,
    coverage,
    is_number,
    rarity,
    terms,
)

log = logging.getLogger(__name__)

ANSWERABLE = 1.06
"""Evidence (share of words, similarity and lead) from which on a question is answered."""

ANSWERABLE_ABROAD = 0.6
"""The same where question and passages differ in language, so that words can share little."""

LEAD_WEIGHT = 0.4
"""What the lead counts in the evidence, beside words and similarity."""

USUAL_LEAD = 0.25
"""What stands in for the lead in a library too small to have one."""

ANSWERABLE_BY_WORDS = 0.35
"""The same where no similarity is known."""

_MOST_SENTENCES = 3
_MOST_A_DOCUMENT = 2
_GOOD_ENOUGH = 0.8  # of the best sentence's score, for a further one to be quoted
_RANK_COST = 0.1  # each place further down a passage's sentences must be that much better
_COPY = 0.8  # of a sentence's words in one chosen before: it says nothing new
_FIRST_OF_THE_CROWD, _SMALLEST_CROWD = 4, 4
_EMBEDDED_SENTENCES = 16  # about 0.15 s on an idle core; 40 choose no better


@dataclass(frozen=True)
class Quote:
    """A sentence with what speaks for it.

    `words` is the weighted share of the question's words in the sentence, `passage_words` that of
    its passage with title and heading; `similarity` compares meanings, about 0 to 1, where known.
    """

    marker: int
    passage: Passage
    span: Span
    words: float
    passage_words: float
    similarity: float | None = None

    @property
    def score(self) -> float:
        """How well the sentence fits; the passage's place counts, as it was judged with care."""
        return self.words + (self.similarity or 0.0) - _RANK_COST * (self.marker - 1)


async def quote_answer(
    question: str,
    context: Context,
    embedder: Embedder | None = None,
    *,
    lead: float = USUAL_LEAD,
    limit: int = _MOST_SENTENCES,
) -> str:
    """Return one to `limit` sentences of the context, each verbatim with its [n], or abstain.

    `lead` is what `lead_of` found. With an embedder the most promising sentences are also compared
    by meaning; without one, or when it fails, words alone decide. Each sentence is a paragraph of
    its own.
    """
    language = detect_language(question)
    quotes = candidate_quotes(question, context.passages, language)
    if embedder is not None and quotes:
        try:
            quotes = await _with_similarity(question, quotes, embedder)
        except ProviderError as error:
            log.warning("sentences are chosen by words alone: %s", error)
    if not is_answerable(quotes, language, lead=lead):
        return abstention(language)
    return "\n\n".join(_written(quote, question) for quote in best_quotes(quotes, limit=limit))


def candidate_quotes(
    question: str, passages: Sequence[Passage], language: str | None = None
) -> list[Quote]:
    """Return every sentence of the passages with its share of the question's words."""
    spans = [sentence_spans(passage) for passage in passages]
    weights = _weights(question, [span.terms for found in spans for span in found], language)
    quotes: list[Quote] = []
    for marker, (passage, found) in enumerate(zip(passages, spans, strict=True), start=1):
        named = frozenset(terms(f"{passage.title} {passage.heading or ''}"))
        everything = named.union(*(span.terms for span in spans_of(passage.text)))
        passage_words = coverage(weights, everything)
        quotes.extend(
            Quote(marker, passage, span, coverage(weights, span.terms), passage_words)
            for span in found
        )
    return quotes


def best_quotes(quotes: Sequence[Quote], *, limit: int = _MOST_SENTENCES) -> list[Quote]:
    """Choose the sentences to show: the best, and further ones nearly as good that add something.

    At most two a document. They stand in the order of their passages, the best one's first, and
    within a passage as they stand there.
    """
    ranked = sorted(quotes, key=lambda quote: (-quote.score, quote.marker, quote.span.start))
    chosen: list[Quote] = []
    for quote in ranked:
        if len(chosen) == limit or (chosen and quote.score < _GOOD_ENOUGH * chosen[0].score):
            break
        same_document = [
            other for other in chosen if other.passage.document_id == quote.passage.document_id
        ]
        if len(same_document) < _MOST_A_DOCUMENT and not any(_repeats(quote, o) for o in chosen):
            chosen.append(quote)
    order = list(dict.fromkeys(quote.marker for quote in chosen))
    return sorted(chosen, key=lambda quote: (order.index(quote.marker), quote.span.start))


def lead_of(found: Sequence[Passage], model: EmbeddingModel) -> float:
    """Return how far the nearest candidate stands above the crowd, on the model's own scale.

    The crowd are those from the fifth place on. A question that the library answers has one or few
    passages that are much nearer than the rest; to any other question all are about as far.
    """
    cosines = sorted((1 - p.distance for p in found if p.distance is not None), reverse=True)
    crowd = cosines[_FIRST_OF_THE_CROWD:]
    if len(crowd) < _SMALLEST_CROWD:
        return USUAL_LEAD
    return (cosines[0] - math.fsum(crowd) / len(crowd)) / model.spread


def is_answerable(
    quotes: Sequence[Quote], language: str | None = None, *, lead: float = USUAL_LEAD
) -> bool:
    """Tell whether sentences hold enough of a question to be shown as its answer.

    Neither words nor a cosine can tell it alone: an unrelated passage shares common words, and the
    cosines of right and wrong passages overlap. Their sum separates them, since a wrong passage is
    seldom near in both. Evidence is the best sentence's similarity, plus its share of the
    question's words, the latter averaged with its passage's, so that a question answered over two
    sentences is not refused, plus the lead of the nearest candidate. Where the passage is in
    another language than the question, words are not expected and the bar is lower.

    How often it is right stands in docs/refusals.md. What it cannot see is a question on a subject
    the library knows whose very answer is missing.
    """
    if not quotes:
        return False
    best = max(quotes, key=lambda quote: (quote.score, -quote.marker))
    shared = (best.words + best.passage_words) / 2
    if best.similarity is None:
        return shared >= ANSWERABLE_BY_WORDS
    passage_language = detect_language(best.passage.text)
    is_abroad = bool(language and passage_language and language != passage_language)
    evidence = shared + best.similarity + LEAD_WEIGHT * lead
    return evidence >= (ANSWERABLE_ABROAD if is_abroad else ANSWERABLE)


def calibrated(cosine: float, model: EmbeddingModel) -> float:
    """Map a cosine of a model to about 0 (unrelated) .. 1 (a very good hit)."""
    return (cosine - model.centre) / model.spread


async def _with_similarity(
    question: str, quotes: Sequence[Quote], embedder: Embedder
) -> list[Quote]:
    """Return the most promising quotes with their similarity to the question."""
    promising = sorted(quotes, key=lambda quote: (-quote.score, quote.marker, quote.span.start))
    promising = promising[:_EMBEDDED_SENTENCES]
    [wanted] = await embedder.embed([question], kind="query")
    vectors = await embedder.embed([quote.span.text for quote in promising], kind="passage")
    return [
        replace(
            quote,
            similarity=calibrated(
                sum(a * b for a, b in zip(wanted, vector, strict=True)), embedder.model
            ),
        )
        for quote, vector in zip(promising, vectors, strict=True)
    ]


def _weights(
    question: str, sentences: Sequence[frozenset[str]], language: str | None
) -> Mapping[str, float]:
    weights = rarity(content_terms(question, language), sentences)
    return {term: weight * (1.5 if is_number(term) else 1.0) for term, weight in weights.items()}


def _repeats(quote: Quote, other: Quote) -> bool:
    common = sum(best_closeness(term, other.span.terms) >= CLOSE for term in quote.span.terms)
    return common >= _COPY * len(quote.span.terms)


def _written(quote: Quote, question: str) -> str:
    """Write a sentence on one line with its marker before the full stop, cut if it is too long."""
    wanted = frozenset(terms(question))
    span = bounded(
        quote.passage.text, quote.span, lambda term: best_closeness(term, wanted) >= CLOSE
    )
    text = " ".join(plain_text(span.text).split())
    if span.start > quote.span.start:
        text = f"… {text}"
    if span.end < quote.span.end:
        return f"{text} … [{quote.marker}]"
    stop = text[-1:] if is_whole(text) and not text[-1].isalnum() else ""
    body = text[: len(text) - len(stop)]
    return f"{body} [{quote.marker}]{stop}"
