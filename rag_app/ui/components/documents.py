"""The library: where documents are added, and the list of them with what happens to each."""

import reflex as rx

from rag_app.ingestion.formats import NAMES, SUFFIXES
from rag_app.ui.components.citations import kind_icon
from rag_app.ui.components.local import DropZone
from rag_app.ui.components.navigation import icon_button, plain_link
from rag_app.ui.components.words import filled, words
from rag_app.ui.state.library_state import ROWS, LibraryState
from rag_app.ui.state.views import DocumentView


def add_documents() -> rx.Component:
    """Show where files are dropped and addresses pasted."""
    return rx.el.section(
        DropZone.create(
            labels={
                "title": words("drop_title"),
                "titleTouch": words("add_files"),
                "now": words("drop_now"),
                "kinds": ", ".join(NAMES),
                "files": words("choose_files"),
                "folder": words("choose_folder"),
                "uploads": words("uploads"),
                "waiting": words("waiting"),
                "failed": words("upload_failed"),
                "lost": words("upload_lost"),
                "again": words("try_again"),
                "cancel": words("cancel_upload"),
            },
            accept=",".join(SUFFIXES),
        ),
        rx.el.form(
            rx.el.label(words("url"), html_for="url"),
            rx.el.div(
                rx.el.input(
                    id="url",
                    key=LibraryState.urls_added,
                    auto_focus=LibraryState.urls_added > 0,
                    name="url",
                    type="text",
                    input_mode="url",
                    auto_complete="off",
                    placeholder=words("url_placeholder"),
                    aria_describedby="url-error",
                    max_length=2000,
                    spell_check=False,
                ),
                rx.el.button(words("add"), id="add-url", type="submit", class_name="button main"),
                class_name="url-line",
            ),
            rx.el.label(
                rx.el.input(type="checkbox", name="site", id="site", key=LibraryState.urls_added),
                words("whole_site"),
                html_for="site",
                class_name="site-choice",
            ),
            rx.el.p(LibraryState.url_error, id="url-error", role="alert", class_name="error"),
            on_submit=LibraryState.add_url,
            class_name="url-form",
        ),
        class_name="add-documents",
    )


def lacking_documents() -> rx.Component:
    """Say that documents are found by their words only, and offer to mend it."""
    return rx.cond(
        LibraryState.lacking > 0,
        rx.el.div(
            rx.el.p(LibraryState.lacking_text, role="status"),
            rx.cond(
                ~LibraryState.is_embedding,
                rx.el.button(
                    words("embed_again"),
                    type="button",
                    id="embed-again",
                    class_name="button",
                    on_click=LibraryState.embed_again,
                ),
            ),
            class_name="lacking",
            id="lacking",
        ),
    )


def document_list() -> rx.Component:
    """Show the documents, newest first."""
    return rx.el.section(
        rx.el.div(
            rx.el.h2(words("documents")),
            rx.el.input(
                id="title-search",
                type="search",
                default_value="",
                placeholder=words("search_titles"),
                aria_label=words("search_titles"),
                on_change=LibraryState.search.debounce(250),
            ),
            class_name="list-head",
        ),
        rx.cond(
            LibraryState.is_failed,
            rx.el.p(words("library_failed"), role="alert", class_name="error"),
            rx.cond(
                LibraryState.is_loading,
                rx.el.div(class_name="skeleton rows", role="status", aria_label=words("loading")),
                rx.cond(LibraryState.rows, _rows(), _no_rows()),
            ),
        ),
        class_name="document-list",
        aria_label=words("documents"),
    )


def _no_rows() -> rx.Component:
    return rx.cond(
        LibraryState.title,
        rx.el.p(filled("no_match", title=LibraryState.title), class_name="empty"),
        rx.el.div(
            rx.el.p(words("library_empty"), class_name="empty-title"),
            rx.el.p(words("library_empty_hint")),
            class_name="empty",
            id="library-empty",
        ),
    )


