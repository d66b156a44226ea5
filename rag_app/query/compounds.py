"""Words of a question that occur nowhere, met by their parts or inside longer words.

German and its neighbours write compounds as one word: who asks for a `Hausratversicherung` may have
a text on the `Versicherung` of `Hausrat`, and the other way round. A word is split where the parts
are words of the library itself (Koehn & Knight 2003), so no dictionary is needed. Only words that
no chunk holds are looked at: where a word occurs, it is what was meant.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_app.database.session import Connection

LANGUAGES = frozenset({"danish", "dutch", "finnish", "german", "hungarian", "norwegian", "swedish"})
"""The configurations of languages that write compounds as one word."""

SHORTEST_PART = 4
MOST_PARTS = 4
MOST_LONGER = 4
LONGEST_WORD = 60
# what may stand between two parts, or was cut off by the stemmer at the end of the first
LINKS = ("", "s", "es", "e", "n", "en", "er", "ens", "ungs", "heits", "keits", "ings")

PARTS = """
select p.language, p.term, t.documents
from unnest(%(languages)s::text[], %(terms)s::text[]) p(language, term)
join term_statistics t on t.workspace_id = %(workspace_id)s
  and t.language = p.language::regconfig and t.term = p.term and t.documents > 0
"""

# `reverse(term)` has an index, so that the end of a word is found as fast as its start; as ranges,
# since the planner takes no index for a pattern it does not know beforehand
LONGER = """
select p.language, p.term as word, l.term, l.documents
from unnest(%(languages)s::text[], %(terms)s::text[]) p(language, term)
cross join lateral (
  (select t.term, t.documents from term_statistics t where t.workspace_id = %(workspace_id)s
     and t.language = p.language::regconfig and t.documents > 0
     and reverse(t.term) ~>=~ reverse(p.term)
     and reverse(t.term) ~<~ (reverse(p.term) || chr(1114111)))
  union
  (select t.term, t.documents from term_statistics t where t.workspace_id = %(workspace_id)s
     and t.language = p.language::regconfig and t.documents > 0
     and t.term >= p.term and t.term < p.term || chr(1114111) and starts_with(t.term, p.term))
  order by documents desc, term limit %(limit)s) l
"""

Found = dict[str, dict[str, dict[str, int]]]
"""Language to missing word to the words that stand in for it, with their numbers of chunks."""


@dataclass(frozen=True)
class _Split:
    parts: tuple[str, ...]
    weight: float  # geometric mean of the parts' frequencies


async def stand_ins(
    connection: Connection, workspace_id: int, missing: Mapping[str, Sequence[str]]
) -> Found:
    """Return for each language's missing words what the library has in their place, if anything.

    The parts of a word come first; a word that has none is looked for in longer ones.
    """
    wanted = [
        (language, word)
        for language, words in missing.items()
        if language in LANGUAGES
        for word in words
        if SHORTEST_PART < len(word) <= LONGEST_WORD and word.isalpha()
    ]
    if not wanted:
        return {}
    pieces = [(language, piece) for language, word in wanted for piece in _pieces(word)]
    known: dict[str, dict[str, int]] = defaultdict(dict)
    for row in await _rows(connection, PARTS, workspace_id, pieces):
        known[row["language"]][row["term"]] = row["documents"]
    found: Found = defaultdict(dict)
    whole = []
    for language, word in wanted:
        if parts := split_compound(word, known[language]):
            found[language][word] = {part: known[language][part] for part in parts}
        else:
            whole.append((language, word))
    for row in await _rows(connection, LONGER, workspace_id, whole):
        found[row["language"]].setdefault(row["word"], {})[row["term"]] = row["documents"]
    return found


def split_compound(word: str, known: Mapping[str, int]) -> tuple[str, ...]:
    """Return the parts of a word that are known, `known` telling how often; empty without a way.

    Of several ways that with the most frequent parts is taken, by the geometric mean.
    """
    ways = [way for way in _ways(word, known, MOST_PARTS) if len(way) > 1]
    splits = [
        _Split(way, math.exp(math.fsum(math.log(known[part]) for part in way) / len(way)))
        for way in ways
    ]
    return max(splits, key=lambda split: (split.weight, split.parts), default=_Split((), 0)).parts


def _ways(word: str, known: Mapping[str, int], most: int) -> Iterator[tuple[str, ...]]:
    if word in known:
        yield (word,)
    if most == 1:
        return
    for cut in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1):
        head = word[:cut]
        if head not in known:
            continue
        for link in LINKS:
            if word.startswith(link, cut) and len(word) - cut - len(link) >= SHORTEST_PART:
                for rest in _ways(word[cut + len(link) :], known, most - 1):
                    yield (head, *rest)


def _pieces(word: str) -> set[str]:
    """Return every part of a word that may be one."""
    places = range(len(word) + 1)
    return {
        word[start:end]
        for start in places
        for end in places[start + SHORTEST_PART :]
        if end - start < len(word)
    }


async def _rows(
    connection: Connection, statement: str, workspace_id: int, wanted: Sequence[tuple[str, str]]
) -> list[dict]:
    if not wanted:
        return []
    languages, terms = zip(*wanted, strict=True)
    values = {
        "workspace_id": workspace_id,
        "languages": list(languages),
        "terms": list(terms),
        "limit": MOST_LONGER,
    }
    return await (await connection.execute(statement, values)).fetchall()
