"""What can happen with the X-ray of an answer: it opens, a list is chosen, a place is asked for."""

import reflex as rx

from rag_app.errors import NotFoundError, RagAppError
from rag_app.library import conversations, documents
from rag_app.query.whereabouts import why_not
from rag_app.query.xray import xray
from rag_app.runtime import current
from rag_app.ui.state.chat_state import ChatState
from rag_app.ui.state.evidence_state import EvidenceState, show_place
from rag_app.ui.state.filter_state import find_titles, is_id
from rag_app.ui.state.filter_views import TitleView
from rag_app.ui.state.session_state import (
    SIGN_IN,
    is_allowed,
    language_of,
    show_error,
    show_problem,
)
from rag_app.ui.state.views import Place
from rag_app.ui.state.xray_views import (
    LISTS,
    MOST_ROWS,
    RowView,
    WhyView,
    XrayView,
    open_places,
    row_views,
    why_views,
    xray_view,
)
from rag_app.ui.texts import say

FIRST_LIST = "fused"
LARGEST_PAGE = 10**6


class XrayState(rx.State):
    """The X-ray in the place of the evidence. Only the list that is shown is on the page."""

    opened: str = ""
    opened_turn: int = 0
    view: XrayView = XrayView()
    list_name: str = FIRST_LIST
    rows: list[RowView] = []
    cut_off: str = ""
    found: list[TitleView] = []
    document_id: int = 0
    document_title: str = ""
    told: list[WhyView] = []
    is_looking: bool = False

    _lists: dict[str, list[RowView]] = {}
    _places: dict[int, Place] = {}

    @rx.event
    async def open(self, turn_id: int):
        """Show how the answer of a turn was found."""
        if not is_allowed(self):
            return SIGN_IN
        if not is_id(turn_id):
            return None
        runtime, language = current(), language_of(self)
        arguments = (runtime.database, runtime.workspace_id)
        try:
            log = await conversations.turn_log(*arguments, turn_id)
            found = await xray(*arguments, log)
        except NotFoundError:
            await show_problem(self, say("xray_nothing", language))
            return None
        except RagAppError as error:
            await show_error(self, error)
            return None
        self._clear()
        lists = {name: getattr(found, name) for name in LISTS}
        self._lists = {name: row_views(rows, language) for name, rows in lists.items()}
        shown = [row.place for rows in lists.values() for row in rows[:MOST_ROWS]]
        self._places = open_places(shown, language)
        self.view = xray_view(found, language)
        self._show_list(FIRST_LIST)
        self.opened, self.opened_turn = f"xray-{turn_id}", turn_id
        return EvidenceState.close

    @rx.event
    def choose_list(self, name: str):
        """Show another list."""
        if not is_allowed(self):
            return SIGN_IN
        if name in self._lists:
            self._show_list(name)
        return None

    def _show_list(self, name: str) -> None:
        self.list_name, self.rows = name, self._lists[name]
        count = next(tab.count for tab in self.view.tabs if tab.key == name)
        shown = len(self.rows)
        self.cut_off = (
            say("xray_cut_off", language_of(self), shown=shown, count=count)
            if shown < count
            else ""
        )

    @rx.event
    async def open_place(self, chunk_id: int):
        """Open the place of a row in the evidence."""
        if not is_allowed(self):
            return SIGN_IN
        place = self._places.get(chunk_id)
        if place is not None:
            await show_place(
                await self.get_state(EvidenceState), place, self.opened_turn, f"x{chunk_id}"
            )
        return None

    @rx.event
    async def find(self, title: str):
        """List documents whose title holds these words."""
        if not is_allowed(self):
            return SIGN_IN
        try:
            self.found = await find_titles(str(title))
        except RagAppError as error:
            await show_error(self, error)
        return None

    @rx.event
    async def choose(self, document_id: int):
        """Ask about a document."""
        if not is_allowed(self):
            return SIGN_IN
        runtime = current()
        if not is_id(document_id):
            return None
        try:
            document = await documents.get_document(
                runtime.database, runtime.workspace_id, document_id
            )
        except RagAppError as error:
            await show_error(self, error)
            return None
        self.found, self.told = [], []
        self.document_id, self.document_title = document.id, document.title
        return XrayState.look({})

    @rx.event
    def choose_other(self):
        """Ask about another document."""
        if not is_allowed(self):
            return SIGN_IN
        self.document_id, self.document_title, self.found, self.told = 0, "", [], []
        return None

    @rx.event(background=True)
    async def look(self, form: dict):
        """Say where the document, or a page of it, fell out."""
        async with self:
            if not is_allowed(self):
                return
            turn_id, document_id = self.opened_turn, self.document_id
            if not turn_id or not document_id or self.is_looking:
                return
            self.is_looking = True
            language = language_of(self)
        try:
            runtime = current()
            arguments = (runtime.database, runtime.workspace_id)
            turn = await conversations.get_turn(*arguments, turn_id)
            log = await conversations.turn_log(*arguments, turn_id)
            page = _page(form.get("page"))
            found = await why_not(runtime.query, log, turn.question, document_id, page)
            async with self:
                if (self.opened_turn, self.document_id) == (turn_id, document_id):
                    self.told = why_views(found, language)
                    places = open_places([about.place for about in found], language)
                    self._places = {**self._places, **places}
        except RagAppError as error:
            async with self:
                await show_error(self, error)
        finally:
            async with self:
                self.is_looking = False

    @rx.event
    def close(self):
        """Put the X-ray away."""
        if not is_allowed(self):
            return SIGN_IN
        self._clear()
        return None

    @rx.event
    async def close_other(self):
        """Put the X-ray away when its turn is no longer on the page."""
        if not is_allowed(self):
            return
        chat = await self.get_state(ChatState)
        if self.opened_turn and self.opened_turn not in chat._places:
            self._clear()

    def _clear(self) -> None:
        self.opened, self.opened_turn = "", 0
        self.view, self.rows, self.cut_off = XrayView(), [], ""
        self.found, self.document_id, self.document_title, self.told = [], 0, "", []
        self._lists, self._places = {}, {}


def _page(text: object) -> int | None:
    """Return a page's number; None for what is none."""
    written = str(text or "").strip()
    if not written.isdecimal() or len(written) > len(str(LARGEST_PAGE)):
        return None
    return int(written)
