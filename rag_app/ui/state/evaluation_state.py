"""What can happen with evaluations: one begins, is followed and stopped, its figures open."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import reflex as rx

from rag_app.errors import EvaluationSetError, NotFoundError, RagAppError, SettingsError
from rag_app.evaluation import history, running
from rag_app.evaluation.configurations import BASES, parse_configurations
from rag_app.evaluation.history import EvaluationRun
from rag_app.runtime import current
from rag_app.ui.state.conversations_state import ConversationsState
from rag_app.ui.state.evaluation_views import (
    COMPARED_ROWS,
    ComparedView,
    ResultView,
    RunningView,
    RunView,
    compared_views,
    result_view,
    run_view,
    running_view,
)
from rag_app.ui.state.filter_state import is_id
from rag_app.ui.state.session_state import SIGN_IN, is_allowed, language_of, show_error
from rag_app.ui.texts import explain, say

LONGEST_VARIANTS = 500
LONGEST_PATH = 1000


class EvaluationState(rx.State):
    """The run that goes on, those that ended, and the figures of one of them."""

    running: RunningView = RunningView()
    runs: list[RunView] = []
    is_loading: bool = True
    is_failed: bool = False
    takes_folders: bool = False
    variants_error: str = ""
    set_error: str = ""
    removing: int = 0
    result: ResultView = ResultView()
    first: str = ""
    second: str = ""
    compared: list[ComparedView] = []
    compared_from: int = 1
    compared_count: int = 0

    @property
    def is_watching(self) -> bool:
        """Whether the runs are on the page of somebody who may see them."""
        return self.router.url.path.startswith("/evaluation") and is_allowed(self)

    @rx.event
    async def open(self):
        """Read the runs, and open the newest that has figures."""
        if not is_allowed(self):
            return
        (await self.get_state(ConversationsState)).open_id = 0
        self.takes_folders = not current().settings.password
        self.removing, self.variants_error, self.set_error = 0, "", ""
        await list_again(self)
        done = [run.id for run in self.runs if run.status == "done"]
        if self.result.id not in done:
            self.result = ResultView()
            if done:
                await show_run(self, done[0])

    @rx.event
    async def start(self, form: dict):
        """Begin to measure what was chosen."""
        if not is_allowed(self):
            return SIGN_IN
        self.variants_error = self.set_error = ""
        language = language_of(self)
        try:
            chosen, folder = _chosen(form), _folder(form)
            await running.start_run(current(), chosen, folder=folder)
        except SettingsError as error:
            self.variants_error = explain(error, language)
        except EvaluationSetError as error:
            self.set_error = str(error) or say("folder_needed", language)
        except RagAppError as error:
            await show_error(self, error)
        await list_again(self)
        return None

    @rx.event
    async def stop(self):
        """Stop the run that goes on."""
        if not is_allowed(self):
            return SIGN_IN
        if self.running.id:
            try:
                await running.stop_run(current(), self.running.id)
            except RagAppError as error:
                await show_error(self, error)
            await list_again(self)
        return None

    @rx.event
    async def open_run(self, run_id: int):
        """Show the figures of a run."""
        if not is_allowed(self):
            return SIGN_IN
        if is_id(run_id):
            await show_run(self, run_id)
        return None

    @rx.event
    async def choose_first(self, name: str):
        """Compare another configuration."""
        if not is_allowed(self):
            return SIGN_IN
        if name in self.result.names:
            await compare(self, name, self.second)
        return None

    @rx.event
    async def choose_second(self, name: str):
        """Compare with another configuration."""
        if not is_allowed(self):
            return SIGN_IN
        if name in self.result.names:
            await compare(self, self.first, name)
        return None

    @rx.event
    async def turn_page(self, step: int):
        """Show the questions before (-1) or after (1) those that are compared."""
        if not is_allowed(self):
            return SIGN_IN
        start = self.compared_from + (COMPARED_ROWS if step > 0 else -COMPARED_ROWS)
        if self.result.id and 1 <= start <= self.compared_count:
            await compare(self, self.first, self.second, start)
        return None

    @rx.event
    def start_removing(self, run_id: int):
        """Ask whether a run is to go."""
        if not is_allowed(self):
            return SIGN_IN
        self.removing = run_id
        return None

    @rx.event
    def keep(self):
        """Remove nothing after all."""
        if not is_allowed(self):
            return SIGN_IN
        self.removing = 0
        return None

    @rx.event
    async def remove(self, run_id: int):
        """Forget a run."""
        if not is_allowed(self):
            return SIGN_IN
        self.removing = 0
        if not is_id(run_id):
            return None
        runtime = current()
        try:
            await history.remove_run(runtime.database, runtime.workspace_id, run_id)
        except RagAppError as error:
            await show_error(self, error)
        if self.result.id == run_id:
            self.result = ResultView()
        await list_again(self)
        return None


def _chosen(form: Mapping[str, object]) -> str:
    """Return the configurations of the form; raise SettingsError for a variant that is none."""
    variants = str(form.get("variants") or "")[:LONGEST_VARIANTS]
    if variants.strip(" ,"):
        parse_configurations(variants)  # the sentence is then about what was typed
    return ",".join([*(name for name in BASES if form.get(name)), variants])


def _folder(form: Mapping[str, object]) -> Path | None:
    """Return the folder of the form, None for the person's own questions."""
    if form.get("set") != "folder":
        return None
    path = str(form.get("folder") or "").strip()[:LONGEST_PATH]
    folder = Path.home() / path[2:] if path.startswith("~/") else Path(path)
    if not folder.is_absolute():
        raise EvaluationSetError("")
    return folder


