import codecs

import pytest

from rag_app.ingestion.encodings import decode

TEXT = "Die Straße führt über den Fluß; Ärger gibt es überall in größeren Städten."
RUSSIAN = "Пчёлы танцуют, чтобы рассказать друг другу, где растут цветы. " * 3


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(), codecs.BOM_UTF8 + TEXT.encode(), TEXT.encode("utf-16"),
        TEXT.encode("utf-16-le"), TEXT.encode("utf-16-be"), TEXT.encode("utf-32"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), TEXT.encode("latin-1"),
    ],
)  # fmt: skip
def test_every_way_to_write_german_is_read(data: bytes) -> None:
    assert decode(data) == TEXT


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "utf-8"])
def test_russian_is_read(encoding: str) -> None:
    assert decode(RUSSIAN.encode(encoding)) == RUSSIAN


def test_what_the_server_says_counts_where_the_bytes_do_not_speak() -> None:
    chinese = "蜜蜂跳舞"

    assert chinese == decode(chinese.encode("gbk"), "gbk")
    assert decode(TEXT.encode(), "latin-1") == TEXT
    assert decode(TEXT.encode("latin-1"), "no-such-encoding") == TEXT


def test_bytes_that_are_no_text_are_told() -> None:
    assert decode(bytes(range(256)) * 10) is None
    assert decode(b"\x7fELF\x02\x01\x01" + b"\x00" * 9 + b"\x03\x00>\x00\x01") is None


def test_an_empty_file_is_an_empty_text() -> None:
    assert decode(b"") == ""
