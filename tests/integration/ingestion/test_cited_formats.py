"""Every format through the whole pipeline: asked about, cited, and opened at its place."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rag_app import chat
from rag_app.library import evidence
from rag_app.query.results import Finished
from rag_app.runtime import Runtime
from rag_app.ui.state.evidence_views import evidence_view
from tests.support import formats
from tests.support.formats import p_shape, w_paragraph
from tests.support.ingesting import add_path

pytestmark = pytest.mark.integration

FILLER = "Other hives were painted blue in spring, and their keepers went home early. "
FACT = "The bridge of Arnfeld was built in 1742 by Matilda Krug."
QUESTION = "In which year was the bridge of Arnfeld built?"
ROWS = [["Bridge", "Built", "Builder"], ["Birkmoor", 1809, "Anna Holt"],
        ["Arnfeld", 1742, "Matilda Krug"]]  # fmt: skip


def srt(folder: Path) -> Path:
    cues = (
        f"1\n00:00:01,000 --> 00:00:04,000\n{FILLER}\n\n2\n00:03:35,000 --> 00:03:39,500\n{FACT}\n"
    )
    path = folder / "talk.srt"
    path.write_text(cues)
    return path


def text_file(name: str, text: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_text(text)
        return folder / name

    return write


CASES: dict[str, tuple[Callable[[Path], Path], str, dict[str, object], str]] = {
    "docx": (
        lambda folder: formats.write_docx(
            folder / "a.docx",
            w_paragraph("Hives", "berschrift1") + w_paragraph(FILLER * 12)
            + w_paragraph("Bridges", "berschrift1") + w_paragraph(FACT),
        ),
        "1742", {"heading": "Bridges"}, "text",
    ),
    "pptx": (
        lambda folder: formats.write_pptx(
            folder / "a.pptx", [p_shape([FILLER]), p_shape(["Bridges"], "title") + p_shape([FACT])]
        ),
        "1742", {"page": 2}, "text",
    ),
    "xlsx": (
        lambda folder: formats.write_xlsx(
            folder / "a.xlsx", {"Hives": [["Hive", "Kg"], ["Oak", 3]] * 60, "Bridges": ROWS}
        ),
        "Bridge: Arnfeld; Built: 1742", {"heading": "Bridges"}, "text",
    ),
    "csv": (
        text_file("a.csv", "\n".join(";".join(map(str, row)) for row in ROWS)),
        "Bridge: Arnfeld; Built: 1742", {"heading": None}, "text",
    ),
    "odt": (
        lambda folder: formats.write_opendocument(
            folder / "a.odt", "text",
            f"<text:h>Hives</text:h><text:p>{FILLER * 12}</text:p><text:h>Bridges</text:h>"
            f"<text:p>{FACT}</text:p>",
        ),
        "1742", {"heading": "Bridges"}, "text",
    ),
    "epub": (
        lambda folder: formats.write_epub(
            folder / "a.epub",
            [("1.xhtml", f"<h1>Hives</h1><p>{FILLER * 12}</p>"),
             ("2.xhtml", f"<h1>Bridges</h1><p>{FACT}</p>")],
        ),
        "1742", {"heading": "Bridges"}, "text",
    ),
    "rtf": (
        text_file("a.rtf", r"{\rtf1\ansi " + FILLER + r"\par " + FACT + r"\par}"),
        "1742", {"heading": None}, "text",
    ),
    "html": (
        text_file(
            "a.html",
            f"<!doctype html><title>Valley</title><main><h1>Hives</h1><p>{FILLER * 12}</p>"
            f"<h2>Bridges</h2><p>{FACT}</p></main>",
        ),
        "1742", {"heading": "Bridges"}, "web",
    ),
    "srt": (srt, "1742", {"second": 215}, "video"),
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
async def test_a_fact_is_cited_at_its_place(kind: str, runtime: Runtime, tmp_path: Path) -> None:
    write, words, place, shown_as = CASES[kind]
    document = await add_path(runtime, write(tmp_path))
    assert document.status == "ready", document.error

    events = [event async for event in chat.take_turn(runtime, None, QUESTION)]
    assert isinstance(events[-1], Finished), events[-1]
    citation = events[-1].answer.citations[0]
    opened = await evidence.open_evidence(
        runtime.database, runtime.workspace_id,
        version_id=citation.passage.version_id, start=citation.start, end=citation.end,
    )  # fmt: skip
    view = evidence_view(opened, "en")

    assert words in citation.quote
    assert opened.quote == citation.quote
    assert {name: getattr(opened, name) for name in place} == place
    assert view.kind == shown_as
    assert opened.link.startswith(f"/documents/{document.id}?")
