"""The three buttons below an answer that say whether it was right."""

import reflex as rx

from rag_app.ui.components.words import words
from rag_app.ui.state.verdict_state import VerdictState
from rag_app.ui.state.views import TurnView

ICONS = {"right": "check", "wrong_source": "file-x", "missing": "search-x"}


def verdict_buttons(turn: rx.Var[TurnView]) -> rx.Component:
    """Show the verdicts of a finished answer, the person's own one pressed."""
    return rx.cond(
        turn.status == "done",
        rx.el.div(
            *(_button(turn, verdict, icon) for verdict, icon in ICONS.items()),
            class_name="verdicts",
            role="group",
            aria_label=words("verdict_question"),
        ),
    )


def verdict_told() -> rx.Component:
    """Say a verdict for the ear, once."""
    return rx.el.p(
        VerdictState.told, id="verdict-told", role="status", class_name="visually-hidden"
    )


def _button(turn: rx.Var[TurnView], verdict: str, icon: str) -> rx.Component:
    is_pressed = VerdictState.verdicts[turn.id.to_string()] == verdict
    return rx.el.button(
        rx.icon(icon, size=15, aria_hidden=True),
        words(f"verdict_{verdict}"),
        type="button",
        class_name="verdict",
        title=words(f"verdict_{verdict}_hint"),
        aria_pressed=rx.cond(is_pressed, "true", "false"),
        custom_attrs={"data-verdict": verdict},
        on_click=VerdictState.judge(turn.id, verdict),
    )
