"""Every citation of a generated library opens the page, or the second, that holds its quote."""

import asyncio
import random
import re
from dataclasses import replace
from pathlib import Path

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from rag_app import chat
from rag_app.ingestion import sources
from rag_app.ingestion.browser import Browser
from rag_app.ingestion.chunking import split
from rag_app.ingestion.folding import fold
from rag_app.ingestion.page_images import PageImages
from rag_app.library import documents, evidence
from rag_app.query.grounding import ground
from rag_app.query.results import Citation, Context, Finished
from rag_app.runtime import Runtime, open_runtime
from rag_app.settings import Settings
from tests.support.ingesting import add_path, ingest
from tests.support.library import write_pdf
from tests.support.passages import slice_of
from tests.support.youtube_server import FakeVideo, Track, serve_youtube

pytestmark = pytest.mark.integration

PLACES = (
    *("Arnfeld", "Birkmoor", "Cressing", "Dunhaven", "Eskdale", "Farnborg", "Glimmen"),
    *("Harrowgate", "Isenthal", "Jessnitz", "Kelbrook", "Lindwerder", "Marbeck"),
)
# a page's text and the question that this page alone answers, language by language
LANGUAGES = {
    "english": (
        "The township of {place} lies in a wide valley. Its inhabitants were known as efficient "
        "flax growers. The bridge of {place} was built in the year {year} under the supervision of "
        "an architect whose correspondence is unfortunately lost. Nothing else is known about it.",
        "In which year was the bridge of {place} built?",
    ),
    "german": (
        "Die Gemeinde {place} liegt in einem weiten Tal. Ihre Bewohner waren als "
        "Flachsbauern weithin bekannt. Die Wassermühle von {place} wurde im Jahr {year} "
        "fertiggestellt, und zwar nach außergewöhnlich langwierigen Streitigkeiten um das "
        "Mühlenrecht. Über den Müller selbst ist wenig überliefert.",
        "In welchem Jahr wurde die Wassermühle von {place} fertiggestellt?",
    ),
    "french": (
        "La commune de {place} se trouve dans une large vallée. Ses habitants cultivaient surtout "
        "le lin. Le clocher de {place} fut achevé en {year}, après de longues négociations avec "
        "l'évêché. On ne sait presque rien de son premier sonneur.",
        "En quelle année le clocher de {place} fut-il achevé ?",
    ),
}
FIRST_YEAR = 1701


@pytest.fixture(scope="module")
def years() -> dict[tuple[str, str], int]:
    pairs = [(language, place) for language in LANGUAGES for place in PLACES]
    return {pair: FIRST_YEAR + number for number, pair in enumerate(pairs)}


async def cited(runtime: Runtime, question: str) -> tuple[Citation, ...]:
    events = [event async for event in chat.take_turn(runtime, None, question)]
    assert isinstance(events[-1], Finished), events[-1]
    return events[-1].answer.citations


async def test_every_citation_of_39_pages_in_three_languages_opens_its_page(
    settings: Settings, tmp_path: Path, years: dict[tuple[str, str], int]
) -> None:
    images = PageImages()
    async with open_runtime(replace(settings, embedding_model="")) as runtime:
        paths: dict[int, Path] = {}
        for language, (text, _) in LANGUAGES.items():
            pages = [text.format(place=place, year=years[language, place]) for place in PLACES]
            path = write_pdf(tmp_path / f"{language}.pdf", pages, hyphenate=True)
            paths[(await add_path(runtime, path)).id] = path
        checked = 0
        for language, (_, question) in LANGUAGES.items():
            for number, place in enumerate(PLACES, start=1):
                citations = await cited(runtime, question.format(place=place))
                assert citations, (language, place)
                for citation in citations:
                    path = paths[citation.passage.document_id]
                    check_page(citation, path)
                    version = await evidence.get_version(
                        runtime.database, runtime.workspace_id, citation.passage.version_id
                    )
                    assert version.content[citation.start : citation.end] == citation.quote
                    assert citation.page is not None
                    first, _ = evidence.page_span(version.content, citation.page)
                    assert images.mark_boxes(
                        path,
                        citation.page,
                        citation.quote,
                        before=version.content[first : citation.start],
                    )
                    checked += 1
                best = citations[0]
                assert best.page == number
                assert str(years[language, place]) in best.quote
    images.close()
    assert checked >= 39


