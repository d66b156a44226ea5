"""Answers for LangChain, LlamaIndex and Haystack; run by retrieval_peers.py, in their environment.

Each library makes its own table; the rows are copied into it from the app's by SQL, in the
library's format. "As it comes" is what its guide shows first; "best" has every index and option
its documentation offers, and 50 + 50 rows fused by reciprocal rank; "scores" fuses by score.
"""

import json
import logging
import os
import sys
import time

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "false"

import psycopg
from haystack.components.joiners import DocumentJoiner
from haystack.utils import Secret
from haystack_integrations.components.retrievers.pgvector import (
    PgvectorEmbeddingRetriever,
    PgvectorKeywordRetriever,
)
from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore
from langchain_core.embeddings import Embeddings
from langchain_postgres import Column, PGEngine, PGVectorStore
from langchain_postgres.v2.hybrid_search_config import (
    HybridSearchConfig,
    reciprocal_rank_fusion,
)
from langchain_postgres.v2.indexes import HNSWIndex, HNSWQueryOptions
from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters
from llama_index.vector_stores.postgres import PGVectorStore as LlamaStore

DIMENSIONS = 384
PLACES = 20
LEG = 50
GRAPH = {"m": 16, "ef_construction": 64}
current: list[float] = []  # the stored vector of the question that is being asked

ROWS = """
from chunk c join embedding e on e.chunk_id = c.id
join document_version v on v.id = c.version_id join document d on d.id = v.document_id
where c.workspace_id = %(workspace_id)s
"""
# what is embedded and searched is the title with the passage, as with ours
CONTENT = "concat_ws(E'\n', nullif(d.title, ''), c.content)"
FILL = (
    "insert into peer_langchain (langchain_id, content, embedding, source_type, content_tsv) "
    f"select lpad(c.id::text, 32, '0')::uuid, {CONTENT}, e.vector::vector, d.source_type, "
    f"to_tsvector(%(language)s::regconfig, {CONTENT}) {ROWS}",
    f"insert into data_peer_llama (text, metadata_, node_id, embedding) select {CONTENT}, "
    "json_build_object('source_type', d.source_type, '_node_type', 'TextNode', '_node_content', "
    "json_build_object('id_', c.id::text, 'class_name', 'TextNode')::text), c.id::text, "
    f"e.vector::vector {ROWS}",
    "insert into peer_haystack (id, embedding, content, meta) select c.id::text, e.vector::vector, "
    f"{CONTENT}, jsonb_build_object('source_type', d.source_type) {ROWS}",
)


class LangChainVectors(Embeddings):
    """Gives the stored vector."""

    def embed_query(self, text: str) -> list[float]:
        return current

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [current for _ in texts]


class LlamaVectors(BaseEmbedding):
    """Gives the stored vector."""

    def _get_query_embedding(self, query: str) -> list[float]:
        return current

    _get_text_embedding = _get_query_embedding

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return current


