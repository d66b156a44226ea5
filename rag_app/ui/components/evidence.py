"""Evidence as a sheet of paper: the page of a PDF, a note, a web page, a video."""

import reflex as rx

from rag_app.ui.components.citations import kind_icon
from rag_app.ui.components.local import EvidencePanel, PageSheet, QuotedText, Video
from rag_app.ui.components.navigation import icon_button, plain_link
from rag_app.ui.components.words import filled, words
from rag_app.ui.components.xray import xray_panel
from rag_app.ui.state.evidence_state import EvidenceState
from rag_app.ui.state.evidence_views import EvidenceView
from rag_app.ui.state.xray_state import XrayState


def evidence_panel() -> rx.Component:
    """Show the opened source beside the conversation, or how the answer was found.

    A source lies over the X-ray it was opened from, which stays as it was.
    """
    evidence = EvidenceState.evidence
    is_source, is_xray = EvidenceState.opened != "", XrayState.opened != ""
    return EvidencePanel.create(
        rx.cond(
            is_xray,
            rx.el.div(xray_panel(), class_name="xray", id="xray", hidden=is_source),
        ),
        rx.cond(
            is_source,
            rx.fragment(
                rx.el.header(
                    rx.cond(
                        is_xray,
                        icon_button(
                            "arrow-left",
                            "back_to_xray",
                            id="back-to-xray",
                            on_click=EvidenceState.close,
                        ),
                    ),
                    rx.cond(
                        EvidenceState.opened_marker > 0,
                        rx.el.span(EvidenceState.opened_marker, class_name="card-marker"),
                    ),
                    rx.el.div(
                        rx.el.h2(evidence.title, dir="auto", title=evidence.title),
                        rx.el.p(evidence.place, dir="auto"),
                        class_name="evidence-title",
                    ),
                    icon_button(
                        "x",
                        "close_evidence",
                        id="close-evidence",
                        on_click=[EvidenceState.close, XrayState.close],
                    ),
                    class_name="evidence-head",
                ),
                evidence_body(evidence),
            ),
        ),
        opened=rx.cond(is_source, EvidenceState.opened, XrayState.opened),
        label=rx.cond(is_source, words("evidence"), words("xray")),
        on_close=rx.cond(is_source, EvidenceState.close(), XrayState.close()),
    )


def evidence_body(evidence: rx.Var[EvidenceView], *, is_page: bool = False) -> rx.Component:
    """Show an opened place, and where more of it can be read."""
    return rx.el.div(
        rx.cond(evidence.problem, rx.el.p(evidence.problem, class_name="evidence-problem")),
        rx.match(
            evidence.kind,
            ("page", _page(evidence)),
            ("video", _video(evidence)),
            ("web", _text(evidence)),
            ("text", _text(evidence)),
            rx.fragment(),
        ),
        _ways(evidence, is_page=is_page),
        class_name="evidence-body",
        custom_attrs={"data-kind": evidence.kind},
    )


def _page(evidence: rx.Var[EvidenceView]) -> rx.Component:
    return rx.fragment(
        PageSheet.create(
            version_id=evidence.version_id,
            page=evidence.page,
            page_count=evidence.page_count,
            start=evidence.start,
            end=evidence.end,
            title=evidence.title,
            labels={
                "position": words("page_of"),
                "previous": words("previous_page"),
                "next": words("next_page"),
                "larger": words("zoom_in"),
                "smaller": words("zoom_out"),
                "image": words("page_image"),
                "failed": words("page_failed"),
                "again": words("try_again"),
            },
        ),
        rx.cond(
            evidence.quote,
            rx.el.figure(
                rx.el.figcaption(words("cited_words")),
                rx.el.blockquote(evidence.quote, dir="auto", id="quote"),
                class_name="cited-words",
            ),
        ),
    )


def _text(evidence: rx.Var[EvidenceView]) -> rx.Component:
    return rx.el.div(
        rx.cond(
            evidence.heading, rx.el.p(evidence.heading, class_name="sheet-heading", dir="auto")
        ),
        QuotedText.create(
            before=evidence.before,
            quote=evidence.quote,
            after=evidence.after,
            label=evidence.title,
        ),
        class_name="sheet",
        tab_index=0,
        role="group",
        aria_label=evidence.title,
    )


def _video(evidence: rx.Var[EvidenceView]) -> rx.Component:
    return rx.el.div(
        Video.create(
            video_id=evidence.video_id,
            title=evidence.title,
            second=evidence.second,
            lines=evidence.lines,
            labels={
                "play": filled("play", time=evidence.time),
                "playHint": words("play_hint"),
                "player": words("player"),
                "transcript": words("transcript"),
            },
        ),
        class_name="sheet",
    )


def _ways(evidence: rx.Var[EvidenceView], *, is_page: bool) -> rx.Component:
    links = [
        rx.cond(
            evidence.link,
            outside_link(
                rx.cond(evidence.kind == "video", words("watch"), words("open_live")),
                href=evidence.link,
                id="live-link",
            ),
        ),
        rx.cond(
            evidence.file_href,
            rx.el.a(
                words("original_file"),
                href=evidence.file_href,
                target="_blank",
                rel="noopener noreferrer",
            ),
        ),
    ]
    if not is_page:
        to_document = plain_link(words("open_document"), href=evidence.href)
        links.insert(0, rx.cond(evidence.href, to_document))
    return rx.el.footer(*links, class_name="evidence-ways")


def outside_link(text: rx.Var[str], **props) -> rx.Component:
    """Link to another site: a tab of its own, which learns nothing of this one."""
    return rx.el.a(
        text,
        rx.icon("arrow-up-right", size=14, aria_hidden=True),
        target="_blank",
        rel="noopener noreferrer nofollow",
        **props,
    )


def document_head(title: rx.Var[str], kind: rx.Var[str], facts: rx.Var[str]) -> rx.Component:
    """Show of what document a page is."""
    return rx.el.header(
        rx.el.h1(title, dir="auto"),
        rx.el.p(kind_icon(kind), facts, class_name="document-facts"),
        class_name="document-head",
    )
