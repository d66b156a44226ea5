"""Any address that leads nowhere."""

import reflex as rx

from rag_app.ui.components.navigation import plain_link
from rag_app.ui.components.words import words
from rag_app.ui.layout import bare


def not_found_page() -> rx.Component:
    """Say so, and show the way back."""
    return bare(
        rx.el.h1("404", class_name="number"),
        rx.el.p(words("not_found")),
        plain_link(words("to_start"), href="/", class_name="button"),
        name="not-found",
    )
