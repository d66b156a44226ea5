"""Compounds: split where the library knows the parts, by the most frequent ones."""

import pytest

from rag_app.query.compounds import split_compound

KNOWN = {
    "haus": 40,
    "hausrat": 5,
    "rat": 30,
    "versicher": 20,
    "kranken": 9,
    "beitrag": 7,
    "wirtschaft": 6,
    "poliz": 4,
}


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("hausratversicher", ("hausrat", "versicher")),  # "rat" is too short to be a part
        ("krankenversicherungsbeitrag", ("kranken", "versicher", "beitrag")),
        ("krankenversicher", ("kranken", "versicher")),
        ("wirtschaftspoliz", ("wirtschaft", "poliz")),
        ("wirtschaftsbeitragspoliz", ("wirtschaft", "beitrag", "poliz")),
        ("versicher", ()),
        ("hausxpoliz", ()),
    ],
)
def test_a_word_is_split_where_all_its_parts_are_known(word: str, parts: tuple[str, ...]) -> None:
    assert split_compound(word, KNOWN) == parts


def test_of_several_ways_the_one_with_the_more_frequent_parts_is_taken() -> None:
    known = {"staub": 3, "ecken": 50, "staube": 1, "cken": 1, "becken": 20, "stau": 40}

    assert split_compound("staubecken", known) == ("stau", "becken")


def test_no_word_takes_long() -> None:
    known = {"aaaa" + "a" * n: 5 for n in range(20)}

    assert split_compound("a" * 60, known)
