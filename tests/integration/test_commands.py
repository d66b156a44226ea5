"""Commands as a person types them, each in a process of its own on a new home."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.app import ROOT

pytestmark = pytest.mark.integration


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("command")
    for part in (folder, *folder.parents):
        if os.access(part, os.W_OK) and part.stat().st_uid == os.getuid() and part != Path("/tmp"):
            part.chmod(0o755)  # as root, the database runs as another user
    return folder / "home"


def run(home: Path, *arguments: str, model: str = "fake") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rag_app", *arguments],
        cwd=ROOT,
        env=os.environ | {"PINCITE_HOME": str(home), "PINCITE_EMBEDDING_MODEL": model},
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("documents", "show", "12345", "--json"),
        ("search", "anything", "--workspace", "nowhere"),
        ("search", "anything", "--json"),
    ],
)
def test_a_command_leaves_no_database_behind(home: Path, arguments: tuple[str, ...]) -> None:
    done = run(home, *arguments)

    assert done.returncode in (0, 1), done.stderr
    assert not (home / "pgdata" / "postmaster.pid").exists()


def test_a_note_is_added_by_a_worker_of_the_commands_own(home: Path, tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("# Tides\n\nTides follow the moon.\n")

    done = run(home, "add", str(tmp_path / "tides.md"), "--json")

    assert done.returncode == 0, done.stderr
    assert [row["status"] for row in json.loads(done.stdout)] == ["ready"]
    assert not (home / "pgdata" / "postmaster.pid").exists()


def test_a_library_is_embedded_again_with_the_model_in_use(home: Path, tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("# Tides\n\nTides follow the moon.\n")
    assert run(home, "add", str(tmp_path / "tides.md")).returncode == 0

    done = run(home, "embed", "--json", model="")
    again = run(home, "embed", "--json", model="")
    found = run(home, "search", "What do tides follow?", "--json", "--language", "en", model="")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["documents"] == 1
    assert json.loads(again.stdout)["documents"] == 0
    [passage] = json.loads(found.stdout)["passages"]
    assert passage["distance"] is not None
    nothing = run(home, "search", "What do tides follow?", "--json", "--language", "de", model="")
    assert json.loads(nothing.stdout)["passages"] == []
