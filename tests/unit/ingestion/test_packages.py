"""What tells packages and compound files, and what none of them may do to the process asking."""

import io
from pathlib import Path

import pytest

from rag_app.errors import IngestionError
from rag_app.ingestion.compound_files import Kind, compound_kind
from rag_app.ingestion.packages import Package, kind_of, parse_xml, resolve
from tests.support import formats


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("docx", lambda path: formats.write_docx(path, "")),
        ("pptx", lambda path: formats.write_pptx(path, [""])),
        ("xlsx", lambda path: formats.write_xlsx(path, {"S": [["a"]]})),
        ("odt", lambda path: formats.write_opendocument(path, "text", "")),
        ("odp", lambda path: formats.write_opendocument(path, "presentation", "")),
        ("ods", lambda path: formats.write_opendocument(path, "spreadsheet", "")),
        ("epub", lambda path: formats.write_epub(path, [("a.xhtml", "")])),
        ("", lambda path: formats.write_zip(path, {"word/document.xml": "<w/>"})),
    ],
)
def test_a_package_says_itself_what_it_is(name: str, written, tmp_path: Path) -> None:
    with written(tmp_path / "x").open("rb") as stream:
        assert kind_of(stream) == name


def test_a_list_of_parts_that_would_fill_memory_is_not_read(tmp_path: Path) -> None:
    data = bytearray(formats.write_docx(tmp_path / "x", "").read_bytes())
    end = data.rfind(b"PK\x05\x06")
    data[end + 10 : end + 12] = (60_000).to_bytes(2, "little")

    assert kind_of(io.BytesIO(bytes(data))) == ""
    with pytest.raises(IngestionError, match="damaged"):
        Package(io.BytesIO(bytes(data)))


def test_parts_count_against_one_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_app.ingestion.packages._LARGEST_IN_ALL_BYTES", 2500)
    path = formats.write_zip(tmp_path / "x", dict.fromkeys("abc", b"x" * 1000))
    with path.open("rb") as stream:
        package = Package(stream)
        assert [len(package.read(name) or b"") for name in "ab"] == [1000, 1000]
        with pytest.raises(IngestionError, match="archive bomb"):
            package.read("c")


def test_references_stay_inside_the_package_and_external_ones_are_not_seen(
    tmp_path: Path,
) -> None:
    outside = formats.relations({"a": ("image", "https://example.org/x")})
    outside = outside.replace('Target="https', 'TargetMode="External" Target="https')
    path = formats.write_zip(tmp_path / "x", {"word/_rels/document.xml.rels": outside})
    with path.open("rb") as stream:
        assert Package(stream).relations("word/document.xml") == {}
    assert resolve("word/document.xml", "../../../etc/passwd") == "etc/passwd"
    assert resolve("ppt/slides/s.xml", "/ppt/media/a%20b.png#x") == "ppt/media/a b.png"


def test_entities_are_refused_and_nothing_outside_is_read() -> None:
    bomb = b'<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c "&b;&b;">]><a>&c;</a>'
    with pytest.raises(IngestionError, match="entities"):
        parse_xml(bomb)
    assert parse_xml(b'<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a>b</a>').text == "b"


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("EncryptionInfo", "EncryptedPackage"), Kind.PROTECTED),
        (("Workbook",), Kind.WORKBOOK),
        (("WordDocument",), Kind.WORD),
        (("Anything",), Kind.OTHER),
    ],
)
def test_a_compound_file_is_told_by_its_streams(
    names: tuple[str, ...], kind: Kind, tmp_path: Path
) -> None:
    with formats.write_compound(tmp_path / "x", *names).open("rb") as stream:
        assert compound_kind(stream) is kind
    assert compound_kind(io.BytesIO(b"%PDF-1.7" + bytes(600))) is None
