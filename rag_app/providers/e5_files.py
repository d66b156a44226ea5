"""Where the converted embedding model lives and how to tell that it is whole."""

import hashlib
import json
from pathlib import Path

CONVERSION = "int8-v1"
"""Part of the model's name: raise it when the conversion changes what the vectors are."""

MODEL_NAME = f"me5-small-q4/{CONVERSION}"
PACK_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

ENCODER = "encoder.onnx"
WORDS = "word_q4.npy"
POSITIONS = "pos.npy"
PIECES = "e5.spm"
REPLACEMENTS = "norm.json"
FILES = (ENCODER, WORDS, POSITIONS, PIECES, REPLACEMENTS)
MANIFEST = "manifest.json"


def write_manifest(folder: Path) -> None:
    """Say what the files in `folder` were made of; written last, when all of them are there."""
    files = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": file_sha256(folder / name)}
        for name in FILES
    }
    manifest = {"conversion": CONVERSION, "pack_sha256": PACK_SHA256, "files": files}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def is_whole(folder: Path, *, thorough: bool = False) -> bool:
    """Whether `folder` holds this conversion of this model with every file at its full size.

    `thorough` reads the files too and compares their hashes, which takes a fraction of a second.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        known = manifest["conversion"] == CONVERSION and manifest["pack_sha256"] == PACK_SHA256
        return known and all(
            _is_same(folder / name, manifest["files"][name], thorough) for name in FILES
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def file_sha256(path: Path) -> str:
    """Return the hash of a file as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_same(path: Path, entry: dict, thorough: bool) -> bool:
    if path.stat().st_size != entry["bytes"]:
        return False
    return not thorough or file_sha256(path) == entry["sha256"]
