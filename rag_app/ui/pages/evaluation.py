"""How well the right passages are found: `/evaluation`."""

import reflex as rx

from rag_app.ui.components.evaluation import comparison, history, measure_form, result
from rag_app.ui.components.golden import golden_questions
from rag_app.ui.components.words import words
from rag_app.ui.layout import frame


def evaluation_page() -> rx.Component:
    """Show what is measured, what came out, and on which questions."""
    return frame(
        rx.el.div(
            rx.el.h1(words("evaluation")),
            rx.el.p(words("evaluation_lead"), class_name="lead"),
            measure_form(),
            result(),
            comparison(),
            golden_questions(),
            history(),
            class_name="column",
        ),
        name="evaluation",
    )
