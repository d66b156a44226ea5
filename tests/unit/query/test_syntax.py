"""Quotes and minus signs are strict in a search, and mere writing in a sentence."""

import pytest

from rag_app.query.syntax import ParsedQuestion, parse_question


@pytest.mark.parametrize(
    ("question", "parsed"),
    [
        ("bees", ParsedQuestion("bees")),
        ('"waggle dance"', ParsedQuestion('"waggle dance"', phrases='"waggle dance"')),
        ("bees -wasps", ParsedQuestion("bees", excluded="-wasps")),
        ("„Die Räuber“ Schiller", ParsedQuestion("„Die Räuber“ Schiller", phrases='"Die Räuber"')),
        ("5 - 3 and e-mail", ParsedQuestion("5 - 3 and e-mail")),
        ("-", ParsedQuestion("-")),
        ("-bees", ParsedQuestion("-bees")),
        (
            'Who first said that "God is dead" in a printed book?',
            ParsedQuestion('Who first said that "God is dead" in a printed book?'),
        ),
    ],
)
def test_what_is_strict(question: str, parsed: ParsedQuestion) -> None:
    assert parse_question(question) == parsed
