"""What set-up decides by itself; that it works is seen whenever these tests run after it."""

import ast
import importlib.util
import os
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "setup.py"


@pytest.fixture(scope="module")
def setup() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pincite_setup", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_old_python_can_read_it_as_far_as_the_message() -> None:
    assert ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 7))


def test_an_old_python_is_named_with_the_way_out(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(setup.shutil, "which", lambda name: None)

    with pytest.raises(SystemExit):
        setup.use_new_python()
    printed = capsys.readouterr().err
    assert f"{sys.executable} is Python 3.9.2" in printed
    assert "make run PYTHON=" in printed


def test_an_old_python_hands_over_to_the_newest_one_on_the_path(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(
        setup.shutil, "which", {"python3.12": "/a/3.12", "python3.11": "/a/3.11"}.get
    )
    monkeypatch.setattr(os, "execv", lambda path, arguments: started.append(path))

    with pytest.raises(SystemExit):  # execv itself does not return
        setup.use_new_python()
    assert started[0] == "/a/3.12"


def test_npm_failures_show_its_error_lines_and_others_their_last_ones(setup: ModuleType) -> None:
    npm = "npm error code E404\nnpm silly timer\n  1796083679952\nnpm verbose exit 1\n"

    assert setup.telling_lines(npm) == ["npm error code E404"]
    assert setup.telling_lines("one\n\ntwo\n") == ["one", "two"]


def test_pages_are_built_anew_when_their_sources_change_and_only_then(setup: ModuleType) -> None:
    sources = {path.relative_to(ROOT).as_posix() for path in setup.page_sources()}

    assert {"rag_app/rag_app.py", "rxconfig.py", "requirements.txt"} <= sources
    assert "assets/pincite.css" in sources
    assert any(path.startswith("rag_app/ui/") for path in sources)
    assert not any("__pycache__" in path or "external" in path for path in sources)
    assert not any(path.startswith("rag_app/query/") for path in sources)


def test_what_is_done_is_noted_beside_what_was(setup: ModuleType, tmp_path: Path) -> None:
    stamp = tmp_path / "stamp.json"
    setup.write_stamp(stamp, first="1")
    setup.write_stamp(stamp, second="2")

    assert setup.read_stamp(stamp) == {"first": "1", "second": "2"}
    assert setup.read_stamp(tmp_path / "missing.json") == {}


@pytest.mark.parametrize(
    ("dev", "days_since", "tries"),
    [(True, 0, 0), (True, 9, 0), (False, 0.9, 0), (False, 1.1, 1), (True, None, 1)],
)
def test_a_browser_that_cannot_be_had_is_tried_for_by_no_check_and_once_a_day_by_the_app(
    setup: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    dev: bool,
    days_since: float | None,
    tries: int,
) -> None:
    tried: list[object] = []
    monkeypatch.setattr(setup, "STAMP", tmp_path / "stamp.json")
    monkeypatch.setattr(setup, "browser_path", lambda: "")
    monkeypatch.setattr(setup, "fetch_browser", lambda step: tried.append(step))
    monkeypatch.setattr(setup, "install_browser", lambda step: False)
    if days_since is not None:
        then = time.time() - days_since * setup.DAY_SECONDS
        setup.write_stamp(setup.STAMP, browser="none", browser_tried=then)

    assert setup.find_browser(dev) == bool(tries)
    assert not setup.find_browser(dev)  # what was tried now is not tried again
    assert len(tried) == tries


def test_variables_that_lead_out_of_the_virtual_environment_are_dropped(setup: ModuleType) -> None:
    assert setup.clean({"PIP_TARGET": "/x", "PYTHONPATH": "/y", "PIP_CERT": "/z"}) == {
        "PIP_CERT": "/z"
    }
