"""What a person does, in a real browser against the finished build."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, Request, expect

from tests.support.app import App, run_app
from tests.support.library import write_pdf
from tests.support.loopback import Asked, Loopback, Reply, serve
from tests.support.model_server import ModelServer, model_server
from tests.support.youtube_server import FakeVideo, Track, serve_youtube

pytestmark = [pytest.mark.integration, pytest.mark.browser]

SOON = 30_000  # ms: long enough for a busy machine
INGESTED = 90_000
expect.set_options(timeout=SOON)
VIDEO = "dQw4w9WgXcQ"

SCRIPTED_PAGE = """<!doctype html><html lang="en"><head><title>The lighthouse</title></head>
<body><div id="root"></div><script>
setTimeout(() => {
  const words = "The lighthouse at Cape Sorrow was lit for the first time in 1861 by Ada Quill. ";
  document.getElementById("root").innerHTML =
    "<article><h1>The lighthouse</h1><p>" + words + "</p><p>" +
    "Its lamp burned whale oil until the keeper asked for paraffin. ".repeat(12) + "</p></article>";
}, 300);
</script></body></html>"""

BEES = [
    "A colony of honey bees has one queen and up to fifty thousand workers.",
    "The waggle dance was described by Karl von Frisch in 1927. It tells the way to flowers.",
    "In winter the cluster keeps its core at thirty-five degrees by shivering.",
]
NOTE = "# Garden\n\n## Pruning\n\nApple trees are pruned in February, before the sap rises.\n"


# what happens on a page may be over before a test looks, so the page itself notes it
NOTE_FIRST_SOURCES = """() => {
  new MutationObserver((_, observer) => {
    if (!document.querySelector(".source-card")) return;
    window.answerAtFirstSource = document.querySelector(".answer-text")?.textContent ?? "";
    observer.disconnect();
  }).observe(document.body, { childList: true, subtree: true });
}"""
NOTE_EACH_STATUS = """row => {
  const seen = [row.dataset.status];
  new MutationObserver(records => {
    seen.push(...records.map(record => record.oldValue), row.dataset.status);
    row.dataset.statuses = seen.join(" ");
  }).observe(row, { attributeFilter: ["data-status"], attributeOldValue: true });
}"""


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with model_server() as server:
        server.streams_only = True  # how often a rewrite or a rerank is asked for is not told here
        yield server


@pytest.fixture(scope="module")
def site() -> Iterator[Loopback]:
    def answer(asked: Asked) -> Reply:
        return Reply(SCRIPTED_PAGE) if asked.path == "/lighthouse" else Reply("", 404)

    with serve(answer) as running:
        yield running


@pytest.fixture(scope="module")
def app(model: ModelServer, site: Loopback) -> Iterator[App]:
    talk = FakeVideo(
        title="A talk on glaciers",
        seconds=300,
        tracks=[
            Track(
                "en",
                [
                    (0.0, 5.0, "Welcome to this talk about ice."),
                    (95.0, 6.0, "The Aletsch glacier is the longest glacier of the Alps."),
                    (200.0, 5.0, "Thank you for listening."),
                ],
            )
        ],
    )
    with (
        serve_youtube({VIDEO: talk}) as youtube,
        run_app(
            PINCITE_CHAT_MODEL="openai/test",
            PINCITE_CHAT_API_BASE=model.openai_url,
            OPENAI_API_KEY="x",
            PINCITE_ALLOWED_ADDRESSES=site.address,
            PINCITE_YOUTUBE_URL=youtube.url(""),
        ) as running,
    ):
        yield running


async def ask(page: Page, question: str) -> None:
    await page.fill("#question", question)
    # the button sees the words only once the page is alive
    await expect(page.locator("#ask")).to_be_enabled()
    await page.press("#question", "Enter")


async def open_library(app: App, page: Page) -> None:
    """Open the library and wait until it is alive, which the list shows."""
    await page.goto(f"{app.url}/library/")
    await expect(page.locator(".document-row, #library-empty").first).to_be_visible()


async def test_the_whole_story(
    app: App, model: ModelServer, site: Loopback, page: Page, tmp_path: Path
) -> None:
    strangers: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((app.url, app.url.replace("http", "ws"), "data:", "blob:")):
            strangers.append(request.url)

    page.on("request", note)
    write_pdf(tmp_path / "bees.pdf", BEES, title="On bees")
    (tmp_path / "garden.md").write_text(NOTE)

    await open_library(app, page)
    await page.set_input_files(
        "#drop-zone input[type=file]", [tmp_path / "bees.pdf", tmp_path / "garden.md"]
    )
    for address in (site.url("/lighthouse"), f"https://youtu.be/{VIDEO}"):
        await page.fill("#url", address)
        await page.click("#add-url")
        await expect(page.locator("#url")).to_have_value("")
    ready = page.locator(".document-row[data-status=ready]")
    await expect(ready).to_have_count(4, timeout=INGESTED)
    for title in ("On bees", "Garden", "The lighthouse", "A talk on glaciers"):
        await expect(ready.filter(has_text=title)).to_have_count(1)

    model.reply(
        "Karl von Frisch described the waggle dance in 1927 [1]. It tells the way to flowers [1]."
    )
    model.piece_seconds = 0.15
    await page.goto(app.url)
    await page.evaluate(NOTE_FIRST_SOURCES)
    await ask(page, "Who described the waggle dance of the bees?")
    turn = page.locator("[data-turn-status=done]")
    await expect(turn).to_contain_text("Karl von Frisch described the waggle dance")
    model.piece_seconds = 0.0
    # the sources stood there before the first word
    assert await page.evaluate("window.answerAtFirstSource") == ""

    await turn.locator(".cite").first.click()
    sheet = page.locator("#evidence-page")
    await expect(sheet).to_be_visible(timeout=SOON)
    assert "/pages/2.png" in (await sheet.get_attribute("src") or "")
    await expect(page.locator("#page-position")).to_contain_text("2")
    await expect(page.locator(".mark-box").first).to_be_visible(timeout=SOON)
    await sheet.evaluate("image => image.decode()")
    assert await sheet.evaluate("image => image.naturalWidth") > 400
    words = page.locator("#evidence .cited-words")
    await expect(words).to_contain_text("described by Karl von Frisch")
    # the same source behind another statement opens at other words
    await turn.locator(".cite").nth(1).click()
    await expect(words).to_contain_text("tells the way to flowers")
    await page.click("#close-evidence")

    model.reply("Apple trees are pruned in February [1].")
    await ask(page, "And when are apple trees pruned?")
    await open_citation(page, "Apple trees are pruned")
    await expect(page.locator("#evidence mark").first).to_contain_text("pruned in February")
    await page.click("#close-evidence")

    model.reply("It was first lit in 1861 [1].")
    await ask(page, "When was the lighthouse at Cape Sorrow lit for the first time?")
    await open_citation(page, "first lit in 1861")
    link = await page.locator("#live-link").get_attribute("href")
    assert link is not None
    assert link.startswith(site.url("/lighthouse#:~:text="))
    await page.click("#close-evidence")

    model.reply("The Aletsch glacier is [1].")
    await ask(page, "Which glacier is the longest of the Alps?")
    await open_citation(page, "The Aletsch glacier")
    await expect(page.locator(".transcript")).to_contain_text("Aletsch")
    assert strangers == [], "nothing is loaded from any other host"
    await page.route("**/youtube-nocookie.com/**", lambda route: route.abort())
    await page.click("#play")
    frame = await page.locator("#player").get_attribute("src")
    assert frame is not None
    assert re.search(rf"youtube-nocookie\.com/embed/{VIDEO}\?.*start=9[3-7]", frame)


async def open_citation(page: Page, words: str) -> None:
    """Open the first citation of the turn that says these words."""
    turn = page.locator("[data-turn-status=done]").filter(has_text=words).last
    await expect(turn).to_be_visible(timeout=SOON)
    await turn.locator(".cite").first.click()
    await expect(page.locator("#evidence")).to_be_visible(timeout=SOON)


async def test_a_reload_in_mid_answer_shows_the_same_answer_going_on(
    app: App, model: ModelServer, page: Page
) -> None:
    await with_a_document(app)
    words = " ".join(f"word{n}" for n in range(120))
    model.reply(f"The answer begins here and goes on: {words} and ends here [1].")
    model.piece_seconds = 0.1
    await page.goto(app.url)
    await ask(page, "What is said about tides?")
    await expect(page.locator("#main")).to_contain_text("word5")

    await page.reload()

    await expect(page.locator("#main")).to_contain_text("The answer begins here")
    model.piece_seconds = 0.0
    turn = page.locator("[data-turn-status=done]")
    await expect(turn).to_contain_text("and ends here", timeout=60_000)
    text = await turn.inner_text()
    assert text.count("The answer begins here") == 1
    assert [int(n) for n in re.findall(r"word(\d+)", text)] == list(range(120))


async def test_a_stopped_answer_keeps_what_was_written(
    app: App, model: ModelServer, page: Page
) -> None:
    await with_a_document(app)
    model.reply("Some words that come slowly " * 50)
    model.piece_seconds = 0.1
    await page.goto(app.url)
    await ask(page, "What is said about tides?")
    await expect(page.locator("#main")).to_contain_text("words that come")
    await page.click("#stop")
    turn = page.locator("[data-turn-status=stopped]")
    await expect(turn).to_contain_text("Some words that come")
    announced = page.locator("#announcer")
    await expect(announced).to_contain_text("Stopped. Some words that come")
    await expect(announced).not_to_contain_text("Answer finished")
    model.behave()
    await page.reload()
    await expect(turn).to_contain_text("Some words that come")


async def test_a_failed_document_says_why_and_can_be_tried_again(
    app: App, page: Page, tmp_path: Path
) -> None:
    write_pdf(tmp_path / "scan-of-a-letter.pdf", ["", ""])
    await open_library(app, page)
    await page.set_input_files("#drop-zone input[type=file]", tmp_path / "scan-of-a-letter.pdf")
    row = page.locator(".document-row").filter(has_text="scan-of-a-letter")
    await expect(row).to_have_attribute("data-status", "failed", timeout=INGESTED)
    await expect(row.locator(".document-error")).to_contain_text("scan-of-a-letter")

    await row.evaluate(NOTE_EACH_STATUS)
    await row.locator("button.retry").click()

    await expect(row).to_have_attribute(
        "data-statuses", re.compile(r"^failed.* (queued|running)\b.* failed$"), timeout=INGESTED
    )
    await expect(row).to_have_attribute("data-status", "failed")


async def test_a_removed_document_is_gone_from_list_and_answers(
    app: App, page: Page, tmp_path: Path
) -> None:
    (tmp_path / "secret.md").write_text("# Recipe\n\nThe secret of the sauce is burnt butter.\n")
    await open_library(app, page)
    await page.set_input_files("#drop-zone input[type=file]", tmp_path / "secret.md")
    row = page.locator(".document-row").filter(has_text="Recipe")
    await expect(row).to_have_attribute("data-status", "ready", timeout=INGESTED)
    assert "burnt butter" in app.command("search", "secret of the sauce", "--json")

    await row.locator("button.remove").click()
    await row.locator(".confirm .danger, button.danger").first.click()

    await expect(row).to_have_count(0)
    assert "burnt butter" not in app.command("search", "secret of the sauce", "--json")


async def test_a_second_tab_sees_what_is_asked_in_the_first(
    app: App, model: ModelServer, page: Page
) -> None:
    await with_a_document(app)
    model.reply("Tides follow the moon [1].")
    await page.goto(app.url)
    await ask(page, "What do tides follow?")
    await expect(page.locator("[data-turn-status=done]")).to_have_count(1)
    second = await page.context.new_page()
    await second.goto(page.url)
    await expect(second.locator("[data-turn-status=done]")).to_have_count(1)

    words = " ".join(f"word{n}" for n in range(100))
    model.reply(f"They also follow the sun: {words} [1].")
    model.piece_seconds = 0.1
    await ask(page, "And what else?")

    # it grows there, and ends there
    running = second.locator("[data-turn-status=running]")
    await expect(running).to_contain_text("And what else?")
    await expect(running).to_contain_text("word3")
    model.behave()
    await expect(second.locator("[data-turn-status=done]")).to_have_count(2)
    await expect(second.locator("[data-turn-status=done]").last).to_contain_text("word99")
    await expect(second.locator(".conversation").first).to_be_visible()


async def test_an_address_of_this_computer_is_refused_beside_the_field(
    app: App, page: Page
) -> None:
    await open_library(app, page)
    await page.fill("#url", "http://localhost:1/secret")
    await page.click("#add-url")

    await expect(page.locator("#url-error")).to_contain_text("this computer")
    await expect(page.locator(".document-row").filter(has_text="localhost:1")).to_have_count(0)


async def test_a_long_answer_costs_little_on_the_websocket(
    app: App, model: ModelServer, page: Page
) -> None:
    await with_a_document(app)
    paragraph = "Tides follow the moon and the sun, and the coast decides how high they rise. " * 4
    model.reply("\n\n".join(f"{paragraph}[1]" for _ in range(29)))
    received: list[int] = []
    page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))),
    )
    await page.goto(app.url)
    await expect(page.locator("#question")).to_be_visible(timeout=SOON)
    await asyncio.sleep(1)
    before = sum(received)
    model.piece_seconds = 0.005
    await ask(page, "What is said about tides?")
    turn = page.locator("[data-turn-status=done]")
    await expect(turn).to_have_count(1, timeout=120_000)
    model.behave()

    # about 9,000 characters, 2,000 tokens
    assert sum(received) - before < 250_000


async def with_a_document(app: App) -> None:
    """Let the library hold something to cite."""
    note = app.home.parent / "tides.md"
    if not note.exists():
        note.write_text("# Tides\n\nTides follow the moon and the sun.\n")
        await asyncio.to_thread(app.command, "add", str(note))
