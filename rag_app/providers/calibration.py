"""Measures which cosines a model gives to texts that belong together and to others."""

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from rag_app.errors import ProviderError
from rag_app.providers.base import EmbeddingModel

PAIRS = (
    (
        "How high is the Eiffel Tower?",
        "The Eiffel Tower in Paris is 330 metres high and was finished in 1889.",
    ),
    (
        "Wie lange muss ein Ei kochen, bis es hart ist?",
        "Ein hart gekochtes Ei braucht etwa zehn Minuten in siedendem Wasser.",
    ),
    (
        "¿Qué causa las mareas?",
        "Las mareas se deben sobre todo a la atracción de la Luna sobre los océanos.",
    ),
    (
        "Who wrote the first computer program?",
        "Ada Lovelace described a program for the Analytical Engine in 1843.",
    ),
    (
        "Comment soigner une coupure légère ?",
        "Une petite coupure se nettoie à l'eau et se couvre d'un pansement propre.",
    ),
    (
        "Когда начинается учебный год в России?",
        "Учебный год в российских школах начинается первого сентября.",
    ),
    ("光合作用产生什么气体？", "植物在光合作用中吸收二氧化碳并释放氧气。"),
    ("ما هي عاصمة المغرب؟", "الرباط هي عاصمة المملكة المغربية ومقر الحكومة."),
    (
        "When is the rent due?",
        "The tenant pays the rent in advance, by the third working day of each month.",
    ),
    (
        "Was kostet ein Brief nach Österreich?",
        "Das Porto für einen Standardbrief ins Ausland beträgt 1,25 Euro.",
    ),
)
"""Questions and passages that answer them; every other combination is unrelated."""

_GOOD_HIT = 90  # percentile; gives the packaged model within 0.03 the figures it was tuned with
_LEAST_SPREAD = 0.05


def calibrate(
    name: str, questions: Sequence[Sequence[float]], passages: Sequence[Sequence[float]]
) -> EmbeddingModel:
    """Return the model's record from the unit vectors of both sides of PAIRS."""
    cosines = np.array(questions) @ np.array(passages).T
    related = np.eye(len(cosines), dtype=bool)
    centre = float(cosines[~related].mean())
    good = float(np.percentile(cosines[related], _GOOD_HIT))
    return EmbeddingModel(
        name=name,
        dimensions=len(questions[0]),
        centre=round(centre, 4),
        spread=round(max(good - centre, _LEAST_SPREAD), 4),
    )


def find_calibration(folder: Path, name: str) -> EmbeddingModel | None:
    """Return what was measured before for a model, if it was."""
    try:
        records = json.loads(_file(folder).read_text(encoding="utf-8"))
        return EmbeddingModel(**records[name])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep_calibration(folder: Path, model: EmbeddingModel) -> None:
    """Remember a measurement, so that the model need not answer at each start."""
    path = _file(folder)
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        records = {}
    records[model.name] = asdict(model)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, part = tempfile.mkstemp(dir=folder, prefix=path.name)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(records, file, indent=1)
        Path(part).replace(path)
    except OSError as error:
        raise ProviderError(
            f"Could not write {path}: {error.strerror or error}. Check PINCITE_HOME."
        ) from error


def _file(folder: Path) -> Path:
    return folder / "embedding-models.json"
