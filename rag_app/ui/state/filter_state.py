"""What can happen with filters: chosen beside the field, they hold in this tab until taken back."""

from dataclasses import replace

import reflex as rx

from rag_app.errors import RagAppError
from rag_app.library import documents
from rag_app.runtime import current
from rag_app.ui.language_names import language_name
from rag_app.ui.state.filter_views import (
    STEPS,
    ChipView,
    Choices,
    ChoiceView,
    TitleView,
    chips,
    kind_name,
    read_day,
    toggled,
    with_document,
    without,
)
from rag_app.ui.state.session_state import SIGN_IN, is_allowed, language_of, show_error
from rag_app.ui.texts import say

TITLES_SHOWN = 8
LONGEST_SEARCH = 200
LARGEST_ID = 2**63 - 1


class FilterState(rx.State):
    """What the next questions of this tab are kept to, and what there is to choose from."""

    chips: list[ChipView] = []
    kinds: list[ChoiceView] = []
    languages: list[ChoiceView] = []
    steps: list[ChoiceView] = []
    found: list[TitleView] = []
    since: str = ""
    until: str = ""
    resets: int = 0  # the fields are made anew, and so emptied, when what they hold was taken back

    _choices: Choices = Choices()
    _kinds: dict[str, int] = {}
    _languages: dict[str, int] = {}

    @rx.event
    async def open(self):
        """Read what the library holds to choose from."""
        if not is_allowed(self):
            return SIGN_IN
        runtime = current()
        arguments = (runtime.database, runtime.workspace_id)
        try:
            self._kinds = await documents.list_source_types(*arguments)
            self._languages = await documents.list_languages(*arguments)
        except RagAppError as error:
            await show_error(self, error)
        self._show(self._choices)
        return None

    @rx.event
    def toggle_kind(self, kind: str):
        """Keep questions to a kind of document, or no longer."""
        if not is_allowed(self):
            return SIGN_IN
        chosen = toggled(self._choices.source_types, str(kind), self._kinds)
        self._show(replace(self._choices, source_types=chosen))
        return None

    @rx.event
    def toggle_language(self, code: str):
        """Keep questions to documents of a language, or no longer."""
        if not is_allowed(self):
            return SIGN_IN
        chosen = toggled(self._choices.languages, str(code), self._languages)
        self._show(replace(self._choices, languages=chosen))
        return None

    @rx.event
    def toggle_step(self, step: str):
        """Take a step of the search in or out."""
        if not is_allowed(self):
            return SIGN_IN
        if step in STEPS:
            self._show(replace(self._choices, **{step: not getattr(self._choices, step)}))
        return None

    @rx.event
    def choose_since(self, day: str):
        """Keep questions to what was added from a day on."""
        if not is_allowed(self):
            return SIGN_IN
        self._show(replace(self._choices, since=read_day(str(day))))
        return None

    @rx.event
    def choose_until(self, day: str):
        """Keep questions to what was added until a day."""
        if not is_allowed(self):
            return SIGN_IN
        self._show(replace(self._choices, until=read_day(str(day))))
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
    async def choose_document(self, document_id: int):
        """Keep questions to a document, beside others chosen already."""
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
        self.found, self.resets = [], self.resets + 1
        self._show(with_document(self._choices, document.id, document.title))
        return None

    @rx.event
    def remove(self, key: str):
        """Take back what a chip names."""
        if not is_allowed(self):
            return SIGN_IN
        self.resets += 1
        self._show(without(self._choices, str(key)))
        return None

    @rx.event
    def clear(self):
        """Take everything back."""
        if not is_allowed(self):
            return SIGN_IN
        self.resets += 1
        self._show(Choices())
        return None

    def _show(self, choices: Choices) -> None:
        language = language_of(self)
        self._choices = choices
        self.since, self.until = choices.since, choices.until
        self.chips = chips(choices, language)
        self.kinds = [
            ChoiceView(kind, kind_name(kind, language), count, kind in choices.source_types)
            for kind, count in self._kinds.items()
        ]
        self.languages = [
            ChoiceView(code, language_name(code, language), count, code in choices.languages)
            for code, count in self._languages.items()
        ]
        has_model = current().provider.chat_model is not None
        self.steps = [
            ChoiceView(step, say(f"step_of_{step}", language), 0, getattr(choices, step))
            for step in (STEPS if has_model else ())
        ]


async def find_titles(title: str) -> list[TitleView]:
    """Return the first documents whose title holds these words; none for no words."""
    if not title.strip():
        return []
    runtime = current()
    found = await documents.list_documents(
        runtime.database, runtime.workspace_id, title=title[:LONGEST_SEARCH], limit=TITLES_SHOWN
    )
    return [TitleView(one.id, one.title, one.source_type) for one in found if one.version_id]


def is_id(value: object) -> bool:
    """Tell whether what a client sent can be an id."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LARGEST_ID