async def list_again(page: EvaluationState) -> None:
    """Read the runs."""
    runtime, language = current(), language_of(page)
    try:
        found = await history.list_runs(runtime.database, runtime.workspace_id)
    except RagAppError:
        page.is_failed, page.is_loading = True, False
        return
    going_on = next((run for run in found if run.status == "running"), None)
    page.running = running_view(going_on, language)
    page.runs = [run_view(run, language) for run in found if run.status != "running"]
    page.is_failed = page.is_loading = False


async def show_run(page: EvaluationState, run_id: int) -> None:
    """Show the figures of a run, and its first configuration beside the reference."""
    runtime, language = current(), language_of(page)
    try:
        report = await history.run_report(runtime.database, runtime.workspace_id, run_id)
    except NotFoundError:
        await list_again(page)
        return
    except RagAppError as error:
        await show_error(page, error)
        return
    if not report:
        return
    page.result = result_view(run_id, report, language)
    others = [name for name in page.result.names if name != page.result.reference]
    page.first = page.result.reference
    page.second = others[0] if others else page.first
    _show_compared(page, report, 1)


async def compare(page: EvaluationState, first: str, second: str, start: int = 1) -> None:
    """Show the questions that two configurations answer at different ranks, from one of them on."""
    runtime = current()
    try:
        report = await history.run_report(runtime.database, runtime.workspace_id, page.result.id)
    except RagAppError as error:
        await show_error(page, error)
        return
    page.first, page.second = first, second
    _show_compared(page, report, start)


def _show_compared(page: EvaluationState, report: Mapping[str, Any], start: int) -> None:
    rows = compared_views(report, page.first, page.second, language_of(page))
    page.compared_from, page.compared_count = start, len(rows)
    page.compared = rows[start - 1 : start - 1 + COMPARED_ROWS]


async def follow(
    page: EvaluationState, going_on: EvaluationRun | None, changed: frozenset[int]
) -> None:
    """Show how far the run is; list the runs anew when one began, ended or was removed."""
    followed = page.running.id
    if going_on is not None and changed == {followed} == {going_on.id}:
        page.running = running_view(going_on, language_of(page))
        return
    await list_again(page)
    if followed and any(run.id == followed and run.status == "done" for run in page.runs):
        await show_run(page, followed)
