import gzip
import json

import pytest

from rag_app.errors import EvaluationSetError
from rag_app.evaluation.beir import (
    EvaluationDocument,
    EvaluationQuestion,
    EvaluationSet,
    read_evaluation_set,
)

CORPUS = [
    {"_id": "d1", "title": "Bees", "text": "Bees dance.", "metadata": {"language": "en"}},
    {"_id": "d2", "text": "Ants march."},
]
QUERIES = [{"_id": "q1", "text": "Who dances?"}, {"_id": "q2", "text": "Who is not judged?"}]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n"


def write(folder, corpus=None, queries=None, qrels=QRELS):
    def lines(records, default):
        if isinstance(records, str):
            return records
        return "\n".join(json.dumps(record) for record in records or default)

    (folder / "qrels").mkdir()
    (folder / "corpus.jsonl").write_text(lines(corpus, CORPUS), encoding="utf-8")
    (folder / "queries.jsonl").write_text(lines(queries, QUERIES), encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text(qrels, encoding="utf-8")
    return folder


def test_a_folder_becomes_documents_judged_questions_and_judgements(tmp_path):
    folder = tmp_path / "bees"
    folder.mkdir()
    expected = EvaluationSet(
        name="bees",
        documents=(
            EvaluationDocument("d1", "Bees", "Bees dance.", {"language": "en"}),
            EvaluationDocument("d2", "", "Ants march.", {}),
        ),
        questions=(EvaluationQuestion("q1", "Who dances?", {}),),
        judgements={"q1": {"d1": 1, "d2": 0}},
        missing_documents=(),
    )

    assert expected == read_evaluation_set(write(folder))


def test_compressed_files_read_the_same(tmp_path):
    plain = read_evaluation_set(write(tmp_path))
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
        path = tmp_path / name
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()

    assert plain == read_evaluation_set(tmp_path)


def test_a_byte_order_mark_windows_line_ends_and_blank_lines_do_no_harm(tmp_path):
    plain = read_evaluation_set(write(tmp_path))
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
        path = tmp_path / name
        text = path.read_text(encoding="utf-8").replace("\n", "\r\n\r\n")
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())

    assert plain == read_evaluation_set(tmp_path)


def test_judgements_may_come_without_their_header(tmp_path):
    assert read_evaluation_set(write(tmp_path, qrels="q1\td1\t2\n")).judgements == {"q1": {"d1": 2}}


def test_a_judged_document_outside_the_corpus_is_reported_not_hidden(tmp_path):
    found = read_evaluation_set(write(tmp_path, qrels="q1\td9\t1\nq1\td8\t0\n"))

    assert found.missing_documents == ("d9",)


@pytest.mark.parametrize(
    ("faults", "message"),
    [
        (
            {"corpus": '{"_id": "d1", "text": "x"}\n{oops'},
            r"corpus\.jsonl, line 2: this is no JSON",
        ),
        ({"corpus": '["d1"]'}, r"corpus\.jsonl, line 1: expected one JSON object"),
        ({"corpus": '{"text": "x"}'}, r'corpus\.jsonl, line 1: "_id" is missing'),
        ({"corpus": '{"_id": "d1"}'}, r'corpus\.jsonl, line 1: "text" is missing'),
        ({"corpus": "\n"}, r"corpus\.jsonl is empty"),
        ({"corpus": [*CORPUS, CORPUS[0]]}, r'line 3: the id "d1" was used before .*line 1'),
        ({"queries": '{"_id": "q1", "text": 3}'}, r'queries\.jsonl, line 1: "text"'),
        ({"qrels": "q1\td1\n"}, r"test\.tsv, line 1: expected question id, document id"),
        ({"qrels": "query-id\tcorpus-id\tscore\nq1\td1\tyes\n"}, r'line 2: the grade "yes"'),
        ({"qrels": "q7\td1\t1\n"}, r'line 1: the question "q7" is not in queries\.jsonl'),
        ({"qrels": "query-id\tcorpus-id\tscore\n"}, r"test\.tsv holds no judgement"),
    ],
)
def test_a_fault_is_named_with_its_file_and_line(tmp_path, faults, message):
    with pytest.raises(EvaluationSetError, match=message):
        read_evaluation_set(write(tmp_path, **faults))


def test_a_missing_folder_or_file_is_named(tmp_path):
    with pytest.raises(EvaluationSetError, match="There is no folder"):
        read_evaluation_set(tmp_path / "none")
    with pytest.raises(EvaluationSetError, match=r"neither corpus\.jsonl nor corpus\.jsonl\.gz"):
        read_evaluation_set(tmp_path)


@pytest.mark.parametrize("damage", [lambda data: data[:-20], lambda data: data[:40] + b"\xff" * 99])
def test_a_damaged_archive_is_reported_as_unreadable(tmp_path, damage):
    many = "\n".join(json.dumps({"_id": str(n), "text": f"{n * n}"}) for n in range(500))
    write(tmp_path, corpus=many)
    (tmp_path / "corpus.jsonl.gz").write_bytes(damage(gzip.compress(many.encode())))
    (tmp_path / "corpus.jsonl").unlink()

    with pytest.raises(EvaluationSetError, match="cannot be read after line"):
        read_evaluation_set(tmp_path)
