"""Makes the pictures in docs/ from the running app with a small generated library."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

# this script does nothing without a browser
from playwright.sync_api import Browser, Page, expect, sync_playwright  # noqa: TID253

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from rag_app.database.server import start_server  # noqa: E402
from rag_app.providers.base import Message  # noqa: E402
from rag_app.providers.fake import numbered_passages  # noqa: E402
from scripts.sample_library import (  # noqa: E402
    VIDEO_ID,
    VIDEO_LINES,
    WEB_PAGE,
    write_files,
)
from tests.support.app import BROWSER_FLAGS, App, run_app  # noqa: E402
from tests.support.loopback import Loopback, Reply, serve  # noqa: E402
from tests.support.model_server import ModelServer, model_server  # noqa: E402
from tests.support.youtube_server import FakeVideo, Track, serve_youtube  # noqa: E402

DOCS = ROOT / "docs"
SCREENS = {"desktop": (1440, 900), "phone": (390, 844)}
THEMES = ("light", "dark")
SITE = "bees.example"
READY = 5  # documents; the sixth is damaged
QUESTION = "How do bees keep warm in winter?"
# each sentence with words of the passage that it cites
ANSWER = (
    ("Below ten degrees the bees draw together into a cluster", "draw together into a cluster"),
    (
        "In its core they hold about twenty degrees by trembling with their flight muscles; ten "
        "thousand bees give off about forty watts",
        "trembling with their flight muscles",
    ),
    (
        "The wings stay still meanwhile, because a bee can uncouple them from the muscle",
        "puts a car in neutral",
    ),
    ("The fuel is honey, about a kilogram a month while there is no brood", "fuel is honey"),
    (
        "You can hear the work from outside as a low, even hum, and each opening of the hive costs "
        "them a day of heating",
        "each of those bees trembles",
    ),
)


def main() -> None:
    """Write the pictures in docs/: light and dark, desktop and phone; X-ray and evaluation once."""
    DOCS.mkdir(exist_ok=True)
    with running_app() as (app, model, site), sync_playwright() as playwright:
        flags = [*BROWSER_FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        found = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=found, args=flags)
        page = browser.new_page()
        fill_library(page, app, site)
        name_site(app, site)
        address = ask(page, app, model)
        measure(page, app)
        for theme in THEMES:
            for screen in SCREENS:
                take(browser, app, address, theme, screen)
        browser.close()


@contextmanager
def running_app() -> Iterator[tuple[App, ModelServer, Loopback]]:
    """Run the app with a web site, a video site and a model of our own."""
    lines = [(float(second), 4.0, text) for second, text in VIDEO_LINES]
    video = FakeVideo("Listening to a hive in winter", [Track("en", lines)], seconds=180)
    with (
        model_server() as model,
        serve(lambda asked: Reply(WEB_PAGE)) as site,
        serve_youtube({VIDEO_ID: video}) as youtube,
        run_app(
            PINCITE_CHAT_MODEL="openai/sample",
            PINCITE_CHAT_API_BASE=model.openai_url,
            OPENAI_API_KEY="none",
            PINCITE_ALLOWED_ADDRESSES=site.address,
            PINCITE_YOUTUBE_URL=youtube.url(""),
        ) as app,
    ):
        model.streams_only = True
        yield app, model, site


def fill_library(page: Page, app: App, site: Loopback) -> None:
    """Drop the files and paste the addresses, as a person would."""
    page.goto(f"{app.url}/library/")
    page.wait_for_selector("#library-empty")
    with tempfile.TemporaryDirectory() as folder:
        for path in write_files(Path(folder)):
            page.set_input_files("#drop-zone input[type=file] >> nth=0", path)
            page.wait_for_selector(f".document-row:has-text('{path.name}')")
        for address in (f"https://www.youtube.com/watch?v={VIDEO_ID}", site.url("/heater-bees")):
            page.fill("#url", address)
            page.click("#add-url")
            expect(page.locator("#url")).to_have_value("")
        ready = page.locator(".document-row[data-status=ready]")
        expect(ready).to_have_count(READY, timeout=120_000)


def name_site(app: App, site: Loopback) -> None:
    """Give the web page of this computer the address that it would have elsewhere."""
    server = start_server(app.home)  # attaches to the one that runs
    try:
        with psycopg.connect(server.dsn) as connection:
            connection.execute(
                "update document set uri = %s where uri = %s",
                (f"https://{SITE}/heater-bees", site.url("/heater-bees")),
            )
    finally:
        server.stop()  # only lets go of it: the app uses it


def ask(page: Page, app: App, model: ModelServer) -> str:
    """Ask once to learn the numbers of the passages, then again, and return the address."""
    put(page, app)
    request = next(one for one in reversed(model.requests) if one.body.get("stream"))
    prompt = [Message(one["role"], one["content"]) for one in request.body["messages"]]
    numbers = {
        " ".join(sentences): number for number, sentences in numbered_passages(prompt).items()
    }
    page.hover(".conversation")
    page.click(".conversation-actions .icon >> nth=1")
    page.click(".confirm .danger")
    page.wait_for_selector(".conversation", state="detached")
    for question in ("Wann blüht die Winterlinde?", "What did I do on 21 December?"):
        put(page, app, question)
    model.reply(
        " ".join(
            f"{sentence} [{next(n for text, n in numbers.items() if words in text)}]."
            for sentence, words in ANSWER
        )
    )
    return put(page, app)


def measure(page: Page, app: App) -> None:
    """Call the answers right, and measure how well their places are found."""
    page.wait_for_selector(".conversation-link")
    for conversation in page.locator(".conversation-link").all():
        conversation.click()
        expect(page.locator(".conversation[data-open=true]")).to_have_text(
            conversation.inner_text()
        )
        right = page.locator("[data-verdict=right]")
        right.click()
        expect(right).to_have_attribute("aria-pressed", "true")
    page.goto(f"{app.url}/evaluation/")
    page.fill("input[name=variants]", "hybrid+weight=0.2")
    page.click("#start-evaluation")
    page.wait_for_selector("#measures", timeout=60_000)


def put(page: Page, app: App, question: str = QUESTION) -> str:
    """Ask in a new conversation and wait for the end of the answer."""
    page.goto(f"{app.url}/")
    page.wait_for_selector(".welcome")
    page.fill("#question", question)
    page.press("#question", "Enter")
    page.wait_for_selector("[data-turn-status=done]", timeout=60_000)
    return page.url


def take(browser: Browser, app: App, address: str, theme: str, screen: str) -> None:
    """Take the pictures of one theme on one screen."""
    width, height = SCREENS[screen]
    is_phone = screen == "phone"
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=theme,
        device_scale_factor=2 if is_phone else 1,
        is_mobile=is_phone,
        has_touch=is_phone,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(".cite")
    page.wait_for_timeout(400)  # fonts
    if is_phone:
        save(page, f"chat-{theme}-{screen}")
    page.click(".cite >> nth=1")
    page.wait_for_selector(".mark-box")
    page.mouse.move(5, 5)
    page.wait_for_timeout(400)
    save(page, f"evidence-{theme}-{screen}" if is_phone else f"chat-{theme}-{screen}")
    if (theme, screen) == ("light", "desktop"):
        page.click(".xray-button")
        page.wait_for_selector(".xray-rows li")
        page.locator("section:has(> .timings)").evaluate("section => section.scrollIntoView()")
        page.wait_for_timeout(400)
        save(page, f"xray-{theme}-{screen}")
        page.goto(f"{app.url}/evaluation/")
        page.wait_for_selector("#measures")
        page.wait_for_timeout(400)
        save(page, f"evaluation-{theme}-{screen}")
    page.goto(f"{app.url}/library/")
    page.wait_for_selector(".document-row")
    page.wait_for_timeout(400)
    save(page, f"library-{theme}-{screen}")
    context.close()


def save(page: Page, name: str) -> None:
    """Write one picture."""
    path = DOCS / f"{name}.png"
    page.screenshot(path=path)
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
