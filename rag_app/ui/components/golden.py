"""The person's own questions with their places."""

import reflex as rx

from rag_app.ui.components.filters import title_search
from rag_app.ui.components.navigation import icon_button, plain_link
from rag_app.ui.components.words import filled, words
from rag_app.ui.state.evaluation_views import PlaceView, QuestionView
from rag_app.ui.state.golden_state import NEW, GoldenState


def golden_questions() -> rx.Component:
    """Show the questions, newest first."""
    return rx.el.section(
        rx.el.div(
            rx.el.h2(words("my_questions")),
            rx.cond(
                GoldenState.placing != NEW,
                rx.el.button(
                    words("add_question"),
                    type="button",
                    id="add-question",
                    class_name="button",
                    on_click=GoldenState.start_adding,
                ),
            ),
            class_name="list-head",
        ),
        rx.cond(GoldenState.placing == NEW, _placing(_question_field())),
        rx.cond(
            GoldenState.is_failed,
            rx.el.p(words("golden_failed"), role="alert", class_name="error"),
            rx.cond(
                GoldenState.is_loading,
                rx.el.div(class_name="skeleton rows", role="status", aria_label=words("loading")),
                rx.cond(
                    GoldenState.questions,
                    rx.fragment(
                        rx.el.ul(
                            rx.foreach(GoldenState.questions, _question), class_name="golden-rows"
                        ),
                        rx.cond(
                            GoldenState.not_shown, rx.el.p(GoldenState.not_shown, class_name="hint")
                        ),
                    ),
                    rx.el.div(
                        rx.el.p(words("golden_empty"), class_name="empty-title"),
                        rx.el.p(words("golden_empty_hint")),
                        plain_link(words("new_conversation"), href="/", class_name="button"),
                        class_name="empty",
                        id="golden-empty",
                    ),
                ),
            ),
        ),
        class_name="golden",
        id="golden",
    )


def _question(question: rx.Var[QuestionView]) -> rx.Component:
    return rx.el.li(
        rx.el.div(
            rx.el.p(question.question, class_name="golden-question", dir="auto"),
            rx.el.p(
                rx.el.span(question.verdict_text, class_name="golden-verdict"),
                rx.foreach(question.places, _place),
                class_name="golden-line",
            ),
            rx.cond(question.lacks, rx.el.p(question.lacks, class_name="golden-lacks")),
        ),
        rx.el.div(
            rx.cond(
                (question.lacks != "") & (GoldenState.placing != question.id),
                rx.el.button(
                    words("name_place"),
                    type="button",
                    class_name="button name-place",
                    on_click=GoldenState.start_placing(question.id),
                ),
            ),
            icon_button(
                "trash-2",
                "remove",
                label=filled("remove_it", title=question.question),
                class_name="icon remove",
                on_click=GoldenState.start_removing(question.id),
            ),
            class_name="golden-actions",
        ),
        rx.cond(GoldenState.placing == question.id, _placing()),
        rx.cond(
            GoldenState.removing == question.id,
            rx.el.div(
                rx.el.p(words("remove_question")),
                rx.el.button(
                    words("remove"),
                    type="button",
                    class_name="button danger",
                    auto_focus=True,
                    on_click=GoldenState.remove(question.id),
                ),
                rx.el.button(
                    words("keep"), type="button", class_name="button", on_click=GoldenState.keep
                ),
                class_name="confirm",
            ),
        ),
        key=question.id,
        custom_attrs={"data-verdict": question.verdict},
    )


def _place(place: rx.Var[PlaceView]) -> rx.Component:
    return plain_link(
        rx.cond(place.place, rx.el.b(place.place, " ")),
        rx.el.span(place.title, dir="auto"),
        href=place.href,
        title=place.words,
    )


def _question_field() -> rx.Component:
    return rx.el.label(
        rx.el.span(words("question")),
        rx.el.input(
            name="question", type="text", auto_complete="off", auto_focus=True, max_length=4000
        ),
        class_name="whole",
    )


def _placing(*fields: rx.Component) -> rx.Component:
    return rx.el.div(
        rx.cond(
            GoldenState.document_id > 0,
            rx.el.form(
                rx.el.p(rx.el.b(GoldenState.document_title, dir="auto")),
                *fields,
                rx.el.label(
                    rx.el.span(words("place_at")),
                    rx.el.input(name="at", type="text", auto_complete="off", max_length=10),
                    class_name="short",
                ),
                rx.el.label(
                    rx.el.span(words("place_words")),
                    rx.el.input(name="words", type="text", auto_complete="off", max_length=2000),
                ),
                rx.el.button(words("save"), type="submit", class_name="button main"),
                rx.el.button(
                    words("cancel"), type="button", class_name="quiet", on_click=GoldenState.leave
                ),
                on_submit=GoldenState.name_place,
                class_name="place-form",
            ),
            rx.fragment(
                rx.el.p(words("place_document"), class_name="hint"),
                title_search(
                    GoldenState.found,
                    GoldenState.placing,
                    on_find=GoldenState.find,
                    on_choose=GoldenState.choose,
                    id="place-document",
                ),
                rx.el.button(
                    words("cancel"), type="button", class_name="quiet", on_click=GoldenState.leave
                ),
            ),
        ),
        rx.cond(
            GoldenState.place_error,
            rx.el.p(GoldenState.place_error, role="alert", class_name="error"),
        ),
        class_name="placing",
    )
