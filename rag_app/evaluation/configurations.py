"""Named ways to retrieve, and variants of them written as `hybrid+weight=0.7+diversity=off`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from rag_app.errors import SettingsError
from rag_app.query import fusion
from rag_app.query.pipeline import QueryOptions

# without the model steps, unless a variant switches them on: their figures depend on the model
_PLAIN = QueryOptions(rewrite=False, rerank=False)

BASES: Mapping[str, QueryOptions] = {
    "vector": replace(_PLAIN, fusion="vector"),
    "text": replace(_PLAIN, fusion="text"),
    "hybrid": _PLAIN,
    "rrf": replace(_PLAIN, fusion="rrf"),
    "gated-rrf": replace(_PLAIN, fusion="gated-rrf"),
}
DEFAULT = "vector,text,hybrid"
LARGEST_CHUNK = 2000


@dataclass(frozen=True)
class Configuration:
    """One way to retrieve: a base with changes, under the name that was typed.

    `chunk_tokens` is set where the corpus is to be split anew; `shuffles` where the reranker gets
    the candidates in a random order, which shows how much it minds their places.
    """

    name: str
    options: QueryOptions
    chunk_tokens: int | None = None
    shuffles: bool = False


def parse_configurations(text: str) -> list[Configuration]:
    """Read names with commas between; raise SettingsError with what there is."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise SettingsError(f"Name at least one configuration: {', '.join(BASES)}.")
    return [_parse(name) for name in names]


def _parse(name: str) -> Configuration:
    base, *changes = name.split("+")
    if base not in BASES:
        raise SettingsError(f"There is no configuration {base!r}: take any of {', '.join(BASES)}.")
    configuration = Configuration(name, BASES[base])
    for change in changes:
        key, _, value = change.partition("=")
        if key not in _CHANGES:
            raise SettingsError(
                f"There is no {key!r} to change: take any of {', '.join(_CHANGES)}."
            )
        try:
            configuration = _CHANGES[key](configuration, value)
        except ValueError as error:
            raise SettingsError(f"{change!r} in {name!r} does not fit: {error}") from error
    return configuration


def _option(
    field: str, read: Callable[[str], object]
) -> Callable[[Configuration, str], Configuration]:
    def change(configuration: Configuration, value: str) -> Configuration:
        changes = {field: read(value)}
        return replace(configuration, options=replace(configuration.options, **changes))  # type: ignore[arg-type]

    return change


def _switch(value: str) -> bool:
    if value not in {"", "on", "off"}:
        raise ValueError("say on or off.")
    return value != "off"


def _weight(value: str) -> float:
    if not re.fullmatch(r"\d(\.\d+)?", value):
        raise ValueError("say a number such as 0.5.")
    return float(value)


def _whole(value: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,3}", value):
        raise ValueError("say a whole number.")
    return int(value)


def _fusion(value: str) -> str:
    if value not in fusion.FUSIONS:
        raise ValueError(f"there are {', '.join(fusion.FUSIONS)}.")
    return value


def _chunk(configuration: Configuration, value: str) -> Configuration:
    tokens = _whole(value)
    if not 50 <= tokens <= LARGEST_CHUNK:
        raise ValueError(f"a chunk has 50 to {LARGEST_CHUNK} tokens.")
    return replace(configuration, chunk_tokens=tokens)


def _rerank(configuration: Configuration, value: str) -> Configuration:
    shuffles = value == "shuffled"
    is_on = True if shuffles else _switch(value)
    options = replace(configuration.options, rerank=is_on)
    return replace(configuration, options=options, shuffles=shuffles)


_CHANGES: Mapping[str, Callable[[Configuration, str], Configuration]] = {
    "fusion": _option("fusion", _fusion),
    "weight": _option("text_weight", _weight),
    "diversity": _option("diversity", _switch),
    "hyde": _option("hypothetical", _switch),
    "rerank": _rerank,
    "candidates": _option("candidates", _whole),
    "leg": _option("leg_limit", _whole),
    "chunk": _chunk,
}
