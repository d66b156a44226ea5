"""Commands on a real library: one JSON value each, exit codes, and batches that go on."""

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_app import chat, cli
from rag_app.errors import ProviderUnavailableError
from tests.support.library import write_pdf
from tests.support.loopback import Reply, serve

pytestmark = pytest.mark.integration

Run = Callable[..., tuple[int, Any]]


@pytest.fixture
def run(
    tmp_path: Path,
    database_dsn: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Runs a command with --json and returns its exit code and the one value it prints."""
    for name, value in {
        "PINCITE_HOME": str(tmp_path / "home"),
        "DATABASE_URL": database_dsn,
        "PINCITE_EMBEDDING_MODEL": "fake",
        "PINCITE_CHAT_MODEL": "none",
        "PINCITE_OLLAMA_URL": "",
    }.items():
        monkeypatch.setenv(name, value)

    def run(command: str, *arguments: str) -> tuple[int, Any]:
        with pytest.raises(SystemExit) as ended:
            cli.main([*command.split(), "--json", *arguments])
        assert isinstance(ended.value.code, int)
        return ended.value.code, json.loads(capsys.readouterr().out)

    return run


def test_a_batch_goes_on_past_what_cannot_be_read(run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    odd = notes / os.fsdecode(b"b\xffes.m\xffd")
    odd.write_text("# Bees\n\nA colony has one queen.")
    (notes / "ants.md").write_text("# Ants\n\nAn ant has six legs.")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        code, rows = run(
            "add",
            str(pipe),
            str(tmp_path / "socket"),
            "/dev/null",
            "http://[",
            os.fsdecode(b"http://a.example/\xff"),
            "x" * 300,
            str(tmp_path / "missing"),
            str(notes),
            "--no-wait",
        )

    assert code == 1
    assert [row["error"] for row in rows][:5] == [
        f'"{pipe}" is not a file.',
        f'"{tmp_path / "socket"}" is not a file.',
        '"/dev/null" is not a file.',
        '"http://[" is not a web address.',
        '"http://a.example/\ufffd" is not a web address.',
    ]
    assert [row["status"] for row in rows][5:] == ["failed", "failed", "queued", "queued"]
    assert [row["title"] for row in rows][7:] == ["ants.md", "b\ufffdes.m\ufffdd"]


def test_each_page_of_a_pdf_says_how_it_was_read(run: Run, tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "bees.pdf", ["A colony has one queen.", "", "Winter is cold."])
    _, [added] = run("add", str(path))

    shown = run("documents show", str(added["document_id"]))[1]

    assert [(page["page"], page["state"], page["reason"]) for page in shown["pages"]] == [
        (1, "text", None),
        (2, "empty", "holds no text"),
        (3, "text", None),
    ]
    assert shown["coverage"] == {"text": 2, "empty": 1}
    assert shown["warnings"] == added["warnings"]


def test_a_document_is_added_found_asked_for_shown_and_removed(run: Run, tmp_path: Path) -> None:
    note = tmp_path / "bees.md"
    note.write_text("# Bees\n\nA colony has one queen.")

    _, [added] = run("add", str(note))
    number = str(added["document_id"])

    assert (added["status"], added["error"]) == ("ready", None)
    assert run("search", "queen", "--source-type", "pdf")[1]["passages"] == []
    found = run("search", "queen", "--source-type", "markdown", "--since", "2020-01-01")[1]
    assert [passage["title"] for passage in found["passages"]] == ["Bees"]
    assert "queen" in run("ask", "How many queens has a colony?")[1]["answer"]
    asked = run("ask", "Has a colony a queen?", "--source-type", "markdown")[1]
    assert asked["conversation_id"] > 0
    how = run("xray", str(asked["turn_id"]))[1]
    assert how["turn_id"] == asked["turn_id"]
    assert [row["place"]["title"] for row in how["context"]] == ["Bees"]
    newest = run("xray", "--why", number)[1]
    assert newest["turn_id"] == asked["turn_id"]
    assert [place["stage"] for place in newest["places"]] == ["context"]
    assert run("documents show", number)[1]["content"].startswith("# Bees")
    assert run("documents diff", number)[1]["diff"] == []
    note.write_text(note.read_text().replace("one queen", "only one queen"))
    run("add", str(note))
    changed = run("documents diff", number)[1]["diff"]
    assert [line for line in changed if "queen" in line] == [
        "-A colony has one queen.",
        "+A colony has only one queen.",
    ]
    assert run("documents remove", number) == (
        0,
        {"document_id": added["document_id"], "status": "removed"},
    )


def test_a_site_is_added_with_its_pages(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "A colony has one queen, and she lays all of the eggs. " * 20
    links = "<a href='/spring'>Spring</a> <a href='/gone'>Gone</a>"
    start = Reply(
        f"<html><head><title>Bees</title></head><body><p>{words}</p>{links}</body></html>"
    )
    spring = Reply(f"<html><head><title>Spring</title></head><body><p>{words}</p></body></html>")
    pages = {"/": start, "/spring": spring}
    with serve(lambda asked: pages.get(asked.path, Reply("none", 404))) as site:
        monkeypatch.setenv("PINCITE_ALLOWED_ADDRESSES", site.address)
        _, rows = run("add", "--site", site.url("/"))

    assert [(row["status"], row["title"], row["source_type"]) for row in rows] == [
        ("ready", "Bees", "collection"),
        ("ready", "Bees", "web"),
        ("ready", "Spring", "web"),
    ]
    assert rows[0]["warnings"] == ["1 link led nowhere."]


@pytest.mark.parametrize(
    ("command", "argument"),
    [
        ("documents show", "12345"),
        ("documents show", "0"),
        ("documents show", "-1"),
        ("documents show", "99999999999999999999"),
        ("documents remove", "99999999999999999999"),
        ("ask --conversation 12345", "Who?"),
        ("xray", "12345"),
        ("xray --why 99999999999999999999", "1"),
        ("ask --conversation 99999999999999999999", "Who?"),
        ("search --workspace missing", "Who?"),
        ("add --workspace missing", "a.md"),
    ],
)
def test_what_is_not_there_is_told_as_one_value(run: Run, command: str, argument: str) -> None:
    code, told = run(command, argument)

    assert code == 1
    assert list(told) == ["error"]
    assert told["error"].startswith("There is no ")


def test_an_answer_that_fails_is_told_as_one_value(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise ProviderUnavailableError

    monkeypatch.setattr(chat.pipeline, "retrieve", fail)

    assert run("ask", "Who?") == (1, {"error": str(ProviderUnavailableError())})


def test_a_workspace_is_a_library_of_its_own(run: Run, tmp_path: Path) -> None:
    note = tmp_path / "bees.md"
    note.write_text("# Bees\n\nA colony has one queen.")

    assert run("workspaces add", "work") == (0, {"name": "work"})
    assert run("workspaces add", "work") == (0, {"name": "work"})
    assert run("workspaces") == (0, [{"name": "default"}, {"name": "work"}])
    assert run("add --workspace work --no-wait", str(note))[0] == 0
    assert len(run("documents --workspace work")[1]) == 1
    assert run("documents") == (0, [])
