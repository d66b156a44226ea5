"""Every format through its real reader in the sandbox, a case a trait."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_app.errors import EmptyContentError, IngestionError, UnsupportedSourceError
from rag_app.ingestion.content import Extracted
from rag_app.ingestion.request import ExtractRequest
from rag_app.ingestion.sources import extract
from rag_app.settings import Settings
from tests.support import formats
from tests.support.formats import p_shape, p_table, w_item, w_paragraph, w_table

pytestmark = pytest.mark.integration


async def read(path: Path, name: str = "") -> Extracted:
    settings = Settings(home=path.parent)
    name = name or path.name
    return await extract(ExtractRequest(f"file:{name}", settings, path=path, name=name))


def docx(body: str, **parts: str) -> Callable[[Path], Path]:
    return lambda folder: formats.write_docx(folder / "a.docx", body, parts=parts)


W = formats.W
NUMBERING = (
    f'<w:numbering xmlns:w="{W}"><w:abstractNum w:abstractNumId="0">'
    '<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
    '<w:abstractNum w:abstractNumId="1">'
    '<w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/>'
    '<w:lvlText w:val="%1."/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2"/></w:lvl>'
    '</w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="0"/></w:num>'
    '<w:num w:numId="8"><w:abstractNumId w:val="1"/></w:num></w:numbering>'
)
FOOTNOTES = (
    f'<w:footnotes xmlns:w="{W}"><w:footnote w:type="separator" w:id="-1"><w:p/></w:footnote>'
    f'<w:footnote w:id="2">{w_paragraph("Seeley, 2010.")}</w:footnote></w:footnotes>'
)
COMMENTS = (
    f'<w:comments xmlns:w="{W}"><w:comment w:id="4" w:author="Ada">'
    f"{w_paragraph('Is that so?')}</w:comment></w:comments>"
)
INSERTED = (
    "<w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>"
)
BOX = (
    "<w:r><mc:AlternateContent><mc:Choice><w:drawing><w:txbxContent>"
    f"{w_paragraph('In a box.')}</w:txbxContent></w:drawing></mc:Choice><mc:Fallback><w:pict>"
    f"<w:txbxContent>{w_paragraph('In a box.')}</w:txbxContent></w:pict></mc:Fallback>"
    "</mc:AlternateContent></w:r>"
)
MERGED = "<w:tcPr><w:vMerge/></w:tcPr><w:p/>"

DOCX_CASES = {
    "headings by style, whatever the style is called": (
        docx(
            w_paragraph("Bees", "berschrift1") + w_paragraph("Dance", "Sub") + w_paragraph("Text.")
        ),
        "# Bees\n\n## Dance\n\nText.",
    ),
    "a heading by its outline level": (
        docx(w_paragraph("Odd", properties='<w:outlineLvl w:val="2"/>') + w_paragraph("Text.")),
        "### Odd\n\nText.",
    ),
    "lists with the numbers Word counts": (
        docx(
            w_item("Egg", 7)
            + w_item("Larva", 7, 1)
            + w_item("First", 8)
            + w_item("A", 8, 1)
            + w_item("Second", 8),
            numbering=NUMBERING,
        ),
        "- Egg\n  - Larva\n3. First\n\n  3.a A\n\n4. Second",
    ),
    "a table as rows, a merged cell said again": (
        docx(w_table([["Caste", "Days"], ["Queen", "16"], [MERGED, "16 | 17"]])),
        "Caste: Queen; Days: 16\n\nCaste: Queen; Days: 16 | 17",
    ),
    "a footnote behind its paragraph": (
        docx(
            w_paragraph("Bees dance", more='<w:r><w:footnoteReference w:id="2"/></w:r>')
            + w_paragraph("More."),
            footnotes=FOOTNOTES,
        ),
        "Bees dance\n\n¹ Seeley, 2010.\n\nMore.",
    ),
    "a comment with who wrote it": (
        docx(
            w_paragraph("Bees dance.", more='<w:r><w:commentReference w:id="4"/></w:r>'),
            comments=COMMENTS,
        ),
        "Bees dance.\n\n(Ada:) Is that so?",
    ),
    "tracked changes as accepted": (docx(w_paragraph("The ", more=INSERTED)), "The new"),
    "a text box once, not once for each version of Word": (
        docx(w_paragraph("Around.", more=BOX)),
        "Around.\n\nIn a box.",
    ),
    "content controls and links": (
        docx(
            f"<w:sdt><w:sdtContent>{w_paragraph('Held.')}</w:sdtContent></w:sdt>"
            "<w:p><w:hyperlink><w:r><w:t>linked</w:t></w:r></w:hyperlink></w:p>"
        ),
        "Held.\n\nlinked",
    ),
    "no table of contents, no hidden text, no field code": (
        docx(
            w_paragraph("Bees 1", "V1")
            + "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>unseen</w:t></w:r>"
            "<w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>seen</w:t></w:r></w:p>"
        ),
        "seen",
    ),
    "page breaks are no pages, since Word alone knows those": (
        docx(w_paragraph("One", more='<w:r><w:br w:type="page"/></w:r>') + w_paragraph("Two")),
        "One\n\nTwo",
    ),
    "words that look like our marks": (
        docx(w_paragraph("# not a heading") + w_paragraph("[00:01:02] not a time")),
        " # not a heading\n\n00:01:02 not a time",
    ),
}


@pytest.mark.parametrize("trait", DOCX_CASES)
async def test_a_word_document_is_read_with(trait: str, tmp_path: Path) -> None:
    write, expected = DOCX_CASES[trait]
    extracted = await read(write(tmp_path))

    assert extracted.content == expected.strip()
    assert (extracted.source_type, extracted.page_count) == ("office", None)


async def test_a_strict_word_document_is_read(tmp_path: Path) -> None:
    path = formats.write_docx(tmp_path / "a.docx", w_paragraph("Strict bees.", "berschrift1"))
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    with zipfile.ZipFile(path) as package:
        parts = {name: package.read(name).replace(W.encode(), strict.encode()) for name in
                 package.namelist()}  # fmt: skip

    extracted = await read(formats.write_zip(tmp_path / "b.docx", parts))

    assert extracted.content == "# Strict bees."


async def test_a_title_of_its_own_comes_before_the_first_heading_and_the_name(
    tmp_path: Path,
) -> None:
    body = w_paragraph("Bees", "berschrift1") + w_paragraph("Text.")
    titled = await read(formats.write_docx(tmp_path / "a.docx", body, title="On bees"))
    headed = await read(formats.write_docx(tmp_path / "b.docx", body))
    named = await read(formats.write_docx(tmp_path / "c.docx", w_paragraph("Text.")))

    assert (titled.title, headed.title, named.title) == ("On bees", "Bees", "c")


async def test_a_presentation_has_a_page_a_slide(tmp_path: Path) -> None:
    picture = "<p:pic/>"
    group = f"<p:grpSp>{p_shape(['In a group'])}</p:grpSp>"
    slides = [
        p_shape(["Swarm", "in June"], "body") + p_shape(["When bees leave"], "title") + group,
        picture + p_shape(["2"], "sldNum") + p_shape(["Confidential"], "ftr"),
        p_shape(["Figures"], "ctrTitle") + p_table([["Month", "Swarms"], ["June", "41"]]),
    ]
    path = formats.write_pptx(tmp_path / "a.pptx", slides, notes={3: "Mention the cold spring."})
    extracted = await read(path)

    assert extracted.content.split("\f") == [
        "# When bees leave\n\n- Swarm\n- in June\n\nIn a group",
        "",
        "# Figures\n\nMonth: June; Swarms: 41\n\nMention the cold spring.",
    ]
    assert extracted.extraction["pages"] == ["text", "empty", "text"]
    assert (extracted.source_type, extracted.page_count, extracted.title) == (
        "slides", 3, "When bees leave",
    )  # fmt: skip


XLSX_CASES: dict[str, tuple[list[list[object]], str]] = {
    "each row with the names of its columns": (
        [["Hive", "Honey in kg", "Seen"], ["Oak", 12.0, ("date", 45352)], ["Lime", 7.25, None]],
        "Hive: Oak; Honey in kg: 12; Seen: 2024-03-01\n\nHive: Lime; Honey in kg: 7.25",
    ),
    "what stands above the head": (
        [["Harvest 2024"], [], ["Hive", "Honey"], ["Oak", 12]],
        "Harvest 2024\n\nHive: Oak; Honey: 12",
    ),
    "numbers as they were typed": (
        [["A", "B"], [0.1 + 0.2, 1e15 / 10], [True, -3.0]],
        "A: 0.3; B: 100000000000000\n\nA: TRUE; B: -3",
    ),
    "percents as they are shown": (
        [["Hive", "Share"], ["Oak", ("percent", 0.125)], ["Lime", ("percent", 1)]],
        "Hive: Oak; Share: 12.5 %\n\nHive: Lime; Share: 100 %",
    ),
    "no head where the first row is numbers": ([[1, 2], [3, 4]], "A: 1; B: 2\n\nA: 3; B: 4"),
    "a head alone": ([["Hive", "Honey"]], "Hive; Honey"),
    "a form as pairs": (
        [["Name", "Ada"], ["Born", 1815], ["Town", "London"]],
        "Name: Ada\n\nBorn: 1815\n\nTown: London",
    ),
    "two columns of one name, and one without": (
        [["Hive", "Kg", "Kg", None, "Note"], ["Oak", 1, 2, "x", "y"]],
        "Hive: Oak; Kg: 1; Kg: 2; D: x; Note: y",
    ),
}


@pytest.mark.parametrize("trait", XLSX_CASES)
async def test_a_sheet_is_read_with(trait: str, tmp_path: Path) -> None:
    rows, expected = XLSX_CASES[trait]
    extracted = await read(formats.write_xlsx(tmp_path / "a.xlsx", {"Bees": rows}))

    assert extracted.content == f"# Bees\n\n{expected}"
    assert (extracted.source_type, extracted.warnings) == ("spreadsheet", ())


async def test_hidden_sheets_are_read_and_named(tmp_path: Path) -> None:
    sheets = {"Open": [["a", "b"], ["1", "x"]], "Kept": [["c", "d"], ["2", "y"]], "Bare": []}
    extracted = await read(formats.write_xlsx(tmp_path / "a.xlsx", sheets, hidden=["Kept"]))

    assert extracted.content == "# Open\n\na: 1; b: x\n\n# Kept\n\nc: 2; d: y"
    assert extracted.warnings == ('Hidden in the file, but read: "Kept".',)


async def test_a_cell_over_several_rows_stands_in_each(tmp_path: Path) -> None:
    rows = [["Caste", "Day"], ["Queen", "3"], [None, "16"], ["Drone", "24"]]
    extracted = await read(formats.write_xlsx(tmp_path / "a.xlsx", {"S": rows}, merged="A2:A3"))

    assert extracted.content == (
        "# S\n\nCaste: Queen; Day: 3\n\nCaste: Queen; Day: 16\n\nCaste: Drone; Day: 24"
    )


async def test_what_stands_beside_the_cells_is_read(tmp_path: Path) -> None:
    path = formats.write_xlsx(tmp_path / "a.xlsx", {"Open": [["a", "b"], ["1", "x"]]})
    with zipfile.ZipFile(path) as package:
        parts: dict[str, str | bytes] = {name: package.read(name) for name in package.namelist()}
    parts["xl/worksheets/_rels/sheet1.xml.rels"] = formats.relations(
        {"c": ("comments", "../comments1.xml"), "d": ("drawing", "../drawings/d.xml")}
    )
    parts["xl/comments1.xml"] = (
        f'<comments xmlns="{formats.S}"><commentList><comment ref="B2"><text><r><t>Is that </t></r>'
        "<r><t>so?</t></r></text></comment></commentList></comments>"
    )
    parts["xl/drawings/d.xml"] = (
        f'<d xmlns:a="{formats.A}"><txBody><a:p><a:r><a:t>In a box.</a:t></a:r></a:p></txBody></d>'
    )

    extracted = await read(formats.write_zip(tmp_path / "b.xlsx", parts))

    assert extracted.content == "# Open\n\na: 1; b: x\n\nB2: Is that so?\n\nIn a box."
    assert extracted.title == "b"


async def test_a_sheet_that_claims_to_be_endless_is_refused_or_read_but_never_hangs(
    tmp_path: Path,
) -> None:
    raw = (
        '<row r="1"><c r="A1"><v>1</v></c></row>'
        '<row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    )
    path = formats.write_xlsx(tmp_path / "a.xlsx", {"Bees": []}, raw=raw)

    with pytest.raises(IngestionError, match="its reader stopped"):
        await read(path)


ODT_BODY = (
    '<text:h text:outline-level="1">Bees</text:h><text:p>They<text:s/>dance<text:note>'
    "<text:note-citation>1</text:note-citation><text:note-body><text:p>Seeley.</text:p>"
    "</text:note-body></text:note> well.</text:p><text:list><text:list-item><text:p>Egg</text:p>"
    "<text:list><text:list-item><text:p>Larva</text:p></text:list-item></text:list>"
    "</text:list-item></text:list><table:table><table:table-row>"
    "<table:table-cell><text:p>Caste</text:p></table:table-cell><table:table-cell><text:p>Days"
    "</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>"
    "Queen</text:p></table:table-cell><table:table-cell><text:p>16</text:p></table:table-cell>"
    "</table:table-row></table:table>"
)


async def test_an_opendocument_text_is_read(tmp_path: Path) -> None:
    extracted = await read(formats.write_opendocument(tmp_path / "a.odt", "text", ODT_BODY))

    assert extracted.content == (
        "# Bees\n\nThey dance well.\n\n¹ Seeley.\n\n- Egg\n  - Larva\n\nCaste: Queen; Days: 16"
    )
    assert (extracted.title, extracted.source_type) == ("Open bees", "office")


async def test_an_opendocument_presentation_has_a_page_a_slide(tmp_path: Path) -> None:
    body = (
        "<draw:page><draw:frame><draw:text-box><text:p>Text</text:p></draw:text-box></draw:frame>"
        '<draw:frame presentation:class="title"><draw:text-box><text:p>First</text:p>'
        "</draw:text-box></draw:frame></draw:page><draw:page><presentation:notes><draw:frame>"
        "<draw:text-box><text:p>Say it slowly.</text:p></draw:text-box></draw:frame>"
        "</presentation:notes></draw:page>"
    )
    path = formats.write_opendocument(tmp_path / "a.odp", "presentation", body)
    extracted = await read(path)

    assert extracted.content.split("\f") == ["# First\n\nText", "Say it slowly."]
    assert (extracted.source_type, extracted.page_count) == ("slides", 2)


async def test_a_book_is_read_in_the_order_of_its_spine(tmp_path: Path) -> None:
    chapters = [
        ("z.xhtml", "<h1>One</h1><p>First <b>words</b>.</p><ul><li>Egg</li><li>Larva</li></ul>"),
        ("a.xhtml", "<p>No heading here.</p><table><tr><td>a</td><td>b</td></tr></table>"),
    ]
    nav = '<ol><li><a href="text/a.xhtml#x">The second</a></li></ol>'
    extracted = await read(formats.write_epub(tmp_path / "a.epub", chapters, nav=nav))

    assert extracted.content == (
        "# One\n\nFirst words.\n\n- Egg\n- Larva\n\n# The second\n\nNo heading here.\n\na: b"
    )
    assert (extracted.title, extracted.source_type, extracted.language) == (
        "The book of bees", "ebook", "en",
    )  # fmt: skip


CSV_CASES = {
    "commas": ("Hive,Honey\nOak,12\n", "Hive: Oak; Honey: 12"),
    "semicolons and decimal commas": (
        "Stock;Honig;Wachs\nEiche;12,5;0,75\nLinde;7,25;0,5\n",
        "Stock: Eiche; Honig: 12,5; Wachs: 0,75\n\nStock: Linde; Honig: 7,25; Wachs: 0,5",
    ),
    "tabs": ("Hive\tHoney\nOak\t1,5\n", "Hive: Oak; Honey: 1,5"),
    "its own word for the delimiter": ("sep=|\nHive|Note\nOak|a, b\n", "Hive: Oak; Note: a, b"),
    "quotation marks, with a line end inside": (
        'Hive,Note\nOak,"tall, old\nand ""wide"""\n', 'Hive: Oak; Note: tall, old and "wide"',
    ),
    "a quotation mark that nothing closes": (
        'Hive,Note\nOak,5" high\n', 'Hive: Oak; Note: 5" high',
    ),
    "no head": ("1,2\n3,4\n", "A: 1; B: 2\n\nA: 3; B: 4"),
    "one column": ("Hive\nOak\nLime\n", "Hive\n\nOak\n\nLime"),
}  # fmt: skip


