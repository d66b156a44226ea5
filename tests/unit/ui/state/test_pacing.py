import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.ui.state.pacing import (
    FLUSH_CHARACTERS,
    LONGEST_SECONDS,
    SHORTEST_SECONDS,
    Cuts,
    is_due,
    move_cuts,
)


@given(st.lists(st.integers(0, 400)))
def test_the_three_slices_always_make_the_whole_text(steps):
    text, cuts = "", Cuts()
    for step in steps:
        text += "x" * step
        cuts = move_cuts(cuts, len(text))

        assert 0 <= cuts.head <= cuts.middle <= len(text)
        assert text == text[: cuts.head] + text[cuts.head : cuts.middle] + text[cuts.middle :]


@pytest.mark.parametrize("step", [7, 32, 90])
def test_an_answer_costs_few_times_its_length_however_it_comes(step):
    length, sent, cuts = 12_000, 0, Cuts()
    for end in range(step, length + 1, step):
        before, cuts = cuts, move_cuts(cuts, end)
        sent += end - cuts.middle
        sent += (cuts.middle - cuts.head) if cuts.middle != before.middle else 0
        sent += cuts.head if cuts.head != before.head else 0

    # in one variable it would be length² / (2 · step), a hundred times and more
    assert sent < 25 * length


def test_a_flush_waits_for_enough_text_but_not_for_long():
    assert not is_due(0, 10)
    assert not is_due(500, SHORTEST_SECONDS / 2)
    assert not is_due(FLUSH_CHARACTERS - 1, LONGEST_SECONDS / 2)
    assert is_due(FLUSH_CHARACTERS, SHORTEST_SECONDS)
    assert is_due(1, LONGEST_SECONDS)
