"""Packs numbered passages into the token budget: copies dropped, neighbours joined."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, TypeVar

from rag_app.marks import TIME_MARK
from rag_app.query.results import Context, Passage
from rag_app.query.terms import is_number, terms
from rag_app.sentences import split_sentences

DEFAULT_BUDGET = 3000
"""In tokens, for the passages with their titles and headings."""

CountTokens = Callable[[str], int]
_T = TypeVar("_T")
PackingRule = Literal["kept", "cut", "joined", "copy", "budget"]

_SHINGLE = 3
_COPY = 0.8
"""From this share of common shingles on, one of two passages says nothing the other does not."""

_BRACKETED_NUMBER = re.compile(r"\[(\^?\d{1,3}(?:[ ,;-]+\d{1,3})*)\]")
_TAG = re.compile(r"<(?=/?\s*(?:passage|question|conversation)\b)", re.IGNORECASE)


@dataclass(frozen=True)
class PackedPassage:
    """What became of one passage.

    It stands in the context as [`number`]: `kept` as it was, `cut` at a sentence to fit, or
    `joined` with the neighbour `beside`. Or it was dropped: as a `copy` of `beside`, or since it
    would have taken `tokens` (with the neighbours it touches) where the `budget` had `left`.
    """

    chunk_id: int
    rule: PackingRule
    beside: int | None = None
    tokens: int = 0
    left: int = 0
    number: int | None = None


@dataclass(frozen=True)
class Packing:
    """The context, and what became of each passage that was to go into it, in their order."""

    context: Context
    passages: tuple[PackedPassage, ...]


def build_context(
    passages: Sequence[Passage],
    *,
    budget: int = DEFAULT_BUDGET,
    count_tokens: CountTokens | None = None,
) -> Context:
    """Return the passages that fit the budget, best first, so that `passages[0]` is [1].

    Passages of one version that touch or overlap become one, at the place of the better; its text
    is still the slice `start:end` of the content. One that does not fit is passed over for a
    smaller one; the first is cut at a sentence when even it alone does not fit.
    """
    return pack_context(passages, budget=budget, count_tokens=count_tokens).context


def pack_context(
    passages: Sequence[Passage],
    *,
    budget: int = DEFAULT_BUDGET,
    count_tokens: CountTokens | None = None,
) -> Packing:
    """Do what `build_context` does, and also say of each passage what became of it."""
    count = count_tokens or estimate_tokens
    kept: list[Passage] = []
    costs: list[int] = []
    members: list[list[int]] = []  # the chunks that each kept passage was made of
    fates: list[PackedPassage] = []
    for passage in passages:
        others, merged = _join(kept, passage)
        original = None if merged else _copied(passage, kept)
        if original is not None:
            fates.append(PackedPassage(passage.chunk_id, "copy", original.chunk_id))
            continue
        candidate = merged or passage
        cost = count(render_passage(candidate, len(others) + 1))
        left = budget - sum(
            cost_of for cost_of, old in zip(costs, kept, strict=True) if old in others
        )
        rule: PackingRule = "joined" if merged else "kept"
        if cost > left:
            shorter = None if kept else _cut(candidate, budget, count)
            if shorter is None:
                fates.append(PackedPassage(passage.chunk_id, "budget", tokens=cost, left=left))
                continue
            candidate, rule = shorter, "cut"
            cost = count(render_passage(candidate, 1))
        joined = [of for of, old in zip(members, kept, strict=True) if old not in others]
        beside = joined[0][0] if joined else None
        fates.append(PackedPassage(passage.chunk_id, rule, beside, tokens=cost, left=left))
        made_of = [*(chunk for of in joined for chunk in of), passage.chunk_id]
        members = _placed(kept, members, others, made_of)
        costs = _placed(kept, costs, others, cost)
        kept = _placed(kept, kept, others, candidate)
    numbers = {chunk: number for number, of in enumerate(members, start=1) for chunk in of}
    return Packing(
        Context(passages=tuple(kept), tokens=sum(costs)),
        tuple(replace(fate, number=numbers.get(fate.chunk_id)) for fate in fates),
    )


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a hosted model makes of a text, rather too many than too few.

    ASCII has 3.6 to 4.8 signs a token in European languages, counted as 3.5; everything else costs
    half its UTF-8 bytes, the upper bound over twelve languages and two tokenizers.
    """
    size = len(text.encode("utf-8", "replace"))
    wide = sum(len(sign.encode("utf-8", "replace")) for sign in text if not sign.isascii())
    return round((size - wide) / 3.5 + wide / 2 + 0.5)


