"""Measures retrieval on BEIR folders and writes docs/evaluation.md from it.

python scripts/evaluation.py FOLDER... [--compare NAME,NAME]
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "evaluation.md"
MEASURES = ("recall@1", "recall@5", "recall@10", "mrr@10", "ndcg@10")

HEAD = """# How well retrieval works

Measured with `make eval SETS="FOLDER FOLDER"`, which writes this page (`mix` is
made by benchmarks/mixed_set.py of the first three); a folder holds one set in
BEIR form (`corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`). Figures in percent, each question
through the code that answers on the page, without a language model; in brackets the 95 % interval
of a bootstrap over the questions. "Without hits" counts questions that found nothing at all. Below
each table stands what `hybrid` gains over each other way on the same questions, with the interval
of the paired difference: where it does not hold 0, it is no accident.

- **vector**: the vector leg alone.
- **text**: the full-text leg alone (BM25, language by language).
- **hybrid**: both, as Pincite answers: calibrated scores added.
- **rrf**: both, by plain reciprocal rank fusion (k = 60).
- **gated-rrf**: the same, where a text hit counts only if it matches half of the question.
"""


def main() -> None:
    """Measure each set in turn; a set takes minutes."""
    parser = argparse.ArgumentParser(description="Measure retrieval and write docs/evaluation.md.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--compare", default="vector,text,hybrid,rrf,gated-rrf")
    parsed = parser.parse_args()
    parts = [HEAD]
    for folder in parsed.folders:
        print(f"{folder.name} …", file=sys.stderr)
        output = subprocess.run(
            [
                *(sys.executable, "-m", "rag_app", "evaluate", str(folder.absolute())),
                *("--json", "--compare", parsed.compare),
            ],
            cwd=ROOT,
            check=True,
            stdout=subprocess.PIPE,
        ).stdout
        parts.append(section(json.loads(output)))
    PAGE.write_text("\n".join(parts))


def section(report: dict) -> str:
    """Return one set as a table, and what the reference gains over the others."""
    lines = [
        f"## {report['set']}",
        "",
        f"{report['documents']} documents, {report['questions']} questions, "
        f"`{report['embedding_model']}`.",
        "",
        f"| configuration | {' | '.join(MEASURES)} | without hits |",
        "|" + " --- |" * (len(MEASURES) + 2),
    ]
    for name, values in report["configurations"].items():
        cells = []
        for measure in MEASURES:
            low, high = values["intervals"][measure]
            cells.append(f"{100 * values[measure]:.1f} ({100 * low:.1f}-{100 * high:.1f})")
        lines.append(f"| {name} | {' | '.join(cells)} | {values['questions_without_hits']} |")
    lines.append("")
    for name, measures in report["differences"].items():
        gains = (
            f"{measure} {-100 * value['mean']:+.1f} "
            f"({-100 * value['high']:+.1f} to {-100 * value['low']:+.1f})"
            for measure, value in measures.items()
        )
        lines.append(f"- {report['reference']} over {name}: {', '.join(gains)}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
