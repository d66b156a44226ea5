"""The other side of `retrieval.py --peers`: a process with the peers' packages, asked in turn.

The peers live in an environment of their own (requirements-peers.in), so a child process answers
one line of JSON with another. Every question goes to each system before the next one comes, so
that whatever else the machine does weighs on all alike.
"""

import json
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.retrieval_library import Question
from rag_app.query import pipeline
from rag_app.query.pipeline import Query, QueryOptions
from rag_app.query.results import Filters

SERVER = Path(__file__).with_name("retrieval_peer_server.py")
AS_THEY_COME = ("langchain", "llama-index", "haystack")
AT_THEIR_BEST = tuple(f"{name}, best" for name in AS_THEY_COME)
SLOW_QUESTIONS = 3  # without an index a question may take 15 seconds
OURS = "pincite"

Times = dict[str, list[float]]


class Peers:
    """The child process and what it is asked."""

    def __init__(self, python: str, dsn: str) -> None:
        self.process = subprocess.Popen(
            [python, str(SERVER), dsn], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def call(self, **request: object) -> dict:
        """Send one request and return its reply."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        reply = self.process.stdout.readline()
        if not reply:
            raise RuntimeError("The peers' process ended; its error stands above.")
        return json.loads(reply)

    async def compare(
        self,
        query: Query,
        questions: Mapping[str, Sequence[Question]],
        rounds: int,
        filters: Filters,
    ) -> dict[str, object]:
        """Return the times of every system, as it comes, at its best and with a filter."""
        try:
            self.call(do="fill", workspace_id=query.workspace_id, language="english")
            slow = {kind: found[:SLOW_QUESTIONS] for kind, found in questions.items()}
            plain = {k: await self._times(query, q, AS_THEY_COME, 1) for k, q in slow.items()}
            self.call(do="index")
            best = {
                k: await self._times(query, q, AT_THEIR_BEST, rounds) for k, q in questions.items()
            }
            narrow = await self._times(
                query, questions["typical"], AT_THEIR_BEST, rounds, filters=filters
            )
            return {
                "as_they_come": plain,
                "at_their_best": best,
                "filter_1_percent": narrow,
                "questions_whose_and_query_finds_nothing": {
                    kind: self.call(do="and", texts=[question.text for question in found])["share"]
                    for kind, found in questions.items()
                },
            }
        finally:
            self.stop()

    def stop(self) -> None:
        """End the child process."""
        self.process.terminate()
        self.process.wait(30)

    async def _times(
        self,
        query: Query,
        questions: Sequence[Question],
        systems: Sequence[str],
        rounds: int,
        filters: Filters | None = None,
    ) -> dict[str, dict[str, float]]:
        taken: list[Times] = []
        rows: Times = {name: [] for name in (OURS, *systems)}
        for _ in range(rounds + 1):  # the first warms
            taken.append({name: [] for name in rows})
            for question in questions:
                started = time.perf_counter()
                options = QueryOptions(filters=filters or Filters())
                found = await pipeline.retrieve(query, question.text, options)
                taken[-1][OURS].append((time.perf_counter() - started) * 1000)
                rows[OURS].append(len(found.passages))
                for name in systems:
                    reply = self.call(
                        do="ask",
                        system=name,
                        text=question.text,
                        vector=question.vector,
                        source_type=filters.source_types[0] if filters else None,
                    )
                    taken[-1][name].append(reply["ms"])
                    rows[name].append(len(reply["chunks"]))
        return {
            name: {
                f"p{p}": round(statistics.median(np.percentile(t[name], p) for t in taken[1:]), 1)
                for p in (50, 95)
            }
            | {"rows": round(statistics.fmean(rows[name]), 1)}
            for name in rows
        }
