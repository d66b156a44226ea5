"""What can happen on the chat page: a conversation opens, a question is asked, an answer grows."""

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import reflex as rx

from rag_app import chat
from rag_app.errors import NotFoundError, RagAppError
from rag_app.library import conversations, documents
from rag_app.query.syntax import LONGEST_QUESTION
from rag_app.runtime import current
from rag_app.ui.state.conversations_state import ConversationsState, list_again
from rag_app.ui.state.filter_state import FilterState
from rag_app.ui.state.filter_views import query_options, scope_line
from rag_app.ui.state.pacing import Cuts, is_due, move_cuts
from rag_app.ui.state.session_state import (
    SIGN_IN,
    is_allowed,
    language_of,
    show_error,
    show_problem,
)
from rag_app.ui.state.views import (
    Place,
    TurnView,
    notice_href,
    notice_text,
    passage_places,
    turn_places,
    turn_view,
)

TURNS_SHOWN = 20
RECENT_TURNS = 4


class TailState(rx.State):
    """The running answer in three slices, the last of which grows; see `pacing`."""

    head: str = ""
    middle: str = ""
    tail: str = ""


class ChatState(rx.State):
    """One conversation. Turns that ended never change again, so they are not sent again."""

    conversation_id: int = 0
    earlier: list[TurnView] = []
    recent: list[TurnView] = []
    running: TurnView = TurnView()
    has_older: bool = False
    has_documents: bool = True
    is_loading: bool = True
    is_missing: bool = False

    _older: list[TurnView] = []
    _places: dict[int, list[Place]] = {}
    _follower: int = 0  # the newest follower's number; an older one sees it and ends

    @rx.event
    async def open_new(self):
        """Open the page for a first question."""
        if not is_allowed(self):
            return
        self._show([])
        self.conversation_id = 0
        (await self.get_state(ConversationsState)).open_id = 0
        runtime = current()
        self.has_documents = (
            await documents.count_documents(runtime.database, runtime.workspace_id) > 0
        )
        self.is_loading = False

    @rx.event
    async def open(self):
        """Open a conversation, and follow its answer where one is being written."""
        if not is_allowed(self):
            return
        address = str(self.conversation)
        wanted = int(address) if address.isdecimal() else 0
        if wanted != self.conversation_id:
            self._show([])
            self.is_loading = True
            self.conversation_id = wanted
            yield
        (await self.get_state(ConversationsState)).open_id = wanted
        runtime = current()
        try:
            turns = await conversations.list_turns(runtime.database, runtime.workspace_id, wanted)
        except NotFoundError:
            self._show([])
            self.is_missing, self.is_loading = True, False
            return
        self._show(turns)
        self.is_loading = False
        if self.running.id:
            show_text(await self.get_state(TailState), turns[-1].answer, Cuts())
            yield ChatState.follow

    def _show(self, turns: Sequence[conversations.TurnRecord]) -> None:
        language = language_of(self)
        self._follower += 1
        self._places = {turn.id: turn_places(turn, language) for turn in turns}
        views = [turn_view(turn, self._places[turn.id], language) for turn in turns]
        is_running = bool(views) and views[-1].status == "running"
        self.running = replace(views.pop(), answer="") if is_running else TurnView()
        self._older, shown = views[:-TURNS_SHOWN], views[-TURNS_SHOWN:]
        if shown != [*self.earlier, *self.recent]:
            self.earlier, self.recent = shown, []
        self.has_older = bool(self._older)
        self.is_missing = False

    @rx.event
    def show_older(self):
        """Show the turns that a long conversation hides at first."""
        if not is_allowed(self):
            return SIGN_IN
        self.earlier = self._older + self.earlier
        self._older, self.has_older = [], False
        return None

    @rx.event
    async def ask(self, question: str):
        """Take a question; the answer then grows by itself."""
        return await self._ask(str(question).strip()[:LONGEST_QUESTION])

    @rx.event
    async def ask_again(self, turn_id: int):
        """Put the question of a turn that never ended once more."""
        turn = next((turn for turn in [*self.earlier, *self.recent] if turn.id == turn_id), None)
        return await self._ask(turn.question if turn else "")

    async def _ask(self, question: str):
        if not is_allowed(self):
            return SIGN_IN
        if not question or self.running.id:
            return None
        try:
            return await self._start(question)
        except RagAppError as error:
            await show_error(self, error)
        return None

    async def _start(self, question: str) -> list:
        runtime, is_new = current(), not self.conversation_id
        if is_new:
            self.conversation_id = await conversations.start_conversation(
                runtime.database, runtime.workspace_id, question
            )
        choices = (await self.get_state(FilterState))._choices
        options = query_options(choices)
        turn_id = await chat.start_turn(runtime, self.conversation_id, question, options)
        await show_problem(self, "")
        show_text(await self.get_state(TailState), "", Cuts())
        scope = scope_line(options.filters, dict(choices.documents), language_of(self))
        self.running = TurnView(id=turn_id, question=question, status="running", scope=scope)
        listing = await self.get_state(ConversationsState)
        listing.open_id = self.conversation_id
        await list_again(listing)
        if is_new:  # the new address opens the conversation, which follows the answer
            return [rx.redirect(f"/chat/{self.conversation_id}", replace=True)]
        return [ChatState.follow]

    @rx.event
    async def stop(self):
        """Stop the answer; what was written stays."""
        if not is_allowed(self):
            return SIGN_IN
        if self.running.id:
            await chat.stop_turn(current(), self.running.id)
        return None

    @rx.event(background=True)
    async def follow(self):
        """Show the running answer as it grows, from wherever it is being written."""
        async with self:
            turn_id = self.running.id
            if not turn_id or not is_allowed(self):
                return
            self._follower += 1
            follower = self._follower
        runtime = current()
        try:
            async for progress, cuts in paced(chat.follow_turn(runtime, turn_id)):
                async with self:
                    if self._follower != follower:
                        return
                    await self._show_progress(progress, cuts)
            turn = await conversations.get_turn(runtime.database, runtime.workspace_id, turn_id)
            async with self:
                if self._follower == follower:
                    await self._finish(turn)
        except RagAppError as error:
            async with self:
                if self._follower == follower:
                    self.running = TurnView()
                    await show_error(self, error)

    async def _show_progress(self, progress: chat.TurnProgress, cuts: Cuts) -> None:
        if len(progress.passages) != len(self.running.sources):
            places = passage_places(progress.passages, language_of(self))
            self._places[self.running.id] = places
            sources = [place.source for place in places]
            self.running = replace(
                self.running,
                sources=sources,
                notice=notice_text(progress.notice, language_of(self)),
                notice_href=notice_href(progress.notice),
            )
        show_text(await self.get_state(TailState), progress.text, cuts)

    async def _finish(self, turn: conversations.TurnRecord) -> None:
        self._places[turn.id] = turn_places(turn, language_of(self))
        if len(self.recent) >= RECENT_TURNS:
            self.earlier, self.recent = [*self.earlier, *self.recent], []
        view = turn_view(turn, self._places[turn.id], language_of(self))
        self.recent = [*self.recent, view]
        self.running = TurnView()
        show_text(await self.get_state(TailState), "", Cuts())


