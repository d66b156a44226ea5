"""When a growing answer is sent to the page, and how little of it.

A change sends the whole value of a state variable. An answer held in one variable would therefore
cost the square of its length, and so would one long list or code block held back as an open tail.
Cut in three slices, of which only the short last one changes with each flush, it costs little more
than its own length: 2,000 tokens take about 200 KB at any speed.
"""

from dataclasses import dataclass

TAIL_CHARACTERS = 200
MIDDLE_CHARACTERS = 1500
FLUSH_CHARACTERS = 32
SHORTEST_SECONDS = 0.05
LONGEST_SECONDS = 0.2


@dataclass(frozen=True)
class Cuts:
    """Where an answer is cut: `text[:head]`, `text[head:middle]`, `text[middle:]`."""

    head: int = 0
    middle: int = 0


def move_cuts(cuts: Cuts, length: int) -> Cuts:
    """Return the cuts for an answer that has grown to `length` characters."""
    middle = length if length - cuts.middle > TAIL_CHARACTERS else cuts.middle
    head = middle if middle - cuts.head > MIDDLE_CHARACTERS else cuts.head
    return Cuts(head, middle)


def is_due(new_characters: int, seconds: float) -> bool:
    """Tell whether what has come since the last flush is worth a message now."""
    if new_characters <= 0 or seconds < SHORTEST_SECONDS:
        return False
    return new_characters >= FLUSH_CHARACTERS or seconds >= LONGEST_SECONDS
