"""Why a place is not among the sources of an answer: the stage at which it fell out."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from pgvector import HalfVector
from psycopg import sql

from rag_app.database.session import Connection
from rag_app.errors import ProviderError
from rag_app.lexemes import read_lexeme
from rag_app.query.bm25 import QuestionTerms
from rag_app.query.context import PackedPassage
from rag_app.query.fusion import PER_DOCUMENT
from rag_app.query.pipeline import Query
from rag_app.query.results import Filters, Scope
from rag_app.query.retrieval import Scored, score_candidates
from rag_app.query.scope import measure_scope, visibility
from rag_app.query.syntax import clean_question, parse_question
from rag_app.query.text_leg import MOST_CANDIDATES, requirement, text_leg
from rag_app.query.turn_log import CUT_BY, Fate, read_fates, read_filters, read_terms
from rag_app.query.vector_leg import distance_to
from rag_app.query.xray import Place, load_places

BEST_CHUNKS = 5  # of a document, when no page or second is named
MOST_CHUNKS = 40  # of a page: a sheet of a spreadsheet is one, too
TERMS_SHOWN = 8

# beside those: where a place can fall out before it is a candidate, and where it can arrive
Stage = Literal[
    "unknown", "snapshot", "replaced", "filters", "legs",
    "required", "removed", "fusion", "candidates", "diversity", "rerank", "passages", "copy",
    "budget", "kept", "context",
]  # fmt: skip

# the versions of a document, and the snapshots each stands in
VERSIONS = """
select v.id, m.added_in, m.removed_in from document d
left join document_version v on v.document_id = d.id
left join membership m on m.version_id = v.id
where d.id = %(document_id)s and d.workspace_id = %(workspace_id)s order by m.added_in, v.id
"""

# a version's chunks; at a second those that start last before it, or the first
CHUNKS_AT = """
select c.id from chunk c where c.version_id = %(version_id)s
and (%(page)s::int is null or c.page = %(page)s)
and (%(second)s::int is null or c.second = (
  select coalesce(max(b.second) filter (where b.second <= %(second)s), min(b.second))
  from chunk b where b.version_id = %(version_id)s))
order by c.ordinal
"""

# what a filter compares a version with
OWN_VALUES = """
select d.source_type as source_types, d.id as document_ids, v.language as languages,
       d.created_at as since, d.created_at as until
from document_version v join document d on d.id = v.document_id where v.id = %s
"""

LEXEMES = """
select t.chunk_id, t.language::text as language, tsvector_to_array(t.tsv) as lexemes,
       exists (select 1 from embedding e join embedding_model m on m.id = e.model_id
         where e.chunk_id = t.chunk_id and m.name = %(model)s) as has_vector
from chunk_text_index t where t.chunk_id = any(%(ids)s)
"""

# the exact place of some chunks among all of the scope
NEARER = """
with scope as materialized (select e.chunk_id, {distance} as distance from embedding e
  where e.model_id = {model_id} and e.workspace_id = %(workspace_id)s and {visible})
select chunk_id, rank from (select chunk_id, row_number() over (order by distance, chunk_id) as rank
  from scope) ranked
