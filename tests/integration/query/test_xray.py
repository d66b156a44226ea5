"""Where a place fell out of a turn: said by the X-ray, and true of what retrieval did."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from rag_app import chat
from rag_app.errors import NotFoundError, ProviderUnavailableError
from rag_app.library import conversations, documents
from rag_app.providers.fake import FakeEmbedder, FakeReranker
from rag_app.query import pipeline, reranking
from rag_app.query.context import build_context
from rag_app.query.pipeline import Query, QueryOptions
from rag_app.query.results import Filters, Finished, Passage, Scope
from rag_app.query.scope import ScopeSize
from rag_app.query.turn_log import CUT_BY
from rag_app.query.vector_leg import vector_leg
from rag_app.query.whereabouts import BEST_CHUNKS, Whereabouts, why_not
from rag_app.query.xray import xray
from rag_app.runtime import Runtime
from tests.support.ingesting import add_path, add_text, count
from tests.support.library import write_pdf

pytestmark = pytest.mark.integration

QUESTION = "Which way does the waggle dance of the bees tell?"
NOTES = {
    "dance.md": "# Dance\n\nThe waggle dance of the bees tells which way the flowers are.",
    "copy.md": "# Copy\n\nThe waggle dance of the bees tells which way the flowers are.",
    "sun.md": "# Sun\n\nThe sun shows bees the way, and the dance has its angle to the sun.",
    "hive.md": "# Hive\n\nA hive of bees keeps its honey warm in winter.",
    "chess.md": "# Chess\n\nA pawn that reaches the last rank may become a queen.",
    "pears.md": "# Birnen\n\nDie alten Birnbäume werden im Februar geschnitten, vor dem Saft.",
    "tides.md": "# Tides\n\nThe moon pulls the sea, which tells sailors when to leave.",
}
BOOK = [
    "A book about bees. The waggle dance of the bees is a way to tell.",
    "Bees dance the waggle dance, and which way they dance does tell the way.",
    "Of the dance: which bees waggle, which way, and what the bees tell.",
    "An appendix about paper, ink and glue.",
]
LONG = " ".join(
    f"In week {week} the bees gave a waggle dance and did tell which way hill {week} lies."
    for week in range(40)
)


@dataclass
class Library:
    runtime: Runtime
    folder: Path
    ids: dict[str, int]

    @property
    def query(self) -> Query:
        return self.runtime.query

    def asking(self, **models: Any) -> Query:
        provider = replace(self.runtime.provider, **models)
        return replace(self.query, provider=provider, scope_sizes={})

    async def where(self, log: Mapping[str, Any], name: str, **place: Any) -> list[Whereabouts]:
        return await why_not(self.query, log, QUESTION, self.ids[name], **place)

    async def stage(self, log: Mapping[str, Any], name: str) -> tuple[str, str]:
        [found] = await self.where(log, name)
        return found.stage, found.reason


@pytest.fixture
async def library(runtime: Runtime, tmp_path: Path) -> Library:
    ids = {}
    for name, text in NOTES.items():
        ids[name] = (await add_text(runtime, tmp_path, name, text)).id
    ids["book"] = (await add_path(runtime, write_pdf(tmp_path / "book.pdf", BOOK))).id
    ids["long.md"] = (await add_text(runtime, tmp_path, "long.md", f"# Long\n\n{LONG}")).id
    return Library(runtime, tmp_path, ids)


async def ask(query: Query, question: str = QUESTION, **options: Any) -> Any:
    """Return a turn's log as it comes back from the database."""
    events = [e async for e in pipeline.ask(query, question, (), QueryOptions(**options))]
    assert isinstance(events[-1], Finished)
    return json.loads(json.dumps(events[-1].log))


async def run(runtime: Runtime, statement: str, *values: Any) -> list[dict[str, Any]]:
    async with runtime.database.connection() as connection:
        cursor = await connection.execute(statement, values)  # type: ignore[call-overload]
        return await cursor.fetchall() if cursor.description else []


