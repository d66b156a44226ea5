"""How an answer was found: time, terms, the lists stage by stage, and why not something else."""

import reflex as rx

from rag_app.ui.components.citations import kind_icon
from rag_app.ui.components.filters import title_search
from rag_app.ui.components.navigation import icon_button
from rag_app.ui.components.words import words
from rag_app.ui.state.views import TurnView
from rag_app.ui.state.xray_state import XrayState
from rag_app.ui.state.xray_views import BarView, RowView, TabView, TermsView, TermView, WhyView


def xray_button(turn: rx.Var[TurnView]) -> rx.Component:
    """Show the button below an answer that has ended, well or not."""
    return rx.cond(
        turn.has_log,
        rx.el.button(
            rx.icon("scan-search", size=15, aria_hidden=True),
            words("xray"),
            type="button",
            class_name="xray-button",
            aria_expanded=rx.cond(XrayState.opened_turn == turn.id, "true", "false"),
            on_click=XrayState.open(turn.id),
        ),
    )


def xray_panel() -> rx.Component:
    """Show the X-ray of one answer."""
    view = XrayState.view
    return rx.fragment(
        rx.el.header(
            rx.el.div(
                rx.el.h2(words("xray")),
                rx.el.p(view.facts),
                class_name="evidence-title",
            ),
            icon_button("x", "close_xray", id="close-xray", on_click=XrayState.close),
            class_name="evidence-head",
        ),
        rx.el.div(_search(), _timings(), _stages(), _why(), class_name="xray-body", tab_index=0),
    )


def _search() -> rx.Component:
    view = XrayState.view
    return rx.el.section(
        rx.el.h3(words("xray_searched")),
        rx.el.p(view.question, class_name="xray-question", dir="auto"),
        rx.cond(view.notice, rx.el.p(view.notice, class_name="turn-notice")),
        rx.cond(
            view.imagined,
            rx.el.details(
                rx.el.summary(words("xray_imagined")), rx.el.p(view.imagined, dir="auto")
            ),
        ),
        rx.cond(
            view.terms,
            rx.fragment(
                rx.el.h4(words("xray_terms")),
                rx.foreach(view.terms, _terms),
            ),
        ),
    )


def _terms(terms: rx.Var[TermsView]) -> rx.Component:
    return rx.el.div(
        rx.el.span(terms.language, class_name="term-language"),
        rx.el.ul(rx.foreach(terms.known, _term), class_name="terms"),
        rx.cond(
            terms.unknown,
            rx.el.p(
                words("xray_unknown"),
                rx.foreach(terms.unknown, lambda word: rx.fragment(" ", rx.el.b(word))),
                class_name="missing-words",
            ),
        ),
        class_name="term-group",
    )


def _term(term: rx.Var[TermView]) -> rx.Component:
    return rx.el.li(
        rx.el.span(term.word, dir="auto"),
        rx.el.span(rx.el.span(style={"width": term.percent.to_string() + "%"}), class_name="bar"),
        rx.el.small(term.text),
        key=term.word,
    )


def _timings() -> rx.Component:
    def bar(one: rx.Var[BarView]) -> rx.Component:
        return rx.el.li(
            rx.el.span(one.name),
            rx.el.span(
                rx.el.span(style={"width": one.percent.to_string() + "%"}), class_name="bar"
            ),
            rx.el.small(one.text),
            key=one.name,
        )

    return rx.el.section(
        rx.el.h3(words("xray_timings")),
        rx.el.ul(rx.foreach(XrayState.view.bars, bar), class_name="timings"),
        rx.el.p(XrayState.view.reranked, class_name="xray-hint reranked"),
    )


