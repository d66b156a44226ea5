"""Writes what a reader found by the conventions of content: headings, lists, tables, paragraphs."""

import re
from collections.abc import Iterable, Sequence

_SPACE = re.compile(r"[ \t\r\n\v\f\u00a0]+")
_SPACE_IN_LINE = re.compile(r"[ \t\r\v\f\u00a0]+")
_LOOKS_LIKE_MARK = re.compile(r"^(?=#{1,6}[ \t]|`{3}|~{3})", re.MULTILINE)
_ITEM = re.compile(r" *(?:-|\d{1,3}[.)]) ")
_DEEPEST = 6
_LONG_TABLE = 1500  # signs, about what one passage holds
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
    """Write a table, its first row as the head.

    A long one is written row by row with the names of its columns, so that each part of it can be
    read alone, and one that was drawn for its layout as paragraphs.
    """
    kept = [[one_line(cell) for cell in row] for row in rows]
    kept = [row for row in kept if any(row)]
    width = max((len(row) for row in kept), default=0)
    is_layout = any(len(cell) > _LONGEST_CELL for row in kept for cell in row)
    if width < 2 or is_layout:
        return join_blocks(paragraph(cell) for row in kept for cell in row)
    if _has_head(kept, width) and sum(len(cell) for row in kept for cell in row) > _LONG_TABLE:
        return join_blocks(paragraph(named_row(kept[0], row)) for row in kept[1:])
    lines = [_piped([*row, *[""] * (width - len(row))]) for row in kept]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)


def named_row(names: Row, values: Row) -> str:
    """Write a row with the name of each column before its value, so that it reads alone."""
    pairs = zip(names, (one_line(value) for value in values), strict=False)
    return "; ".join(f"{name}: {value}" if name else value for name, value in pairs if value)


def _has_head(rows: Sequence[Row], width: int) -> bool:
    head = rows[0]
    is_named = len(head) == width and all(head) and len(set(head)) == width
    return is_named and len(rows) > 2 and not any(sign.isdigit() for name in head for sign in name)


def _piped(cells: Row) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
