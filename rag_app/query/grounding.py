"""Checks that each statement of an answer rests on the passages it cites, and finds the words.

How it is decided. A statement and a source sentence are compared by the weighted share of the
statement's content words (rare ones weigh more) that the sentence holds, in any inflection.

- In one language a cited passage supports a statement when one of its sentences holds enough of
  those words. If it holds some, the citation stays, with the passage's start in place of a quote,
  and the statement is listed as unsupported. If it holds none, it is no source at all: the marker
  goes.
- Across languages words cannot disprove anything. The marker the model gave is trusted, and the
  sentence is chosen by what survives translation (numbers, names, kindred words) and by
  `similarity`, where one is given.
- In any language a number of two or more digits that no passage holds is invented, and so is the
  statement.
"""

import logging
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_app.errors import ProviderError
from rag_app.language import detect_language
from rag_app.providers.base import Embedder
from rag_app.query.answering import is_abstention
from rag_app.query.markers import (
    MARKER,
    find_markers,
    normalise_markers,
    renumber_markers,
    strip_markers,
)
from rag_app.query.results import Answer, Citation, Context, Passage, Quote
from rag_app.query.spans import (
    Span,
    bounded,
    find_exact,
    joined,
    opening,
    page_of,
    second_of,
    sentence_spans,
)
from rag_app.query.statements import Statement, long_numbers, statements
from rag_app.query.terms import CLOSE, best_closeness, coverage, is_number, rarity

log = logging.getLogger(__name__)

Similarity = Callable[[str, str], float]
"""From a statement and a source sentence to about 0 (unrelated) .. 1 (the same)."""

SUPPORT = 0.35
"""From this share of a statement's content on, a sentence supports it."""

FOREIGN_SUPPORT = 0.15
"""The same across languages, where little but numbers and names can be shared."""

ATTRIBUTE = 0.6
"""From this share on, a marker is added to an answer that came without any."""

_FULL_STOPS = ".!?…。！？؟۔।"
_SIMILAR = 0.5
_EMBEDDED_SENTENCES = 60  # about half a second on one core, after the answer is read
_EMBEDDED_STATEMENTS = 20
_JOIN_GAIN = 0.2  # what a second sentence must add to be quoted along with the first


@dataclass(frozen=True)
class _Evidence:
    """What one passage has for one statement."""

    score: float  # of the best sentence
    shared: float  # of the whole passage
    span: Span
    is_foreign: bool

    @property
    def supports(self) -> bool:
        return self.score >= (FOREIGN_SUPPORT if self.is_foreign else SUPPORT)


def ground(
    text: str,
    context: Context,
    *,
    similarity: Similarity | None = None,
    per_document: int = 2,
) -> Answer:
    """Return the answer with markers that exist, a citation for each, and what nothing supports.

    Every quote is a slice of its version's content. Of each document the `per_document` passages
    that serve most stay; a marker beyond them goes, or moves to one that supports the same words.
    """
    passages = context.passages
    text = normalise_markers(text, len(passages)).strip()
    if is_abstention(text) or not text:
        return Answer(strip_markers(text).strip(), (), (), is_abstention(text))
    check = _Check(passages, text, similarity)
    if not MARKER.search(text):
        text = check.attribute(text)
    found = statements(text, check.language)
    evidence = {
        (place, marker): check.evidence(statement, passages[marker - 1])
        for place, statement in enumerate(found)
        for marker in statement.markers
    }
    kept = _kept_markers(evidence, passages, per_document)
    moved = check.moved(found, evidence, kept)
    text = renumber_markers(text, moved.get).strip()
    for place, statement in enumerate(found):
        for marker in {moved[old] for old in statement.markers if moved.get(old)}:
            if marker is not None and (place, marker) not in evidence:
                evidence[place, marker] = check.evidence(statement, passages[marker - 1])
    behind = _statements_behind(text, check.language)
    citations = tuple(
        _citation(marker, passages[marker - 1], evidence, behind.get(marker, ()))
        for marker in sorted(kept)
    )
    unsupported = tuple(
        statement.text
        for place, statement in enumerate(found)
        if not check.is_supported(place, statement, found, evidence)
    )
    return Answer(text, citations, unsupported, abstained=False)


