"""The packaged model itself, as `make setup` converts it."""

import asyncio
import gc
import time

import pytest

from rag_app.providers import calibration
from rag_app.providers.local import LocalEmbedder, estimate_tokens, token_counter
from rag_app.settings import MODEL_DIR, load_settings

pytestmark = pytest.mark.integration

TEXTS = {
    "en": "The library keeps every page of a document and opens it where the answer stands.",
    "de": "Die Bibliothek bewahrt jede Seite und öffnet sie dort, wo die Antwort steht.",
    "ru": "Библиотека хранит каждую страницу и открывает её там, где находится ответ.",
    "ar": "تحتفظ المكتبة بكل صفحة من المستند وتفتحها حيث توجد الإجابة.",
    "zh": "图书馆保存文档的每一页，并在答案所在的位置打开它。",
    "hi": "पुस्तकालय हर पृष्ठ को सहेजता है और उत्तर के स्थान पर उसे खोलता है।",
}


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder(MODEL_DIR)


async def test_a_question_finds_its_passage_in_another_language(embedder):
    passages = [passage for _question, passage in calibration.PAIRS]
    questions = {
        "How long does an egg take to be hard?": 1,
        "Why does the sea rise and fall, is it the Moon?": 2,
        "Welches Gas entsteht bei der Photosynthese?": 6,
        "Quelle est la capitale du Maroc ?": 7,
    }
    vectors = await embedder.embed(passages, kind="passage")
    found = []
    for question in questions:
        [asked] = await embedder.embed([question], kind="query")
        cosines = [_cosine(asked, vector) for vector in vectors]
        found.append(cosines.index(max(cosines)))

    assert found == list(questions.values())


async def test_the_measure_for_hosted_models_gives_this_one_about_its_own_figures(embedder):
    measured = calibration.calibrate(
        embedder.model.name,
        await embedder.embed([q for q, _ in calibration.PAIRS], kind="query"),
        await embedder.embed([p for _, p in calibration.PAIRS], kind="passage"),
    )

    assert measured.dimensions == embedder.model.dimensions
    assert measured.centre == pytest.approx(embedder.model.centre, abs=0.03)
    assert measured.spread == pytest.approx(embedder.model.spread, abs=0.03)


async def test_letters_written_in_two_parts_are_the_same_letters(embedder):
    one, other = await embedder.embed(["Gru\u0308\u00dfe", "Gr\u00fc\u00dfe"], kind="query")

    assert one == other


async def test_a_question_does_not_wait_for_a_document(embedder):
    document = asyncio.create_task(embedder.embed(["word " * 400] * 60, kind="passage"))
    await asyncio.sleep(0.2)
    started = time.monotonic()
    await embedder.embed(["a question"], kind="query")
    waited = time.monotonic() - started

    assert not document.done()
    document.cancel()
    with pytest.raises(asyncio.CancelledError):
        await document
    assert waited < 1


async def test_a_cancelled_call_stops_working(embedder):
    document = asyncio.create_task(embedder.embed(["word " * 400] * 500, kind="passage"))
    await asyncio.sleep(0.2)
    document.cancel()
    with pytest.raises(asyncio.CancelledError):
        await document

    started = time.monotonic()
    await embedder.embed(["next"], kind="passage")
    assert time.monotonic() - started < 2


async def test_the_event_loop_runs_on_meanwhile(embedder):
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    await embedder.embed(["word " * 400] * 8, kind="passage")
    ticking.cancel()
    assert ticks > 10


def test_tokens_are_counted_without_loading_the_network():
    fresh = LocalEmbedder(MODEL_DIR)

    assert fresh.count_tokens(TEXTS["en"]) == 20
    assert fresh._network is None


@pytest.mark.parametrize("language", TEXTS)
def test_the_estimate_is_not_below_the_count(language):
    exact = LocalEmbedder(MODEL_DIR).count_tokens(TEXTS[language])

    assert exact <= estimate_tokens(TEXTS[language]) <= 4 * exact


def test_where_the_model_is_not_converted_chunks_are_measured_by_the_estimate(tmp_path):
    settings = load_settings({"PINCITE_HOME": "/nowhere", "PINCITE_MODEL_DIR": str(tmp_path)})

    assert token_counter(settings)("a text") == estimate_tokens("a text")


async def test_an_embedder_no_longer_used_leaves_no_thread_behind():
    import threading

    await LocalEmbedder(MODEL_DIR).embed(["a"], kind="query")
    gc.collect()
    await asyncio.sleep(0.2)

    names = [thread.name for thread in threading.enumerate() if "embed-query" in thread.name]
    assert len(names) <= 2


def _cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
