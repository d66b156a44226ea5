import asyncio

import pytest

from rag_app.errors import ProviderUnavailableError
from rag_app.providers.fake import FakeChat
from rag_app.query.results import PastTurn
from rag_app.query.rewriting import (
    accepted_rewrite,
    hypothetical_passage,
    standalone_prompt,
    standalone_question,
)

HISTORY = [PastTurn("Who was Ada Lovelace?", "Ada Lovelace wrote the first program, in 1843 [1].")]
QUESTION = "And when was she born?"
GOOD = "When was Ada Lovelace born?"

ACCEPTED = {
    "as asked for": (GOOD, GOOD),
    "with a label": (f"Standalone question: {GOOD}", GOOD),
    "in quotation marks": (f'"{GOOD}"', GOOD),
    "label and quotation marks": (f'Rewritten question: "{GOOD}"', GOOD),
    "in bold": (f"**{GOOD}**", GOOD),
    "in a code block": (f"```\n{GOOD}\n```", GOOD),
    "after thoughts": (f"<think>She is Ada.\nSo…</think>\n\n{GOOD}", GOOD),
    "unchanged": (QUESTION, QUESTION),
    "a title stays quoted": ('When was Ada born, "Lovelace"?', 'When was Ada born, "Lovelace"?'),
}

REFUSED = {
    "empty": "",
    "white space": " \n ",
    "several lines": f"{GOOD}\nWhere was Ada Lovelace born?",
    "a preamble": f"Sure, here it is:\n{GOOD}",
    "an answer": "Ada Lovelace was born on 10 December 1815 in London.",
    "an answer that asks": "She was born in London in December, is there anything else you need?",
    "a refusal": "I'm sorry, when was who born?",
    "a marker": "When was Ada Lovelace born [1]?",
    "too long": "When was Ada Lovelace born? " * 30,
    "another subject": "What are the best restaurants near Berlin Hauptbahnhof?",
    "unfinished thoughts": "<think>She might be",
}


@pytest.mark.parametrize(("reply", "expected"), ACCEPTED.values(), ids=ACCEPTED.keys())
def test_a_rewritten_question_is_taken_out_of_its_wrapping(reply, expected):
    assert accepted_rewrite(reply, QUESTION, HISTORY) == expected


@pytest.mark.parametrize("reply", REFUSED.values(), ids=REFUSED.keys())
async def test_an_absurd_reply_leaves_the_question_as_it_was(reply):
    chat = FakeChat([reply])

    assert await standalone_question(chat, QUESTION, HISTORY, timeout=1) == QUESTION


@pytest.mark.parametrize(
    ("question", "answer", "follow_up", "reply"),
    [
        (
            "Wer war Ada Lovelace?",
            "Ada Lovelace war eine Mathematikerin.",
            "Und wann wurde sie geboren?",
            "Wann wurde Ada Lovelace geboren?",
        ),
        (
            "Кто такая Ада Лавлейс?",
            "Ада Лавлейс была математиком.",
            "А когда она родилась?",
            "Когда родилась Ада Лавлейс?",
        ),
        (
            "阿达·洛芙莱斯是谁？",
            "阿达·洛芙莱斯是数学家。",
            "她什么时候出生？",
            "阿达·洛芙莱斯什么时候出生？",
        ),
        (
            "من هي آدا لوفلايس؟",
            "آدا لوفلايس عالمة رياضيات.",
            "ومتى ولدت؟",
            "متى ولدت آدا لوفلايس؟",
        ),
    ],
)
async def test_a_follow_up_is_rewritten_in_its_own_language(question, answer, follow_up, reply):
    history = [PastTurn(question, answer)]

    assert await standalone_question(FakeChat([reply]), follow_up, history, timeout=1) == reply


async def test_a_number_of_the_question_must_survive():
    chat = FakeChat(["How many people lived in Rome?"])
    history = [PastTurn("How many people lived in Rome in 1990?", "2.8 million people.")]

    assert await standalone_question(chat, "And in 2019?", history, timeout=1) == "And in 2019?"


async def test_the_first_turn_asks_no_model():
    chat = FakeChat()

    assert await standalone_question(chat, QUESTION, [], timeout=1) == QUESTION
    assert chat.prompts == []


async def test_without_a_model_the_question_stays():
    assert await standalone_question(None, QUESTION, HISTORY, timeout=1) == QUESTION


async def test_a_failing_model_leaves_the_question():
    chat = FakeChat([ProviderUnavailableError()])

    assert await standalone_question(chat, QUESTION, HISTORY, timeout=1) == QUESTION


class Slow(FakeChat):
    async def chat(self, messages, *, max_tokens=1024):
        await asyncio.Event().wait()


async def test_a_slow_model_is_not_waited_for():
    assert await standalone_question(Slow(), QUESTION, HISTORY, timeout=0.01) == QUESTION


def test_the_prompt_holds_the_last_turns_without_markers_and_ends_with_the_question():
    history = [PastTurn(f"Question {n}?", f"Answer {n} [1].\n</conversation>") for n in range(9)]
    prompt = standalone_prompt(QUESTION, history)

    assert [message.role for message in prompt] == ["system", "user"]
    assert "Question 4?" not in prompt[1].content
    assert "Question 5?" in prompt[1].content
    assert "[1]" not in prompt[1].content
    assert prompt[1].content.count("</conversation>") == 1
    assert prompt[1].content.endswith(f"Question: {QUESTION}")


async def test_a_hypothetical_passage_is_what_the_model_imagines():
    chat = FakeChat(["<think>Hm.</think>She was born in 1815."])

    assert await hypothetical_passage(chat, GOOD, timeout=1) == "She was born in 1815."


@pytest.mark.parametrize("chat", [FakeChat([""]), FakeChat([ProviderUnavailableError()]), Slow()])
async def test_without_a_hypothetical_passage_the_question_itself_is_embedded(chat):
    assert await hypothetical_passage(chat, GOOD, timeout=0.01) == GOOD
