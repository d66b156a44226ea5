"""Joins sets in BEIR form into one library of several languages, for `evaluate`.

    python benchmarks/mixed_set.py FOLDER... --output mix [--questions 250]

Each document and question gets its set's name before its id; a question's right documents are those
of its own set, so a translation of them in another set counts as wrong.
"""

import argparse
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rag_app.evaluation.beir import read_evaluation_set

SEED = 3


def main() -> None:
    """Write the joined set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=250, help="of each set, chosen by chance")
    parsed = parser.parse_args()
    chance = random.Random(SEED)
    (parsed.output / "qrels").mkdir(parents=True, exist_ok=True)
    documents, questions, judgements = [], [], ["query-id\tcorpus-id\tscore"]
    for folder in parsed.folders:
        one = read_evaluation_set(folder)
        for document in one.documents:
            name = f"{one.name}-{document.id}"
            documents.append({"_id": name, "title": document.title, "text": document.text})
        count = min(parsed.questions, len(one.questions))
        for question in chance.sample(one.questions, count):
            name = f"{one.name}-{question.id}"
            questions.append(
                {"_id": name, "text": question.text, "metadata": dict(question.metadata)}
            )
            judgements += [
                f"{name}\t{one.name}-{document_id}\t{grade}"
                for document_id, grade in one.judgements[question.id].items()
            ]
    for name, records in (("corpus", documents), ("queries", questions)):
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        (parsed.output / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    (parsed.output / "qrels" / "test.tsv").write_text("\n".join(judgements) + "\n")


if __name__ == "__main__":
    main()
