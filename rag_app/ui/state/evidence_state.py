"""What can happen with evidence: a source opens beside the answer, a document on its own page."""

from collections.abc import Container

import reflex as rx

from rag_app.errors import NotFoundError, RagAppError
from rag_app.library import documents, evidence
from rag_app.runtime import current
from rag_app.ui.state.chat_state import ChatState, find_place
from rag_app.ui.state.conversations_state import ConversationsState
from rag_app.ui.state.evidence_views import (
    STRETCH_CHARACTERS,
    EvidenceView,
    evidence_view,
    find_stretch,
    gone_view,
    with_stretch,
)
from rag_app.ui.state.session_state import SIGN_IN, is_allowed, language_of, show_error
from rag_app.ui.state.views import DocumentView, Place, document_view
from rag_app.ui.texts import say

NO_DOCUMENT = DocumentView(0, "", "", "", "", "", 0, "", "")


class EvidenceState(rx.State):
    """The sheet beside the conversation; `opened` names the badge it belongs to."""

    evidence: EvidenceView = EvidenceView()
    opened: str = ""
    opened_turn: int = 0
    opened_marker: int = 0

    @rx.event
    async def open_source(self, turn_id: int, marker: int, occurrence: int):
        """Open the place behind a card, or behind a badge that stands there for the n-th time."""
        if not is_allowed(self):
            return SIGN_IN
        place = find_place(await self.get_state(ChatState), turn_id, marker)
        if place is not None:
            await show_place(self, place.at(occurrence), turn_id, str(marker))
        return None

    @rx.event
    async def close_other(self):
        """Put the sheet away when the conversation it belongs to is no longer on the page."""
        if not is_allowed(self):
            return
        chat = await self.get_state(ChatState)
        if not self.opened:
            return
        is_there = (
            find_place(chat, self.opened_turn, self.opened_marker) is not None
            if self.opened_marker
            else self.opened_turn in chat._places
        )
        if not is_there:
            self._close()

    @rx.event
    def close(self):
        """Put the sheet away."""
        if not is_allowed(self):
            return SIGN_IN
        self._close()
        return None

    def _close(self) -> None:
        self.opened, self.opened_turn, self.opened_marker = "", 0, 0
        self.evidence = EvidenceView()


async def show_place(page: EvidenceState, place: Place, turn_id: int, name: str) -> None:
    """Open a place of a turn; `name` is its marker, or something else that is no number."""
    try:
        page.evidence = await _open_place(place, language_of(page))
    except RagAppError as error:
        await show_error(page, error)
        return
    page.opened = f"{turn_id}-{name}"
    page.opened_turn, page.opened_marker = turn_id, int(name) if name.isdecimal() else 0


async def _open_place(place: Place, language: str) -> EvidenceView:
    runtime = current()
    try:
        if place.version_id is None:
            raise NotFoundError
        found = await evidence.open_evidence(
            runtime.database,
            runtime.workspace_id,
            version_id=place.version_id,
            start=place.start,
            end=place.end,
        )
    except NotFoundError:
        return gone_view(place, say("document_gone", language))
    return evidence_view(found, language)


class DocumentState(rx.State):
    """A document on a page of its own, opened at a page, a second or an offset."""

    evidence: EvidenceView = EvidenceView()
    document: DocumentView = NO_DOCUMENT
    is_loading: bool = True
    is_missing: bool = False
    has_before: bool = False
    has_after: bool = False

    _borders: tuple[int, int] = (0, 0)

    @rx.event
    async def open(self):
        """Open the document that the address names."""
        if not is_allowed(self):
            return
        (await self.get_state(ConversationsState)).open_id = 0
        self.is_loading, self.is_missing = True, False
        self.evidence, self.document = EvidenceView(), NO_DOCUMENT
        yield
        await load_if_there(self)

    async def _load(self) -> None:
        """Read the document, and its text once it is ready."""
        runtime, document_id = current(), _whole_number(str(self.document_id)) or 0
        document = await documents.get_document(runtime.database, runtime.workspace_id, document_id)
        self.document = document_view(document, language_of(self))
        if document.version_id is None:
            return
        where = self.router.url.query_parameters
        found = await _open_document(
            document_id,
            document.version_id,
            **{name: _whole_number(where.get(name)) for name in ("page", "second", "start", "end")},
        )
        view = evidence_view(found, language_of(self), is_whole=True)
        # without words to mark, a slide or a section is found only when it stands first
        lead = {} if view.end > view.start else {"lead": 0}
        await self._show(view, view.start, view.end, **lead)

    async def _show(self, view: EvidenceView, start: int, end: int, **lead: int) -> None:
        self.has_before = self.has_after = False
        if view.kind in {"text", "web"}:
            runtime = current()
            version = await evidence.get_version(
                runtime.database, runtime.workspace_id, view.version_id
            )
            first, last = self._borders = find_stretch(version.content, start, end, **lead)
            self.has_before, self.has_after = first > 0, last < len(version.content)
            view = with_stretch(view, version.content, first, last)
        self.evidence = view

    @rx.event
    async def read_on(self, step: int):
        """Show the stretch of a long text after (1) or before (-1) the one on the page."""
        if not is_allowed(self):
            return SIGN_IN
        first, last = self._borders
        start = last if step > 0 else max(0, first - STRETCH_CHARACTERS * 3 // 4)
        try:
            await self._show(self.evidence, start, start)
        except RagAppError as error:
            await show_error(self, error)
        return None


def waits_for(page: DocumentState, changed: Container[int]) -> bool:
    """Tell whether the page shows a document of these that had no text yet."""
    return page.document.id in changed and not page.evidence.kind and is_allowed(page)


async def load_if_there(page: DocumentState) -> None:
    """Read the document; say so when there is none, or when it cannot be read."""
    try:
        await page._load()
    except NotFoundError:
        page.is_missing = True
    except RagAppError as error:
        await show_error(page, error)
    page.is_loading = False


async def _open_document(
    document_id: int,
    version_id: int,
    *,
    page: int | None,
    second: int | None,
    start: int | None,
    end: int | None,
) -> evidence.Evidence:
    runtime = current()
    if start is not None and end is not None:
        found = await evidence.open_evidence(
            runtime.database, runtime.workspace_id, version_id=version_id, start=start, end=end
        )
        # the text may have changed since the link was made: then the page counts
        if page in {None, found.page}:
            return found
    return await evidence.open_document(
        runtime.database, runtime.workspace_id, document_id, page=page, second=second, start=start
    )


def _whole_number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and len(text) < 10 else None
