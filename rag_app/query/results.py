"""The values a question turns into on its way: hits, passages, context, citations, events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Filters:
    """What a question may look at; empty means everything in the snapshot.

    `languages` are ISO 639 codes, of documents as a whole.
    """

    source_types: tuple[str, ...] = ()
    document_ids: tuple[int, ...] = ()
    languages: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Scope:
    """The set of chunks one question sees: a workspace at one snapshot, filtered."""

    workspace_id: int
    snapshot: int
    filters: Filters = Filters()


@dataclass(frozen=True)
class Hit:
    """A chunk in one ranked list.

    `score` is the leg's own: cosine similarity for the vector leg, BM25 for the full-text leg.
    `share` is set by the full-text leg: BM25 over the sum of the idf of all question terms, about
    0..1, small when few of the question's words match.
    """

    chunk_id: int
    rank: int
    score: float
    share: float = 0.0


@dataclass(frozen=True)
class Candidate:
    """A chunk after fusion, with the legs that found it and its rank in each."""

    chunk_id: int
    score: float
    distance: float | None
    legs: Mapping[str, int | None]


@dataclass(frozen=True)
class Passage:
    """A chunk loaded with its document's title and locator, ready to show or cite.

    `start` and `end` are offsets of `text` in the version's content, in code points.
    """

    chunk_id: int
    document_id: int
    version_id: int
    title: str
    uri: str
    source_type: str
    language: str
    ordinal: int
    text: str
    start: int
    end: int
    page: int | None
    second: int | None
    heading: str | None
    link: str
    score: float = 0.0
    distance: float | None = None
    legs: Mapping[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Context:
    """The numbered passages given to the model: `passages[0]` is [1]."""

    passages: tuple[Passage, ...]
    tokens: int


@dataclass(frozen=True)
class Quote:
    """Words of a passage: the slice `start:end` of the version's content, and where they stand.

    `verbatim` is False where no supporting sentence was found and the passage's start stands in.
    """

    text: str
    start: int
    end: int
    page: int | None
    second: int | None
    verbatim: bool


@dataclass(frozen=True)
class Citation:
    """A marker tied to the words of a passage that support what it stands behind.

    `best` supports its statement best of all; `quotes` has one for each time the marker stands in
    the answer, in order, since two statements that cite one passage rest on different words of it.
    """

    marker: int
    passage: Passage
    best: Quote
    quotes: tuple[Quote, ...] = ()

    @property
    def quote(self) -> str:
        """The words that support a statement best."""
        return self.best.text

    @property
    def start(self) -> int:
        """Where the best words begin in the content."""
        return self.best.start

    @property
    def end(self) -> int:
        """Where the best words end in the content."""
        return self.best.end

    @property
    def page(self) -> int | None:
        """The page of the best words."""
        return self.best.page

    @property
    def second(self) -> int | None:
        """The second of the best words."""
        return self.best.second

    @property
    def verbatim(self) -> bool:
        """Whether the best words support a statement."""
        return self.best.verbatim


@dataclass(frozen=True)
class Answer:
    """The finished answer: markers that exist, a citation each, and what nothing supports."""

    text: str
    citations: tuple[Citation, ...]
    unsupported: tuple[str, ...]
    abstained: bool


@dataclass(frozen=True)
class Absence:
    """Why there is no answer: words of the question found nowhere, and how much was searched.

    `searched` counts documents by source type, with the question's filters applied.
    """

    words: tuple[str, ...]
    searched: Mapping[str, int]

    @property
    def documents(self) -> int:
        """How many documents were searched in all."""
        return sum(self.searched.values())

    def as_json(self) -> dict[str, object]:
        """Return it as plain values, for the log and for `ask --json`."""
        return {"words": list(self.words), "searched": dict(self.searched)}


@dataclass(frozen=True)
class PastTurn:
    """A finished turn of the conversation, as the rewrite and the answer see it."""

    question: str
    answer: str


# The events of a turn, in order: Rewritten, Retrieved, Delta*, Finished; or Failed at any point.


@dataclass(frozen=True)
class Rewritten:
    """The question that stands alone, used for retrieval only."""

    standalone_question: str


@dataclass(frozen=True)
class Retrieved:
    """The passages the answer will rest on; the page shows them before the first word.

    `log` has how they were found, so a turn that ends early can still be looked into.
    """

    passages: tuple[Passage, ...]
    snapshot: int
    embedding_model: str
    notice: str = ""
    log: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Delta:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True)
class Finished:
    """The whole turn; `absence` says more where the library holds no answer.

    The ids are those under which `chat` stored it.
    """

    question: str
    standalone_question: str
    answer: Answer
    snapshot: int
    embedding_model: str
    timings_ms: Mapping[str, float]
    log: Mapping[str, object]
    absence: Absence | None = None
    turn_id: int | None = None
    conversation_id: int | None = None


@dataclass(frozen=True)
class Failed:
    """The turn could not be finished; `text` keeps what had been written."""

    message: str
    text: str = ""


Event = Rewritten | Retrieved | Delta | Finished | Failed
History = Sequence[PastTurn]