async def embedded_similarity(text: str, context: Context, embedder: Embedder) -> Similarity | None:
    """Return the similarity `ground` needs for an answer over passages in another language.

    None when every cited passage is in the answer's language, where words do as well for nothing,
    or when the embedder fails.
    """
    text = normalise_markers(text, len(context.passages))
    language = detect_language(strip_markers(text))
    passages = [
        context.passages[marker - 1]
        for marker in find_markers(text)
        if _is_foreign(language, context.passages[marker - 1])
    ]
    spans = [span.text for passage in passages for span in sentence_spans(passage)]
    spans = list(dict.fromkeys(spans))[:_EMBEDDED_SENTENCES]
    wanted = list(dict.fromkeys(found.text for found in statements(text, language)))
    wanted = wanted[:_EMBEDDED_STATEMENTS]
    if not spans or not wanted:
        return None
    try:
        of_wanted = await embedder.embed(wanted, kind="query")
        of_spans = await embedder.embed(spans, kind="passage")
    except ProviderError as error:
        log.warning("quotes are located by words alone: %s", error)
        return None
    first = dict(zip(wanted, of_wanted, strict=True))
    second = dict(zip(spans, of_spans, strict=True))
    model = embedder.model

    def similarity(statement: str, sentence: str) -> float:
        if statement not in first or sentence not in second:
            return 0.0
        cosine = sum(a * b for a, b in zip(first[statement], second[sentence], strict=True))
        return (cosine - model.centre) / model.spread

    return similarity


class _Check:
    """The context of one answer, with the weight of each word in it."""

    def __init__(
        self, passages: Sequence[Passage], answer: str, similarity: Similarity | None
    ) -> None:
        self.language = detect_language(strip_markers(answer))
        self._passages = passages
        self._similarity = similarity
        self._spans = [span.terms for passage in passages for span in sentence_spans(passage)]
        self._numbers = [
            long_numbers(f"{passage.title}\n{passage.heading}\n{passage.text}")
            for passage in passages
        ]
        self._weights: dict[str, float] = {}

    def evidence(self, statement: Statement, passage: Passage) -> _Evidence:
        """Find the sentence of a passage that supports a statement best."""
        is_foreign = self._is_foreign(passage)
        if exact := find_exact(passage.text, statement.text.strip("… ")):
            return _Evidence(1.0, 1.0, exact, is_foreign)
        weights = self._weigh(statement)
        spans = sentence_spans(passage)
        if not spans or not weights:
            return _Evidence(0.0, 0.0, opening(passage), is_foreign)
        scores = [self._score(statement, span, weights, is_foreign) for span in spans]
        best = max(range(len(spans)), key=lambda place: (scores[place][1], -place))
        span, score = spans[best], scores[best][0]
        for near in (best - 1, best + 1):
            pair = joined(passage.text, span, spans[near]) if 0 <= near < len(spans) else None
            if pair and coverage(weights, pair.terms) >= score + _JOIN_GAIN:
                span, score = pair, coverage(weights, pair.terms)
        wanted = frozenset(weights)
        span = bounded(passage.text, span, lambda term: best_closeness(term, wanted) >= CLOSE)
        shared = coverage(weights, frozenset().union(*(span.terms for span in spans)))
        return _Evidence(score, shared, span, is_foreign)

    def is_supported(
        self,
        place: int,
        statement: Statement,
        found: Sequence[Statement],
        evidence: Mapping[tuple[int, int], _Evidence],
    ) -> bool:
        """Tell whether a statement rests on what it cites, or on the paragraph's next marker."""
        if not statement.numbers <= frozenset().union(*self._numbers):
            return False
        if not statement.content:
            return True
        own = [evidence[place, marker] for marker in statement.markers]
        if own:
            return any(item.supports or item.is_foreign for item in own)
        following = next(
            (
                later
                for later in found[place + 1 :]
                if later.paragraph == statement.paragraph and later.markers
            ),
            None,
        )
        for marker in following.markers if following else ():
            item = self.evidence(statement, self._passages[marker - 1])
            if item.supports or item.is_foreign:
                return True
        return any(self.evidence(statement, passage).supports for passage in self._passages)

    def attribute(self, text: str) -> str:
        """Add markers to an answer that has none, where a passage clearly says the same."""
        pieces: list[str] = []
        place = 0
        for statement in statements(text, self.language):
            items = [self.evidence(statement, passage) for passage in self._passages]
            best = max(range(len(items)), key=lambda number: items[number].score, default=None)
            if best is None or items[best].score < ATTRIBUTE or not statement.content:
                continue
            words = text[place : statement.end]
            body = words.rstrip(_FULL_STOPS)
            pieces.append(f"{body} [{best + 1}]{words[len(body) :]}")
            place = statement.end
        return "".join([*pieces, text[place:]])

    def moved(
        self,
        found: Sequence[Statement],
        evidence: Mapping[tuple[int, int], _Evidence],
        kept: frozenset[int],
    ) -> dict[int, int | None]:
        """Say where each marker goes: it stays, or moves within its document, or is removed."""
        moved: dict[int, int | None] = {marker: marker for marker in kept}
        for marker in {marker for _, marker in evidence} - kept:
            document_id = self._passages[marker - 1].document_id
            citing = [statement for statement in found if marker in statement.markers]
            moved[marker] = next(
                (
                    other
                    for other in sorted(kept)
                    if self._passages[other - 1].document_id == document_id
                    and all(
                        self.evidence(statement, self._passages[other - 1]).supports
                        for statement in citing
                    )
                ),
                None,
            )
        return moved

    def _weigh(self, statement: Statement) -> Mapping[str, float]:
        unknown = [term for term in statement.content if term not in self._weights]
        for term, weight in rarity(unknown, self._spans).items():
            self._weights[term] = weight * (1.5 if is_number(term) else 1.0)
        return {term: self._weights[term] for term in statement.content}

    def _score(
        self, statement: Statement, span: Span, weights: Mapping[str, float], is_foreign: bool
    ) -> tuple[float, float]:
        """Return how much of a statement a sentence holds, and the rank among its neighbours."""
        held = coverage(weights, span.terms)
        if self._similarity:
            alike = self._similarity(statement.text, span.text)
            if is_foreign and alike >= _SIMILAR:
                return max(held, alike), held + alike
            return held, held + alike
        # of two sentences that hold the same, the one with less beside it
        precision = len(span.terms & statement.terms) / max(len(span.terms), 1)
        return held, held + 0.1 * precision

    def _is_foreign(self, passage: Passage) -> bool:
        return _is_foreign(self.language, passage)


