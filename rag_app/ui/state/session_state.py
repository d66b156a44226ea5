"""Who is looking, in which language, and what there is to tell them."""

import logging
import secrets

import reflex as rx

from rag_app.access import is_valid_session
from rag_app.errors import RagAppError
from rag_app.runtime import current
from rag_app.ui.texts import choose_language, explain, say

log = logging.getLogger(__name__)
SIGN_IN = rx.redirect("/sign-in")


def is_allowed(state: rx.State) -> bool:
    """Tell whether the browser behind a state is signed in; every handler asks this first."""
    return is_valid_session(current().settings, state.router.headers.cookie)


def language_of(state: rx.State) -> str:
    """Return the language the browser asks for."""
    return choose_language(state.router.headers.accept_language)


class SessionState(rx.State):
    """What every page shows of itself.

    Reflex makes an event handler, which any client can call, of each public method of a state: so
    what is not meant as one is a function beside its state.
    """

    language: str = "en"
    has_password: bool = False
    problem: str = ""

    @rx.event
    def enter(self):
        """Open any page: sign in first, where a password is set."""
        if not is_allowed(self):
            return SIGN_IN
        self.language = language_of(self)
        self.problem = ""
        self.has_password = bool(current().settings.password)
        return None

    @rx.event
    def look(self):
        """Open a page that shows nothing of the library."""
        self.language = language_of(self)

    @rx.event
    def enter_sign_in(self):
        """Open the page to sign in on, which needs no session."""
        self.language = language_of(self)
        self.problem = ""
        return rx.redirect("/", replace=True) if is_allowed(self) else None

    @rx.event
    def dismiss_problem(self):
        """Hide what went wrong."""
        if not is_allowed(self):
            return SIGN_IN
        self.problem = ""
        return None

    @rx.event
    def report_failure(self, reference: str):
        """Say that something failed, under the reference that the log has."""
        self.problem = say("went_wrong", language_of(self), reference=reference[:12])


async def show_problem(state: rx.State, text: str) -> None:
    """Put a sentence on top of the page."""
    (await state.get_state(SessionState)).problem = text


async def show_error(state: rx.State, error: RagAppError) -> None:
    """Say on top of the page what failed, in the page's language where the kind is known."""
    await show_problem(state, explain(error, language_of(state)))


def handle_failure(exception: Exception):
    """Log what no handler expected and show a short reference to it."""
    reference = secrets.token_hex(3)
    log.error("A handler failed, reference %s", reference, exc_info=exception)
    return SessionState.report_failure(reference)