def is_within(chunk: Mapping[str, Any], passages: tuple[Passage, ...]) -> bool:
    return any(
        found.version_id == chunk["version_id"]
        and found.start <= chunk["start"]
        and (chunk["end"] <= found.end or found.start == chunk["start"])
        for found in passages
    )


CASES: list[tuple[str, dict[str, Any]]] = [
    (QUESTION, {}),
    (QUESTION, {"leg_limit": 3}),
    (QUESTION, {"leg_limit": 6, "candidates": 4, "passages": 2}),
    (QUESTION, {"candidates": 5, "passages": 4, "diversity": False}),
    (QUESTION, {"leg_limit": 4, "fusion": "vector"}),
    (QUESTION, {"leg_limit": 4, "fusion": "text"}),
    (QUESTION, {"leg_limit": 4, "fusion": "gated-rrf"}),
    (QUESTION, {"fusion": "rrf", "candidates": 6}),
    (QUESTION, {"budget_tokens": 120}),
    (QUESTION, {"budget_tokens": 30, "passages": 3}),
    ('"waggle dance" bees -flowers', {}),
    ("der Februar und die Birnbäume", {"leg_limit": 2}),
    (QUESTION, {"filters": Filters(source_types=("pdf",))}),
]


async def test_for_every_chunk_the_stage_named_is_the_one_retrieval_shows(
    library: Library,
) -> None:
    chunks = await run(
        library.runtime,
        "select c.*, v.document_id, d.source_type from chunk c "
        "join document_version v on v.id = c.version_id join document d on d.id = v.document_id",
    )
    query = library.asking(reranker=FakeReranker())
    stages = set()
    for question, values in CASES:
        options = QueryOptions(**values)
        log = await ask(query, question, **values)
        found = await pipeline.retrieve(query, question, options)
        kept = [passage.chunk_id for passage in found.passages]
        reranked = await reranking.rerank(
            question, found.passages, query.provider, limit=options.passages, timeout=5
        )
        judged = [passage.chunk_id for passage in reranked.passages]
        context = build_context(
            reranked.passages, budget=options.budget_tokens, count_tokens=query.count_tokens
        )
        vector_hits, text_hits = (
            [hit[0] for hit in log[leg]] for leg in ("vector_leg", "text_leg")
        )
        fused = [candidate[0] for candidate in log["fused"]]
        told = {}
        for document_id in library.ids.values():
            for one in await why_not(query, log, question, document_id):
                told[one.place.chunk_id] = one
        seen = await xray(query.database, query.workspace_id, log)
        shown = {row.fate.chunk_id: row.fate for row in (*seen.vector, *seen.text, *seen.fused)}

        for chunk in chunks:
            chunk_id = chunk["id"]
            one = told[chunk_id]
            stages.add(one.stage)
            if options.filters.source_types and chunk["source_type"] != "pdf":
                expected = {"filters"}
            elif chunk_id not in vector_hits and chunk_id not in text_hits:
                expected = {"legs", "required"} if '"' in question else {"legs"}
            elif chunk_id not in fused:
                expected = {"required"} if '"' in question else {"fusion"}
            elif chunk_id not in kept:
                is_first = fused.index(chunk_id) < options.candidates
                expected = {"diversity"} if is_first else {"candidates"}
            elif chunk_id not in judged:
                expected = {"rerank"} if reranked.method == "reranker" else {"passages"}
            elif is_within(chunk, context.passages):
                expected = {"context"}
            else:
                expected = {"copy", "budget"}
            assert one.stage in expected, (question, values, one)
            assert one.reason.endswith(".")
            fate = shown.get(chunk_id)
            assert one.fate == fate
            if fate is not None:
                assert one.stage == (fate.cut_by or "context")

    assert stages >= {
        "context", "copy", "budget", "rerank", "diversity", "candidates", "fusion", "required",
        "legs", "filters",
    }  # fmt: skip


