import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_app.query.answering import ABSTENTIONS
from rag_app.query.grounding import ground
from rag_app.query.results import Answer
from rag_app.query.spans import LONGEST_QUOTE
from tests.support.passages import context_of, passage, slice_of

BEES = (
    "Honey bees live in large colonies. A returning bee performs a waggle dance on the comb. "
    "The direction of the dance shows the way to the flowers. "
    "Karl von Frisch described the dance in 1923."
)
ANTS = (
    "Ants lay trails of pheromones. Other ants follow the trail to the food. "
    "A colony of leafcutter ants can hold 8,000,000 workers."
)
LIBRARY = context_of(
    passage(BEES, chunk_id=1, document_id=1, title="Bees"),
    passage(ANTS, chunk_id=2, document_id=2, title="Ants"),
)


def quotes(answer: Answer) -> dict[int, str]:
    return {citation.marker: citation.quote for citation in answer.citations}


def test_each_citation_quotes_the_sentence_that_supports_the_statement():
    answer = ground(
        "The dance was described by Karl von Frisch [1]. Ants follow trails to food [2].", LIBRARY
    )

    assert quotes(answer) == {
        1: "Karl von Frisch described the dance in 1923.",
        2: "Other ants follow the trail to the food.",
    }
    assert all(citation.verbatim for citation in answer.citations)
    assert (answer.unsupported, answer.abstained) == ((), False)


def test_offsets_are_those_of_the_content_of_the_version():
    content = "Something before.\n\n" + BEES
    found = slice_of(content, 19, len(content))
    [citation] = ground("Frisch described it in 1923 [1].", context_of(found)).citations

    assert content[citation.start : citation.end] == citation.quote
    assert citation.quote == "Karl von Frisch described the dance in 1923."


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Bees dance [1, 7].", "Bees dance [1]."),
        ("Bees dance【1】.", "Bees dance[1]."),
        ("Bees dance [^1].", "Bees dance [1]."),
        ("Bees dance on the comb [1-2].", "Bees dance on the comb [1]."),
        ("They rest [9]. Bees dance [1].", "They rest. Bees dance [1]."),
    ],
)
def test_markers_are_normalised_and_those_without_a_source_go(text, clean):
    assert ground(text, LIBRARY).text == clean


def test_a_passage_that_shares_nothing_with_the_statement_is_no_source():
    answer = ground("Karl von Frisch described the dance [1] [2].", LIBRARY)

    assert answer.text == "Karl von Frisch described the dance [1]."
    assert [citation.marker for citation in answer.citations] == [1]


def test_a_statement_without_support_is_listed_and_its_neighbours_are_not():
    answer = ground("Bees perform a waggle dance [1]. Whales sing songs at night [1].", LIBRARY)

    assert answer.unsupported == ("Whales sing songs at night.",)
    assert [citation.marker for citation in answer.citations] == [1]


def test_a_statement_that_shares_little_keeps_its_source_with_the_start_in_place_of_a_quote():
    answer = ground("Colonies always vote on governments and budgets together [1].", LIBRARY)

    [citation] = answer.citations
    assert (citation.verbatim, citation.quote) == (False, "Honey bees live in large colonies.")
    assert len(answer.unsupported) == 1


def test_an_invented_number_is_not_supported():
    answer = ground("Karl von Frisch described the dance in 1932 [1].", LIBRARY)

    assert answer.unsupported == ("Karl von Frisch described the dance in 1932.",)


def test_a_number_written_in_another_way_is_the_same_number():
    answer = ground("A colony of leafcutter ants can hold 8 000 000 workers [2].", LIBRARY)

    assert answer.unsupported == ()


def test_a_statement_without_a_marker_may_rest_on_the_marker_of_its_paragraph():
    answer = ground("Bees perform a waggle dance. Karl von Frisch described it [1].", LIBRARY)

    assert answer.unsupported == ()


def test_a_statement_without_marker_or_source_is_unsupported():
    answer = ground("Elephants never forget anything.\n\nBees dance on the comb [1].", LIBRARY)

    assert answer.unsupported == ("Elephants never forget anything.",)


def test_an_answer_without_any_marker_gets_those_that_are_sure():
    answer = ground(
        "Karl von Frisch described the dance in 1923. Whales sing. Ants lay trails of pheromones.",
        LIBRARY,
    )

    assert answer.text == (
        "Karl von Frisch described the dance in 1923 [1]. Whales sing. "
        "Ants lay trails of pheromones [2]."
    )
    assert answer.unsupported == ("Whales sing.",)


