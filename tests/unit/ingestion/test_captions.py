import re

from rag_app.ingestion.captions import Caption, write_transcript
from rag_app.ingestion.content import LocatorIndex

SPOKEN = [
    Caption(0.0, 3.0, "Hello and welcome to"),
    Caption(3.0, 3.0, "this talk. Today we"),
    Caption(6.0, 4.0, "look at bees."),
    Caption(10.5, 4.0, "They dance,\nas you know."),
]


def test_a_line_is_a_sentence_with_the_time_of_its_caption() -> None:
    assert write_transcript(SPOKEN, 60) == (
        "[00:00:00] Hello and welcome to this talk.\n"
        "[00:00:03] Today we look at bees.\n"
        "[00:00:10] They dance, as you know."
    )


def test_captions_without_full_stops_get_a_mark_every_few_seconds() -> None:
    captions = [Caption(start, 3, f"words at {start}") for start in range(0, 200, 3)]
    content = write_transcript(captions, 200)
    index = LocatorIndex(content, "youtube")

    for start in range(0, 200, 3):
        offset = re.search(rf"at {start}\b", content)
        assert offset
        assert 0 <= start - (index.at(offset.start()).second or 0) <= 16


def test_paragraphs_are_about_forty_seconds() -> None:
    captions = [Caption(start, 5, f"Sentence {start}.") for start in range(0, 200, 5)]

    assert len(write_transcript(captions, 200).split("\n\n")) == 5


def test_what_lies_outside_the_video_is_left_out() -> None:
    captions = [Caption(-1, 2, "First."), Caption(5, 2, "Second."), Caption(99, 2, "Beyond.")]

    assert write_transcript(captions, 60) == "[00:00:00] First.\n[00:00:05] Second."


def test_a_time_mark_that_somebody_speaks_is_no_mark() -> None:
    assert (
        write_transcript([Caption(1, 2, "[00:09:00] he said")], 60) == "[00:00:01] 00:09:00 he said"
    )


def test_nothing_spoken_is_nothing() -> None:
    assert write_transcript([Caption(0, 1, " \n ")], 10) == ""
