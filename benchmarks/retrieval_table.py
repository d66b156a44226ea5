"""The figures of benchmarks/retrieval.py as a page of Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any

HEAD = """# How fast retrieval is

Written by `python benchmarks/retrieval.py --chunks {sizes} --peers --output
benchmarks/retrieval.json`; milliseconds, p50 / p95, each the median over the rounds. Generated
libraries: chunks of 120 words drawn by Zipf's law, vectors of 384 dimensions in 600 overlapping
clusters. Questions have six words: "typical" of rank 100 to 5,000, "hard" of rank 5 to 3,000. The
vector of a question is stored, so no model runs. Two cores with other work on them (load average
before and after in the first table): compare columns of one run, not figures of two.
"""
ROWS = (
    ("text leg, typical", "text_leg", "typical"),
    ("text leg, hard", "text_leg", "hard"),
    ("vector leg", "vector_leg"),
    ("vector leg, 1 % filter", "vector_leg_filter_1_percent"),
    ("whole retrieval, typical", "retrieve", "typical"),
    ("whole retrieval, hard", "retrieve", "hard"),
    ("whole retrieval, 1 % filter", "retrieve_filter_1_percent"),
    ("whole retrieval, 8 at once", "retrieve_8_at_once"),
)
NOTE = """
The text leg is measured against exact BM25 of every chunk, computed from the generated words
without any of the app's code; the vector leg against exact search. Overlap counts the hits among
the first 20 whose exact score belongs there.
"""
PEERS = """
## Beside what one would pick instead

The same rows on the same server, every question to each system in turn: LangChain
(langchain-postgres), LlamaIndex and Haystack with their PostgreSQL stores, versions in
requirements-peers.in. "At its best" has every index their documentation offers, 50 + 50 rows and
reciprocal rank fusion; "as it comes" is their guides' first example. Ours is the whole retrieval:
both legs, both scores of each candidate, fusion, diversity, 20 passages loaded.
"""


def markdown(reports: Sequence[Mapping[str, Any]]) -> str:
    """Return the page."""
    sizes = ",".join(str(report["chunks"]) for report in reports)
    heads = [f"{report['chunks']:,} chunks" for report in reports]
    lines = [HEAD.format(sizes=sizes), _row(["", *heads]), _row(["---"] * (len(heads) + 1))]
    for name, *path in ROWS:
        lines.append(_row([name, *(_times(_at(report, path)) for report in reports)]))
    load = [f"{report['load_before']} / {report['load_after']}" for report in reports]
    lines += [_row(["load average", *load]), NOTE]
    lines += [_row(["found", *heads]), _row(["---"] * (len(heads) + 1))]
    for kind in ("typical", "hard"):
        found = [report["text_leg"][kind] for report in reports]
        cells = [f"{one['overlap_at_20']:.3f}, worst {one['worst_overlap']:.2f}" for one in found]
        lines.append(_row([f"text leg, {kind}: overlap@20", *cells]))
    for name, key in (("vector leg", ""), ("vector leg, 1 % filter", "_filter_1_percent")):
        found = [report[f"vector_leg{key}"] for report in reports]
        cells = [
            f"{one['recall_at_20']:.3f}, worst {one['worst_recall']:.2f}, "
            f"{one['filled_places']:g} places filled"
            for one in found
        ]
        lines.append(_row([f"{name}: recall@20", *cells]))
    with_peers = [report for report in reports if "peers" in report]
    lines += [PEERS] if with_peers else []
    for report in with_peers:
        lines += _peers(report)
    return "\n".join(lines).rstrip() + "\n"


def _peers(report: Mapping[str, Any]) -> list[str]:
    peers = report["peers"]
    best, narrow = peers["at_their_best"], peers["filter_1_percent"]
    empty = peers["questions_whose_and_query_finds_nothing"]
    lines = [
        f"### {report['chunks']:,} chunks\n",
        _row(["", "typical", "hard", "1 % filter", "of 20 places filled behind it"]),
        _row(["---"] * 5),
    ]
    for name in best["typical"]:
        cells = [_times(best[kind][name]) for kind in ("typical", "hard")]
        lines.append(_row([name, *cells, _times(narrow[name]), f"{narrow[name]['rows']:g}"]))
    for name, plain in peers["as_they_come"]["typical"].items():
        if name not in best["typical"]:
            cells = [_times(plain), _times(peers["as_they_come"]["hard"][name])]
            lines.append(_row([f"{name}, as it comes", *cells, "", ""]))
    lines.append(
        f"\nLangChain and Haystack look for chunks with all words of a question: their text leg "
        f"found nothing for {empty['typical']:.0%} of the typical questions and "
        f"{empty['hard']:.0%} of the hard ones.\n"
    )
    return lines


def _at(report: Mapping[str, Any], path: Sequence[str]) -> Mapping[str, Any]:
    for key in path:
        report = report[key]
    return report


def _times(found: Mapping[str, float]) -> str:
    rate = found.get("questions_a_second")
    return f"{found['p50']:g} / {found['p95']:g}" + (f", {rate:g} a second" if rate else "")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