where chunk_id = any(%(ids)s)
"""


@dataclass(frozen=True)
class Whereabouts:
    """Where a chunk fell out of a turn, or arrived: the stage, and one sentence.

    `stage` is a rule of `CUT_BY` for a candidate that was cut, `context` or, without an answer,
    `kept` for one that was not, `legs` for what no leg brought. `fate` is that of a candidate; the
    ranks are exact also where a leg did not bring the chunk. `held` and `lacking` are the terms of
    the question in the chunk's language.
    """

    place: Place
    stage: Stage
    reason: str
    fate: Fate | None = None
    vector_rank: int | None = None
    cosine: float | None = None
    text_rank: int | None = None
    bm25: float | None = None
    share: float | None = None
    held: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


async def why_not(
    query: Query,
    log: Mapping[str, Any],
    question: str,
    document_id: int,
    page: int | None = None,
    second: int | None = None,
) -> list[Whereabouts]:
    """Say for each chunk of a page, or at a second, where it fell out of a turn.

    Without a page or second: for the document's best chunks. All is judged by the turn's own
    snapshot, filters, options and terms. What the turn searched for, which is embedded again,
    stands in the log; `question` is for a log without it. Where embedding fails, the sentences say
    so.
    """
    found = read_fates(log)
    scope = Scope(query.workspace_id, log["snapshot"], read_filters(log))
    vector, unknown = await _embed(query, log, question)
    turn = _Turn(query, log, scope, found, vector, unknown)
    place = {"page": page, "second": second}
    async with query.database.reading() as connection:
        values = {"document_id": document_id, "workspace_id": query.workspace_id}
        versions = await _rows(connection, VERSIONS, values)
        if not versions:
            return [_nowhere(f"There is no document {document_id} in this library any more.")]
        seen, newest = _seen_and_newest(versions, scope.snapshot)
        if seen is None:
            reason = _absence(versions, scope.snapshot)
            ids = await _chunks_at(connection, newest, place)
            return await turn.tell_all(connection, ids[:BEST_CHUNKS], "snapshot", reason)
        ids = await _chunks_at(connection, seen, place)
        told: list[Whereabouts] = []
        if reason := await turn.excluded_by(connection, seen):
            told = await turn.tell_all(connection, ids[:BEST_CHUNKS], "filters", reason)
        elif ids:
            is_named = page is not None or second is not None
            told = await turn.follow(connection, ids, is_named=is_named)
        if newest is not None and newest != seen:
            told += await turn.tell_replaced(connection, seen, newest, place)
    return told or [_nowhere(f"There is no text at {_spot(page, second)} of this document.")]


@dataclass(frozen=True)
class _Turn:
    """A turn to hold chunks against; `unknown` says why there is no vector of its question."""

    query: Query
    log: Mapping[str, Any]
    scope: Scope
    fates: Mapping[int, Fate]
    vector: Sequence[float] | None
    unknown: str
    terms: QuestionTerms = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", read_terms(self.log))

    async def places(self, connection: Connection, ids: Sequence[int]) -> dict[int, Place]:
        """Return where chunks stand."""
        return await load_places(connection, self.scope.workspace_id, ids, self.log)

    async def tell_all(
        self, connection: Connection, ids: Sequence[int], stage: Stage, reason: str
    ) -> list[Whereabouts]:
        """Say the same of each chunk, or once where there is none."""
        places = await self.places(connection, ids)
        return [Whereabouts(places[chunk_id], stage, reason) for chunk_id in ids] or [
            Whereabouts(Place(None), stage, reason)
        ]

    async def tell_replaced(
        self, connection: Connection, seen: int, newest: int, place: Mapping[str, int | None]
    ) -> list[Whereabouts]:
        """Name the chunks of today's version whose text the question could not see."""
        rows = await _rows(
            connection,
            "select c.id from chunk c where c.version_id = %(newest)s and not exists "
            "(select 1 from chunk o where o.version_id = %(seen)s and o.content = c.content)",
            {"newest": newest, "seen": seen},
        )
        fresh = {row["id"] for row in rows}
        ids = [i for i in await _chunks_at(connection, newest, place) if i in fresh][:BEST_CHUNKS]
        if not ids:
            return []
        reason = (
            f"This text came with a newer version; the question, at snapshot "
            f"{self.scope.snapshot}, saw the one before."
        )
        return await self.tell_all(connection, ids, "replaced", reason)

    async def excluded_by(self, connection: Connection, version_id: int) -> str:
        """Return a sentence on the filters that leave a version out; empty when none does."""
        excluding = []
        [own] = await _rows(connection, OWN_VALUES, (version_id,))
        for one in fields(Filters):
            wanted = getattr(self.scope.filters, one.name)
            if not wanted:
                continue
            alone = replace(self.scope, filters=Filters(**{one.name: wanted}))
            visible, values = visibility(alone, sql.SQL("v.id"))
            statement = sql.SQL(
                "select v.id from document_version v where v.id = %(id)s and {visible}"
            ).format(visible=visible)
            if not await _rows(connection, statement, values | {"id": version_id}):
                listed = wanted if isinstance(wanted, tuple) else (wanted,)
                excluding.append(
                    f"{one.name.replace('_', ' ')} {', '.join(map(str, listed))} "
                    f"(it is {own.get(one.name, 'another')})"
                )
        return f"The question was kept to {' and to '.join(excluding)}." if excluding else ""

    async def follow(
        self, connection: Connection, ids: Sequence[int], *, is_named: bool
    ) -> list[Whereabouts]:
        """Say where chunks of the scope fell out."""
        scored = await score_candidates(
            connection,
            self.scope,
            ids,
            question=self.terms,
            vector=self.vector,
            model_id=self.query.model_id,
        )
        by_id = {found.chunk_id: found for found in scored}
        limit = MOST_CHUNKS if is_named else BEST_CHUNKS
        if not is_named or len(ids) > limit:
            ids = sorted(ids, key=lambda chunk_id: self._merit(by_id[chunk_id]))[:limit]
        values = {"ids": list(ids), "model": self.log["embedding_model"]}
        lexemes = {row["chunk_id"]: row for row in await _rows(connection, LEXEMES, values)}
        failing = await self._failing(connection, ids)
        vector_ranks = await self._vector_ranks(connection, ids)
        text_ranks = await self._text_ranks(connection, ids)
        places = await self.places(connection, ids)
        told = []
        for chunk_id in ids:
            found, row = by_id[chunk_id], lexemes[chunk_id]
            own = [term.lexeme for term in self.terms.terms.get(row["language"], ())]
            there = set(row["lexemes"])
            about = Whereabouts(
                place=places[chunk_id],
                stage="legs",
                reason="",
                fate=self.fates.get(chunk_id),
                vector_rank=vector_ranks.get(chunk_id),
                cosine=(
                    self._fate(chunk_id).cosine
                    if found.distance is None
                    else round(1 - found.distance, 5)
                ),
                text_rank=text_ranks.get(chunk_id),
                bm25=round(found.text_score, 4),
                share=round(found.text_share, 4),
                held=tuple(read_lexeme(lexeme) for lexeme in own if lexeme in there),
                lacking=tuple(read_lexeme(lexeme) for lexeme in own if lexeme not in there),
            )
            told.append(self._judge(about, failing.get(chunk_id, []), row["has_vector"]))
        return told

    def _merit(self, found: Scored) -> tuple[float, ...]:
        """Return a key that puts what came furthest first, then what scores best."""
        fate = self.fates.get(found.chunk_id, Fate(found.chunk_id))
        reached = (fate.number, fate.judged_rank, fate.kept_rank, fate.fused_rank)
        centre, spread = self.log["calibration"]
        score = self.log["options"]["text_weight"] * found.text_share
        if found.distance is not None:
            score += (1 - found.distance - centre) / spread
        return (*(rank or float("inf") for rank in reached), -score, found.chunk_id)

    async def _failing(self, connection: Connection, ids: Sequence[int]) -> dict[int, list[str]]:
        """Return for each chunk the phrases it lacks and the excluded words it holds."""
        failing: dict[int, list[str]] = {}
        for part in re.findall(r'"[^"]*"|-\S+', self.log["required"]):
            statement = sql.SQL(
                "select t.chunk_id from chunk_text_index t "
                "where t.chunk_id = any(%(ids)s) and not ({required})"
            ).format(required=requirement(part, sql.SQL("t")))
            for row in await _rows(connection, statement, {"ids": list(ids)}):
                is_word = part.startswith("-")
                said = f"holds the excluded word {part[1:]}" if is_word else f"lacks {part}"
                failing.setdefault(row["chunk_id"], []).append(said)
        return failing

    async def _vector_ranks(self, connection: Connection, ids: Sequence[int]) -> dict[int, int]:
        """Return the rank by meaning: the leg's, else the exact one."""
        ranks = {i: rank for i in ids if (rank := self._fate(i).vector_rank) is not None}
        wanted = [chunk_id for chunk_id in ids if chunk_id not in ranks]
        if self.vector is None or not wanted:
            return ranks
        visible, values = visibility(self.scope, sql.SQL("e.version_id"))
        statement = sql.SQL(NEARER).format(
            distance=sql.SQL("e.{}").format(distance_to(len(self.vector))),
            model_id=sql.Literal(self.query.model_id),
            visible=visible,
        )
        values |= {"ids": wanted, "vector": HalfVector(list(self.vector))}
        rows = await _rows(connection, statement, values)
        return ranks | {row["chunk_id"]: row["rank"] for row in rows}

    async def _text_ranks(self, connection: Connection, ids: Sequence[int]) -> dict[int, int]:
        """Return the rank by words: the leg's, else that among all above the widest bar."""
        ranks = {i: rank for i in ids if (rank := self._fate(i).text_rank) is not None}
        wanted = {chunk_id for chunk_id in ids if chunk_id not in ranks}
        if not wanted:
            return ranks
        hits = await text_leg(
            connection,
            self.scope,
            await measure_scope(connection, self.scope),
            self.terms,
            required=self.log["required"],
            limit=MOST_CANDIDATES,
        )
        return ranks | {hit.chunk_id: hit.rank for hit in hits if hit.chunk_id in wanted}

    def _fate(self, chunk_id: int) -> Fate:
        return self.fates.get(chunk_id, Fate(chunk_id))

    def _judge(self, about: Whereabouts, failing: Sequence[str], has_vector: bool) -> Whereabouts:
        fate = about.fate
        stage: Any = "required" if failing else "legs"
        if fate is not None:
            stage = fate.cut_by or ("kept" if fate.number is None else "context")
        what = self._sentence(stage, fate or Fate(0), failing)
        words = self._by_words(about, is_allowed=not failing)
        reason = f"{what}: {self._by_meaning(about, has_vector)}; {words}."
        return replace(about, stage=stage, reason=reason)

    def _sentence(self, stage: str, fate: Fate, failing: Sequence[str]) -> str:
        """Return what happened at a stage, without a full stop."""
        options = self.log["options"]
        packing = fate.packing or PackedPassage(fate.chunk_id, "kept")
        parts = f"score {_figure(fate.score)}: {_figure(fate.vector_part)} by meaning and "
        parts += f"{_figure(fate.text_part)} by words"
        fused = f"fused it stood at {fate.fused_rank} ({parts})"
        match stage:
            case "legs":
                return "Neither leg brought it"
            case "required":
                return f"It {' and '.join(failing) or 'does not hold what was required'}"
            case "removed":
                return CUT_BY["removed"].rstrip(".")
            case "fusion":
                return f"The fusion {options['fusion']} does not count the leg that brought it"
            case "candidates":
                return f"Only {options['candidates']} candidates were kept, and {fused}"
            case "diversity":
                return (
                    f"Its document had {PER_DOCUMENT} better candidates and others had something "
                    f"to say, although {fused}"
                )
            case "rerank":
                method = self.log["rerank"]["method"]
                return (
                    f"The rerank ({method}) put it at {fate.judged_rank}, where "
                    f"{options['passages']} were kept; before, it stood at {fate.kept_rank}"
                )
            case "passages":
                error = self.log["rerank"]["error"]
                why = f"the rerank failed ({error})" if error else "nothing was reranked"
                return (
                    f"It stood at {fate.judged_rank}, where {options['passages']} were kept, and "
                    f"{why}"
                )
            case "copy":
                return f"The context already held the same in {self._named(packing.beside)}"
            case "budget":
                return (
                    f"It would have taken {packing.tokens} tokens, where {packing.left} of "
                    f"{options['budget_tokens']} were left"
                )
            case "kept":
                return f"It was among the candidates at {fate.kept_rank}"
        how = {"joined": ", joined with its neighbour", "cut": ", cut to fit"}
        return f"It was in the context as [{fate.number}]{how.get(packing.rule, '')}, {fused}"

    def _named(self, chunk_id: int | None) -> str:
        number = self._fate(chunk_id or 0).number
        return f"[{number}]" if number else "another passage"

    def _by_meaning(self, about: Whereabouts, has_vector: bool) -> str:
        limit = self.log["options"]["leg_limit"]
        if self.log["notice"]:
            why = self.log["notice"].removeprefix("model_failed: ").rstrip(".")
            if why == "model_changed":
                why = f"the library had no vectors of {self.log['embedding_model']} yet"
            return f"the search by meaning was off ({why})"
        if not has_vector:
            return f"it has no vector of {self.log['embedding_model']}"
        if about.vector_rank is None:
            return f"its rank by meaning is unknown, since {self.unknown}"
        place = f"by meaning it stood at {about.vector_rank} (cosine {_figure(about.cosine)})"
        if about.fate is not None and about.fate.vector_rank is not None:
            return place
        if about.vector_rank <= limit:
            return f"{place}, within the {limit} taken, but the index passed over it"
        return f"{place}, where {limit} were taken"

    def _by_words(self, about: Whereabouts, *, is_allowed: bool) -> str:
        limit = self.log["options"]["leg_limit"]
        if not about.held:
            lacking = f" ({_list(about.lacking)})" if about.lacking else ""
            return f"it holds none of the question's words{lacking}"
        lacking = f", lacks {_list(about.lacking)}" if about.lacking else ""
        figures = (
            f"BM25 {_figure(about.bm25)}, share {_figure(about.share)}; "
            f"holds {_list(about.held)}{lacking}"
        )
        if not is_allowed:
            return f"by words it was left out ({figures})"
        if about.fate is not None and about.fate.text_rank is not None:
            return f"by words it stood at {about.text_rank} ({figures})"
        if about.text_rank is None or about.text_rank <= limit:
            return f"by words it was below the bar of candidates ({figures})"
        return f"by words it stood at {about.text_rank}, where {limit} were taken ({figures})"