@pytest.mark.parametrize("trait", CSV_CASES)
async def test_a_table_is_read_with(trait: str, tmp_path: Path) -> None:
    text, expected = CSV_CASES[trait]
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")

    extracted = await read(path)

    assert extracted.content == expected
    assert (extracted.title, extracted.source_type) == ("a", "spreadsheet")


async def test_a_table_in_an_old_encoding_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("Straße;Ort\nBienenweg 3;Köln\nMühlgasse 12;Grünstadt\n".encode("cp1252"))

    assert "Straße: Bienenweg 3; Ort: Köln" in (await read(path)).content


SUBTITLES = {
    "SRT": (
        "1\r\n00:00:01,000 --> 00:00:03,500\r\n<i>Bees</i> dance.\r\n\r\n"
        "2\r\n00:01:05,250 --> 00:01:07,000\r\n{\\an8}They &amp; others\r\nfly home.\r\n",
        "[00:00:01] Bees dance.\n\n[00:01:05] They & others fly home.",
    ),
    "VTT": (
        "WEBVTT\n\nNOTE not said\n\nSTYLE\n::cue {}\n\nintro\n00:01.000 --> 00:03.000 line:0\n"
        "<v Ada>Bees dance.</v>\n\n01:00:05.000 --> 01:00:09.000\nThey <00:01:06.000><c>fly</c>.\n",
        "[00:00:01] Ada: Bees dance.\n\n[01:00:05] They fly.",
    ),
    "lines that roll upwards": (
        "WEBVTT\n\n00:01.000 --> 00:03.000\nBees dance\n\n00:03.000 --> 00:06.000\nBees dance\n"
        "in the dark.\n",
        "[00:00:01] Bees dance in the dark.",
    ),
}


