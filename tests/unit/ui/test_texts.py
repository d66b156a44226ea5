from string import Formatter

import pytest

from rag_app.errors import DatabaseUnavailableError, NotFoundError
from rag_app.ui.texts import TEXTS, choose_language, explain, say


@pytest.mark.parametrize("key", TEXTS)
def test_both_languages_say_something_and_have_the_same_places(key):
    english, german = TEXTS[key]

    assert english.strip()
    assert german.strip()
    assert _places(english) == _places(german)


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("de-DE,de;q=0.9,en;q=0.8", "de"),
        ("en-GB,en;q=0.9,de;q=0.8", "en"),
        ("fr-FR,fr;q=0.9,de;q=0.5,en;q=0.2", "de"),
        ("en;q=0.1,de;q=0.9", "de"),
        ("*", "en"),
        ("de;q=nonsense", "de"),
    ],
)
def test_the_language_is_the_first_one_of_ours_that_the_browser_prefers(accepted, language):
    assert language == choose_language(accepted)


def test_an_error_is_told_in_german_where_its_kind_says_it_all():
    gone = NotFoundError("There is no turn 3.")

    assert explain(gone, "de") == say("gone", "de")
    assert explain(gone, "en") == "There is no turn 3."
    assert explain(DatabaseUnavailableError(), "de") == say("database_away", "de")
    assert explain(DatabaseUnavailableError("The disk is full."), "de") == "The disk is full."


def test_a_text_is_filled_in_its_language():
    assert say("page_of", "de", page=3, count=9) == "Seite 3 von 9"


def _places(text):
    return {name for _, name, _, _ in Formatter().parse(text) if name}
