import pytest

from rag_app.marks import heading_at

CONTENT = "\n\n".join(
    ["Intro.", "# Hives", "Wood.", "```sh\n# no heading\nmake\n```", "Straw.", "## Wax ##", "Warm."]
)


@pytest.mark.parametrize(
    ("words", "heading"),
    [
        ("Intro", None),
        ("Hives", "Hives"),
        ("Wood", "Hives"),
        ("make", "Hives"),
        ("Straw", "Hives"),
        ("Warm", "Wax"),
    ],
)
def test_words_stand_under_the_last_heading_before_them_but_for_fenced_code(
    words: str, heading: str | None
) -> None:
    assert heading == heading_at(CONTENT, CONTENT.index(words))
