"""What is said when nothing answers, on a real index with filters and snapshots."""

from pathlib import Path

import pytest

from rag_app.library import documents
from rag_app.query.absence import explain_absence
from rag_app.query.results import Filters, Scope
from rag_app.runtime import Runtime
from tests.support.ingesting import add_text

pytestmark = pytest.mark.integration

EVERYTHING = Filters()


async def test_words_that_occur_nowhere_are_named_as_they_were_spelled(
    runtime: Runtime, tmp_path: Path
) -> None:
    tides = await add_text(
        runtime,
        tmp_path,
        "tides.md",
        "The tides follow the moon, and fishermen along the coast know the tables by heart.",
    )
    await add_text(
        runtime,
        tmp_path,
        "brot.md",
        "Das Brot braucht einen ganzen Tag Geduld, bevor man es in den heißen Ofen schiebt.",
    )

    async def explain(question: str, snapshot: int = 2, filters: Filters = EVERYTHING):
        async with runtime.database.reading() as connection:
            scope = Scope(runtime.workspace_id, snapshot, filters)
            return await explain_absence(connection, scope, question, None)

    absence = await explain("Do Tides follow Jupiter's moons or ERR_4012-B?")
    assert absence.words == ("Jupiter's", "ERR_4012-B")
    assert absence.searched == {"markdown": 2}
    assert absence.documents == 2
    assert (await explain("Wie lange bleiben Brote im Ofen?")).words == ("bleiben",)
    # what a filter leaves out was not searched
    only = await explain("Brote im Ofen", filters=Filters(document_ids=(tides.id,)))
    assert only.words == ("Brote", "Ofen")
    assert only.documents == 1
    assert (await explain("Brote im Ofen", snapshot=1)).words == ("Brote", "Ofen")
    await documents.remove_document(runtime.database, runtime.workspace_id, tides.id)
    assert (await explain("tides", snapshot=3)).words == ("tides",)
    assert (await explain("tides", snapshot=3)).as_json() == {
        "words": ["tides"],
        "searched": {"markdown": 1},
    }
