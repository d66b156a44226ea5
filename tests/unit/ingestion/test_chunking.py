import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.ingestion.chunking import ChunkText, embedding_text, split
from rag_app.ingestion.content import LocatorIndex


def words(text: str) -> int:
    return len(text.split())


def signs(text: str) -> int:
    return len(text)


def split_words(content: str, source_type: str = "markdown", **options: int) -> list[ChunkText]:
    return split(content, source_type, count_tokens=words, **options)


contents = st.text(alphabet=st.sampled_from("ab. \n\f#。1-[]"), max_size=400)


@pytest.mark.parametrize("source_type", ["pdf", "markdown", "youtube", "web"])
@given(content=contents, size=st.integers(5, 40), overlap=st.integers(0, 4))
def test_chunks_are_exact_slices_that_lose_nothing(
    source_type: str, content: str, size: int, overlap: int
) -> None:
    chunks = split(content, source_type, count_tokens=signs, size=size, overlap=overlap)

    assert list(range(len(chunks))) == [chunk.ordinal for chunk in chunks]
    assert all(chunk.text == content[chunk.start : chunk.end] for chunk in chunks)
    assert all(chunk.text.strip() == chunk.text != "" for chunk in chunks)
    held = {place for chunk in chunks for place in range(chunk.start, chunk.end)}
    assert {place for place, sign in enumerate(content) if not sign.isspace()} <= held
    index = LocatorIndex(content, source_type)
    assert all(index.at(chunk.start).page == chunk.page for chunk in chunks)
    assert all(chunk.tokens <= size for chunk in chunks)


@given(contents)
def test_no_chunk_of_a_paged_source_crosses_a_page(content: str) -> None:
    chunks = split(content, "pdf", count_tokens=signs, size=30, overlap=5)

    assert all("\f" not in chunk.text for chunk in chunks)
    pages = content.split("\f")
    assert all(chunk.text in pages[(chunk.page or 0) - 1] for chunk in chunks)


def test_a_chunk_of_a_transcript_starts_at_a_time_mark() -> None:
    content = "\n".join(f"[00:00:{second:02d}] line of words {second}." for second in range(60))
    chunks = split_words(content, "youtube", size=40, overlap=10)

    assert len(chunks) > 3
    assert all(chunk.text.startswith("[00:00:") for chunk in chunks)
    assert chunks[1].second == int(chunks[1].text[7:9])
    assert chunks[1].start < chunks[0].end


def test_a_heading_starts_a_chunk_and_names_it() -> None:
    content = "# Bees\n\n" + "They dance well. " * 30 + "\n\n# Ants\n\n" + "They walk far. " * 30
    chunks = split_words(content, size=200)

    assert [(chunk.heading, chunk.text[:6]) for chunk in chunks] == [
        ("Bees", "# Bees"),
        ("Ants", "# Ants"),
    ]


def test_a_heading_never_stands_alone() -> None:
    assert len(split_words("# Bees\n\n## Dance\n\nThey dance in the hive.", size=100)) == 1


def test_neighbours_share_whole_sentences() -> None:
    content = " ".join(f"Sentence number {number} is here." for number in range(40))
    first, second, *_ = split_words(content, size=50, overlap=12)

    shared = content[second.start : first.end]
    assert shared.startswith("Sentence number")
    assert 0 < words(shared) <= 12


def test_a_paragraph_that_fits_is_not_torn() -> None:
    first, second = "One two three four. " * 12, "Five six seven. " * 12
    chunks = split_words(f"{first.strip()}\n\n{second.strip()}", size=60, overlap=0)

    assert [first.strip(), second.strip()] == [chunk.text for chunk in chunks]


def test_a_sentence_without_end_is_cut_at_words() -> None:
    chunks = split_words("word " * 1000, size=100)

    assert all(chunk.tokens <= 100 for chunk in chunks)
    assert all(set(chunk.text.split()) == {"word"} for chunk in chunks)


def test_text_without_spaces_is_cut_too() -> None:
    chunks = split("蜂" * 5000, "markdown", count_tokens=signs, size=450)

    assert all(chunk.tokens <= 450 for chunk in chunks)
    assert chunks[-1].end == 5000


def test_three_thousand_pages_split_in_seconds_with_one_count_a_sentence() -> None:
    page = "\n".join(f"Line {line} of this page says something. And more" for line in range(40))
    content = "\f".join([page] * 3000)
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += 1
        return len(text) // 4

    started = time.perf_counter()
    chunks = split(content, "pdf", count_tokens=count)

    assert time.perf_counter() - started < 20
    assert len({chunk.page for chunk in chunks}) == 3000
    assert counted <= 3000 * 81


def test_what_is_embedded_names_its_place_and_holds_no_marks() -> None:
    assert (
        embedding_text("On bees", "Dance", "[00:00:01] They dance.\n[00:00:04] They sleep.")
        == "On bees\nDance\nThey dance.\nThey sleep."
    )
    assert embedding_text("Bees", None, "text") == "Bees\ntext"
    assert embedding_text("Bees", "Bees", "Bees fly") == "Bees fly"
