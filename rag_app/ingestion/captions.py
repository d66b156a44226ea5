"""Turns captions into a transcript: a line a sentence, each with the time it is spoken."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_app.ingestion.content import clean
from rag_app.marks import time_mark
from rag_app.sentences import split_sentences

_PARAGRAPH_SECONDS = 40
_LONGEST_LINE_SECONDS = 16  # of captions without full stops, and of very long sentences
_SHORTEST_LINE_SECONDS = 2  # "Yes. No. Well." stay on one line; its mark is right for all
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Caption:
    """What is shown at one time, in seconds."""

    start: float
    seconds: float
    text: str


def write_transcript(captions: Iterable[Caption], duration_seconds: int) -> str:
    """Write captions as lines with time marks, with a blank line about every 40 seconds.

    A line starts with a sentence, and its mark is the start of the caption in which the sentence
    begins, so that a quoted sentence opens at its own second. Marks rise and lie in the video.
    """
    kept = sorted(
        (
            Caption(max(0.0, caption.start), caption.seconds, text)
            for caption in captions
            if (text := _SPACE.sub(" ", clean(caption.text)).strip())
        ),
        key=lambda caption: caption.start,
    )
    kept = [caption for caption in kept if caption.start < max(1, duration_seconds)]
    lines: list[str] = []
    paragraph_start = 0
    for second, text in _lines(kept):
        if lines and second - paragraph_start >= _PARAGRAPH_SECONDS:
            lines.append("")
            paragraph_start = second
        lines.append(time_mark(second) + text)
    return "\n".join(lines)


def _lines(captions: Sequence[Caption]) -> Iterable[tuple[int, str]]:
    if not captions:
        return
    text = " ".join(caption.text for caption in captions)
    begins = _begins(text, captions)
    cuts = [(0, int(captions[0].start))]  # offset in the text, second
    # each place with the time of the next one, by which its line would have grown too long
    following = [int(start) for _, start, _ in begins[1:]] + [0]
    for (offset, start, is_sentence), until in zip(begins, following, strict=True):
        since = int(start) - cuts[-1][1]
        is_long = since > 0 and until - cuts[-1][1] > _LONGEST_LINE_SECONDS
        if (is_sentence and since >= _SHORTEST_LINE_SECONDS) or is_long:
            cuts.append((offset, int(start)))
    ends = [offset for offset, _ in cuts[1:]] + [len(text)]
    for (start, second), end in zip(cuts, ends, strict=True):
        if line := text[start:end].strip():
            yield second, line


def _begins(text: str, captions: Sequence[Caption]) -> list[tuple[int, float, bool]]:
    """Return where captions and sentences begin: offset, time, and whether it is a sentence."""
    starts: dict[int, tuple[float, bool]] = {}
    offsets: list[int] = []
    offset = 0
    for caption in captions:
        starts[offset] = (caption.start, False)
        offsets.append(offset)
        offset += len(caption.text) + 1
    place = 0
    for begin, _ in split_sentences(text):
        while place + 1 < len(offsets) and offsets[place + 1] <= begin:
            place += 1
        starts[begin] = (captions[place].start, True)
    return [(begin, second, is_sentence) for begin, (second, is_sentence) in sorted(starts.items())]
