"""One browser for all journeys, a new context, which is a new visitor, for each."""

import os
import shutil
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, async_playwright

from tests.support.app import BROWSER_FLAGS


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    flags = [*BROWSER_FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    async with async_playwright() as playwright:
        found = shutil.which("chromium") or shutil.which("google-chrome")
        opened = await playwright.chromium.launch(executable_path=found, args=flags)
        yield opened
        await opened.close()


@pytest.fixture
async def page(browser: Browser) -> AsyncIterator[Page]:
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    yield await context.new_page()
    await context.close()