class Systems:
    """The three libraries' stores, and how each is asked."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.sqlalchemy = dsn.replace("postgresql://", "postgresql+psycopg://")
        self.engine = PGEngine.from_connection_string(self.sqlalchemy)
        self.language = "english"

    def fill(self, workspace_id: int, language: str) -> None:
        """Let every library make its table for texts of a language, and copy the rows into it."""
        self.language = language
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            for table in ("peer_langchain", "data_peer_llama", "peer_haystack"):
                connection.execute(f"drop table if exists {table}")
            self.engine.init_vectorstore_table(
                "peer_langchain",
                DIMENSIONS,
                metadata_columns=[Column("source_type", "TEXT")],
                hybrid_search_config=HybridSearchConfig(
                    tsv_column="content_tsv", tsv_lang=f"pg_catalog.{language}"
                ),
            )
            self._llama(None)._initialize()
            self.open()
            for statement in FILL:
                connection.execute(statement, {"workspace_id": workspace_id, "language": language})
            connection.execute("vacuum analyze")

    def open(self, *, best: bool = False) -> None:
        """Open the stores; at their best they make their HNSW index now."""
        self.langchain = PGVectorStore.create_sync(
            self.engine,
            LangChainVectors(),
            "peer_langchain",
            metadata_columns=["source_type"],
            index_query_options=HNSWQueryOptions(ef_search=100) if best else None,
        )
        self.llama = self._llama({f"hnsw_{k}": v for k, v in GRAPH.items()} if best else None)
        self.haystack = PgvectorDocumentStore(
            connection_string=Secret.from_token(self.dsn),
            table_name="peer_haystack",
            language=self.language,
            embedding_dimension=DIMENSIONS,
            search_strategy="hnsw" if best else "exact_nearest_neighbor",
            hnsw_index_creation_kwargs=GRAPH if best else None,
            hnsw_ef_search=100 if best else None,
        )
        self.haystack._ensure_db_setup()
        rows = LEG if best else 10
        self.retrievers = (
            PgvectorEmbeddingRetriever(document_store=self.haystack, top_k=rows),
            PgvectorKeywordRetriever(document_store=self.haystack, top_k=rows),
        )
        self.joiner = DocumentJoiner("reciprocal_rank_fusion", top_k=PLACES)

    def index(self) -> None:
        """Make every index the libraries offer."""
        self.langchain.apply_vector_index(HNSWIndex(**GRAPH))
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute("create index on peer_langchain using gin (content_tsv)")
        self.open(best=True)
        self.llama._initialize()
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute("vacuum analyze")

    def ask(self, system: str, text: str, source_type: str | None) -> list[int]:
        """Ask one library and return the chunks it gave, best first."""
        name, _, way = system.partition(", ")
        return getattr(self, f"_ask_{name.replace('-', '_')}")(text, source_type, way)

    def _ask_langchain(self, text: str, source_type: str | None, way: str) -> list[int]:
        # a new one each time: the store writes the first question into it and keeps that
        options: dict = {"fusion_function": reciprocal_rank_fusion}
        if way:
            options |= {
                "tsv_column": "content_tsv",
                "tsv_lang": f"pg_catalog.{self.language}",
                "primary_top_k": LEG,
                "secondary_top_k": LEG,
                "fusion_function_parameters": {"fetch_top_k": PLACES},
            }
        found = self.langchain.similarity_search(
            text,
            k=PLACES,
            hybrid_search_config=HybridSearchConfig(**options),
            filter={"source_type": source_type} if source_type else None,
        )
        return [int(document.id.replace("-", "")) for document in found]

    def _ask_llama_index(self, text: str, source_type: str | None, way: str) -> list[int]:
        filters = None
        if source_type:
            filters = MetadataFilters(
                filters=[MetadataFilter(key="source_type", value=source_type)]
            )
        index = VectorStoreIndex.from_vector_store(self.llama, embed_model=LlamaVectors())
        options: dict = {"filters": filters, "similarity_top_k": LEG if way else 10}
        if way:
            options["vector_store_kwargs"] = {"hnsw_ef_search": 100}
        legs = [
            index.as_retriever(**options),
            index.as_retriever(
                **options, vector_store_query_mode="sparse", sparse_top_k=LEG if way else 10
            ),
        ]
        fused = QueryFusionRetriever(
            legs,
            llm=MockLLM(),
            num_queries=1,
            mode="relative_score" if way == "scores" else "reciprocal_rerank",
            similarity_top_k=PLACES,
            use_async=False,
        )
        return [int(found.node.node_id) for found in fused.retrieve(text)]

    def _ask_haystack(self, text: str, source_type: str | None, way: str) -> list[int]:
        filters = None
        if source_type:
            filters = {"field": "meta.source_type", "operator": "==", "value": source_type}
        near, words = self.retrievers
        lists = [
            near.run(query_embedding=current, filters=filters)["documents"],
            words.run(query=text, filters=filters)["documents"],
        ]
        return [int(document.id) for document in self.joiner.run(documents=lists)["documents"]]

    def _llama(self, hnsw: dict | None) -> LlamaStore:
        parts = psycopg.conninfo.conninfo_to_dict(self.dsn)
        return LlamaStore.from_params(
            host=parts["host"],
            port=str(parts["port"]),
            database=parts["dbname"],
            user=parts["user"],
            password=parts["password"],
            table_name="peer_llama",
            embed_dim=DIMENSIONS,
            hybrid_search=True,
            text_search_config=self.language,
            hnsw_kwargs=hnsw
            and hnsw | {"hnsw_ef_search": 100, "hnsw_dist_method": "vector_cosine_ops"},
        )


def main() -> None:
    logging.disable(logging.WARNING)
    systems = Systems(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        reply: dict = {}
        if request["do"] == "fill":
            systems.fill(request["workspace_id"], request["language"])
        elif request["do"] == "index":
            systems.index()
        elif request["do"] == "and":
            with psycopg.connect(sys.argv[1]) as connection:
                empty = [
                    connection.execute(
                        "select not exists (select 1 from peer_langchain "
                        "where content_tsv @@ plainto_tsquery(%s::regconfig, %s))",
                        (systems.language, text),
                    ).fetchone()[0]
                    for text in request["texts"]
                ]
            reply["share"] = round(sum(empty) / len(empty), 3)
        else:
            current[:] = request["vector"]
            started = time.perf_counter()
            reply["chunks"] = systems.ask(
                request["system"], request["text"], request["source_type"]
            )
            reply["ms"] = (time.perf_counter() - started) * 1000
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
