"""Reads the packed weights of multilingual-e5-small: plain arrays, nothing in them is executed."""

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

BLOCK = 32
"""Weights that share one scale in the 4-bit form."""

BLOCK_BYTES = 18
"""A 16-bit scale, then 16 bytes: byte j holds weight j (low half) and weight j + 16 (high half)."""

_BLOCK_TYPE = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])
_PLAIN, _PACKED = 0, 1
_MAGIC = b"E5S1"


@dataclass(frozen=True)
class Shape:
    """The sizes of the network."""

    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    epsilon: float


@dataclass(frozen=True)
class Vocabulary:
    """The pieces of the tokenizer with their scores, and what each odd character becomes."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    begin: int
    end: int
    padding: int
    unknown: int
    replacements: dict[int, str]


@dataclass(frozen=True)
class _Place:
    packed: bool
    count: int
    offset: int


class Pack:
    """The open file: its shape, its vocabulary and its tensors by name."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self._data[:4] != _MAGIC:
            raise ValueError(f"{path} does not hold the packed model")
        cursor = _Cursor(self._data, 8)
        hidden, layers, heads, inner, words, positions, _types = cursor.take("<7i")
        epsilon, block = cursor.take("<fi")
        if block != BLOCK:
            raise ValueError(f"{path} packs {block} weights together instead of {BLOCK}")
        self.shape = Shape(hidden, layers, heads, inner, words, positions, epsilon)
        self.vocabulary = _read_vocabulary(cursor)
        self._places = _read_places(cursor)

    def packed(self, name: str) -> np.ndarray:
        """Return a tensor's bytes as they are, one row for each block."""
        place = self._places[name]
        blocks = place.count // BLOCK
        return np.frombuffer(self._data, np.uint8, blocks * BLOCK_BYTES, place.offset).reshape(
            blocks, BLOCK_BYTES
        )

    def tensor(self, name: str) -> np.ndarray:
        """Return a tensor as flat 32-bit floats."""
        place = self._places[name]
        if place.packed:
            return unpack(self.packed(name)).reshape(-1)
        return np.frombuffer(self._data, "<f4", place.count, place.offset)


def unpack(blocks: np.ndarray) -> np.ndarray:
    """Turn packed blocks, `(..., 18)` bytes, into floats, `(..., 32)`."""
    rows = np.ascontiguousarray(blocks).view(_BLOCK_TYPE)[..., 0]
    halves = rows["halves"]
    levels = np.concatenate([halves & 15, halves >> 4], axis=-1).astype(np.float32) - 8
    return levels * rows["scale"].astype(np.float32)[..., None]


class _Cursor:
    """A place in the file that moves on with each read."""

    def __init__(self, data: mmap.mmap, offset: int) -> None:
        self.data = data
        self.offset = offset

    def take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self.data, self.offset)
        self.offset += struct.calcsize(form)
        return values

    def take_array(self, form: str, count: int) -> np.ndarray:
        array = np.frombuffer(self.data, form, count, self.offset)
        self.offset += array.nbytes
        return array

    def take_bytes(self, count: int) -> bytes:
        self.offset += count
        return self.data[self.offset - count : self.offset]


def _read_vocabulary(cursor: _Cursor) -> Vocabulary:
    count, begin, end, padding, unknown = cursor.take("<5i")
    (size,) = cursor.take("<Q")
    starts = cursor.take_array("<u4", count + 1).tolist()
    scores = cursor.take_array("<f4", count).tolist()
    text = cursor.take_bytes(size)
    pieces = (text[starts[i] : starts[i + 1]].decode() for i in range(count))

    _entries, size = cursor.take("<iI")
    stop = cursor.offset + size
    replacements = {}
    while cursor.offset < stop:
        code_point, length = cursor.take("<IB")
        replacements[code_point] = "".join(map(chr, cursor.take(f"<{length}I")))
    return Vocabulary(tuple(pieces), tuple(scores), begin, end, padding, unknown, replacements)


def _read_places(cursor: _Cursor) -> dict[str, _Place]:
    (tensors,) = cursor.take("<i")
    places = {}
    for _ in range(tensors):
        (length,) = cursor.take("<H")
        name = cursor.take_bytes(length).decode()
        kind, count, offset, _bytes = cursor.take("<BIQQ")
        if kind not in {_PLAIN, _PACKED}:
            raise ValueError(f"tensor {name} has the unknown form {kind}")
        places[name] = _Place(kind == _PACKED, count, offset)
    return places