def show_text(tail: TailState, text: str, cuts: Cuts) -> None:
    """Cut the running answer and send the slices that changed."""
    slices = {
        "head": text[: cuts.head],
        "middle": text[cuts.head : cuts.middle],
        "tail": text[cuts.middle :],
    }
    for name, value in slices.items():
        if getattr(tail, name) != value:
            setattr(tail, name, value)


def find_place(page: ChatState, turn_id: int, marker: int) -> Place | None:
    """Return where a source opens, if this page was shown it."""
    places = page._places.get(turn_id, [])
    return next((place for place in places if place.source.marker == marker), None)


async def catch_up(page: ChatState, turns: Sequence[conversations.TurnRecord] | None) -> bool:
    """Show what another tab asked in this conversation; True when its answer is to be followed.

    None stands for a conversation that was removed.
    """
    if turns is None:
        page._show([])
        page.is_missing = True
        return False
    # what runs here has its follower, which shows how it ends
    if page.running.id or all(turn.id in page._places for turn in turns):
        return False
    page._show(turns)
    show_text(await page.get_state(TailState), turns[-1].answer, Cuts())
    return bool(page.running.id)


async def paced(
    progresses: AsyncIterator[chat.TurnProgress],
) -> AsyncIterator[tuple[chat.TurnProgress, Cuts]]:
    """Pass on the progress that is worth a message, with the cuts of its text."""
    cuts, sent, found, last = Cuts(), 0, 0, 0.0
    progress = None
    async for progress in progresses:
        now = time.monotonic()
        is_new = len(progress.passages) != found
        if not is_new and not is_due(len(progress.text) - sent, now - last):
            continue
        cuts = move_cuts(cuts, len(progress.text))
        sent, found, last = len(progress.text), len(progress.passages), now
        yield progress, cuts
