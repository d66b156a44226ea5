"""Texts of the page in the browser's language, as values that components take."""

import reflex as rx

from rag_app.ui.state.session_state import SessionState
from rag_app.ui.texts import ENGLISH, GERMAN, TEXTS


def words(key: str) -> rx.Var[str]:
    """Return a text as the page shows it."""
    texts = TEXTS[key]
    return rx.cond(SessionState.language == "de", texts[GERMAN], texts[ENGLISH])


def filled(key: str, **values: rx.Var[str]) -> rx.Var[str]:
    """Return a text with its {places} filled by values of the page."""
    text = words(key).to(str)
    for name, value in values.items():
        text = text.replace("{" + name + "}", value.to_string(use_json=False))
    return text