async def test_ranks_are_exact_also_of_what_no_leg_brought(library: Library) -> None:
    log = await ask(library.query, leg_limit=2)
    query = library.query
    [vector] = await query.provider.embedder.embed([QUESTION], kind="query")
    async with query.database.reading() as connection:
        hits = await vector_leg(
            connection,
            Scope(query.workspace_id, log["snapshot"]),
            ScopeSize(100),
            vector,
            model_id=query.model_id,
            limit=1000,
        )
    exact = {hit.chunk_id: (hit.rank, round(hit.score, 5)) for hit in hits}
    everything = await ask(library.query, leg_limit=1000)
    by_words = {hit[0]: rank for rank, hit in enumerate(everything["text_leg"], start=1)}
    told = [one for name in library.ids for one in await library.where(log, name)]

    assert {one.place.chunk_id: (one.vector_rank, one.cosine) for one in told} == exact
    assert {one.place.chunk_id: one.text_rank for one in told if one.text_rank} == by_words
    [hive] = await library.where(log, "hive.md")
    assert hive.stage == "legs"
    assert f"by meaning it stood at {hive.vector_rank} (cosine" in hive.reason
    assert "where 2 were taken" in hive.reason
    assert (hive.held, "danc" in hive.lacking) == (("bee",), True)
    [chess] = await library.where(log, "chess.md")
    assert "it holds none of the question's words" in chess.reason


async def test_the_same_turn_gives_the_same_xray(library: Library) -> None:
    turn = [e async for e in chat.take_turn(library.runtime, None, QUESTION)][-1]
    assert isinstance(turn, Finished)
    database, workspace_id = library.runtime.database, library.runtime.workspace_id
    [row] = await run(library.runtime, "select id from turn")
    log = await conversations.turn_log(database, workspace_id, row["id"])

    first = await xray(database, workspace_id, log)
    assert first == await xray(database, workspace_id, log)
    where = [await library.where(log, name) for name in library.ids]
    assert where == [await library.where(log, name) for name in library.ids]

    numbers = [found.fate.number for found in first.context]
    assert numbers == sorted(numbers, key=lambda number: number or 0)
    assert {found.fate.number for found in first.context} == set(range(1, len(log["context"]) + 1))
    assert [found.fate.fused_rank for found in first.fused] == list(range(1, len(first.fused) + 1))
    assert {term.language for term in first.terms} == {"english", "german"}
    assert first.timings_ms["total"] > 0
    assert first.answered_by == "quotes: no model"
    top = first.fused[0].fate
    assert top.score == pytest.approx((top.vector_part or 0) + (top.text_part or 0))
    assert top.cosine is not None
    with pytest.raises(NotFoundError):
        await conversations.turn_log(database, workspace_id + 1, row["id"])


async def test_neighbours_joined_in_the_context_share_their_number(library: Library) -> None:
    log = await ask(library.query, filters=Filters(document_ids=(library.ids["long.md"],)))
    told = await library.where(log, "long.md")

    assert len(told) > 1
    assert [(one.stage, one.fate and one.fate.number) for one in told] == [("context", 1)] * len(
        told
    )
    assert "[1], joined with its neighbour" in " ".join(one.reason for one in told)


async def test_a_page_is_followed_by_its_number(library: Library) -> None:
    log = await ask(library.query)

    [third] = await library.where(log, "book", page=3)
    assert (third.place.page, third.place.link) == (3, f"/documents/{library.ids['book']}?page=3")
    [none] = await library.where(log, "book", page=9)
    assert (none.stage, none.place.chunk_id) == ("unknown", None)
    assert none.reason == "There is no text at page 9 of this document."
    [gone] = await why_not(library.query, log, QUESTION, 10**6)
    assert gone.stage == "unknown"


