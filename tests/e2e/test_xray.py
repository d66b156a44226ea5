"""A question kept to a kind of document, how its answer was found, and why something is missing."""

import asyncio
from collections.abc import Iterator

import psycopg
import pytest
from playwright.async_api import Page, expect

from rag_app.database.server import start_server
from tests.support.app import App, run_app
from tests.support.library import write_pdf

pytestmark = [pytest.mark.integration, pytest.mark.browser]

expect.set_options(timeout=30_000)
NOTE = "# Notes on the dance\n\nThe waggle dance of the bees tells the way to the flowers.\n"
BOOK = ["The waggle dance of the bees was described by Karl von Frisch in 1927."]
QUESTION = "What is the waggle dance of the bees?"


@pytest.fixture(scope="module")
def app() -> Iterator[App]:
    with run_app(PINCITE_CHAT_MODEL="none") as running:
        folder = running.home.parent
        (folder / "dance.md").write_text(NOTE)
        write_pdf(folder / "frisch.pdf", BOOK, title="Frisch on bees")
        running.command("add", str(folder / "dance.md"), str(folder / "frisch.pdf"))
        yield running


async def ask(page: Page, question: str) -> None:
    await page.fill("#question", question)
    await expect(page.locator("#ask")).to_be_enabled()
    await page.press("#question", "Enter")


async def test_a_filtered_question_tells_how_it_was_found_and_why_not(app: App, page: Page) -> None:
    await page.goto(app.url)
    await expect(page.locator(".welcome")).to_be_visible()
    await page.click("#filter")
    await page.click(".choice[data-key=pdf]")
    await expect(page.locator(".chips .chip")).to_have_text("PDF")
    # without a chat model there is no step to choose
    await expect(page.locator(".choice[data-key=rerank]")).to_have_count(0)
    await page.keyboard.press("Escape")
    await expect(page.locator("#filter-panel")).to_be_hidden()
    await ask(page, QUESTION)

    turn = page.locator("[data-turn-status=done]")
    await expect(turn.locator(".source-card")).to_have_count(1)
    await expect(turn.locator(".source-card")).to_contain_text("Frisch on bees")
    await expect(turn.locator(".turn-scope")).to_have_text("Searched: PDF")

    await turn.locator(".xray-button").click()
    rows = page.locator("#xray ol.xray-rows > li")
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("Frisch on bees")
    await expect(page.locator("#xray .timings")).to_contain_text("In all")
    await page.click("[data-list=context]")
    await expect(page.locator("[data-list=context]")).to_have_attribute("aria-selected", "true")

    await page.fill("#why-document", "notes")
    await page.locator("#xray .found-titles button").click()
    told = page.locator("#xray .why .xray-rows > li")
    await expect(told.first).to_contain_text("Left out by the filter")
    await expect(told.first).to_contain_text("pdf")

    await rows.first.locator("button").click()
    await expect(page.locator("#evidence-page")).to_be_visible()
    await expect(page.locator("#xray")).to_be_hidden()
    await page.click("#back-to-xray")
    await expect(told.first).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.locator("#evidence")).to_be_hidden()

    await page.reload()
    await expect(turn.locator(".turn-scope")).to_have_text("Searched: PDF")
    # the filter holds in this tab until it is taken back
    await page.locator(".chips .chip").click()
    await expect(page.locator(".chips .chip")).to_have_count(0)
    await ask(page, QUESTION)
    await expect(turn).to_have_count(2)
    await expect(turn.nth(1).locator(".turn-scope")).to_have_count(0)
    await expect(turn.nth(1)).to_contain_text("Notes on the dance")


async def test_where_nothing_answers_the_missing_word_and_the_nearest_passages_stand(
    app: App, page: Page
) -> None:
    await page.goto(app.url)
    await ask(page, "What does Zanzibar export?")
    turn = page.locator("[data-turn-status=done]")

    for _ in range(2):
        await expect(turn.locator(".missing-words")).to_contain_text("Zanzibar")
        await expect(turn.locator(".searched")).to_contain_text("2 documents were searched")
        await page.reload()
    await turn.locator(".nearest .source-card").first.click()
    await expect(page.locator("#evidence .evidence-body")).to_be_visible()


async def test_documents_of_another_model_are_named_and_prepared_again(
    app: App, page: Page
) -> None:
    def become_of_another_model() -> None:
        server = start_server(app.home)  # attaches to the one that runs
        try:
            with psycopg.connect(server.dsn) as connection:
                connection.execute(
                    "insert into embedding_model (name, dimensions, centre, spread) "
                    "select 'another', dimensions, centre, spread from embedding_model limit 1"
                )
                another = "(select id from embedding_model where name = 'another')"
                connection.execute(f"update embedding set model_id = {another}")
                connection.execute(f"update snapshot set embedding_model_id = {another}")
        finally:
            server.stop()

    await asyncio.to_thread(become_of_another_model)
    await page.goto(f"{app.url}/library/")
    lacking = page.locator("#lacking")
    await expect(lacking).to_contain_text("2 documents were prepared with another model")

    await page.click("#embed-again")

    await expect(lacking).to_have_count(0, timeout=90_000)
