"""Any client can call any event handler with any arguments, so each asks first who it is."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import reflex as rx
from reflex.event import EventHandler
from reflex_base.registry import RegistrationContext

import rag_app.rag_app  # noqa: F401 - brings in every page and state
from rag_app import runtime as runtimes
from rag_app.access import COOKIE, new_session
from rag_app.settings import Settings

# setvar, which Reflex gives each state, calls set_ handlers, and no state here has one
OURS = {
    f"{registered.states[0].__name__}.{name.rpartition('.')[2]}": registered.handler
    for name, registered in RegistrationContext.get().event_handlers.items()
    if registered.states[0].__module__.startswith("rag_app.") and not name.endswith(".setvar")
}
# what a page without a session needs; they touch nothing but these two words about the page itself
OPEN = {
    "SessionState.look",
    "SessionState.enter_sign_in",
    "SessionState.report_failure",
}
WORDS_OF_THE_PAGE = {"language", "problem"}
ARGUMENTS: dict[Any, Any] = {int: 7, str: "words", dict: {"title": "words", "url": "a.example"}}


@dataclass
class Locked:
    """A runtime of which only the settings may be read."""

    settings: Settings
    touched: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        self.touched.append(name)
        raise AssertionError(f"a handler reached for the runtime's {name}")


@pytest.fixture
def locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Locked]:
    runtime = Locked(Settings(home=tmp_path, password="a secret"))
    monkeypatch.setattr(runtimes, "_current", runtime)
    return runtime


def new_tab(cookie: str = "") -> rx.State:
    root = rx.State(_reflex_internal_init=True)
    root._update_router_vars({"headers": {"cookie": cookie}, "pathname": "/library"}, {})
    root._clean()
    return root


def changed(state: rx.State) -> set[str]:
    below = (changed(substate) for substate in state.substates.values())
    return set(state.dirty_vars).union(*below)


async def call(handler: EventHandler, root: rx.State) -> None:
    """Run a handler as the framework does, with arguments that fit."""
    state = await root.get_state(handler.state)
    _, *parameters = inspect.signature(handler.fn).parameters.values()
    result = handler.fn(state, *(ARGUMENTS[parameter.annotation] for parameter in parameters))
    if inspect.isasyncgen(result):
        async for _ in result:
            pass
    elif inspect.isawaitable(result):
        await result


def test_only_what_is_meant_as_a_handler_is_one() -> None:
    """Reflex takes every public method of a state for one, marked or not."""
    accidents = [
        name
        for name, handler in OURS.items()
        if not inspect.getsource(handler.fn).lstrip().startswith("@rx.event")
    ]

    assert accidents == []
    assert [name for name in OURS if ".set_" in name] == []


@pytest.mark.parametrize("name", OURS)
async def test_without_a_session_no_handler_reads_or_changes_anything(
    name: str, locked: Locked
) -> None:
    root = new_tab()
    await call(OURS[name], root)

    assert locked.touched == []
    assert changed(root) <= (WORDS_OF_THE_PAGE if name in OPEN else set())


async def test_with_a_session_they_do(locked: Locked) -> None:
    root = new_tab(f"{COOKIE}={new_session(locked.settings)}")
    await call(OURS["SessionState.dismiss_problem"], root)

    assert changed(root) == {"problem"}
    with pytest.raises(AssertionError, match="database"):
        await call(OURS["ConversationsState.load"], root)
