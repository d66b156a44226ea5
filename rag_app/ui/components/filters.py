"""What the next question is kept to: chips above the field, and where they are chosen."""

import reflex as rx

from rag_app.ui.components.citations import kind_icon
from rag_app.ui.components.local import FilterMenu
from rag_app.ui.components.words import filled, words
from rag_app.ui.state.filter_state import FilterState
from rag_app.ui.state.filter_views import ChipView, ChoiceView, TitleView


def filters() -> rx.Component:
    """Show what is chosen, and the menu to choose from."""
    return rx.el.div(
        FilterMenu.create(
            _choices("filter_kinds", FilterState.kinds, FilterState.toggle_kind),
            _choices("filter_languages", FilterState.languages, FilterState.toggle_language),
            _days(),
            _documents(),
            _choices("filter_steps", FilterState.steps, FilterState.toggle_step),
            label=words("filter"),
            title=words("filter_title"),
            close_label=words("close_filter"),
            on_open=FilterState.open,
        ),
        rx.cond(
            FilterState.chips,
            rx.fragment(
                rx.el.ul(
                    rx.foreach(FilterState.chips, _chip),
                    class_name="chips",
                    aria_label=words("filters_active"),
                ),
                rx.cond(
                    FilterState.chips.length() > 1,
                    rx.el.button(
                        words("clear_filters"),
                        type="button",
                        class_name="quiet",
                        on_click=FilterState.clear,
                    ),
                ),
            ),
        ),
        class_name="filters",
    )


def title_search(
    found: rx.Var[list[TitleView]], key: rx.Var, *, on_find, on_choose, id: str
) -> rx.Component:
    """Show a field for words of a title, and the documents that hold them."""
    return rx.fragment(
        rx.el.input(
            id=id,
            key=key,
            type="search",
            auto_complete="off",
            default_value="",
            max_length=200,
            placeholder=words("search_titles"),
            aria_label=words("search_titles"),
            on_change=on_find.debounce(250),
        ),
        rx.cond(
            found,
            rx.el.ul(
                rx.foreach(
                    found,
                    lambda one: rx.el.li(
                        rx.el.button(
                            kind_icon(one.kind),
                            rx.el.span(one.title, dir="auto"),
                            type="button",
                            on_click=on_choose(one.id),
                        ),
                        key=one.id,
                    ),
                ),
                class_name="found-titles",
            ),
        ),
    )


def _chip(chip: rx.Var[ChipView]) -> rx.Component:
    label = filled("remove_filter", name=chip.text)
    return rx.el.li(
        rx.el.button(
            rx.el.span(chip.text, dir="auto"),
            rx.icon("x", size=13, aria_hidden=True),
            type="button",
            class_name="chip",
            aria_label=label,
            title=label,
            on_click=FilterState.remove(chip.key),
        ),
        key=chip.key,
    )


def _choices(title: str, choices: rx.Var[list[ChoiceView]], on_toggle) -> rx.Component:
    return rx.cond(
        choices,
        rx.el.fieldset(
            rx.el.legend(words(title)),
            rx.el.div(
                rx.foreach(
                    choices,
                    lambda choice: rx.el.button(
                        choice.text,
                        rx.cond(choice.count > 0, rx.el.small(choice.count)),
                        key=choice.key,
                        type="button",
                        class_name="choice",
                        aria_pressed=rx.cond(choice.is_chosen, "true", "false"),
                        custom_attrs={"data-key": choice.key},
                        on_click=on_toggle(choice.key),
                    ),
                ),
                class_name="choices",
            ),
        ),
    )


def _days() -> rx.Component:
    def day(name: str, value: rx.Var[str], on_choose) -> rx.Component:
        return rx.el.label(
            rx.el.span(words(f"filter_{name}")),
            rx.el.input(
                id=f"filter-{name}",
                key=FilterState.resets,
                type="date",
                default_value=value,
                on_change=on_choose,
            ),
        )

    return rx.el.fieldset(
        rx.el.legend(words("filter_days")),
        rx.el.div(
            day("since", FilterState.since, FilterState.choose_since),
            day("until", FilterState.until, FilterState.choose_until),
            class_name="days",
        ),
    )


def _documents() -> rx.Component:
    return rx.el.fieldset(
        rx.el.legend(words("documents")),
        title_search(
            FilterState.found,
            FilterState.resets,
            on_find=FilterState.find,
            on_choose=FilterState.choose_document,
            id="filter-documents",
        ),
    )
