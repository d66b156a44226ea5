"""Finds the sentences of a text in many scripts, as offsets."""

import re
from collections.abc import Iterator

from rag_app.marks import TIME

_BLOCK_END = re.compile(r"\n[ \t]*\n|\f")
_OPENING = re.compile(
    rf"""[ \t]*(?:
        {TIME}[ ]                          # a time mark
      | \#{{1,6}}[ \t]+                      # a heading
      | (?:[-*+\u2022\u2023\u25aa\u25cf\u2013]|\d{{1,3}}[.)]|\(\d{{1,3}}\))[ \t]+   # a list item
      | (?:>[ \t]?)+                       # a quotation
    )""",
    re.VERBOSE,
)
_OWN_LINE = re.compile(rf"[ \t]*(?:\||#{{1,6}}[ \t]|`{{3,}}|~{{3,}}|{TIME} )")

# a run of marks is looked at from its start only: from each of its marks would be quadratic
_CLOSERS = "\"'\u2019\u201d\u00bb\u203a)\\]}\u300d\u300f\uff09\u3011\u300b"
_END = re.compile(
    rf"(?P<wide>[。！？｡︒]+[{_CLOSERS}]*)"
    rf"|(?P<sure>(?<![!?؟۔।॥։።])[!?؟۔।॥։።]+[{_CLOSERS}]*(?=\s|$))"
    rf"|(?P<dot>(?:(?<!\.)\.+|…)[{_CLOSERS}]*(?=\s|$))"
)
_MARKER = re.compile(r"(?:[ \t]*\[\d{1,3}\])+(?=\s|$)")
_LAST_WORD = re.compile(r"[^\s(\[\"'\u201e\u201c\u00ab]*$")
_INITIAL = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]$")

# Words that a full stop does not end; the second set only before a number.
_ABBREVIATIONS = frozenset(
    """dr mr mrs ms prof st sr jr rev gen col capt lt sgt hon gov sen rep pres dept univ vs cf al
    trans approx est inc ltd corp bzw ca vgl evtl ggf inkl exkl zzgl hrsg hl geb gest sog bspw mio
    mrd mme mlle sra srta sres ud uds тыс млн млрд им""".split()  # noqa: SIM905 - a word list
)
_BEFORE_NUMBERS = frozenset(
    """no nos nr fig figs eq eqs vol vols pp p ch sec sect art abs abb tab bd bde kap s str jan feb
    mar apr jun jul aug sep sept oct nov dec okt dez núm pág págs av рис табл стр с п""".split()  # noqa: SIM905 - a word list
)


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return start and end of each sentence, in order, without surrounding white space.

    Time marks, heading signs, list bullets and quotation signs at the start of a line belong to
    no sentence. A blank line, a page break, a heading, a list item and a table row end one; a
    plain line end does not, since most texts are wrapped.
    """
    spans: list[tuple[int, int]] = []
    for start, end in _blocks(text):
        for run_start, run_end in _runs(text, start, end):
            spans.extend(_sentences(text, run_start, run_end))
    return spans


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in _BLOCK_END.finditer(text):
        yield start, gap.start()
        start = gap.end()
    yield start, len(text)


def _runs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a block in which lines flow on, without what opens them."""
    lines = _lines(text, start, end)
    longest = max((line_end - line_start for line_start, line_end in lines), default=0)
    run: tuple[int, int] | None = None
    previous = (start, start)
    for line_start, line_end in lines:
        opening = _OPENING.match(text, line_start, line_end)
        stands_alone = _OWN_LINE.match(text, line_start, line_end)
        breaks = opening or stands_alone or _ends_early(text, previous, line_start, longest)
        if run and breaks:
            yield run
            run = None
        begin = run[0] if run else opening.end() if opening else line_start
        run = (begin, line_end)
        if stands_alone:
            yield run
            run = None
        previous = (line_start, line_end)
    if run:
        yield run


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    lines = []
    while start <= end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        if stop > start:
            lines.append((start, stop))
        start = stop + 1
    return lines


def _ends_early(text: str, line: tuple[int, int], next_start: int, longest: int) -> bool:
    """Tell whether a line is a title above running text: short, unfinished, a capital follows."""
    start, end = line
    body = text[start:end].strip()
    if not body or longest < 40 or end - start > 0.6 * longest:
        return False
    following = text[next_start : next_start + 1]
    return body[-1] not in ",;-\u2013\u2014" and (following.isupper() or following.isdigit())


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begin = start
    for match in _END.finditer(text, start, end):
        stop = match.end()
        if stop <= begin or (match["dot"] and not _dot_ends(text, begin, match, end)):
            continue
        # a marker such as [1] after the full stop belongs to the sentence it supports
        marker = _MARKER.match(text, stop, end)
        stop = marker.end() if marker else stop
        if span := _trimmed(text, begin, stop):
            yield span
        begin = stop
    if span := _trimmed(text, begin, end):
        yield span


def _dot_ends(text: str, begin: int, match: re.Match[str], end: int) -> bool:
    following = text[match.end() : min(end, match.end() + 40)].lstrip()
    if not following:
        return True
    if following[0].islower():
        return False
    if match.end() - match.start() > 1:
        return True  # an ellipsis, or a closing quotation mark after the full stop
    found = _LAST_WORD.search(text, max(begin, match.start() - 40), match.start())
    word = found.group() if found else ""
    if word.isdigit() and len(word) <= 2:
        return False  # an ordinal, as in "am 3. Mai", or a number of a list
    if following[0].isdigit() and word.casefold() in _BEFORE_NUMBERS:
        return False
    return not _INITIAL.match(word) and word.casefold() not in _ABBREVIATIONS


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None
