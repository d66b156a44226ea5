"""Configurations are named as they are typed, and what does not exist is said."""

import pytest

from rag_app.errors import SettingsError
from rag_app.evaluation.configurations import BASES, parse_configurations
from rag_app.evaluation.runner import failed_floors, kind_of, parse_floors


def test_bases_are_named_by_themselves_and_run_without_model_steps() -> None:
    found = parse_configurations(" vector, hybrid ,vector")

    assert [configuration.name for configuration in found] == ["vector", "hybrid"]
    assert found[0].options == BASES["vector"]
    assert not any(c.options.rerank or c.options.rewrite for c in found)


def test_a_variant_changes_what_it_names() -> None:
    [found] = parse_configurations("hybrid+weight=0.7+diversity=off+hyde+candidates=40+chunk=200")

    assert found.options.text_weight == 0.7
    assert not found.options.diversity
    assert found.options.hypothetical
    assert found.options.candidates == 40
    assert found.chunk_tokens == 200


def test_reranking_can_be_shuffled() -> None:
    plain, shuffled = parse_configurations("hybrid+rerank,hybrid+rerank=shuffled")

    assert plain.options.rerank
    assert not plain.shuffles
    assert shuffled.options.rerank
    assert shuffled.shuffles


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bogus", "no configuration 'bogus'.*vector"),
        ("", "at least one"),
        ("hybrid+colour=red", "no 'colour' to change.*weight"),
        ("hybrid+weight=heavy", "'weight=heavy'.*number"),
        ("hybrid+diversity=maybe", "on or off"),
        ("hybrid+chunk=7", "50 to 2000"),
        ("hybrid+fusion=cold", "calibrated"),
    ],
)
def test_what_does_not_exist_is_said(text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        parse_configurations(text)


def test_floors_name_a_measure_and_perhaps_a_configuration() -> None:
    configurations = parse_configurations("vector,hybrid")
    [first, second] = parse_floors(["mrr@10=0.9", "vector:recall@10=1"], configurations)
    assert (first.configuration, first.measure, first.value) == ("hybrid", "mrr@10", 0.9)
    assert second.configuration == "vector"

    report = {"configurations": {"hybrid": {"mrr@10": 0.89}, "vector": {"recall@10": 1.0}}}
    assert failed_floors(report, [first, second]) == [
        "mrr@10 of hybrid is 89.0 %, below the floor of 90.0 %."
    ]


@pytest.mark.parametrize("text", ["mrr@10", "speed=0.9", "rrf:mrr@10=0.9", "mrr@10=90"])
def test_a_floor_that_cannot_be_checked_is_refused(text: str) -> None:
    with pytest.raises(SettingsError):
        parse_floors([text], parse_configurations("hybrid"))


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is the tide?", "question"),
        ("tide tables", "keywords"),
        ("Where is ERR_4012-B explained?", "identifier"),
        ('"spring tide" height', "phrase"),
    ],
)
def test_kinds_of_question(question: str, kind: str) -> None:
    assert kind_of(question) == kind