@pytest.mark.parametrize("trait", SUBTITLES)
async def test_subtitles_keep_their_seconds(trait: str, tmp_path: Path) -> None:
    text, expected = SUBTITLES[trait]
    path = tmp_path / "a.srt"
    path.write_text(text, encoding="utf-8", newline="")

    extracted = await read(path)

    assert extracted.content == expected
    assert extracted.source_type == "subtitles"
    assert extracted.duration_seconds is not None


async def test_rich_text_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.rtf"
    path.write_bytes(
        rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}\f0 Die K\'f6nigin.\par "
        rb"\u1055?\u1095?\par}"
    )

    extracted = await read(path)

    assert extracted.content == "Die Königin.\n\nПч"
    assert extracted.source_type == "office"


def write_bytes(data: bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / "x").write_bytes(data)
        return folder / "x"

    return write


def encrypted_zip(folder: Path) -> Path:
    return formats.write_opendocument(folder / "x", "text", "", is_encrypted=True)


def entities(folder: Path) -> Path:
    path = formats.write_docx(folder / "a.docx", w_paragraph("&lol;"))
    with zipfile.ZipFile(path) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    text = parts["word/document.xml"].decode().removeprefix(formats.HEAD)
    declared = '<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd"><!ENTITY lol "&a;&a;">]>'
    parts["word/document.xml"] = (declared + text.replace("&amp;lol;", "&lol;")).encode()
    return formats.write_zip(folder / "x", parts)


