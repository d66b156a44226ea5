"""Folders: what is new, changed, renamed and gone in them follows into the library."""

import os
from pathlib import Path

import pytest

from rag_app.library import documents
from rag_app.library.folders import Folder, Step, sync_folder
from rag_app.runtime import Runtime
from tests.support.ingesting import ingest

pytestmark = pytest.mark.integration


class Watched:
    """A folder whose files are old enough to be taken, and the library that follows it."""

    def __init__(self, runtime: Runtime, path: Path) -> None:
        self.runtime, self.path, self.folder = runtime, path, Folder(path)

    def write(self, name: str, text: str, age: float = 60) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        now = path.stat().st_mtime
        os.utime(path, (now - age, now - age))
        return path

    async def sync(self) -> Step:
        return await sync_folder(
            self.runtime.database,
            self.runtime.files,
            self.runtime.workspace_id,
            self.folder,
            lambda name: name.endswith((".md", ".txt")),
        )

    async def names(self) -> dict[str, int]:
        listed = await documents.list_documents(self.runtime.database, self.runtime.workspace_id)
        return {one.uri.removeprefix(f"{self.path}/"): one.id for one in listed}

    async def read_all(self) -> None:
        for document_id in (await self.names()).values():
            await ingest(self.runtime, document_id)


@pytest.fixture
def watched(runtime: Runtime, tmp_path: Path) -> Watched:
    path = tmp_path / "notes"
    path.mkdir()
    return Watched(runtime, path)


async def test_new_files_come_in_and_an_untouched_folder_costs_nothing(watched: Watched) -> None:
    watched.write("a.md", "# Apples\n\nApples are red.")
    watched.write("deep/er/b.txt", "Berries are blue.")
    watched.write(".hidden/c.md", "Cherries are dark.")
    watched.write("picture.png", "no text")
    watched.write("empty.md", "")

    assert await watched.sync() == Step(added=2)
    assert set(await watched.names()) == {"a.md", "deep/er/b.txt"}
    assert await watched.sync() == Step()


async def test_a_file_that_may_still_be_growing_waits(watched: Watched) -> None:
    watched.write("a.md", "half of", age=0)
    assert await watched.sync() == Step()

    watched.write("a.md", "half of it, and the rest")
    assert await watched.sync() == Step(added=1)


async def test_a_changed_file_is_a_new_version_of_its_document(watched: Watched) -> None:
    watched.write("a.md", "# Apples\n\nApples are red.")
    await watched.sync()
    await watched.read_all()
    before = await watched.names()

    watched.write("a.md", "# Apples\n\nApples are green.", age=30)

    assert await watched.sync() == Step(added=1)
    await watched.read_all()
    assert await watched.names() == before
    [document] = await documents.list_documents(
        watched.runtime.database, watched.runtime.workspace_id
    )
    assert (document.status, document.unchanged) == ("ready", False)


async def test_a_renamed_file_keeps_its_document(watched: Watched) -> None:
    path = watched.write("a.md", "# Apples\n\nApples are red.")
    await watched.sync()
    await watched.read_all()
    before = await watched.names()
    (watched.path / "fruit").mkdir()
    path.rename(watched.path / "fruit" / "apples.md")

    assert await watched.sync() == Step(moved=1)
    assert await watched.names() == {"fruit/apples.md": before["a.md"]}
    assert await watched.sync() == Step()


async def test_a_deleted_file_leaves_and_its_twin_takes_its_place(watched: Watched) -> None:
    first = watched.write("a.md", "# Apples\n\nApples are red.")
    watched.write("copy.md", "# Apples\n\nApples are red.")
    watched.write("b.md", "# Berries\n\nBerries are blue.")
    await watched.sync()
    assert set(await watched.names()) == {"a.md", "b.md"}  # the same bytes are one document

    first.unlink()
    (watched.path / "b.md").unlink()

    assert await watched.sync() == Step(moved=1)
    assert await watched.sync() == Step(removed=1)
    assert set(await watched.names()) == {"copy.md"}


async def test_a_file_that_an_editor_puts_in_the_place_of_the_old_keeps_its_document(
    watched: Watched,
) -> None:
    path = watched.write("a.md", "# Apples\n\nApples are red.")
    watched.write("b.md", "# Berries\n\nBerries are blue.")
    await watched.sync()
    before = await watched.names()
    path.unlink()

    assert await watched.sync() == Step()
    watched.write("a.md", "# Apples\n\nApples are green.")

    assert await watched.sync() == Step(added=1)
    assert await watched.names() == before


async def test_a_drive_that_is_not_mounted_takes_nothing_away(watched: Watched) -> None:
    path = watched.write("a.md", "# Apples\n\nApples are red.")
    await watched.sync()
    path.unlink()

    assert await watched.sync() == Step()
    watched.path.rmdir()
    assert await watched.sync() == Step()
    assert set(await watched.names()) == {"a.md"}


async def test_documents_of_other_places_are_left_alone(watched: Watched) -> None:
    beside = watched.path.parent / "notes-2.md"
    beside.write_text("# Beside\n\nThis lies beside the folder.", encoding="utf-8")
    runtime = watched.runtime
    await documents.add_file(
        runtime.database, runtime.files, runtime.workspace_id, beside, beside.name, uri=str(beside)
    )
    watched.write("a.md", "# Apples\n\nApples are red.")

    assert await watched.sync() == Step(added=1)
    assert set(await watched.names()) == {"a.md", str(beside)}


async def test_what_the_watch_would_not_take_is_not_taken_away(watched: Watched) -> None:
    runtime = watched.runtime
    by_hand = watched.write("README", "# By hand\n\nThis was added by hand.")
    await documents.add_file(
        runtime.database,
        runtime.files,
        runtime.workspace_id,
        by_hand,
        by_hand.name,
        uri=str(by_hand),
    )
    watched.write("a.md", "# Apples\n\nApples are red.")
    emptied = watched.write("a.txt", "Berries are blue.")
    await watched.sync()
    emptied.write_text("")

    for _ in range(3):
        assert (await watched.sync()).removed == 0
    assert set(await watched.names()) == {"README", "a.md", "a.txt"}


async def test_a_subfolder_that_is_suddenly_empty_takes_nothing_away(watched: Watched) -> None:
    inside = watched.write("drive/b.md", "# Berries\n\nBerries are blue.")
    watched.write("a.md", "# Apples\n\nApples are red.")
    await watched.sync()
    inside.unlink()

    for _ in range(3):
        assert (await watched.sync()).removed == 0
    (watched.path / "drive").rmdir()
    await watched.sync()
    assert (await watched.sync()).removed == 1


async def test_a_link_is_not_followed(watched: Watched) -> None:
    outside = watched.path.parent / "secret.md"
    outside.write_text("A secret.", encoding="utf-8")
    (watched.path / "link.md").symlink_to(outside)
    (watched.path / "circle").symlink_to(watched.path)

    assert await watched.sync() == Step()
