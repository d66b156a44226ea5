"""The list of conversations beside every page."""

import reflex as rx

from rag_app.errors import RagAppError
from rag_app.library import conversations
from rag_app.runtime import current
from rag_app.ui.state.session_state import SIGN_IN, is_allowed, show_problem
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
            await self.list_again()
        except RagAppError as error:
            await show_problem(self, str(error))

    async def list_again(self) -> None:
        """Read the list; send it only when it changed."""
        runtime = current()
        found = await conversations.list_conversations(runtime.database, runtime.workspace_id)
        views = [conversation_view(conversation) for conversation in found]
        if views != self.conversations:
            self.conversations = views
        self.is_loading = False
        self.renaming = self.removing = 0

    @rx.event
    def start_renaming(self, conversation_id: int):
        """Turn a conversation's line into a field."""
        self.renaming, self.removing = conversation_id, 0

    @rx.event
    def start_removing(self, conversation_id: int):
        """Ask whether a conversation is to go."""
        self.removing, self.renaming = conversation_id, 0

    @rx.event
    def leave(self):
        """Change nothing after all."""
        self.renaming = self.removing = 0

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
            await self.list_again()
        except RagAppError as error:
            await show_problem(self, str(error))
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
            await self.list_again()
        except RagAppError as error:
            await show_problem(self, str(error))
        return rx.redirect("/") if conversation_id == self.open_id else None
