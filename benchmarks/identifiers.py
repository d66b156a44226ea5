"""Makes a question set of look-ups among 5,000 near-identical identifiers, in BEIR form.

    python benchmarks/identifiers.py FOLDER && python -m rag_app evaluate FOLDER

Error codes, versions, paragraphs of a law, DOIs, ISBNs, file names: each document names one, and
most differ from others in a single character. Half of the look-ups are the bare identifier, half a
question around it.
"""

import argparse
import json
import random
from collections.abc import Callable
from pathlib import Path

DOCUMENTS = 5000
QUESTIONS = 240
SENTENCES = (
    "The entry {name} was last changed by the operator on duty.",
    "See {name} for the procedure that applies here.",
    "{name} replaces the earlier entry and stays valid until it is withdrawn.",
    "The archive keeps {name} together with the usual remarks.",
)
ASKED = (
    "{name}",
    "Where is {name} described?",
    "Was bedeutet {name}?",
    "{name}",
    "What do we know about {name}?",
    "{name}",
)


def error_code(r: random.Random) -> str:
    return f"ERR_{r.randint(4000, 4400)}-{r.choice('ABCDEF')}"


def version(r: random.Random) -> str:
    return f"v{r.randint(1, 4)}.{r.randint(0, 20)}.{r.randint(0, 12)}"


def paragraph(r: random.Random) -> str:
    return f"§ {r.randint(1, 400)}{r.choice(['', 'a', 'b', 'c'])}"


def doi(r: random.Random) -> str:
    return f"10.{r.randint(1000, 1040)}/jpc.{r.randint(100, 160)}"


def isbn(r: random.Random) -> str:
    return f"978-3-16-{r.randint(148000, 149500)}-{r.randint(0, 9)}"


def file_name(r: random.Random) -> str:
    return f"report_{r.randint(2000, 2030)}-{r.randint(1, 40):02d}_v{r.randint(1, 3)}.pdf"


KINDS: tuple[Callable[[random.Random], str], ...] = (
    error_code,
    version,
    paragraph,
    doi,
    isbn,
    file_name,
)


def make_set(folder: Path, *, seed: int = 11) -> None:
    """Write corpus, questions and judgements."""
    generator = random.Random(seed)
    names: dict[str, None] = {}
    while len(names) < DOCUMENTS:
        names[generator.choice(KINDS)(generator)] = None
    ordered = list(names)
    asked = generator.sample(range(DOCUMENTS), QUESTIONS)
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    with (folder / "corpus.jsonl").open("w") as corpus:
        for number, name in enumerate(ordered):
            text = generator.choice(SENTENCES).format(name=name)
            corpus.write(json.dumps({"_id": f"d{number}", "title": "", "text": text}) + "\n")
    with (folder / "queries.jsonl").open("w") as queries:
        for place, number in enumerate(asked):
            text = ASKED[place % len(ASKED)].format(name=ordered[number])
            queries.write(json.dumps({"_id": f"q{number}", "text": text}) + "\n")
    lines = ["query-id\tcorpus-id\tscore", *(f"q{number}\td{number}\t1" for number in asked)]
    (folder / "qrels" / "test.tsv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make a set of look-ups of identifiers.")
    parser.add_argument("folder", type=Path)
    make_set(parser.parse_args().folder)