async def _embed(
    query: Query, log: Mapping[str, Any], question: str
) -> tuple[list[float] | None, str]:
    """Return the question's vector as the turn had it, or why there is none."""
    if log["notice"]:
        return None, log["notice"]
    embedder = query.provider.embedder
    if embedder.model.name != log["embedding_model"]:
        return None, f"the question was asked with {log['embedding_model']}"
    searched = log.get("searched") or parse_question(clean_question(question)).text
    try:
        if hypothetical := log["hypothetical"]:
            [vector] = await embedder.embed([hypothetical], kind="passage")
        else:
            [vector] = await embedder.embed([searched], kind="query")
    except ProviderError as error:
        return None, f"the embedding model does not answer now ({error})"
    return vector, ""


async def _chunks_at(
    connection: Connection, version_id: int | None, place: Mapping[str, int | None]
) -> list[int]:
    rows = await _rows(connection, CHUNKS_AT, {"version_id": version_id, **place})
    return [row["id"] for row in rows]


async def _rows(connection: Connection, statement: Any, values: Any) -> list[dict[str, Any]]:
    return await (await connection.execute(statement, values)).fetchall()


def _seen_and_newest(
    versions: Sequence[Mapping[str, Any]], snapshot: int
) -> tuple[int | None, int | None]:
    """Return the version that stands in a snapshot, and the one published last."""
    published = [row for row in versions if row["added_in"] is not None]
    seen = [
        row["id"]
        for row in published
        if row["added_in"] <= snapshot and (row["removed_in"] or snapshot + 1) > snapshot
    ]
    newest = published[-1]["id"] if published else versions[-1]["id"]
    return (seen[0] if seen else None), newest


def _absence(versions: Sequence[Mapping[str, Any]], snapshot: int) -> str:
    """Say why a document does not stand in a snapshot."""
    added = [row["added_in"] for row in versions if row["added_in"] is not None]
    if not added:
        return "It has not been taken in: none of its text has been published."
    later = [number for number in added if number > snapshot]
    if len(later) == len(added):
        return f"It came with snapshot {min(later)}; the question saw snapshot {snapshot}."
    removed = [row["removed_in"] for row in versions if row["removed_in"] is not None]
    gone = max(number for number in removed if number <= snapshot)
    return f"It was taken out with snapshot {gone}; the question saw snapshot {snapshot}."


def _nowhere(reason: str) -> Whereabouts:
    return Whereabouts(Place(None), "unknown", reason)


def _spot(page: int | None, second: int | None) -> str:
    if page is not None:
        return f"page {page}"
    return f"second {second}" if second is not None else "any place"


def _list(words: Sequence[str]) -> str:
    shown = ", ".join(words[:TERMS_SHOWN])
    return f"{shown} and {len(words) - TERMS_SHOWN} more" if len(words) > TERMS_SHOWN else shown


def _figure(value: float | None) -> str:
    return "0" if value is None else f"{value:.3g}"
