from hypothesis import given
from hypothesis import strategies as st

from rag_app.ingestion.folding import find_folded


def found(text: str, quote: str, before: str = "") -> str | None:
    span = find_folded(text, quote, before)
    return text[span[0] : span[1]] if span else None


def test_a_quote_is_found_over_hyphens_ligatures_and_lines() -> None:
    page = "The e\ufb03cient ex\ufffetrac\u00adtion\r\nof E\x02Mail W\u0308orter. End"

    assert (
        found(page, "efficient extraction of\nE-Mail Ẅorter.")
        == "e\ufb03cient ex\ufffetrac\u00adtion\r\nof E\x02Mail W\u0308orter."
    )


def test_of_two_places_the_one_after_the_words_before_is_meant() -> None:
    page = "bees dance. ants walk. bees dance. end"

    assert find_folded(page, "bees dance.") == (0, 11)
    assert find_folded(page, "Bees dance.", before="bees dance. ants walk.") == (23, 34)


def test_a_quote_whose_middle_differs_is_found_by_its_ends() -> None:
    words = " ".join(f"word{number}" for number in range(40))

    assert words == found(f"before {words} after", words.replace("word20", "other"))


def test_words_that_are_not_there_are_not_found() -> None:
    assert found("bees dance", "ants") is None
    assert found("bees dance", " - ") is None
    assert found("", "ants") is None


@given(
    st.text(st.sampled_from("ab"), max_size=20),
    st.text(st.sampled_from("ab"), min_size=1, max_size=3),
    st.text(st.sampled_from("ab"), max_size=20),
)
def test_of_all_places_the_nearest_is_found(text: str, quote: str, before: str) -> None:
    places = [place for place in range(len(text)) if text.startswith(quote, place)]
    span = find_folded(text, quote, before)

    assert (span and span[0]) == min(
        places, key=lambda place: abs(place - len(before)), default=None
    )