def _rows() -> rx.Component:
    last = LibraryState.first + LibraryState.rows.length() - 1
    return rx.fragment(
        rx.el.ul(rx.foreach(LibraryState.rows, _row), class_name="document-rows"),
        rx.cond(
            LibraryState.has_more | (LibraryState.first > 1),
            rx.el.div(
                rx.el.button(
                    words("previous"),
                    type="button",
                    class_name="button",
                    disabled=LibraryState.first == 1,
                    on_click=LibraryState.turn_page(-1),
                ),
                rx.el.span(
                    filled("range", first=LibraryState.first.to(str), last=last.to(str)),
                    role="status",
                ),
                rx.el.button(
                    words("next"),
                    type="button",
                    class_name="button",
                    disabled=~LibraryState.has_more,
                    on_click=LibraryState.turn_page(1),
                ),
                class_name="paging",
                custom_attrs={"data-rows": ROWS},
            ),
        ),
    )


def _row(listed: rx.Var[DocumentView]) -> rx.Component:
    key = listed.id.to_string()
    document = rx.cond(LibraryState.changes.contains(key), LibraryState.changes[key], listed).to(
        DocumentView
    )
    is_busy = (document.status == "queued") | (document.status == "running")
    return rx.el.li(
        kind_icon(document.kind),
        rx.el.div(
            rx.cond(
                document.href,
                plain_link(
                    document.title, href=document.href, class_name="document-title", dir="auto"
                ),
                rx.el.span(document.title, class_name="document-title", dir="auto"),
            ),
            rx.el.p(
                rx.cond(document.facts, rx.el.span(document.facts)),
                rx.el.span(document.status_text, class_name="document-status"),
                rx.cond(
                    document.status == "running",
                    rx.el.span(document.percent, " %", class_name="document-percent"),
                ),
                class_name="document-line",
            ),
            rx.cond(document.error, rx.el.p(document.error, class_name="document-error")),
            rx.cond(document.coverage, _strip(document)),
            class_name="document-main",
        ),
        rx.cond(
            LibraryState.removing == document.id,
            rx.fragment(),
            _actions(document, is_busy),
        ),
        rx.cond(
            document.status == "running",
            rx.el.progress(
                value=document.percent,
                max=100,
                aria_label=filled("progress_of", title=document.title),
            ),
        ),
        rx.cond(LibraryState.removing == document.id, _confirm(document)),
        key=listed.id,
        class_name="document-row",
        custom_attrs={"data-status": document.status, "data-document-id": document.id},
    )


def _strip(document: rx.Var[DocumentView]) -> rx.Component:
    """Show page by page what was read, recognised and not."""
    return rx.el.div(
        rx.foreach(
            document.strip,
            lambda letter: rx.el.span(custom_attrs={"data-state": letter}),
        ),
        class_name="page-strip",
        role="img",
        title=document.coverage,
        aria_label=document.coverage,
    )


def _actions(document: rx.Var[DocumentView], is_busy: rx.Var[bool]) -> rx.Component:
    return rx.el.div(
        rx.cond(
            (document.status == "failed") | (document.status == "cancelled"),
            icon_button(
                "rotate-cw",
                "retry",
                class_name="icon retry",
                on_click=LibraryState.retry(document.id),
            ),
        ),
        rx.cond(
            is_busy,
            icon_button(
                "circle-stop",
                "cancel",
                class_name="icon cancel",
                on_click=LibraryState.cancel(document.id),
            ),
        ),
        icon_button(
            "trash-2",
            "remove",
            label=filled("remove_it", title=document.title),
            class_name="icon remove",
            on_click=LibraryState.start_removing(document.id),
        ),
        class_name="document-actions",
    )


def _confirm(document: rx.Var[DocumentView]) -> rx.Component:
    return rx.el.div(
        rx.el.p(words("remove_document")),
        rx.el.button(
            words("remove"),
            type="button",
            class_name="button danger",
            auto_focus=True,
            on_click=LibraryState.remove(document.id),
        ),
        rx.el.button(words("keep"), type="button", class_name="button", on_click=LibraryState.keep),
        class_name="confirm",
    )
