"""The list of conversations beside every page."""

from collections.abc import Sequence

import reflex as rx

from rag_app.errors import RagAppError
from rag_app.library import conversations
from rag_app.library.conversations import ConversationSummary
from rag_app.runtime import current
from rag_app.ui.state.session_state import SIGN_IN, is_allowed, show_error
from rag_app.ui.state.views import ConversationView, conversation_view


class ConversationsState(rx.State):
    """Which conversations there are, which one is open, and which one is being changed."""

    conversations: list[ConversationView] = []
    is_loading: bool = True
    open_id: int = 0
    renaming: int = 0
    removing: int = 0

    @rx.event
    async def load(self):
        """List the conversations, the one used last first."""
        if not is_allowed(self):
            return
        try:
            await list_again(self)
        except RagAppError as error:
            await show_error(self, error)

    @rx.event
    def start_renaming(self, conversation_id: int):
        """Turn a conversation's line into a field."""
        if not is_allowed(self):
            return SIGN_IN
        self.renaming, self.removing = conversation_id, 0
        return None

    @rx.event
    def start_removing(self, conversation_id: int):
        """Ask whether a conversation is to go."""
        if not is_allowed(self):
            return SIGN_IN
        self.removing, self.renaming = conversation_id, 0
        return None

    @rx.event
    def leave(self):
        """Change nothing after all."""
        if not is_allowed(self):
            return SIGN_IN
        self.renaming = self.removing = 0
        return None

    @rx.event
    async def rename(self, form: dict):
        """Give the conversation its new name."""
        if not is_allowed(self):
            return SIGN_IN
        runtime, title = current(), str(form.get("title", "")).strip()
        try:
            if title and self.renaming:
                await conversations.rename_conversation(
                    runtime.database, runtime.workspace_id, self.renaming, title
                )
            await list_again(self)
        except RagAppError as error:
            await show_error(self, error)
        return None

    @rx.event
    async def remove(self, conversation_id: int):
        """Delete a conversation; leave it first when it is the one on the page."""
        if not is_allowed(self):
            return SIGN_IN
        runtime = current()
        try:
            await conversations.remove_conversation(
                runtime.database, runtime.workspace_id, conversation_id
            )
            await list_again(self)
        except RagAppError as error:
            await show_error(self, error)
        return rx.redirect("/") if conversation_id == self.open_id else None


async def list_again(listing: ConversationsState) -> None:
    """Read the list, and leave what was being changed in it."""
    runtime = current()
    show_list(
        listing, await conversations.list_conversations(runtime.database, runtime.workspace_id)
    )
    listing.renaming = listing.removing = 0


def show_list(listing: ConversationsState, found: Sequence[ConversationSummary]) -> None:
    """Show these conversations; send them only when they changed."""
    views = [conversation_view(conversation) for conversation in found]
    if views != listing.conversations:
        listing.conversations = views
    listing.is_loading = False
