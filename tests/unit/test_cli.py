"""What can be typed: wrong usage is told at once, and names of any bytes can be shown."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rag_app import cli
from rag_app.ingestion.sources import SOURCE_TYPES

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["bogus"],
        ["add"],
        ["add", ""],
        ["add", "a.md", " "],
        ["search"],
        ["search", ""],
        ["search", " \x01 "],
        ["ask", ""],
        ["search", "a", "--limit", "0"],
        ["search", "a", "--limit", "-3"],
        ["search", "a", "--limit", "101"],
        ["search", "a", "--limit", "000000001000"],
        ["search", "a", "--limit", "²"],
        ["search", "a", "--since", "yesterday"],
        ["search", "a", "--since", "0001-01-01T00:00:00+14:00"],
        ["search", "a", "--since", "9999-12-31T23:59:59-14:00"],
        ["search", "a", "--source-type", "bogus"],
        ["search", "a", "--language", "German"],
        ["search", "a", "--document", "x"],
        ["ask", "a", "--conversation", "x"],
        ["documents", "show", "x"],
        ["documents", "show", "9" * 5000],
        ["workspaces", "add", ""],
        ["workspaces", "add", "a\nb"],
        ["workspaces", "add", "x" * 101],
        ["evaluate", "nowhere", "--compare", "bogus"],
        ["evaluate"],
    ],
)
def test_wrong_usage_ends_with_2_before_anything_opens(
    arguments: list[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PINCITE_HOME", str(tmp_path / "home"))
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)

    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert (out, bool(err)) == ("", True)
    assert not (tmp_path / "home").exists()


def test_a_kind_of_source_that_is_none_is_answered_with_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        cli.main(["search", "a", "--source-type", "bogus"])

    kinds = ", ".join(SOURCE_TYPES)
    assert f"there are {kinds}, not bogus" in capsys.readouterr().err


def test_what_is_asked_for_is_read_whole() -> None:
    parsed = cli.build_parser().parse_args(
        ["search", "--limit", "100", "--since", "2025-01-31T00:00:00+00:00", "--", "-word"]
    )

    assert (parsed.question, parsed.limit) == ("-word", 100)
    assert parsed.since == datetime(2025, 1, 31, tzinfo=UTC)


@pytest.mark.parametrize("command", [[], ["search"], ["ask"], ["add"]])
def test_the_help_tells_how_to_write_words_with_a_dash(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.main([*command, "--help"])

    assert 'Words that begin with "-" go after "--".' in capsys.readouterr().out


def test_a_folder_is_its_files_without_what_is_hidden_below_it(tmp_path: Path) -> None:
    folder = tmp_path / ".notes" / "bees"
    for name in ("a.md", "deep/er/b.md", ".c.md", ".git/config", "deep/.venv/lib/d.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    os.mkfifo(folder / "pipe")

    assert cli._expand([str(folder), "e.md", "https://a.example/"]) == [
        str(folder / "a.md"),
        str(folder / "deep/er/b.md"),
        "e.md",
        "https://a.example/",
    ]


def test_a_name_of_any_bytes_can_be_shown() -> None:
    assert cli._printable(os.fsdecode(b"a\xffb.md")) == "a\ufffdb.md"
    assert cli._printable("мир.md") == "мир.md"


def test_a_reader_that_leaves_early_is_no_failure() -> None:
    code = (
        "import argparse; from rag_app import cli; "
        "write = lambda *_: [cli._print('line') for _ in range(100_000)] and 0; "
        "cli.build_parser = argparse.ArgumentParser; "
        "argparse.ArgumentParser.parse_args = lambda *_: argparse.Namespace(run=write); "
        "cli.main()"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert writer.stdout is not None
    assert writer.stderr is not None
    with writer.stdout as out:
        assert out.readline() == b"line\n"
    with writer.stderr as err:
        assert err.read() == b""
    assert writer.wait(60) == 0
