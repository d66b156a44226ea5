"""What of a document can be opened once a later snapshot no longer holds it."""

from pathlib import Path

import pytest

from rag_app.errors import NotFoundError
from rag_app.library import evidence
from rag_app.runtime import Runtime
from tests.support.ingesting import add_text

pytestmark = pytest.mark.integration


async def test_a_version_that_a_later_snapshot_took_out_is_not_the_newest(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_text(runtime, tmp_path, "hive.md", "# Hive\n\nIt is made of straw.\n")
    document = await add_text(runtime, tmp_path, "hive.md", "# Hive\n\nIt is made of wood.\n")
    ids = (runtime.database, runtime.workspace_id, document.id)
    assert "wood" in (await evidence.newest_version(*ids)).content

    async with runtime.database.connection() as connection:
        # as if the snapshot with straw had been put back
        await connection.execute(
            "update membership m set removed_in = case when v.content like '%straw%' "
            "then null else 99 end from document_version v where v.id = m.version_id"
        )
    assert "straw" in (await evidence.newest_version(*ids)).content

    async with runtime.database.connection() as connection:
        await connection.execute("update membership set removed_in = 99")
    with pytest.raises(NotFoundError):
        await evidence.newest_version(*ids)
