"""Both legs on a real server: bounded, pinned, filtered, and the same every time."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from rag_app.errors import ProviderUnavailableError
from rag_app.query import pipeline, retrieval
from rag_app.query.pipeline import QueryOptions
from rag_app.query.results import Candidate, Filters, Scope
from rag_app.query.scope import EXACT_UP_TO_CHUNKS, ScopeSize, open_scope
from rag_app.query.text_leg import question_terms, text_leg
from rag_app.query.vector_leg import vector_leg
from rag_app.runtime import Runtime
from tests.support.ingesting import add_path, add_text
from tests.support.library import write_pdf

pytestmark = pytest.mark.integration

NOTES = {
    "bees.md": "# Bees\n\nThe waggle dance tells the other bees where the flowers are.",
    "birnen.md": "# Birnen\n\nDie alten Birnbäume werden im Februar geschnitten, vor dem Saft.",
    "chess.md": "# Chess\n\nA pawn that reaches the last rank may become a queen.",
    "error.md": "# Codes\n\nWhen the pump stops, the display shows ERR_4012-B and v2.10.3.",
    "kanji.md": "# 東京\n\n東京都の人口は約千四百万人である。",
}


async def add_notes(runtime: Runtime, folder: Path) -> None:
    for name, text in NOTES.items():
        await add_text(runtime, folder, name, text)


async def titles(runtime: Runtime, question: str, **options: object) -> list[str]:
    found = await pipeline.retrieve(runtime.query, question, QueryOptions(**options))  # type: ignore[arg-type]
    return [passage.title for passage in found.passages]


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("what does the waggle dance tell", "Bees"),
        ("Wann schneidet man alte Birnbäume?", "Birnen"),
        ("ERR_4012-B", "Codes"),
        ("v2.10.3", "Codes"),
        ("東京の人口", "東京"),
        ("the PAWNS becoming QUEENS", "Chess"),
    ],
)
async def test_the_text_leg_finds_inflected_words_codes_and_scripts_without_spaces(
    runtime: Runtime, tmp_path: Path, question: str, title: str
) -> None:
    await add_notes(runtime, tmp_path)

    assert (await titles(runtime, question, fusion="text"))[0] == title


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Hausratversicherung", "Police"),  # its parts stand in the text
        ("Kirschbaum oder Apfelbaum?", "Kirschbaumallee"),  # the start of a longer word
        ("Schloss", "Kirschbaumallee"),  # the end of one
    ],
)
async def test_a_compound_is_met_by_its_parts_and_a_part_in_longer_words(
    runtime: Runtime, tmp_path: Path, question: str, title: str
) -> None:
    await add_notes(runtime, tmp_path)
    texts = {
        "Police": "Diese Versicherung gilt für den gesamten Hausrat und wird jährlich bezahlt.",
        "Kirschbaumallee": "Wir gingen durch die lange Kirschbaumallee bis zu dem Märchenschloss.",
    }
    for name, text in texts.items():
        await add_text(runtime, tmp_path, f"{name}.md", f"# {name[:1]}\n\n{text}")

    options = QueryOptions(fusion="text")
    found = await pipeline.retrieve(runtime.query, question, options)

    assert [passage.title for passage in found.passages] == [title[:1]]


async def test_a_whole_sentence_finds_something_although_no_chunk_holds_all_its_words(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_notes(runtime, tmp_path)

    question = "Could you please tell me which strange dance the insects perform for each other?"
    assert (await titles(runtime, question, fusion="text"))[0] == "Bees"


async def test_words_that_never_stand_together_still_find_something(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, word in enumerate(("lighthouse", "marmalade", "zeppelin")):
        await add_text(runtime, tmp_path, f"{number}.md", f"A {word} is what this note is about.")
    # as in a large library, where a formula over frequent words asks for them together
    monkeypatch.setattr("rag_app.query.text_leg.WANTED_CANDIDATES", 0.01)
    monkeypatch.setattr("rag_app.query.text_leg.MOST_CANDIDATES", 0.01)

    options = QueryOptions(fusion="text")
    found = await pipeline.retrieve(runtime.query, "lighthouse marmalade zeppelin", options)

    assert len(found.passages) == 3


async def test_a_minus_word_excludes_and_a_phrase_must_stand(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_notes(runtime, tmp_path)

    assert "Bees" not in await titles(runtime, "dance pawn -flowers")
    assert await titles(runtime, '"the last rank"') == ["Chess"]


async def test_a_phrase_that_stands_nowhere_does_not_leave_the_question_empty(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_notes(runtime, tmp_path)

    assert (await titles(runtime, 'dances "Schwänzeltanz" bees'))[0] == "Bees"


async def test_filters_hold_in_both_legs_and_the_final_list(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_notes(runtime, tmp_path)
    await add_path(runtime, write_pdf(tmp_path / "pdf.pdf", ["A dance of bees on paper."]))
    filters = Filters(source_types=("pdf",))

    for fusion in ("vector", "text", "calibrated"):
        assert await titles(runtime, "dance of bees", fusion=fusion, filters=filters) == ["pdf"]


async def test_the_same_question_gives_the_same_list_also_with_eight_at_once(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_notes(runtime, tmp_path)

    lists = await asyncio.gather(
        *(pipeline.retrieve(runtime.query, "dance of the queen in February") for _ in range(8))
    )

    assert all(found.passages == lists[0].passages for found in lists)


async def test_a_question_never_sees_another_workspace(runtime: Runtime, tmp_path: Path) -> None:
    await add_notes(runtime, tmp_path)
    async with runtime.database.connection() as connection:
        row = await (
            await connection.execute("insert into workspace (name) values ('b') returning id")
        ).fetchone()
    assert row is not None
    other = replace(runtime.query, workspace_id=row["id"], scope_sizes={})

    assert (await pipeline.retrieve(other, "waggle dance")).passages == ()
    [bees, *_] = (await pipeline.retrieve(runtime.query, "waggle")).passages
    async with runtime.database.reading() as connection:
        wanted = [Candidate(bees.chunk_id, 1.0, None, {})]
        assert await retrieval.load_passages(connection, row["id"], wanted) == []


async def test_index_and_exact_search_agree_on_a_small_library(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_notes(runtime, tmp_path)
    [vector] = await runtime.provider.embedder.embed(["waggle dance"], kind="query")
    scope = Scope(runtime.workspace_id, 5)

    async with runtime.database.reading() as connection:
        exact, indexed = [
            await vector_leg(
                connection, scope, ScopeSize(chunks), vector, model_id=runtime.model_id
            )
            for chunks in (0, EXACT_UP_TO_CHUNKS + 1)
        ]

    assert [hit.chunk_id for hit in indexed] == [hit.chunk_id for hit in exact]


async def test_a_model_that_fails_leaves_the_text_leg(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_notes(runtime, tmp_path)

    async def failing(texts, *, kind):
        raise ProviderUnavailableError("The model is gone.")

    monkeypatch.setattr(runtime.provider.embedder, "embed", failing)
    found = await pipeline.retrieve(runtime.query, "waggle dance")

    assert found.passages[0].title == "Bees"
    assert found.notice == "model_failed: The model is gone."
    assert found.passages[0].legs == {"vector": None, "text": 1}


async def test_vectors_of_another_model_are_never_compared(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_notes(runtime, tmp_path)
    other = replace(runtime.query, model_id=runtime.model_id + 1)

    found = await pipeline.retrieve(other, "waggle dance")

    assert found.notice == "model_changed"
    assert found.passages[0].title == "Bees"
    assert {passage.legs["vector"] for passage in found.passages} == {None}


async def test_the_text_leg_is_okapi_bm25_to_the_last_digit(
    runtime: Runtime, tmp_path: Path
) -> None:
    texts = {
        "once.md": "A queen dances. The drone sleeps near the hive in the orchard.",
        "thrice.md": "Queen after queen after queen: three of them, and one drone.",
        "often.md": "drone " * 40 + "and at last a hive.",
    }
    for name, text in texts.items():
        await add_text(runtime, tmp_path, name, text)
    async with runtime.database.reading() as connection:
        scope, _ = await open_scope(
            connection, runtime.workspace_id, Filters(), model_id=runtime.model_id
        )
        terms = await question_terms(connection, runtime.workspace_id, "queen drone hive")
        hits = await text_leg(connection, scope, ScopeSize(3), terms)
        cursor = await connection.execute(
            "select f.chunk_id, f.language::text as language, length(f.tsv) as lexemes, u.lexeme, "
            "cardinality(u.positions) as frequency from chunk_text_index f, unnest(f.tsv) u"
        )
        rows = await cursor.fetchall()

    expected: dict[int, float] = {}
    for row in rows:
        norm = 1.2 * (0.25 + 0.75 * row["lexemes"] / terms.average_lexemes[row["language"]])
        for term in terms.terms[row["language"]]:
            if term.lexeme == row["lexeme"]:
                part = term.idf * row["frequency"] * 2.2 / (row["frequency"] + norm)
                expected[row["chunk_id"]] = expected.get(row["chunk_id"], 0) + part
    assert {hit.chunk_id: hit.score for hit in hits} == pytest.approx(expected)
    assert [hit.rank for hit in hits] == [1, 2, 3]


@pytest.mark.parametrize(
    "question",
    ["https://example.org/a%20b/c%s?x=%(y)s", "100% of it's \\ more", '"c%s" and %(z)s -5%'],
)
async def test_percent_signs_quotes_and_backslashes_are_text(
    runtime: Runtime, tmp_path: Path, question: str
) -> None:
    text = "See https://example.org/a%20b/c%s?x=%(y)s for 100% of it's \\ more, and c%s."
    await add_text(runtime, tmp_path, "signs.md", text)

    assert await titles(runtime, question, fusion="text") == ["signs"]
