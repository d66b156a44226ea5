"""The left column: a new question, the library, evaluation, the conversations, light and dark."""

import reflex as rx
from reflex_components_core.react_router import link as router_link

from rag_app.ui.components.local import SideColumn, SignOutButton
from rag_app.ui.components.words import filled, words
from rag_app.ui.state.conversations_state import ConversationsState
from rag_app.ui.state.session_state import SessionState
from rag_app.ui.state.views import ConversationView


def navigation() -> rx.Component:
    """Show where one can go."""
    return SideColumn.create(
        rx.el.div(
            brand(),
            icon_button(
                "x",
                "close_menu",
                class_name="icon only-narrow",
                custom_attrs={"popoverTarget": "side", "popoverTargetAction": "hide"},
            ),
            class_name="side-top",
        ),
        link(rx.icon("pen-line", size=16), words("new_conversation"), href="/", id="new-question"),
        link(rx.icon("library", size=16), words("library"), href="/library", id="to-library"),
        link(
            rx.icon("ruler", size=16), words("evaluation"), href="/evaluation", id="to-evaluation"
        ),
        rx.el.h2(words("conversations"), class_name="side-title"),
        _conversations(),
        rx.el.div(
            theme_toggle(),
            rx.cond(SessionState.has_password, SignOutButton.create(label=words("sign_out"))),
            class_name="side-bottom",
        ),
        label=words("navigation"),
        language=SessionState.language,
    )


def brand() -> rx.Component:
    """Show the name, with the sign of a citation."""
    return plain_link(
        rx.el.span("n", class_name="brand-sign", aria_hidden=True),
        "Pincite",
        href="/",
        class_name="brand",
    )


def plain_link(*children, href: str | rx.Var[str], **props) -> rx.Component:
    """Link to a page of ours without loading it anew."""
    return router_link(*children, to=href, **props)


def link(*children, **props) -> rx.Component:
    """Show a line of the navigation."""
    return plain_link(*children, class_name="side-link", **props)


def icon_button(icon: str, label_key: str, **props) -> rx.Component:
    """Show a button that has a sign and a name but no words."""
    label = props.pop("label", None)
    label = words(label_key) if label is None else label
    props.setdefault("class_name", "icon")
    props.setdefault("type", "button")
    return rx.el.button(
        rx.icon(icon, size=16, aria_hidden=True),
        aria_label=label,
        title=label,
        **props,
    )


def theme_toggle() -> rx.Component:
    """Switch between light and dark; the system's choice holds until then."""
    label = rx.cond(rx.color_mode == "dark", words("light"), words("dark"))
    return rx.el.button(
        rx.icon("sun", size=16, class_name="when-dark", aria_hidden=True),
        rx.icon("moon", size=16, class_name="when-light", aria_hidden=True),
        id="theme-toggle",
        type="button",
        class_name="icon",
        aria_label=label,
        title=label,
        on_click=rx.toggle_color_mode,
    )


def _conversations() -> rx.Component:
    return rx.cond(
        ConversationsState.is_loading,
        rx.el.div(class_name="skeleton lines", aria_hidden=True),
        rx.cond(
            ConversationsState.conversations,
            rx.el.ul(
                rx.foreach(ConversationsState.conversations, _conversation),
                class_name="conversations",
            ),
            rx.el.p(words("no_conversations"), class_name="side-hint"),
        ),
    )


def _conversation(conversation: rx.Var[ConversationView]) -> rx.Component:
    return rx.el.li(
        rx.cond(
            ConversationsState.renaming == conversation.id,
            _renaming(conversation),
            rx.cond(
                ConversationsState.removing == conversation.id,
                _removing(conversation),
                _line(conversation),
            ),
        ),
        key=conversation.id,
        class_name="conversation",
        custom_attrs={
            "data-open": rx.cond(ConversationsState.open_id == conversation.id, "true", "false")
        },
    )


def _line(conversation: rx.Var[ConversationView]) -> rx.Component:
    return rx.fragment(
        plain_link(
            conversation.title,
            href=conversation.href,
            class_name="conversation-link",
            title=conversation.title,
            dir="auto",
            aria_current=rx.cond(ConversationsState.open_id == conversation.id, "page", "false"),
        ),
        rx.el.span(
            icon_button(
                "pencil",
                "rename",
                label=filled("rename_it", title=conversation.title),
                on_click=ConversationsState.start_renaming(conversation.id),
            ),
            icon_button(
                "trash-2",
                "remove",
                label=filled("remove_it", title=conversation.title),
                on_click=ConversationsState.start_removing(conversation.id),
            ),
            class_name="conversation-actions",
        ),
    )


def _renaming(conversation: rx.Var[ConversationView]) -> rx.Component:
    return rx.el.form(
        rx.el.input(
            name="title",
            default_value=conversation.title,
            aria_label=words("new_name"),
            auto_focus=True,
            max_length=80,
            dir="auto",
            on_key_down=lambda key: rx.cond(key == "Escape", ConversationsState.leave(), rx.noop()),
        ),
        icon_button("check", "save", type="submit"),
        icon_button("x", "cancel", on_click=ConversationsState.leave),
        on_submit=ConversationsState.rename,
        class_name="renaming",
    )


def _removing(conversation: rx.Var[ConversationView]) -> rx.Component:
    return rx.el.div(
        rx.el.p(words("remove_conversation")),
        rx.el.button(
            words("remove"),
            type="button",
            class_name="button danger",
            auto_focus=True,
            on_click=ConversationsState.remove(conversation.id),
        ),
        rx.el.button(
            words("keep"), type="button", class_name="button", on_click=ConversationsState.leave
        ),
        class_name="confirm",
    )
