"""Evaluations: where one is started and followed, its figures, earlier runs."""

import reflex as rx

from rag_app.evaluation.configurations import BASES, DEFAULT
from rag_app.evaluation.metrics import MEASURES
from rag_app.ui.components.navigation import icon_button
from rag_app.ui.components.words import filled, words
from rag_app.ui.state.evaluation_state import EvaluationState
from rag_app.ui.state.evaluation_views import (
    COMPARED_ROWS,
    CellView,
    ComparedView,
    DifferenceView,
    GroupView,
    LineView,
    RunView,
)


def measure_form() -> rx.Component:
    """Show what can be measured, or how far a run is."""
    return rx.el.section(
        rx.el.h2(words("measure_title")),
        rx.cond(EvaluationState.running.id > 0, _running(), _form()),
        class_name="measure",
    )


def _form() -> rx.Component:
    return rx.el.form(
        rx.el.fieldset(
            rx.el.legend(words("configurations")),
            rx.el.div(
                *(
                    rx.el.label(
                        rx.el.input(
                            type="checkbox", name=name, default_checked=name in DEFAULT.split(",")
                        ),
                        name,
                        class_name="tick",
                    )
                    for name in BASES
                ),
                class_name="ticks",
            ),
            rx.el.label(
                rx.el.span(words("variants")),
                rx.el.input(
                    name="variants",
                    type="text",
                    auto_complete="off",
                    spell_check=False,
                    max_length=500,
                    placeholder="hybrid+weight=0.7, hybrid+diversity=off",
                    aria_describedby="variants-error",
                ),
                class_name="field",
            ),
            rx.el.p(
                EvaluationState.variants_error,
                id="variants-error",
                role="alert",
                class_name="error",
            ),
        ),
        rx.cond(EvaluationState.takes_folders, _sets()),
        rx.el.p(EvaluationState.set_error, id="set-error", role="alert", class_name="error"),
        rx.el.button(
            words("start"), type="submit", id="start-evaluation", class_name="button main"
        ),
        on_submit=EvaluationState.start,
        class_name="measure-form",
    )


def _sets() -> rx.Component:
    def one(value: str, key: str, *, is_first: bool = False) -> rx.Component:
        return rx.el.label(
            rx.el.input(type="radio", name="set", value=value, default_checked=is_first),
            words(key),
            class_name="tick",
        )

    return rx.el.fieldset(
        rx.el.legend(words("on_set")),
        rx.el.div(
            one("golden", "on_my_questions", is_first=True),
            one("folder", "on_folder"),
            class_name="ticks",
        ),
        rx.el.label(
            rx.el.span(words("folder_path")),
            rx.el.input(
                name="folder",
                type="text",
                auto_complete="off",
                spell_check=False,
                max_length=1000,
                aria_describedby="set-error",
            ),
            class_name="field for-folder",
        ),
    )


def _running() -> rx.Component:
    run = EvaluationState.running
    return rx.el.div(
        rx.el.p(rx.el.b(run.name, dir="auto"), " · ", run.configurations),
        rx.el.p(
            rx.el.span(run.text, role="status"),
            rx.el.span(" ", run.percent, " %", class_name="document-percent"),
            class_name="document-line",
        ),
        rx.el.progress(value=run.percent, max=100, aria_label=run.text),
        rx.el.button(
            words("stop"),
            type="button",
            id="stop-evaluation",
            class_name="button",
            on_click=EvaluationState.stop,
        ),
        class_name="going-on",
        id="going-on",
    )


def result() -> rx.Component:
    """Show the figures of one run."""
    view = EvaluationState.result
    return rx.cond(
        view.id > 0,
        rx.el.section(
            rx.el.h2(words("result"), ": ", rx.el.span(view.title, dir="auto")),
            rx.el.p(view.facts, class_name="hint"),
            rx.foreach(view.notes, lambda note: rx.el.p(note, class_name="hint")),
            _figures(),
            rx.el.p(words("measures_hint"), class_name="hint"),
            rx.cond(view.differences, _differences()),
            rx.cond(view.languages, _groups("by_language", view.languages)),
            rx.cond(view.kinds, _groups("by_kind", view.kinds)),
            id="result",
            custom_attrs={"data-run-id": view.id},
        ),
    )


