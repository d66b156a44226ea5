"""The frame of every page: the left column, the top line on a phone, what went wrong."""

import reflex as rx
from reflex_components_core.base.error_boundary import ErrorBoundary
from reflex_components_core.core.banner import has_connection_errors

from rag_app.ui.components.navigation import brand, icon_button, navigation
from rag_app.ui.components.words import words
from rag_app.ui.state.session_state import SessionState
from rag_app.ui.texts import TEXTS


def frame(*content: rx.Component, name: str) -> rx.Component:
    """Put a page's content beside the navigation."""
    return rx.el.div(
        rx.el.a(words("skip"), href="#main", class_name="skip"),
        _top_line(),
        navigation(),
        rx.el.main(problems(), *content, id="main", tab_index=-1),
        class_name=f"frame {name}-page",
    )


def bare(*content: rx.Component, name: str) -> rx.Component:
    """Show a page that has no navigation."""
    return rx.el.main(brand(), *content, id="main", class_name=f"bare {name}-page")


def _top_line() -> rx.Component:
    return rx.el.header(
        icon_button("menu", "menu", id="open-menu", custom_attrs={"popoverTarget": "side"}),
        brand(),
        class_name="top-line",
    )


def problems() -> rx.Component:
    """Say that something failed, until it is dismissed or over."""
    return rx.fragment(
        rx.cond(
            has_connection_errors,
            rx.el.p(words("connection_lost"), class_name="problem", role="status"),
        ),
        rx.cond(
            SessionState.problem,
            rx.el.div(
                rx.el.p(SessionState.problem, role="alert"),
                icon_button("x", "dismiss", on_click=SessionState.dismiss_problem),
                class_name="problem",
                id="problem",
            ),
        ),
    )


def crash_guard(_is_stateful: bool) -> rx.Component:
    """Wrap every page: one that could not be drawn is replaced by a sentence in each language."""
    fallback = rx.el.main(
        *(rx.el.p(text) for text in TEXTS["crashed"]),
        rx.el.a("↻", href="/", class_name="button", aria_label=TEXTS["to_start"][0]),
        class_name="bare",
        role="alert",
    )
    return ErrorBoundary.create(fallback_render=rx.Var.create(fallback))
