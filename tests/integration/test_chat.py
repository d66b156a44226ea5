"""A turn is stored while it streams, followed from anywhere, stopped, and never half told."""

import asyncio
import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from rag_app import chat
from rag_app.errors import ProviderUnavailableError
from rag_app.library import conversations, documents
from rag_app.providers.fake import FakeChat
from rag_app.query.results import Delta, Failed, Finished, Retrieved, Rewritten
from rag_app.runtime import Runtime
from tests.support.ingesting import add_text

pytestmark = pytest.mark.integration

NOTE = "# Bees\n\nThe waggle dance was described by Karl von Frisch. It tells the way to flowers."


def with_model(runtime: Runtime, model: FakeChat) -> Runtime:
    provider = replace(runtime.provider, chat_model=model)
    return replace(runtime, provider=provider, query=replace(runtime.query, provider=provider))


async def test_events_come_in_order_and_the_turn_is_stored_whole(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_text(runtime, tmp_path, "bees.md", NOTE)
    asked = with_model(runtime, FakeChat(["Karl von Frisch described it [1]. So says he [7]."]))

    events = [event async for event in chat.take_turn(asked, None, "Who described the dance?")]

    kinds = [type(event) for event in events]
    assert kinds[:2] == [Rewritten, Retrieved]
    assert set(kinds[2:-1]) == {Delta}
    assert kinds[-1] is Finished
    answer = events[-1].answer
    assert answer.text == "Karl von Frisch described it [1]. So says he."
    assert [citation.quote for citation in answer.citations] == [
        "The waggle dance was described by Karl von Frisch."
    ]
    assert "".join(event.text for event in events if isinstance(event, Delta)) == answer.text

    [conversation] = await conversations.list_conversations(runtime.database, runtime.workspace_id)
    [turn] = await conversations.list_turns(runtime.database, runtime.workspace_id, conversation.id)
    assert (turn.status, turn.answer, turn.snapshot) == ("done", answer.text, 1)
    assert turn.citations[0]["quote"] == answer.citations[0].quote
    async with runtime.database.connection() as connection:
        [log] = await (await connection.execute("select detail from retrieval_log")).fetchall()
    assert log["detail"]["answered_by"] == "model"
    assert log["detail"]["context"] == [passage.chunk_id for passage in events[1].passages]


async def test_without_a_model_the_answer_is_a_verbatim_quote(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_text(runtime, tmp_path, "bees.md", NOTE)

    events = [e async for e in chat.take_turn(runtime, None, "Who described the waggle dance?")]

    [citation] = events[-1].answer.citations
    assert events[-1].answer.text.startswith("The waggle dance was described by Karl von Frisch")
    assert citation.verbatim
    assert NOTE[citation.start : citation.end] == citation.quote


async def test_an_empty_library_is_told_so_without_asking_a_model(runtime: Runtime) -> None:
    model = FakeChat(["never"])

    events = [e async for e in chat.take_turn(with_model(runtime, model), None, "What is known?")]

    assert events[-1].answer.abstained
    assert model.prompts == []


async def test_a_model_that_fails_before_the_first_word_is_replaced_by_quotes(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_text(runtime, tmp_path, "bees.md", NOTE)
    asked = with_model(runtime, FakeChat([ProviderUnavailableError("No model here.")]))

    events = [e async for e in chat.take_turn(asked, None, "Who described the waggle dance?")]

    assert isinstance(events[-1], Finished)
    assert "Karl von Frisch" in events[-1].answer.text
    assert "No model here." in events[-1].log["answered_by"]


async def test_a_stream_that_breaks_off_keeps_what_was_written(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_text(runtime, tmp_path, "bees.md", NOTE)
    asked = with_model(runtime, FakeChat(["Karl von Frisch described it in a book."], fail_after=3))

    events = [e async for e in chat.take_turn(asked, None, "Who described the dance?")]

    assert isinstance(events[-1], Failed)
    [conversation] = await conversations.list_conversations(runtime.database, runtime.workspace_id)
    [turn] = await conversations.list_turns(runtime.database, runtime.workspace_id, conversation.id)
    assert turn.status == "failed"
    assert turn.answer
    assert "Karl von Frisch described it in a book.".startswith(turn.answer)


async def test_a_running_turn_is_followed_and_stopped_from_elsewhere(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_text(runtime, tmp_path, "bees.md", NOTE)
    slow = with_model(runtime, FakeChat(["word " * 500], piece_delay_seconds=0.02))
    conversation = await conversations.start_conversation(
        runtime.database, runtime.workspace_id, "dance"
    )
    turn_id = await chat.start_turn(slow, conversation, "What is the dance?")

    texts = []
    async for progress in chat.follow_turn(slow, turn_id):
        texts.append(progress.text)
        if len(progress.text) > 40:
            await chat.stop_turn(slow, turn_id)

    assert progress.status == "stopped"
    assert all(after.startswith(before) for before, after in itertools.pairwise(texts))
    stored = await conversations.get_turn(runtime.database, runtime.workspace_id, turn_id)
    assert stored.status == "stopped"
    assert stored.answer == texts[-1]


async def test_a_turn_nobody_works_on_any_more_counts_as_interrupted(runtime: Runtime) -> None:
    conversation = await conversations.start_conversation(
        runtime.database, runtime.workspace_id, "dance"
    )
    turn_id = await conversations.begin_turn(
        runtime.database, runtime.workspace_id, conversation, "What is the dance?"
    )
    async with runtime.database.connection() as connection:
        await connection.execute("update turn set updated_at = now() - interval '1 minute'")

    turn = await conversations.get_turn(runtime.database, runtime.workspace_id, turn_id)

    assert turn.status == "interrupted"


async def test_two_questions_at_once_get_two_places(runtime: Runtime) -> None:
    conversation = await conversations.start_conversation(
        runtime.database, runtime.workspace_id, "dance"
    )
    begin = conversations.begin_turn
    await asyncio.gather(
        *(begin(runtime.database, runtime.workspace_id, conversation, f"q{n}") for n in range(5))
    )

    turns = await conversations.list_turns(runtime.database, runtime.workspace_id, conversation)

    assert [turn.ordinal for turn in turns] == [1, 2, 3, 4, 5]


async def test_a_citation_outlives_the_document_it_quotes(runtime: Runtime, tmp_path: Path) -> None:
    note = await add_text(runtime, tmp_path, "bees.md", NOTE)
    _ = [e async for e in chat.take_turn(runtime, None, "Who described the waggle dance?")]
    await documents.remove_document(runtime.database, runtime.workspace_id, note.id)
    await documents.purge_document(runtime.database, runtime.files, note.id)

    [conversation] = await conversations.list_conversations(runtime.database, runtime.workspace_id)
    [turn] = await conversations.list_turns(runtime.database, runtime.workspace_id, conversation.id)

    assert turn.citations[0]["quote"] == "The waggle dance was described by Karl von Frisch."
    assert turn.citations[0]["document_id"] is None


@pytest.mark.parametrize(
    "question",
    [
        "",
        "nul \x00 byte",
        "half \ud83d pair",
        "' & | ! ( ) : * <-> \\ % %s",
        "a" * 20_000,
        "the of",
    ],
)
async def test_no_question_can_break_a_turn(
    runtime: Runtime, tmp_path: Path, question: str
) -> None:
    await add_text(runtime, tmp_path, "bees.md", NOTE)

    events = [event async for event in chat.take_turn(runtime, None, question)]

    assert isinstance(events[-1], Finished)
