"""The components written in JSX beside this file, where the browser must act by itself."""

import reflex as rx

MARKDOWN = ["react-markdown@10.1.0", "remark-gfm@4.0.1"]
ICONS = ["lucide-react@1.26.0"]
rx.asset("marking.js", shared=True)  # answer_text.jsx imports it from beside itself


def _library(name: str) -> str:
    return rx.asset(name, shared=True).importable_path


def _marker(marker: rx.Var[int], occurrence: rx.Var[int]) -> tuple[rx.Var[int], rx.Var[int]]:
    return (marker, occurrence)


def _text(value: rx.Var[str]) -> tuple[rx.Var[str]]:
    return (value,)


class AnswerText(rx.Component):
    """Markdown with citation badges; `head`, `middle` and `tail` are one growing text."""

    library = _library("answer_text.jsx")
    tag = "AnswerText"
    lib_dependencies: list[str] = MARKDOWN
    text: rx.Var[str]
    head: rx.Var[str]
    middle: rx.Var[str]
    tail: rx.Var[str]
    sources: rx.Var[list]
    unsupported: rx.Var[list]
    source_label: rx.Var[str]
    unsupported_label: rx.Var[str]
    open_marker: rx.Var[int]
    is_running: rx.Var[bool]
    on_open: rx.EventHandler[_marker]


class QuotedText(rx.Component):
    """A stretch of a document with the cited words marked."""

    library = _library("answer_text.jsx")
    tag = "QuotedText"
    lib_dependencies: list[str] = MARKDOWN
    before: rx.Var[str]
    quote: rx.Var[str]
    after: rx.Var[str]
    label: rx.Var[str]


class Composer(rx.Component):
    """The field for a question, with the button that asks or stops."""

    library = _library("composer.jsx")
    tag = "Composer"
    lib_dependencies: list[str] = ICONS
    is_running: rx.Var[bool]
    label: rx.Var[str]
    placeholder: rx.Var[str]
    ask_label: rx.Var[str]
    stop_label: rx.Var[str]
    on_ask: rx.EventHandler[_text]
    on_stop: rx.EventHandler[rx.event.no_args_event_spec]


class FilterMenu(rx.Component):
    """The button that opens what questions are kept to."""

    library = _library("filter_menu.jsx")
    tag = "FilterMenu"
    lib_dependencies: list[str] = ICONS
    label: rx.Var[str]
    title: rx.Var[str]
    close_label: rx.Var[str]
    on_open: rx.EventHandler[rx.event.no_args_event_spec]


class PageSheet(rx.Component):
    """A page of a PDF as an image with marks over it."""

    library = _library("page_sheet.jsx")
    tag = "PageSheet"
    lib_dependencies: list[str] = ICONS
    version_id: rx.Var[int]
    page: rx.Var[int]
    page_count: rx.Var[int]
    start: rx.Var[int]
    end: rx.Var[int]
    title: rx.Var[str]
    labels: rx.Var[dict]


class Video(rx.Component):
    """A transcript, and the player once it is asked for."""

    library = _library("video.jsx")
    tag = "Video"
    lib_dependencies: list[str] = ICONS
    video_id: rx.Var[str]
    title: rx.Var[str]
    second: rx.Var[int]
    lines: rx.Var[list]
    labels: rx.Var[dict]


class DropZone(rx.Component):
    """Where files and folders are dropped, with the progress of each; `accept` is only offered."""

    library = _library("drop_zone.jsx")
    tag = "DropZone"
    lib_dependencies: list[str] = ICONS
    accept: rx.Var[str]
    labels: rx.Var[dict]


class SideColumn(rx.Component):
    """The left column; a drawer on a phone."""

    library = _library("frame.jsx")
    tag = "SideColumn"
    label: rx.Var[str]
    language: rx.Var[str]


class Reading(rx.Component):
    """The scrolling conversation, which says once how an answer ended."""

    library = _library("frame.jsx")
    tag = "Reading"
    conversation: rx.Var[int]
    running_id: rx.Var[int]
    finished_text: rx.Var[str]


class EvidencePanel(rx.Component):
    """The right column; a full screen on a phone."""

    library = _library("frame.jsx")
    tag = "EvidencePanel"
    opened: rx.Var[str]
    label: rx.Var[str]
    on_close: rx.EventHandler[rx.event.no_args_event_spec]


class SignInForm(rx.Component):
    """The field for the password."""

    library = _library("account.jsx")
    tag = "SignInForm"
    labels: rx.Var[dict]


class SignOutButton(rx.Component):
    """The way out, where a password is set."""

    library = _library("account.jsx")
    tag = "SignOutButton"
    label: rx.Var[str]
