"""Takes an answer apart into the statements that have to rest on something."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag_app.query.markers import MARKER, find_markers, strip_markers
from rag_app.query.terms import content_terms, fold, terms
from rag_app.sentences import split_sentences

_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_LEADING_MARKERS = re.compile(r"(?:[ \t]*\[\d{1,3}\])+")
_TABLE_RULE = re.compile(r"[\s|:=-]+")
_NO_STATEMENT = re.compile(r"[:：]\s*(?:\*\*|__)?$")
_DIGITS = re.compile(r"\d{2,}")
_GROUPED = re.compile(r"(?<=\d)[.,\u00a0\u202f'’ ](?=\d{3}(?!\d))")
# the bare reply to a question of yes or no, folded
_BARE_REPLIES = frozenset(
    {
        "yes",
        "no",
        "ja",
        "nein",
        "oui",
        "non",
        "si",
        "да",
        "нет",
        "نعم",
        "لا",
        "是的",
        "不是",
        "はい",
    }
)


@dataclass(frozen=True)
class Statement:
    """A sentence of an answer: its words without markers, and the markers it carries.

    `paragraph` counts the blocks of the answer, since a marker at the end of a paragraph often
    stands for all of it.
    """

    text: str
    markers: tuple[int, ...]
    paragraph: int
    end: int
    terms: frozenset[str]
    content: tuple[str, ...]
    numbers: frozenset[str]


def statements(answer: str, language: str | None = None) -> list[Statement]:
    """Return the statements of an answer whose markers are normalised, in order.

    Headings, code, table rules and the line that announces a list state nothing.
    """
    found: list[Statement] = []
    for paragraph, start, end in _sentences(_without_code(answer)):
        raw = answer[start:end]
        leading = _LEADING_MARKERS.match(raw)
        if leading and found and _same_line(answer, found[-1].end, start):
            found[-1] = _with_markers(found[-1], find_markers(leading.group()))
            raw = raw[leading.end() :]
        text = strip_markers(raw).strip()
        if not _states_something(answer, text, start):
            continue
        found.append(
            Statement(
                text=text,
                markers=tuple(find_markers(raw)),
                paragraph=paragraph,
                end=end,
                terms=frozenset(terms(text)),
                content=tuple(
                    term for term in content_terms(text, language) if term not in _BARE_REPLIES
                ),
                numbers=long_numbers(text),
            )
        )
    return found


def long_numbers(text: str) -> frozenset[str]:
    """Return the numbers of at least two digits, without grouping signs.

    Single digits are written as words too often to be compared.
    """
    return frozenset(_DIGITS.findall(_GROUPED.sub("", fold(text))))


def _sentences(answer: str) -> Iterator[tuple[int, int, int]]:
    paragraph = 0
    previous = 0
    for start, end in split_sentences(answer):
        if "\n" in answer[previous:start]:
            paragraph += 1
        previous = end
        yield paragraph, start, end


def _without_code(answer: str) -> str:
    """Blank out code blocks, so that all offsets stay."""
    return _FENCED.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), answer)


def _same_line(answer: str, end: int, start: int) -> bool:
    return "\n" not in answer[end:start]


def _with_markers(statement: Statement, markers: list[int]) -> Statement:
    together = tuple(dict.fromkeys([*statement.markers, *markers]))
    return Statement(**{**statement.__dict__, "markers": together})


def _states_something(answer: str, text: str, start: int) -> bool:
    if not any(sign.isalnum() for sign in text) or _TABLE_RULE.fullmatch(text):
        return False
    line_start = answer.rfind("\n", 0, start) + 1
    if answer[line_start:start].lstrip().startswith("#"):
        return False
    return not (_NO_STATEMENT.search(text) and not MARKER.search(text))
