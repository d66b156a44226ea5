"""What serve decides by itself."""

import pytest

from rag_app.serving import wants_browser

SCREEN = {"DISPLAY": ":0"}


@pytest.mark.parametrize(
    ("environ", "is_terminal", "is_root", "expected"),
    [
        (SCREEN, True, False, True),
        (SCREEN, False, False, False),
        (SCREEN, True, True, False),
        (SCREEN | {"CI": "true"}, True, False, False),
        (SCREEN | {"PINCITE_OPEN_BROWSER": "0"}, True, False, False),
        ({"PINCITE_OPEN_BROWSER": "1"}, False, True, True),
    ],
)
def test_the_browser_opens_for_a_person_at_a_desktop_or_when_asked(
    environ: dict[str, str], is_terminal: bool, is_root: bool, expected: bool
) -> None:
    assert wants_browser(environ, is_terminal=is_terminal, is_root=is_root) is expected


def test_without_a_screen_no_browser_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_app.serving.sys.platform", "linux")

    assert not wants_browser({}, is_terminal=True, is_root=False)
