"""What the evaluation page shows: questions, runs, their figures, two ways compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from rag_app.evaluation import golden, metrics
from rag_app.evaluation.golden import GoldenQuestion, Place
from rag_app.evaluation.history import EvaluationRun
from rag_app.ui.language_names import language_name
from rag_app.ui.state.views import clock, shorten
from rag_app.ui.texts import TEXTS, say

COMPARED_ROWS = 50
MOST_QUESTIONS = 100
LONGEST_WORDS = 140
FIGURES = ("mrr@10", "recall@10")
"""What a run is remembered by."""


@dataclass(frozen=True)
class PlaceView:
    """Where an answer stands."""

    title: str
    place: str
    words: str
    href: str


@dataclass(frozen=True)
class QuestionView:
    """A question of the person's own; `lacks` says why it does not count, where it does not."""

    id: int
    question: str
    verdict: str
    verdict_text: str
    places: list[PlaceView] = field(default_factory=list)
    lacks: str = ""


@dataclass(frozen=True)
class RunningView:
    """The run that goes on; id 0 when none does."""

    id: int = 0
    name: str = ""
    configurations: str = ""
    text: str = ""
    percent: int = 0


@dataclass(frozen=True)
class RunView:
    """A run that ended."""

    id: int
    day: str
    name: str
    configurations: str
    status: str
    status_text: str
    figures: str
    error: str


@dataclass(frozen=True)
class CellView:
    """A measure with its interval, in percent."""

    value: str
    interval: str


@dataclass(frozen=True)
class LineView:
    """The measures of one configuration."""

    name: str
    is_reference: bool
    cells: list[CellView]
    without: str
    times: list[str]


@dataclass(frozen=True)
class DifferenceView:
    """By how much a configuration is better or worse than the reference."""

    key: str
    name: str
    measure: str
    value: str
    interval: str
    is_sure: bool
    told: str


@dataclass(frozen=True)
class GroupView:
    """A language or a kind of question, with the figures of each configuration."""

    name: str
    questions: int
    cells: list[str]


@dataclass(frozen=True)
class ResultView:
    """What a run came to."""

    id: int = 0
    title: str = ""
    facts: str = ""
    notes: list[str] = field(default_factory=list)
    reference: str = ""
    names: list[str] = field(default_factory=list)
    lines: list[LineView] = field(default_factory=list)
    differences: list[DifferenceView] = field(default_factory=list)
    languages: list[GroupView] = field(default_factory=list)
    kinds: list[GroupView] = field(default_factory=list)


@dataclass(frozen=True)
class ComparedView:
    """A question that two configurations answer at different ranks."""

    id: str
    question: str
    first: str
    second: str
    better: str


def question_view(question: GoldenQuestion, language: str) -> QuestionView:
    """Return a question as the list shows it."""
    lacks = ""
    if not question.places:
        lacks = say("golden_no_place", language)
    elif not question.is_usable:
        lacks = say("golden_gone", language)
    return QuestionView(
        id=question.id,
        question=question.question,
        verdict=question.verdict,
        verdict_text=say(f"verdict_{question.verdict}", language),
        places=[_place_view(place, language) for place in question.places],
        lacks=lacks,
    )


def _place_view(place: Place, language: str) -> PlaceView:
    at, query = "", ""
    if place.page is not None:
        at, query = say("page", language, page=place.page), f"?page={place.page}"
    elif place.second is not None:
        at, query = clock(place.second), f"?second={place.second}"
    return PlaceView(
        title=place.title,
        place=at,
        words=shorten(place.quote, LONGEST_WORDS),
        href=f"/documents/{place.document_id}{query}",
    )


def read_place(form: Mapping[str, object], document_id: int, title: str) -> Place | None:
    """Return the place that a form names: a page, a time such as 3:41, or words; None for none."""
    at = str(form.get("at") or "").strip()
    words = " ".join(str(form.get("words") or "").split())[:2000]
    if not at:
        return Place(document_id, title, quote=words) if words else None
    parts = at.split(":")
    if not all(part.isascii() and part.isdecimal() and len(part) <= 6 for part in parts):
        return None
    numbers = [int(part) for part in parts]
    if len(numbers) == 1:
        return Place(document_id, title, page=numbers[0], quote=words) if numbers[0] else None
    if len(numbers) > 3:
        return None
    second = sum(number * 60**power for power, number in enumerate(reversed(numbers)))
    return Place(document_id, title, second=second, quote=words)


def running_view(run: EvaluationRun | None, language: str) -> RunningView:
    """Return the run that goes on."""
    if run is None:
        return RunningView()
    step = f"evaluation_{run.step}"
    return RunningView(
        id=run.id,
        name=set_name(run.name, language),
        configurations=run.configurations.replace(",", ", "),
        text=say(step if step in TEXTS else "evaluation_begin", language),
        percent=round(100 * min(max(run.progress, 0.0), 1.0)),
    )


def run_view(run: EvaluationRun, language: str) -> RunView:
    """Return a run that ended as the history shows it."""
    return RunView(
        id=run.id,
        day=moment(run.created_at),
        name=set_name(run.name, language),
        configurations=run.configurations.replace(",", ", "),
        status=run.status,
        status_text=say(f"run_{run.status}", language),
        figures=_main_figures(run.report),
        error=run.error or "",
    )


