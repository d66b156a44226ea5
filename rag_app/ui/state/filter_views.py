"""What a question is kept to: chosen on the page, given to retrieval, named beside an answer."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from rag_app.query.pipeline import QueryOptions
from rag_app.query.results import Filters
from rag_app.ui.language_names import language_name
from rag_app.ui.texts import TEXTS, say

MOST = 50
EARLIEST_YEAR = 1900
LONGEST_TITLE = 60
STEPS = ("rewrite", "rerank", "hypothetical")


@dataclass(frozen=True)
class Choices:
    """What a person has chosen; dates as a field gives them, documents with their titles."""

    source_types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    documents: tuple[tuple[int, str], ...] = ()
    rewrite: bool = QueryOptions.rewrite
    rerank: bool = QueryOptions.rerank
    hypothetical: bool = QueryOptions.hypothetical


@dataclass(frozen=True)
class ChoiceView:
    """Something to choose, with how many documents it would leave; 0 where that says nothing."""

    key: str
    text: str
    count: int
    is_chosen: bool


@dataclass(frozen=True)
class ChipView:
    """Something chosen; `key` takes it back."""

    key: str
    text: str


@dataclass(frozen=True)
class TitleView:
    """A document to choose."""

    id: int
    title: str
    kind: str


def toggled(chosen: tuple[str, ...], value: str, there: Collection[str]) -> tuple[str, ...]:
    """Return a choice with a value added or taken back; one that is not there is dropped."""
    if value in chosen:
        return tuple(one for one in chosen if one != value)
    return (*chosen, value)[:MOST] if value in there else chosen


def with_document(choices: Choices, document_id: int, title: str) -> Choices:
    """Return choices with a document among them."""
    others = tuple(one for one in choices.documents if one[0] != document_id)
    if len(others) >= MOST:
        return choices
    return replace(choices, documents=(*others, (document_id, title)))


def without(choices: Choices, key: str) -> Choices:
    """Return choices without what a chip named; as they are when there is no such chip."""
    kind, _, value = key.partition(":")
    match kind:
        case "type":
            return replace(choices, source_types=_less(choices.source_types, value))
        case "language":
            return replace(choices, languages=_less(choices.languages, value))
        case "since" | "until":
            return replace(choices, **{kind: ""})  # type: ignore[arg-type]
        case "document":
            left = tuple(one for one in choices.documents if str(one[0]) != value)
            return replace(choices, documents=left)
        case "step" if value in STEPS:
            return replace(choices, **{value: getattr(QueryOptions, value)})
    return choices


def _less(chosen: tuple[str, ...], value: str) -> tuple[str, ...]:
    return tuple(one for one in chosen if one != value)


def read_day(text: str) -> str:
    """Return a day as a field gives it; empty for what is none."""
    try:
        day = date.fromisoformat(text[:10])
    except ValueError:
        return ""
    return day.isoformat() if EARLIEST_YEAR <= day.year < date.max.year else ""


def query_options(choices: Choices) -> QueryOptions:
    """Return how a question is answered; the last day counts as a whole."""
    return QueryOptions(
        rewrite=choices.rewrite,
        rerank=choices.rerank,
        hypothetical=choices.hypothetical,
        filters=Filters(
            source_types=tuple(choices.source_types),
            document_ids=tuple(document_id for document_id, _ in choices.documents),
            languages=tuple(choices.languages),
            since=_midnight(choices.since, 0),
            until=_midnight(choices.until, 1),
        ),
    )


def _midnight(day: str, later: int) -> datetime | None:
    """Return when a day begins on this machine, or one some days later."""
    if not day:
        return None
    begin = datetime.combine(date.fromisoformat(day) + timedelta(later), time())
    return begin.astimezone(UTC)


def chips(choices: Choices, language: str) -> list[ChipView]:
    """Return what is chosen, each to be taken back."""
    shown = [
        *(ChipView(f"type:{one}", kind_name(one, language)) for one in choices.source_types),
        *(ChipView(f"language:{one}", language_name(one, language)) for one in choices.languages),
    ]
    for name in ("since", "until"):
        if day := getattr(choices, name):
            shown.append(ChipView(name, _day_text(name, day, language)))
    for document_id, title in choices.documents:
        shown.append(ChipView(f"document:{document_id}", _short(title)))
    for step in STEPS:
        value = getattr(choices, step)
        if value != getattr(QueryOptions, step):
            key = f"with_{step}" if value else f"without_{step}"
            shown.append(ChipView(f"step:{step}", say(key, language)))
    return shown


def scope_line(filters: Filters, titles: Mapping[int, str], language: str) -> str:
    """Name what a question was kept to; empty without a filter."""
    parts = [kind_name(one, language) for one in filters.source_types]
    parts += [language_name(one, language) for one in filters.languages]
    if filters.since is not None:
        day = filters.since.astimezone().date().isoformat()
        parts.append(_day_text("since", day, language))
    if filters.until is not None:
        day = (filters.until - timedelta(microseconds=1)).astimezone().date().isoformat()
        parts.append(_day_text("until", day, language))
    named = [titles[number] for number in filters.document_ids if number in titles]
    parts += [say("quoted", language, title=_short(title)) for title in named]
    if gone := len(filters.document_ids) - len(named):
        key = "removed_one" if gone == 1 else "removed_many"
        parts.append(say(key, language, count=gone))
    return say("searched_in", language, scope=", ".join(parts)) if parts else ""


def kind_name(source_type: str, language: str) -> str:
    """Return what a kind of document is called."""
    key = f"kind_{source_type}"
    return say(key, language) if key in TEXTS else source_type


def _day_text(name: str, day: str, language: str) -> str:
    read = date.fromisoformat(day)
    shown = f"{read.day}.{read.month}.{read.year}" if language == "de" else f"{read:%d %b %Y}"
    return say(f"{name}_day", language, day=shown.lstrip("0"))


def _short(title: str) -> str:
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"
