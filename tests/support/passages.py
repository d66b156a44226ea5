"""Passages for tests, with offsets that fit a content."""

from rag_app.query.results import Context, Passage


def passage(
    text: str,
    *,
    start: int = 0,
    chunk_id: int = 1,
    document_id: int = 1,
    version_id: int | None = None,
    title: str = "A title",
    source_type: str = "markdown",
    language: str = "en",
    page: int | None = None,
    second: int | None = None,
    heading: str | None = None,
    score: float = 0.0,
    distance: float | None = None,
) -> Passage:
    return Passage(
        chunk_id=chunk_id,
        document_id=document_id,
        version_id=document_id if version_id is None else version_id,
        title=title,
        uri=f"{title}.md",
        source_type=source_type,
        language=language,
        ordinal=chunk_id,
        text=text,
        start=start,
        end=start + len(text),
        page=page,
        second=second,
        heading=heading,
        link=f"/documents/{document_id}",
        score=score,
        distance=distance,
        legs={"vector": 1, "text": None},
    )


def slice_of(content: str, start: int, end: int, **values) -> Passage:
    return passage(content[start:end], start=start, **values)


def context_of(*passages: Passage) -> Context:
    return Context(passages=passages, tokens=0)
