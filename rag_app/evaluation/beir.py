"""Reads a folder in BEIR form: corpus.jsonl, queries.jsonl and qrels/test.tsv, each also as .gz."""

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rag_app.errors import EvaluationSetError


@dataclass(frozen=True)
class EvaluationDocument:
    """One document of the corpus."""

    id: str
    title: str
    text: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class EvaluationQuestion:
    """One judged question."""

    id: str
    text: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class EvaluationSet:
    """A corpus with judged questions.

    `questions` are those with at least one judgement, in the order of their file. `judgements`
    maps question id to document id to grade. `missing_documents` are judged relevant but not in
    the corpus; no system can find them, and a reader of the figures should know.
    """

    name: str
    documents: tuple[EvaluationDocument, ...]
    questions: tuple[EvaluationQuestion, ...]
    judgements: Mapping[str, Mapping[str, int]]
    missing_documents: tuple[str, ...]


def read_evaluation_set(folder: Path, *, split: str = "test") -> EvaluationSet:
    """Read the folder; raise EvaluationSetError that names the file and the line."""
    check_folder(folder, split=split)
    corpus_path = _find(folder, "corpus.jsonl")
    documents = tuple(
        EvaluationDocument(
            id=_id(record, place),
            title=_text(record, "title", place, needed=False),
            text=_text(record, "text", place),
            metadata=_metadata(record),
        )
        for place, record in _records(corpus_path)
    )
    queries_path = _find(folder, "queries.jsonl")
    questions = tuple(
        EvaluationQuestion(
            id=_id(record, place), text=_text(record, "text", place), metadata=_metadata(record)
        )
        for place, record in _records(queries_path)
    )
    qrels_path = _find(folder, f"qrels/{split}.tsv")
    judgements = _judgements(qrels_path, {question.id for question in questions}, queries_path)
    known = {document.id for document in documents}
    judged = {
        document_id
        for grades in judgements.values()
        for document_id, grade in grades.items()
        if grade > 0
    }
    return EvaluationSet(
        name=folder.resolve().name,
        documents=documents,
        questions=tuple(question for question in questions if question.id in judgements),
        judgements=judgements,
        missing_documents=tuple(sorted(judged - known)),
    )


def check_folder(folder: Path, *, split: str = "test") -> None:
    """Raise EvaluationSetError when a folder does not hold the files of a set."""
    if not folder.is_dir():
        raise EvaluationSetError(f"There is no folder {folder}: name one in BEIR form.")
    for name in ("corpus.jsonl", "queries.jsonl", f"qrels/{split}.tsv"):
        _find(folder, name)


def _find(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise EvaluationSetError(f"{folder} holds neither {name} nor {name}.gz.")


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig")
    return path.open(encoding="utf-8-sig")


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (place, line) for each line that is not blank; a place reads "corpus.jsonl, line 3"."""
    number = 0
    try:
        with _open(path) as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield f"{path}, line {number}", line.rstrip("\r\n")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        # a damaged archive raises zlib.error or OSError, a cut one EOFError
        raise EvaluationSetError(f"{path} cannot be read after line {number}: {error}.") from error


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    seen: dict[str, str] = {}
    for place, line in _lines(path):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise EvaluationSetError(f"{place}: this is no JSON ({error}).") from error
        if not isinstance(record, dict):
            raise EvaluationSetError(f"{place}: expected one JSON object.")
        identifier = _id(record, place)
        if identifier in seen:
            raise EvaluationSetError(
                f'{place}: the id "{identifier}" was used before ({seen[identifier]}).'
            )
        seen[identifier] = place
        yield place, record
    if not seen:
        raise EvaluationSetError(f"{path} is empty.")


def _judgements(
    path: Path, question_ids: set[str], queries_path: Path
) -> dict[str, dict[str, int]]:
    judgements: dict[str, dict[str, int]] = {}
    is_first = True
    for place, line in _lines(path):
        fields = line.split("\t")
        if is_first and fields[0] == "query-id":
            is_first = False
            continue
        is_first = False
        if len(fields) != 3:
            raise EvaluationSetError(
                f"{place}: expected question id, document id and grade with tabs between."
            )
        question_id, document_id, grade = (field.strip() for field in fields)
        try:
            value = int(grade)
        except ValueError as error:
            raise EvaluationSetError(f'{place}: the grade "{grade}" is no whole number.') from error
        if question_id not in question_ids:
            raise EvaluationSetError(
                f'{place}: the question "{question_id}" is not in {queries_path.name}.'
            )
        judgements.setdefault(question_id, {})[document_id] = value
    if not judgements:
        raise EvaluationSetError(f"{path} holds no judgement.")
    return judgements


def _id(record: Mapping[str, Any], place: str) -> str:
    value = record.get("_id")
    if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
        raise EvaluationSetError(f'{place}: "_id" is missing.')
    return str(value)


def _text(record: Mapping[str, Any], name: str, place: str, *, needed: bool = True) -> str:
    value = record.get(name)
    if value is None and not needed:
        return ""
    if not isinstance(value, str):
        raise EvaluationSetError(f'{place}: "{name}" is missing or no text.')
    return value


def _metadata(record: Mapping[str, Any]) -> Mapping[str, Any]:
    value = record.get("metadata")
    return value if isinstance(value, dict) else {}
