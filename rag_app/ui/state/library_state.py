"""What can happen on the library page: documents are added, watched, retried and removed."""

from collections.abc import Awaitable, Callable, Mapping

import reflex as rx

from rag_app.errors import IngestionError, NotFoundError, RagAppError
from rag_app.library import documents
from rag_app.library.documents import DocumentSummary
from rag_app.runtime import current
from rag_app.ui.state.addresses import leads_here
from rag_app.ui.state.conversations_state import ConversationsState
from rag_app.ui.state.session_state import SIGN_IN, is_allowed, language_of, show_error
from rag_app.ui.state.views import DocumentView, document_view, shorten
from rag_app.ui.texts import explain, say
from rag_app.uris import SITE_PREFIX, with_scheme

ROWS = 100
CHANGES_KEPT = 30
LONGEST_ADDRESS = 120


class LibraryState(rx.State):
    """One page of documents.

    `rows` is the list as it was read; `changes` lies over it with the few documents that moved
    since, so a step of progress sends one row and not a hundred.
    """

    rows: list[DocumentView] = []
    changes: dict[str, DocumentView] = {}
    title: str = ""
    first: int = 1
    has_more: bool = False
    is_loading: bool = True
    is_failed: bool = False
    removing: int = 0
    url_error: str = ""
    lacking: int = 0  # documents without vectors of the model in use
    lacking_text: str = ""
    is_embedding: bool = False
    urls_added: int = 0  # the field is made anew, and so emptied, when an address was taken

    @property
    def is_watching(self) -> bool:
        """Whether the list is on the page of somebody who may see it."""
        return self.router.url.path.startswith("/library") and is_allowed(self)

    @rx.event
    async def open(self):
        """Open the library at its newest documents."""
        if not is_allowed(self):
            return
        (await self.get_state(ConversationsState)).open_id = 0
        self.title, self.first, self.removing, self.url_error = "", 1, 0, ""
        await list_again(self)
        yield  # counting takes a moment in a large library
        await count_lacking(self)

    @rx.event
    async def search(self, title: str):
        """Show the documents whose title holds these words."""
        if not is_allowed(self):
            return SIGN_IN
        self.title, self.first = str(title).strip()[:200], 1
        await list_again(self)
        return None

    @rx.event
    async def turn_page(self, step: int):
        """Show newer (-1) or older (1) documents."""
        if not is_allowed(self):
            return SIGN_IN
        self.first = max(1, self.first + (ROWS if step > 0 else -ROWS))
        await list_again(self)
        return None

    @rx.event
    async def add_url(self, form: dict):
        """Queue a web page or a video."""
        if not is_allowed(self):
            return SIGN_IN
        url, runtime, language = str(form.get("url", "")).strip(), current(), language_of(self)
        self.url_error = ""
        if not url:
            return None
        if leads_here(url, runtime.settings.allowed_addresses):
            self.url_error = say("own_computer", language)
            return None
        try:
            address = SITE_PREFIX + with_scheme(url) if form.get("site") else url
            await documents.add_url(runtime.database, runtime.workspace_id, address)
            self.urls_added += 1
        except IngestionError:
            self.url_error = say("no_address", language, address=shorten(url, LONGEST_ADDRESS))
        except RagAppError as error:
            self.url_error = explain(error, language)
        return None

    @rx.event
    async def embed_again(self):
        """Give every document vectors of the model in use."""
        if not is_allowed(self):
            return SIGN_IN
        runtime = current()
        try:
            await documents.embed_again(runtime.database, runtime.workspace_id, runtime.model_id)
        except RagAppError as error:
            await show_error(self, error)
        await count_lacking(self)
        return None

    @rx.event
    async def retry(self, document_id: int):
        """Take a failed document in once more."""
        return await self._change(documents.retry_document, document_id)

    @rx.event
    async def cancel(self, document_id: int):
        """Stop taking a document in."""
        return await self._change(documents.cancel_document, document_id)

    @rx.event
    async def remove(self, document_id: int):
        """Take a document out of the library."""
        if not is_allowed(self):
            return SIGN_IN
        self.removing = 0
        return await self._change(documents.remove_document, document_id)

    @rx.event
    def start_removing(self, document_id: int):
        """Ask whether a document is to go."""
        if not is_allowed(self):
            return SIGN_IN
        self.removing = document_id
        return None

    @rx.event
    def keep(self):
        """Remove nothing after all."""
        if not is_allowed(self):
            return SIGN_IN
        self.removing = 0
        return None

    async def _change(self, change: Callable[..., Awaitable[None]], document_id: int):
        if not is_allowed(self):
            return SIGN_IN
        runtime = current()
        try:
            await change(runtime.database, runtime.workspace_id, document_id)
            # shown at once: what is told to all pages may come when the next thing has happened
            await apply(self, {document_id: await _find(document_id)})
        except RagAppError as error:
            await show_error(self, error)
        return None


async def _find(document_id: int) -> DocumentSummary | None:
    runtime = current()
    try:
        return await documents.get_document(runtime.database, runtime.workspace_id, document_id)
    except NotFoundError:
        return None


async def list_again(library: LibraryState) -> None:
    """Read the documents of this page of the list."""
    runtime = current()
    try:
        found = await documents.list_documents(
            runtime.database,
            runtime.workspace_id,
            title=library.title,
            limit=ROWS + 1,
            offset=library.first - 1,
        )
    except RagAppError:
        library.is_failed, library.is_loading = True, False
        return
    language = language_of(library)
    library.rows = [document_view(document, language) for document in found[:ROWS]]
    library.changes = {}
    library.has_more = len(found) > ROWS
    library.is_failed = library.is_loading = False


async def count_lacking(library: LibraryState) -> None:
    """Say how many documents lack vectors of the model in use, and whether they get them now."""
    runtime = current()
    try:
        count = await documents.count_without_vectors(
            runtime.database, runtime.workspace_id, runtime.model_id
        )
        is_embedding = count > 0 and await documents.count_embedding(runtime.database) > 0
    except RagAppError:
        return  # the list says that the database is away
    key = f"{'embedding' if is_embedding else 'lacking'}_{'one' if count == 1 else 'many'}"
    library.lacking, library.is_embedding = count, is_embedding
    library.lacking_text = say(key, language_of(library), count=count) if count else ""


async def apply(library: LibraryState, changed: Mapping[int, DocumentSummary | None]) -> None:
    """Show what became of documents; None stands for a removed one."""
    shown = {row.id for row in library.rows}
    if len(library.changes) > CHANGES_KEPT or any(
        _moves_rows(library, document_id, document, shown)
        for document_id, document in changed.items()
    ):
        await list_again(library)
        return
    language = language_of(library)
    views = {
        str(document_id): document_view(document, language)
        for document_id, document in changed.items()
        if document is not None and document_id in shown
    }
    if views:
        library.changes = {**library.changes, **views}


def _moves_rows(
    library: LibraryState, document_id: int, document: DocumentSummary | None, shown: set[int]
) -> bool:
    if document_id in shown:
        return document is None
    is_new = document is not None and document_id > max(shown, default=0)
    return is_new and library.first == 1 and library.title.lower() in document.title.lower()
