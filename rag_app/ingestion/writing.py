"""Writes what a reader found by the conventions of content: headings, lists, tables, paragraphs."""

import re
from collections.abc import Iterable, Sequence

_SPACE = re.compile(r"[ \t\r\n\v\f\u00a0]+")
_SPACE_IN_LINE = re.compile(r"[ \t\r\v\f\u00a0]+")
_LOOKS_LIKE_MARK = re.compile(r"^(?=#{1,6}[ \t]|`{3}|~{3})", re.MULTILINE)
_ITEM = re.compile(r" *(?:-|\d{1,3}[.)]) ")
_YEAR = re.compile(r"(?:1[5-9]|2[01])\d\d")
_DEEPEST = 6
_LONGEST_CELL = 400  # signs; a table with a longer one was drawn for its layout

Row = Sequence[str]


def one_line(text: str) -> str:
    """Return a text with single spaces and no line ends."""
    return _SPACE.sub(" ", text).strip()


def heading(level: int, text: str) -> str:
    """Write a heading; "" for one without words."""
    text = one_line(text)
    return f"{'#' * min(max(level, 1), _DEEPEST)} {text}" if text else ""


def paragraph(text: str) -> str:
    """Write a paragraph; what only looks like our marks is moved a space to the right."""
    lines = (_SPACE_IN_LINE.sub(" ", line).strip() for line in text.split("\n"))
    return _LOOKS_LIKE_MARK.sub(" ", "\n".join(line for line in lines if line))


def list_item(depth: int, text: str, sign: str = "-") -> str:
    """Write an item of a list, `depth` counted from 0."""
    text = one_line(text)
    return f"{'  ' * min(max(depth, 0), _DEEPEST)}{sign} {text}" if text else ""


def join_blocks(blocks: Iterable[str]) -> str:
    """Join blocks by blank lines; items of one list stand on neighbouring lines."""
    written: list[str] = []
    was_item = False
    for block in blocks:
        if not block.strip():
            continue
        is_item = bool(_ITEM.match(block))
        if written:
            written.append("\n" if is_item and was_item else "\n\n")
        written.append(block)
        was_item = is_item
    return "".join(written)


def table(rows: Iterable[Row]) -> str:
    """Write a table row by row, each with the names of its columns, so that it reads alone.

    Pairs are written as `name: value`, a table without a head as rows between bars, and one that
    was drawn for its layout as paragraphs.
    """
    kept = [[one_line(cell) for cell in row] for row in rows]
    kept = [row for row in kept if any(row)]
    width = max((len(row) for row in kept), default=0)
    kept = [[*row, *[""] * (width - len(row))] for row in kept]
    is_layout = any(len(cell) > _LONGEST_CELL for row in kept for cell in row)
    if width < 2 or is_layout:
        return join_blocks(paragraph(cell) for row in kept for cell in row)
    if has_head(kept):
        return join_blocks(paragraph(named_row(kept[0], row)) for row in kept[1:])
    if width == 2 or len(kept) == 1:
        return join_blocks(paragraph(": ".join(filter(None, row))) for row in kept)
    lines = [_piped(row) for row in kept]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)


def has_head(rows: Sequence[Row]) -> bool:
    """Tell whether the first of rows of one length names the columns.

    Names differ, and are no numbers but years; the first may be missing, above the rows' own
    names. Of two columns the second must hold numbers, or they may be pairs.
    """
    if len(rows) < 2:
        return False
    first, *names = rows[0]
    is_named = all(names) and len({first, *names}) == len(names) + 1
    if not is_named or any(looks_like_number(name) for name in (first, *names)):
        years = all(_YEAR.fullmatch(name) for name in names)
        if not is_named or not years or looks_like_number(first):
            return False
    return len(names) > 1 or all(looks_like_number(row[1]) for row in rows[1:])


def looks_like_number(text: str) -> bool:
    """Tell whether a cell of text is a number, an amount or a date."""
    digits = sum(sign.isdigit() for sign in text)
    return digits > 0 and digits >= sum(sign.isalpha() for sign in text)


def named_row(names: Row, values: Row) -> str:
    """Write a row with the name of each column before its value, so that it reads alone."""
    pairs = zip(names, (one_line(value) for value in values), strict=False)
    return "; ".join(f"{name}: {value}" if name else value for name, value in pairs if value)


def _piped(cells: Row) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
