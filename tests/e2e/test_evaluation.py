"""An answer gets a verdict, its question becomes one to measure with, and the figures stay."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.support.app import App, run_app
from tests.support.library import write_pdf

pytestmark = [pytest.mark.integration, pytest.mark.browser]

expect.set_options(timeout=30_000)
NOTE = "# Notes on bread\n\nSourdough bread needs flour, water, salt and a day of patience.\n"
BOOK = ["On bread and tides.", "The waggle dance of the bees was described by Karl von Frisch."]
QUESTION = "Who described the waggle dance of the bees?"


@pytest.fixture(scope="module")
def app() -> Iterator[App]:
    with run_app(PINCITE_CHAT_MODEL="none") as running:
        folder = running.home.parent
        (folder / "bread.md").write_text(NOTE)
        write_pdf(folder / "frisch.pdf", BOOK, title="Frisch on bees")
        running.command("add", str(folder / "bread.md"), str(folder / "frisch.pdf"))
        yield running


async def ask(page: Page, app: App, question: str) -> None:
    await page.goto(app.url)
    await page.fill("#question", question)
    await expect(page.locator("#ask")).to_be_enabled()
    await page.press("#question", "Enter")
    await expect(page.locator("[data-turn-status=done]")).to_have_count(1)


def write_set(folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    records = {
        "corpus": {"_id": "bees", "title": "Bees", "text": BOOK[1]},
        "queries": {"_id": "q", "text": QUESTION},
    }
    for name, record in records.items():
        (folder / f"{name}.jsonl").write_text(json.dumps(record) + "\n")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tbees\t1\n")
    return folder


async def test_a_right_answer_is_measured_and_the_figures_stay(app: App, page: Page) -> None:
    await page.goto(f"{app.url}/evaluation/")
    await expect(page.locator("#golden-empty")).to_be_visible()
    await ask(page, app, QUESTION)
    right = page.locator("[data-verdict=right]")
    await expect(right).to_have_attribute("aria-pressed", "false")
    await right.focus()
    await page.keyboard.press("Enter")
    await expect(right).to_have_attribute("aria-pressed", "true")
    await page.reload()
    await expect(right).to_have_attribute("aria-pressed", "true")

    await page.click("#to-evaluation")
    await expect(page.locator(".golden-rows li")).to_contain_text("p. 2 Frisch on bees")
    for name in ("hybrid", "text"):
        await page.check(f"input[name={name}]")
    await page.uncheck("input[name=vector]")
    await page.fill("input[name=variants]", "hybrid+magic")
    await page.click("#start-evaluation")
    await expect(page.locator("#variants-error")).to_contain_text("There is no 'magic' to change")
    await page.fill("input[name=variants]", "")
    await page.click("#start-evaluation")

    for _ in range(2):
        for name in ("hybrid", "text"):
            row = page.locator(f"#measures [data-configuration={name}]")
            await expect(row.locator("td").nth(0)).to_have_text("100100–100")
            await expect(row.locator("td").nth(3)).to_contain_text("100")
        await expect(page.locator("#runs li")).to_have_count(1)
        await expect(page.locator("#variants-error")).to_have_text("")
        await expect(page.locator("#comparison")).to_contain_text("at the same rank")
        await page.reload()


async def test_a_verdict_is_taken_back_and_a_place_is_named(app: App, page: Page) -> None:
    await ask(page, app, "What does sourdough bread need?")
    missing = page.locator("[data-verdict=missing]")
    await missing.click()
    await expect(missing).to_have_attribute("aria-pressed", "true")
    await missing.click()
    await expect(missing).to_have_attribute("aria-pressed", "false")
    await page.click("[data-verdict=wrong_source]")
    await expect(page.locator("[data-verdict=wrong_source]")).to_have_attribute(
        "aria-pressed", "true"
    )

    await page.click("#to-evaluation")
    question = page.locator(".golden-rows li[data-verdict=wrong_source]")
    await expect(question).to_contain_text("Does not count yet")
    await question.locator(".name-place").click()
    await page.fill("#place-document", "bread")
    await question.locator(".found-titles button").click()
    await page.fill("input[name=at]", "3")
    await question.locator("button[type=submit]").click()
    await expect(question.locator(".error")).to_contain_text("has no pages")
    await page.fill("input[name=at]", "")
    await page.fill("input[name=words]", "flour, water, salt")
    await question.locator("button[type=submit]").click()
    await expect(question).not_to_contain_text("Does not count")
    await expect(question.locator("a")).to_contain_text("bread")


async def test_a_question_is_added_by_hand_with_its_place(app: App, page: Page) -> None:
    await page.goto(f"{app.url}/evaluation/")
    await page.click("#add-question")
    await page.fill("#place-document", "frisch")
    await page.locator("#golden .found-titles button").click()
    await page.fill("input[name=at]", "1")
    form = page.locator(".place-form")
    await form.locator("button[type=submit]").click()
    await expect(page.locator(".placing .error")).to_have_text("Write the question.")
    await page.fill("input[name=question]", "What is the book about?")
    await form.locator("button[type=submit]").click()

    added = page.locator(".golden-rows li").first
    await expect(added).to_contain_text("What is the book about?")
    await expect(added.locator("a")).to_have_text("p. 1 Frisch on bees")
    await added.locator(".remove").click()
    await added.locator(".danger").click()
    await expect(page.locator(".golden-rows")).not_to_contain_text("What is the book about?")


async def test_a_folder_is_measured_while_another_tab_looks_on(
    app: App, page: Page, tmp_path: Path
) -> None:
    other = await page.context.new_page()
    await other.goto(f"{app.url}/evaluation/")
    await expect(other.locator("#start-evaluation")).to_be_visible()
    await page.goto(f"{app.url}/evaluation/")
    await page.check("input[value=folder]")
    await page.fill("input[name=folder]", str(tmp_path / "away"))
    await page.click("#start-evaluation")
    await expect(page.locator("#set-error")).to_contain_text("There is no folder")
    await page.fill("input[name=folder]", str(write_set(tmp_path / "beehive")))
    await page.click("#start-evaluation")

    for tab in (page, other):
        await expect(tab.locator("#runs li").first).to_contain_text("beehive")
        await expect(tab.locator("#result h2")).to_contain_text("beehive")
    run = page.locator("#runs li").first
    await run.locator(".remove").click()
    await run.locator(".danger").click()
    await expect(page.locator("#runs")).not_to_contain_text("beehive")
    await expect(other.locator("#runs")).not_to_contain_text("beehive")
