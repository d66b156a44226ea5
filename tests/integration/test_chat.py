"""A turn is stored while it streams, followed from anywhere, stopped, and never half told."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from rag_app import chat
from rag_app.errors import DatabaseUnavailableError, NotFoundError, ProviderUnavailableError
from rag_app.library import conversations, documents
from rag_app.library.conversations import TurnRecord
from rag_app.providers.base import Message
from rag_app.providers.fake import FakeChat
from rag_app.query.results import Delta, Failed, Finished, Retrieved, Rewritten
from rag_app.query.xray import xray
from rag_app.runtime import Runtime
from tests.support.ingesting import add_text

pytestmark = pytest.mark.integration

NOTE = "# Bees\n\nThe waggle dance was described by Karl von Frisch. It tells the way to flowers."


def with_model(runtime: Runtime, model: FakeChat) -> Runtime:
    provider = replace(runtime.provider, chat_model=model)
    return replace(runtime, provider=provider, query=replace(runtime.query, provider=provider))


class SilentChat(FakeChat):
    """Writes one word and then nothing for a long time."""

    async def chat_stream(self, messages: Sequence[Message], *, max_tokens: int = 2048) -> Any:
        yield "Karl "
        await asyncio.sleep(60)


async def only_turn(runtime: Runtime) -> TurnRecord:
    [conversation] = await conversations.list_conversations(runtime.database, runtime.workspace_id)
    [turn] = await conversations.list_turns(runtime.database, runtime.workspace_id, conversation.id)
    return turn


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
    log = await conversations.turn_log(runtime.database, runtime.workspace_id, turn_id)
    found = await xray(runtime.database, runtime.workspace_id, log)
    assert [row.place.title for row in found.context] == ["Bees"]
    assert found.timings_ms["text"] > 0


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


async def test_a_turn_whose_reader_leaves_is_stopped_with_what_was_written(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_text(runtime, tmp_path, "bees.md", NOTE)
    asked = with_model(runtime, FakeChat(["word " * 500], piece_delay_seconds=0.02))
    read = ""

    async with contextlib.aclosing(chat.take_turn(asked, None, "What is the dance?")) as events:
        async for event in events:
            read += event.text if isinstance(event, Delta) else ""
            if len(read) > 20:
                break

    turn = await only_turn(runtime)
    assert turn.status == "stopped"
    assert turn.answer.startswith(read)
    assert chat._live == {}


async def test_a_reader_that_is_cancelled_for_good_still_leaves_a_stopped_turn(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_text(runtime, tmp_path, "bees.md", NOTE)

    # as the web server does to the answer of a client that hung up: each further await fails too
    with anyio.move_on_after(0.5):
        _ = [e async for e in chat.take_turn(with_model(runtime, SilentChat()), None, "Who?")]
    await asyncio.gather(*(live.task for live in chat._live.values() if live.task))

    turn = await only_turn(runtime)
    assert (turn.status, turn.answer) == ("stopped", "Karl")


async def test_a_turn_stopped_by_another_process_ends_while_the_model_is_silent(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_text(runtime, tmp_path, "bees.md", NOTE)
    events = []
    async for event in chat.take_turn(with_model(runtime, SilentChat()), None, "Who?"):
        events.append(event)
        if isinstance(event, Delta):
            stopped = time.monotonic()
            turn = await only_turn(runtime)
            await conversations.end_turn(
                runtime.database, runtime.workspace_id, turn.id, status="stopped"
            )

    assert events[-1] == Failed("The answer was stopped.", "Karl")
    assert time.monotonic() - stopped < 3
    assert (await only_turn(runtime)).status == "stopped"


async def test_a_database_that_falters_ends_no_turn(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_text(runtime, tmp_path, "bees.md", NOTE)
    asked = with_model(runtime, FakeChat(["word " * 20], piece_delay_seconds=0.02))
    touched = []

    async def falter(*_: object) -> bool:
        touched.append(time.monotonic())
        raise DatabaseUnavailableError

    monkeypatch.setattr(conversations, "touch_turn", falter)
    monkeypatch.setattr(chat, "WATCH_SECONDS", 0.05)
    events = [event async for event in chat.take_turn(asked, None, "What is the dance?")]

    assert isinstance(events[-1], Finished)
    assert len(touched) > 1


async def test_a_turn_that_ends_without_a_database_still_tells_its_reader(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_text(runtime, tmp_path, "bees.md", NOTE)

    async def fail(*_: object, **__: object) -> None:
        raise DatabaseUnavailableError

    for name in ("store_passages", "store_text", "end_turn"):
        monkeypatch.setattr(conversations, name, fail)
    events = [event async for event in chat.take_turn(runtime, None, "What is the dance?")]

    assert events[-1] == Failed(str(DatabaseUnavailableError()))


async def test_a_turn_stopped_before_it_began_is_over(runtime: Runtime) -> None:
    conversation = await conversations.start_conversation(
        runtime.database, runtime.workspace_id, "dance"
    )
    turn_id = await chat.start_turn(runtime, conversation, "What is the dance?")
    await chat.stop_turn(runtime, turn_id)

    [progress] = [progress async for progress in chat.follow_turn(runtime, turn_id)]
    assert progress.status == "stopped"


async def test_an_unknown_conversation_is_told_before_the_first_event(runtime: Runtime) -> None:
    with pytest.raises(NotFoundError):
        await chat.open_turn(runtime, 12_345, "What is the dance?")


async def test_where_nothing_answers_it_says_what_occurs_nowhere_and_what_was_searched(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_text(runtime, tmp_path, "bees.md", NOTE)

    events = [event async for event in chat.take_turn(runtime, None, "How tall is Mount Fuji?")]

    told = chat.describe(events[-1])
    assert told["abstained"]
    assert told["absence"] == {"words": ["tall", "Mount", "Fuji"], "searched": {"markdown": 1}}
    found = [event async for event in chat.take_turn(runtime, None, "waggle dance Frisch")][-1]
    assert chat.describe(found)["absence"] is None
