import pytest

from rag_app.query.statements import long_numbers, statements


def read(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(found.text, found.markers) for found in statements(answer)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Bees dance [1]. Ants march [2] [3].", [("Bees dance.", (1,)), ("Ants march.", (2, 3))]),
        ("Bees dance. [1] Ants march. [2]", [("Bees dance.", (1,)), ("Ants march.", (2,))]),
        ("蜜蜂跳舞。[1]蚂蚁行军[2]。", [("蜜蜂跳舞。", (1,)), ("蚂蚁行军。", (2,))]),
        ("هل يرقص النحل؟ نعم [1].", [("هل يرقص النحل؟", ()), ("نعم.", (1,))]),
        (
            "Two things matter:\n- Bees dance [1]\n- Ants march [2]",
            [("Bees dance", (1,)), ("Ants march", (2,))],
        ),
        ("# Bees\n\nBees dance [1].", [("Bees dance.", (1,))]),
        ("```\nx = 1\n```\nBees dance [1].", [("Bees dance.", (1,))]),
        ("Dr. Meier kam am 3. Mai an [1].", [("Dr. Meier kam am 3. Mai an.", (1,))]),
        ("", []),
        ("---", []),
    ],
)
def test_an_answer_falls_into_statements_with_their_markers(answer, expected):
    assert read(answer) == expected


def test_table_rows_are_statements_and_their_rules_are_not():
    answer = "| Animal | Gait |\n|---|---|\n| Bee [1] | dances |"

    assert read(answer)[-1][1] == (1,)
    assert len(read(answer)) == 2


def test_statements_of_one_line_share_a_paragraph():
    found = statements("Bees dance. They rest [1].\nAnts march [2].")

    assert [statement.paragraph for statement in found] == [0, 0, 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("In 1843 and 2,000 or 2.000 of 2 000 on 5 days", {"1843", "2000"}),
        ("2015-16, 3.14", {"2015", "16", "14"}),
        ("١٨٤٣", {"1843"}),
        ("no numbers", set()),
    ],
)
def test_long_numbers_are_read_without_their_grouping(text, expected):
    assert long_numbers(text) == expected