DRM = (
    '<encryption xmlns="c"><e:EncryptedData xmlns:e="e"><e:EncryptionMethod '
    'Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></e:EncryptedData></encryption>'
)
REFUSED: dict[str, tuple[Callable[[Path], Path], type[IngestionError], str]] = {
    "an Office file behind a password": (
        lambda folder: formats.write_compound(folder / "x", "EncryptionInfo", "EncryptedPackage"),
        IngestionError, "is protected by a password. Save a copy",
    ),
    "an OpenDocument file behind a password": (
        encrypted_zip, IngestionError, "is protected by a password. Save a copy",
    ),
    "an old Word file": (
        lambda folder: formats.write_compound(folder / "x", "WordDocument", "1Table"),
        UnsupportedSourceError, "Save it as .docx",
    ),
    "an old PowerPoint file": (
        lambda folder: formats.write_compound(folder / "x", "PowerPoint Document"),
        UnsupportedSourceError, "Save it as .pptx",
    ),
    "a book that its shop protects": (
        lambda folder: formats.write_epub(
            folder / "x", [("a.xhtml", "x")], others={"META-INF/encryption.xml": DRM}
        ),
        IngestionError, r"protected by its shop \(DRM\)",
    ),
    "an archive bomb": (
        lambda folder: formats.bomb(folder / "x", "word/document.xml", 200 << 20),
        IngestionError, "as those of an archive bomb do",
    ),
    "XML that defines entities": (entities, IngestionError, "defines entities"),
    "a Word document without words": (
        lambda folder: formats.write_docx(folder / "x", w_paragraph("")),
        EmptyContentError, "holds no text",
    ),
    "half a Word document": (
        lambda folder: write_bytes(
            formats.write_docx(folder / "y", w_paragraph("Bees.")).read_bytes()[:-200]
        )(folder),
        UnsupportedSourceError, "is an archive",
    ),
    "a workbook that is none": (
        lambda folder: formats.write_office(folder / "x", "xl/workbook.xml", {}),
        UnsupportedSourceError, "is damaged",
    ),
    "a picture": (write_bytes(b"\x89PNG\r\n\x1a\n"), UnsupportedSourceError, "is a picture"),
    "a film": (write_bytes(b"\0\0\0 ftypisom\0\0"), UnsupportedSourceError, "is a film"),
    "an archive of other files": (
        lambda folder: formats.write_zip(folder / "x", {"a.txt": "bees"}),
        UnsupportedSourceError, "Unpack it and add the files",
    ),
    "what nothing knows": (
        write_bytes(bytes(range(256))), UnsupportedSourceError, "add PDF, Word, PowerPoint",
    ),
}  # fmt: skip


@pytest.mark.parametrize("trait", REFUSED)
async def test_a_sentence_refuses(trait: str, tmp_path: Path) -> None:
    write, kind, words = REFUSED[trait]
    path = write(tmp_path)

    with pytest.raises(kind, match=words) as raised:
        await read(path, "report.xyz")

    assert '"report.xyz"' in str(raised.value)
    assert type(raised.value) is kind


async def test_half_a_file_of_a_known_name_is_called_damaged(tmp_path: Path) -> None:
    whole = formats.write_docx(tmp_path / "a.docx", w_paragraph("Bees."))
    (tmp_path / "b.docx").write_bytes(whole.read_bytes()[:-200])

    with pytest.raises(UnsupportedSourceError, match=r'"b.docx": it is damaged'):
        await read(tmp_path / "b.docx")


async def test_the_bytes_decide_and_not_the_name(tmp_path: Path) -> None:
    book = await read(formats.write_epub(tmp_path / "a", [("a.xhtml", "<p>Bees.</p>")]), "a.pdf")
    sheet = await read(formats.write_xlsx(tmp_path / "b", {"S": [["a", "b"], [1, 2]]}), "b.csv")

    assert (book.source_type, sheet.source_type) == ("ebook", "spreadsheet")