def render_passage(passage: Passage, number: int) -> str:
    """Write a passage as the model sees it: fenced, named, and with no marker but its own.

    Numbers in brackets are references of the source itself; left alone, a model takes them for
    ours. A text that closes the fence is defused.
    """
    place = [f'title="{_attribute(passage.title)}"']
    if passage.heading and passage.heading != passage.title:
        place.append(f'heading="{_attribute(passage.heading)}"')
    if passage.page is not None:
        place.append(f'page="{passage.page}"')
    opening = f'<passage number="{number}" cite="[{number}]" {" ".join(place)}>'
    return f"{opening}\n{plain_text(passage.text)}\n</passage>"


def plain_text(text: str) -> str:
    """Return a passage's text without time marks, foreign markers and anything like our fence."""
    text = TIME_MARK.sub("", text).replace("\f", "\n\n")
    text = _BRACKETED_NUMBER.sub(r"(\1)", text)
    return _TAG.sub("\u2039", text).strip()


def _attribute(text: str) -> str:
    return _TAG.sub("\u2039", " ".join(text.split()))[:160].replace('"', "'").replace(">", "\u203a")


def _join(kept: Sequence[Passage], passage: Passage) -> tuple[list[Passage], Passage | None]:
    """Return the passages that stay as they are, and what the new one becomes with the others.

    One passage can close the gap between two, so all that touch are joined in the order of their
    start.
    """
    merged: Passage | None = None
    others = list(kept)
    found = True
    while found:
        found = False
        for old in others:
            joined = _joined(old, merged or passage)
            if joined:
                others.remove(old)
                merged, found = joined, True
                break
    return others, merged


def _joined(first: Passage, second: Passage) -> Passage | None:
    """Return two passages as one, or None when they do not touch."""
    if first.version_id != second.version_id:
        return None
    early, late = sorted((first, second), key=lambda passage: (passage.start, -passage.end))
    if late.start > early.end:
        return None
    shared = early.text[late.start - early.start :]
    if not (late.text.startswith(shared) or shared.startswith(late.text)):
        return None  # offsets and texts disagree: joining would make a quote that is not there
    text = early.text + late.text[len(shared) :]
    best = first if first.score >= second.score else second
    distances = [found.distance for found in (first, second) if found.distance is not None]
    return replace(
        early,
        text=text,
        end=early.start + len(text),
        score=best.score,
        distance=min(distances, default=None),
        legs=best.legs,
    )


def _placed(
    kept: Sequence[Passage], values: Sequence[_T], others: Sequence[Passage], value: _T
) -> list[_T]:
    """Return a value for each passage, the new one's where the best of those it replaces stood.

    `values` has one for each of `kept`; one that replaces none goes to the end.
    """
    places = [place for place, old in enumerate(kept) if old not in others]
    position = places[0] if places else len(kept)
    placed = [value_of for value_of, old in zip(values, kept, strict=True) if old in others]
    placed.insert(position, value)
    return placed


def _copied(passage: Passage, kept: Iterable[Passage]) -> Passage | None:
    """Return the kept passage that says the same, down to every number.

    Texts that differ in a number alone (two versions of a table, two records) are no copies: the
    number is what a question asks for.
    """
    shingles, numbers = _fingerprint(passage.text)
    for other in kept:
        other_shingles, other_numbers = _fingerprint(other.text)
        is_within = len(shingles & other_shingles) >= _COPY * len(shingles)
        if is_within and numbers <= other_numbers:
            return other
    return None


@lru_cache(maxsize=64)
def _fingerprint(text: str) -> tuple[frozenset[tuple[str, ...]], frozenset[str]]:
    """Return the runs of three terms of a text, and its numbers."""
    words = terms(text)
    return frozenset(_shingles(words)), frozenset(word for word in words if is_number(word))


def _shingles(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for place in range(max(1, len(words) - _SHINGLE + 1)):
        yield tuple(words[place : place + _SHINGLE])


def _cut(passage: Passage, budget: int, count: CountTokens) -> Passage | None:
    """Keep as many whole sentences from the start as the budget holds; None when not even one."""
    best: Passage | None = None
    for _, end in split_sentences(passage.text):
        shorter = replace(passage, text=passage.text[:end], end=passage.start + end)
        if count(render_passage(shorter, 1)) > budget:
            break
        best = shorter
    return best
