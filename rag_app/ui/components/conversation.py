"""The conversation: turns, the answer that grows, the field for the next question."""

import reflex as rx

from rag_app.ui.components.citations import absence, answer, growing_answer, source_cards
from rag_app.ui.components.filters import filters
from rag_app.ui.components.local import Composer, Reading
from rag_app.ui.components.navigation import plain_link
from rag_app.ui.components.verdicts import verdict_buttons, verdict_told
from rag_app.ui.components.words import words
from rag_app.ui.components.xray import xray_button
from rag_app.ui.state.chat_state import ChatState, TailState
from rag_app.ui.state.views import TurnView


def conversation() -> rx.Component:
    """Show what was asked and answered, and where to ask."""
    return rx.el.div(
        Reading.create(
            rx.cond(
                ChatState.is_missing,
                notice("no_conversation", "/", "new_conversation"),
                rx.cond(ChatState.is_loading, _loading(), _turns()),
            ),
            conversation=ChatState.conversation_id,
            running_id=ChatState.running.id,
            finished_text=words("answer_finished"),
        ),
        verdict_told(),
        rx.cond(
            ~ChatState.is_missing,
            rx.el.div(
                filters(),
                Composer.create(
                    is_running=ChatState.running.id > 0,
                    label=words("question"),
                    placeholder=words("question_placeholder"),
                    ask_label=words("ask"),
                    stop_label=words("stop"),
                    on_ask=ChatState.ask,
                    on_stop=ChatState.stop,
                ),
                class_name="dock",
            ),
        ),
        class_name="conversation-column",
    )


def notice(text_key: str, href: str, link_key: str) -> rx.Component:
    """Say that there is nothing here, and where to go."""
    return rx.el.div(
        rx.el.p(words(text_key)),
        plain_link(words(link_key), href=href, class_name="button"),
        class_name="empty",
    )


def _loading() -> rx.Component:
    return rx.el.div(
        rx.el.div(class_name="skeleton title"),
        rx.el.div(class_name="skeleton lines"),
        class_name="turn",
        role="status",
        aria_label=words("loading"),
    )


def _turns() -> rx.Component:
    return rx.fragment(
        rx.cond(
            (ChatState.earlier.length() + ChatState.recent.length() + ChatState.running.id) == 0,
            _welcome(),
            rx.el.h1(words("conversation"), class_name="visually-hidden"),
        ),
        rx.cond(
            ChatState.has_older,
            rx.el.button(
                words("earlier_turns"),
                type="button",
                class_name="quiet",
                on_click=ChatState.show_older,
            ),
        ),
        rx.foreach(ChatState.earlier, _turn),
        rx.foreach(ChatState.recent, _turn),
        rx.cond(ChatState.running.id > 0, _running()),
    )


def _welcome() -> rx.Component:
    return rx.cond(
        ChatState.has_documents,
        rx.el.div(rx.el.h1(words("ask_title")), rx.el.p(words("ask_hint")), class_name="welcome"),
        rx.el.div(
            rx.el.h1(words("empty_title")),
            rx.el.p(words("empty_hint")),
            plain_link(words("add_documents"), href="/library", class_name="button main"),
            class_name="welcome",
        ),
    )


def _turn(turn: rx.Var[TurnView]) -> rx.Component:
    return _frame(
        turn,
        _notice(turn),
        rx.cond(turn.abstained, rx.el.p(words("abstained"), class_name="turn-label")),
        rx.cond(turn.answer, answer(turn)),
        rx.cond(turn.abstained, absence(turn)),
        _ending(turn),
        below=rx.el.div(xray_button(turn), verdict_buttons(turn), class_name="turn-ways"),
        abstained=rx.cond(turn.abstained, "true", "false"),
    )


def _running() -> rx.Component:
    turn = ChatState.running
    return _frame(
        turn,
        _notice(turn),
        rx.cond(
            TailState.tail.length() + TailState.middle.length() + TailState.head.length() > 0,
            growing_answer(),
            rx.el.p(
                rx.cond(turn.sources, words("reading"), words("searching")),
                class_name="turn-status waiting",
                role="status",
            ),
        ),
    )


def _frame(
    turn: rx.Var[TurnView],
    *body: rx.Component,
    below: rx.Component | None = None,
    **data: rx.Var[str],
) -> rx.Component:
    return rx.el.article(
        rx.el.h2(turn.question, class_name="turn-question", dir="auto"),
        rx.cond(turn.scope, rx.el.p(turn.scope, class_name="turn-scope", dir="auto")),
        source_cards(turn),
        rx.el.div(*body, class_name="answer"),
        below or rx.fragment(),
        key=turn.id,
        class_name="turn",
        custom_attrs={
            "data-turn-id": turn.id,
            "data-turn-status": turn.status,
            **{f"data-{name}": value for name, value in data.items()},
        },
    )


def _notice(turn: rx.Var[TurnView]) -> rx.Component:
    return rx.cond(
        turn.notice,
        rx.el.p(
            turn.notice,
            rx.cond(
                turn.notice_href,
                rx.fragment(" ", plain_link(words("see_library"), href=turn.notice_href)),
            ),
            class_name="turn-notice",
        ),
    )


def _ending(turn: rx.Var[TurnView]) -> rx.Component:
    return rx.cond(
        turn.status != "done",
        rx.el.div(
            rx.el.span(
                rx.match(
                    turn.status,
                    ("stopped", words("stopped")),
                    ("interrupted", words("interrupted")),
                    rx.cond(turn.error, turn.error, words("failed")),
                )
            ),
            rx.el.button(
                words("ask_again"),
                type="button",
                class_name="button",
                disabled=ChatState.running.id > 0,
                on_click=ChatState.ask_again(turn.id),
            ),
            class_name="turn-status ending",
        ),
    )
