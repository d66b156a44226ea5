"""How much of a document was read: counts of its pages by state, and a strip to show them."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

LONGEST_STRIP = 60
_WORST_FIRST = ("failed", "garbled", "ocr", "text", "empty")


def coverage(states: Sequence[str]) -> dict[str, object]:
    """Return the counts and the strip of pages, nothing where each was simply read.

    The strip has a letter for each page, its state's first, or for as many pages as it takes to
    keep it short, where the one that most needs a look counts.
    """
    if set(states) <= {"text"}:
        return {}
    parts = min(len(states), LONGEST_STRIP)
    edges = [round(place * len(states) / parts) for place in range(parts + 1)]
    groups = (states[start:end] for start, end in pairwise(edges))
    strip = "".join(min(group, key=_rank)[0] for group in groups)
    return {"coverage": dict(Counter(states)), "strip": strip}


def _rank(state: str) -> int:
    return _WORST_FIRST.index(state) if state in _WORST_FIRST else len(_WORST_FIRST)
