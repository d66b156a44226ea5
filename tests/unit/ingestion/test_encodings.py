import codecs

import pytest

from rag_app.ingestion import encodings
from rag_app.ingestion.encodings import Decoded

TEXT = "Die Straße führt über den Fluß; Ärger gibt es überall in größeren Städten."


def decode(data: bytes, declared: str | None = None) -> str | None:
    found = encodings.decode(data, declared)
    return None if found is None else found.text


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


HUNGARIAN = "Az őrült spanyolviaszgőzös űrhajó előtt időben érkező nők hűtőszekrényt gyűjtöttek.\n"
BULGARIAN = "Пчелите танцуват, за да покажат на другите къде растат цветята и колко е далеч.\n"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("cp1250", HUNGARIAN), ("iso8859-2", HUNGARIAN), ("cp1251", BULGARIAN)],
)
def test_letters_that_other_encodings_hold_in_the_same_places_are_told_apart(
    encoding: str, text: str
) -> None:
    assert decode((text * 3).encode(encoding)) == text * 3


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


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize(
    "text",
    ["Пчёлы танцуют.\nИ поют.\n", "蜜蜂 跳舞\n", "Bees dance.\n", "Die S", f"{'蜜蜂跳舞。' * 40}\n",
     "ผึ้งเต้นรำ เพื่อบอก", "يرقص النحل", f"a{'🐝 bees ' * 30_000}"],
)  # fmt: skip
def test_wide_texts_without_a_mark_are_read_in_any_script(encoding: str, text: str) -> None:
    assert encodings.decode(text.encode(encoding)) == Decoded(text, encoding)


def test_a_damaged_utf8_file_stays_utf8_and_says_so() -> None:
    data = (TEXT * 20).encode().replace("ß".encode(), b"\xdf", 1)

    found = encodings.decode(data)

    assert found is not None
    assert found.text == (TEXT * 20).replace("ß", "\ufffd", 1)
    assert found.warnings("a.txt") == (
        '"a.txt" is damaged: 1 place could not be read and show as \ufffd.',
    )
    cut = encodings.decode(TEXT.encode()[:-1] + "ü".encode()[:1])
    assert cut is not None
    assert cut.text == f"{TEXT[:-1]}\ufffd"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("gb18030", "蜜蜂跳舞告诉同伴花在哪里。"),
        ("big5", "蜜蜂跳舞告訴同伴花在哪裡。"),
        ("koi8_r", "Пчёлы танцуют."),
        ("cp1251", "Сегодня хорошая погода."),
        ("cp866", "Сегодня хорошая погода."),
        ("euc_jp", "今日は天気がいいですね。"),
        ("cp932", "今日は天気がいいですね。"),
        ("cp949", "벌들은 춤을 추며 꽃이 있는 곳을 알려준다."),
        ("cp874", "ผึ้งเต้นรำเพื่อบอกว่าดอกไม้อยู่ที่ไหน"),
        ("cp1250", "Pszczoły tańczą, żeby powiedzieć, gdzie są kwiaty."),
        ("cp1253", "Οι μέλισσες χορεύουν για να πουν πού είναι τα λουλούδια."),
        ("cp1254", "Arılar dans ederek çiçeklerin yerini söyler."),
        ("cp1255", "הדבורים רוקדות כדי לספר היכן הפרחים."),
        ("cp1256", "النحل يرقص ليخبر أين الزهور."),
        ("cp1257", "Bitės šoka, kad pasakytų, kur yra gėlės."),
        ("cp850", "Die Straße führt über den Fluß."),
        ("cp1252", "naïve"),
    ],
)
def test_short_texts_in_old_encodings_are_read_by_what_makes_sense(
    encoding: str, text: str
) -> None:
    assert decode(text.encode(encoding)) == text


def test_a_guess_that_could_be_another_says_so() -> None:
    found = encodings.decode("naïve".encode("cp1252"))
    assert found is not None
    [warning] = found.warnings("a.txt")
    assert warning.startswith('The encoding of "a.txt" was guessed (cp1252)')
    assert encodings.decode((RUSSIAN * 5).encode("cp1251")) == Decoded(RUSSIAN * 5, "cp1251")


def test_zeros_alone_make_no_wide_text() -> None:
    assert decode(b"abc\0def\0gh") is None
    assert decode(b"\x08\x03\x12\x07pytorch:\0\n\x0b\n\0\n\x01\x31\x12\x01\x32" * 3) is None


def test_a_damaged_utf8_file_stays_one_whatever_is_said_of_it() -> None:
    data = (TEXT * 3).encode() + b"\xff"

    assert encodings.decode(data, "latin-1") == Decoded(f"{TEXT * 3}\ufffd", "utf-8", damaged=1)
    assert decode(TEXT.encode("latin-1") + "ä".encode(), "latin-1") == f"{TEXT}Ã¤"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        (
            "cp1254",
            "Arılar çiçeklerin yerini anlatmak için dans eder, güneşe göre açıyı gösterir. ",
        ),
        ("cp1255", "הדבורים רוקדות כדי לספר זו לזו היכן הפרחים. "),
    ],
)
def test_long_texts_in_old_encodings_are_read(encoding: str, text: str) -> None:
    assert decode((text * 5).encode(encoding)) == text * 5
