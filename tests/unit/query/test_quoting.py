from dataclasses import replace

import pytest

from rag_app.errors import ProviderUnavailableError
from rag_app.providers.base import EmbeddingModel
from rag_app.providers.fake import FakeEmbedder
from rag_app.query.answering import ABSTENTIONS
from rag_app.query.grounding import ground
from rag_app.query.quoting import (
    USUAL_LEAD,
    best_quotes,
    calibrated,
    candidate_quotes,
    is_answerable,
    lead_of,
    quote_answer,
)
from tests.support.passages import context_of, passage

BEES = passage(
    "Honey bees live in large colonies. A returning bee performs a waggle dance on the comb. "
    "Karl von Frisch described the dance in 1923.",
    document_id=1,
    title="Bees",
)
ANTS = passage(
    "Ants lay trails of pheromones. Other ants follow the trail to the food.",
    document_id=2,
    title="Ants",
)
LIBRARY = context_of(BEES, ANTS)

GOLDEN = {
    "en": (
        "Who described the dance of the bees?",
        LIBRARY,
        "Karl von Frisch described the dance in 1923 [1].",
    ),
    "de": (
        "Wer beschrieb den Tanz der Bienen?",
        context_of(
            passage("Bienen leben in Völkern. Frisch beschrieb den Tanz der Biene im Jahr 1923.")
        ),
        "Frisch beschrieb den Tanz der Biene im Jahr 1923 [1].",
    ),
    "ru": (
        "Кто описал танец пчёл?",
        context_of(passage("Пчёлы живут семьями. Карл фон Фриш описал танец пчелы в 1923 году.")),
        "Карл фон Фриш описал танец пчелы в 1923 году [1].",
    ),
    "zh": (
        "谁描述了蜜蜂的舞蹈？",
        context_of(passage("蜜蜂生活在大型蜂群中。卡尔·冯·弗里施在1923年描述了蜜蜂的舞蹈。")),
        "卡尔·冯·弗里施在1923年描述了蜜蜂的舞蹈 [1]。",
    ),
    "ar": (
        "من وصف رقصة النحل؟",
        context_of(passage("يعيش النحل في مستعمرات. وصف كارل فون فريش رقصة النحل عام 1923.")),
        "وصف كارل فون فريش رقصة النحل عام 1923 [1].",
    ),
}


@pytest.mark.parametrize(("question", "context", "answer"), GOLDEN.values(), ids=GOLDEN.keys())
async def test_the_answer_is_the_best_sentence_with_its_marker(question, context, answer):
    assert await quote_answer(question, context) == answer


@pytest.mark.parametrize("language", ["en", "de", "ru", "ar"])
async def test_an_embedder_leaves_a_clear_case_as_it_is(language):
    question, context, answer = GOLDEN[language]

    assert (await quote_answer(question, context, FakeEmbedder())).startswith(answer)


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Which pope crowned the emperor Charlemagne?", "en"),
        ("Welcher Papst krönte Kaiser Karl den Großen?", "de"),
        ("Какой папа короновал императора?", "ru"),
    ],
)
async def test_a_question_that_shares_nothing_is_not_answered(question, language):
    assert await quote_answer(question, LIBRARY) == ABSTENTIONS[language]


async def test_an_empty_context_is_not_answered():
    assert await quote_answer("Who dances?", context_of(), FakeEmbedder()) == ABSTENTIONS["en"]


async def test_a_question_abroad_is_answered_when_the_meaning_is_near():
    class Near:
        model = EmbeddingModel("near", 2, 0.0, 1.0)

        async def embed(self, texts, *, kind):
            return [[1.0, 0.0] if "Frisch" in t or kind == "query" else [0.0, 1.0] for t in texts]

    answer = await quote_answer("Кто описал танец пчёл в ульях?", LIBRARY, Near())

    assert answer == "Karl von Frisch described the dance in 1923 [1]."


async def test_a_failing_embedder_leaves_the_choice_to_words():
    class Failing(FakeEmbedder):
        async def embed(self, texts, *, kind):
            raise ProviderUnavailableError

    answer = await quote_answer("Who described the dance of the bees?", LIBRARY, Failing())

    assert answer == "Karl von Frisch described the dance in 1923 [1]."


