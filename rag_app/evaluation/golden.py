"""The person's own questions whose right place is known; answers become some by one click."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from rag_app.database.session import Connection, Database
from rag_app.errors import NotFoundError
from rag_app.marks import find_time_marks
from rag_app.query.results import Passage

Verdict = Literal["right", "wrong_source", "missing"]
VERDICTS: tuple[str, ...] = get_args(Verdict)
SET_NAME = "golden questions"
RIGHT_PLACE = "right place"
ENOUGH_OF_A_QUOTE = 60
"""Signs at either end of a quote by which a chunk that holds only part of it is recognised."""
LINE_SECONDS = 15  # how long the last line of a transcript's chunk may last

LIST = """
select g.id, g.question, g.expected, coalesce(array_agg(d.id) filter (where d.id is not null), '{}')
  as documents
from golden_question g
left join document d on d.workspace_id = g.workspace_id and d.removed_at is null and exists (
  select 1 from jsonb_array_elements(g.expected -> 'places') p
  where (p ->> 'document_id')::bigint = d.id)
where g.workspace_id = %s group by g.id order by g.id
"""

# what the citations of a turn point at; a document that is gone since has no id any more
CITED = """
select t.question, t.standalone_question,
       coalesce(jsonb_agg(jsonb_build_object('document_id', c.document_id,
         'title', c.passage ->> 'title', 'page', c.page, 'second', c.second, 'quote', c.quote)
         order by c.marker) filter (where c.document_id is not null), '[]'::jsonb) as places
from turn t left join citation c on c.turn_id = t.id
where t.id = %s and t.workspace_id = %s group by t.id
"""

ADD = """
insert into golden_question (workspace_id, question, expected)
values (%(workspace_id)s, %(question)s, %(expected)s) returning id
"""

FORGET_TURN = """
delete from golden_question where workspace_id = %s and (expected ->> 'turn_id')::bigint = %s
"""

SET_PLACE = """
update golden_question set expected = expected || %(change)s
where id = %(id)s and workspace_id = %(workspace_id)s returning id
"""


@dataclass(frozen=True)
class Place:
    """Where an answer stands: a document, and in it a page, a second, or words."""

    document_id: int
    title: str = ""
    page: int | None = None
    second: int | None = None
    quote: str = ""

    def holds(self, passage: Passage) -> bool:
        """Say whether a passage is this place."""
        if passage.document_id != self.document_id:
            return False
        if self.page is not None:
            return passage.page == self.page
        if self.quote:
            quote, text = _plain(self.quote), _plain(passage.text)
            return quote[:ENOUGH_OF_A_QUOTE] in text or quote[-ENOUGH_OF_A_QUOTE:] in text
        if self.second is not None:
            return _is_spoken(self.second, passage)
        return True


@dataclass(frozen=True)
class GoldenQuestion:
    """A question with what the person said about its answer.

    `places` answer it; `avoid` were cited although they do not. It counts in an evaluation while
    a document of its places is in the library.
    """

    id: int
    question: str
    verdict: Verdict
    places: tuple[Place, ...]
    avoid: tuple[Place, ...] = ()
    turn_id: int | None = None
    is_usable: bool = False

    def identify(self, passages: Sequence[Passage]) -> list[str]:
        """Return RIGHT_PLACE for a passage that is one of the places, else its own name.

        Each place answers the question: to find one of them is to find the answer.
        """
        return [
            RIGHT_PLACE
            if any(place.holds(passage) for place in self.places)
            else f"chunk {passage.chunk_id}"
            for passage in passages
        ]


async def judge_turn(database: Database, workspace_id: int, turn_id: int, verdict: Verdict) -> int:
    """Keep a turn's question with what the person says of its answer, once a turn; return its id.

    An answer that is right gives its citations as the places to be found from now on.
    """
    async with database.connection() as connection:
        row = await (await connection.execute(CITED, (turn_id, workspace_id))).fetchone()
        if row is None:
            raise NotFoundError("There is no such answer in this library.")
        await connection.execute(FORGET_TURN, (workspace_id, turn_id))
        cited = [Place(**place) for place in row["places"]]
        return await _add(
            connection,
            workspace_id,
            row["standalone_question"] or row["question"],
            {
                "verdict": verdict,
                "places": [asdict(place) for place in cited] if verdict == "right" else [],
                "avoid": [asdict(place) for place in cited] if verdict == "wrong_source" else [],
                "turn_id": turn_id,
            },
        )


async def forget_turn(database: Database, workspace_id: int, turn_id: int) -> None:
    """Take back what was said of a turn's answer."""
    async with database.connection() as connection:
        await connection.execute(FORGET_TURN, (workspace_id, turn_id))


async def add_question(
    database: Database, workspace_id: int, question: str, places: Sequence[Place]
) -> int:
    """Keep a question with the places that answer it, and return its id."""
    async with database.connection() as connection:
        return await _add(
            connection,
            workspace_id,
            question,
            {"verdict": "right", "places": [asdict(place) for place in places], "avoid": []},
        )


async def set_place(database: Database, workspace_id: int, question_id: int, place: Place) -> None:
    """Name the place that answers a question."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            SET_PLACE,
            {
                "id": question_id,
                "workspace_id": workspace_id,
                "change": json.dumps({"places": [asdict(place)]}),
            },
        )
        if await cursor.fetchone() is None:
            raise NotFoundError("There is no such question.")


async def remove_question(database: Database, workspace_id: int, question_id: int) -> None:
    """Forget a question; one that is gone already is no error."""
    async with database.connection() as connection:
        await connection.execute(
            "delete from golden_question where id = %s and workspace_id = %s",
            (question_id, workspace_id),
        )


async def list_questions(database: Database, workspace_id: int) -> list[GoldenQuestion]:
    """Return the person's questions, oldest first."""
    async with database.connection() as connection:
        rows = await (await connection.execute(LIST, (workspace_id,))).fetchall()
    return [_question(row) for row in rows]


async def verdicts(
    database: Database, workspace_id: int, turn_ids: Sequence[int]
) -> dict[int, Verdict]:
    """Return what was said of these turns' answers."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            "select (expected ->> 'turn_id')::bigint as turn_id, expected ->> 'verdict' as verdict "
            "from golden_question where workspace_id = %s "
            "and (expected ->> 'turn_id')::bigint = any(%s)",
            (workspace_id, list(turn_ids)),
        )
        return {row["turn_id"]: row["verdict"] for row in await cursor.fetchall()}


async def _add(
    connection: Connection, workspace_id: int, question: str, expected: Mapping[str, Any]
) -> int:
    values = {
        "workspace_id": workspace_id,
        "question": question,
        "expected": json.dumps(expected),
    }
    row = await (await connection.execute(ADD, values)).fetchone()
    assert row is not None
    return int(row["id"])


def _question(row: Mapping[str, Any]) -> GoldenQuestion:
    expected = row["expected"]
    places = tuple(Place(**place) for place in expected["places"])
    return GoldenQuestion(
        id=row["id"],
        question=row["question"],
        verdict=expected["verdict"],
        places=places,
        avoid=tuple(Place(**place) for place in expected["avoid"]),
        turn_id=expected.get("turn_id"),
        is_usable=any(place.document_id in row["documents"] for place in places),
    )


def _is_spoken(second: int, passage: Passage) -> bool:
    if passage.second is None:
        return False
    last = max((mark for *_, mark in find_time_marks(passage.text)), default=passage.second)
    return passage.second <= second <= last + LINE_SECONDS


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
