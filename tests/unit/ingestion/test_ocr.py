from typing import Any

import pytest

from rag_app.ingestion.ocr import _choose, _page


def line(words: str, *, sure: float = 95, paragraph: str = "1", top: float = 0.1) -> dict[str, Any]:
    found = words.split()
    return {
        "words": found,
        "sure": [sure] * len(found),
        "paragraph": ["1", paragraph],
        "box": [0.1, top, 0.5, top + 0.02],
    }


def test_lines_become_paragraphs_and_words_cut_at_their_ends_are_whole() -> None:
    page = _page(
        {
            "lines": [
                line("The honey-"),
                line("bee dances at E-", top=0.12),
                line("Mail speed.", top=0.14),
                line("Another paragraph.", paragraph="2", top=0.2),
            ]
        }
    )

    assert page.text == "The honeybee dances at E-\nMail speed.\n\nAnother paragraph."
    assert [page.text[found.start : found.end] for found in page.lines] == [
        "The honey",
        "bee dances at E-",
        "Mail speed.",
        "Another paragraph.",
    ]
    assert page.confidence == 95


def test_dust_is_no_text_and_doubtful_words_are_left_out() -> None:
    dust = _page({"lines": [line("| ~ .", sure=30), line("a b c d e")]})
    mixed = _page({"lines": [line("Bees dance in the dark."), line("xq~", sure=5)]})

    assert (dust.text, mixed.text) == ("", "Bees dance in the dark.")


@pytest.mark.parametrize(
    ("language", "chosen", "missing"),
    [
        ("de", ("deu",), ""),
        (None, ("eng", "deu"), ""),
        ("pl", ("eng", "deu"), "pol"),
        ("xx", ("eng", "deu"), ""),
    ],
)
def test_the_language_of_the_other_pages_is_read_with(
    language: str | None, chosen: tuple[str, ...], missing: str
) -> None:
    assert (chosen, missing) == _choose(("chi_sim", "deu", "eng"), language)
    assert _choose(("chi_sim",), None) == (("chi_sim",), "")
