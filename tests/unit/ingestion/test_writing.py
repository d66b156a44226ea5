import pytest

from rag_app.ingestion.writing import join_blocks, list_item, paragraph, table


@pytest.mark.parametrize(
    ("rows", "written"),
    [
        (
            [["Caste", "Egg", "Larva"], ["Queen", "3", "5"], ["Drone", "3", ""]],
            "Caste: Queen; Egg: 3; Larva: 5\n\nCaste: Drone; Egg: 3",
        ),
        ([["", "2023", "2024"], ["Oak", "12", "9"]], "Oak; 2023: 12; 2024: 9"),
        ([["Name", "Ada"], ["Town", "London"]], "Name: Ada\n\nTown: London"),
        ([["Hive", "Kg"], ["Oak", "12,5"]], "Hive: Oak; Kg: 12,5"),
        (
            [["Oak", "12", "a|b"], ["Lime", "7", ""]],
            "| Oak | 12 | a\\|b |\n| --- | --- | --- |\n| Lime | 7 |  |",
        ),
        ([["One cell"], ["Another"]], "One cell\n\nAnother"),
        ([["x" * 500, "beside it"]], "x" * 500 + "\n\nbeside it"),
        ([["", ""], []], ""),
    ],
)
def test_a_table_is_rows_that_read_alone(rows: list[list[str]], written: str) -> None:
    assert written == table(rows)


def test_items_stand_on_neighbouring_lines_and_all_else_apart() -> None:
    blocks = [
        paragraph("Text"),
        list_item(0, "a"),
        list_item(1, "b"),
        "",
        paragraph("More\n  text"),
    ]

    assert join_blocks(blocks) == "Text\n\n- a\n  - b\n\nMore\ntext"


def test_what_only_looks_like_a_mark_is_moved_aside() -> None:
    assert paragraph("# 1\n```\n#hash") == " # 1\n ```\n#hash"