async def test_what_came_later_was_replaced_or_taken_out_is_judged_by_the_turns_snapshot(
    library: Library,
) -> None:
    before = await ask(library.query)
    runtime = library.runtime
    library.ids["new.md"] = (
        await add_text(runtime, library.folder, "new.md", "# New\n\nA new waggle dance of bees.")
    ).id
    await add_text(runtime, library.folder, "sun.md", "# Sun\n\nThe sun is a star, bees say.")
    await documents.remove_document(runtime.database, runtime.workspace_id, library.ids["hive.md"])
    stage, reason = await library.stage(before, "new.md")

    assert stage == "snapshot"
    seen, added = before["snapshot"], before["snapshot"] + 1
    assert reason == f"It came with snapshot {added}; the question saw snapshot {seen}."
    old, fresh = await library.where(before, "sun.md")
    assert (old.place.state, fresh.place.state) == ("replaced", "here")
    assert (fresh.stage, old.stage != "replaced") == ("replaced", True)
    [hive] = await library.where(before, "hive.md")
    assert (hive.place.state, hive.stage) == ("removed", "passages")
    after = await ask(library.query)
    assert (await library.stage(after, "hive.md"))[0] == "snapshot"
    assert "taken out with snapshot" in (await library.stage(after, "hive.md"))[1]

    await documents.purge_document(runtime.database, runtime.files, library.ids["hive.md"])
    found = await xray(runtime.database, runtime.workspace_id, before)
    [row] = [row for row in found.kept if row.place.title == "Hive"]
    assert (row.place.state, row.place.words) == ("removed", "")
    assert (await library.stage(before, "hive.md"))[0] == "unknown"
    assert await count(runtime, "chunk") > 0


async def test_a_filter_is_named_with_what_the_document_is(library: Library) -> None:
    log = await ask(
        library.query, filters=Filters(source_types=("pdf",), document_ids=(library.ids["book"],))
    )

    assert await library.stage(log, "sun.md") == (
        "filters",
        f"The question was kept to source types pdf (it is markdown) and to document ids "
        f"{library.ids['book']} (it is {library.ids['sun.md']}).",
    )


async def test_a_phrase_that_is_lacking_and_an_excluded_word_are_named(library: Library) -> None:
    log = await ask(library.query, '"waggle dance" bees -flowers')

    stage, reason = await library.stage(log, "dance.md")
    assert (stage, reason.split(":")[0]) == ("required", "It holds the excluded word flowers")
    stage, reason = await library.stage(log, "hive.md")
    assert (stage, reason.split(":")[0]) == ("required", 'It lacks "waggle dance"')


async def test_without_a_vector_it_is_said_which_is_missing(library: Library) -> None:
    await run(
        library.runtime,
        "delete from embedding e using document_version v where v.id = e.version_id "
        "and v.document_id = %s",
        library.ids["chess.md"],
    )
    log = await ask(library.query)

    stage, reason = await library.stage(log, "chess.md")
    assert stage == "legs"
    assert "it has no vector of fake-words/1" in reason


async def test_a_model_that_is_away_leaves_the_rank_open_and_says_so(library: Library) -> None:
    class Away(FakeEmbedder):
        async def embed(self, texts: Any, *, kind: Any) -> list[list[float]]:
            raise ProviderUnavailableError("It is away.")

    log = await ask(library.query, leg_limit=1)
    away = library.asking(embedder=Away())

    [hive] = await why_not(away, log, QUESTION, library.ids["hive.md"])
    assert (hive.stage, hive.vector_rank) == ("legs", None)
    assert "rank by meaning is unknown, since the embedding model does not answer" in hive.reason
    found = next(hit[0] for hit in log["vector_leg"])
    told = [one for i in library.ids.values() for one in await why_not(away, log, QUESTION, i)]
    [known] = [one for one in told if one.place.chunk_id == found]
    assert (known.vector_rank, known.cosine) == (1, log["vector_leg"][0][1])
    without = await ask(away)
    [chess] = await why_not(away, without, QUESTION, library.ids["chess.md"])
    assert "the search by meaning was off (It is away)" in chess.reason


