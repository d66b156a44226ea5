"""Where the password is asked for: `/sign-in`."""

import reflex as rx

from rag_app.ui.components.local import SignInForm
from rag_app.ui.components.words import words
from rag_app.ui.layout import bare


def sign_in_page() -> rx.Component:
    """Show the field for the password."""
    return bare(
        rx.el.h1(words("sign_in")),
        SignInForm.create(
            labels={
                "password": words("password"),
                "signIn": words("sign_in"),
                "wrong": words("wrong_password"),
                "throttled": words("sign_in_throttled"),
                "failed": words("sign_in_failed"),
            }
        ),
        name="sign-in",
    )
