"""What can happen with the person's own questions: a place is named, one is removed."""

import reflex as rx

from rag_app.errors import NotFoundError, RagAppError
from rag_app.evaluation import golden
from rag_app.library import documents
from rag_app.query.syntax import LONGEST_QUESTION
from rag_app.runtime import current
from rag_app.ui.state.evaluation_views import (
    MOST_QUESTIONS,
    QuestionView,
    question_view,
    read_place,
)
from rag_app.ui.state.filter_state import find_titles, is_id
from rag_app.ui.state.filter_views import TitleView
from rag_app.ui.state.session_state import SIGN_IN, is_allowed, language_of, show_error
from rag_app.ui.texts import explain, say

NEW = -1
"""In place of a question's id: one that is being added by hand."""


class GoldenState(rx.State):
    """The person's own questions, newest first, and the one whose place is being named."""

    questions: list[QuestionView] = []
    not_shown: str = ""
    is_loading: bool = True
    is_failed: bool = False
    removing: int = 0
    placing: int = 0
    found: list[TitleView] = []
    document_id: int = 0
    document_title: str = ""
    place_error: str = ""

    @rx.event
    async def open(self):
        """Read the questions."""
        if not is_allowed(self):
            return
        self.removing = 0
        self._leave()
        await list_questions(self)

    @rx.event
    def start_removing(self, question_id: int):
        """Ask whether a question is to go."""
        if not is_allowed(self):
            return SIGN_IN
        self.removing = question_id
        return None

    @rx.event
    def keep(self):
        """Remove nothing after all."""
        if not is_allowed(self):
            return SIGN_IN
        self.removing = 0
        return None

    @rx.event
    async def remove(self, question_id: int):
        """Forget a question."""
        if not is_allowed(self):
            return SIGN_IN
        self.removing = 0
        if not is_id(question_id):
            return None
        runtime = current()
        try:
            await golden.remove_question(runtime.database, runtime.workspace_id, question_id)
        except RagAppError as error:
            await show_error(self, error)
        await list_questions(self)
        return None

    @rx.event
    def start_placing(self, question_id: int):
        """Open the form in which the place of a question is named."""
        if not is_allowed(self):
            return SIGN_IN
        self._leave()
        self.placing = question_id
        return None

    @rx.event
    def start_adding(self):
        """Open the form in which a question is added with its place."""
        if not is_allowed(self):
            return SIGN_IN
        self._leave()
        self.placing = NEW
        return None

    @rx.event
    def leave(self):
        """Put the form away."""
        if not is_allowed(self):
            return SIGN_IN
        self._leave()
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
        """Take a document as the one in which the answer stands."""
        if not is_allowed(self):
            return SIGN_IN
        if not is_id(document_id):
            return None
        runtime = current()
        try:
            document = await documents.get_document(
                runtime.database, runtime.workspace_id, document_id
            )
        except RagAppError as error:
            await show_error(self, error)
            return None
        self.found, self.place_error = [], ""
        self.document_id, self.document_title = document.id, document.title
        return None

    @rx.event
    async def name_place(self, form: dict):
        """Keep the place that answers the question, and the question where it is a new one."""
        if not is_allowed(self):
            return SIGN_IN
        try:
            self.place_error = await self._keep_place(form)
        except NotFoundError as error:
            self.place_error = explain(error, language_of(self))
        except RagAppError as error:
            await show_error(self, error)
            return None
        if not self.place_error:
            self._leave()
            await list_questions(self)
        return None

    async def _keep_place(self, form: dict) -> str:
        """Return what is wrong with the form, or keep what it says."""
        runtime, language = current(), language_of(self)
        arguments = (runtime.database, runtime.workspace_id)
        place = read_place(form, self.document_id, self.document_title)
        question = str(form.get("question") or "").strip()[:LONGEST_QUESTION]
        if place is None:
            return say("place_needed", language)
        if self.placing == NEW and not question:
            return say("question_needed", language)
        document = await documents.get_document(*arguments, self.document_id)
        if place.page is not None and place.page > (document.pages or 0):
            key = "place_no_page" if document.pages else "place_no_pages"
            return say(key, language, count=document.pages)
        if self.placing == NEW:
            await golden.add_question(*arguments, question, [place])
        else:
            await golden.set_place(*arguments, self.placing, place)
        return ""

    def _leave(self) -> None:
        self.placing, self.document_id, self.document_title = 0, 0, ""
        self.found, self.place_error = [], ""


async def list_questions(page: GoldenState) -> None:
    """Read the questions, newest first."""
    runtime, language = current(), language_of(page)
    try:
        found = await golden.list_questions(runtime.database, runtime.workspace_id)
    except RagAppError:
        page.is_failed, page.is_loading = True, False
        return
    shown = found[::-1][:MOST_QUESTIONS]
    page.questions = [question_view(question, language) for question in shown]
    hidden = len(found) - len(shown)
    page.not_shown = say("golden_more", language, count=hidden) if hidden else ""
    page.is_failed = page.is_loading = False
