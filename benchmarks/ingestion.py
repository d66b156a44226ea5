"""Splits the time to take in a text PDF into extraction, chunking, storing, embedding, publishing.

    python benchmarks/ingestion.py [--pages 300] [--runs 3] [--memory-pages 3000]

Prints medians over several runs, each step's share, and extraction against raw pypdfium2 on the
same file in the same run. With --memory-pages it also takes a long PDF in through a worker of its
own and prints that worker's peak memory, with its children's.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pypdfium2

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rag_app.ingestion import sources, storing
from rag_app.ingestion.browser import Browser
from rag_app.ingestion.chunking import split
from rag_app.library import documents
from rag_app.runtime import Runtime, open_runtime
from rag_app.settings import Settings, load_settings
from tests.support.library import write_pdf

STEPS = ("extract", "chunk", "store", "embed", "publish")
WORDS = (
    "archive harbour letter winter ledger captain signal engine copper market river stone "
    "glass measure pressure current voltage garden orchard season village council record "
    "witness paper method sample result figure theory model error limit sum proof field "
    "vector surface volume carry follow reach return describe compare observe collect repair "
    "divide join move open close "
)


def make_pages(count: int, *, sentences: int = 30, seed: int = 7) -> list[str]:
    """Return pages, none like another; 30 sentences are about 330 words."""
    generator, words = random.Random(seed), WORDS.split()
    return [
        f"Chapter {number // 20 + 1}, page {number}. "
        + " ".join(
            f"The {' '.join(generator.sample(words, 8))} of {generator.randint(1000, 9999)}."
            for _ in range(sentences)
        )
        for number in range(1, count + 1)
    ]


async def measure(runtime: Runtime, path: Path) -> tuple[dict[str, float], int]:
    """Take a file in step by step and return the seconds of each, and the number of chunks."""
    document_id = await documents.add_file(
        runtime.database, runtime.files, runtime.workspace_id, path, path.name
    )
    row = await documents.begin(runtime.database, document_id)
    assert row is not None
    spans: dict[str, float] = {}
    started = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal started
        spans[name] = time.perf_counter() - started
        started = time.perf_counter()

    extracted = await sources.extract(
        sources.ExtractRequest(
            uri=row["uri"],
            path=path,
            name=path.name,
            settings=runtime.settings,
            browser=Browser(runtime.settings),
        )
    )
    lap("extract")
    chunks = split(extracted.content, "pdf", count_tokens=runtime.query.count_tokens)
    lap("chunk")
    version_id = await storing.store_version(
        runtime.database,
        workspace_id=runtime.workspace_id,
        document_id=document_id,
        content_hash=Path(row["file_key"]).stem,
        extracted=extracted,
        file_key=row["file_key"],
        chunks=chunks,
    )
    lap("store")
    await storing.embed_version(
        runtime.database,
        runtime.provider.embedder,
        workspace_id=runtime.workspace_id,
        version_id=version_id,
        model_id=runtime.model_id,
        title=extracted.title,
    )
    lap("embed")
    await storing.publish(
        runtime.database,
        workspace_id=runtime.workspace_id,
        document_id=document_id,
        version_id=version_id,
        model_id=runtime.model_id,
        extracted=extracted,
    )
    lap("publish")
    return spans, len(chunks)


def raw_extraction(path: Path) -> float:
    """Return the seconds bare pypdfium2 takes for the text of every page."""
    started = time.perf_counter()
    with pypdfium2.PdfDocument(path) as document:
        for page in document:
            page.get_textpage().get_text_range()
    return time.perf_counter() - started


async def run_steps(settings: Settings, folder: Path, pages: int, runs: int) -> dict[str, object]:
    """Return the medians over several runs, each on a file of its own."""
    taken: list[dict[str, float]] = []
    raw: list[float] = []
    chunks = 0
    async with open_runtime(settings) as runtime:
        await runtime.provider.embedder.embed(["warm"], kind="passage")
        for run in range(runs):
            path = write_pdf(folder / f"run{run}.pdf", make_pages(pages, seed=run))
            raw.append(raw_extraction(path))
            spans, chunks = await measure(runtime, path)
            taken.append(spans)
    medians = {step: statistics.median(spans[step] for spans in taken) for step in STEPS}
    total = sum(medians.values())
    return {
        "pages": pages,
        "chunks": chunks,
        "runs": runs,
        "seconds": {step: round(value, 2) for step, value in medians.items()},
        "total_seconds": round(total, 2),
        "share": {step: round(value / total, 3) for step, value in medians.items()},
        "extraction_against_raw_pypdfium2": round(statistics.median(raw) / medians["extract"], 2),
    }


def run_memory(settings: Settings, folder: Path, pages: int) -> dict[str, object]:
    """Take a long PDF in through `add`, whose own worker does it, and return the peak memory."""
    path = write_pdf(folder / "long.pdf", make_pages(pages, sentences=12))
    started = time.perf_counter()
    environment = os.environ | {"PINCITE_HOME": str(settings.home)}
    process = subprocess.Popen(
        [sys.executable, "-m", "rag_app", "add", str(path), "--json"],
        env=environment,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).resolve().parents[1],
    )
    watched = psutil.Process(process.pid)
    peak = 0
    while process.poll() is None:
        peak = max(peak, _memory(watched))
        time.sleep(0.2)
    output = process.stdout.read() if process.stdout else b""
    return {
        "pages": pages,
        "seconds": round(time.perf_counter() - started, 1),
        "peak_mb": round(peak / 1e6),
        "result": json.loads(output)[0]["status"],
    }


def _memory(process: psutil.Process) -> int:
    """Return the proportional memory of a process and its children, without the database's."""
    total = 0
    try:
        for one in (process, *process.children(recursive=True)):
            if "postgres" not in one.name():
                total += one.memory_full_info().pss
    except psutil.Error:
        pass
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--memory-pages", type=int, default=0)
    parser.add_argument("--output", type=Path)
    parsed = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="pincite-benchmark-"))
    settings = replace(load_settings({}), home=folder / "home", ollama_url="")
    try:
        report = {"steps": asyncio.run(run_steps(settings, folder, parsed.pages, parsed.runs))}
        if parsed.memory_pages:
            report["memory"] = run_memory(settings, folder, parsed.memory_pages)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    text = json.dumps(report, indent=2)
    print(text)
    if parsed.output:
        parsed.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