@pytest.mark.parametrize("language", ABSTENTIONS)
def test_the_fixed_sentence_has_no_sources(language):
    answer = ground(f"{ABSTENTIONS[language]} [1]", LIBRARY)

    assert (answer.citations, answer.unsupported, answer.abstained) == ((), (), True)


def test_an_empty_answer_is_no_abstention():
    assert Answer("", (), (), abstained=False) == ground(" \n", LIBRARY)


def test_at_most_two_passages_of_a_document_are_cited():
    parts = [
        f"The {name} dance is one of the {name} dances." for name in ("waggle", "round", "sickle")
    ]
    context = context_of(*(passage(text, chunk_id=n) for n, text in enumerate(parts, 1)))
    answer = ground("The waggle dance [1]. The round dance [2]. The sickle dance [3].", context)

    assert [citation.marker for citation in answer.citations] == [1, 2]
    assert answer.text == "The waggle dance [1]. The round dance [2]. The sickle dance."


def test_a_marker_beyond_two_moves_to_a_passage_that_says_the_same():
    text = "The waggle dance shows the way."
    others = [passage(text, chunk_id=1), passage(text, chunk_id=2), passage(text, chunk_id=3)]
    answer = ground(
        "The waggle dance shows the way [3].\n- Waggle dance [1]\n- The way [2] [1]",
        context_of(*others),
    )

    assert len(answer.citations) == 2
    assert "[" in answer.text.splitlines()[0]


GOLDEN = {
    "de": (
        "Die Honigbiene lebt in Völkern. Der Schwänzeltanz zeigt die Richtung zu den Blüten. "
        "Karl von Frisch erforschte die Tänze der Bienen.",
        "Die Richtung der Blüten wird im Schwänzeltanz gezeigt [1].",
        "Der Schwänzeltanz zeigt die Richtung zu den Blüten.",
    ),
    "ru": (
        "Пчёлы живут большими семьями. Танец пчелы показывает направление к цветам. "
        "Карл фон Фриш описал танец пчёл.",
        "Направление к цветку показывают танцем [1].",
        "Танец пчелы показывает направление к цветам.",
    ),
    "zh": (
        "蜜蜂生活在大型蜂群中。摇摆舞的方向指示花朵的位置。卡尔·冯·弗里施描述了蜜蜂的舞蹈。",
        "花朵的位置由摇摆舞指示[1]。",
        "摇摆舞的方向指示花朵的位置。",
    ),
    "ar": (
        "يعيش النحل في مستعمرات كبيرة. تدل رقصة النحلة على اتجاه الأزهار. "
        "وصف كارل فون فريش رقصة النحل.",
        "اتجاه الزهور تدل عليه رقصة النحلة [1].",
        "تدل رقصة النحلة على اتجاه الأزهار.",
    ),
}


@pytest.mark.parametrize(("text", "statement", "quote"), GOLDEN.values(), ids=GOLDEN.keys())
def test_the_supporting_sentence_is_found_in_each_script(text, statement, quote):
    answer = ground(statement, context_of(passage(text)))

    assert quotes(answer) == {1: quote}
    assert (answer.citations[0].verbatim, answer.unsupported) == (True, ())


def test_an_answer_in_another_language_is_located_by_names_and_numbers():
    answer = ground(
        "Die Tänze der Honigbienen hat Karl von Frisch im Jahr 1923 beschrieben [1].", LIBRARY
    )

    assert quotes(answer) == {1: "Karl von Frisch described the dance in 1923."}
    assert answer.unsupported == ()


def test_an_answer_in_another_language_keeps_the_marker_the_model_gave():
    answer = ground("Пчёлы показывают дорогу к цветам с помощью танца [1].", LIBRARY)

    [citation] = answer.citations
    assert (citation.marker, citation.verbatim, answer.unsupported) == (1, False, ())


def test_an_answer_in_another_language_may_not_invent_numbers():
    answer = ground("Карл фон Фриш описал танец пчёл в 1967 году [1].", LIBRARY)

    assert len(answer.unsupported) == 1


def test_a_similarity_finds_the_sentence_where_words_cannot():
    def similarity(statement: str, sentence: str) -> float:
        return 0.9 if "direction" in sentence else 0.1

    answer = ground(
        "Пчёлы показывают дорогу к цветам с помощью танца [1].", LIBRARY, similarity=similarity
    )

    assert quotes(answer) == {1: "The direction of the dance shows the way to the flowers."}
    assert answer.citations[0].verbatim