async def test_a_rerank_that_failed_is_not_blamed(library: Library) -> None:
    class Away(FakeReranker):
        async def rerank(self, question: str, texts: Any, *, limit: int) -> list[int]:
            raise ProviderUnavailableError("It is away.")

    log = await ask(library.asking(reranker=Away()), passages=2)
    seen = await xray(library.runtime.database, library.runtime.workspace_id, log)

    assert (seen.rerank_method, seen.rerank_error) == ("reranker", "It is away.")
    assert {row.fate.cut_by for row in seen.judged[2:]} == {"passages"}
    told = await library.where(log, "hive.md")
    assert "2 were kept, and the rerank failed (It is away.)" in told[0].reason


async def test_every_rule_has_its_sentence_and_an_old_log_is_refused(library: Library) -> None:
    log = await ask(library.query)
    rows = (await xray(library.runtime.database, library.runtime.workspace_id, log)).fused

    assert {row.fate.cut_by for row in rows} <= {None, *CUT_BY}
    with pytest.raises(NotFoundError):
        await xray(library.runtime.database, library.runtime.workspace_id, {"snapshot": 1})


async def test_another_model_today_is_not_asked_about_the_vectors_of_then(
    library: Library,
) -> None:
    class Other(FakeEmbedder):
        model = replace(FakeEmbedder.model, name="other/1")

    log = await ask(library.query, leg_limit=1)
    query = replace(library.asking(embedder=Other()), model_id=library.query.model_id + 1)

    [hive] = await why_not(query, log, QUESTION, library.ids["hive.md"])
    assert "is unknown, since the question was asked with fake-words/1" in hive.reason


async def test_what_the_index_passed_over_is_told_apart_from_what_was_too_far(
    library: Library,
) -> None:
    log = await ask(library.query, fusion="vector", rerank=False)
    missed = log["vector_leg"][0][0]
    for leg in ("vector_leg", "text_leg", "fused"):
        log[leg] = [hit for hit in log[leg] if hit[0] != missed]
    told = [one for name in library.ids for one in await library.where(log, name)]

    [one] = [one for one in told if one.place.chunk_id == missed]
    assert (one.stage, one.vector_rank) == ("legs", 1)
    assert "within the 50 taken, but the index passed over it" in one.reason


async def test_a_second_names_the_chunk_that_was_being_spoken(library: Library) -> None:
    await run(
        library.runtime,
        "update chunk c set second = 10 + 20 * c.ordinal from document_version v "
        "where v.id = c.version_id and v.document_id = %s",
        library.ids["long.md"],
    )
    log = await ask(library.query)

    seconds = [
        [one.place.second for one in await library.where(log, "long.md", second=second)]
        for second in (0, 10, 29, 30, 999)
    ]
    assert seconds[:4] == [[10], [10], [10], [30]]
    assert len(seconds[4]) == 1


async def test_of_a_large_document_the_best_chunks_come_first(library: Library) -> None:
    pages = [f"Page {n} is about glue, paper and ink." for n in range(1, 9)]
    pages[6] = BOOK[1]
    library.ids["large"] = (
        await add_path(library.runtime, write_pdf(library.folder / "large.pdf", pages))
    ).id
    log = await ask(library.query)
    told = await library.where(log, "large")

    assert len(told) == BEST_CHUNKS
    assert told[0].place.page == 7
    assert len(await library.where(log, "large", page=2)) == 1


async def test_a_document_that_is_not_taken_in_yet_says_so(library: Library) -> None:
    log = await ask(library.query)
    document_id = await documents.add_url(
        library.runtime.database, library.runtime.workspace_id, "https://example.org/"
    )

    [one] = await why_not(library.query, log, QUESTION, document_id)
    assert (one.stage, one.place.chunk_id) == ("snapshot", None)
    assert one.reason == "It has not been taken in: none of its text has been published."


async def test_an_empty_library_has_an_empty_xray(runtime: Runtime) -> None:
    log = await ask(runtime.query)
    found = await xray(runtime.database, runtime.workspace_id, log)

    assert (found.fused, found.context, found.terms) == ((), (), ())
    assert found.answered_by == "nothing found"
