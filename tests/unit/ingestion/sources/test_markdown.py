import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.errors import EmptyContentError, IngestionError, UnsupportedSourceError
from rag_app.ingestion.content import Extracted
from rag_app.ingestion.request import ExtractRequest
from rag_app.ingestion.sources import extract
from rag_app.ingestion.sources.markdown import _FRONT_TITLE, _normalise
from rag_app.settings import Settings


async def extract_text(folder: Path, text: str | bytes, name: str = "note.md") -> Extracted:
    path = folder / "stored"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    settings = Settings(home=folder)
    return await extract(ExtractRequest(f"file:{name}", settings, path=path, name=name))


async def test_both_styles_of_heading_become_one(tmp_path: Path) -> None:
    text = (
        "Bees\n====\n\nText.\n\nDance\n-----\n  ### Steps ###\nMore.\n\n- item\n---\n| a |\n---\n"
    )
    extracted = await extract_text(tmp_path, text)

    assert (
        extracted.content
        == "# Bees\n\nText.\n\n## Dance\n### Steps\nMore.\n\n- item\n---\n| a |\n---"
    )
    assert (
        extracted.title,
        extracted.source_type,
        extracted.page_count,
    ) == ("Bees", "markdown", None)


async def test_fenced_code_is_left_alone(tmp_path: Path) -> None:
    text = "Intro\n\n```\n# comment\nname\n====\n```\n\n# Real"
    extracted = await extract_text(tmp_path, text)

    assert text == extracted.content
    assert extracted.title == "note"


async def test_front_matter_gives_the_title_and_is_no_content(tmp_path: Path) -> None:
    extracted = await extract_text(tmp_path, '---\ntitle: "On bees"\ntags: [a]\n---\n\n# First\nx')

    assert (extracted.title, extracted.content) == ("On bees", "# First\nx")


async def test_a_rule_at_the_start_is_no_front_matter(tmp_path: Path) -> None:
    extracted = await extract_text(tmp_path, "---\n\nSome text without an end of the rule")

    assert "Some text" in extracted.content


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
async def test_encodings_do_not_matter(tmp_path: Path, encoding: str) -> None:
    text = "Ärger über größere Straßen\r\n\r\nfür alle Bürger und Mädchen.\x0c"
    extracted = await extract_text(tmp_path, text.encode(encoding), "notes.txt")

    assert extracted.content == "Ärger über größere Straßen\n\nfür alle Bürger und Mädchen."
    assert extracted.title == "notes"


async def test_a_file_without_text_says_so(tmp_path: Path) -> None:
    with pytest.raises(EmptyContentError, match=r"note\.md"):
        await extract_text(tmp_path, " \n\n--- \n")


async def test_a_picture_is_no_text_whatever_it_is_called(tmp_path: Path) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(range(32)) * 20
    with pytest.raises(UnsupportedSourceError, match=r"photo\.md"):
        await extract_text(tmp_path, picture, "photo.md")
    with pytest.raises(UnsupportedSourceError, match=r"photo\.png"):
        await extract_text(tmp_path, picture, "photo.png")


# what a heading was before a long run of spaces in it had to be read once only
HEADING_BEFORE = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")


@given(st.text(st.sampled_from("# \ta"), max_size=14))
def test_headings_are_found_as_by_the_plain_expression(line: str) -> None:
    found = HEADING_BEFORE.match(line)
    expected = line if found is None else f"{found[1]} {found[2]}" if found[2] else ""

    assert _normalise(line) == expected


@pytest.mark.parametrize("start", ["# a", "title: a"])
def test_a_line_of_many_spaces_takes_as_much_longer_as_it_is_long(start: str) -> None:
    def seconds(size: int) -> float:
        line = f"{start}{' ' * size}b"
        began = time.perf_counter()
        _normalise(line)
        _FRONT_TITLE.search(line)
        return time.perf_counter() - began

    short, long = (min(seconds(size) for _ in range(3)) for size in (4_000, 64_000))

    assert long < 80 * max(short, 0.0002)  # 16 when linear, 256 when quadratic


@pytest.mark.parametrize(("name", "start"), [("note.md", b"Bees "), ("page.html", b"<html>")])
async def test_a_text_too_long_for_one_document_says_so_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, start: bytes
) -> None:
    def refuse(_: ExtractRequest) -> bytes:
        raise AssertionError("it was read")

    path = tmp_path / "stored"
    with path.open("wb") as file:
        file.write(start)
        file.truncate(51 << 20)
    monkeypatch.setattr(ExtractRequest, "read", refuse)

    with pytest.raises(IngestionError, match=rf"{re.escape(name)}.* more than \d+ MB"):
        await extract(ExtractRequest("file:x", Settings(home=tmp_path), path=path, name=name))


async def test_a_page_saved_in_utf16_is_a_page(tmp_path: Path) -> None:
    html = "<html><body><p>Bees dance to tell where the flowers are, für alle.</p></body></html>"
    extracted = await extract_text(tmp_path, html.encode("utf-16"), "page.html")

    assert (extracted.source_type, "<p>" in extracted.content) == ("web", False)
