"""Reads, normalises and filters the [n] markers of an answer, whole or as it streams."""

import re
from collections.abc import Callable, Iterator

_SEPARATOR = r"[ \t]*(?:[,;&+]|\band\b|\bund\b|-|\u2013|\u2014)[ \t]*[\^\#]?"
_LIST = rf"\d{{1,3}}(?:{_SEPARATOR}\d{{1,3}}){{0,12}}"
_FORM = (
    r"(?<!\\)[\[\u3010\uff3b][ \t]{0,3}"
    r"(?:[\^\#]|(?:passage|source|quelle|doc|document|ref|p)s?\.?[ \t]?:?[ \t]?)?"
    rf"(?P<numbers>{_LIST})"
    r"(?:\u2020[^\]\u3011\n]{0,60})?"  # the dagger form 【1†source】
    r"[ \t]{0,3}[\]\u3011\uff3d]"
    r"(?P<link>\((?:https?:|/|\#)[^()\s]{0,200}\))?"
)
_TOKEN = re.compile(rf"`[^`\n]{{1,80}}`|{_FORM}", re.IGNORECASE)
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_OPEN_FORM = re.compile("[\\[\u3010\uff3b][^\\]\u3011\uff3d\n]{0,160}$")
_OPEN_LINK = re.compile(
    r"[\]\u3011\uff3d]"
    r"(?:\((?:h|ht|htt|https?|https?:[^()\s]{0,200}|[/\#][^()\s]{0,200})?)?$"
)
_OPEN_CODE = re.compile(r"`[^`\n]{0,81}$")
Renumber = Callable[[int], int | None]

MARKER = re.compile(r"\[(\d{1,3})\]")
"""A marker in its normal form, the only one a person ever sees."""


def find_markers(text: str) -> list[int]:
    """Return the numbers of the normalised markers, each once, in order of appearance."""
    return list(dict.fromkeys(int(match[1]) for match in MARKER.finditer(text)))


def strip_markers(text: str) -> str:
    """Remove every marker in any form, with the white space before it."""
    return normalise_markers(text, 0)


def normalise_markers(text: str, count: int) -> str:
    """Write every marker as [n], several as [1] [2], and remove those beyond `count`.

    Code is left alone, so is an interval such as [0, 1].
    """
    return renumber_markers(text, _up_to(count))


def renumber_markers(text: str, renumber: Renumber) -> str:
    """Write every marker in its normal form under its new number; None removes it."""
    marker_filter = MarkerFilter(0)
    marker_filter.renumber = renumber
    return marker_filter.feed(text) + marker_filter.finish()


class MarkerFilter:
    """Cleans an answer that arrives in pieces, wherever they are cut.

    What `feed` returns is final: text that could still become a marker, or the white space before
    one that may be removed, is held back until the next piece, mostly a few signs.
    """

    def __init__(self, count: int) -> None:
        self.renumber: Renumber = _up_to(count)
        self._line = ""  # the line that is being written, as it came
        self._shown = 0  # how much of it, cleaned, was returned
        self._fence = ""  # the signs that opened the code block we are in

    def feed(self, piece: str) -> str:
        """Take the next piece and return what can be shown."""
        out: list[str] = []
        *whole, rest = (self._line + piece).split("\n")
        for line in whole:
            out.append(self._cleaned(line)[self._shown :] + "\n")
            self._end_line(line)
        self._line = rest
        ready = self._cleaned(_settled(rest)).rstrip() if rest else ""
        if len(ready) > self._shown:
            out.append(ready[self._shown :])
            self._shown = len(ready)
        return "".join(out)

    def finish(self) -> str:
        """Return what was held back, at the end of the stream."""
        rest = self._cleaned(self._line)[self._shown :]
        self._end_line(self._line)
        self._line = ""
        return rest

    def _end_line(self, line: str) -> None:
        self._shown = 0
        fence = _FENCE.match(line)
        if fence and not self._fence:
            self._fence = fence[1]
        elif fence and fence[1].startswith(self._fence):
            self._fence = ""

    def _cleaned(self, line: str) -> str:
        if self._fence or _FENCE.match(line):
            return line
        return _clean_line(line, self.renumber)


def _up_to(count: int) -> Renumber:
    return lambda number: number if 1 <= number <= count else None


def _settled(line: str) -> str:
    """Return the start of an unfinished line that no later sign can change."""
    end = len(line)
    for unfinished in (_OPEN_FORM, _OPEN_LINK, _OPEN_CODE):
        if match := unfinished.search(line):
            # of a link, the marker before it waits as well
            start = match.start()
            if unfinished is _OPEN_LINK:
                start = max(0, *(line.rfind(sign, 0, start) for sign in "[\u3010\uff3b"))
            end = min(end, start)
    if re.fullmatch(r"[ \t]*[`~]*", line):
        return ""
    return line[:end].removesuffix("\\")


def _clean_line(line: str, renumber: Renumber) -> str:
    out: list[str] = []
    space = ""  # white space that stays only if something follows it
    run: set[int] = set()  # markers since the last word
    dropped = False
    for text, numbers in _tokens(line):
        if numbers is not None:
            for number in map(renumber, numbers):
                if number is None or number in run:
                    dropped = True
                    continue
                out.append((" " if run else space) + f"[{number}]")
                space, dropped = "", False
                run.add(number)
            continue
        body = text.strip()
        if not body:
            space += text if not dropped else ""
            continue
        leading = text[: len(text) - len(text.lstrip())]
        if not dropped:
            out.append(space + leading)
        elif not out and not space:
            pass  # the line began with what was removed
        elif leading or not body[0].isalnum():
            out.append(leading)
        else:
            out.append(space)
        out.append(body)
        space = text[len(text.rstrip()) :]
        run, dropped = set(), False
    return "".join(out) + ("" if dropped else space)


def _tokens(line: str) -> Iterator[tuple[str, tuple[int, ...] | None]]:
    """Yield text and the numbers of markers in turn; code and intervals count as text."""
    place = 0
    for match in _TOKEN.finditer(line):
        numbers = _numbers(match["numbers"]) if match["numbers"] else None
        if numbers is None:
            continue
        if match.start() > place:
            yield line[place : match.start()], None
        yield "", numbers
        place = match.end()
    if place < len(line):
        yield line[place:], None


def _numbers(text: str) -> tuple[int, ...] | None:
    """Return the numbers of a form such as 1, 3-5; None for what is an interval and no marker."""
    numbers: list[int] = []
    for part in re.split(r"[,;&+]|\band\b|\bund\b", text, flags=re.IGNORECASE):
        ends = [int(number) for number in re.findall(r"\d+", part)]
        if len(ends) == 2 and ends[0] < ends[1] <= ends[0] + 20:
            numbers.extend(range(ends[0], ends[1] + 1))
        else:
            numbers.extend(ends)
    if len(numbers) > 1 and 0 in numbers:
        return None
    return tuple(numbers)
