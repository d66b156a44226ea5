"""Reads spreadsheets (XLSX, XLSB, XLS, ODS), an answer a sheet. Runs inside the sandbox.

The only file that imports python_calamine.
"""

from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

import python_calamine
from python_calamine import CalamineSheet, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from rag_app.errors import IngestionError, UnsupportedSourceError
from rag_app.ingestion.rows import write_rows
from rag_app.ingestion.sheet_extras import SheetExtras, read_extras
from rag_app.ingestion.writing import heading, join_blocks

_MOST_CELLS = 2_000_000


class _Percent(float):
    """A number that its cell shows times a hundred."""


Answer = tuple[dict[str, Any], bytes]


def read_sheets(request: Mapping[str, Any]) -> Iterator[Answer]:
    """Answer with the names of the hidden sheets, then with the text of each sheet."""
    try:
        workbook = CalamineWorkbook.from_path(request["path"])
    except python_calamine.PasswordError as error:
        raise IngestionError(
            "it is protected by a password. Save a copy without one and add that."
        ) from error
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise UnsupportedSourceError(
            "it is damaged. Open it with the program that wrote it, save it anew and add that."
        ) from error
    kept = [sheet for sheet in workbook.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
    hidden = [sheet.name for sheet in kept if sheet.visible != SheetVisibleEnum.Visible]
    yield {"hidden": hidden}, b""
    extras = read_extras(request["path"])
    left = _MOST_CELLS
    for sheet in kept:
        extra = extras.get(sheet.name, SheetExtras())
        try:
            rows = _rows(workbook.get_sheet_by_name(sheet.name), extra)
        except (python_calamine.CalamineError, ValueError) as error:
            yield {"sheet": sheet.name, "failure": str(error)}, b""
            continue
        shown = rows[: max(0, left) // max(1, len(rows[0]) if rows else 1)]
        left -= sum(len(row) for row in shown)
        text = write_rows(
            [[_written(cell) for cell in row] for row in shown],
            [[not isinstance(cell, str) and cell is not None for cell in row] for row in shown],
        )
        if text or extra.notes:
            text = join_blocks([heading(1, sheet.name), text, *extra.notes])
        yield {"sheet": sheet.name, "left_out": len(rows) - len(shown)}, text.encode()


def _rows(sheet: CalamineSheet, extra: SheetExtras) -> list[list[object]]:
    """Return the cells of a sheet; one that spans several rows stands in each of them."""
    rows: list[list[object]] = sheet.to_python(skip_empty_area=True)  # type: ignore[assignment]
    top, left = sheet.start or (0, 0)
    for row, column in extra.percents:
        if 0 <= row - top < len(rows) and 0 <= column - left < len(rows[0]):
            value = rows[row - top][column - left]
            if isinstance(value, int | float):
                rows[row - top][column - left] = _Percent(value)
    for (first, column), (last, _) in sheet.merged_cell_ranges or ():
        place = column - left
        if first < top or not 0 <= place < len(rows[0] if rows else ()):
            continue  # an empty one beside the cells that are filled
        for cells in rows[first - top + 1 : last - top + 1]:
            if cells[place] in ("", None):
                cells[place] = rows[first - top][place]
    return rows


def _written(cell: object) -> str:
    """Return a value as a person reads it; of the cell's format only percent is known."""
    if isinstance(cell, _Percent):
        return f"{100 * cell:.10g} %"
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        # what is stored is the nearest binary fraction, of which 15 digits were typed or shown
        return f"{cell:.0f}" if cell.is_integer() and abs(cell) < 1e15 else f"{cell:.15g}"
    if isinstance(cell, datetime):
        is_day = cell.time() == time()
        return (
            cell.date().isoformat()
            if is_day
            else cell.isoformat(" ", "seconds").removesuffix(":00")
        )
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, time):
        return cell.isoformat("seconds").removesuffix(":00")
    if isinstance(cell, timedelta):
        minutes, seconds = divmod(round(cell.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02d}" + (f":{seconds:02d}" if seconds else "")
    return "" if cell is None else str(cell).encode("utf-8", "replace").decode()