def _kept_markers(
    evidence: Mapping[tuple[int, int], _Evidence], passages: Sequence[Passage], limit: int
) -> frozenset[int]:
    """Return the markers that stay: of passages that were used, at most `limit` a document."""
    uses: dict[int, float] = {}
    for (_, marker), item in evidence.items():
        is_used = item.shared > 0 or item.is_foreign
        if is_used:
            uses[marker] = uses.get(marker, 0.0) + (1.0 if item.supports else 0.1) + item.score
    by_document: dict[int, list[int]] = {}
    for marker in sorted(uses, key=lambda marker: (-uses[marker], marker)):
        by_document.setdefault(passages[marker - 1].document_id, []).append(marker)
    return frozenset(marker for markers in by_document.values() for marker in markers[:limit])


def _statements_behind(text: str, language: str | None) -> dict[int, list[int]]:
    """Return, for each marker of the final text, the statement each time it stands there."""
    ends = [statement.end for statement in statements(text, language)]
    behind: dict[int, list[int]] = {}
    for match in MARKER.finditer(text):
        behind.setdefault(int(match[1]), []).append(bisect_right(ends, match.start()))
    return behind


def _citation(
    marker: int,
    passage: Passage,
    evidence: Mapping[tuple[int, int], _Evidence],
    places: Sequence[int],
) -> Citation:
    """Quote what supports each of the marker's statements, and what supports one best."""
    items = {place: item for (place, cited), item in evidence.items() if cited == marker}
    best = max(items.values(), key=lambda item: item.score)
    return Citation(
        marker=marker,
        passage=passage,
        best=_quote(passage, best),
        quotes=tuple(_quote(passage, items.get(place, best)) for place in places),
    )


def _quote(passage: Passage, item: _Evidence) -> Quote:
    span = item.span if item.supports else opening(passage)
    return Quote(
        text=span.text,
        start=passage.start + span.start,
        end=passage.start + span.end,
        page=page_of(passage, span.start),
        second=second_of(passage, span.start),
        verbatim=item.supports,
    )


def _is_foreign(language: str | None, passage: Passage) -> bool:
    other = _language_of(passage.text)
    return bool(language and other and language != other)


@lru_cache(maxsize=512)
def _language_of(text: str) -> str | None:
    return detect_language(text)
