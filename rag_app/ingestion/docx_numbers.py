"""Counts the numbered paragraphs of a Word document, whose numbers stand in no text."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from lxml import etree

from rag_app.ingestion.packages import attribute, child, local

_LEVELS = 9
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc")),
    *((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


@dataclass(frozen=True)
class _Level:
    start: int = 1
    form: str = "decimal"
    text: str = ""


@dataclass
class Numbering:
    """The lists of a document, each with how far it has been counted."""

    levels: Mapping[str, Mapping[int, _Level]]  # by list and depth
    counters: Mapping[str, str]  # lists that count on together
    counts: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    def next(self, number_id: str, depth: int) -> str:
        """Count one paragraph on and return its sign: "-", "3.", "2.1"; "" where there is none."""
        levels = self.levels.get(number_id)
        level = (levels or {}).get(depth)
        if levels is None or level is None or level.form == "none":
            return ""
        if level.form == "bullet":
            return "-"
        counts = self.counts[self.counters.get(number_id, number_id)]
        counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [place for place in counts if place > depth]:
            del counts[deeper]
        text = level.text
        for place in range(min(depth + 1, _LEVELS)):
            own = levels.get(place, _Level())
            written = _write(counts.get(place, own.start), own.form)
            text = text.replace(f"%{place + 1}", written)
        return text.strip()


def read_numbering(root: etree._Element | None) -> Numbering:
    """Return the lists of numbering.xml."""
    abstract: dict[str, dict[int, _Level]] = {}
    levels: dict[str, dict[int, _Level]] = {}
    counters: dict[str, str] = {}
    for element in root if root is not None else ():
        if local(element) == "abstractNum":
            abstract[attribute(element, "abstractNumId")] = _levels(element)
        elif local(element) == "num":
            name = attribute(element, "numId")
            link = child(element, "abstractNumId")
            shared = attribute(link, "val") if link is not None else ""
            overridden = {
                _integer(attribute(one, "ilvl")): _integer(attribute(start, "val"), 1)
                for one in element
                if local(one) == "lvlOverride"
                and (start := child(one, "startOverride")) is not None
            }
            levels[name] = {
                depth: _Level(overridden.get(depth, level.start), level.form, level.text)
                for depth, level in abstract.get(shared, {}).items()
            }
            counters[name] = name if overridden else f"shared {shared}"
    return Numbering(levels, counters)


def _levels(element: etree._Element) -> dict[int, _Level]:
    found = {}
    for one in element:
        if local(one) == "lvl":
            values = {local(part): attribute(part, "val") for part in one}
            found[_integer(attribute(one, "ilvl"))] = _Level(
                _integer(values.get("start", ""), 1),
                values.get("numFmt", "decimal"),
                values.get("lvlText", ""),
            )
    return found


def _write(number: int, form: str) -> str:
    if form in {"lowerLetter", "upperLetter"}:
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter if form == "lowerLetter" else letter.upper()
    if form in {"lowerRoman", "upperRoman"}:
        roman = _roman(number)
        return roman if form == "lowerRoman" else roman.upper()
    return f"{number:02d}" if form == "decimalZero" else str(number)


def _roman(number: int) -> str:
    if not 0 < number < 4000:
        return str(number)
    written = ""
    for value, sign in _ROMAN:
        written += sign * (number // value)
        number %= value
    return written


def _integer(text: str, otherwise: int = 0) -> int:
    try:
        return min(max(int(text), 0), 10**6)
    except ValueError:
        return otherwise
