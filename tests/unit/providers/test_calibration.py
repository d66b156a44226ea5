import json
from pathlib import Path

import pytest

from rag_app.providers.base import EmbeddingModel
from rag_app.providers.calibration import (
    PAIRS,
    calibrate,
    find_calibration,
    keep_calibration,
)
from rag_app.providers.fake import FakeEmbedder


def test_unrelated_texts_give_the_centre_and_good_hits_the_top():
    model = calibrate("m", [[1.0, 0.0], [0.0, 1.0]], [[0.8, 0.6], [0.6, 0.8]])

    assert model == EmbeddingModel("m", dimensions=2, centre=0.6, spread=0.2)


def test_a_model_that_tells_nothing_apart_still_gets_a_spread_to_divide_by():
    same = [[1.0, 0.0], [1.0, 0.0]]

    assert calibrate("m", same, same).spread == 0.05


async def test_the_pairs_tell_related_from_unrelated_even_by_words_alone():
    questions = await FakeEmbedder().embed([q for q, _ in PAIRS], kind="query")
    passages = await FakeEmbedder().embed([p for _, p in PAIRS], kind="passage")

    model = calibrate("fake", questions, passages)

    assert abs(model.centre) < 0.1
    assert model.spread > 0.3


def test_what_was_measured_is_found_again_beside_others(tmp_path: Path):
    one = EmbeddingModel("openai/one", 8, 0.1, 0.4)
    two = EmbeddingModel("openai/two", 16, 0.2, 0.5)
    keep_calibration(tmp_path / "home", one)
    keep_calibration(tmp_path / "home", two)

    assert find_calibration(tmp_path / "home", "openai/one") == one
    assert find_calibration(tmp_path / "home", "openai/two") == two
    assert find_calibration(tmp_path / "home", "openai/three") is None


@pytest.mark.parametrize("text", ["", "{", "[]", json.dumps({"m": {"name": "m"}})])
def test_a_damaged_record_counts_as_none(tmp_path: Path, text: str):
    (tmp_path / "embedding-models.json").write_text(text)

    assert find_calibration(tmp_path, "m") is None