def moment(when: datetime) -> str:
    """Return a day and time of this machine's clock."""
    return f"{when.astimezone():%Y-%m-%d %H:%M}"


def set_name(name: str, language: str) -> str:
    """Return what a set of questions is called."""
    return say("my_questions", language) if name == golden.SET_NAME else name


def _main_figures(report: Mapping[str, Any]) -> str:
    """Name the best configuration by MRR, with its figures."""
    measured = report.get("configurations") or {}
    if not measured:
        return ""
    reference = report["reference"]
    best = max(measured, key=lambda name: (measured[name][FIGURES[0]], name == reference))
    figures = " · ".join(f"{name} {percent(measured[best][name])}" for name in FIGURES)
    return f"{best}: {figures}"


def result_view(run_id: int, report: Mapping[str, Any], language: str) -> ResultView:
    """Return the figures of a run as tables."""
    measured = report["configurations"]
    names = list(report.get("order") or measured)
    counts = [
        _counted("questions", report["questions"], language),
        _counted("documents", report["documents"], language),
    ]
    return ResultView(
        id=run_id,
        title=set_name(report["set"], language),
        facts=" · ".join([*counts, report["embedding_model"]]),
        notes=_notes(report, language),
        reference=report["reference"],
        names=names,
        lines=[_line(name, measured[name], report["reference"]) for name in names],
        differences=[
            _difference(name, measure, found, language)
            for name in names
            for measure, found in sorted(report["differences"].get(name, {}).items())
        ],
        languages=_groups(
            report["by_language"], names, lambda code: _language(str(code), language)
        ),
        kinds=_groups(report["by_kind"], names, lambda kind: _kind(str(kind), language)),
    )


def _counted(thing: str, count: int, language: str) -> str:
    return say(f"{thing}_{'one' if count == 1 else 'many'}", language, count=count)


def _notes(report: Mapping[str, Any], language: str) -> list[str]:
    notes = []
    if still_open := len(report.get("open_questions") or ()):
        notes.append(_counted("left_out", still_open, language))
    if missing := report.get("missing_documents"):
        notes.append(_counted("never_found", missing, language))
    return notes


def _line(name: str, values: Mapping[str, Any], reference: str) -> LineView:
    cells = []
    for measure in metrics.MEASURES:
        low, high = values["intervals"][measure]
        cells.append(CellView(percent(values[measure]), f"{percent(low)}–{percent(high)}"))
    return LineView(
        name=name,
        is_reference=name == reference,
        cells=cells,
        without=str(values["questions_without_hits"]),
        times=[milliseconds(values["p50_ms"]), milliseconds(values["p95_ms"])],
    )


_FEWEST = 6


def _difference(
    name: str, measure: str, found: Mapping[str, float], language: str
) -> DifferenceView:
    # of fewer questions even an exact test tells nothing, however narrow a bootstrap looks
    is_sure = (found["low"] > 0 or found["high"] < 0) and found.get("differing", 0) >= _FEWEST
    is_none = found["low"] == found["high"] == 0
    return DifferenceView(
        key=f"{name} {measure}",
        name=name,
        measure=measure,
        value=_signed(found["mean"]),
        interval=f"{_signed(found['low'])} … {_signed(found['high'])}",
        is_sure=is_sure,
        told=say("is_none" if is_none else "is_sure" if is_sure else "is_unsure", language),
    )


def _groups(groups: Mapping[str, Any], names: Sequence[str], title: Any) -> list[GroupView]:
    return [
        GroupView(
            name=title(group),
            questions=found["questions"],
            cells=[
                " / ".join(percent(found["configurations"][name][one]) for one in FIGURES)
                for name in names
            ],
        )
        for group, found in sorted(groups.items(), key=lambda item: -item[1]["questions"])
    ]


def _language(code: str, language: str) -> str:
    return say("language_unclear", language) if code == "unclear" else language_name(code, language)


def _kind(kind: str, language: str) -> str:
    key = f"question_{kind}"
    return say(key, language) if key in TEXTS else kind


def compared_views(
    report: Mapping[str, Any], first: str, second: str, language: str
) -> list[ComparedView]:
    """Return the questions whose rank differs between two configurations, most different first.

    A question that was not answered counts as one behind the last rank of all.
    """
    found = [
        (question, question["ranks"].get(first), question["ranks"].get(second))
        for question in report.get("per_question", ())
    ]
    last = 1 + max((rank or 0 for _, *ranks in found for rank in ranks), default=0)
    differing = [
        (abs((one or last) - (other or last)), question, one, other)
        for question, one, other in found
        if one != other
    ]
    differing.sort(key=lambda row: -row[0])
    nowhere = say("rank_nowhere", language)
    return [
        ComparedView(
            id=str(question["id"]),
            question=question["question"],
            first=str(one or nowhere),
            second=str(other or nowhere),
            better="first" if (one or last) < (other or last) else "second",
        )
        for _, question, one, other in differing
    ]


def percent(share: float) -> str:
    """Return a share in percent: 100, or with one decimal."""
    text = f"{100 * share:.1f}"
    return "100" if text == "100.0" else text


def milliseconds(value: float) -> str:
    """Return a duration in milliseconds."""
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def _signed(share: float) -> str:
    text = f"{100 * share:+.1f}".replace("-", "−")
    return text if text.strip("+−0.") else "0.0"