def check_page(citation: Citation, path: Path) -> None:
    """Read the page anew, with the bare library, and look for the quote."""
    with pypdfium2.PdfDocument(path) as document:
        assert citation.page is not None
        text = document[citation.page - 1].get_textpage().get_text_range()
    assert fold(citation.quote)[0] in fold(text)[0]


WORDS = (
    *("efficient", "flux", "office", "affluent", "naïve", "Straße", "überlieferte", "Öffnung"),
    *("cœur", "évêché", "l'été", "coöperation", "valley", "bridge", "correspondence", "moonlight"),
    *("Wassermühlenrecht", "unfortunately", "1,204.50", "v2.10.3", "§ 34a", "ERR_4012-B", "A–Z"),
)
SENTENCE = st.lists(st.sampled_from(WORDS), min_size=4, max_size=18).map(
    lambda words: f"{' '.join(words).capitalize()}."
)


@hypothesis_settings(max_examples=25, deadline=None)
@given(
    pages=st.lists(st.lists(SENTENCE, min_size=2, max_size=9), min_size=1, max_size=4),
    hyphenate=st.booleans(),
    choice=st.randoms(use_true_random=False),
)
def test_a_verbatim_quote_stands_on_its_page_sign_by_sign(
    tmp_path_factory: pytest.TempPathFactory,
    pages: list[list[str]],
    hyphenate: bool,
    choice: random.Random,
) -> None:
    path = tmp_path_factory.mktemp("pdf") / "generated.pdf"
    write_pdf(path, [" ".join(sentences) for sentences in pages], hyphenate=hyphenate)
    extracted = asyncio.run(sources.extract(request_for(path)))
    chunks = split(extracted.content, "pdf", count_tokens=lambda text: len(text.split()), size=60)
    passages = [
        slice_of(
            extracted.content,
            chunk.start,
            chunk.end,
            chunk_id=number,
            page=chunk.page,
            source_type="pdf",
        )
        for number, chunk in enumerate(chunks, start=1)
    ]
    # an answer of sentences as the author wrote them, each citing a passage of its page
    number, sentences = choice.choice(list(enumerate(pages, start=1)))
    markers = [m for m, found in enumerate(passages, start=1) if found.page == number]
    written = " ".join(
        f"{choice.choice(sentences)[:-1]} [{choice.choice(markers)}]." for _ in range(3)
    )

    answer = ground(written, Context(tuple(passages), 0), per_document=99)

    for citation in answer.citations:
        for quote in citation.quotes:
            assert extracted.content[quote.start : quote.end] == quote.text
            assert extracted.content[: quote.start].count("\f") + 1 == quote.page
            if quote.verbatim:
                assert quote.page == number
                check_page(replace(citation, best=quote), path)


def request_for(path: Path) -> sources.ExtractRequest:
    here = Settings(home=path.parent)
    return sources.ExtractRequest(
        uri=str(path), path=path, name=path.name, settings=here, browser=Browser(here)
    )


async def test_every_citation_of_a_transcript_opens_within_two_seconds_of_its_words(
    settings: Settings,
) -> None:
    spoken = {
        20 + 24 * number: f"The harvest festival of {place} begins on day {number + 3} of autumn."
        for number, place in enumerate(PLACES)
    }
    lines = [
        line
        for second, text in spoken.items()
        for line in (
            (float(second - 8), 7.0, "People often ask when the festivals begin."),
            (float(second), 6.0, text),
        )
    ]
    video = FakeVideo(title="Festivals of the valley", seconds=400, tracks=[Track("en", lines)])
    with serve_youtube({"dQw4w9WgXcQ": video}) as youtube:
        wanted = replace(settings, embedding_model="", youtube_url=youtube.url(""))
        async with open_runtime(wanted) as runtime:
            document_id = await documents.add_url(
                runtime.database, runtime.workspace_id, "https://youtu.be/dQw4w9WgXcQ?t=5"
            )
            assert (await ingest(runtime, document_id)).status == "ready"
            for second, text in spoken.items():
                place = re.findall(r"of (\w+) begins", text)[0]
                question = f"When does the harvest festival of {place} begin?"
                best = (await cited(runtime, question))[0]
                assert place in best.quote
                assert best.second is not None
                assert abs(best.second - second) <= 2, (place, best)
                assert best.second < 400