async def test_every_sentence_of_the_answer_is_its_own_verbatim_citation():
    text = "The dance of\nthe bees is old [12]. The dance of the bees has a direction, too!"
    context = context_of(passage(text), passage("The dance of ants is unknown.", document_id=2))
    answer = await quote_answer("What about the dance of the bees?", context)
    grounded = ground(answer, context)

    assert grounded.text == answer
    assert grounded.unsupported == ()
    assert all(citation.verbatim for citation in grounded.citations)
    assert all(c.quote == c.passage.text[c.start : c.end] for c in grounded.citations)


def quotes_for(question, *passages):
    return best_quotes(candidate_quotes(question, passages))


def test_at_most_two_sentences_a_document_are_quoted():
    text = "Bees dance in spring rain. Bees dance at noon. Bees dance for food. Bees dance on wax."

    assert len(quotes_for("Which bees dance?", passage(text))) == 2


def test_what_was_said_is_not_said_again():
    copy = passage("Honey bees dance on the comb, they do.", document_id=2)
    found = quotes_for("Do bees dance?", passage("Honey bees dance on the comb, they do."), copy)

    assert [quote.marker for quote in found] == [1]


def test_of_equal_sentences_the_one_of_the_better_passage_is_taken():
    first = passage("A hive. Bees dance in spring.")
    second = passage("A wood. Bees dance in autumn.", document_id=2)

    assert quotes_for("When do bees dance?", first, second)[0].marker == 1


def test_sentences_of_a_passage_stand_in_their_own_order():
    text = "Bees dance for nectar in spring. Rain is wet. Bees dance in spring."
    found = quotes_for("Why do bees dance in spring?", passage(text))

    assert [quote.span.start for quote in found] == sorted(quote.span.start for quote in found)


async def test_a_heading_of_a_page_counts_for_its_sentences_but_is_not_the_answer():
    text = (
        "The winter cluster of honey bees\nBelow ten degrees they draw together, head to head\n"
        "over the seams between the combs, and keep the cluster warm by trembling.\n"
    )
    context = context_of(passage(text, page=4))
    answer = await quote_answer("What is the winter cluster of bees?", context)

    assert answer.startswith("Below ten degrees they draw together")


async def test_a_sentence_that_is_too_long_is_cut_and_says_so():
    clause = "and then the keeper of the hive sat down again for a while, "
    text = f"{clause * 8}the bees danced at noon, {clause * 8}end."
    context = context_of(passage(text))
    answer = await quote_answer("When did the bees of the keeper dance?", context)

    assert answer.startswith("… ")
    assert answer.endswith(" … [1]")
    assert len(answer) < 330
    [citation] = ground(answer, context).citations
    assert citation.verbatim


def test_no_sentence_is_no_answer():
    assert not is_answerable([])


def test_a_cosine_is_read_on_the_scale_of_its_model():
    model = EmbeddingModel("any", 3, centre=0.7, spread=0.2)

    assert calibrated(0.8, model) == pytest.approx(0.5)


def test_the_lead_is_how_far_the_nearest_stands_above_the_crowd() -> None:
    model = EmbeddingModel("m", 4, centre=0.5, spread=0.5)

    def found(*distances: float | None):
        return [replace(BEES, chunk_id=n, distance=d) for n, d in enumerate(distances)]

    assert lead_of(found(0.1, 0.2, 0.2, 0.2, 0.4, 0.4, 0.4, 0.4, None), model) == pytest.approx(0.6)
    assert lead_of(found(0.1, 0.2, None), model) == USUAL_LEAD


def test_a_lead_makes_weak_evidence_enough_and_its_lack_too_little() -> None:
    [quote] = [
        replace(q, words=0.3, passage_words=0.3, similarity=0.6)
        for q in candidate_quotes("Who described the dance of the bees?", [BEES])[:1]
    ]

    assert is_answerable([quote], "en", lead=0.4)
    assert not is_answerable([quote], "en", lead=0.1)
    assert not is_answerable([quote], "en")