def test_a_quote_holds_no_page_break_and_names_its_page():
    content = "The waggle dance of the honey\fbee shows the direction of flowers. It is long."
    [citation] = ground(
        "It shows the direction of flowers [1].", context_of(passage(content, page=4))
    ).citations

    assert (citation.quote, citation.page) == ("bee shows the direction of flowers.", 5)


def test_a_quote_holds_no_time_mark_and_names_its_second():
    content = (
        "[00:01:05] so today we look at bees\n"
        "[00:01:09] they dance to show the way\n"
        "[01:01:13] and that was all"
    )
    found = passage(content, second=65, source_type="youtube")
    answer = ground("Bees dance to show the way [1].", context_of(found))

    [citation] = answer.citations
    assert (citation.quote, citation.second) == ("they dance to show the way", 69)


def test_a_long_sentence_is_quoted_at_its_clauses():
    clause = "which the keeper of the hive had written into his book, "
    content = (
        f"It was a year, {clause * 6}the queen Aurelia weighed 212 milligrams, {clause * 6}so."
    )
    [citation] = ground(
        "Queen Aurelia weighed 212 milligrams [1].", context_of(passage(content))
    ).citations

    assert len(citation.quote) <= LONGEST_QUOTE
    assert "the queen Aurelia weighed 212 milligrams," in citation.quote


def test_two_sentences_are_quoted_when_the_statement_needs_both():
    content = "The queen is called Aurelia. She weighs 212 milligrams. The weather was fine."
    [citation] = ground(
        "Aurelia the queen weighs 212 milligrams [1].", context_of(passage(content))
    ).citations

    assert citation.quote == "The queen is called Aurelia. She weighs 212 milligrams."


def test_words_taken_over_are_quoted_sign_by_sign():
    content = "A bee sleeps at\nnight in the hive. A bee sleeps at day."
    [citation] = ground(
        "A bee sleeps at night in the hive. [1]", context_of(passage(content))
    ).citations

    assert citation.quote == "A bee sleeps at\nnight in the hive."


PIECES = """bee bees dance 1923 Frisch. comb, the. [1] [2] [00:00:05]
# - 蜜蜂 跳舞。 النحل؟ Tänze Über
Straße! co\u00adlony e\u0301te\u0301
( ) | `x[1]` Dr. ﬁnd 3. …
"""
WORDS = st.sampled_from([*PIECES.split(), "\n", "\n\n", "\f", "\u200f"])
TEXTS = st.lists(WORDS, max_size=60).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3))
def test_every_quote_is_a_slice_of_the_content_without_marks(answer_text, documents):
    contents = [before + text for before, text in documents]
    context = context_of(
        *(
            slice_of(content, len(before), len(content), document_id=n, page=1, second=0)
            for n, (content, (before, _)) in enumerate(zip(contents, documents, strict=True))
        )
    )
    answer = ground(f"{answer_text} [1] bees dance [2] 1923 [3].", context)

    for citation in answer.citations:
        content = contents[citation.passage.document_id]
        assert citation.quote == content[citation.start : citation.end]
        assert "\f" not in citation.quote
        assert len(citation.quote) <= LONGEST_QUOTE
        assert f"[{citation.marker}]" in answer.text
        before = citation.passage.text[: citation.start - citation.passage.start]
        assert citation.page == 1 + before.count("\f")


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 3), st.sampled_from([BEES, ANTS, *(text for text, _, _ in GOLDEN.values())]))
def test_a_sentence_copied_from_a_passage_is_its_own_quote(place, text):
    from rag_app.sentences import split_sentences

    spans = split_sentences(text)
    start, end = spans[place % len(spans)]
    answer = ground(f"{text[start:end]} [1]", context_of(passage(text)))

    assert quotes(answer) == {1: text[start:end]}
    assert answer.unsupported == ()


def test_a_marker_that_stands_twice_quotes_what_each_statement_rests_on() -> None:
    text = (
        "Bees hold twenty degrees in winter. The queen lives for four years. Drones do not sting."
    )
    answer = ground(
        "Bees hold twenty degrees in winter [1]. A queen lives four years [1].",
        context_of(passage(text)),
    )

    [citation] = answer.citations
    assert [quote.text for quote in citation.quotes] == [
        "Bees hold twenty degrees in winter.",
        "The queen lives for four years.",
    ]
    assert citation.best in citation.quotes