def _table(head: list[rx.Component], rows: rx.Component, label: rx.Var[str], **props):
    return rx.el.div(
        rx.el.table(rx.el.thead(rx.el.tr(*head)), rx.el.tbody(rows), **props),
        class_name="figures",
        tab_index=0,
        role="region",
        aria_label=label,
    )


def _head(*content: rx.Component | rx.Var | str) -> rx.Component:
    return rx.el.th(*content, scope="col")


def _figures() -> rx.Component:
    def line(one: rx.Var[LineView]) -> rx.Component:
        return rx.el.tr(
            rx.el.th(
                one.name,
                rx.cond(one.is_reference, rx.el.small(words("reference"))),
                scope="row",
            ),
            rx.foreach(one.cells, _cell),
            rx.el.td(one.without),
            rx.foreach(one.times, lambda duration: rx.el.td(duration)),
            key=one.name,
            custom_attrs={"data-configuration": one.name},
        )

    head = [
        _head(words("configuration")),
        *(_head(measure) for measure in MEASURES),
        _head(words("without_hits")),
        _head("p50"),
        _head("p95"),
    ]
    return _table(
        head, rx.foreach(EvaluationState.result.lines, line), words("result"), id="measures"
    )


def _cell(cell: rx.Var[CellView]) -> rx.Component:
    return rx.el.td(cell.value, rx.el.small(cell.interval))


def _differences() -> rx.Component:
    def difference(one: rx.Var[DifferenceView]) -> rx.Component:
        return rx.el.li(
            rx.el.span(one.name, " ", rx.el.small(one.measure)),
            rx.el.b(one.value),
            rx.el.small(one.interval),
            rx.el.small(one.told, class_name="sureness"),
            key=one.key,
            custom_attrs={"data-sure": rx.cond(one.is_sure, "true", "false")},
        )

    view = EvaluationState.result
    return rx.fragment(
        rx.el.h3(filled("differences", reference=view.reference)),
        rx.el.ul(rx.foreach(view.differences, difference), class_name="differences"),
    )


def _groups(key: str, groups: rx.Var[list[GroupView]]) -> rx.Component:
    def group(one: rx.Var[GroupView]) -> rx.Component:
        return rx.el.tr(
            rx.el.th(one.name, scope="row"),
            rx.el.td(one.questions),
            rx.foreach(one.cells, lambda cell: rx.el.td(cell)),
            key=one.name,
        )

    head = [
        _head(words(key)),
        _head(words("questions_title")),
        rx.foreach(EvaluationState.result.names, lambda name: _head(name)),
    ]
    return rx.el.details(
        rx.el.summary(words(key)),
        rx.el.p(words("group_hint"), class_name="hint"),
        _table(head, rx.foreach(groups, group), words(key)),
    )


def comparison() -> rx.Component:
    """Show the questions that two configurations of the run answer differently."""
    return rx.cond(
        EvaluationState.result.names.length() > 1,
        rx.el.section(
            rx.el.h2(words("compare_title")),
            rx.el.div(
                _choose("compare_first", EvaluationState.first, EvaluationState.choose_first),
                _choose("compare_second", EvaluationState.second, EvaluationState.choose_second),
                class_name="compared-ways",
            ),
            rx.cond(
                EvaluationState.compared,
                rx.fragment(
                    rx.el.p(words("compare_hint"), class_name="hint"),
                    _table(
                        [
                            _head(words("questions_title")),
                            _head(EvaluationState.first),
                            _head(EvaluationState.second),
                        ],
                        rx.foreach(EvaluationState.compared, _compared),
                        words("compare_title"),
                        class_name="compared",
                    ),
                    _compared_paging(),
                ),
                rx.el.p(words("compare_same"), class_name="hint"),
            ),
            id="comparison",
        ),
    )


