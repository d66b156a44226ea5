from pathlib import Path

import numpy as np
import pytest

from rag_app.providers.e5_pack import Pack, Shape
from tests.support import tiny_pack


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    tiny_pack.write_pack(tmp_path / "pack", tiny_pack.make_tensors())
    return Pack(tmp_path / "pack")


def test_the_shape_is_read(pack):
    assert pack.shape == Shape(
        hidden=64,
        layers=2,
        heads=2,
        inner=128,
        vocabulary=len(tiny_pack.PIECES),
        positions=512,
        epsilon=pytest.approx(1e-12),
    )


def test_the_vocabulary_is_read(pack):
    assert pack.vocabulary.pieces == tiny_pack.PIECES
    assert pack.vocabulary.replacements == tiny_pack.REPLACEMENTS
    assert pack.vocabulary.scores[:3] == (0, -1, -2)
    assert (pack.vocabulary.begin, pack.vocabulary.end, pack.vocabulary.unknown) == (0, 2, 3)


def test_plain_tensors_are_exact_and_packed_ones_close(pack):
    for name, tensor in tiny_pack.make_tensors().items():
        error = np.abs(pack.tensor(name) - tensor.reshape(-1)).max()

        assert error <= (0.11 if tiny_pack.is_packed(name) else 0), name


def test_another_file_is_refused(tmp_path: Path):
    (tmp_path / "other").write_bytes(b"PK\x03\x04" + bytes(100))

    with pytest.raises(ValueError, match="does not hold the packed model"):
        Pack(tmp_path / "other")
