import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.sentences import split_sentences


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["It rains.", "Take a coat!", "Why?", "Because."],
        ["Dr. Meyer met Prof. Li at 3.15 p.m. yesterday.", "They spoke (see Fig. 3).", "Good."],
        ["Das gilt z. B. am 3. Mai 2024.", "Vgl. Nr. 7 der Ordnung, d. h. den Anhang."],
        ["He asked: “Is it true?”", "Nobody knew."],
        ["J. R. R. Tolkien wrote it.", "It sold well."],
        ["Version 3.14.1 runs on example.com today.", "So it goes... and on."],
        ["Мы видели рис. 5 вчера.", "Он был хорош."],
        ["ماذا حدث؟", "لا أعرف."],
        ["यह अच्छा है।", "वह भी।"],
        ["Bees dance [1].", "They also sleep. [2]", "Not all do."],
    ],
)
def test_sentences_end_where_a_reader_would_end_them(expected: list[str]) -> None:
    assert expected == sentences(" ".join(expected))


def test_chinese_and_japanese_need_no_space_after_the_full_stop() -> None:
    assert sentences("今天下雨。我们回家吧！「はい。」終わり") == [
        "今天下雨。",
        "我们回家吧！",
        "「はい。」",
        "終わり",
    ]


def test_a_wrapped_line_goes_on_and_a_blank_line_ends() -> None:
    assert sentences("one line\nand its end\n\nanother paragraph") == [
        "one line\nand its end",
        "another paragraph",
    ]


def test_time_marks_heading_signs_and_bullets_belong_to_no_sentence() -> None:
    text = "# Bees\n[00:00:05] They dance.\n[00:00:09] they sleep\n- honey\n2. wax\n> said so"

    assert sentences(text) == ["Bees", "They dance.", "they sleep", "honey", "wax", "said so"]


def test_a_short_title_line_above_running_text_stands_alone() -> None:
    text = (
        "1 Introduction\n"
        "This paper is about the dances of bees and what they may mean to\n"
        "other bees in the same hive."
    )

    assert sentences(text)[0] == "1 Introduction"
    assert len(sentences(text)) == 2


def test_a_page_break_ends_a_sentence() -> None:
    assert sentences("the end of\fthe next page") == ["the end of", "the next page"]


@given(st.text(alphabet=st.sampled_from("aB1 .!?\n\f#-[]:0。”\t")))
def test_spans_are_ordered_trimmed_and_lose_no_letter(text: str) -> None:
    spans = split_sentences(text)

    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)
    covered = "".join(text[start:end] for start, end in spans)
    assert text.count("a") + text.count("B") == covered.count("a") + covered.count("B")


@pytest.mark.parametrize("run", ["!", ".", "?!", "…", "\u3002"])
def test_long_runs_of_marks_are_read_once(run: str) -> None:
    def seconds(length: int) -> float:
        text = f"Oh {run * length}x and so on. It ends."
        took = []
        for _ in range(5):
            started = time.perf_counter()
            list(split_sentences(text))
            took.append(time.perf_counter() - started)
        return min(took)

    seconds(100)
    # sixteen times the length: sixteen times the time, where it was some two hundred
    assert seconds(16_000) < 100 * seconds(1_000)
