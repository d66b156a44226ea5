"""Writes the rows of a sheet so that each can be read alone: every value with its column's name."""

from collections.abc import Iterator, Sequence

from rag_app.ingestion.writing import (
    join_blocks,
    looks_like_number,
    named_row,
    one_line,
    paragraph,
)

Cells = Sequence[str]

_LOOKED_AT = 20  # rows, for the head
_LONGEST_NAME = 60  # signs
_FEWEST_PAIRS = 3


def write_rows(rows: Sequence[Cells], numbers: Sequence[Sequence[bool]] | None = None) -> str:
    """Write a sheet, one paragraph a row.

    `numbers` tells which cells are numbers or dates, where that is known. The head is the first
    row that is as wide as those below it and holds names only; what stands above it is text. A
    sheet without one is written with its columns' letters, one of two columns that hold this and
    that, as a form does, as pairs.
    """
    kept = [
        (place, [one_line(cell) for cell in row])
        for place, row in enumerate(rows)
        if any(cell.strip() for cell in row)
    ]
    if _are_pairs(kept, numbers):
        return join_blocks(paragraph(": ".join(_filled(row))) for _, row in kept)
    head = _find_head(kept, numbers)
    blocks: list[str] = []
    names: list[str] = []
    for number, (_, row) in enumerate(kept):
        if head is None or number < head:
            blocks.append(paragraph("; ".join(_lettered(row) if head is None else _filled(row))))
        elif number == head:
            names = row
            if head == len(kept) - 1:
                blocks.append(paragraph("; ".join(_filled(row))))
        else:
            blocks.append(paragraph(named_row(_names(names, len(row)), row)))
    return join_blocks(blocks)


def column_letters(place: int) -> str:
    """Return what a spreadsheet calls a column: A, B, ..., AA."""
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _find_head(
    rows: Sequence[tuple[int, Cells]], numbers: Sequence[Sequence[bool]] | None
) -> int | None:
    if not rows:
        return None
    looked_at = rows[:_LOOKED_AT]
    width = max(sum(map(bool, row)) for _, row in looked_at)
    for number, (place, row) in enumerate(looked_at):
        filled = [(column, cell) for column, cell in enumerate(row) if cell]
        if len(filled) < max(2, 0.6 * width) and width > 1:
            continue  # a title above the table
        is_named = not any(
            _is_number(numbers, place, column, cell) or len(cell) > _LONGEST_NAME
            for column, cell in filled
        )
        return number if is_named and (width > 1 or len(rows) == 1) else None
    return None


def _are_pairs(rows: Sequence[tuple[int, Cells]], numbers: Sequence[Sequence[bool]] | None) -> bool:
    """Tell whether two columns are names and values: words and numbers stand below each other."""
    if len(rows) < _FEWEST_PAIRS or any(len(list(_filled(row[2:]))) for _, row in rows):
        return False
    values = [
        _is_number(numbers, place, 1, row[1]) for place, row in rows if len(row) > 1 and row[1]
    ]
    names = [_is_number(numbers, place, 0, row[0]) for place, row in rows if row[0]]
    below = set(values[1:])
    return len(values) == len(rows) == len(names) and len(below) > 1 and not any(names)


def _is_number(
    numbers: Sequence[Sequence[bool]] | None, place: int, column: int, cell: str
) -> bool:
    return looks_like_number(cell) if numbers is None else numbers[place][column]


def _names(names: Cells, width: int) -> list[str]:
    return [
        (names[place] if place < len(names) else "") or column_letters(place)
        for place in range(width)
    ]


def _filled(row: Cells) -> Iterator[str]:
    return (cell for cell in row if cell)


def _lettered(row: Cells) -> Iterator[str]:
    if sum(map(bool, row)) == 1:
        return _filled(row)
    return (f"{column_letters(place)}: {cell}" for place, cell in enumerate(row) if cell)
