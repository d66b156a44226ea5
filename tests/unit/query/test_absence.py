"""The words of a question that carry its subject."""

import pytest

from rag_app.query.absence import subject_words


@pytest.mark.parametrize(
    ("question", "language", "words"),
    [
        ("What is the height of the Zugspitze?", "en", ["height", "Zugspitze"]),
        ("Wie hoch ist die Zugspitze, und wie hoch?", "de", ["hoch", "Zugspitze"]),
        ("Where is ERR_4012-B explained?", "en", ["ERR_4012-B", "explained"]),
        ("tides -moon", "en", ["tides"]),
        ("Is C++ older than C#?", "en", ["C++", "older", "C#"]),
        ("¿?", None, []),
    ],
)
def test_subject_words(question: str, language: str, words: list[str]) -> None:
    assert subject_words(question, language) == words