def _stages() -> rx.Component:
    return rx.el.section(
        rx.el.h3(words("xray_stages")),
        rx.el.div(
            rx.foreach(XrayState.view.tabs, _tab),
            class_name="tabs",
            role="tablist",
            aria_label=words("xray_stages"),
        ),
        rx.cond(
            XrayState.rows,
            rx.el.ol(rx.foreach(XrayState.rows, _row), class_name="xray-rows"),
            rx.el.p(words("xray_no_rows"), class_name="xray-hint"),
        ),
        rx.cond(XrayState.cut_off, rx.el.p(XrayState.cut_off, class_name="xray-hint")),
    )


def _tab(tab: rx.Var[TabView]) -> rx.Component:
    return rx.el.button(
        tab.text,
        rx.el.small(tab.count),
        key=tab.key,
        type="button",
        role="tab",
        aria_selected=rx.cond(XrayState.list_name == tab.key, "true", "false"),
        custom_attrs={"data-list": tab.key},
        on_click=XrayState.choose_list(tab.key),
    )


def _row(row: rx.Var[RowView]) -> rx.Component:
    return rx.el.li(
        rx.el.button(
            rx.el.span(
                rx.el.span(row.rank, class_name="row-rank"),
                kind_icon(row.kind),
                rx.cond(row.place, rx.el.span(row.place, class_name="card-place", dir="auto")),
                rx.el.span(row.title, class_name="card-title", dir="auto"),
                rx.cond(row.number > 0, rx.el.span(row.number, class_name="card-marker")),
                class_name="row-head",
            ),
            rx.cond(row.words, rx.el.span(row.words, class_name="row-words", dir="auto")),
            rx.el.span(
                rx.foreach(row.ranks, lambda rank: rx.el.span(rank)), class_name="row-ranks"
            ),
            rx.cond(row.fell, rx.el.span(row.fell, class_name="row-cut")),
            type="button",
            disabled=~row.can_open,
            on_click=XrayState.open_place(row.id),
        ),
        key=row.id,
        custom_attrs={"data-cut": rx.cond(row.fell, "true", "false")},
    )


def _why() -> rx.Component:
    return rx.el.section(
        rx.el.h3(words("why_title")),
        rx.cond(
            XrayState.document_id > 0,
            _asked(),
            rx.fragment(
                rx.el.p(words("why_hint"), class_name="xray-hint"),
                title_search(
                    XrayState.found,
                    XrayState.opened_turn,
                    on_find=XrayState.find,
                    on_choose=XrayState.choose,
                    id="why-document",
                ),
            ),
        ),
        class_name="why",
    )


def _asked() -> rx.Component:
    return rx.fragment(
        rx.el.p(rx.el.b(XrayState.document_title, dir="auto")),
        rx.el.form(
            rx.el.label(
                rx.el.span(words("why_page")),
                rx.el.input(
                    name="page", type="text", input_mode="numeric", max_length=6, pattern="[0-9]*"
                ),
            ),
            rx.el.button(
                words("why_ask"), type="submit", class_name="button", disabled=XrayState.is_looking
            ),
            rx.el.button(
                words("why_other"),
                type="button",
                class_name="quiet",
                on_click=XrayState.choose_other,
            ),
            on_submit=XrayState.look,
            class_name="why-form",
        ),
        rx.cond(
            XrayState.is_looking,
            rx.el.p(words("loading"), class_name="turn-status waiting", role="status"),
        ),
        rx.el.ul(rx.foreach(XrayState.told, _told), class_name="xray-rows", role="status"),
    )


def _told(why: rx.Var[WhyView]) -> rx.Component:
    return rx.el.li(
        rx.el.button(
            rx.el.span(
                rx.el.b(why.stage),
                rx.cond(why.place, rx.el.span(why.place, class_name="card-place", dir="auto")),
                class_name="row-head",
            ),
            rx.cond(why.words, rx.el.span(why.words, class_name="row-words", dir="auto")),
            rx.el.span(why.reason, class_name="row-reason"),
            type="button",
            disabled=~why.can_open,
            on_click=XrayState.open_place(why.id),
        ),
        custom_attrs={"data-cut": rx.cond(why.is_found, "false", "true")},
    )
