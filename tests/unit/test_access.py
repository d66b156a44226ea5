"""Who may ask: whatever a request says of itself, and however often it guesses."""

import asyncio
import os
import stat
import time
from dataclasses import replace
from pathlib import Path

import pytest

from rag_app import access
from rag_app.access import SignIn, is_our_page, is_password, is_valid_session, may_ask, new_session
from rag_app.settings import Settings, load_settings

HOST = "127.0.0.1:3000"
LAN = "192.168.1.20:3000"


@pytest.fixture
def locked(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, password="open sesame")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "WRONG_PASSWORD_SECONDS", 0.05)


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("", True),
        (f"http://{HOST}", True),
        ("http://localhost:3000", False),
        ("https://evil.example", False),
        ("http://[", False),
        ("http://[::1", False),
        ("null", False),
    ],
)
def test_only_our_own_page_may_send(tmp_path: Path, origin: str, allowed: bool) -> None:
    assert may_ask(Settings(home=tmp_path), "", HOST, origin) is allowed


@pytest.mark.parametrize(
    ("origin", "host", "allowed"),
    [
        (f"http://{HOST}", HOST, True),
        (f"http://{LAN}", LAN, True),
        ("http://nas.fritz.box:3000", "nas.fritz.box:3000", True),
        ("https://library.example", "127.0.0.1:3000", True),  # a proxy's, named by the person
        ("https://evil.example", LAN, False),
        (f"http://{LAN}", HOST, False),
        ("http://127.0.0.1:8000", HOST, False),
        ("", HOST, True),
        ("null", HOST, False),
        ("http://[", HOST, False),
    ],
)
def test_our_page_may_be_opened_at_any_address_of_the_machine(
    tmp_path: Path, origin: str, host: str, allowed: bool
) -> None:
    settings = Settings(home=tmp_path, origins=("https://library.example",))

    assert is_our_page(settings, origin, host) is allowed


def test_a_proxy_that_keeps_the_host_to_itself_is_named(tmp_path: Path) -> None:
    settings = load_settings(
        {"PINCITE_HOME": str(tmp_path), "PINCITE_ORIGINS": "https://a.example, https://b.example/"}
    )

    assert may_ask(settings, "", HOST, "https://b.example")
    assert not may_ask(settings, "", HOST, "https://c.example")


def test_a_session_holds_until_the_password_changes(locked: Settings) -> None:
    cookie = f"{access.COOKIE}={new_session(locked)}"

    assert is_valid_session(locked, cookie)
    assert not is_valid_session(replace(locked, password="other"), cookie)


@pytest.mark.parametrize(
    "value",
    ["", ".", "²³.ab", "9" * 5000 + ".ab", "1.ü", "1.\ud83d", f"{'9' * 400}.ab", "-1.ab", "1e9.ab"],
)
def test_no_cookie_can_break_the_check(locked: Settings, value: str) -> None:
    assert not is_valid_session(locked, f"{access.COOKIE}={value}")


@pytest.mark.parametrize("given", ["", "guess", "\ud83d", "open sesame\x00", "пароль"])
def test_no_guess_can_break_the_check(locked: Settings, given: str) -> None:
    assert not is_password(locked, given)


def test_a_password_of_any_script_is_known(tmp_path: Path) -> None:
    assert is_password(Settings(home=tmp_path, password="пароль"), "пароль")


def test_the_key_is_readable_by_its_user_alone_from_the_start(
    locked: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    link = Path.hardlink_to

    def look(path: Path, part: Path) -> None:
        seen.append(stat.S_IMODE(part.stat().st_mode))
        link(path, part)

    # no chmod may be needed: the file could be opened before it
    monkeypatch.setattr(Path, "chmod", lambda *_: None)
    monkeypatch.setattr(Path, "hardlink_to", look)
    before = os.umask(0)
    try:
        new_session(locked)
    finally:
        os.umask(before)

    assert seen == [0o600]
    assert [path.name for path in locked.home.iterdir()] == ["session.key"]


@pytest.mark.usefixtures("quick")
async def test_guesses_come_one_after_the_other_however_many_there_are(locked: Settings) -> None:
    sign_in = SignIn()
    started = time.monotonic()
    answers = await asyncio.gather(*(sign_in.check(locked, f"guess {n}") for n in range(4)))

    assert answers == [False] * 4
    assert time.monotonic() - started >= 4 * 0.05


@pytest.mark.usefixtures("quick")
async def test_a_right_guess_is_told_no_sooner_than_a_wrong_one_before_it(locked: Settings) -> None:
    sign_in = SignIn()
    started = time.monotonic()
    guess = asyncio.create_task(sign_in.check(locked, "guess"))
    await asyncio.sleep(0)

    assert await sign_in.check(locked, "open sesame")
    assert time.monotonic() - started >= 0.05
    assert await guess is False


async def test_the_right_password_alone_waits_for_nothing(locked: Settings) -> None:
    started = time.monotonic()

    assert await SignIn().check(locked, "open sesame")
    assert time.monotonic() - started < 0.5


@pytest.mark.usefixtures("quick")
async def test_a_flood_of_guesses_is_turned_away(locked: Settings) -> None:
    sign_in = SignIn()
    answers = await asyncio.gather(*(sign_in.check(locked, "guess") for _ in range(50)))

    assert answers.count(None) == 40
    assert await sign_in.check(locked, "open sesame")
