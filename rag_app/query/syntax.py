"""What a person can write to be strict: "quoted phrases" and -words."""

import re
from dataclasses import dataclass

_PHRASE = re.compile(r'["“„«]([^"“”„«»]+)["”“»]')
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_MINUS = re.compile(r"(?:(?<=\s)|^)-(?=[^\W\d_])(\w[\w'-]*)")


LONGEST_QUESTION = 4000  # characters; more is cut
MOST_WORDS_BESIDE = 4
"""Beside so many other words a quoted phrase is a search; beside more it is part of a sentence.

People quote titles and sayings in whole questions without meaning that the source must hold them
letter by letter.
"""


@dataclass(frozen=True)
class ParsedQuestion:
    """The words to search for, and what must hold besides in `websearch_to_tsquery` syntax."""

    text: str
    phrases: str = ""
    excluded: str = ""

    @property
    def required(self) -> str:
        """Both strict parts together."""
        return f"{self.phrases} {self.excluded}".strip()


def clean_question(text: str) -> str:
    """Return a question as it can be stored and embedded: no control characters, no half pairs."""
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _CONTROLS.sub(" ", text).strip()[:LONGEST_QUESTION]


def parse_question(question: str) -> ParsedQuestion:
    """Split a question into its words and its strict parts; most questions have none."""
    phrases = [phrase.strip() for phrase in _PHRASE.findall(question)]
    if len(_PHRASE.sub(" ", question).split()) > MOST_WORDS_BESIDE:
        phrases = []
    excluded = _MINUS.findall(question)
    text = _MINUS.sub(" ", question).strip()
    if not text:
        return ParsedQuestion(question)
    return ParsedQuestion(
        text,
        phrases=" ".join(f'"{phrase}"' for phrase in phrases if phrase),
        excluded=" ".join(f"-{word}" for word in excluded),
    )
