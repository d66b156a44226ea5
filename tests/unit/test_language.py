import socket

import pytest

from rag_app.language import detect_language, regconfig


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "The bees dance to tell each other where the flowers are."),
        ("de", "Die Bienen tanzen, um einander zu sagen, wo die Blumen stehen."),
        ("ru", "Пчёлы танцуют, чтобы рассказать друг другу, где цветы."),
        ("ja", "ミツバチは花の場所を伝えるために踊ります。"),
        ("fr", "[00:00:05] Les abeilles dansent pour dire où sont les fleurs."),
        ("de", "DIE BIENEN TANZEN UND SAGEN EINANDER, WO DIE BLUMEN STEHEN."),
    ],
)
def test_the_language_of_a_sentence_is_found(code: str, text: str) -> None:
    assert code == detect_language(text)


@pytest.mark.parametrize("text", ["", "ok", "two words", "12 34 56 78", "\n\n", "### ---"])
def test_a_text_too_short_to_tell_has_no_language(text: str) -> None:
    assert detect_language(text) is None


def test_a_long_document_is_judged_as_a_whole() -> None:
    english = "Abstract in English, a few words. "
    german = "Die Bienen tanzen, um einander zu sagen, wo die Blumen stehen. " * 500

    assert detect_language(english + german) == "de"


def test_no_network_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)

    assert detect_language("Where do the bees go when it rains?") == "en"


def test_a_language_without_a_stemmer_is_simple() -> None:
    assert [regconfig(code) for code in ("de", "en-US", "nb", "ja", None, "")] == [
        "german",
        "english",
        "norwegian",
        "simple",
        "simple",
        "simple",
    ]