def _choose(key: str, chosen: rx.Var[str], on_choose) -> rx.Component:
    return rx.el.label(
        rx.el.span(words(key)),
        rx.el.select(
            rx.foreach(
                EvaluationState.result.names, lambda name: rx.el.option(name, value=name, key=name)
            ),
            value=chosen,
            on_change=on_choose,
            custom_attrs={"data-key": key},
        ),
    )


def _compared(row: rx.Var[ComparedView]) -> rx.Component:
    def rank(text: rx.Var[str], side: str) -> rx.Component:
        return rx.el.td(rx.cond(row.better == side, rx.el.b(text), text))

    return rx.el.tr(
        rx.el.td(row.question, dir="auto"),
        rank(row.first, "first"),
        rank(row.second, "second"),
        key=row.id,
    )


def _compared_paging() -> rx.Component:
    start, count = EvaluationState.compared_from, EvaluationState.compared_count
    last = start + EvaluationState.compared.length() - 1
    return rx.cond(
        count > COMPARED_ROWS,
        rx.el.div(
            rx.el.button(
                words("compare_previous"),
                type="button",
                class_name="button",
                disabled=start == 1,
                on_click=EvaluationState.turn_page(-1),
            ),
            rx.el.span(
                filled("range_of", first=start.to(str), last=last.to(str), count=count.to(str)),
                role="status",
            ),
            rx.el.button(
                words("compare_next"),
                type="button",
                class_name="button",
                disabled=last == count,
                on_click=EvaluationState.turn_page(1),
            ),
            class_name="paging",
        ),
    )


def history() -> rx.Component:
    """Show the runs that ended, newest first."""
    return rx.el.section(
        rx.el.h2(words("runs")),
        rx.cond(
            EvaluationState.is_failed,
            rx.el.p(words("runs_failed"), role="alert", class_name="error"),
            rx.cond(
                EvaluationState.is_loading,
                rx.el.div(class_name="skeleton rows", role="status", aria_label=words("loading")),
                rx.cond(
                    EvaluationState.runs,
                    rx.el.ul(rx.foreach(EvaluationState.runs, _run), class_name="runs"),
                    rx.el.p(words("runs_empty"), class_name="hint"),
                ),
            ),
        ),
        id="runs",
    )


def _run(run: rx.Var[RunView]) -> rx.Component:
    title = rx.fragment(rx.el.b(run.name, dir="auto"), " · ", run.configurations)
    return rx.el.li(
        rx.el.div(
            rx.cond(
                run.status == "done",
                rx.el.button(
                    title,
                    type="button",
                    class_name="run-title",
                    aria_current=rx.cond(EvaluationState.result.id == run.id, "true", "false"),
                    on_click=EvaluationState.open_run(run.id),
                ),
                rx.el.p(title, class_name="run-title"),
            ),
            rx.el.p(
                rx.el.span(run.day),
                rx.cond(run.status != "done", rx.el.span(run.status_text, class_name="run-status")),
                rx.cond(run.figures, rx.el.span(run.figures)),
                class_name="document-line",
            ),
            rx.cond(run.error, rx.el.p(run.error, class_name="document-error")),
        ),
        rx.cond(
            EvaluationState.removing == run.id,
            rx.fragment(),
            icon_button(
                "trash-2",
                "remove",
                label=filled("remove_it", title=run.name),
                class_name="icon remove",
                on_click=EvaluationState.start_removing(run.id),
            ),
        ),
        rx.cond(
            EvaluationState.removing == run.id,
            rx.el.div(
                rx.el.p(words("remove_run")),
                rx.el.button(
                    words("remove"),
                    type="button",
                    class_name="button danger",
                    auto_focus=True,
                    on_click=EvaluationState.remove(run.id),
                ),
                rx.el.button(
                    words("keep"), type="button", class_name="button", on_click=EvaluationState.keep
                ),
                class_name="confirm",
            ),
        ),
        key=run.id,
        custom_attrs={"data-run-id": run.id, "data-status": run.status},
    )
